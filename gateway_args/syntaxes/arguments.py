"""Reads one JSON value as a call's arguments: fragments while some value could continue, never repaired.

Shared by every syntax whose arguments are JSON. Three forms, told apart by the value's first character: a value as it
stands (its characters are the fragments, raw control characters in strings escaped), a string that holds the value
(decoded as it streams) and `null` (no arguments). While the call has not started, fragments wait and the text stays
unaccounted; `release` sends them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..engine.program import is_private, skip_space
from ..events import Why
from ..strict_json.acceptor import Acceptor
from .base import BROKE, DONE, MARKER, MORE, YES

if TYPE_CHECKING:
    from ..engine.engine import Engine

REACH: Final = 4096
"""How far ahead a reader looks at once: text that is read again when a value proves to be none must cost little."""

_START: Final = 0
_RAW: Final = 1
_QUOTED: Final = 2
_OVER: Final = 3

_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]+')
_ESCAPE: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_HALF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_SIMPLE: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONTROL: Final = {chr(n): f"\\u{n:04x}" for n in range(0x20)} | {
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}


class Arguments:
    """One arguments value in the making."""

    __slots__ = ("_acceptor", "_form", "_pending", "_size", "_stuck", "empty", "started", "whole")

    def __init__(self, max_depth: int, literal: bool = False) -> None:
        """With `literal` the value is read as it stands: no value in a string, and null is a value."""
        self._acceptor = Acceptor(max_depth)
        self._form = _RAW if literal else _START
        self._pending: list[str] = []
        self._size = 0
        self._stuck = False  # a character was refused; whether a marker stands there is undecided
        self.started = False  # the call has: fragments are sent
        self.empty = False  # null or an empty string: no arguments
        self.whole = False

    def read(self, engine: Engine) -> int:
        """Read on from `engine.pos`: DONE behind the value, BROKE at the first character of none, MARKER, MORE."""
        if self._stuck:
            return self._refused(engine)
        if self._form == _START:
            code = self._start(engine)
            if code != DONE:
                return code
        if self._form == _QUOTED:
            return self._quoted(engine)
        if self._form == _RAW:
            return self._raw(engine)
        return DONE

    def release(self, engine: Engine) -> None:
        """The call has started: send what waited."""
        self.started = True
        if self._pending:
            engine.arguments("".join(self._pending), engine.mark)
            self._pending = []

    def cut(self, engine: Engine) -> None:
        """The value ends here, by a marker or the end of the output: half an escape is all that can still be held."""
        if self.started and self._form == _QUOTED and engine.final:
            engine.spoil(len(engine.buf), Why.UNTERMINATED)

    # ------------------------------------------------------------------------------

    def _start(self, engine: Engine) -> int:
        """Find the form; DONE when it is known."""
        buf = engine.buf
        at = engine.pos = skip_space(buf, engine.pos)
        if self.started:
            engine.drop(at, Why.ENVELOPE)
        if at == len(buf):
            return MORE
        char = buf[at]
        if char == '"':
            self._form = _QUOTED
            engine.pos = at + 1
            if self.started:
                engine.drop(at + 1, Why.ENVELOPE)
        elif char == "n":
            word = buf[at : at + 4]
            if word == "null":
                engine.pos = at + 4
                if self.started:
                    engine.drop(at + 4, Why.ENVELOPE)
                self._form = _OVER
                self.empty = True
            elif len(word) < 4 and "null".startswith(word) and not engine.final:
                return MORE
            else:
                self._form = _RAW
        else:
            self._form = _RAW
        return DONE

    def _raw(self, engine: Engine) -> int:
        buf = engine.buf
        at = engine.pos
        limit = self._room(engine, at)
        acceptor = self._acceptor
        firsts = engine.stage.json_firsts
        special = engine.stage.special
        pieces: list[str] = []
        ends: list[int] = []
        while at < limit:
            reach = min(limit, at + REACH)
            match = special.search(buf, at, reach)
            stop = match.start() if match is not None else reach
            if stop > at:
                taken = acceptor.feed(buf, at, stop)
                if taken:
                    pieces.append(buf[at : at + taken])
                    at += taken
                    ends.append(at)
                if acceptor.complete is not None:
                    return self._over(engine, pieces, ends, at)
                if at < stop:
                    self._stuck = True
                    break
            if match is None:
                continue
            char = buf[at]
            private = is_private(char)
            if private or (char in firsts and not acceptor.in_string):
                verdict = engine.marker_at(at)
                if verdict == YES:
                    return self._send(engine, pieces, ends, at, MARKER)
                if verdict == MORE:
                    return self._send(engine, pieces, ends, at, MORE)
            inside = acceptor.in_string
            if (private and not inside) or acceptor.feed(char) == 0:
                if acceptor.complete is not None:
                    return self._over(engine, pieces, ends, at)
                self._stuck = True
                break
            if private:
                data = _escaped(engine.restore(char, engine.offset(at)))
                if not data and self.started:  # no marker here, and no text: a token of its own
                    if self._send(engine, pieces, ends, at, MORE) != MORE:
                        return BROKE
                    pieces, ends = [], []
                    at += 1
                    engine.pos = at
                    engine.drop(at, Why.CONTROL)
                    continue
                pieces.append(data)
            elif inside and char < " ":
                pieces.append(_CONTROL[char])
            else:
                pieces.append(char)
            at += 1
            ends.append(at)
            if acceptor.complete is not None:
                return self._over(engine, pieces, ends, at)
        code = self._send(engine, pieces, ends, at, MORE)
        if code != MORE:
            return code
        if self._stuck:
            return self._refused(engine)
        if limit < len(buf):
            engine.why = Why.LIMIT
            return BROKE
        if self.started:
            engine.plain = self
        return MORE

    def _over(self, engine: Engine, pieces: list[str], ends: list[int], at: int) -> int:
        """The value is whole and ended at `at`."""
        self.whole = True
        self._form = _OVER
        return self._send(engine, pieces, ends, at, DONE)

    def run_on(self, engine: Engine, text: str) -> bool:
        """The hot path, for printable text when nothing is held: what the acceptor takes is the fragment as it is.

        False: nothing was done. When not all was taken, `engine.plain` is None and `engine.pos` is where to read on.
        """
        stage = engine.stage
        if not text.isprintable() or (stage.json_firsts and stage.special.search(text) is not None):
            return False
        size = len(text)
        limit = engine.limits.max_arguments
        if limit is not None and self._size + size > limit:
            return False
        acceptor = self._acceptor
        taken = acceptor.feed(text)
        self._size += taken
        if taken == size and acceptor.complete is None:
            engine.pass_through(text, size)
            return True
        engine.plain = None
        engine.buf = text
        engine.mark = 0
        engine.pos = taken
        if taken:
            engine.arguments(text[:taken], taken, divisible=True)
        if acceptor.complete is not None:
            self.whole = True
            self._form = _OVER
        else:
            self._stuck = True
        return True

    def _refused(self, engine: Engine) -> int:
        """A character that no value continues stands at `engine.pos`: a marker, or the end of the arguments."""
        at = engine.pos
        verdict = engine.marker_at(at)
        if verdict == YES:
            return MARKER
        if verdict == MORE:
            self._stuck = True
            return MORE
        acceptor = self._acceptor
        deep = self._form == _RAW and engine.buf[at] in "[{" and acceptor.depth >= engine.limits.max_depth
        engine.why = Why.LIMIT if deep else Why.ARGUMENTS
        return BROKE

    def _quoted(self, engine: Engine) -> int:
        """The value is written inside a JSON string: decode it and read what it says."""
        buf = engine.buf
        at = engine.pos
        limit = self._room(engine, at)
        acceptor = self._acceptor
        pieces: list[str] = []
        ends: list[int] = []
        while at < limit:
            char = buf[at]
            if char == '"':
                return self._unquote(engine, pieces, ends, at)
            match = _PLAIN.match(buf, at, limit)
            if match is not None:
                text = match.group()
                size = len(text)
            elif char == "\\":
                text, size = _decode(buf, at)
                if size == 0:
                    if not engine.final and _HALF_ESCAPE.match(buf, at):
                        return self._send(engine, pieces, ends, at, MORE)
                    return self._spoiled(engine, pieces, ends, at)
                if size < 0:  # a high surrogate whose other half may follow
                    if not engine.final:
                        return self._send(engine, pieces, ends, at, MORE)
                    size = 6
            elif is_private(char):
                verdict = engine.marker_at(at)
                if verdict == YES:
                    return self._send(engine, pieces, ends, at, MARKER)
                if verdict == MORE:
                    return self._send(engine, pieces, ends, at, MORE)
                data = engine.restore(char, engine.offset(at))
                if data:
                    data = _escaped(data) if acceptor.in_string else data
                    if acceptor.feed(data) < len(data):
                        return self._spoiled(engine, pieces, ends, at)
                    pieces.append(data)
                    at += 1
                    ends.append(at)
                    continue
                if self._send(engine, pieces, ends, at, MORE) != MORE:
                    return BROKE
                pieces, ends = [], []
                at += 1
                engine.pos = at
                if self.started:
                    engine.drop(at, Why.CONTROL)
                continue
            else:
                text = char
                size = 1
            taken = 0
            if acceptor.valid == 0 or acceptor.complete is not None:
                # White space around the inner value is envelope.
                taken = skip_space(text, 0)
                if taken:
                    spaces = taken if size == len(text) else size
                    if self._send(engine, pieces, ends, at, MORE) != MORE:
                        return BROKE
                    pieces, ends = [], []
                    at += spaces
                    engine.pos = at
                    if self.started:
                        engine.drop(at, Why.ENVELOPE)
                    text = text[taken:]
                    size -= spaces
                    if not text:
                        continue
                if acceptor.complete is not None:
                    return self._spoiled(engine, pieces, ends, at)
            inside = acceptor.in_string
            taken = acceptor.feed(text)
            if taken and len(text) == 1:
                pieces.append(_inner(text) if inside else text)
                at += size
                ends.append(at)
            elif taken:
                pieces.append(text[:taken])
                at += taken
                ends.append(at)
            if acceptor.complete is not None:
                self.whole = True
            elif taken < len(text):
                return self._spoiled(engine, pieces, ends, at)
        code = self._send(engine, pieces, ends, at, MORE)
        if code == MORE and limit < len(buf):
            engine.why = Why.LIMIT
            return BROKE
        return code

    def _unquote(self, engine: Engine, pieces: list[str], ends: list[int], at: int) -> int:
        acceptor = self._acceptor
        if self._send(engine, pieces, ends, at, MORE) != MORE:
            return BROKE
        if acceptor.valid == 0:
            self.empty = True
        else:
            if acceptor.complete is None and not acceptor.in_string:
                acceptor.feed(" ")  # the quote ends a number as white space does
            if acceptor.complete is None:
                engine.why = Why.ARGUMENTS
                return BROKE
            self.whole = True
        self._form = _OVER
        engine.pos = at + 1
        if self.started:
            engine.drop(at + 1, Why.ENVELOPE)
        return DONE

    def _spoiled(self, engine: Engine, pieces: list[str], ends: list[int], at: int) -> int:
        none_yet = self._acceptor.valid == 0 and not pieces
        if self._send(engine, pieces, ends, at, MORE) != MORE:
            return BROKE
        engine.why = Why.SHAPE if none_yet else Why.ARGUMENTS
        return BROKE

    def _room(self, engine: Engine, at: int) -> int:
        """How far the value may be read: all of the text, or what may still be held before the call starts."""
        end = len(engine.buf)
        if self.started:
            return end
        return min(end, at + max(0, engine.limits.max_held - engine.unaccounted()))

    def _send(self, engine: Engine, pieces: list[str], ends: list[int], end: int, code: int) -> int:
        """Send these fragments, the text of each up to its end; BROKE instead of `code` when they pass the limit."""
        start = engine.pos
        engine.pos = end
        if not pieces:
            return code
        json = "".join(pieces)
        limit = engine.limits.max_arguments
        if limit is not None and self._size + len(json) > limit:
            json, engine.pos = _cut(pieces, ends, start, limit - self._size)
            engine.why = Why.LIMIT
            self.whole = False
            code = BROKE
        self._size += len(json)
        if not json:
            return code
        if not self.started:
            self._pending.append(json)
        elif engine.control_before(engine.pos):
            room = len(json)
            for piece, piece_end in zip(pieces, ends, strict=True):
                if room > 0:
                    engine.arguments(piece[:room], min(piece_end, engine.pos), divisible=True)
                    room -= len(piece)
        else:
            engine.arguments(json, engine.pos)
        return code

    # ------------------------------------------------------------------------------

    def save(self) -> list[object]:
        return [
            list(self._acceptor.state),
            self._form,
            "".join(self._pending),
            self._size,
            self._stuck,
            self.started,
            self.empty,
            self.whole,
        ]

    @classmethod
    def load(cls, saved: list[object]) -> Arguments:
        state, form, pending, size, stuck, started, empty, whole = saved
        self = cls(0)
        self._acceptor = Acceptor.restore(state)  # type: ignore[arg-type]
        self._form = int(form)  # type: ignore[call-overload]
        self._pending = [str(pending)] if pending else []
        self._size = int(size)  # type: ignore[call-overload]
        self._stuck = bool(stuck)
        self.started = bool(started)
        self.empty = bool(empty)
        self.whole = bool(whole)
        return self


def _cut(pieces: list[str], ends: list[int], start: int, room: int) -> tuple[str, int]:
    """The first `room` characters of these fragments and where their text ends; an escape is sent whole or not."""
    sent = []
    for piece, end in zip(pieces, ends, strict=True):
        if len(piece) > room:
            if end - start == len(piece):
                sent.append(piece[:room])
                start += room
            break
        sent.append(piece)
        room -= len(piece)
        start = end
    return "".join(sent), start


def _decode(text: str, at: int) -> tuple[str, int]:
    """The character that the escape at `at` stands for and the escape's length: 0 none, -1 half a pair."""
    match = _ESCAPE.match(text, at)
    if match is None:
        return "", 0
    escape = match.group()
    if escape[1] != "u":
        return _SIMPLE[escape[1]], 2
    code = int(escape[2:], 16)
    if 0xD800 <= code < 0xDC00:
        low = text[at + 6 : at + 12]
        if len(low) == 6 and low.startswith("\\u") and _ESCAPE.match(low):
            other = int(low[2:], 16)
            if 0xDC00 <= other < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (other - 0xDC00)), 12
        elif len(low) < 6 and (not low or _HALF_ESCAPE.match(low)):
            return chr(code), -1
    return chr(code), 6


def _inner(char: str) -> str:
    """One decoded character as it stands in the value's own string."""
    if char < " ":
        return _CONTROL[char]
    if is_private(char):  # half of a pair that has no other half
        return f"\\u{ord(char):04x}"
    return char


def _escaped(text: str) -> str:
    """A marker's text as it stands in a JSON string."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
