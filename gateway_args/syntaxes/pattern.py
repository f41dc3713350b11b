"""Patterns: how a table writes the text around names and keys, in headers and in tags.

A pattern is literal text with places in braces, a place that is followed by a literal ends at it:

    {name} {id} {type} {skip}   a word: the function's or parameter's name, the call's id, the word that types a value,
                                one that nobody wants
    {same}                      such a word too, where the template writes the name once more
    {ws}                        white space or none, at most `max_layout`
    {object}                    looks ahead at the `{` of the value and takes nothing
    {declared}                  the longest name that the request declares
    {index}                     digits, perhaps behind one of `:._-`, or nothing
    {any}                       text that nobody wants, or none, up to the first literal behind it
    {attributes}                the same without `<` and `>`, and no word is split at either end: attributes of a tag

A header (`functions.{name}:{skip}`) stands between an opener and a call's body. Its words are runs of name characters
that end at the last occurrence of the literal, so names may hold dots and colons. A tag (`<parameter={name}>`) opens a
parameter. Its words end where the literal begins; inside quotes they may hold anything but the quote and a line break,
elsewhere no tag characters either. Matching is a function of the text: YES, NO, or MORE while the text could still
become a match; a word is at most `max_name` long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .scanning import MORE, NO, YES, Verdict, layout, literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ..limits import Limits

_HEADER_PLACES: Final = re.compile(r"\{(name|id|skip|same|ws|object|declared|index|any|attributes)\}")
_TAG_PLACES: Final = re.compile(r"\{(name|type|skip|ws|any|attributes)\}")
_INDEX: Final = re.compile("[:._-]?[0-9]*")
_NAME_CHARS: Final = re.compile(r"[^\x00-\x20\\\"'`<>{}()\[\]=,|\ud800-\udfff]+")
_BRACKET: Final = re.compile("[<>]")
_WORD_CHAR: Final = re.compile(r"\w")
_ENTITY: Final = re.compile("&(?:amp|quot|lt|gt|apos);")
_ENTITIES: Final = {"&amp;": "&", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&apos;": "'"}


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern that matched: where it ends, and what stood in its places."""

    end: int
    tail: int
    """Where the pattern's last literal begins."""
    name: str = ""
    id: str = ""
    type: str | None = None
    """None in a pattern without the place."""


class _Step:
    """A place and the literal behind it."""

    __slots__ = ("last", "literal", "part", "quoted", "run")

    def __init__(self, part: str, literal: str, run: re.Pattern[str], last: bool) -> None:
        self.part: Final = part
        self.literal: Final = literal
        self.run: Final = run  # what the place may hold
        self.last: Final = last  # it ends at the literal's last occurrence, not at its first
        self.quoted: Final = literal.startswith('"')


def unnamed(headers: tuple[str, ...]) -> tuple[str, str] | None:
    """What is wrong with a syntax's header patterns, as (key, problem), or None."""
    if not headers:
        return "header", "missing; where the function's name stands"
    for n, pattern in enumerate(headers):
        if "{name}" not in pattern and "{declared}" not in pattern:
            return f"header[{n}]", "without {name} or {declared} no call is read"
    return None


class Pattern:
    """One pattern, compiled for a stream that spells markers with `spell`."""

    __slots__ = ("_entities", "_steps", "_tag", "first", "text")

    def __init__(
        self, pattern: str, spell: Callable[[str], str] = str, *, tag: bool = False, entities: bool = False
    ) -> None:
        """With `entities` the words in its places are written with `&amp;` and the like."""
        self.text: Final = pattern
        self._tag: Final = tag
        self._entities: Final = entities
        first, *rest = (_TAG_PLACES if tag else _HEADER_PLACES).split(pattern)  # literal, then place, literal, ...
        self.first: Final = spell(first)
        """The literal that it begins with."""
        steps = []
        for part, behind in zip(rest[::2], map(spell, rest[1::2]), strict=True):
            run = _tag_chars(behind) if tag or behind.startswith('"') else _NAME_CHARS
            steps.append(_Step(part, behind, run, last=not tag and _NAME_CHARS.match(behind) is not None))
        self._steps: Final = steps

    def match(
        self, text: str, at: int, limits: Limits, final: bool = False, names: Collection[str] = ()
    ) -> tuple[Verdict, Match | None]:
        """Match the pattern at this offset: (YES, what was found), (NO, None) or (MORE, None).

        `final`: no more text comes; `names` are the functions that the request declares.
        """
        first = self.first
        tail = at
        if first:
            verdict = literal(text, at, first, final)
            if verdict != YES:
                return verdict, None
            at += len(first)
        name = id = ""
        type: str | None = None
        end = len(text)
        for step in self._steps:
            part = step.part
            if part == "ws":
                verdict, at = layout(text, at, limits.max_layout)
                if verdict == NO or (verdict == MORE and not final):
                    return verdict, None
            elif part == "object":
                verdict = literal(text, at, "{", final)
                if verdict != YES:
                    return verdict, None
            elif part == "declared":
                rest = text[at : at + limits.max_name]
                if not final and any(known.startswith(rest) for known in names):
                    return MORE, None
                name = max((known for known in names if rest.startswith(known)), key=len, default="")
                if not name:
                    return NO, None
                at += len(name)
            elif part == "index":
                index = _INDEX.match(text, at, at + limits.max_name)
                at = index.end() if index is not None else at
                if at == end and not final:
                    return MORE, None
            elif part == "any" or part == "attributes":
                verdict, at = _unwanted(text, at, step.literal, limits.max_name, final, part == "attributes")
                if verdict != YES:
                    return verdict, None
            else:
                run = step.run.match(text, at, at + limits.max_name + 1)
                stop = run.end() if run is not None else at
                if stop - at > limits.max_name:
                    return NO, None
                if stop == end and not final:
                    return MORE, None
                if step.last:
                    stop = text.rfind(step.literal, at, stop)
                if stop <= at and not (self._tag and part != "name"):
                    return NO, None
                if part == "name":
                    if self._tag and text[at] == "/" and not step.quoted:
                        return NO, None
                    name = self._word(text[at:stop])
                elif part == "id":
                    id = text[at:stop]
                elif part == "type":
                    type = self._word(text[at:stop])
                at = stop
            tail = at
            if step.literal:
                verdict = literal(text, at, step.literal, final)
                if verdict != YES:
                    return verdict, None
                at += len(step.literal)
        return YES, Match(at, tail, name, id, type)

    def _word(self, text: str) -> str:
        if self._entities and "&" in text:
            return _ENTITY.sub(lambda entity: _ENTITIES[entity.group()], text)
        return text


