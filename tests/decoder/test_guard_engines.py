"""How a guard leaves an engine: settled behind its own end, cancelled once in every other case, never polled again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import (
    Accepted,
    CallArguments,
    CallCode,
    CallEnd,
    CallOutcome,
    CallStart,
    EngineEnd,
    Guard,
    LifecycleError,
    Limits,
    Malformed,
    Parser,
    Refused,
    StreamCode,
    ToolDecoders,
    Tools,
    Why,
    formats,
    guard,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

TOOLS = Tools.of(
    [
        {
            "type": "function",
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"c": {"type": "integer"}, "d": {"type": "string", "pattern": "^[a-z]*$"}},
            },
        }
    ]
)


class Log:
    """What happened to an engine, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def engine(self, text: str, end: str | None = "stop") -> Iterator[Any]:
        try:
            for char in text:
                self.done.append(char)
                yield char
            if end is not None:
                yield EngineEnd(end)
        finally:
            self.done.append("finally")

    async def async_engine(self, text: str, end: str | None = "stop") -> AsyncIterator[Any]:
        try:
            for char in text:
                self.done.append(char)
                yield char
            if end is not None:
                yield EngineEnd(end)
        finally:
            await asyncio.sleep(0)
            self.done.append("finally")

    def cancel(self) -> None:
        self.done.append("cancel")

    async def async_cancel(self) -> None:
        await asyncio.sleep(0)
        self.done.append("cancel")


def _outcomes(events: list[Any]) -> list[Any]:
    return [event.outcome for event in events if isinstance(event, CallOutcome)]


BROKEN = [
    # format, output up to and with the character that breaks the call, what follows, code, at_byte
    ("forced:f", '{"d": "\\x', '"}', StreamCode.STRING, 8),
    ("forced:f", '{"c": 1,}', " and on", StreamCode.GRAMMAR, 8),
    ("forced:f", "S", 'ure! {"c": 1}', StreamCode.START, 0),
    ("required", '[{"name": "f", "parameters": {"c": 1,}', "}]", StreamCode.GRAMMAR, 8),
    ("required", '[{"name": "f", "parameters": {"d": "\\x', '"}}]', StreamCode.STRING, 8),
    ("llama3_json", '{"name": "f", "parameters": {"c": 1,}', "}", StreamCode.GRAMMAR, 8),
    ("xlam", '[{"name": "f", "arguments": {"c": 1]', "}]", StreamCode.BRACKET, 7),
    ("pythonic", "[f(c=1,,", "d=2)]", CallCode.SHAPE, 7),
    ("hermes", '<tool_call>\n{"name": "f", "arguments": {"c": 1,}', "}\n</tool_call>", StreamCode.GRAMMAR, 8),
    ("hermes", '<tool_call>\n{"name": "f", "arguments": {"c": 1}\n</tool_call>', " more", None, None),
    ("hermes", '<tool_call>\n{"name": "f", "arguments": {"c": 1\n</tool_call>', " more", StreamCode.TRUNCATED, 8),
    ("hermes", '<tool_call>\n{"name": "g",', ' "arguments": {"c": 1}}\n</tool_call>', CallCode.UNDECLARED, 0),
    ("hermes", '<tool_call>\n{"name": "f", "arguments": {"d": "A"}', "}\n</tool_call>", StreamCode.SEMANTIC, 10),
    ("gemma4", "<|tool_call>call:f{c:1,,", "d:2}<tool_call|>", CallCode.SHAPE, 7),
]


@pytest.mark.parametrize(("name", "broken", "rest", "code", "at_byte"), BROKEN)
def test_a_broken_call_is_refused_at_its_character_in_every_format(
    name: str, broken: str, rest: str, code: Any, at_byte: int | None
) -> None:
    table = (
        formats.forced("f") if name == "forced:f" else formats.required() if name == "required" else formats.load(name)
    )
    log = Log()
    events = list(guard(log.engine(broken + rest), Parser(table, TOOLS), TOOLS, cancel=log.cancel))
    (outcome,) = _outcomes(events)
    if code is None:
        assert isinstance(outcome, Accepted)
        return
    assert (outcome.code, outcome.at_byte) == (code, at_byte)
    read = log.done.index("cancel")
    assert log.done[read:] == ["cancel", "finally"]
    assert read in (len(broken) - (name == "hermes" and code is CallCode.UNDECLARED), len(broken))


