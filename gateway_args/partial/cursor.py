"""A cursor is what the views of one value share: its shape, its track, and each verdict that was reached once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from .frame import Frame
from .grown import Elements
from .moment import is_container
from .shape import Invalid, Kind, Shape
from .track import Faults, Track

if TYPE_CHECKING:
    from .path import Fault, Path
    from .source import Source


@final
class Cursor:
    """The shape, the track and the verdicts of one value; `lock` is held while anything of it is validated."""

    __slots__ = (
        *("_faults", "_narrowed", "_root", "_source", "_verdicts"),
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
        self._narrowed: dict[tuple[Path, int], Cursor] = {}

    def follow(self, frame: Frame | None, offset: int | None = None) -> None:
        """Validate what completed in this container, the value's own, by now or when the text was this long."""
        if frame is None or self.shape.kind is Kind.WHOLE:
            return
        with self.lock:
            if self.track is None and self.shape.fits(frame.items):
                self.track = Track(self.shape, frame, (), self._source, self._faults)
            if self.track is not None:
                self.track.catch_up(offset)

    def errors(self, offset: int) -> Elements[Fault]:
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

        `last` is the frame of the last container in it, if that is the last thing in it. Views share a cursor as long
        as what its track saw growing is what they see. It is not for a view that is narrowed after newer ones, where
        the track found a container whole that is still growing in the view: such a view gets a cursor of its own.
        """
        with self.lock:
            cursor = self._narrowed.setdefault((path, id(shape)), Cursor(shape, self._source, root=False))
            frame = value if isinstance(value, Frame) else None
            if not cursor._agrees(frame, last, offset):
                cursor = Cursor(shape, self._source, root=False)
                frame = frame.until(offset) if frame is not None else None
            if frame is not None:
                if frame.kids is None:
                    frame.kids = {}
                if last is not None and last.step is not None:
                    known = frame.kids.get(last.step)
                    if known is None or known.marks[0] > offset:
                        frame.kids[last.step] = last
            elif not isinstance(value, Frame) and is_container(value):
                frame = cursor.track.frame if cursor.track is not None else Frame.whole(value, None, offset, offset)
            cursor.follow(frame, offset)
            return cursor

    def _agrees(self, frame: Frame | None, last: Frame | None, offset: int) -> bool:
        """Whether what the track saw of its value is right for a text that was this long."""
        if self.track is None:
            return True
        if frame is None:
            return self.track.frame.marks[-1] <= offset
        return self.track.frame is frame and self.track.agrees(last, offset)
