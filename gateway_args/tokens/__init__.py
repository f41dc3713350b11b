"""Token ids to text: deltas, the incremental detokenizer, vocabularies."""

from __future__ import annotations

from .detokenizer import Delta, Token, TokenDecoder

__all__ = ["Delta", "Token", "TokenDecoder"]
