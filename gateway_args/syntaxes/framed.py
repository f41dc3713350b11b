"""Calls as a header, then raw JSON: `add[ARGS]{"a": 2}`, `functions.add:0<|tool_call_argument_begin|>{"a": 2}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ..events import Why
from .base import BoundSyntax, Reader, Syntax
from .pattern import Match, Pattern, first_match, unnamed
from .region import DONE, GO, WAIT, Progress
from .scanning import MORE, NO, SPACE, YES, Verdict, layout, literal, skip_space
from .state import FLAG, TEXT, Kind, choice, optional, part
from .values.json_value import JsonValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region

# Where reading stands.
_HEADER: Final = "header"
_BODY: Final = "body"
_ARGUMENTS: Final = "arguments"
_CLOSE: Final = "close"

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
        return None if self.name and not self.header else unnamed(self.header)

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundFramed(self, spell)


class BoundFramed(BoundSyntax):
    """Framed calls, ready to run."""

    __slots__ = ("close", "headers", "syntax")

    def __init__(self, syntax: Framed, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.syntax: Final = syntax
        self.headers: Final = tuple(Pattern(pattern, spell) for pattern in syntax.header)
        self.close: Final = spell(syntax.close.strip(SPACE))

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        verdict, first = layout(region.text, at, region.limits.max_layout)
        if verdict == YES or (verdict == MORE and region.final):
            verdict, _ = self.header(region, first)
        return verdict

    def header(self, region: Region, at: int) -> tuple[Verdict, Match | None]:
        """The header at this offset, if there is one."""
        return first_match(self.headers, region.text, at, region.limits, region.final, region.call.names)

    def open(self) -> Reader:
        return FramedReader(self)


class FramedReader(Reader):
    """Reads one framed call."""

    __slots__ = ("_args", "_bound", "_id", "_name", "_state")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("_state", choice(_HEADER, _BODY, _ARGUMENTS, _CLOSE)),
        ("_name", TEXT),
        ("_id", optional(TEXT)),
        ("_args", optional(part(JsonValue))),
        ("complete", FLAG),
    )

    def __init__(self, bound: BoundFramed) -> None:
        self._bound: Final = bound
        self._state: str = _HEADER
        self._name = ""
        self._id: str | None = None
        self._args: JsonValue | None = None
        self.complete = False

    def read(self, region: Region) -> Progress:
        code: Progress = GO
        while code == GO:
            state = self._state
            if state == _ARGUMENTS:
                code = self._arguments(region)
            elif state == _CLOSE:
                code = self._closing(region)
            elif state == _BODY:
                code = self._body(region)
            else:
                code = self._header(region)
        return code

    def _header(self, region: Region) -> Progress:
        """The opener was confirmed by a header that matches; a call named by the request starts at once."""
        name = self._bound.syntax.name
        if name:
            return self._named(region, name) if region.pos < len(region.text) else WAIT
        at = skip_space(region.text, region.pos)
        verdict, found = self._bound.header(region, at)
        if found is None:
            return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        self._name = found.name
        self._id = found.id or None
        if self._bound.syntax.header_is_id:
            self._id = region.data(at, found.tail).strip(SPACE)
        region.advance(found.end)
        self._state = _BODY
        return GO

    def _named(self, region: Region, name: str) -> Progress:
        why = region.start_call(name, region.pos)
        if why is not None:
            return region.fail(why)
        self._args = JsonValue(region.limits.max_depth, started=True, as_is=True)
        self._state = _ARGUMENTS
        return GO

    def nothing(self, region: Region) -> None:
        name = self._bound.syntax.name
        if name and region.start_call(name, region.pos) is None:
            self._empty(region, region.pos)

    def _body(self, region: Region) -> Progress:
        """Behind the header: the call starts where its value or its closer does."""
        verdict, at = layout(region.text, region.pos, region.limits.max_layout)
        if verdict != YES:
            return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        ends = region.marker(at)
        if ends == NO:
            ends = self._close_at(region, at)
        if ends == MORE:
            return WAIT
        if ends == NO and region.text[at] not in _STARTS:
            return region.fail(Why.SHAPE)
        why = region.start_call(self._name, region.pos, self._id)
        if why is not None:
            return region.fail(why)
        if ends == YES:
            self._empty(region, at)
            self._state = _CLOSE
            return GO
        self._args = JsonValue(region.limits.max_depth, started=True)
        self._state = _ARGUMENTS
        return GO

    def _empty(self, region: Region, at: int) -> None:
        """A call without arguments, whose closer stands at `at`."""
        region.consume(at, Why.ENVELOPE)
        region.advance(at)
        region.arguments("{}", at)
        self.complete = True

    def _arguments(self, region: Region) -> Progress:
        args = self._args
        assert args is not None
        code = args.read(region)
        self.complete = args.complete
        if code != DONE:
            return code
        if args.empty:
            self._empty(region, region.pos)
        self._state = _CLOSE
        return GO

    def _close_at(self, region: Region, at: int) -> Verdict:
        """Whether the text that ends the value stands at `at`."""
        close = self._bound.close
        return literal(region.text, at, close, region.final) if close else NO

    def _closing(self, region: Region) -> Progress:
        """The text that follows the value, if the family writes one."""
        close = self._bound.close
        if close:
            verdict, at = layout(region.text, region.pos, region.limits.max_layout)
            if verdict == YES:
                verdict = self._close_at(region, at)
                if verdict == YES:
                    region.advance(at + len(close))
                    region.consume(region.pos, Why.ENVELOPE)
            if verdict == MORE and not region.final:
                return WAIT
        return DONE

    def sound(self) -> bool:
        return (self._state == _ARGUMENTS) <= (self._args is not None)

    def cut(self, region: Region) -> None:
        if self._args is not None:
            self._args.cut(region)
