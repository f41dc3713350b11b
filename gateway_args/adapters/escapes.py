"""Escapes of JSON strings at the seams between fragments.

A model may write a character beyond U+FFFF as two escapes, and a delta may end between them or inside of one. A client
that reads the arguments so far would see half a character, so a fragment is sent up to the last whole escape and the
rest waits for the next one: at most eleven characters, let go when the call ends.
"""

from __future__ import annotations

import re

_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# Read from the left every backslash begins one of these, so an escaped backslash is never taken for a beginning.
_ESCAPE = re.compile(rf"{_HIGH}{_LOW}|(?P<lone>{_HIGH}|{_LOW})|\\u[0-9a-fA-F]{{4}}|\\[^u]")
_TAIL = re.compile(rf"(?:{_HIGH})?\\(?:u[0-9a-fA-F]{{0,3}})?\Z|{_HIGH}\Z")


def split(text: str) -> tuple[str, str]:
    """The text up to its last whole escape or pair, and what waits; `text` begins outside of an escape."""
    if "\\u" not in text:  # only the backslashes at the end matter: an odd number begins an escape
        stripped = text.rstrip("\\")
        return (text[:-1], "\\") if (len(text) - len(stripped)) % 2 else (text, "")
    at = text.find("\\")
    while at >= 0:
        if _TAIL.match(text, at):
            return text[:at], text[at:]
        escape = _ESCAPE.match(text, at)
        at = text.find("\\", at + 1 if escape is None else escape.end())
    return text, ""


def replace_lone(text: str) -> str:
    """The text with the escape of each half that has no other half as U+FFFD's: what is left names characters."""
    return _ESCAPE.sub(lambda found: found[0] if found["lone"] is None else "\\ufffd", text)
