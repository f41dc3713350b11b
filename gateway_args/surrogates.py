"""Surrogates in a text (policy 13): a pair is its character, a lone one is U+FFFD."""

from __future__ import annotations

import re
from typing import Final

SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def joined(text: str) -> str:
    """The text with pairs joined and lone surrogates replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
