"""Calls as Python dicts in a list: `[{'name': 'add', 'arguments': {'a': 2}}]`, JSON's envelope in Python's literals.

The envelope is read as `json` reads it: the first name and the first arguments count, in either order, a second one is
a duplicate, every other key is envelope; arguments before the name are held. One dict without the list is read too.
Keys and names are strings without a prefix. Arguments that are a string hold no object: they are malformed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..engine.program import skip_space
from ..events import Why
from ..sealing import set_fields
from .base import BROKE, DONE, MARKER, MORE, NO, YES, Bound, Reader, Syntax
from .literals import read_python
from .python import PythonWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine.engine import Engine

_STRING: Final = re.compile(r"'(?:[^'\\\n\ud800-\udfff]|\\.)*'|\"(?:[^\"\\\n\ud800-\udfff]|\\.)*\"")
_HALF_STRING: Final = re.compile(r"(?:'(?:[^'\\\n\ud800-\udfff]|\\.)*|\"(?:[^\"\\\n\ud800-\udfff]|\\.)*)\\?\Z")
_NOTHING: Final = re.compile(r"(?:None|null|''|\"\")(?=[ \t\n\r,}])")
_HALF_NOTHING: Final = re.compile(r"(?:N(?:o(?:ne?)?)?|n(?:u(?:ll?)?)?|''?|\"\"?)\Z")

# Where a reader stands.
_OPEN: Final = 0
_ITEM: Final = 1
_FIRST_ITEM: Final = 2
_AFTER_ITEM: Final = 3
_FIRST_KEY: Final = 4
_KEY: Final = 5
_COLON: Final = 6
_VALUE: Final = 7
_WRITING: Final = 8
_AFTER: Final = 9
_OVER: Final = 10

# What the value of the last key is.
_NAME: Final = 0
_ARGUMENTS: Final = 1
_OTHER: Final = 2


@dataclass(frozen=True, slots=True)
class PythonObjects(Syntax):
    """A call is a Python dict in a list: `[{'name': 'add', 'arguments': {'a': 2}}]`."""

    name: tuple[str, ...] = ("name",)
    """Keys of the function's name; the first to come wins."""
    arguments: tuple[str, ...] = ("arguments", "parameters")
    """Keys of the arguments; the first to come wins."""

    def bind(self, spell: Callable[[str], str]) -> Bound:
        return BoundPythonObjects(self)


class BoundPythonObjects(Bound):
    """Calls as Python dicts, ready to run."""

    __slots__ = ("syntax",)

    def __init__(self, syntax: PythonObjects) -> None:
        super().__init__(wraps=True)
        self.syntax: Final = syntax

    def begins(self, engine: Engine, at: int) -> int:
        buf = engine.buf
        for opener in "[{":
            start = at
            at = skip_space(buf, at)
            if at - start > engine.limits.max_layout:
                return NO
            if at == len(buf):
                return MORE
            if buf[at] == "{" or (opener == "{" and buf[at] == "]"):
                return YES
            if buf[at] != opener:
                return NO
            at += 1
        return NO

    def open(self) -> Reader:
        return PythonObjectsReader(self)


