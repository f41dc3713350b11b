"""Decoders on a parser's calls, the guard around an engine, and what each way to end leaves."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import Parser, Tools, formats
from gateway_args.decoder import (
    Accepted,
    CallOutcome,
    EngineEnd,
    Guard,
    Refused,
    StreamCode,
    StreamLimits,
    ToolDecoders,
    guard,
)
from gateway_args.events import CallArguments, CallEnd, CallStart, Content, Event, Finish, source_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

WEATHER = [
    {
        "type": "function",
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
            "required": ["city"],
            "additionalProperties": False,
        },
    }
]
TOOLS = Tools.of(WEATHER)
HERMES = formats.load("hermes")


def _call(arguments: str, name: str = "weather") -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


SOUND = "Let me look. " + _call('{"city": "Rome", "days": 3}')
BAD = "Let me look. " + _call('{"city": "Rome", "dayz": 3}') + "\n" + _call('{"city": "Oslo"}') + " and on and on" * 20


class Engine:
    """An engine that counts how often it is polled and stopped."""

    def __init__(self, text: str, *, reason: str | None = "stop", size: int = 4, fail_at: int | None = None) -> None:
        pieces: list[Any] = [text[at : at + size] for at in range(0, len(text), size)]
        self.pieces = [*pieces, EngineEnd(reason)] if reason is not None else pieces
        self.fail_at = fail_at
        self.polls = 0
        self.stops = 0

    def _next(self) -> Any:
        if self.fail_at is not None and self.polls == self.fail_at:
            self.polls += 1
            raise ConnectionError("the engine is gone")
        if self.polls >= len(self.pieces):
            self.polls += 1
            return None
        self.polls += 1
        return self.pieces[self.polls - 1]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        piece = self._next()
        if piece is None:
            raise StopIteration
        return piece

    def close(self) -> None:
        self.stops += 1


class AsyncEngine(Engine):
    """The same, awaited."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return self  # type: ignore[return-value]

    async def __anext__(self) -> Any:
        await asyncio.sleep(0)
        piece = self._next()
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.stops += 1


def _run(engine: Engine, *, seen: list[Any] | None = None, **options: Any) -> list[Any]:
    """Everything that the guard yields, whichever the engine's kind; `seen` has it even when an error ends it."""
    parser = Parser(HERMES, TOOLS)
    events: list[Any] = [] if seen is None else seen
    if not isinstance(engine, AsyncEngine):
        for event in guard(engine, parser, TOOLS, **options):
            events.append(event)
        return events

    async def collect() -> None:
        async for event in guard(engine, parser, TOOLS, **options):
            events.append(event)

    asyncio.run(collect())
    return events


def _outcomes(events: list[Any]) -> list[Any]:
    return [event.outcome for event in events if isinstance(event, CallOutcome)]


KINDS = [Engine, AsyncEngine]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sound_output_is_accepted_after_the_engines_own_end(kind: type[Engine]) -> None:
    engine = kind(SOUND)
    events = _run(engine)
    assert _outcomes(events) == [Accepted({"city": "Rome", "days": 3})]
    assert isinstance(events[-1], Finish)
    assert isinstance(events[-2], CallOutcome)
    assert "".join(source_of(event) for event in events if not isinstance(event, CallOutcome)) == SOUND
    assert engine.polls == len(engine.pieces)
    assert engine.stops == 0, "an engine that ended itself is not cancelled"


