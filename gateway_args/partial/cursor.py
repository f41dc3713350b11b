"""A cursor is what the views of one value share: its shape, its track, and each verdict that was reached once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from .grown import Elements
from .shape import Invalid, Kind, Shape
from .track import Faults, Track

if TYPE_CHECKING:
    from .frame import Frame
    from .path import Fault, Path
    from .source import Source


@final
class Cursor:
    """The shape, the track and the verdicts of one value; `lock` is held while anything of it is validated."""

    __slots__ = ("_faults", "_narrowed", "_root", "_source", "_verdicts", "lock", "shape", "track")

    def __init__(self, shape: Shape, source: Source | None, *, root: bool = True) -> None:
        self._root = root  # whether its value is the whole text
        self.shape = shape
        self.track: Track | None = None
        self._source = source
        self._faults = Faults()
        self.lock = self._faults.lock
        self._verdicts: dict[tuple[Path, int], tuple[Shape, Any]] = {}
        self._narrowed: dict[tuple[Path, int], Cursor] = {}

    def follow(self, frame: Frame | None) -> None:
        """Validate what completed in this container, the value's own, since the last time."""
        if frame is None or self.shape.kind is Kind.WHOLE:
            return
        with self.lock:
            if self.track is None and self.shape.fits(frame.items):
                self.track = Track(self.shape, frame, (), self._source, self._faults)
            if self.track is not None:
                self.track.catch_up()

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

    def narrowed(self, path: Path, shape: Shape) -> Cursor:
        return self._narrowed.setdefault((path, id(shape)), Cursor(shape, self._source, root=False))
