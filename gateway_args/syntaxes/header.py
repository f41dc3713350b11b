"""Headers: the text between an opener and a call's body, as patterns that a table writes.

A pattern is literal text with a few places in braces: `{name}` and `{id}` take a run of name characters, `{skip}`
takes one that nobody wants (so does `{same}`, where the template writes the name once more), `{ws}` takes white space
or none, `{object}` looks ahead at the `{` of the value and takes nothing. `functions.{name}:{skip}` reads
`functions.add:0`. A place that is followed by a literal ends at the literal's
last occurrence in its run, so names may hold dots and colons. `{declared}` takes the longest name that the request
declares and nothing else, `{index}` takes digits, perhaps behind one of `:._-`, or nothing: they read a header that
lost its separators. Matching is a function of the text: it says NO, or MORE while the text could still become a match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..engine.program import skip_space
from .base import MORE, NO, YES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_PLACES: Final = re.compile(r"\{(name|id|skip|same|ws|object|declared|index)\}")
_INDEX: Final = re.compile("[:._-]?[0-9]*")
_RUN: Final = re.compile(r"[^\x00-\x20\\\"'`<>{}()\[\]=,|\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Found:
    """A header that matched: where it ends, and what stood in its places."""

    end: int
    tail: int
    """Where the pattern's last literal begins."""
    name: str
    id: str


class Header:
    """One pattern, compiled."""

    __slots__ = ("_steps", "text")

    def __init__(self, pattern: str, spell: Callable[[str], str] = str) -> None:
        self.text: Final = pattern
        first, *rest = _PLACES.split(pattern)  # literal, then place, literal, ...
        steps = [("", spell(first))] if first else []
        steps += [(place, spell(literal)) for place, literal in zip(rest[::2], rest[1::2], strict=True)]
        self._steps: Final = steps

    def match(
        self, text: str, at: int, final: bool, max_name: int, *, names: Collection[str] = ()
    ) -> tuple[int, Found | None]:
        """Match the pattern at this offset: (YES, what was found), (NO, None) or (MORE, None)."""
        name = id = ""
        tail = at
        end = len(text)
        steps = self._steps
        n = 0
        while n < len(steps):
            place, literal = steps[n]
            n += 1
            if place == "ws":
                start = at
                at = skip_space(text, at)
                if at - start > max_name:
                    return NO, None
                if at == end and not final:
                    return MORE, None
            elif place == "object":
                if at == end and not final:
                    return MORE, None
                if not text.startswith("{", at):
                    return NO, None
            elif place == "declared":
                rest = text[at : at + max_name]
                if not final and any(known.startswith(rest) for known in names):
                    return MORE, None
                name = max((known for known in names if rest.startswith(known)), key=len, default="")
                if not name:
                    return NO, None
                at += len(name)
            elif place == "index":
                index = _INDEX.match(text, at, at + max_name)
                at = index.end() if index is not None else at
                if at == end and not final:
                    return MORE, None
            elif place:
                run = _RUN.match(text, at, at + max_name + 1)
                stop = run.end() if run is not None else at
                if stop - at > max_name:
                    return NO, None
                if stop == end and not final:
                    return MORE, None
                if literal and _RUN.match(literal):
                    stop = text.rfind(literal, at, stop)
                if stop <= at:
                    return NO, None
                if place == "name":
                    name = text[at:stop]
                elif place == "id":
                    id = text[at:stop]
                at = stop
            tail = at
            if literal:
                if not text.startswith(literal, at):
                    rest = text[at:]
                    return (MORE if not final and len(rest) < len(literal) and literal.startswith(rest) else NO), None
                at += len(literal)
        return YES, Found(at, tail, name, id)


def first_match(
    headers: tuple[Header, ...], text: str, at: int, final: bool, max_name: int, *, names: Collection[str] = ()
) -> tuple[int, Found | None]:
    """The first of these patterns that matches; undecided while an earlier one could still."""
    for header in headers:
        code, found = header.match(text, at, final, max_name, names=names)
        if code != NO:
            return code, found
    return NO, None


def check(pattern: str) -> str:
    """What is wrong with a pattern, or nothing."""
    if not pattern:
        return "an empty header"
    rest = _PLACES.sub("", pattern)
    if "{" in rest or "}" in rest:
        return (
            "unknown place in braces (there are {name}, {id}, {skip}, {same}, {ws}, {object}, {declared} and {index})"
        )
    if re.search(r"\}\{(?:name|id|skip|same)\}", pattern.replace("{ws}", "")):
        return "two places with nothing between them"
    return ""