@pytest.mark.parametrize("kind", KINDS)
def test_an_early_refusal_stops_the_engine_once_and_polls_it_no_more(kind: type[Engine]) -> None:
    engine = kind(BAD)
    events = _run(engine)
    (refused,) = _outcomes(events)
    assert isinstance(refused, Refused)
    assert refused.code is StreamCode.GRAMMAR
    assert refused.at_byte == len('{"city": "Rome", "day')
    needed = BAD.index("dayz") + 4
    assert engine.polls == -(-needed // 4)
    assert engine.stops == 1
    assert events[-1] == Finish("cancelled", 1, None)
    said = "".join(source_of(event) for event in events if not isinstance(event, CallOutcome))
    assert said == BAD[: engine.polls * 4], "what was read is accounted for, what was not is not"


@pytest.mark.parametrize("kind", KINDS)
def test_the_cancel_that_is_given_is_called_instead_of_the_streams_own(kind: type[Engine]) -> None:
    engine = kind(BAD)
    calls = []
    _run(engine, cancel=lambda: calls.append(engine.polls))
    assert calls == [engine.polls]
    assert engine.stops == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_that_just_stops_leaves_its_calls_truncated(kind: type[Engine]) -> None:
    engine = kind(SOUND, reason=None)
    events = _run(engine)
    (refused,) = _outcomes(events)
    assert refused.code is StreamCode.TRUNCATED
    assert events[-1].reason == "error"
    assert engine.stops == 0


@pytest.mark.parametrize(("reason", "accepted"), [("stop", True), ("length", True), ("error", False), ("abort", False)])
def test_only_an_end_that_the_engine_meant_settles_calls(reason: str, accepted: bool) -> None:
    (outcome,) = _outcomes(_run(Engine(SOUND, reason=reason)))
    assert isinstance(outcome, Accepted) is accepted


def test_a_call_that_the_output_cuts_is_truncated() -> None:
    (outcome,) = _outcomes(_run(Engine(SOUND[:-40], reason="length")))
    assert outcome.code is StreamCode.TRUNCATED


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_leaves_json_stops_the_engine_where_it_does(kind: type[Engine]) -> None:
    text = "Let me look. " + _call('{"city": "Rome" oops}') + " and on and on" * 20
    engine = kind(text, size=1)
    (refused,) = _outcomes(_run(engine))
    assert (refused.code, refused.at_byte) == (StreamCode.GRAMMAR, len('{"city": "Rome" '))
    assert engine.polls == text.index("oops") + 1
    assert engine.stops == 1


def test_text_behind_a_whole_value_refuses_no_call() -> None:
    text = '<tool_call>{"name": "weather", "arguments": "{\\"city\\": \\"Rome\\"} {"}</tool_call>'
    assert _outcomes(_run(Engine(text, size=1))) == [Accepted({"city": "Rome"})]


def test_a_number_that_the_output_cuts_is_no_accepted_call() -> None:
    pieces = ['<tool_call>\n{"name": "unknown", "arguments": 12', EngineEnd("length")]
    events = list(guard(pieces, Parser(HERMES, None), None))
    (outcome,) = _outcomes(events)
    assert [event.complete for event in events if isinstance(event, CallEnd)] == [False]
    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.at_byte) == (StreamCode.TRUNCATED, 2)


@pytest.mark.parametrize(
    ("reason", "told"), [(None, "stopped without a finish reason"), ("abort", "ended with.*'abort'")]
)
def test_a_truncated_call_says_how_the_engines_stream_ended(reason: str | None, told: str) -> None:
    (outcome,) = _outcomes(_run(Engine(SOUND, reason=reason)))
    assert re.search(told, outcome.message)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cancel_that_fails_is_raised_after_the_refusal_is_told(kind: type[Engine]) -> None:
    engine = kind(BAD)
    seen: list[Any] = []

    def cancel() -> None:
        engine.stops += 1
        raise ConnectionError("the engine does not answer")

    with pytest.raises(ConnectionError, match="does not answer"):
        _run(engine, seen=seen, cancel=cancel)
    (refused,) = _outcomes(seen)
    assert refused.code is StreamCode.GRAMMAR
    assert seen[-1] == Finish("cancelled", 1, None)
    assert engine.stops == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_the_engine_is_raised_after_what_it_cut_is_told(kind: type[Engine]) -> None:
    engine = kind(SOUND, fail_at=12)
    seen: list[Any] = []
    events = guard(engine, Parser(HERMES, TOOLS), TOOLS)

    async def collect() -> None:
        if isinstance(engine, AsyncEngine):
            async for event in events:  # type: ignore[attr-defined]
                seen.append(event)
        else:
            seen.extend(event for event in iter(lambda: next(events, None), None))

    with pytest.raises(ConnectionError, match="gone"):
        asyncio.run(collect())
    (outcome,) = _outcomes(seen)
    assert outcome.code is StreamCode.TRUNCATED
    assert isinstance(seen[-1], Finish)
    assert engine.polls == 13
    assert engine.stops == 0, "an engine that failed is not cancelled"


def test_a_consumer_that_closes_early_stops_the_engine_once() -> None:
    engine = Engine(SOUND)
    events = guard(engine, Parser(HERMES, TOOLS), TOOLS)
    for event in events:
        if isinstance(event, CallStart):
            break
    polls = engine.polls
    events.close()  # type: ignore[attr-defined]
    assert (engine.polls, engine.stops) == (polls, 1)


def test_a_consumer_that_closes_early_stops_an_async_engine_once() -> None:
    engine = AsyncEngine(SOUND)

    async def close_at_the_call() -> None:
        events = guard(engine, Parser(HERMES, TOOLS), TOOLS)  # type: ignore[call-overload]
        async for event in events:
            if isinstance(event, CallStart):
                break
        await events.aclose()

    asyncio.run(close_at_the_call())
    assert engine.stops == 1


