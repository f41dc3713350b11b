"""The arguments of a parser's calls as typed views: `partials(events, {"write_file": WriteFile})`."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, final, overload

from ..errors import DecodeError
from ..events import CallArguments, CallEnd, CallStart, Event
from .stream import PartialStream

if TYPE_CHECKING:
    from .options import Options
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
    events: Iterable[Event], types: Mapping[str, Any], **options: Unpack[Options]
) -> Iterator[CallPartial]: ...
@overload
def partials(
    events: AsyncIterable[Event], types: Mapping[str, Any], **options: Unpack[Options]
) -> AsyncIterator[CallPartial]: ...
def partials(
    events: Iterable[Event] | AsyncIterable[Event], types: Mapping[str, Any], **options: Unpack[Options]
) -> Any:
    """A view of each call's arguments whenever they changed, and one at the end of each call.

    `types` is function name -> type; calls of other functions are left out. The last view of a call is done and has its
    `.value`, or comes with the `error`: a call that went wrong does not end the others. A call that did not complete
    (`CallEnd.complete`) has no value, however whole its arguments look. The options are those of `PartialStream`.
    """
    for type_ in types.values():
        PartialStream(type_, **options)  # what is wrong with a type or an option shows now
    calls = _Calls(types, options)
    return _async(calls, events) if isinstance(events, AsyncIterable) else _sync(calls, events)


class _Calls:
    """The streams of the calls that are open."""

    def __init__(self, types: Mapping[str, Any], options: Options) -> None:
        self._types = types
        self._options = options
        self._open: dict[int, tuple[CallStart, PartialStream[Any]]] = {}

    def add(self, event: Event) -> CallPartial | None:
        match event:
            case CallStart() if event.name in self._types:
                stream: PartialStream[Any] = PartialStream(self._types[event.name], **self._options)
                self._open[event.index] = (event, stream)
            case CallArguments() if event.index in self._open:
                start, stream = self._open[event.index]
                partial = stream.feed(event.json)
                if partial is not None:
                    return CallPartial(start.index, start.id, start.name, partial)
            case CallEnd() if event.index in self._open:
                start, stream = self._open.pop(event.index)
                error = None
                if not event.complete:
                    stream.cut("the call did not complete")
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
