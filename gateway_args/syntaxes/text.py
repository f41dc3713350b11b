"""Calls as a header, then a text that is the argument: `bash>`, a line break, and a command of any number of lines.

A function that declares several parameters gets a line for each, in the order of its schema, and the last one the rest.
The line breaks behind the header and before the closer are not the text's. The closer counts at a line's start, and
elsewhere where the output's end, or a marker that may follow the call, stands behind it; else it is the text's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ..events import Why
from ..strict_json.literals import json_string
from .base import BoundSyntax, Reader, Syntax
from .lines import BODY, HEADER, KEY, OVER, VALUE, BoundLines, Lines, LinesReader, enders
from .pattern import unnamed
from .region import BROKE, DONE, GO, WAIT, Progress
from .scanning import MORE, NO, YES, Verdict, Words, layout, literal
from .state import FLAG, Kind
from .values.tag_value import form_of, is_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region


@dataclass(frozen=True, slots=True)
class Text(Syntax):
    """A call is a header with the function's name, then one text."""

    header: tuple[str, ...] = ()
    """Header patterns between the opener and the text; the first that matches counts."""
    line: str = "\n"
    """What stands behind the header, between the texts of several parameters, and before the closer."""
    argument: str = "input"
    """The parameter that the text is where the request declares no parameter of the function."""

    def check(self) -> tuple[str, str] | None:
        if (missing := unnamed(self.header)) is not None:
            return missing
        for key in ("line", "argument"):
            if not getattr(self, key):
                return key, "missing"
        return None

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundText(self, spell)


class BoundText(BoundLines):
    """Calls with one text, ready to run."""

    __slots__ = ("_ends", "argument")

    def __init__(self, syntax: Text, spell: Callable[[str], str]) -> None:
        super().__init__(Lines(header=syntax.header, line=syntax.line), spell)
        self.argument: Final = syntax.argument
        self._ends: Final[dict[str, Words]] = {}

    def ends(self, markers: Markers) -> Words:
        """What may end the last text in this state."""
        found = self._ends.get(markers.name)
        if found is None:
            found = self._ends[markers.name] = Words(enders(markers))
        return found

    def parameters(self, region: Region) -> tuple[str, ...]:
        """The parameters that the call in flight may have, in their order."""
        tool = region.call.tool
        return (tool.declared if tool is not None else ()) or (self.argument,)

    def open(self) -> Reader:
        return TextReader(self)


