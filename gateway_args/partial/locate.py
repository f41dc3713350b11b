"""Where in a sound JSON text its values begin and end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import lexis

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """Where the member's value begins, or the white space before it."""
    return _key(member).end()  # type: ignore[union-attr]


def inside(child: str, closer: str) -> int:
    """Behind the opener of the container that this member (of an object) or element is."""
    return _behind_space(child, value_at(child) if closer == "}" else 0) + 1


def ends(children: str, closer: str) -> Iterator[int]:
    """Where each of these members, or elements, ends, its separator included."""
    at = 0
    while at < len(children):
        if closer == "}":
            at = _key(children, at).end()  # type: ignore[union-attr]
        at = _behind_space(children, lexis.raw_decode(children, _behind_space(children, at))[1]) + 1
        yield at


def _child(text: str, at: int, step: str | int) -> int | None:
    opener, number = text[at : at + 1], 0
    if opener not in ("{", "["):
        return None
    at = _behind_space(text, at + 1)
    while text[at] not in "}]":
        here: str | int = number
        if opener == "{":
            here, at = lexis.raw_decode(text, at)
            at = _behind_space(text, _behind_space(text, at) + 1)
        if here == step:
            return at
        at = _behind_space(text, lexis.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _behind_space(text, at + 1)
        number += 1
    return None


def _behind_space(text: str, at: int) -> int:
    return lexis.space(text, at).end()  # type: ignore[union-attr]
