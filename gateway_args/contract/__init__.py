"""The contract: outputs with what they say, and the promises that a parser keeps for each under every chunking."""

from __future__ import annotations

from .corpus import Case, Corpus, CorpusError, Expected, ExpectedCall, Piece, load, names, normalise, parse, read
from .kinds import KINDS

__all__ = [
    "KINDS",
    "Case",
    "Corpus",
    "CorpusError",
    "Expected",
    "ExpectedCall",
    "Piece",
    "load",
    "names",
    "normalise",
    "parse",
    "read",
]
