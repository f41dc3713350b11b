"""Reads calls as JSON objects, one token of their envelope at a time.

The envelope (the object with the name and the arguments) is read key by key: the first name and the first arguments
win, in either order, a second one is a duplicate, every other key is envelope. Arguments that come before the name are
held until the name is known. Bare calls, which no marker opens, use the same reader: there a key that is not the
envelope's, or a name that the request does not declare, makes the text content again.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from ..engine.program import skip_space
from ..events import Why
from ..strict_json.acceptor import Acceptor
from ..surrogates import joined
from .arguments import REACH, Arguments
from .base import BROKE, DONE, MARKER, MORE, NO, REJECT, YES, Reader
from .header import first_match

if TYPE_CHECKING:
    from ..engine.engine import Engine
    from .json import BoundJson

_STRING: Final = re.compile(r'"(?:[^"\\\ud800-\udfff]|\\.)*"')
_PRIVATE: Final = re.compile(r"[\ud800-\udfff]")
_HALF_STRING: Final = re.compile(r'"(?:[^"\\\ud800-\udfff]|\\.)*\\?\Z')

# Where a reader stands.
_OPEN: Final = 0  # before the region's first bracket
_ITEM: Final = 1  # before an object of a list
_FIRST_ITEM: Final = 2
_AFTER_ITEM: Final = 3
_FIRST_KEY: Final = 4
_KEY: Final = 5
_COLON: Final = 6
_VALUE: Final = 7
_NAME: Final = 8
_ARGUMENTS: Final = 9
_ID: Final = 10
_OTHER: Final = 11
_AFTER: Final = 12
_OVER: Final = 13
_HEADER: Final = 14


class JsonReader(Reader):
    """Reads one region of JSON calls."""

    __slots__ = (
        "_args",
        "_bound",
        "_id",
        "_listed",
        "_name",
        "_next",
        "_other",
        "_place",
        "_refused",
        "_started",
        "_why",
    )

    def __init__(self, bound: BoundJson) -> None:
        self._bound = bound
        self._place = _HEADER if bound.headers else _OPEN
        self._listed = False  # inside brackets
        self.whole = False
        self._reset()

    def _reset(self) -> None:
        self._name = ""
        self._id: str | None = None
        self._args: Arguments | None = None
        self._other: Acceptor | None = None  # the value of another key
        self._why: Why = Why.ENVELOPE  # what that value is
        self._next = _OTHER  # what the value of the last key is
        self._started = False
        self._refused = False  # the request does not declare it: it passes as malformed, and its siblings are read

    def read(self, engine: Engine) -> int:
        while True:
            place = self._place
            if place == _ARGUMENTS:
                code = self._read_arguments(engine)
            elif place == _OTHER:
                code = self._read_other(engine)
            elif place == _HEADER:
                code, found = first_match(
                    self._bound.headers, engine.buf, engine.pos, engine.final, engine.limits.max_name
                )
                if found is not None:
                    engine.pos = found.end
                    self._place = _OPEN
                    continue
                code = MORE if code == MORE else BROKE
                engine.why = Why.SHAPE
            elif place == _OVER:
                return self._closing(engine)
            else:
                code = self._step(engine)
            if code != YES:
                if code == MORE or code == MARKER:
                    self._settle(engine)
                return code

    def _closing(self, engine: Engine) -> int:
        """Behind the calls: the text that may follow them."""
        close = self._bound.close
        if close:
            buf = engine.buf
            at = skip_space(buf, engine.pos)
            if at - engine.pos <= engine.limits.max_layout:
                if buf.startswith(close, at):
                    engine.pos = at + len(close)
                elif not engine.final and close.startswith(buf[at : at + len(close)]):
                    return MORE
        return DONE

    def _settle(self, engine: Engine) -> None:
        """What was read of the envelope belongs to it; before a call starts it waits, for its source."""
        if self._refused:
            engine.spoil(engine.pos, Why.UNDECLARED)
        elif self._started:
            if self._why is Why.DUPLICATE:
                engine.spoil(engine.pos, Why.DUPLICATE)
            else:
                engine.drop(engine.pos, Why.ENVELOPE)
        elif self._bound.wraps and self._place <= _AFTER_ITEM and (engine.had_call or not engine.candidate):
            engine.drop(engine.pos, Why.ENVELOPE)

    def _step(self, engine: Engine) -> int:
        """One token of the envelope; YES to go on."""
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        engine.pos = at
        if self._place <= _AFTER_ITEM:
            self._settle(engine)
        if self._unheld(engine):
            return self._broke(engine, Why.LIMIT)
        if at == len(buf):
            return MORE
        char = buf[at]
        place = self._place
        if place == _FIRST_KEY or place == _KEY:
            if char == '"':
                return self._key(engine, at)
            if char == "}" and place == _FIRST_KEY:
                return self._object_end(engine, at)
        elif place == _COLON:
            if char == ":":
                engine.pos = at + 1
                self._place = _VALUE
                return YES
        elif place == _VALUE:
            return self._value(engine, at)
        elif place == _NAME or place == _ID:
            if char == '"':
                return self._text_value(engine, at)
        elif place == _AFTER:
            if char == "," or char == "}":
                return self._after(engine, at, char)
        elif place == _OPEN or place == _ITEM or place == _FIRST_ITEM:
            return self._item(engine, at, char)
        elif place == _AFTER_ITEM:
            return self._after_item(engine, at, char)
        return self._unexpected(engine, at)

    def _unexpected(self, engine: Engine, at: int) -> int:
        """A character that cannot stand here: a marker that counts, or the end of what is a call."""
        verdict = engine.marker_at(at)
        if verdict == YES:
            return MARKER
        if verdict == MORE:
            return MORE
        return self._broke(engine, Why.SHAPE)

    def _broke(self, engine: Engine, why: Why) -> int:
        if engine.candidate and not engine.had_call:
            return REJECT
        self._settle(engine)
        engine.why = why
        return BROKE

    def _unheld(self, engine: Engine) -> bool:
        return not self._started and engine.unaccounted() > engine.limits.max_held

    # ---------------------------------------------------------------------- lists and objects

    def _item(self, engine: Engine, at: int, char: str) -> int:
        shape = self._bound.syntax.shape
        if char == "{":
            self._settle(engine)
            engine.pos = at + 1
            self._reset()
            self.whole = False
            self._place = _FIRST_KEY
            return YES
        if char == "[" and self._place == _OPEN and shape == "list":
            engine.pos = at + 1
            self._listed = True
            self._place = _FIRST_ITEM
            return YES
        if char == "]" and self._place == _FIRST_ITEM:
            engine.pos = at + 1
            self._place = _OVER
            return REJECT if engine.candidate else YES
        return self._unexpected(engine, at)

    def _after_item(self, engine: Engine, at: int, char: str) -> int:
        if char == "}" and (self._listed or self._bound.syntax.shape == "lines"):  # one too many: the next is read
            self._settle(engine)
            engine.pos = at + 1
            engine.spoil(at + 1, Why.STRAY)
            return YES
        if self._listed:
            if char == ",":
                engine.pos = at + 1
                self._place = _ITEM
                return YES
            if char == "]":
                engine.pos = at + 1
                self._place = _OVER
                return YES
            return self._unexpected(engine, at)
        separator = self._bound.separator  # objects that follow each other
        if char == "{":
            self._place = _ITEM
            return YES
        if separator and engine.buf.startswith(separator, at):
            engine.pos = at + len(separator)
            self._place = _ITEM
            return YES
        verdict = engine.marker_at(at)
        return verdict if verdict == MORE else MARKER if verdict == YES else DONE

    def _object_end(self, engine: Engine, at: int) -> int:
        if not self._name:
            return self._broke(engine, Why.SHAPE)
        if not self._started and (code := self._start(engine, at)) != YES:
            return code
        if self._refused:
            engine.pos = at + 1
            self._settle(engine)
            self._reset()
            self._place = _AFTER_ITEM
            return YES
        args = self._args
        engine.drop(at, Why.ENVELOPE)  # white space, which an end that closes the call would take or not by the cut
        if args is None or args.empty:
            engine.arguments("{}", at)
            self.whole = True
        else:
            self.whole = args.whole
        engine.pos = at + 1
        shape = self._bound.syntax.shape
        if shape != "object" or self._bound.close:
            engine.end_call(at + 1)
        more = self._listed or shape == "lines"
        self._place = _AFTER_ITEM if more else _OVER
        return YES

    # ------------------------------------------------------------------------- keys and values

    def _key(self, engine: Engine, at: int) -> int:
        code, key, end = _string(engine, at)
        if code != YES:
            return code if code == MORE else self._broke(engine, Why.LIMIT if code == NO else Why.SHAPE)
        syntax = self._bound.syntax
        engine.pos = end
        self._place = _COLON
        duplicate = False
        if syntax.keyed:
            duplicate = bool(self._name)
            if not duplicate:
                if not key:
                    return self._broke(engine, Why.SHAPE)
                self._name = key
                self._next = _ARGUMENTS
                return YES
        elif key in syntax.name:
            duplicate = bool(self._name)
            if not duplicate:
                self._next = _NAME
                return YES
        elif key in syntax.arguments:
            duplicate = self._args is not None
            if not duplicate:
                self._next = _ARGUMENTS
                return YES
        elif key in syntax.id and self._id is None and not self._started:
            self._next = _ID
            return YES
        elif engine.candidate and not engine.had_call and key not in self._bound.keys:
            return REJECT
        self._next = _OTHER
        self._other = Acceptor(engine.limits.max_depth)
        if duplicate and self._started and not self._refused:
            engine.drop(at, Why.ENVELOPE)
            self._why = Why.DUPLICATE
        return YES

    def _value(self, engine: Engine, at: int) -> int:
        """The value of the last key begins at `at`."""
        place = self._next
        if place == _ID and engine.buf[at] != '"':  # an id that is no text is another key
            place = _OTHER
            self._other = Acceptor(engine.limits.max_depth)
        self._place = place
        if place == _ARGUMENTS:
            self._args = Arguments(engine.limits.max_depth)
            if self._name and not self._started and (code := self._start(engine, at)) != YES:
                return code
            if self._refused:
                self._place = _OTHER
                self._other = Acceptor(engine.limits.max_depth)
                return YES
            self._args.started = self._started
        return YES

    def _text_value(self, engine: Engine, at: int) -> int:
        code, text, end = _string(engine, at)
        if code != YES:
            return code if code == MORE else self._broke(engine, Why.LIMIT if code == NO else Why.SHAPE)
        engine.pos = end
        if self._place == _ID:
            self._id = text
        elif not text:
            return self._broke(engine, Why.SHAPE)
        else:
            self._name = text
        self._place = _AFTER
        return YES

    def _after(self, engine: Engine, at: int, char: str) -> int:
        """A member is over: the name, if it is known, can start the call now."""
        if self._name and not self._started and not (engine.candidate and self._args is None):
            code = self._start(engine, at)
            if code != YES:
                return code
        if char == "}":
            return self._object_end(engine, at)
        engine.pos = at + 1
        self._place = _KEY
        return YES

    def _start(self, engine: Engine, at: int) -> int:
        """The name is whole and what stands at `at` may follow it: the call starts (YES)."""
        if self._unheld(engine):
            return self._broke(engine, Why.LIMIT)
        if engine.candidate and not engine.had_call and not engine.knows(self._name):
            return REJECT
        if not engine.start_call(self._name, at, self._id):
            if engine.why is not Why.UNDECLARED or not (self._listed or self._bound.syntax.shape == "lines"):
                return BROKE
            self._started = self._refused = True
            engine.spoil(at, Why.UNDECLARED)
            return YES
        self._started = True
        if self._args is not None:
            self._args.release(engine)
        return YES

    def _read_arguments(self, engine: Engine) -> int:
        args = self._args
        assert args is not None
        code = args.read(engine)
        if code == DONE:
            self.whole = args.whole
            self._place = _AFTER
            return YES
        self.whole = args.whole
        if code == BROKE and not self._started:
            return self._broke(engine, engine.why if engine.why is Why.LIMIT else Why.SHAPE)
        return code

    def _read_other(self, engine: Engine) -> int:
        """The value of a key that is neither name nor arguments, or a second one of these."""
        other = self._other
        assert other is not None
        buf = engine.buf
        at = engine.pos
        end = len(buf)
        if not self._started:
            end = min(end, at + max(0, engine.limits.max_held - engine.unaccounted()))
        while at < end and other.complete is None:
            reach = min(end, at + REACH)
            private = _PRIVATE.search(buf, at, reach)
            stop = private.start() if private is not None else reach
            at += other.feed(buf, at, stop)
            if at < stop:
                break
            if private is None:
                continue
            inside = other.in_string
            verdict = engine.marker_at(at)
            if verdict != NO or not inside:
                break
            other.feed(" ")
            at += 1
        engine.pos = at
        if self._started:
            self._settle(engine)
        if other.complete is not None:
            self._place = _AFTER
            self._other = None
            self._why = Why.ENVELOPE
            return YES
        if at < end or other.refused:
            return self._unexpected(engine, at) if at < len(buf) else MORE
        if end < len(buf):
            return self._broke(engine, Why.LIMIT)
        return MORE

    # ------------------------------------------------------------------------------

    def cut(self, engine: Engine) -> None:
        if self._args is not None:
            self._args.cut(engine)
            self.whole = self._args.whole or self.whole
        if engine.in_call:
            engine.drop(engine.pos, Why.ENVELOPE)
        elif engine.final and engine.had_call and _FIRST_KEY <= self._place <= _AFTER:
            engine.spoil(len(engine.buf), Why.UNTERMINATED)  # a further object, which did not become a call

    def save(self) -> list[object]:
        return [
            self._place,
            self._listed,
            self.whole,
            self._name,
            self._id,
            None if self._args is None else self._args.save(),
            None if self._other is None else list(self._other.state),
            str(self._why),
            self._next,
            self._started,
            self._refused,
        ]

    def load(self, saved: list[object]) -> None:
        place, listed, whole, name, id, args, other, why, next, started, refused = saved
        self._place = int(place)  # type: ignore[call-overload]
        self._listed = bool(listed)
        self.whole = bool(whole)
        self._name = str(name)
        self._id = None if id is None else str(id)
        self._args = None if args is None else Arguments.load(args)  # type: ignore[arg-type]
        self._other = None if other is None else Acceptor.restore(other)  # type: ignore[arg-type]
        self._why = Why(str(why))
        self._next = int(next)  # type: ignore[call-overload]
        self._started = bool(started)
        self._refused = bool(refused)


def _string(engine: Engine, at: int) -> tuple[int, str, int]:
    """The short JSON string at `at` (a key or a name): (YES, text, end), MORE, NO when too long, BROKE when none."""
    buf = engine.buf
    limit = engine.limits.max_name
    bound = at + 6 * limit + 2
    match = _STRING.match(buf, at, bound)
    if match is None:
        half = _HALF_STRING.match(buf, at, bound)
        if half is None:
            return BROKE, "", at
        return (MORE, "", at) if half.end() < bound else (NO, "", at)
    try:
        text = json.loads(match.group(), strict=False)  # a raw control character is content
    except ValueError:
        return BROKE, "", at
    if len(text) > limit:
        return NO, "", at
    return YES, joined(text), match.end()
