"""A cursor is what the views of one value share: its shape, its track, and each verdict that was reached once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from ..schema.type_view import COLLECTIONS, Invalid, Kind, Shape
from .frame import Frame
from .grown import Elements
from .moment import is_container
from .track import Faults, Track

if TYPE_CHECKING:
    from ..schema.path import Path
    from .problem import Problem
    from .source import Source


@final
class Cursor:
    """The shape, the track and the verdicts of one value; `lock` is held while anything of it is validated."""

    __slots__ = (
        *("_faults", "_found", "_growing", "_root", "_source", "_verdicts"),
        *("lock", "shape", "track"),
    )

    def __init__(self, shape: Shape, source: Source | None, *, root: bool = True) -> None:
        self._root = root  # whether its value is the whole text
        self.shape = shape
        self.track: Track | None = None
        self._source = source
        self._faults = Faults()
        self.lock = self._faults.lock
        self._verdicts: dict[tuple[Path, int], tuple[Shape, Any]] = {}
        self._growing: dict[tuple[Path, int], Cursor] = {}  # of values that a view was narrowed to while they grew
        self._found: dict[tuple[Path, int], Cursor] = {}  # of those that were complete at first sight

    def follow(self, frame: Frame | None, offset: int | None = None) -> None:
        """Validate what completed in this container, the value's own, by now or when the text was this long."""
        if frame is None or self.shape.kind is Kind.WHOLE:
            return
        with self.lock:
            if self.track is None and self.shape.fits(frame.items):
                self.track = Track(self.shape, frame, (), self._source, self._faults)
            if self.track is not None:
                self.track.catch_up(offset)

    def errors(self, offset: int) -> Elements[Problem]:
        return Elements(self._faults.entries, self._faults.count(offset))

    def verdict(self, path: Path, shape: Shape, value: Any, text: str | None = None) -> Any:
        """This complete value as the shape has it, or the `Invalid` that says why not; decided once."""
        known = self._verdicts.get((path, id(shape)))
        if known is None:
            try:
                known = (shape, shape.check(value, text))
            except Invalid as invalid:
                known = (shape, invalid)
            self._verdicts[path, id(shape)] = known
        return known[1]

    def whole(self, value: Any, offset: int) -> Any:
        """The verdict on the whole value, which was done when the text was this long."""
        text = self._source.read(self._source.start, offset) if self._root and self._source is not None else None
        return self.verdict((), self.shape, value, text)

    def narrow(self, path: Path, shape: Shape, value: Any, last: Frame | None, offset: int) -> Cursor:
        """The cursor of what a view found there (a frame, or a plain value) when the text was this long.

        `last` is the frame of the last container in it, if that is the last thing in it. Views share the cursor of a
        value that grows, and keep it when the value is complete. A view that is narrowed after newer ones may see a
        container growing that the track found whole: then the cursor is made anew, once for each such container.
        """
        key = path, id(shape)
        with self.lock:
            cursor = self._growing.get(key)
            if isinstance(value, Frame):
                if cursor is None or not cursor._agrees(value, last, offset):
                    cursor = self._growing[key] = Cursor(shape, self._source, root=False)
                value.kids = {} if value.kids is None else value.kids
                if last is not None and last.step is not None:
                    slot, known = shape.slot(last.step), value.kids.get(last.step)
                    if slot is not None and slot.shape.kind in COLLECTIONS:
                        value.kids[last.step] = last if known is None or known.marks[0] > offset else known
                cursor.follow(value, offset)
                return cursor
            if cursor is not None and cursor.track is not None:
                cursor.follow(cursor.track.frame, offset)
                return cursor
            cursor = self._found.setdefault(key, Cursor(shape, self._source, root=False))
            if is_container(value):
                cursor.follow(cursor.track.frame if cursor.track is not None else Frame.whole(value, None, 0, 0))
            return cursor

    def _agrees(self, frame: Frame, last: Frame | None, offset: int) -> bool:
        """Whether what the track saw of its value is right for a text that was this long."""
        return self.track is None or (self.track.frame is frame and self.track.agrees(last, offset))
