"""`Guard` and `guard`: an engine's deltas through a parser and its calls' decoders, stopped at the first refusal.

A call that can no longer be valid is not worth its tokens: on an early refusal the engine is cancelled once and never
polled again. `Guard` is the sans-IO part, `guard` drives a stream with it, sync or async. An engine's stream yields
pieces and, as its own end, one `EngineEnd` with its finish reason; a stream that stops without one was cut, and so were
all calls in it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, final, overload

from ..events import CallStart, Event, Finish
from ..parser import finish_reason
from .calls import CallOutcome, ToolDecoders
from .outcomes import Refused

if TYPE_CHECKING:
    from ..tokens.detokenizer import Delta
    from ..tools import Tools
    from .bounds import StreamLimits
    from .transcript import Transcript


@final
@dataclass(frozen=True, slots=True)
class EngineEnd:
    """The engine's own end of an output, with its finish reason."""

    reason: str


class Feedable(Protocol):
    """What a guard asks of a parser."""

    def feed(self, piece: Any, /) -> list[Event]: ...
    def finish(self, reason: str | None, /) -> list[Event]: ...


Cancel = Callable[[], object]


class Guard:
    """The sans-IO part: pieces in, events and call outcomes out, `refused` once a call was refused early.

    After a refusal call `cancel`, after the engine's end `finish`, each once. The outcomes of the calls stand before
    the parser's `Finish`. With a transcript, everything is recorded in order.
    """

    def __init__(
        self,
        parser: Feedable,
        tools: Tools | None,
        *,
        limits: StreamLimits | None = None,
        transcript: Transcript | None = None,
    ) -> None:
        self.decoders = ToolDecoders(tools, limits=limits)
        self.refused = False
        self._parser = parser
        self._transcript = transcript

    def feed(self, piece: str | Delta) -> list[Event | CallOutcome]:
        """Reads on. A refusal follows the event that brought it; the piece is read to its end, so nothing is lost."""
        said = self._follow(self._parser.feed(piece))
        self.refused = self.refused or any(isinstance(event, CallOutcome) for event in said)
        if self._transcript is not None:
            self._transcript.delta(piece, said)
        return said

    def finish(self, reason: str | None) -> list[Event | CallOutcome]:
        """The stream is over: with the engine's finish reason, or None when it just stopped.

        An engine that ends in an error, or because it was cancelled, has not ended the calls either.
        """
        settled = finish_reason(reason) not in ("error", "cancelled")
        cut = "stopped without a finish reason" if reason is None else f"ended with the reason {reason!r}"
        events = self._follow(self._parser.finish(reason))
        outcomes = self.decoders.finish() if settled else self.decoders.truncate(f"the engine's stream {cut}")
        return self._end("finish", reason, events, outcomes)

    def cancel(self, why: str) -> list[Event | CallOutcome]:
        """The output is given up: what is open is settled as cancelled."""
        events = self._follow(self._parser.finish("cancelled"))
        return self._end("cancel", why, events, self.decoders.cancel(why))

    def _follow(self, events: list[Event]) -> list[Event | CallOutcome]:
        said: list[Event | CallOutcome] = []
        for event in events:
            if isinstance(event, CallStart):
                event.judged = True  # its outcome follows: an adapter waits for it
            said.append(event)
            outcome = self.decoders.feed(event)
            if outcome is not None:
                said.append(outcome)
        return said

    def _end(
        self, how: str, why: str | None, events: list[Event | CallOutcome], outcomes: list[CallOutcome]
    ) -> list[Event | CallOutcome]:
        last = [events.pop()] if events and isinstance(events[-1], Finish) else []
        said = [*events, *outcomes, *last]
        if self._transcript is not None:
            self._transcript.end(how, why, said)
        return said


def refusal_in(said: list[Event | CallOutcome]) -> str:
    """What to tell an engine that is cancelled: the first refusal."""
    for event in said:
        if isinstance(event, CallOutcome) and isinstance(event.outcome, Refused):
            return f"call {event.index} ({event.name}) was refused: {event.outcome.code}"
    return "refused"


