"""`Guard` and `guard`: an engine's deltas through a parser and its calls' decoders, stopped at the first refusal.

A call that can no longer be complete and valid is not worth its tokens: on an early refusal the engine is cancelled
once and never polled again. `Guard` is the sans-IO part, `guard` drives a stream with it, sync or async. An engine's
stream yields deltas and, as its own end, one `EngineEnd` with its finish reason; a stream that stops without one was
cut, and so were all calls in it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, final, overload

from ..errors import LifecycleError
from ..events import CallStart, Event, Finish
from ..parser import Parser, finish_reason
from ..sealing import reading, seal, unseal
from .calls import CallOutcome, ToolDecoders
from .outcomes import Refused

if TYPE_CHECKING:
    from ..formats import Format
    from ..tokens.detokenizer import Delta
    from ..tools import Tools
    from .bounds import StreamLimits
    from .compiled import Framing
    from .transcript import Output, Transcript

GUARD = 1
"""The version of a guard's snapshot."""


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
    """The sans-IO part: deltas in, events and call outcomes out, `refused` once a call was refused early.

    After a refusal call `cancel`, after the engine's end `finish`, each once. The outcomes of the calls stand before
    the parser's `Finish`. With a transcript, everything is recorded in order. The state can leave the process between
    any two deltas (`snapshot`, `restore`) or be forked (`copy`), where the parser's can.
    """

    def __init__(
        self,
        parser: Feedable,
        tools: Tools | None,
        *,
        limits: StreamLimits | None = None,
        framing: Framing = "json",
        transcript: Transcript | None = None,
    ) -> None:
        if not callable(getattr(parser, "feed", None)) or not callable(getattr(parser, "finish", None)):
            raise TypeError(f"Guard: expected a parser, got {parser!r}; make one with Parser(format, tools)")
        self.decoders = ToolDecoders(tools, limits=limits, framing=framing)
        known = getattr(parser, "tools", None)
        if known is not None and tools is not None and known != tools:
            raise ValueError(f"Guard: the parser was made with other tools ({known!r}) than these ({tools!r})")
        self.refused = False
        self._parser = parser
        self._transcript = transcript

    def feed(self, piece: str | Delta) -> list[Event | CallOutcome]:
        """Reads on. A refusal follows the event that brought it; the piece is read to its end, so nothing is lost."""
        out = self._follow(self._parser.feed(piece))
        self.refused = self.refused or any(isinstance(event, CallOutcome) for event in out)
        if self._transcript is not None:
            self._transcript.delta(piece, out)
        return out

    def finish(self, reason: str | None, *, error: Exception | None = None) -> list[Event | CallOutcome]:
        """The stream is over: with the engine's finish reason, or None when it just stopped, perhaps by an `error`.

        An engine that ends in an error, or because it was cancelled, has not ended the calls either.
        """
        whole_output = finish_reason(reason) not in ("error", "cancelled")
        cut = "stopped without a finish reason" if reason is None else f"ended with the reason {reason!r}"
        events = self._follow(self._parser.finish(reason))
        outcomes = self.decoders.finish() if whole_output else self.decoders.truncate(f"the engine's stream {cut}")
        engine = "failed" if error is not None else "stopped" if reason is None else "ended"
        return self._end("finish", reason, events, outcomes, engine, error)

    def cancel(self, why: str, *, error: Exception | None = None) -> list[Event | CallOutcome]:
        """The output is given up: what is open is settled as cancelled. `error`: what cancelling the engine raised."""
        events = self._follow(self._parser.finish("cancelled"))
        return self._end("cancel", why, events, self.decoders.cancel(why), "cancelled", error)

    def _follow(self, events: list[Event]) -> list[Event | CallOutcome]:
        out: list[Event | CallOutcome] = []
        for event in events:
            if isinstance(event, CallStart):
                event.validated = True  # its outcome follows: an adapter waits for it
            out.append(event)
            outcome = self.decoders.feed(event)
            if outcome is not None:
                out.append(outcome)
        return out

    def _end(
        self,
        how: str,
        why: str | None,
        events: list[Event | CallOutcome],
        outcomes: list[CallOutcome],
        engine: str,
        error: Exception | None,
    ) -> list[Event | CallOutcome]:
        last = [events.pop()] if events and isinstance(events[-1], Finish) else []
        out = [*events, *outcomes, *last]
        if self._transcript is not None:
            self._transcript.end(how, why, out, engine, error)
        return out

    def snapshot(self) -> bytes:
        """The whole state between two deltas, the parser's in it. Format, tools and `call_ids` are given again.

        `LifecycleError` for a parser that has no snapshot of its own.
        """
        if not isinstance(self._parser, Parser):
            raise LifecycleError(f"Guard.snapshot: a {type(self._parser).__name__} cannot be stored; a Parser can")
        state = {
            "parser": self._parser.snapshot().decode(),
            "decoders": self.decoders.state(),
            "refused": self.refused,
            "transcript": None if self._transcript is None else self._transcript.state(),
        }
        return seal("Guard", GUARD, state)

    @classmethod
    def restore(
        cls,
        data: bytes,
        format: Format,
        tools: Tools | None = None,
        *,
        call_ids: Callable[[int, str], str] | None = None,
        write: Callable[[str], object] | None = None,
        output: Callable[[bytes], Output] | None = None,
    ) -> Guard:
        """The guard that gave this snapshot; its transcript, if it had one, goes on in `write`.

        `output` restores the adapter's stream that the transcript follows, if it does.

        `LifecycleError`: another table, other tools' schemas or another version, or no snapshot at all.
        """
        state = unseal("Guard", GUARD, data)
        with reading("Guard"):
            parser = Parser.restore(state["parser"].encode(), format, tools, call_ids=call_ids)
            self = cls(parser, tools)
            self.decoders = ToolDecoders.from_state(state["decoders"], tools)
            self.refused = bool(state["refused"])
            if state["transcript"] is not None:
                if write is None:
                    raise LifecycleError("Guard.restore: this guard writes a transcript; give write= to go on with it")
                from .transcript import Transcript

                self._transcript = Transcript.from_state(state["transcript"], write, output)
        return self

    def copy(self) -> Guard:
        """A guard in the same state that goes its own way, and writes no transcript."""
        if not isinstance(self._parser, Parser):
            raise LifecycleError(f"Guard.copy: a {type(self._parser).__name__} cannot be copied; a Parser can")
        other = Guard(self._parser.copy(), self._parser.tools)
        other.decoders = self.decoders.copy()
        other.refused = self.refused
        return other