def test_a_cancelled_task_stops_the_engine_once() -> None:
    class Waiting(AsyncEngine):
        async def __anext__(self) -> Any:
            if self.polls == 3:
                self.polls += 1
                await asyncio.Event().wait()
            return await super().__anext__()

    engine = Waiting(SOUND)

    async def consume() -> None:
        async for _ in guard(engine, Parser(HERMES, TOOLS), TOOLS):  # type: ignore[call-overload]
            pass

    async def main() -> None:
        task = asyncio.create_task(consume())
        while engine.polls < 4:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert (engine.polls, engine.stops) == (4, 1)


class ScriptedParser:
    """A parser that says what its script says, whatever it is fed."""

    def __init__(self, *script: list[Event]) -> None:
        self.script = list(script)
        self.reasons: list[str | None] = []

    def feed(self, piece: Any) -> list[Event]:
        return self.script.pop(0)

    def finish(self, reason: str | None) -> list[Event]:
        self.reasons.append(reason)
        return [Finish("tool_calls", 2, None)]


def test_calls_that_alternate_are_followed_each_by_its_own_decoder() -> None:
    parser = ScriptedParser(
        [Content("hi"), CallStart(0, "a", "weather", True, ""), CallStart(1, "b", "free", True, "")],
        [CallArguments(0, '{"city": ', ""), CallArguments(1, '[1, {"any', ""), CallArguments(0, '"Oslo"}', "")],
        [CallArguments(1, '": 1}]', ""), CallEnd(0, True, ""), CallEnd(1, True, "")],
    )
    tools = Tools.of([*WEATHER, {"type": "function", "name": "free"}])
    events = list(guard(["", "", "", EngineEnd("stop")], parser, tools))
    assert [(event.index, event.name, event.outcome) for event in events if isinstance(event, CallOutcome)] == [
        (0, "weather", Accepted({"city": "Oslo"})),
        (1, "free", Accepted([1, {"any": 1}])),
    ]
    assert parser.reasons == ["stop"]


def test_a_refusal_is_told_once_and_settles_the_other_calls_as_cancelled() -> None:
    parser = ScriptedParser(
        [CallStart(0, "a", "weather", True, ""), CallArguments(0, '{"city": "Rome"}', ""), CallEnd(0, True, "")],
        [CallStart(1, "b", "weather", True, ""), CallArguments(1, "[", ""), CallArguments(1, "1", "")],
    )
    core = Guard(parser, TOOLS)
    assert _outcomes(core.feed("x")) == []
    said = core.feed("y")
    assert [type(event).__name__ for event in said] == ["CallStart", "CallArguments", "CallOutcome", "CallArguments"]
    assert core.refused
    (other,) = _outcomes(core.cancel("enough"))
    assert other == Refused(StreamCode.CANCELLED, "enough", 16)
    assert parser.reasons == ["cancelled"]


def test_a_bound_of_the_arguments_is_a_refusal_like_any_other() -> None:
    decoders = ToolDecoders(TOOLS, limits=StreamLimits(max_bytes=12))
    decoders.feed(CallStart(0, "a", "weather", True, ""))
    told = decoders.feed(CallArguments(0, '{"city": "Rome"}', ""))
    assert told is not None
    assert isinstance(told.outcome, Refused)
    assert told.outcome.code is StreamCode.BYTES
    assert len(decoders) == 1
    assert decoders[0].outcome is told.outcome


def test_without_tools_arguments_are_checked_as_json_alone() -> None:
    decoders = ToolDecoders(None)
    decoders.feed(CallStart(0, "a", "weather", None, ""))
    decoders.feed(CallArguments(0, '{"anything": [', ""))
    told = decoders.feed(CallArguments(0, "}", ""))
    assert told is not None
    assert isinstance(told.outcome, Refused)
    assert told.outcome.code is StreamCode.BRACKET


def test_a_tool_whose_schema_is_none_is_an_error_before_the_engine_is_polled() -> None:
    tools = Tools.of([{"type": "function", "name": "odd", "parameters": {"type": "objekt"}}])
    engine = Engine(SOUND)
    with pytest.raises(ValueError, match="tool 'odd': schema"):
        guard(engine, ScriptedParser(), tools)
    assert engine.polls == 0


def test_every_cut_of_an_output_brings_the_same_outcomes() -> None:
    for text in (SOUND, SOUND + "\n" + _call('{"city": "Oslo"}') + "!"):
        expected = _outcomes(_run(Engine(text, size=len(text))))
        assert all(isinstance(outcome, Accepted) for outcome in expected)
        for size in (1, 2, 3, 7, 50):
            assert _outcomes(_run(Engine(text, size=size))) == expected
    for size in (1, 2, 3, 7, 50, len(BAD)):
        first = _outcomes(_run(Engine(BAD, size=size)))[0]
        assert first == _outcomes(_run(Engine(BAD, size=1)))[0]
