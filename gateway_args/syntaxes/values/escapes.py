"""Escapes of JSON strings, one at a time, as text arrives."""

from __future__ import annotations

import re
from typing import Final

from ..scanning import is_private

PLAIN: Final = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]+')
"""A run of a string's text that no escape, control character or marker stands in."""
BODY: Final = re.compile(r'(?:[^"\\\x00-\x1f\ud800-\udfff]++|\\[^\x00-\x1f\ud800-\udfff])++')
"""The same with escapes, right or wrong."""
QUOTED: Final = re.compile(r'(?:[^"\\]++|\\["\\/])++')
"""A string's text whose escapes all stand for themselves."""
_UNQUOTED: Final = re.compile(r'\\(["\\/])')
ESCAPE: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_HALF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_SIMPLE: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
CONTROL: Final = {chr(n): f"\\u{n:04x}" for n in range(0x20)} | {
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
"""Control characters as a JSON string writes them."""
_CONTROLS: Final = {ord(char): spelling for char, spelling in CONTROL.items()}


def escape_controls(text: str) -> str:
    """Text of a string, in which no escape stands, with its raw control characters escaped."""
    return text.translate(_CONTROLS)


def unquoted(text: str) -> str:
    """What this text says, which `QUOTED` matches as a whole."""
    return _UNQUOTED.sub(r"\1", text)


def half_escape(text: str, at: int) -> bool:
    """Whether the text ends in an escape that begins at `at`."""
    return _HALF_ESCAPE.match(text, at) is not None


def decode_escape(text: str, at: int) -> tuple[str, int]:
    """The character that the escape at `at` stands for and the escape's length: 0 none, -1 half a pair."""
    match = ESCAPE.match(text, at)
    if match is None:
        return "", 0
    escape = match.group()
    if escape[1] != "u":
        return _SIMPLE[escape[1]], 2
    code = int(escape[2:], 16)
    if 0xD800 <= code < 0xDC00:
        low = text[at + 6 : at + 12]
        if len(low) == 6 and low.startswith("\\u") and ESCAPE.match(low):
            other = int(low[2:], 16)
            if 0xDC00 <= other < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (other - 0xDC00)), 12
        elif len(low) < 6 and (not low or _HALF_ESCAPE.match(low)):
            return chr(code), -1
    return chr(code), 6


def inner(char: str) -> str:
    """One decoded character as it stands in the value's own string."""
    if char < " ":
        return CONTROL[char]
    if is_private(char):  # half of a pair that has no other half
        return f"\\u{ord(char):04x}"
    return char


def escaped(text: str) -> str:
    """A marker's text as it stands in a JSON string."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
