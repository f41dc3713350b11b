"""Calls in Gemma's own literals: `call:add{k:<|"|>text<|"|>,n:42}`. `values.gemma_value` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ..events import Why
from .base import BoundSyntax, Reader, Syntax
from .pattern import Match, Pattern, first_match
from .region import DONE, GO, WAIT, Progress
from .scanning import MORE, YES, Verdict
from .state import FLAG, Kind, choice, parts
from .values.gemma_value import GemmaValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region

_CALL: Final = "call"
_ARGUMENTS: Final = "arguments"
_NEXT: Final = "next"  # behind a call


@dataclass(frozen=True, slots=True)
class Gemma(Syntax):
    """A call is a name and an object in Gemma's literals: `call:add{k:<|"|>text<|"|>,n:42}`."""

    delimiter: str
    """What stands before and after a string."""
    prefix: str = "call:"
    """What stands before the function's name."""
    prefixes: tuple[str, ...] = ()
    """What models write in its place."""
    typed: bool = False
    """A value between delimiters is typed by the tool's schema."""

    def check(self) -> tuple[str, str] | None:
        if not self.delimiter:
            return "delimiter", "an empty text delimits no string; say what stands before and after one"
        return None

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundGemma(self, spell)


class BoundGemma(BoundSyntax):
    """Gemma's calls, ready to run."""

    __slots__ = ("_headers", "delimiter", "syntax")

    def __init__(self, syntax: Gemma, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.syntax: Final = syntax
        self.delimiter: Final = spell(syntax.delimiter)
        self._headers: Final = tuple(
            Pattern("{ws}" + prefix + "{name}{ws}{object}", spell) for prefix in (syntax.prefix, *syntax.prefixes)
        )

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        return self.header(region, at)[0]

    def header(self, region: Region, at: int) -> tuple[Verdict, Match | None]:
        """The name in front of an object, and where the object begins."""
        return first_match(self._headers, region.text, at, region.limits)

    def value(self) -> GemmaValue:
        """The arguments of one call."""
        return GemmaValue(self.delimiter, self.syntax.typed)

    def open(self) -> Reader:
        return GemmaReader(self)


class GemmaReader(Reader):
    """Reads one call in Gemma's literals."""

    __slots__ = ("_bound", "_state", "_value")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (("_state", choice(_CALL, _ARGUMENTS, _NEXT)), ("complete", FLAG))

    def __init__(self, bound: BoundGemma) -> None:
        self._bound: Final = bound
        self._state: str = _CALL
        self._value = bound.value()
        self.complete = False

    def read(self, region: Region) -> Progress:
        code: Progress = GO
        while code == GO:
            if self._state == _CALL:
                code = self._call(region)
            elif self._state == _ARGUMENTS:
                code = self._value.read(region)
                self.complete = self._value.complete
                if code == DONE:
                    self._state = _NEXT
                    code = GO
            else:
                code = self._next(region)
        return code

    def _call(self, region: Region) -> Progress:
        verdict, found = self._bound.header(region, region.pos)
        if found is None:
            return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        region.advance(found.end)
        why = region.start_call(found.name, found.end)
        if why is not None:
            return region.fail(why)
        self._state = _ARGUMENTS
        return GO

    def _next(self, region: Region) -> Progress:
        """Behind a call: another one in the same region, or its end."""
        verdict, _ = self._bound.header(region, region.pos)
        if verdict == MORE and not region.final:
            return WAIT
        if verdict != YES:
            return DONE
        region.end_call(region.pos)
        self._value = self._bound.value()
        self._state = _CALL
        self.complete = False
        return GO

    def cut(self, region: Region) -> None:
        if region.call.open:
            self._value.cut(region)
            region.consume(region.pos, Why.ENVELOPE)

    def save(self) -> list[object]:
        return [super().save(), self._value.save()]

    def load(self, saved: object) -> None:
        own, value = parts(saved, 2)
        super().load(own)
        self._value.load(value)
