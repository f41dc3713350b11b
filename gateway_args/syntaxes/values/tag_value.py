"""A tag's raw text, written as the JSON value that its type makes of it.

A declared string is written as it grows. Every other value waits until it is complete: its text is read once, at its
close, by `typed_text.as_json`. One that may be a string waits at most `max_held` and is a string then; one that may not
is beyond the limit. The second value of a key is read like a first and reported as a duplicate.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from ...events import Why
from ...strict_json.acceptor import Acceptor
from ...strict_json.literals import json_string_fragment
from ..sender import Sender
from ..state import ACCEPTOR, COUNT, FLAG, Kind, State, choice, optional, part
from .typed_text import as_json

if TYPE_CHECKING:
    from ...schema.value_types import JsonType, ValueType
    from ..region import Region

# How a value is written.
TEXT: Final = "text"  # a string, as it grows
MAYBE_NULL: Final = "maybe null"  # the same, held while it could be the word null
LOOSE: Final = "loose"  # held; a string when it is no other type's, or grows too long
HELD: Final = "held"  # held; no string fits
REFUSED: Final = "refused"  # a second value of its key

_ESCAPED: Final = re.compile('["\\\\\x00-\x1f]')


def form_of(type: ValueType | None) -> str:
    """How a value of this type is written; None when nothing is known of it."""
    if type is None or type.untyped:
        return LOOSE
    if type.only_string:
        return MAYBE_NULL if type.nullable else TEXT
    return LOOSE if type.admits("string") else HELD


def is_scalar(type: ValueType | None) -> bool:
    """Whether no value of this type has a string in it."""
    kinds: tuple[JsonType, ...] = ("string", "object", "array")
    return type is not None and not type.untyped and not any(type.admits(kind) for kind in kinds)


class TagValue(State):
    """The values of one call, one after the other; the current one in the making.

    False from a method: a limit was met, `region.why` and `region.pos` say which and where.
    """

    __slots__ = ("_json", "_json_end", "_quoted", "_scalar", "form", "sender")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("form", choice(TEXT, MAYBE_NULL, LOOSE, HELD, REFUSED)),
        ("sender", part(Sender)),
        ("_quoted", FLAG),
        ("_scalar", FLAG),
        ("_json", optional(ACCEPTOR)),
        ("_json_end", COUNT),
    )

    def __init__(self) -> None:
        self.form: str = TEXT
        self.sender = Sender(started=True)
        self._quoted = False  # the opening quote is written
        self._scalar = False  # the value has no string in it
        self._json: Acceptor | None = None  # reads along in a list or an object, to know where strings are
        self._json_end = 0  # how many characters of the value it has read

    def begin(self, form: str, scalar: bool = False) -> None:
        """The next value; `scalar`: no value of its type has a string in it."""
        self.form = form
        self._quoted = False
        self._scalar = scalar
        self._json = None

    def opens(self, max_depth: int) -> None:
        """The value's text begins, with nothing unaccounted before it."""
        if self.form == HELD and not self._scalar:
            self._json = Acceptor(max_depth)
            self._json_end = 0

    def ends_at_first_closer(self, region: Region, at: int) -> bool:
        """Whether a closer at `at` ends the value whatever follows it: its type has no string that could hold one."""
        if self.form != HELD:
            return False
        if self._scalar:
            return True
        json = self._json
        if json is None:
            return False
        self._read_along(region, json, at)
        return not json.refused and not json.in_string

    def _read_along(self, region: Region, json: Acceptor, end: int) -> None:
        """All of a value that is held is unaccounted, so `held` tells how much of it there is."""
        start = region.pos - region.held + self._json_end
        if start < end:
            json.feed(region.text, start, end)
            self._json_end += end - start

    def grow(self, region: Region, end: int, python: bool) -> bool:
        """The text up to `end` is the value's."""
        if self._json is not None:
            self._read_along(region, self._json, end)
        region.advance(end)
        form = self.form
        if form == MAYBE_NULL:
            if _maybe_null(region, end, python):
                return True
            form = self.form = TEXT
        if form == TEXT:
            return self._send_text(region, end)
        if form == REFUSED:
            region.malformed(end, Why.DUPLICATE)
            return True
        excess = region.held - region.limits.max_held
        if excess <= 0:
            return True
        if form == LOOSE:
            self.form = TEXT
            return self._send_text(region, end)
        region.advance(end - excess)
        region.fail(Why.LIMIT)
        return False

    def close(self, region: Region, end: int, type: ValueType | None, python: bool, depth: int, empty: str) -> bool:
        """The value ends at `end`, `depth` levels deep at most; `empty` is what no text at all stands for, if that
        is no string."""
        if not self.grow(region, end, python):
            return False
        if self.form in (TEXT, REFUSED):
            return True
        text = region.held_text(end)
        json = empty if empty and not text else as_json(text, type, python=python, max_depth=depth)
        if json is None:
            region.fail(Why.LIMIT)
            return False
        return self.send(region, json, end)

    @property
    def closing(self) -> str:
        """What is written with the closer: the quotes of a string that are not written yet."""
        return "" if self.form != TEXT else '"' if self._quoted else '""'

    def cut(self, region: Region, end: int) -> None:
        """The output ends in the value: what was held of a string is sent, any other value never came."""
        region.advance(end)
        if self.form == MAYBE_NULL:
            self.form = TEXT
        why = Why.DUPLICATE if self.form == REFUSED else Why.UNTERMINATED
        if self.form == TEXT and not self._send_text(region, end):
            why = Why.LIMIT
        region.malformed(len(region.text), why)  # which may have been put together anew

    # ------------------------------------------------------------------------------

    def send(self, region: Region, json: str, end: int) -> bool:
        """Send this fragment whole, for the text up to `end`."""
        return self.sender.send_one(region, json, end)

    def _send_text(self, region: Region, end: int) -> bool:
        """Send the text up to `end` as part of a string."""
        text = region.held_text(end)
        if not text and not region.held:
            return True
        if not region.divided(end):
            json = json_string_fragment(text)
            if not self._quoted:
                json = '"' + json
            if self.send(region, json, end):
                self._quoted = True
                return True
        # One character at a time: a token without text may stand between any two, or the limit.
        end += region.rejoin()
        at = 0
        while at < end:
            json = json_string_fragment(region.data(at, at + 1))
            if not self._quoted:
                json = '"' + json
            if not self.send(region, json, at + 1):
                region.advance(at)
                return False
            self._quoted = True
            at += 1
        return True

    def hot(self, region: Region) -> bool:
        """Whether text may come by `run_on`."""
        return self.form == TEXT and self._quoted and region.limits.max_arguments is None

    def run_on(self, text: str) -> str:
        """The hot path: all of this text is the string's; its fragment."""
        json = text if _ESCAPED.search(text) is None else json_string_fragment(text)
        self.sender.sent += len(json)
        return json


def _maybe_null(region: Region, end: int, python: bool) -> bool:
    """Whether the text so far could be the word for null."""
    if region.held > len("null"):
        return False
    text = region.held_text(end)
    return "null".startswith(text) or (python and "None".startswith(text))
