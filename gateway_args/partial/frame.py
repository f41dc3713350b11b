"""What the spine of a growing value is made of: open containers, and a string or number in flight.

Everything here only grows. So a reader that notes how long the text was (an offset, or a number of pieces) can see
later what stood there then, at the cost of one bisection and no copy.
"""

from __future__ import annotations

from bisect import bisect_right
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from . import lexis

if TYPE_CHECKING:
    from ..schema.path import Step


@final
class Nothing:
    """No value there."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()
"""The leaf when the last token belongs to the innermost frame itself."""
UNSEEN: Final = Nothing()
"""The leaf when a value began that shows nothing yet: the first letters of a literal."""


_NO_KEYS: Final[list[str]] = []


@final
class Frame:
    """One open container: its complete children, in order, and how long the text was when each was complete.

    A child's mark comes last, so that what a reader counts by the marks is there, in whatever thread it reads.
    """

    __slots__ = ("_order", "closer", "items", "keys", "kids", "marks", "step")

    def __init__(self, items: dict[str, Any] | list[Any], closer: str, step: Step | None, mark: int) -> None:
        self.items = items
        self.closer = closer
        self.step = step
        self.keys: list[str] = [] if closer == "}" else _NO_KEYS
        self.marks = [mark]
        self.kids: dict[Step, Frame] | None = None  # the containers opened in it, where a typed view asks for them
        self._order: dict[str, int] | None = None

    @classmethod
    def whole(cls, value: dict[str, Any] | list[Any], step: Step | None, start: int, end: int) -> Frame:
        """A frame of a container that was read at once, between these offsets; the same one twice if not known."""
        frame = cls(value, "}" if isinstance(value, dict) else "]", step, start)
        frame.keys = list(value) if isinstance(value, dict) else []
        frame.marks += [end] * len(value)
        return frame

    def members(self, count: int) -> dict[str, Any]:
        """The first members of an object, which another thread may let grow."""
        keys = self.keys[:count]
        items: Any = self.items
        return dict(zip(keys, map(items.__getitem__, keys), strict=True))

    def count(self, offset: int) -> int:
        """How many children were complete when the text was this long."""
        return bisect_right(self.marks, offset) - 1

    def index(self, step: Step) -> int:
        """Which child this key or index names, among those complete by now; -1 when none."""
        if isinstance(self.items, list):
            return step if isinstance(step, int) and step < len(self.items) else -1
        if self._order is None:
            self._order = {}
        for number in range(len(self._order), len(self.keys)):
            self._order[self.keys[number]] = number
        return self._order.get(step, -1) if isinstance(step, str) else -1

    def step_of(self, index: int) -> Step:
        return self.keys[index] if isinstance(self.items, dict) else index


_NOTING: Final = Lock()
"""Held while the ends of a string's pieces are noted, which any thread may ask for."""


@final
class Text(list[str]):
    """A string in flight: the pieces that arrived of it, escapes decoded."""

    __slots__ = ("_ends",)

    def read(self, count: int, start: int = 0) -> str:
        """The first `count` pieces joined, from this character on; the cost is what is read."""
        if not start:
            return "".join(self[:count])
        with _NOTING:
            ends: list[int] = getattr(self, "_ends", None) or [0]
            for number in range(len(ends) - 1, len(self)):
                ends.append(ends[-1] + len(self[number]))
            self._ends = ends
        first = max(0, bisect_right(ends, start) - 1)
        return "".join(self[first:count])[start - ends[first] :]


class Digits(NamedTuple):
    """A number in flight, as written."""

    token: str

    def value(self) -> int | float | Nothing:
        """The number that stands there already: 25 of `25.`, nothing of `-`."""
        read = lexis.number_so_far(self.token)
        return UNSEEN if read is None else lexis.number(read[0])
