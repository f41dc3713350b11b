"""The tokens of JSON text that is known to be sound: runs of a string's body, scalars, white space, and their values.

The acceptor says what is JSON; these read what it accepted. Every repetition is possessive, so that no expression looks
at a character more than twice.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

LONGEST_NUMBER: Final = min(4300, sys.get_int_max_str_digits() or 4300)
"""Characters of a number: the bound that Python puts on reading one, whose cost is not linear."""

LITERALS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}

NUMBER: Final = r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+"
"""The expression of a whole number."""
ESCAPE: Final = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
"""The expression of a whole escape."""
_PLAIN = r'[^"\\]*+'
STRING: Final = rf'"{_PLAIN}(?:{ESCAPE}{_PLAIN})*+"'
"""The expression of a whole string."""

space = re.compile(r"[ \t\n\r]*+").match
scalar = re.compile(r"[-+.0-9A-Za-z]*+").match
"""A number or a literal, as far as the text has it."""
run = re.compile(
    rf'{_PLAIN}(?:\\(?:["\\/bfnrt]|u(?![dD][89abAB])[0-9a-fA-F]{{4}}'
    rf"|u[dD][89abAB][0-9a-fA-F]{{2}}(?=[^\\]|\\[^u]|\\u[0-9a-fA-F]{{4}})){_PLAIN})*+"
).match
"""What can be decoded now of a string's body: the escape of a high surrogate waits for what follows it."""
simple = re.compile(r'([^"\\\x00-\x1f]*+)"').match
"""The rest of a string without escapes, whose quote is there."""
whole_number = re.compile(NUMBER).fullmatch
special = re.compile(r'["\\\x00-\x1f]').search
"""What makes text more than a run of a string's body: its end, an escape, a raw control character."""
control = re.compile(r"[\x00-\x1f]").search
"""A raw control character, which RFC 8259 has not in a string."""
_number_so_far = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++(?:[eE][-+]?[0-9]++)?|[eE][-+]?[0-9]++)?").match

raw_decode = json.JSONDecoder(strict=False).raw_decode


def unescape(body: str) -> str:
    """The text of a string's body, a lone surrogate escape as it is."""
    text: str = raw_decode(f'"{body}"')[0]
    return text


def number(token: str) -> int | float:
    """The value of a whole number: an int exactly, a float as the nearest double."""
    return float(token) if "." in token or "e" in token or "E" in token else int(token)


def number_so_far(token: str) -> int | float | None:
    """The number that stands there already: 25 of `25.`, nothing of `-`."""
    read = _number_so_far(token)
    return None if read is None else number(read[0])
