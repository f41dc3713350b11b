"""A track is the typed side of one growing container: its complete children, each validated once, when it completes.

The fields of a record that are collections have tracks of their own, so that their elements are seen one by one. A
track catches up with its frame and never looks back, and what it holds is in the order of the text: how much of it was
there when the text was shorter is a bisection, as it is for frames.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, final

from ..schema.type_view import COLLECTIONS, Invalid, Kind, Shape
from .frame import Frame
from .grown import Elements, Members
from .locate import ends, inside, value_at
from .problem import Problem

if TYPE_CHECKING:
    from ..schema.path import Path, Step
    from .source import Source


INTERRUPTED: Final = Invalid([((), "its validation was interrupted by an exception")])


@final
class Faults:
    """Faults in the order of the text, each with how long the text was when it showed.

    The `lock` is for all that is validated for one value: its views may be looked at in any thread.
    """

    __slots__ = ("_marks", "entries", "lock")

    def __init__(self) -> None:
        self.lock = RLock()
        self.entries: list[Problem] = []
        self._marks: list[int] = []

    def add(self, mark: int, fault: Problem) -> None:
        self.entries.append(fault)
        self._marks.append(mark)

    def count(self, offset: int) -> int:
        return bisect_right(self._marks, offset)


@final
class Track:
    """The validated children of one container.

    `values` are a record's valid fields and a collection's valid members by JSON key, or a list's valid elements in
    order; `numbers` says of each element or member which child it was.
    """

    __slots__ = (
        *("_faults", "_keys", "_next", "_order", "_path", "_source", "_subs"),
        *("frame", "numbers", "shape", "values"),
    )

    def __init__(self, shape: Shape, frame: Frame, path: Path, source: Source | None, faults: Faults) -> None:
        self.shape = shape
        self.frame = frame
        self.values: Any = [] if shape.kind is Kind.ELEMENTS else {}
        self.numbers: list[int] = []
        self._path = path
        self._source = source if shape.reads_text else None
        self._faults = faults
        self._subs: dict[Step, Track | None] = {}
        self._keys: list[str] = []
        self._order: dict[str, int] = {}
        self._next = 0

    def catch_up(self, offset: int | None = None) -> None:
        """Validate what completed since, by now or when the text was this long; once each."""
        end = len(self.frame.marks) - 1 if offset is None else self.frame.count(offset)
        while self._next < end:
            self._next += 1
            self._settle(self._next - 1)
        if self.frame.kids and self.shape.kind is Kind.FIELDS:
            last = self._last(self.frame.kids, offset)
            sub = None if last is None else self.sub(last, offset)
            if sub is not None:
                sub.catch_up(offset)

    def _last(self, kids: dict[Step, Frame], offset: int | None) -> Step | None:
        """The collection that opened last when the text was this long; by now: whatever opened last."""
        if offset is None:
            return next(reversed(kids))
        steps = self.shape.collections if self.frame.closer == "}" else range(len(self.shape.names))
        opened = [(kids[step].marks[0], step) for step in steps if step in kids and kids[step].marks[0] <= offset]
        return max(opened, key=lambda each: each[0])[1] if opened else None

    def agrees(self, last: Frame | None, offset: int) -> bool:
        """Whether this container, the last one when the text was this long, is known as it grew then."""
        sub = self._subs.get(last.step) if last is not None and last.step is not None else None
        return sub is None or sub.frame is last or sub.frame.marks[-1] <= offset

    def sub(self, step: Step, offset: int | None = None) -> Track | None:
        """The track of a collection under this key whose opener came, by now or when the text was this long."""
        if step in self._subs:
            return self._subs[step]
        with self._faults.lock:
            return self._subs[step] if step in self._subs else self._opened(step, offset)

    def _opened(self, step: Step, offset: int | None) -> Track | None:
        slot = self.shape.slot(step)
        track = None
        if slot is not None and slot.shape.kind in COLLECTIONS:
            frame = (self.frame.kids or {}).get(step)
            if frame is None:
                index = self.frame.index(step)
                if index < 0 or (offset is not None and index >= self.frame.count(offset)):
                    return None  # nothing of it yet
                value = self.frame.items[step]  # type: ignore[index]
                if not isinstance(value, dict | list):
                    return None
                start, end = self._span(index) or (self.frame.marks[index + 1],) * 2
                if start < end and self._source is not None:
                    text = self._source.read(start, end - 1).rstrip(" \t\n\r")
                    start, end = start + inside(text, self.frame.closer), start + len(text)
                frame = Frame.whole(value, step, start, end)
            if slot.shape.fits(frame.items):
                track = Track(slot.shape, frame, (*self._path, step), self._source, self._faults)
        self._subs[step] = track
        return track

    def grown(self, offset: int) -> Elements[Any] | Members[Any]:
        """The valid elements or members of a collection when the text was this long."""
        size = bisect_left(self.numbers, self.frame.count(offset))
        if self.shape.kind is Kind.ELEMENTS:
            return Elements(self.values, size)
        return Members(self.values, self._keys, self._order, size)

    def value(self, index: int) -> Any:
        """The validated value of this complete child; `KeyError` when it is none."""
        if self.shape.kind is not Kind.ELEMENTS:
            return self.values[self.frame.step_of(index)]
        at = bisect_left(self.numbers, index)
        if at == len(self.numbers) or self.numbers[at] != index:
            raise KeyError(index)
        return self.values[at]

    def _settle(self, index: int) -> None:
        step = self.frame.step_of(index)
        try:
            self._validate(index, step)
        except Invalid as invalid:
            self._report(invalid, step, self.frame.marks[index + 1])
        except BaseException:
            self._report(INTERRUPTED, step, self.frame.marks[index + 1])
            raise

    def _validate(self, index: int, step: Step) -> None:
        """Take this child as its shape has it; `Invalid` when it breaks the rules."""
        shape = self.shape
        value = self.frame.items[step]  # type: ignore[index]
        if shape.kind is Kind.FIELDS:
            slot = shape.slot(step)
            if slot is None:
                return
            sub = self.sub(step)
            if sub is None:
                self.values[step] = slot.shape.check(value, self._text(index))
            else:
                sub.catch_up()
                if len(sub.values) == len(sub.frame.items):
                    self.values[step] = slot.shape.shell(sub.values)
            return
        assert shape.item is not None
        valid = shape.item.check(value, self._text(index))
        if shape.kind is Kind.ELEMENTS:
            self.values.append(valid)
        else:
            self.values[step] = valid
            self._order[str(step)] = len(self.numbers)
            self._keys.append(str(step))
        self.numbers.append(index)

    def _text(self, index: int) -> str | None:
        """The child's JSON text, where the frame knows where it stands."""
        span = self._span(index)
        if self._source is None or span is None:
            return None
        text = self._source.read(span[0], span[1] - 1)
        return text[value_at(text) :] if self.frame.closer == "}" else text

    def _span(self, index: int) -> tuple[int, int] | None:
        """Where the child's text, key and separator included, starts and ends; None where the frame does not know.

        Children that were read at once have one mark, until somebody asks here.
        """
        marks = self.frame.marks
        start, end = marks[index : index + 2]
        if self._source is None or end == marks[0]:
            return None
        if start == end or marks[index + 2 : index + 3] == [end]:
            first = bisect_left(marks, end) - 1
            at = marks[first]
            text = self._source.read(at, end)
            for number, length in enumerate(ends(text, self.frame.closer), first + 1):
                marks[number] = at + length
            start, end = marks[index : index + 2]
        return start, end

    def _report(self, invalid: Invalid, step: Step, mark: int) -> None:
        for path, message in invalid.faults:
            self._faults.add(mark, Problem((*self._path, step, *path), message))