class Closer:
    """A value's closer: a literal, or one that names the parameter it closes (`</{name}>`)."""

    __slots__ = ("_rest", "any", "first")

    def __init__(self, pattern: str, spell: Callable[[str], str] = str) -> None:
        first, named, rest = pattern.partition("{name}")
        self.first: Final = spell(first)
        self._rest: Final = spell(rest) if named else None
        self.any: Final = Pattern(pattern, spell, tag=True) if named else None
        """The closer of whatever parameter, where closers name theirs."""

    def match(self, text: str, at: int, name: str, final: bool) -> tuple[Verdict, int]:
        """Whether the closer of this parameter stands at `at`, and where it ends."""
        closer = self.first if self._rest is None else self.first + name + self._rest
        verdict = literal(text, at, closer, final)
        return verdict, at + len(closer) if verdict == YES else at


def first_match(
    patterns: tuple[Pattern, ...],
    text: str,
    at: int,
    limits: Limits,
    final: bool = False,
    names: Collection[str] = (),
) -> tuple[Verdict, Match | None]:
    """The first of these patterns that matches; undecided while an earlier one could still."""
    for pattern in patterns:
        verdict, found = pattern.match(text, at, limits, final, names)
        if verdict != NO:
            return verdict, found
    return NO, None


def header_problem(pattern: str) -> str:
    """What is wrong with a header's pattern, or nothing."""
    if not pattern:
        return "an empty header"
    rest = _HEADER_PLACES.sub("", pattern)
    if "{" in rest or "}" in rest:
        return (
            "unknown place in braces (there are {name}, {id}, {skip}, {same}, {ws}, {object}, {declared}, {index}, "
            "{any} and {attributes})"
        )
    if re.search(r"\}\{(?:name|id|skip|same)\}", pattern.replace("{ws}", "")):
        return "two places with nothing between them"
    if re.search(r"\{(?:any|attributes)\}(?:\{|\Z)", pattern):
        return "a place needs text behind it, where it ends"
    return ""


def tag_problem(pattern: str) -> str:
    """What is wrong with a parameter's pattern, or nothing."""
    parts = _TAG_PLACES.split(pattern)
    if not parts[0]:
        return "a tag begins with text"
    if "{" in "".join(parts[::2]) or "}" in "".join(parts[::2]):
        return "unknown place in braces (there are {name}, {type}, {skip}, {ws}, {any} and {attributes})"
    if parts[1::2].count("name") != 1:
        return "a parameter has one {name}"
    if any(not behind for behind in parts[2::2]):
        return "a place needs text behind it, where it ends"
    return ""


def _unwanted(text: str, at: int, behind: str, most: int, final: bool, attributes: bool) -> tuple[Verdict, int]:
    """Where a run of at most so many unwanted characters ends: at the first literal `behind` it that can end it."""
    end = len(text)
    bracket = _BRACKET.search(text, at) if attributes else None
    last = min(at + most, end if bracket is None else bracket.start())
    stop = at
    while (stop := text.find(behind, stop, last + len(behind))) >= 0:
        if not attributes or not (_splits_word(text, at) or _splits_word(text, stop)):
            return YES, stop
        stop += 1
    if final or end > last + len(behind) or (bracket is not None and not behind.startswith(text[bracket.start() :])):
        return NO, at
    return MORE, at


def _splits_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _WORD_CHAR.match(text, at - 1) is not None and _WORD_CHAR.match(text, at) is not None


def _tag_chars(behind: str) -> re.Pattern[str]:
    """What a tag's place holds that ends where this literal begins."""
    stop = behind[:1]
    outside = "" if stop == '"' else '<>"'
    return re.compile(r"[^\n\r\ud800-\udfff" + re.escape(stop + outside) + "]+")
