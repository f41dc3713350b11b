"""A tag's raw text, written as the JSON value that its type makes of it.

A declared string is written as it grows. Every other value waits until it is whole: its text is read once, at its
close, by `literals.as_json`. One that may be a string waits at most `max_held` and is a string then; one that may not
is beyond the limit. The second value of a key is read like a first and reported as a duplicate.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..events import Why
from ..strict_json.acceptor import Acceptor
from .literals import as_json, json_string_fragment

if TYPE_CHECKING:
    from ..engine.engine import Engine
    from ..schema.value_types import JsonType, ValueType

# How a value is written.
TEXT: Final = 0  # a string, as it grows
MAYBE_NULL: Final = 1  # the same, held while it could be the word null
LOOSE: Final = 2  # held; a string when it is no other type's, or grows too long
HELD: Final = 3  # held; no string fits
REFUSED: Final = 4  # a second value of its key

_ESCAPED: Final = re.compile('["\\\\\x00-\x1f]')


def form_of(type: ValueType | None) -> int:
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


class Value:
    """The values of one call, one after the other; the current one in the making.

    False from a method: a limit was met, `engine.why` and `engine.pos` say which and where.
    """

    __slots__ = ("_json", "_json_end", "_quoted", "_scalar", "form", "sent")

    def __init__(self) -> None:
        self.form = TEXT
        self.sent = 0  # characters of the call's fragments
        self._quoted = False  # the opening quote is written
        self._scalar = False  # the value has no string in it
        self._json: Acceptor | None = None  # reads along in a list or an object, to know where strings are
        self._json_end = 0  # how far in all of the text it has read

    def begin(self, form: int, scalar: bool = False) -> None:
        """The next value; `scalar`: no value of its type has a string in it."""
        self.form = form
        self._quoted = False
        self._scalar = scalar
        self._json = None

    def opens(self, engine: Engine, max_depth: int) -> None:
        """The value's text begins at `engine.pos`."""
        if self.form == HELD and not self._scalar:
            self._json = Acceptor(max_depth)
            self._json_end = engine.offset(engine.pos)

    def ends_at_first_closer(self, engine: Engine, at: int) -> bool:
        """Whether a closer at `at` ends the value whatever follows it: its type has no string that could hold one."""
        if self.form != HELD:
            return False
        if self._scalar:
            return True
        self._read_along(engine, at)
        return self._json is not None and not self._json.refused and not self._json.in_string

    def _read_along(self, engine: Engine, end: int) -> None:
        if self._json is not None:
            start = self._json_end - engine.offset(0)
            self._json.feed(engine.buf, start, end)
            self._json_end += max(0, end - start)

    def grow(self, engine: Engine, end: int, python: bool) -> bool:
        """The text up to `end` is the value's."""
        if self._json is not None:
            self._read_along(engine, end)
        engine.pos = end
        form = self.form
        if form == MAYBE_NULL:
            if _maybe_null(engine, end, python):
                return True
            form = self.form = TEXT
        if form == TEXT:
            return self._send_text(engine, end)
        if form == REFUSED:
            engine.spoil(end, Why.DUPLICATE)
            return True
        room = engine.limits.max_held - engine.held
        if end - engine.mark <= room:
            return True
        if form == LOOSE:
            self.form = TEXT
            return self._send_text(engine, end)
        engine.pos = engine.mark + room
        engine.why = Why.LIMIT
        return False

    def close(self, engine: Engine, end: int, type: ValueType | None, python: bool, depth: int, empty: str) -> bool:
        """The value ends at `end`, `depth` levels deep at most; `empty` is what no text at all stands for, if that
        is no string."""
        if not self.grow(engine, end, python):
            return False
        if self.form in (TEXT, REFUSED):
            return True
        text = engine.pending(end)
        json = empty if empty and not text else as_json(text, type, python=python, max_depth=depth)
        if json is None:
            engine.why = Why.LIMIT
            return False
        return self.send(engine, json, end)

    @property
    def closing(self) -> str:
        """What is written with the closer: the quotes of a string that are not written yet."""
        return "" if self.form != TEXT else '"' if self._quoted else '""'

    def cut(self, engine: Engine, end: int) -> None:
        """The output ends in the value: what was held of a string is said, any other value never came."""
        if self.form == MAYBE_NULL:
            self.form = TEXT
        if self.form == TEXT:
            self._send_text(engine, end)
        engine.spoil(end, Why.DUPLICATE if self.form == REFUSED else Why.UNTERMINATED)

    # ------------------------------------------------------------------------------

    def send(self, engine: Engine, json: str, end: int) -> bool:
        """Send this fragment whole, for the text up to `end`."""
        limit = engine.limits.max_arguments
        if limit is not None and self.sent + len(json) > limit:
            engine.why = Why.LIMIT
            return False
        self.sent += len(json)
        engine.arguments(json, end)
        return True

    def _send_text(self, engine: Engine, end: int) -> bool:
        """Send the text up to `end` as part of a string."""
        if end == engine.mark and not engine.held:
            return True
        if not engine.control_before(end):
            json = json_string_fragment(engine.pending(end))
            if not self._quoted:
                json = '"' + json
            if self.send(engine, json, end):
                self._quoted = True
                return True
        # One character at a time: a token without text may stand between any two, or the limit.
        end += engine.unpark()
        at = 0
        while at < end:
            json = json_string_fragment(engine.restore(engine.buf[at], engine.done))
            if not self._quoted:
                json = '"' + json
            if not self.send(engine, json, at + 1):
                engine.pos = at
                return False
            self._quoted = True
            at += 1
        return True

    def plain(self, engine: Engine) -> bool:
        """Whether text may come by `run_on`."""
        return self.form == TEXT and self._quoted and engine.limits.max_arguments is None

    def run_on(self, engine: Engine, text: str) -> None:
        """The hot path: all of this text is the string's."""
        if _ESCAPED.search(text) is None:
            self.sent += len(text)
            engine.pass_through(text, len(text))
            return
        engine.buf = text
        engine.mark = 0
        self.grow(engine, len(text), False)

    def save(self) -> list[object]:
        along = None if self._json is None else list(self._json.state)
        return [self.form, self.sent, self._quoted, self._scalar, along, self._json_end]

    def load(self, saved: list[object]) -> None:
        form, sent, quoted, scalar, along, along_end = saved
        self.form = int(form)  # type: ignore[call-overload]
        self.sent = int(sent)  # type: ignore[call-overload]
        self._quoted = bool(quoted)
        self._scalar = bool(scalar)
        self._json = None if along is None else Acceptor.restore(along)  # type: ignore[arg-type]
        self._json_end = int(along_end)  # type: ignore[call-overload]


def _maybe_null(engine: Engine, end: int, python: bool) -> bool:
    """Whether the text so far could be the word for null."""
    if engine.held + end - engine.mark > len("null"):
        return False
    text = engine.pending(end)
    return "null".startswith(text) or (python and "None".startswith(text))
