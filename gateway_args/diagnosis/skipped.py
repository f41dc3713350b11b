"""Outputs whose special tokens an engine skipped: what each table's calls and messages look like without them.

The commonest failure of all: an engine that decodes with `skip_special_tokens` (the default of most) takes the markers
out of the text, and what is left reads as content. Every sign is made from the table: its markers, headers and tags
with the texts of its single tokens taken out. What is left of them must be seen in the output, and none of the tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from ..syntaxes.framed import Framed
from ..syntaxes.gemma import Gemma
from ..syntaxes.objects import Json
from ..syntaxes.python_calls import Python
from ..syntaxes.tagged import Tagged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..formats import Format
    from ..syntaxes.base import Syntax
    from ..tools import Tools

_PLACE: Final = re.compile(r"\{(\w+)\}")
# Possessive: a run is not tried again shorter, so that a search costs a bounded amount at each character.
_NAME: Final = r"[\w.\-]{1,128}+"
_PLACES: Final = {
    "name": _NAME,
    "same": _NAME,
    "declared": _NAME,
    "id": r"[^\s{}<>]{1,128}+",
    "type": r"\w{1,16}+",
    "skip": r"[^\s{}<>]{0,64}+",
    "ws": r"\s{0,8}+",
    "index": r"[:._-]?\d{0,8}+",
    "any": r"[^{<]{0,64}",
    "attributes": r"[^<>]{0,64}+",
    "object": "",
}
_NAME_AND_OBJECT: Final = re.compile(
    r"(?:\A|\n)\s{0,8}[A-Za-z_][\w.\-]{2,128}\s{0,8}+(?=\{\s{0,8}+[\"}][^\n]{0,4096}\}?\s{0,8}\Z)"
)
"""A name and its arguments with nothing between, as the last line of the output."""
_PYTHON: Final = re.compile(r"\[?[A-Za-z_][\w.]{1,128}\((?:[A-Za-z_]\w{0,64}\s{0,2}=[^\n]{0,4096})?\)\]?\s{0,8}\Z")
_GEMMA: Final = re.compile(r"call:[A-Za-z_][\w.\-]{0,128}\{")
_LEADING: Final = re.compile(r"\A(?:\{(?:skip|ws|any)\})+")
_MARKUP: Final = frozenset('<>="[]|:')
_TELLING: Final = 3
"""Letters that a sign must have of its own; fewer say nothing."""
_MOST: Final = 1 << 15
"""Characters of the output that are looked at, from its beginning and from its end."""
_KEPT: Final = "diagnosis.skipped"


@dataclass(frozen=True, slots=True)
class Sign:
    """A text that this table's outputs hold when their special tokens were skipped."""

    pattern: re.Pattern[str]
    missing: str
    """The special token that should have stood there."""
    telling: int
    """Characters of its own; more say more."""


@dataclass(frozen=True, slots=True)
class Found:
    """A sign that was seen: its text, the special token that is missing, and how much it says."""

    text: str
    missing: str
    telling: int = 0


def sign_in(format: Format, text: str, tools: Tools | None = None) -> Found | None:
    """What of the output looks most like this table's without its special tokens.

    Of some families nothing is left but names and values (`find_ferry`, `pier`, `Old Mill`): only the request's tools
    tell those from prose.
    """
    if len(text) > 2 * _MOST:
        text = f"{text[:_MOST]}\n{text[-_MOST:]}"
    specials = _specials(format)
    if not specials or any(special in text for special in specials) or any(word in text for word in _plain(format)):
        return None
    seen = [(sign, found) for sign in _signs(format) if (found := sign.pattern.search(text)) is not None]
    if seen:
        sign, found = max(seen, key=lambda one: one[0].telling)
        return Found(found[0].strip(), sign.missing, sign.telling)
    return _object(format, text) or _bare_names(format, text, tools)


def _specials(format: Format) -> list[str]:
    """The single tokens that mark something in the table; the longest first."""
    return sorted({marker.text for marker in format.markers.values() if marker.token}, key=len, reverse=True)


def _plain(format: Format) -> list[str]:
    """Openers of calls in content that need no special token: with one of these the table reads the call."""
    specials = _specials(format)
    names = {name for state in format.states.values() if state.kind in ("content", "reasoning") for name in state.on}
    texts = [format.markers[name].text for name in names & format.opener_names]
    return [text for text in texts if len(text) > 4 and not any(special in text for special in specials)]


def _signs(format: Format) -> list[Sign]:
    found: list[Sign] | None = format.cache.get(_KEPT)
    if found is None:
        found = format.cache[_KEPT] = [*_messages(format), *_openers(format), *_headers(format)]
    return found


def _without(text: str, specials: list[str]) -> tuple[str, str]:
    """The text without its special tokens, and the first of them."""
    missing = min((special for special in specials if special in text), key=text.index, default="")
    for special in specials:
        text = text.replace(special, "")
    return text, missing


