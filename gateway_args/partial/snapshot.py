"""A snapshot is what had come of a value when its text was so long: plain, and the same ever after.

It holds the open path as it was, and how many children each container on it had. What it refers to only grows, so
nothing is copied before `plain` is asked for.
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
class Snapshot:
    """The open path: containers with their `counts` of complete children, and what was in flight under `step`."""

    __slots__ = ("counts", "done", "frames", "in_flight", "parts", "problem", "step")

    def __init__(
        self,
        frames: tuple[Frame, ...],
        counts: tuple[int, ...],
        step: Step | None,
        in_flight: Any,
        parts: int,
        done: bool,
        problem: Problem | None,
    ) -> None:
        self.frames = frames
        self.counts = counts
        self.step = step
        self.in_flight = in_flight
        self.parts = parts  # how many of a string in flight had come
        self.done = done
        self.problem = problem

    @property
    def position(self) -> tuple[int, int]:
        """How many children of the root are complete, and how many of what is in flight in it."""
        if len(self.counts) > 1:
            return self.counts[0], self.counts[1]
        within = len(self.in_flight) if is_container(self.in_flight) else 0
        return (self.counts[0], within) if self.counts else (within, 0)

    def incomplete(self) -> tuple[Path, ...]:
        """The paths of the open path, from the root on."""
        if self.done or not (self.frames or self.in_flight is not NOTHING):
            return ()
        steps = [frame.step for frame in self.frames[1:]]
        if self.frames and self.in_flight is not NOTHING:
            steps.append(self.step)
        path = cast("Path", tuple(steps))
        return tuple(path[:length] for length in range(len(path) + 1))

    def plain(self) -> Any:
        """The plain value so far, None when nothing is there."""
        value, step = self._shown(), self.step
        for frame, count in zip(reversed(self.frames), reversed(self.counts), strict=True):
            items = frame.first(count)
            if value is not ABSENT:
                if isinstance(items, list):
                    items.append(value)
                else:
                    items[step] = value
            value, step = items, frame.step
        return None if value is ABSENT else value

    def find(self, path: Path) -> tuple[Any, bool]:
        """The value at this path and whether it is complete.

        On the open path it is the frame, the `Text`, or what stands there of a number; `ABSENT` when nothing does.
        """
        frames = self.frames
        for level, step in enumerate(path[: len(frames)]):
            if level + 1 < len(frames):
                if step == frames[level + 1].step:
                    continue
            elif self.in_flight is not NOTHING and step == self.step:
                continue
            frame = frames[level]
            if not 0 <= frame.index(step) < self.counts[level]:
                return ABSENT, False
            value = inside(frame.items[step], path[level + 1 :])  # type: ignore[index]
            return value, value is not ABSENT
        if len(path) < len(frames):
            return frames[len(path)], False
        if isinstance(self.in_flight, Text):
            return (self.in_flight if len(path) == len(frames) else ABSENT), False
        value = inside(self._shown(), path[len(frames) :])
        return value, value is not ABSENT and (self.done or len(path) > len(frames))

    def text(self, path: Path, start: int) -> str | None:
        """What had come of the string at this path, from this character on."""
        value = self.find(path)[0]
        if isinstance(value, Text):
            return value.read(self.parts, start)
        return value[start:] if isinstance(value, str) else None

    def narrow(self, path: Path, value: Any, done: bool) -> Snapshot:
        """The same of what was found at this path."""
        depth = len(path)
        problem = self.problem
        if problem is not None:
            touched = problem.path[:depth] == path and not (depth and done)
            problem = Problem(problem.path[depth:], problem.message, problem.offset) if touched else None
        if isinstance(value, Frame):
            frames, counts = self.frames[depth:], self.counts[depth:]
            return Snapshot(frames, counts, self.step, self.in_flight, self.parts, done, problem)
        return Snapshot((), (), None, value, self.parts, done, problem)

    def last(self) -> Frame | None:
        """The last container in the root, as long as the root is open and it is the last thing there."""
        if len(self.frames) > 1:
            return self.frames[1]
        if self.frames and is_container(self.in_flight):
            frame = Frame.of(self.in_flight)
            frame.step = self.step
            return frame
        return None

    def _shown(self) -> Any:
        """What is shown of the value in flight."""
        value = self.in_flight
        if isinstance(value, Text):
            return value.read(self.parts)
        if isinstance(value, Digits):
            value = value.value()
        return ABSENT if value is NOTHING or value is UNSEEN else value


def now(builder: Builder) -> Snapshot:
    """The value as the builder has it now."""
    frames = tuple(builder.frames)
    value = builder.in_flight
    parts = len(value) if isinstance(value, Text) else 0
    return Snapshot(frames, tuple(map(len, frames)), builder.step, value, parts, builder.done, builder.problem)


def is_container(value: Any) -> bool:
    """Whether this is a plain object or list."""
    return isinstance(value, dict | list)


def inside(value: Any, path: Path) -> Any:
    """The value at this path inside a plain value."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value