class TextReader(LinesReader):
    """Reads one call with one text."""

    __slots__ = ("_begun", "_texts")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (*LinesReader.FIELDS, ("_begun", FLAG))

    def __init__(self, bound: BoundText) -> None:
        super().__init__(bound)
        self._texts: Final = bound
        self._begun = False  # some of the value's text was read

    def read(self, region: Region) -> Progress:
        code: Progress = GO
        while code == GO:
            state = self._state
            if state == HEADER:
                code = self._header(region)
            elif state == BODY:
                code = self._line(region)
            elif state == KEY:
                code = self._next(region)
            elif state == VALUE:
                code = self._read_text(region)
            else:
                return DONE
        return code

    def sound(self) -> bool:
        return super().sound() and self._state in (HEADER, BODY, KEY, VALUE, OVER)

    def _line(self, region: Region) -> Progress:
        """Behind the header: its line's end belongs to it."""
        verdict = literal(region.text, region.pos, self._bound.line, region.final)
        if verdict == MORE or (region.pos == len(region.text) and not region.final):
            return WAIT
        end = region.pos + (len(self._bound.line) if verdict == YES else 0)
        region.advance(end)
        self._state = KEY
        why = region.start_call(self._name, end, self._id)
        return GO if why is None else region.fail(why)

    def _next(self, region: Region) -> Progress:
        """Where a parameter's text begins, or the call ends: one that declares a parameter has the first of them."""
        text = region.text
        given = len(self._frames.inner.keys)
        tool = region.call.tool
        if given or tool is None or not tool.declared:
            verdict, first = layout(text, region.pos, region.limits.max_layout)
            if verdict == YES:
                verdict, _ = self._texts.ends(region.markers).at(text, first, region.final)
            if verdict == MORE and not region.final:
                return WAIT
            if verdict == YES:
                region.advance(first)
                region.consume(first, Why.ENVELOPE)
                return self._ended(region, first)
            if first == len(text):
                return WAIT  # the output ends here
        parameters = self._texts.parameters(region)
        if given >= len(parameters):  # no call comes here; a snapshot may
            return region.fail(Why.SHAPE)
        key = parameters[given]
        if not self._value.send(region, f"{', ' if given else '{'}{json_string(key)}: ", region.pos):
            return BROKE
        self._frames.key = key
        self._frames.give()
        type = self._frames.schema(region)
        self._value.begin(form_of(type), is_scalar(type))
        self._value.opens(region.limits.max_depth - 1)
        self._begun = False
        self._state = VALUE
        return GO

    def _read_text(self, region: Region) -> Progress:
        text = region.text
        if len(self._frames.inner.keys) < len(self._texts.parameters(region)):
            return self._read_line(region)
        at = region.pos
        while True:
            verdict, stop, end = self._texts.ends(region.markers).find(text, at, region.final)
            before, starts_line = self._line_before(region, stop)
            if verdict != YES:
                return WAIT if self._grow_to(region, before) else BROKE
            ends = self._ends(region, stop, end, starts_line)
            if ends == MORE:
                return WAIT if self._grow_to(region, before) else BROKE
            if ends == YES:
                if not self._close(region, before):
                    return BROKE
                stop += len(region.text) - len(text)  # the text may have been put together anew
                region.advance(stop)
                region.consume(stop, Why.ENVELOPE)
                return self._ended(region, stop)
            at = end

    def _line_before(self, region: Region, at: int) -> tuple[int, bool]:
        """Where a text that ends at `at` ends without the line's end before it, blanks behind that aside, and whether
        `at` is a line's start: behind one, or where the text begins. A line's end that is cut off counts as one."""
        text, line = region.text, self._bound.line
        last = at
        floor = max(region.pos, at - region.limits.max_layout)
        while last > floor and text[last - 1] in " \t":
            last -= 1
        if text.startswith(line, max(region.pos, last - len(line)), last):
            return last - len(line), True
        if last == region.pos and not self._begun:
            return last, True
        if at == len(text) and not region.final:  # more of a line's end may come
            for cut in range(len(line) - 1, 0, -1):
                if text.startswith(line[:cut], max(region.pos, at - cut), at):
                    return at - cut, False
        return at, False

    def _ends(self, region: Region, at: int, end: int, starts_line: bool) -> Verdict:
        """Whether the closer, the end of the turn or the opener that stands from `at` to `end` ends the text."""
        if region.closer(at):
            return YES if starts_line else self._is_followed(region, end)
        if not starts_line and region.text[at:end] in region.markers.openers:
            return NO  # another call begins at a line's start
        return region.marker(at)

    def _read_line(self, region: Region) -> Progress:
        """A parameter that another follows: its text is a line."""
        text, line = region.text, self._bound.line
        verdict, stop, end = self._bound.stops(region.markers, key=False).find(text, region.pos, region.final)
        if verdict != YES:
            return WAIT if self._grow_to(region, stop) else BROKE
        if not self._close(region, stop):
            return BROKE
        moved = len(region.text) - len(text)
        if text.startswith(line, stop) and end == stop + len(line):
            region.advance(end + moved)
            region.consume(end + moved, Why.ENVELOPE)
            return GO
        return self._ended(region, stop + moved)

    def _is_followed(self, region: Region, at: int) -> Verdict:
        """Whether the end of the output, or a marker that may follow the call, stands behind white space at `at`."""
        verdict, first = layout(region.text, at, region.limits.max_layout)
        if verdict == YES:
            verdict = region.markers.ends.at(region.text, first, region.final)[0]
        return YES if verdict == MORE and region.final else verdict

    def _grow_to(self, region: Region, end: int) -> bool:
        if end <= region.pos:
            return True
        self._begun = True
        return self._grow(region, end)

    def cut(self, region: Region) -> None:
        if self._state == VALUE and region.stopped and not self._begun and len(self._frames.inner.keys) == 1:
            self._value.cut(region, len(region.text))  # nothing came behind the header
        else:
            super().cut(region)
