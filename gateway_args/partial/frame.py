"""What the open path of a growing value is made of: open containers, and a string or number in flight.

Everything here only grows. So a view that notes how much was there (children, deltas of a string) shows later what
stood there then, and copies nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ..strict_json import tokens

if TYPE_CHECKING:
    from ..schema.path import Step


@final
class Nothing:
    """No value there."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()
"""In flight when the last token belongs to the innermost container itself."""
UNSEEN: Final = Nothing()
"""In flight when a value began that shows nothing yet: the first letters of a literal."""


@final
class Frame:
    """One open container: its complete children, in order, and where their texts end.

    A child's mark comes last, so that what is counted by the marks is there, in whatever thread it is read.
    """

    __slots__ = ("_order", "closer", "items", "keys", "kids", "latest", "marks", "step")

    def __init__(self, items: dict[str, Any] | list[Any], step: Step | None, mark: int, *, keeps_kids: bool) -> None:
        self.items = items
        self.closer = "}" if isinstance(items, dict) else "]"
        self.step = step
        self.keys: list[str] = []  # of an object
        self.marks = [mark]  # behind the opener, and behind each child's comma or closer
        self.kids: dict[Step, Frame] | None = {} if keeps_kids else None  # the containers opened in it
        self.latest: Step | None = None  # the last of them
        self._order: dict[str, int] = {}

    @classmethod
    def of(cls, value: dict[str, Any] | list[Any]) -> Frame:
        """The frame of a container that is complete, and whose text is not at hand."""
        frame = cls(value, None, 0, keeps_kids=False)
        frame.keys = list(value) if isinstance(value, dict) else []
        frame.marks += [0] * len(value)
        return frame

    def note(self, frame: Frame) -> None:
        """A container opened in it."""
        if self.kids is not None and frame.step is not None:
            self.kids[frame.step] = frame
            self.latest = frame.step

    def add(self, step: Step, value: Any, mark: int) -> None:
        """A child is complete; its text ends before the mark."""
        items: Any = self.items
        if self.closer == "}":
            items[step] = value
            self.keys.append(step)  # type: ignore[arg-type]
        else:
            items.append(value)
        self.marks.append(mark)

    def __len__(self) -> int:
        """The complete children."""
        return len(self.marks) - 1

    def first(self, count: int) -> Any:
        """The first children, as a container of its own."""
        if isinstance(self.items, list):
            return self.items[:count]
        keys = self.keys[:count]  # another thread may let the dict itself grow
        return dict(zip(keys, map(self.items.__getitem__, keys), strict=True))

    def index(self, step: Step) -> int:
        """Which child this key or index names, among those complete by now; -1 when none."""
        if isinstance(self.items, list):
            return step if isinstance(step, int) and step < len(self.items) else -1
        order = self._order
        for number in range(len(order), len(self.keys)):
            order[self.keys[number]] = number
        return order.get(step, -1) if isinstance(step, str) else -1

    def step_of(self, index: int) -> Step:
        return self.keys[index] if self.closer == "}" else index


@final
class Text:
    """A string in flight: what arrived of it, escapes decoded."""

    __slots__ = ("_ends", "_parts")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._ends = [0]

    def add(self, part: str) -> None:
        self._parts.append(part)
        self._ends.append(self._ends[-1] + len(part))

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._ends) - 1

    def read(self, count: int, start: int = 0) -> str:
        """The first `count` parts joined, from this character on; the cost is what is read."""
        if not start:
            return "".join(self._parts[:count])
        first = max(0, bisect_right(self._ends, start) - 1)
        return "".join(self._parts[first:count])[start - self._ends[min(first, len(self))] :]


class Digits(NamedTuple):
    """A number in flight, as written."""

    token: str

    def value(self) -> int | float | Nothing:
        read = tokens.number_so_far(self.token)
        return UNSEEN if read is None else read
