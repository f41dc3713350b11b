"""Calls as Python writes them: `[add(a=2), add(a=3)]`, one a line, or one alone; values are literals.

Nothing is evaluated. A call has keyword arguments with literals: strings in every quoting and with every escape,
adjacent ones joined, numbers, `True`, `False`, `None` and JSON's words, lists, tuples, dicts with string keys, trailing
commas. Positional arguments, expressions and other names are malformed. More lenient than Python: a raw line break
stands in every string, a reserved word may name a parameter, names may hold dots and dashes.

A call starts where its name, the parenthesis and either the first `key=` or the closing parenthesis are read. Its last
brace is written only when its own parenthesis closed. A bare list, which no marker opens, is a call list when its first
call can start and has a name that the request declares; otherwise it is text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from ..events import Why
from .base import BoundSyntax, Reader, Syntax
from .region import BROKE, DONE, GO, MARKER, REJECT, WAIT, Progress, marker_or_fail
from .scanning import MORE, NO, YES, Verdict, layout
from .state import FLAG, Kind, choice, optional, part
from .values.python_value import PythonValue, keyword, word

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region

# Where reading stands.
_OPEN: Final = "open"  # before the list's bracket
_FIRST_ITEM: Final = "first item"  # right behind it
_ITEM: Final = "item"  # before a call
_AFTER_ITEM: Final = "after item"
_ARGUMENTS: Final = "arguments"
_OVER: Final = "over"


@dataclass(frozen=True, slots=True)
class Python(Syntax):
    """A call is a Python call expression with keyword arguments: `add(a=2)`."""

    shape: 'Literal["list", "lines", "call"]' = "list"  # noqa: UP037  (compiled, only quoted types are kept)
    """A list of calls (or an empty one); calls that follow each other, each on its line; or one call."""
    suffix: str = ""
    """What stands behind the function's name and is no part of it (`.call`); it may be missing."""

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundPython(self)


class BoundPython(BoundSyntax):
    """Python calls, ready to run."""

    __slots__ = ("syntax",)

    def __init__(self, syntax: Python) -> None:
        super().__init__("[" if syntax.shape == "list" else "", wraps=syntax.shape != "call")
        self.syntax: Final = syntax

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        """A name with its parenthesis confirms an opener; an empty list does too."""
        text = region.text
        bound = region.limits.max_layout
        verdict, at = layout(text, at, bound)
        if verdict == YES and self.syntax.shape == "list":
            if text[at] != "[":
                return NO
            verdict, at = layout(text, at + 1, bound)
            if verdict == YES and text[at] == "]":
                return YES
        if verdict != YES:
            return verdict
        verdict, _, _ = called(region, at)
        return verdict

    def open(self) -> Reader:
        return PythonReader(self)


def called(region: Region, at: int) -> tuple[Verdict, str, int]:
    """Whether a name and its parenthesis stand at `at`: the name, and where the arguments begin."""
    verdict, name, at = word(region, at)
    if verdict == YES:
        verdict, at = layout(region.text, at, region.limits.max_layout)
    if verdict == YES and region.text[at] != "(":
        return NO, "", at
    return verdict, name, at + 1


class PythonReader(Reader):
    """Reads one region of Python calls."""

    __slots__ = ("_bound", "_state", "_value")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("_state", choice(_OPEN, _FIRST_ITEM, _ITEM, _AFTER_ITEM, _ARGUMENTS, _OVER)),
        ("complete", FLAG),
        ("_value", optional(part(PythonValue))),
    )

    def __init__(self, bound: BoundPython) -> None:
        self._bound: Final = bound
        self._state: str = _OPEN if bound.syntax.shape == "list" else _ITEM
        self._value: PythonValue | None = None
        self.complete = False

    def read(self, region: Region) -> Progress:
        code: Progress = GO
        while code == GO:
            if self._state == _ARGUMENTS:
                code = self._arguments(region)
            elif self._state == _OVER:
                code = DONE
            else:
                code = self._step(region)
        return REJECT if code == BROKE and region.call.undecided else code

    def _arguments(self, region: Region) -> Progress:
        value = self._value
        assert value is not None
        code = value.read(region)
        self.complete = value.complete
        if code != DONE:
            return code
        if region.call.open:
            region.end_call(region.pos)
        else:
            region.malformed(region.pos, Why.UNDECLARED)
        self._value = None
        self._state = _OVER if self._bound.syntax.shape == "call" else _AFTER_ITEM
        return GO

    def _step(self, region: Region) -> Progress:
        """One token outside of the calls, or the beginning of one."""
        text = region.text
        at = region.skip_space()
        if self._bound.wraps and not region.call.undecided:
            region.consume(at, Why.ENVELOPE)
        elif region.held > region.limits.max_held:
            return region.fail(Why.LIMIT)
        if at == len(text):
            return WAIT
        char = text[at]
        state = self._state
        if state == _OPEN:
            region.advance(at + 1)  # the bracket that confirmed the opener
            self._state = _FIRST_ITEM
            return GO
        listed = self._bound.syntax.shape == "list"
        if char == "]" and listed and (state != _ITEM or region.call.seen):
            region.advance(at + 1)
            self._state = _OVER
            return BROKE if region.call.undecided else DONE
        if state != _AFTER_ITEM:
            return self._call(region, at)
        if not listed:
            verdict = region.marker(at)
            if verdict == NO:
                self._state = _ITEM
                return GO
            return MARKER if verdict == YES else WAIT
        if char == ",":
            region.advance(at + 1)
            self._state = _ITEM
            return GO
        return marker_or_fail(region, at, Why.SHAPE)

    def _call(self, region: Region, at: int) -> Progress:
        """The call at `at` starts when its name and what its body begins with are read."""
        verdict, name, start = called(region, at)
        if verdict == YES:
            verdict, body = layout(region.text, start, region.limits.max_layout)
            if verdict == YES and region.text[body] != ")":
                verdict = keyword(region, body)[0]
        if verdict != YES:
            return WAIT if verdict == MORE else marker_or_fail(region, at, Why.SHAPE)
        name = name.removesuffix(self._bound.syntax.suffix)
        if region.call.undecided and not region.call.declares(name):
            return REJECT
        region.advance(start)
        if not name:
            return region.fail(Why.SHAPE)
        skip: Why | None = None
        why = region.start_call(name, start)
        if why is not None:
            if why is not Why.UNDECLARED or not self._bound.wraps:
                return region.fail(why)
            region.malformed(start, Why.UNDECLARED)  # its siblings are read
            skip = Why.UNDECLARED
        self._value = PythonValue("c", skip)
        self._state = _ARGUMENTS
        self.complete = False
        return GO

    # ------------------------------------------------------------------------------

    def sound(self) -> bool:
        return (self._state == _ARGUMENTS) == (self._value is not None)

    def cut(self, region: Region) -> None:
        if self._value is not None:
            self._value.cut(region)
            self.complete = self._value.complete
        if region.call.open:
            region.consume(region.pos, Why.ENVELOPE)
        elif region.call.seen and region.final and region.pos < len(region.text):
            region.malformed(len(region.text), Why.UNTERMINATED)