LIMITED = {
    "hermes": '<tool_call>\n{"name": "f", "arguments": %s}\n</tool_call>',
    "forced": "%s",
    "required": '[{"name": "f", "parameters": %s}]',
    "llama3_json": '{"name": "f", "parameters": %s}',
    "xlam": '[{"name": "f", "arguments": %s}]',
    "mistral": "[TOOL_CALLS]f[ARGS]%s",
}


@pytest.mark.parametrize("name", [*LIMITED, "gemma4", "pythonic", "qwen3_coder", "glm47"])
def test_a_limit_of_the_parser_stops_the_engine_in_every_syntax(name: str) -> None:
    tagged = "<tool_call>f<arg_key>{}</arg_key><arg_value>{}</arg_value></tool_call>"
    coder = "<tool_call>\n<function=f>\n<parameter={}>\n{}\n</parameter>\n</function>\n</tool_call>"
    long, deep = {
        "gemma4": ('<|tool_call>call:f{d:<|"|>abcdefghij<|"|>}<tool_call|>', "<|tool_call>call:f{e:[[1]]}<tool_call|>"),
        "pythonic": ('[f(d="abcdefghij")]', "[f(e=[[1]])]"),
        "qwen3_coder": (coder.format("d", "abcdefghij"), coder.format("e", "[[1]]")),
        "glm47": (tagged.format("d", "abcdefghij"), tagged.format("e", "[[1]]")),
    }.get(name) or tuple(LIMITED[name] % text for text in ('{"d": "abcdefghij"}', '{"e": [[1]]}'))
    tools = Tools.of([{"type": "function", "name": "f", "parameters": {"properties": {"d": {"type": "string"}}}}])
    for text, limits in ((long, Limits(max_arguments=8)), (deep, Limits(max_depth=2))):
        log = Log()
        parser = Parser(_table(name), tools, limits=limits)
        (outcome,) = _outcomes(list(guard(log.engine(text + " more"), parser, tools, cancel=log.cancel)))
        assert outcome.code is CallCode.LIMIT
        assert log.done[-2:] == ["cancel", "finally"]
        assert len(log.done) - 2 <= len(text)


def _table(name: str) -> Any:
    return {"forced": lambda: formats.forced("f"), "required": formats.required}.get(name, lambda: formats.load(name))()


def test_text_past_a_limit_of_the_parser_stops_the_engine() -> None:
    log = Log()
    parser = Parser(formats.load("hermes"), TOOLS, limits=Limits(max_arguments=8))
    text = '<tool_call>\n{"name": "f", "arguments": {"d": "abcdefgh"}}\n</tool_call>'
    (outcome,) = _outcomes(list(guard(log.engine(text), parser, TOOLS, cancel=log.cancel)))
    assert (outcome.code, outcome.at_byte) == (CallCode.LIMIT, 8)
    assert log.done[-2:] == ["cancel", "finally"]
    assert len(log.done) - 2 == text.index("abc") + 2


def test_a_body_that_its_syntax_cannot_read_stops_the_engine() -> None:
    log = Log()
    text = "<tool_call>f<arg_key>c<arg_value>1</arg_value></tool_call> more"
    (outcome,) = _outcomes(
        list(guard(log.engine(text), Parser(formats.load("glm47"), TOOLS), TOOLS, cancel=log.cancel))
    )
    assert outcome.code is CallCode.SHAPE
    assert log.done.count("cancel") == 1
    assert len(log.done) - 2 == text.index("<arg_value>") + 2  # `<a` begins no closer


def test_a_call_to_an_undeclared_function_is_never_accepted() -> None:
    text = '<tool_call>\n{"name": "g", "arguments": {"c": 1}}\n</tool_call>'
    events = list(guard([text, EngineEnd("stop")], Parser(formats.load("hermes"), TOOLS), TOOLS))
    (outcome,) = _outcomes(events)
    assert outcome == Refused(CallCode.UNDECLARED, "no tool is named 'g'; declared: f", 0)


def test_two_refusals_that_one_event_brings_are_both_told() -> None:
    decoders = ToolDecoders(TOOLS)
    assert decoders.feed(CallStart(0, "a", "f", True, "")) is None
    assert decoders.feed(CallArguments(0, '{"c": 1', "")) is None
    assert decoders.feed(CallEnd(0, False, "")) is None, "what comes next tells why"
    first = decoders.feed(CallStart(1, "b", "g", False, ""))
    assert first is not None
    assert (first.index, first.outcome.code) == (0, StreamCode.TRUNCATED)  # type: ignore[union-attr]
    (second,) = decoders.finish()
    assert (second.index, second.outcome.code) == (1, CallCode.UNDECLARED)  # type: ignore[union-attr]


