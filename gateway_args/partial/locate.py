"""Where in a sound JSON text its values begin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..strict_json.tokens import raw_decode, space

if TYPE_CHECKING:
    from ..schema.path import Path

_key = re.compile(r'[ \t\n\r]*+"(?:[^"\\]++|\\.)*+"[ \t\n\r]*+:').match


def locate(text: str, path: Path) -> int:
    """The offset of the value at this path, or of the deepest value on the way that is there."""
    at = _behind_space(text, 0)
    for step in path:
        found = _child(text, at, step)
        if found is None:
            break
        at = found
    return at


def value_at(member: str) -> int:
    """Where the value of this member of an object begins, or the white space before it."""
    return _key(member).end()  # type: ignore[union-attr]


def _child(text: str, at: int, step: str | int) -> int | None:
    opener, number = text[at : at + 1], 0
    if opener not in ("{", "["):
        return None
    at = _behind_space(text, at + 1)
    while text[at] not in "}]":
        here: str | int = number
        if opener == "{":
            here, at = raw_decode(text, at)
            at = _behind_space(text, _behind_space(text, at) + 1)
        if here == step:
            return at
        at = _behind_space(text, raw_decode(text, at)[1])
        if text[at] == ",":
            at = _behind_space(text, at + 1)
        number += 1
    return None


def _behind_space(text: str, at: int) -> int:
    return space(text, at).end()  # type: ignore[union-attr]
