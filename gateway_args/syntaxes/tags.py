"""Tags: the patterns with which a table says how a parameter is opened and closed.

A pattern is literal text with places in braces: `{name}` is the parameter's key, `{type}` the word that types its
value, `{skip}` a word that nobody wants, `{ws}` white space or none. `<parameter name="{name}" string="{type}">` reads
one of DeepSeek's. A place ends where the literal behind it begins; inside quotes it may hold anything but the quote
and a line break, elsewhere no tag characters either. Matching is a function of the text: NO, YES, or MORE while the
text could still become a match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..engine.program import skip_space
from .base import MORE, NO, YES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..limits import Limits

_PLACES: Final = re.compile(r"\{(name|type|skip|ws)\}")
_ENTITY: Final = re.compile("&(?:amp|quot|lt|gt|apos);")
_ENTITIES: Final = {"&amp;": "&", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&apos;": "'"}


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that was read: where it ends, and what stood in its places. `type` is None in a pattern without one."""

    end: int
    name: str = ""
    type: str | None = None


class TagPattern:
    """One pattern, compiled."""

    __slots__ = ("_entities", "_first", "_steps", "first")

    def __init__(self, pattern: str, spell: Callable[[str], str] = str, entities: bool = False) -> None:
        """With `entities` the words in its places are written with `&amp;` and the like."""
        self._entities: Final = entities
        parts = _PLACES.split(pattern)  # literal, place, literal, ...
        self.first: Final = spell(parts[0])
        """The literal that it begins with."""
        steps: list[tuple[str, re.Pattern[str], str]] = []
        for place, literal in zip(parts[1::2], parts[2::2], strict=True):
            steps.append((place, _run(literal), spell(literal)))
        self._steps: Final = steps

    def match(self, text: str, at: int, limits: Limits, final: bool = False) -> tuple[int, Tag | None]:
        """Match the pattern at this offset: (YES, the tag), (NO, None) or (MORE, None)."""
        first = self.first
        if not text.startswith(first, at):
            return (NO if final else half(text, at, first)), None
        at += len(first)
        end = len(text)
        name, type = "", None
        for place, run, literal in self._steps:
            if place == "ws":
                stop = skip_space(text, at)
                if stop - at > limits.max_layout:
                    return NO, None
            else:
                word = run.match(text, at, at + limits.max_name + 1)
                stop = word.end() if word is not None else at
                if stop - at > limits.max_name:
                    return NO, None
            if stop == end:
                return (NO if final else MORE), None
            if place == "name":
                if stop == at or (text[at] == "/" and not literal.startswith('"')):
                    return NO, None
                name = self._word(text[at:stop])
            elif place == "type":
                type = self._word(text[at:stop])
            if not text.startswith(literal, stop):
                return (NO if final else half(text, stop, literal)), None
            at = stop + len(literal)
        return YES, Tag(at, name, type)

    def _word(self, text: str) -> str:
        if self._entities and "&" in text:
            return _ENTITY.sub(lambda entity: _ENTITIES[entity.group()], text)
        return text


class CloserPattern:
    """A value's closer: a literal, or one that names the parameter it closes (`</{name}>`)."""

    __slots__ = ("_rest", "first")

    def __init__(self, pattern: str, spell: Callable[[str], str] = str) -> None:
        first, named, rest = pattern.partition("{name}")
        self.first: Final = spell(first)
        self._rest: Final = spell(rest) if named else None

    def match(self, text: str, at: int, name: str, final: bool) -> tuple[int, int]:
        """Whether the closer of this parameter stands at `at`, and where it ends."""
        closer = self.first if self._rest is None else self.first + name + self._rest
        if text.startswith(closer, at):
            return YES, at + len(closer)
        return (NO if final else half(text, at, closer)), at


def _run(literal: str) -> re.Pattern[str]:
    """What a place holds that ends where this literal begins."""
    stop = literal[:1]
    outside = "" if stop == '"' else '<>"'
    return re.compile("[^\n\r\ud800-\udfff" + re.escape(stop + outside) + "]+")


def half(text: str, at: int, literal: str) -> int:
    """MORE when the text ends inside what may become this literal, else NO."""
    rest = text[at : at + len(literal)]
    return MORE if len(rest) < len(literal) and literal.startswith(rest) else NO


def check(pattern: str) -> str:
    """What is wrong with a parameter's pattern, or nothing."""
    parts = _PLACES.split(pattern)
    if not parts[0]:
        return "a tag begins with text"
    if "{" in "".join(parts[::2]) or "}" in "".join(parts[::2]):
        return "unknown place in braces (there are {name}, {type}, {skip} and {ws})"
    if parts[1::2].count("name") != 1:
        return "a parameter has one {name}"
    if any(not literal for literal in parts[2::2]):
        return "a place needs text behind it, where it ends"
    return ""
