"""A `Reading` is the whole of what a stream of events said, folded as they come."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Final

from .events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Parts:
    """Text gathered from pieces, joined when read: a long answer costs its length once."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[str] = []

    def add(self, piece: str) -> None:
        self._parts.append(piece)

    def __str__(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""


class Call:
    """One call as far as it was read; `arguments` is the fragments joined, whole JSON when `complete`."""

    __slots__ = ("_arguments", "complete", "declared", "ended", "id", "index", "name")

    def __init__(self, index: int, id: str, name: str, declared: bool | None) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.declared = declared
        self.complete = False
        self.ended = False
        self._arguments = _Parts()

    @property
    def arguments(self) -> str:
        return str(self._arguments)

    def add(self, fragment: str) -> None:
        self._arguments.add(fragment)

    def as_dict(self) -> dict[str, object]:
        """The call in the shape that `gateway-args batch` writes."""
        names = ("index", "id", "name", "declared", "arguments", "complete")
        return {name: getattr(self, name) for name in names}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Call({self.index}, {self.id!r}, {self.name!r}, {self.arguments!r}, complete={self.complete})"


@dataclass(frozen=True, slots=True)
class Aside:
    """A stretch of dropped or malformed text and why it is one."""

    text: str
    why: Why


@dataclass(slots=True)
class _Asides:
    """Asides in order; events of one `why` that follow each other directly are one entry."""

    entries: list[tuple[_Parts, Why]] = field(default_factory=list)

    def add(self, text: str, why: Why, *, joined: bool) -> None:
        if joined and self.entries and self.entries[-1][1] is why:
            self.entries[-1][0].add(text)
        else:
            parts = _Parts()
            parts.add(text)
            self.entries.append((parts, why))

    def all(self) -> list[Aside]:
        return [Aside(str(parts), why) for parts, why in self.entries]


class Reading:
    """Folds events into content, reasoning, calls, asides and the finish.

    Neighbouring events of one kind and one `why` are one entry of `dropped` or `malformed`, so that a reading is the
    same for every chunking of one output.
    """

    __slots__ = ("_content", "_dropped", "_last", "_malformed", "_reasoning", "calls", "finish", "thoughts")

    def __init__(self) -> None:
        self._content = _Parts()
        self._reasoning = _Parts()
        self._dropped = _Asides()
        self._malformed = _Asides()
        self._last: type[Event] | None = None
        self.calls: list[Call] = []
        self.thoughts = 0
        self.finish: Finish | None = None

    def add(self, event: Event) -> None:
        match event:
            case CallArguments():
                self.calls[event.index].add(event.json)
            case Content():
                self._content.add(event.text)
            case Reasoning():
                self._reasoning.add(event.text)
            case Dropped():
                self._dropped.add(event.text, event.why, joined=self._last is Dropped)
            case Malformed():
                self._malformed.add(event.text, event.why, joined=self._last is Malformed)
            case CallStart():
                self.calls.append(Call(event.index, event.id, event.name, event.declared))
            case CallEnd():
                self.calls[event.index].complete = event.complete
                self.calls[event.index].ended = True
            case ReasoningStart():
                self.thoughts += 1
            case ReasoningEnd():
                pass
            case Finish():
                self.finish = event
        if not (isinstance(event, Dropped) and not event.text):  # a token without text parts no neighbours
            self._last = type(event)

    @property
    def content(self) -> str:
        return str(self._content)

    @property
    def reasoning(self) -> str:
        return str(self._reasoning)

    @property
    def dropped(self) -> list[Aside]:
        return self._dropped.all()

    @property
    def malformed(self) -> list[Aside]:
        return self._malformed.all()

    def as_dict(self) -> dict[str, object]:
        """The reading in the shape that `gateway-args batch` writes."""
        finish = self.finish
        return {
            "content": self.content,
            "reasoning": self.reasoning,
            "calls": [call.as_dict() for call in self.calls],
            "dropped": [{"text": aside.text, "why": str(aside.why)} for aside in self.dropped],
            "malformed": [{"text": aside.text, "why": str(aside.why)} for aside in self.malformed],
            "finish": None
            if finish is None
            else {"reason": finish.reason, "calls": finish.calls, "reasoning_tokens": finish.reasoning_tokens},
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reading) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Reading({self.as_dict()!r})"


def fold(events: Iterable[Event]) -> Reading:
    """The reading of these events."""
    reading = Reading()
    for event in events:
        reading.add(event)
    return reading


_INNER_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


@cache
def _shape(cls: type) -> tuple[str, tuple[str, ...]]:
    return _INNER_CAPITAL.sub("_", cls.__name__).lower(), tuple(field.name for field in fields(cls))


def event_as_dict(event: Event) -> dict[str, object]:
    """The event as plain values: its kind in snake case, then its fields."""
    cls: type = type(event)
    kind, names = _shape(cls)
    return {"kind": kind, **{name: getattr(event, name) for name in names}}