@pytest.mark.parametrize("arguments", ["12", "[1]"])
@pytest.mark.parametrize("complete", [True, False])
def test_text_behind_what_may_be_a_complete_value_waits_for_the_calls_end(arguments: str, complete: bool) -> None:
    if arguments == "[1]" and not complete:
        return  # a complete list is complete, whatever follows
    decoders = ToolDecoders(None)
    events: list[Any] = [CallStart(0, "a", "f", None, ""), CallArguments(0, arguments, ""), Malformed("x", Why.SHAPE)]
    assert [decoders.feed(event) for event in events] == [None, None, None]
    told = decoders.feed(CallEnd(0, complete, "</call>"))
    if complete:
        assert told is None
        assert [outcome.outcome for outcome in decoders.finish()] == [Accepted(12 if arguments == "12" else [1])]
    else:
        assert told is not None
        assert told.outcome == Refused(CallCode.SHAPE, "unexpected 'x': the call's syntax cannot be read", 2)


SOUND = '<tool_call>\n{"name": "f", "arguments": {"c": 1}}\n</tool_call>'


def test_behind_its_own_end_an_engine_runs_its_finally_and_is_not_cancelled() -> None:
    log = Log()
    list(guard(log.engine(SOUND), Parser(formats.load("hermes"), TOOLS), TOOLS, cancel=log.cancel))
    assert log.done[-1] == "finally"
    assert "cancel" not in log.done


def test_behind_its_own_end_an_async_engine_runs_its_finally_and_is_not_cancelled() -> None:
    log = Log()

    async def main() -> None:
        parser = Parser(formats.load("hermes"), TOOLS)
        async for _ in guard(log.async_engine(SOUND), parser, TOOLS, cancel=log.async_cancel):
            pass
        assert log.done[-1] == "finally"

    asyncio.run(main())
    assert "cancel" not in log.done


def test_a_guard_closed_before_its_first_event_cancels_the_engine_once() -> None:
    log = Log()
    lines: list[Any] = []
    core = Guard(Parser(formats.load("hermes"), TOOLS), TOOLS)
    events: Any = guard(log.engine(SOUND), core, cancel=log.cancel)
    events.close()
    events.close()
    assert log.done == ["cancel"]
    assert list(events) == lines == []
    with pytest.raises(LifecycleError):  # the parser was told
        core.finish("stop")


def test_an_async_guard_closed_before_its_first_event_cancels_the_engine_once() -> None:
    log = Log()

    async def main() -> None:
        parser = Parser(formats.load("hermes"), TOOLS)
        events: Any = guard(log.async_engine(SOUND), parser, TOOLS, cancel=log.async_cancel)
        await events.aclose()
        await events.aclose()
        assert [event async for event in events] == []

    asyncio.run(main())
    assert log.done == ["cancel"]


def test_the_streams_own_close_is_the_default_cancel() -> None:
    for cancelled in (True, False):
        log = Log()
        events: Any = guard(
            log.engine(SOUND if not cancelled else SOUND + "x" * 9), Parser(formats.load("hermes"), TOOLS)
        )
        if cancelled:
            next(events)
            events.close()
        else:
            list(events)
        assert log.done.count("finally") == 1


def test_tools_that_contradict_the_parsers_are_named() -> None:
    other = Tools.of([{"type": "function", "name": "h"}])
    with pytest.raises(
        ValueError, match=r"the parser was made with other tools \(Tools\(f\)\) than these \(Tools\(h\)\)"
    ):
        Guard(Parser(formats.load("hermes"), TOOLS), other)
    Guard(Parser(formats.load("hermes"), TOOLS), Tools.of([{"type": "function", **_declared()}]))
    with pytest.raises(TypeError, match=r"expected Tools or None, got list"):
        Guard(Parser(formats.load("hermes"), TOOLS), [])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a parser, got 'hermes'"):
        guard([], "hermes", TOOLS)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="expected an engine's stream"):
        guard(5, Parser(formats.load("hermes"), TOOLS), TOOLS)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="brings its own"):
        guard([], Guard(Parser(formats.load("hermes"), TOOLS), TOOLS), TOOLS)


def _declared() -> dict[str, Any]:
    (tool,) = TOOLS
    return {"name": tool.name, "parameters": dict(tool.parameters)}
