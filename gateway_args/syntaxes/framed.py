"""Calls as a header, then raw JSON: `add[ARGS]{"a": 2}`, `functions.add:0<|tool_call_argument_begin|>{"a": 2}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..engine.program import SPACE, skip_space
from ..events import Why
from .arguments import Arguments
from .base import BROKE, DONE, MORE, NO, YES, Bound, Reader, Syntax
from .header import Header, first_match

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine.engine import Engine
    from .header import Found

_HEADER: Final = 0
_BODY: Final = 1
_ARGUMENTS: Final = 2
_CLOSE: Final = 3

_STARTS: Final = '{["-0123456789tfn'


@dataclass(frozen=True, slots=True)
class Framed(Syntax):
    """A call is a header with the function's name, then its arguments as JSON."""

    header: tuple[str, ...] = ()
    """Header patterns between the opener and the value; the first that matches counts."""
    close: str = ""
    """Text between the value and the call's closer (a fence); white space before it is envelope, it may be missing."""
    header_is_id: bool = False
    """The header's text, without its last literal, is the call's id."""
    name: str = ""
    """The function's name where the request says it: the whole text is its arguments, with no header."""

    def check(self) -> tuple[str, str] | None:
        if not self.header and not self.name:
            return "header", "missing; where the function's name stands"
        for n, pattern in enumerate(self.header):
            if "{name}" not in pattern and "{declared}" not in pattern:
                return f"header[{n}]", "without {name} or {declared} no call is read"
        return None

    def bind(self, spell: Callable[[str], str]) -> Bound:
        return BoundFramed(self, spell)


class BoundFramed(Bound):
    """Framed calls, ready to run."""

    __slots__ = ("close", "headers", "syntax")

    def __init__(self, syntax: Framed, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.syntax: Final = syntax
        self.headers: Final = tuple(Header(pattern, spell) for pattern in syntax.header)
        self.close: Final = spell(syntax.close.strip(SPACE))

    def begins(self, engine: Engine, at: int) -> int:
        first = skip_space(engine.buf, at)
        if first - at > engine.limits.max_layout:
            return NO
        if first == len(engine.buf) and not engine.final:
            return MORE
        return self.header(engine, first)[0]

    def header(self, engine: Engine, at: int) -> tuple[int, Found | None]:
        """The header at this offset of `engine.buf`, if there is one."""
        names = engine.tools.names if engine.tools is not None else ()
        return first_match(self.headers, engine.buf, at, engine.final, engine.limits.max_name, names=names)

    def open(self) -> Reader:
        return FramedReader(self)


class FramedReader(Reader):
    """Reads one framed call."""

    __slots__ = ("_args", "_bound", "_id", "_name", "_place")

    def __init__(self, bound: BoundFramed) -> None:
        self._bound = bound
        self._place = _HEADER
        self._name = ""
        self._id: str | None = None
        self._args: Arguments | None = None
        self.whole = False

    def read(self, engine: Engine) -> int:
        code = YES
        while code == YES:
            place = self._place
            if place == _ARGUMENTS:
                code = self._arguments(engine)
            elif place == _CLOSE:
                code = self._closing(engine)
            elif place == _BODY:
                code = self._body(engine)
            else:
                code = self._header(engine)
        return code

    def _header(self, engine: Engine) -> int:
        """The opener was confirmed by a header that matches; a call named by the request starts at once."""
        name = self._bound.syntax.name
        if name:
            if engine.pos == len(engine.buf):
                return MORE
            return self._named(engine, name)
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        code, found = self._bound.header(engine, at)
        if found is None:
            engine.why = Why.SHAPE
            return MORE if code == MORE else BROKE
        self._name = found.name
        self._id = found.id or None
        if self._bound.syntax.header_is_id:
            self._id = engine.restore(buf[at : found.tail], engine.offset(at)).strip(SPACE)
        engine.pos = found.end
        self._place = _BODY
        return YES

    def _named(self, engine: Engine, name: str) -> int:
        if not engine.start_call(name, engine.pos):
            return BROKE
        self._args = Arguments(engine.limits.max_depth, literal=True)
        self._args.started = True
        self._place = _ARGUMENTS
        return YES

    def nothing(self, engine: Engine) -> None:
        name = self._bound.syntax.name
        if name and engine.start_call(name, engine.pos):
            self._empty(engine, engine.pos)

    def _body(self, engine: Engine) -> int:
        """Behind the header: the call starts where its value or its closer does."""
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        if at - engine.pos > engine.limits.max_layout:
            engine.why = Why.SHAPE
            return BROKE
        if at == len(buf):
            return MORE
        verdict = engine.marker_at(at)
        if verdict == NO:
            verdict = self._close_at(engine, at)
        if verdict == MORE:
            return MORE
        if verdict == NO and buf[at] not in _STARTS:
            engine.why = Why.SHAPE
            return BROKE
        if not engine.start_call(self._name, engine.pos, self._id):
            return BROKE
        if verdict == YES:
            self._empty(engine, at)
            self._place = _CLOSE
            return YES
        self._args = Arguments(engine.limits.max_depth)
        self._args.started = True
        self._place = _ARGUMENTS
        return YES

    def _empty(self, engine: Engine, at: int) -> None:
        """A call without arguments, whose closer stands at `at`."""
        engine.drop(at, Why.ENVELOPE)
        engine.pos = at
        engine.arguments("{}", at)
        self.whole = True

    def _arguments(self, engine: Engine) -> int:
        args = self._args
        assert args is not None
        code = args.read(engine)
        self.whole = args.whole
        if code != DONE:
            return code
        if args.empty:
            self._empty(engine, engine.pos)
        self._place = _CLOSE
        return YES

    def _close_at(self, engine: Engine, at: int) -> int:
        """Whether the text that ends the value stands at `at`: NO, YES, or MORE while it may be arriving."""
        close = self._bound.close
        rest = engine.buf[at : at + len(close)]
        if rest == close:
            return YES if close else NO
        return MORE if close.startswith(rest) and not engine.final else NO

    def _closing(self, engine: Engine) -> int:
        """The text that follows the value, if the family writes one."""
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        if not self._bound.close or at - engine.pos > engine.limits.max_layout:
            return DONE
        verdict = self._close_at(engine, at)
        if verdict == MORE:
            return MORE
        if verdict == YES:
            engine.pos = at + len(self._bound.close)
            engine.drop(engine.pos, Why.ENVELOPE)
        return DONE

    def cut(self, engine: Engine) -> None:
        if self._args is not None:
            self._args.cut(engine)

    def save(self) -> list[object]:
        args = None if self._args is None else self._args.save()
        return [self._place, self._name, self._id, args, self.whole]

    def load(self, saved: list[object]) -> None:
        place, name, id, args, whole = saved
        self._place = int(place)  # type: ignore[call-overload]
        self._name = str(name)
        self._id = None if id is None else str(id)
        self._args = None if args is None else Arguments.load(args)  # type: ignore[arg-type]
        self.whole = bool(whole)