def _messages(format: Format) -> Iterator[Sign]:
    """Words between special tokens that begin a message (`analysis`), at the start of the output or behind the turn
    opener's word (`assistantfinal`)."""
    specials = _specials(format)
    words: dict[str, str] = {}
    for state in format.states.values():
        for name, target in state.on.items() if state.kind in ("content", "reasoning") else ():
            word, missing = _without(format.markers[name].text, specials)
            if missing and word.isalpha() and format.states[target].kind in ("content", "reasoning"):
                words[word] = missing
    turns = {word for word, missing in (_without(text, specials) for text in format.turn_openers) if missing}
    begins = {word: missing for word, missing in words.items() if word not in turns}
    for word, missing in begins.items():
        for turn in turns:
            yield Sign(re.compile(re.escape(turn + word)), missing, len(turn + word))
        yield Sign(re.compile(rf"\A\s{{0,8}}{re.escape(word)}(?=[^\sa-z.,;:!?'\-])"), missing, len(word))


def _marked(format: Format) -> str:
    """The special token that opens calls; "" where none does."""
    return next((text for text in _specials(format) if format.regions.get(text) == "start"), "")


def _openers(format: Format) -> Iterator[Sign]:
    """Markers of calls that are or hold other text than a special token (`<｜DSML｜invoke name="`)."""
    marked = _marked(format)
    for text, side in format.regions.items():
        left, missing = _without(text, _specials(format))
        missing = missing or (marked if side == "start" else "")
        if missing and sum(map(str.isalpha, left)) >= _TELLING and not left.strip().isalpha():
            yield Sign(re.compile(re.escape(left)), missing, len(left))


def _headers(format: Format) -> Iterator[Sign]:
    """What stands in a call: headers, tags, Python's calls and Gemma's, where a special token opens or holds them."""
    specials, marked = _specials(format), _marked(format)
    for syntax in format.calls.values():
        if isinstance(syntax, Python) and marked:
            yield Sign(_PYTHON, marked, 1)
        if isinstance(syntax, Gemma) and marked:
            yield Sign(_GEMMA, marked, 5)
        for pattern in _patterns(syntax):
            left, missing = _without(pattern, specials)
            missing = marked or missing
            if not missing:
                continue
            left = _LEADING.sub("", left)
            literal = _PLACE.sub("", left)
            body = _expression(left)
            if isinstance(syntax, Framed):
                body += r"\s{0,8}(?=[{\[])"
            if sum(map(str.isalpha, literal)) >= _TELLING and (
                isinstance(syntax, Framed) or not _MARKUP.isdisjoint(literal)
            ):
                yield Sign(re.compile(body), missing, len(literal))
            elif isinstance(syntax, Framed) and not literal.strip() and "{name}" in left:
                yield Sign(_NAME_AND_OBJECT, missing, 0)


def _patterns(syntax: Syntax) -> Iterator[str]:
    for field in fields(syntax):  # type: ignore[arg-type]
        value = getattr(syntax, field.name)
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and _PLACE.search(text):
                yield text


def _expression(pattern: str) -> str:
    parts = _PLACE.split(pattern)
    spelled = "".join(_PLACES.get(part, "") if at % 2 else re.escape(part) for at, part in enumerate(parts))
    return spelled if parts[0] else r"(?<![\w.\-])" + spelled


def _object(format: Format, text: str) -> Found | None:
    """A call's JSON object, where the table wants a special token before it."""
    marked = _marked(format)
    keys = [(syntax.name, syntax.arguments) for syntax in format.calls.values() if isinstance(syntax, Json)]
    if not marked or not keys:
        return None
    for at, value in _objects(text):
        if any(all(any(key in value for key in names) for names in pair) for pair in keys):
            return Found(text[at : at + 60].strip(), marked)
    return None


def _bare_names(format: Format, text: str, tools: Tools | None) -> Found | None:
    """A declared function's name and, directly behind it, the name of one of its parameters."""
    marked = _marked(format)
    if tools is None or not marked or not any(isinstance(syntax, Tagged) for syntax in format.calls.values()):
        return None
    for tool in tools:
        properties = tool.parameters.get("properties")
        keys = "|".join(map(re.escape, properties)) if isinstance(properties, Mapping) else ""
        found = re.search(rf"{re.escape(tool.name)}\s{{0,8}}(?:{keys})", text) if keys else None
        if found is not None:
            return Found(found[0], marked)
    return None


def _objects(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """JSON objects in the text, and where each begins; the first of a list."""
    at = -1
    for _ in range(_TRIED):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        yield at, value
        at = end - 1


_DECODER: Final = json.JSONDecoder()
_TRIED: Final = 16
"""Opening braces that are tried as an object's."""
