"""The arguments of a parser's calls as typed views: `partials(events, {"write_file": WriteFile})`."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final, overload

from ..errors import DecodeError
from ..events import CallArguments, CallEnd, CallStart, Event
from ..limits import Limits
from .stream import Emit, PartialStream

if TYPE_CHECKING:
    from .view import Partial


@final
@dataclass(frozen=True, slots=True)
class CallPartial:
    """A call's arguments as far as they came; `error` says, at the end of a call, why they are no value of the type."""

    index: int
    id: str
    name: str
    partial: Partial[Any]
    error: DecodeError | None = None


@overload
def partials(
    events: Iterable[Event], types: Mapping[str, Any], *, emit: Emit = ..., limits: Limits | None = ...
) -> Iterator[CallPartial]: ...
@overload
def partials(
    events: AsyncIterable[Event], types: Mapping[str, Any], *, emit: Emit = ..., limits: Limits | None = ...
) -> AsyncIterator[CallPartial]: ...
def partials(
    events: Iterable[Event] | AsyncIterable[Event],
    types: Mapping[str, Any],
    *,
    emit: Emit = "fields",
    limits: Limits | None = None,
) -> Any:
    """A view of each call's arguments whenever they changed, and one at the end of each call.

    `types` is function name -> type; calls of other functions are left out. The last view of a call is done and has its
    `.value`, or comes with the `error`: a call that went wrong does not end the others.
    """
    calls = _Calls(types, emit, limits or Limits())
    return _async(calls, events) if isinstance(events, AsyncIterable) else _sync(calls, events)


class _Calls:
    """The streams of the calls that are open."""

    def __init__(self, types: Mapping[str, Any], emit: Emit, limits: Limits) -> None:
        self._types = types
        self._emit: Emit = emit
        self._limits = limits
        self._open: dict[int, tuple[CallStart, PartialStream[Any]]] = {}

    def add(self, event: Event) -> CallPartial | None:
        match event:
            case CallStart() if event.name in self._types:
                stream = PartialStream(self._types[event.name], emit=self._emit, limits=self._limits)
                self._open[event.index] = (event, stream)
            case CallArguments() if event.index in self._open:
                start, stream = self._open[event.index]
                partial = stream.feed(event.json)
                if partial is not None:
                    return CallPartial(start.index, start.id, start.name, partial)
            case CallEnd() if event.index in self._open:
                start, stream = self._open.pop(event.index)
                error = None
                try:
                    stream.finish()
                except DecodeError as raised:
                    error = raised
                return CallPartial(start.index, start.id, start.name, stream.partial, error)
        return None


def _sync(calls: _Calls, events: Iterable[Event]) -> Iterator[CallPartial]:
    for event in events:
        partial = calls.add(event)
        if partial is not None:
            yield partial


async def _async(calls: _Calls, events: AsyncIterable[Event]) -> AsyncIterator[CallPartial]:
    async for event in events:
        partial = calls.add(event)
        if partial is not None:
            yield partial
