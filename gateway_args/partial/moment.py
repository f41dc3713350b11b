"""A moment is what had come of a value when its text was so long: plain, and the same ever after.

It holds the spine as it was and the length of the text. What it refers to only grows, so how much of it was there is a
bisection, and nothing is copied before `snapshot` is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast, final

from .frame import NOTHING, UNSEEN, Digits, Frame, Text
from .problem import Problem

if TYPE_CHECKING:
    from ..schema.path import Path, Step
    from .builder import Builder

ABSENT: Final = object()
"""No value is there."""


@final
class Moment:
    """The spine (`frames`, and the `leaf` under `step` in the innermost one) when the text was `offset` characters."""

    __slots__ = ("done", "frames", "leaf", "malformed", "offset", "pieces", "step")

    def __init__(
        self,
        frames: tuple[Frame, ...],
        step: Step | None,
        leaf: Any,
        offset: int,
        pieces: int,
        done: bool,
        malformed: Problem | None,
    ) -> None:
        self.frames = frames
        self.step = step
        self.leaf = leaf
        self.offset = offset
        self.pieces = pieces  # how many of a string in flight had come
        self.done = done
        self.malformed = malformed

    def incomplete(self) -> tuple[Path, ...]:
        """The spine's paths, from the root on."""
        if self.done or not (self.frames or self.leaf is not NOTHING):
            return ()
        steps = [frame.step for frame in self.frames[1:]]
        if self.frames and self.leaf is not NOTHING:
            steps.append(self.step)
        path = cast("Path", tuple(steps))
        return tuple(path[:length] for length in range(len(path) + 1))

    def snapshot(self) -> Any:
        """The plain value so far, None when nothing is there."""
        value = self._leaf_value()
        step = self.step
        for frame in reversed(self.frames):
            count = frame.count(self.offset)
            items: Any
            if isinstance(frame.items, list):
                items = frame.items[:count]
                if value is not ABSENT:
                    items.append(value)
            else:
                items = frame.members(count)
                if value is not ABSENT:
                    items[step] = value
            value, step = items, frame.step
        return None if value is ABSENT else value

    def find(self, path: Path) -> tuple[Any, bool]:
        """The value at this path and whether it is complete.

        On the spine it is the frame, the `Text`, or what stands there of a leaf; `ABSENT` when nothing does.
        """
        frames = self.frames
        for level, step in enumerate(path):
            if level >= len(frames):
                break
            if level + 1 < len(frames):
                if step == frames[level + 1].step:
                    continue
            elif self.leaf is not NOTHING and step == self.step:
                continue
            frame = frames[level]
            index = frame.index(step)
            if not 0 <= index < frame.count(self.offset):
                return ABSENT, False
            value = _inside(frame.items[step], path[level + 1 :])  # type: ignore[index]
            return value, value is not ABSENT
        if len(path) < len(frames):
            return frames[len(path)], False
        if isinstance(self.leaf, Text):
            return (self.leaf if len(path) == len(frames) else ABSENT), False
        value = _inside(self._leaf_value(), path[len(frames) :])
        return value, value is not ABSENT and (self.done or len(path) > len(frames))

    def text(self, path: Path, start: int) -> str | None:
        """What had come of the string at this path, from this character on."""
        value = self.find(path)[0]
        if isinstance(value, Text):
            return value.read(self.pieces, start)
        return value[start:] if isinstance(value, str) else None

    def narrow(self, path: Path, value: Any, done: bool) -> Moment:
        """The same moment of what was found at this path."""
        frames, leaf = (self.frames[len(path) :], self.leaf) if isinstance(value, Frame) else ((), value)
        malformed = self.malformed
        if malformed is not None:
            inside = malformed.path[: len(path)] == path
            malformed = Problem(malformed.path[len(path) :], malformed.message, malformed.offset) if inside else None
        return Moment(frames, self.step, leaf, self.offset, self.pieces, done, malformed)

    def last(self) -> Frame | None:
        """The last container in the root, as long as the root is open and it is the last thing there."""
        if len(self.frames) > 1:
            return self.frames[1]
        if self.frames and self.step is not None and is_container(self.leaf):
            return Frame.whole(self.leaf, self.step, self.offset, self.offset)
        return None

    def _leaf_value(self) -> Any:
        leaf = self.leaf
        if isinstance(leaf, Text):
            return leaf.read(self.pieces)
        if isinstance(leaf, Digits):
            leaf = leaf.value()
        return ABSENT if leaf is NOTHING or leaf is UNSEEN else leaf


def now(builder: Builder) -> Moment:
    """The value as the builder has it now."""
    leaf = builder.leaf
    pieces = len(leaf) if type(leaf) is Text else 0
    return Moment(tuple(builder.frames), builder.step, leaf, builder.offset, pieces, builder.done, builder.fault)


def is_container(value: Any) -> bool:
    """Whether this is a plain object or list."""
    return isinstance(value, dict | list) and not isinstance(value, Text)


def _inside(value: Any, path: Path) -> Any:
    """The value at this path inside a plain value."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value
