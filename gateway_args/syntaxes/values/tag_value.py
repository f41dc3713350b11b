"""A tag's raw text, written as the JSON value that its type makes of it.

A declared string is written as it grows, and so is a list or an object where the format writes JSON there. Every other
value waits until it is complete: its text is read once, at its close, by `typed_text.as_json`. One that may be a string
waits at most `max_held` and is a string then; one that may not is beyond the limit. The second value of a key is read
like a first and reported as a duplicate.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Final

from ...events import Why
from ...strict_json.acceptor import Acceptor
from ...strict_json.literals import json_string_fragment
from ..scanning import MORE, NO, YES, Verdict, is_private, skip_space
from ..sender import Sender
from ..state import ACCEPTOR, COUNT, FLAG, Kind, State, choice, optional, part
from .escapes import CONTROL, escaped
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
JSON: Final = "json"  # a list or an object as the acceptor takes it; any other value is held

_ESCAPED: Final = re.compile('["\\\\\x00-\x1f]')
_SPACE: Final = " \t\n\r"
_OPENED: Final = re.compile(r"[\[{ \t\n\r]*[a-z]*")  # up to the first thing in a list or an object, a word with it
_APART: Final = re.compile(r"[\x00-\x1f\ud800-\udfff]")  # what a fragment does not hold as it stands


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


def json_begins(region: Region, at: int) -> Verdict:
    """Whether a value at `at` is a list or an object as JSON begins one, told by the first thing in it."""
    text = region.text
    limit = at + region.limits.max_layout
    opened = _OPENED.match(text, at, limit)
    end = limit if opened is None else opened.end()
    if end == len(text) and end < limit and not region.final:
        return MORE
    if end >= min(limit, len(text)):
        return NO
    json = Acceptor(region.limits.max_depth)
    size = json.feed(text, at, end + 1)
    return YES if size == end + 1 - at and (json.depth or json.complete) else NO


class TagValue(State):
    """The values of one call, one after the other; the current one in the making.

    False from a method: a limit was met, `region.why` and `region.pos` say which and where.
    """

    __slots__ = ("_json", "_json_end", "_quoted", "_scalar", "_waiting", "form", "sender", "written")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("form", choice(TEXT, MAYBE_NULL, LOOSE, HELD, REFUSED, JSON)),
        ("sender", part(Sender)),
        ("_quoted", FLAG),
        ("_scalar", FLAG),
        ("_json", optional(ACCEPTOR)),
        ("_json_end", COUNT),
    )

    def __init__(self) -> None:
        self.form: str = TEXT
        self.sender = Sender(started=True)
        self.written = ""  # the JSON of the value that was closed, where it was held
        self._quoted = False  # the opening quote is written
        self._scalar = False  # the value has no string in it
        self._json: Acceptor | None = None  # reads along in a list or an object, to know where strings are
        self._json_end = 0  # how many characters of the value it has read
        self._waiting: list[tuple[str, int]] = []  # what it has read in this delta and where the text of each ends

    def begin(self, form: str, scalar: bool = False) -> None:
        """The next value; `scalar`: no value of its type has a string in it."""
        self.form = form
        self.written = ""
        self._quoted = False
        self._scalar = scalar
        self._json = None

    @property
    def opened(self) -> bool:
        """Whether all is there that reading the value's text needs."""
        return self.form != JSON or self._json is not None

    def opens(self, max_depth: int) -> None:
        """The value's text begins, with nothing unaccounted before it; it may nest so deep."""
        if self.form == JSON or (self.form == HELD and not self._scalar):
            self._json = Acceptor(max_depth)
            self._json_end = 0

    def ends_at_first_closer(self, region: Region, at: int) -> bool:
        """Whether a closer at `at` ends the value whatever follows it: no string that could hold one is open."""
        if self.form not in (HELD, JSON):
            return False
        json = self._json
        if json is None:
            return self._scalar
        if self.form == JSON:
            self._read_json(region, json, region.pos + len(region.text[region.pos : at].rstrip(_SPACE)))
        else:
            self._read_along(region, json, at)
        return not json.refused and not json.in_string

    def _read_along(self, region: Region, json: Acceptor, end: int) -> None:
        """All of a value that is held is unaccounted, so `held` tells how much of it there is."""
        start = region.pos - region.held + self._json_end
        if start < end:
            json.feed(region.text, start, end)
            self._json_end += end - start

    def _read_json(self, region: Region, json: Acceptor, end: int) -> None:
        """Read the text up to `end` as JSON, as far as it is; its fragments wait."""
        text = region.text
        at = self._waiting[-1][1] if self._waiting else region.pos
        while at < end and json.complete is None:
            apart = _APART.search(text, at, end)
            stop = end if apart is None else apart.start()
            taken = json.feed(text, at, stop)
            if taken:
                at += taken
                self._waiting.append((text[at - taken : at], at))
            if apart is None or at < stop:
                return
            char = text[at]
            inside = json.in_string
            if (is_private(char) and not inside) or not json.feed(char):
                return
            piece = CONTROL[char] if inside and char < " " else char
            at += 1
            self._waiting.append((escaped(region.data(at - 1, at)) if is_private(char) else piece, at))

    def _send_json(self, region: Region, json: Acceptor, end: int) -> bool:
        """Send what the text up to `end` is as JSON; False: it goes on as none, or beyond a limit."""
        self._read_json(region, json, end)
        waiting, self._waiting = self._waiting, []
        for nothing, group in groupby(waiting, lambda piece: not piece[0]):
            pieces, ends = map(list, zip(*group, strict=True))
            if not nothing and not self.sender.send(region, pieces, ends, ends[-1], divisible=True):
                return False
            region.advance(ends[-1])
            region.consume(ends[-1], Why.CONTROL)  # tokens without text
        if json.complete is not None:
            region.advance(min(skip_space(region.text, region.pos), end))
            region.consume(region.pos, Why.ENVELOPE)
        if region.pos < end:
            deep = region.text[region.pos] in "[{" and json.depth >= json.state[3]
            region.fail(Why.LIMIT if deep else Why.ARGUMENTS)
        return region.pos == end

    def grow(self, region: Region, end: int, python: bool) -> bool:
        """The text up to `end` is the value's."""
        if self._json is not None:
            if self.form == JSON:
                return self._send_json(region, self._json, end)
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
        if self.form == JSON:
            complete = self._json is not None and self._json.complete is not None
            if not complete:
                region.fail(Why.ARGUMENTS)
            return complete
        text = region.held_text(end)
        json = empty if empty and not text else as_json(text, type, python=python, max_depth=depth)
        if json is None:
            region.fail(Why.LIMIT)
            return False
        self.written = json
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
        return (self._quoted if self.form == TEXT else self.form == JSON) and region.limits.max_arguments is None

    def run_on(self, text: str) -> str | None:
        """The hot path: the fragment that all of this text is; None: it is for `grow`."""
        if self.form == JSON:
            if self._json is None or _APART.search(text) is not None or not self._json.feed_all(text):
                return None
            json = text
        else:
            json = text if _ESCAPED.search(text) is None else json_string_fragment(text)
        self.sender.sent += len(json)
        return json


def _maybe_null(region: Region, end: int, python: bool) -> bool:
    """Whether the text so far could be the word for null."""
    if region.held > len("null"):
        return False
    text = region.held_text(end)
    return "null".startswith(text) or (python and "None".startswith(text))