def refusal_in(out: list[Event | CallOutcome]) -> str:
    """What to tell an engine that is cancelled: the first refusal."""
    for event in out:
        if isinstance(event, CallOutcome) and isinstance(event.outcome, Refused):
            return f"call {event.index} ({event.name}) was refused: {event.outcome.code}"
    return "refused"


@overload
def guard(
    engine_stream: AsyncIterable[str | Delta | EngineEnd],
    parser: Feedable,
    tools: Tools | None = None,
    *,
    cancel: Cancel | None = None,
    limits: StreamLimits | None = None,
    framing: Framing = "json",
    transcript: Transcript | None = None,
) -> AsyncIterator[Event | CallOutcome]: ...
@overload
def guard(
    engine_stream: Iterable[str | Delta | EngineEnd],
    parser: Feedable,
    tools: Tools | None = None,
    *,
    cancel: Cancel | None = None,
    limits: StreamLimits | None = None,
    framing: Framing = "json",
    transcript: Transcript | None = None,
) -> Iterator[Event | CallOutcome]: ...
def guard(
    engine_stream: Any,
    parser: Feedable,
    tools: Tools | None = None,
    *,
    cancel: Cancel | None = None,
    limits: StreamLimits | None = None,
    framing: Framing = "json",
    transcript: Transcript | None = None,
) -> Any:
    """Drives an engine's stream; events and call outcomes as they come, an async iterator for an async stream.

    `parser` may be a `Guard` (one that was restored, say), which then brings all the rest with it. `cancel` stops the
    engine, by default by the stream's own `close` or `aclose`. It is called once, and only for an output that the
    engine did not end itself: at an early refusal, or when the consumer closes this iterator, before its first event
    too, or is cancelled. However the output ends, a generator is closed, so that its `finally` runs. An error of the
    engine, or of `cancel`, is raised here once what it cut short is told.
    """
    if isinstance(parser, Guard):
        if (tools, limits, transcript, framing) != (None, None, None, "json"):
            raise TypeError("guard: a Guard brings its own tools, limits, framing and transcript")
        core = parser
    else:
        core = Guard(parser, tools, limits=limits, framing=framing, transcript=transcript)
    if hasattr(engine_stream, "__aiter__"):
        stop = getattr(engine_stream, "aclose", None) or getattr(engine_stream, "close", None)
        return _AsyncEvents(engine_stream, core, cancel or stop)
    if not hasattr(engine_stream, "__iter__"):
        raise TypeError(f"guard: expected an engine's stream, an iterable of deltas, got {engine_stream!r}")
    return _Events(engine_stream, core, cancel or getattr(engine_stream, "close", None))