@overload
def guard(
    engine_stream: AsyncIterable[str | Delta | EngineEnd],
    parser: Feedable,
    tools: Tools | None,
    *,
    cancel: Cancel | None = None,
    limits: StreamLimits | None = None,
    transcript: Transcript | None = None,
) -> AsyncIterator[Event | CallOutcome]: ...
@overload
def guard(
    engine_stream: Iterable[str | Delta | EngineEnd],
    parser: Feedable,
    tools: Tools | None,
    *,
    cancel: Cancel | None = None,
    limits: StreamLimits | None = None,
    transcript: Transcript | None = None,
) -> Iterator[Event | CallOutcome]: ...
def guard(
    engine_stream: Any,
    parser: Feedable,
    tools: Tools | None,
    *,
    cancel: Cancel | None = None,
    limits: StreamLimits | None = None,
    transcript: Transcript | None = None,
) -> Any:
    """Drives an engine's stream; events and call outcomes as they come, an async iterator for an async stream.

    `cancel` stops the engine, by default by the stream's own `close` or `aclose`. It is called once, and only for an
    output that the engine did not end itself: at an early refusal, or when the consumer closes this iterator or is
    cancelled. An error of the engine, or of `cancel`, is raised here once what it cut short is told.
    """
    core = Guard(parser, tools, limits=limits, transcript=transcript)
    if hasattr(engine_stream, "__aiter__"):
        stop = getattr(engine_stream, "aclose", None) or getattr(engine_stream, "close", None)
        return _drive_async(engine_stream, core, cancel or stop)
    return _drive(engine_stream, core, cancel or getattr(engine_stream, "close", None))


def _drive(
    stream: Iterable[str | Delta | EngineEnd], core: Guard, cancel: Cancel | None
) -> Iterator[Event | CallOutcome]:
    pieces = iter(stream)
    running = True  # whether the engine still runs, as far as anybody can tell
    ended = False  # whether the parser was told of the end
    try:
        while True:
            failure: Exception | None = None
            try:
                piece = next(pieces, None)
            except Exception as error:
                piece, failure = None, error
            if piece is None or isinstance(piece, EngineEnd):
                running = False
                ended = True
                yield from core.finish(None if piece is None else piece.reason)
                if failure is not None:
                    raise failure
                return
            said = core.feed(piece)
            if core.refused:
                running = False
                try:
                    if cancel is not None:
                        cancel()
                except Exception as error:
                    failure = error
                ended = True
                said += core.cancel(refusal_in(said))
            yield from said
            if failure is not None:
                raise failure
            if core.refused:
                return
    finally:
        if running and cancel is not None:
            cancel()
        if not ended:
            core.cancel("the consumer closed the stream")


async def _drive_async(
    stream: AsyncIterable[str | Delta | EngineEnd], core: Guard, cancel: Cancel | None
) -> AsyncIterator[Event | CallOutcome]:
    pieces = aiter(stream)
    running = True
    ended = False
    try:
        while True:
            failure: Exception | None = None
            try:
                piece = await anext(pieces, None)
            except Exception as error:
                piece, failure = None, error
            if piece is None or isinstance(piece, EngineEnd):
                running = False
                ended = True
                for event in core.finish(None if piece is None else piece.reason):
                    yield event
                if failure is not None:
                    raise failure
                return
            said = core.feed(piece)
            if core.refused:
                running = False
                try:
                    await _call(cancel)
                except Exception as error:
                    failure = error
                ended = True
                said += core.cancel(refusal_in(said))
            for event in said:
                yield event
            if failure is not None:
                raise failure
            if core.refused:
                return
    finally:
        if running:
            await _call(cancel)
        if not ended:
            core.cancel("the consumer closed the stream")


async def _call(cancel: Cancel | None) -> None:
    if cancel is not None:
        called = cancel()
        if inspect.isawaitable(called):
            await called


__all__ = ["Cancel", "EngineEnd", "Feedable", "Guard", "guard"]