class PythonObjectsReader(Reader):
    """Reads one region of calls as Python dicts."""

    __slots__ = ("_args", "_bound", "_doubled", "_listed", "_name", "_next", "_other", "_place", "_refused", "_started")

    def __init__(self, bound: BoundPythonObjects) -> None:
        self._bound = bound
        self._place = _OPEN
        self._listed = False
        self.whole = False
        self._reset()

    def _reset(self) -> None:
        self._name = ""
        self._args: PythonWriter | None = None
        self._other: PythonWriter | None = None  # the value of another key, which is not written
        self._doubled = False  # a second name or second arguments
        self._next = _OTHER
        self._started = False
        self._refused = False  # the request does not declare it: it passes as malformed, and its siblings are read
        self.whole = False

    def read(self, engine: Engine) -> int:
        code = YES
        while code == YES:
            if self._place == _WRITING:
                code = self._write(engine)
            elif self._place == _OVER:
                code = DONE
            else:
                code = self._step(engine)
        return code

    def _step(self, engine: Engine) -> int:
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        engine.pos = at
        place = self._place
        if self._refused:
            engine.spoil(at, Why.UNDECLARED)
        elif self._started and self._doubled:
            engine.spoil(at, Why.DUPLICATE)
        elif self._started or place <= _AFTER_ITEM:
            engine.drop(at, Why.ENVELOPE)
        elif engine.unaccounted() > engine.limits.max_held:
            engine.why = Why.LIMIT
            return BROKE
        if at == len(buf):
            return MORE
        char = buf[at]
        if place == _FIRST_KEY or place == _KEY:
            if char == "}":
                return self._object_over(engine, at)
            if char in "'\"":
                return self._key(engine, at)
        elif place == _COLON:
            if char == ":":
                engine.pos = at + 1
                self._place = _VALUE
                return YES
        elif place == _VALUE:
            return self._value(engine, at)
        elif place == _AFTER:
            if char in ",}":
                if self._name and not self._start(engine, at):
                    return BROKE
                if char == "}":
                    return self._object_over(engine, at)
                engine.pos = at + 1
                self._place = _KEY
                return YES
        elif place == _AFTER_ITEM:
            if char in ",]":
                engine.pos = at + 1
                self._place = _ITEM if char == "," else _OVER
                return YES
        elif char == "{":
            engine.pos = at + 1
            self._reset()
            self._place = _FIRST_KEY
            return YES
        elif char == "[" and place == _OPEN:
            engine.pos = at + 1
            self._listed = True
            self._place = _FIRST_ITEM
            return YES
        elif char == "]" and self._listed:
            engine.pos = at + 1
            self._place = _OVER
            return YES
        return self._unexpected(engine, at)

    def _unexpected(self, engine: Engine, at: int) -> int:
        verdict = engine.marker_at(at)
        if verdict != NO:
            return MARKER if verdict == YES else MORE
        engine.why = Why.SHAPE
        return BROKE

    def _text(self, engine: Engine, at: int) -> tuple[int, str, int]:
        """The short string at `at`: (YES, text, end), MORE, or BROKE."""
        limit = engine.limits.max_name
        bound = at + 6 * limit + 2
        match = _STRING.match(engine.buf, at, bound)
        if match is None:
            half = _HALF_STRING.match(engine.buf, at, bound)
            if half is not None and half.end() < bound:
                return MORE, "", at
            engine.why = Why.SHAPE if half is None else Why.LIMIT
            return BROKE, "", at
        value = read_python(match.group(), 1)
        if value is None or value.json is None:
            engine.why = Why.SHAPE
            return BROKE, "", at
        text = str(json.loads(value.json))
        if len(text) > limit:
            engine.why = Why.LIMIT
            return BROKE, "", at
        return YES, text, match.end()

    def _key(self, engine: Engine, at: int) -> int:
        code, key, end = self._text(engine, at)
        if code != YES:
            return code
        engine.pos = end
        self._place = _COLON
        syntax = self._bound.syntax
        self._next = _OTHER
        if key in syntax.name:
            if not self._name:
                self._next = _NAME
                return YES
            self._doubled = True
        elif key in syntax.arguments:
            if self._args is None:
                self._next = _ARGUMENTS
                return YES
            self._doubled = True
        skip = Why.UNDECLARED if self._refused else Why.DUPLICATE if self._doubled else Why.ENVELOPE
        self._other = PythonWriter(skip=skip)
        return YES

    def _value(self, engine: Engine, at: int) -> int:
        buf = engine.buf
        if self._next == _NAME:
            if buf[at] not in "'\"":
                return self._unexpected(engine, at)
            code, name, end = self._text(engine, at)
            if code != YES:
                return code
            if not name:
                engine.why = Why.SHAPE
                return BROKE
            self._name = name
            engine.pos = end
            self._place = _AFTER
            return YES
        if self._next == _ARGUMENTS:
            if _HALF_NOTHING.match(buf, at):
                return MORE
            nothing = _NOTHING.match(buf, at)
            self._args = PythonWriter()
            if self._name and not self._start(engine, at):
                return BROKE
            if self._refused:
                self._args = PythonWriter(skip=Why.UNDECLARED)
            self._args.started = self._started or self._refused
            if nothing is not None:
                engine.pos = nothing.end()
                self._place = _AFTER
                return YES
            if buf[at] in "'\"" and not self._refused:
                engine.why = Why.SHAPE
                return BROKE
        self._place = _WRITING
        return YES

    def _start(self, engine: Engine, at: int) -> bool:
        """The name is whole and what stands at `at` may follow it: the call starts, if it has not."""
        if self._started or self._refused:
            return True
        if not engine.start_call(self._name, at):
            if engine.why is not Why.UNDECLARED or not self._listed:
                return False
            self._refused = True
            engine.spoil(at, Why.UNDECLARED)
            return True
        self._started = True
        if self._args is not None:
            self._args.release(engine)
        return True

    def _write(self, engine: Engine) -> int:
        """The value of the arguments, or of a key that does not count."""
        if self._next == _ARGUMENTS:
            writer = self._args
            assert writer is not None
            code = writer.read(engine)
            self.whole = writer.whole
            if code == BROKE and not self._started and engine.why is not Why.LIMIT:
                engine.why = Why.SHAPE
        else:
            writer = self._other
            assert writer is not None
            writer.started = self._started or self._refused
            code = writer.read(engine)
            if code == BROKE and engine.why is not Why.LIMIT:
                engine.why = Why.SHAPE
        if code != DONE:
            return code
        self._other = None
        self._doubled = False
        self._place = _AFTER
        return YES

    def _object_over(self, engine: Engine, at: int) -> int:
        if not self._name:
            engine.why = Why.SHAPE
            return BROKE
        if not self._start(engine, at):
            return BROKE
        if self._refused:
            engine.pos = at + 1
            engine.spoil(at + 1, Why.UNDECLARED)
            self._reset()
            self._place = _AFTER_ITEM
            return YES
        engine.drop(at, Why.ENVELOPE)
        if not self.whole:
            engine.arguments("{}", at)
            self.whole = True
        engine.pos = at + 1
        engine.end_call(at + 1)
        self._place = _AFTER_ITEM if self._listed else _OVER
        return YES

    # ------------------------------------------------------------------------------

    def cut(self, engine: Engine) -> None:
        if self._started and self._args is not None and self._next == _ARGUMENTS and self._place == _WRITING:
            self._args.cut(engine)
            self.whole = self._args.whole
        if engine.in_call:
            engine.drop(engine.pos, Why.ENVELOPE)
        elif engine.had_call and engine.final and (engine.pos < len(engine.buf) or self._place > _AFTER_ITEM):
            engine.spoil(len(engine.buf), Why.UNTERMINATED)

    def save(self) -> list[object]:
        args, other = self._args, self._other
        return [
            None if args is None else args.save(),
            None if other is None else other.save(),
            *(getattr(self, name) for name in _FIELDS),
        ]

    def load(self, saved: list[object]) -> None:
        args, other, *fields = saved
        if args is not None:
            self._args = PythonWriter()
            self._args.load(args)  # type: ignore[arg-type]
        if other is not None:
            self._other = PythonWriter()
            self._other.load(other)  # type: ignore[arg-type]
        set_fields(self, _FIELDS, fields)


# What of a reader is saved as it is.
_FIELDS: Final = ("_place", "_listed", "_name", "_next", "_doubled", "_started", "_refused", "whole")