ABANDONED = "the consumer closed the stream"


class _Events(Iterator[Event | CallOutcome]):
    """What `guard` gives for a sync stream: a generator that can also be closed before it began."""

    def __init__(self, stream: Iterable[str | Delta | EngineEnd], core: Guard, cancel: Cancel | None) -> None:
        self._core = core
        self._cancel = cancel
        self._events = _drive(stream, core, cancel)
        self._begun = False

    def __next__(self) -> Event | CallOutcome:
        self._begun = True
        return next(self._events)

    def close(self) -> None:
        """Gives the output up: the engine is cancelled, unless it ended before."""
        if not self._begun:
            self._begun = True
            try:
                if self._cancel is not None:
                    self._cancel()
            finally:
                self._core.cancel(ABANDONED)
        self._events.close()

    def __del__(self) -> None:
        self.close()


class _AsyncEvents(AsyncIterator[Event | CallOutcome]):
    """The same for an async stream."""

    def __init__(self, stream: AsyncIterable[str | Delta | EngineEnd], core: Guard, cancel: Cancel | None) -> None:
        self._core = core
        self._cancel = cancel
        self._events = _drive_async(stream, core, cancel)
        self._begun = False

    def __anext__(self) -> Any:
        self._begun = True
        return anext(self._events)

    async def aclose(self) -> None:
        """Gives the output up: the engine is cancelled, unless it ended before."""
        if not self._begun:
            self._begun = True
            try:
                await _call(self._cancel)
            finally:
                self._core.cancel(ABANDONED)
        await self._events.aclose()


def _drive(
    stream: Iterable[str | Delta | EngineEnd], core: Guard, cancel: Cancel | None
) -> Generator[Event | CallOutcome, None, None]:
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
                yield from core.finish(None if piece is None else piece.reason, error=failure)
                if failure is not None:
                    raise failure
                return
            out = core.feed(piece)
            if core.refused:
                running = False
                try:
                    if cancel is not None:
                        cancel()
                except Exception as error:
                    failure = error
                ended = True
                out += core.cancel(refusal_in(out), error=failure)
            yield from out
            if failure is not None:
                raise failure
            if core.refused:
                return
    finally:
        unstopped: Exception | None = None
        try:
            if running and cancel is not None:
                cancel()
        except Exception as error:
            unstopped = error
            raise
        finally:
            if not ended:
                core.cancel(ABANDONED, error=unstopped)
            if isinstance(pieces, Generator):
                pieces.close()


async def _drive_async(
    stream: AsyncIterable[str | Delta | EngineEnd], core: Guard, cancel: Cancel | None
) -> AsyncGenerator[Event | CallOutcome, None]:
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
                for event in core.finish(None if piece is None else piece.reason, error=failure):
                    yield event
                if failure is not None:
                    raise failure
                return
            out = core.feed(piece)
            if core.refused:
                running = False
                try:
                    await _call(cancel)
                except Exception as error:
                    failure = error
                ended = True
                out += core.cancel(refusal_in(out), error=failure)
            for event in out:
                yield event
            if failure is not None:
                raise failure
            if core.refused:
                return
    finally:
        unstopped: Exception | None = None
        try:
            if running:
                await _call(cancel)
        except Exception as error:
            unstopped = error
            raise
        finally:
            if not ended:
                core.cancel(ABANDONED, error=unstopped)
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()


async def _call(cancel: Cancel | None) -> None:
    if cancel is not None:
        called = cancel()
        if inspect.isawaitable(called):
            await called


__all__ = ["Cancel", "EngineEnd", "Feedable", "Guard", "guard"]
