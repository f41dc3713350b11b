"""The contract: outputs with what they say, and the promises that a parser keeps for each under every chunking.

`check` runs a corpus against a table or a parser, `parametrize` and `assert_holds` do the same as pytest tests;
`docs/contract.md` shows both and the shape of a corpus.
"""

from __future__ import annotations

from .check import check
from .chunkings import QUICK, STANDARD, Chunkings
from .corpus import (
    Case,
    Corpus,
    CorpusError,
    Expected,
    ExpectedCall,
    Piece,
    beside,
    load,
    names,
    normalise,
    parse,
    read,
)
from .html_page import page
from .kinds import KINDS
from .oracle import OracleMissing
from .promises import Promise
from .report import CaseRun, Failure, Report, Row
from .subjects import Maker, Subject, TokenSubject
from .testing import assert_holds, parametrize

__all__ = [
    "KINDS",
    "QUICK",
    "STANDARD",
    "Case",
    "CaseRun",
    "Chunkings",
    "Corpus",
    "CorpusError",
    "Expected",
    "ExpectedCall",
    "Failure",
    "Maker",
    "OracleMissing",
    "Piece",
    "Promise",
    "Report",
    "Row",
    "Subject",
    "TokenSubject",
    "assert_holds",
    "beside",
    "check",
    "load",
    "names",
    "normalise",
    "page",
    "parametrize",
    "parse",
    "read",
]
