"""A guard in front of the adapters: a refused call ends as refused in all three APIs, and none is whole too early."""

from __future__ import annotations

import json
from typing import Any

import pytest
from client_models import chat_completion, message, response
from event_streams import call
from hypothesis import given
from hypothesis import strategies as st

from gateway_args import CallOutcome, EngineEnd, Parser, Tools, adapters, formats, guard
from gateway_args.adapters import Envelope, Options
from gateway_args.decoder import Accepted, Refused, StreamCode
from gateway_args.events import CallStart, Content, Dropped, Finish, Malformed, Reasoning, Why

ENVELOPE = Envelope("resp_3", "model", 0)
KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")
each_kind = pytest.mark.parametrize("kind", KINDS)
MODES = pytest.mark.parametrize("calls", ["stream", "complete"])
TOOLS = Tools.of(
    [
        {
            "name": "set_oven",
            "input_schema": {
                "type": "object",
                "properties": {"celsius": {"type": "number", "maximum": 30}, "note": {"type": "string"}},
                "required": ["celsius"],
                "additionalProperties": False,
            },
        },
        {"name": "open_door", "input_schema": {"type": "object", "properties": {}}},
    ]
)
TOO_HOT = '<tool_call>\n{"name": "set_oven", "arguments": {"celsius": 99.5}}\n</tool_call>'
WARM = '<tool_call>\n{"name": "set_oven", "arguments": {"celsius": 20}}\n</tool_call>'
DOOR = '<tool_call>\n{"name": "open_door", "arguments": {}}\n</tool_call>'


def guarded(text: str, size: int = 3, reason: str | None = "stop") -> list[list[Any]]:
    """What a guard says of this output, as an adapter is fed: an event at a time."""
    parser = Parser(formats.load("hermes"), TOOLS)
    deltas = [text[at : at + size] for at in range(0, len(text), size)]
    end = [EngineEnd(reason)] if reason is not None else []
    return [[event] for event in guard(iter([*deltas, *end]), parser, TOOLS)]


def chunks_of(kind: adapters.Kind, said: list[list[Any]], options: Options | None = None) -> list[dict[str, Any]]:
    stream = adapters.stream(kind, ENVELOPE, options)
    return [chunk for events in said for chunk in stream.chunks(events)]


def closed_calls(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> list[str]:
    """The arguments of the calls that a client may run: told as finished, or whole in what was sent."""
    found: list[str] = []
    match kind:
        case "chat":
            calls: dict[int, str] = {}
            for chunk in chunks:
                for piece in chunk["choices"][0]["delta"].get("tool_calls", []):
                    calls[piece["index"]] = calls.get(piece["index"], "") + piece["function"]["arguments"]
            found = list(calls.values())
        case "responses":
            found = [chunk["arguments"] for chunk in chunks if chunk["type"] == "response.function_call_arguments.done"]
        case "messages":
            sent: dict[int, str] = {}
            for chunk in chunks:
                if chunk["type"] == "content_block_delta" and "partial_json" in chunk["delta"]:
                    sent[chunk["index"]] = sent.get(chunk["index"], "") + chunk["delta"]["partial_json"]
            found = list(sent.values())
    return [arguments for arguments in found if whole(arguments)]


def whole(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except ValueError:
        return False
    return True


def lists(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> dict[str, Any]:
    match kind:
        case "chat":
            return chunks[-1]["choices"][0]
        case "responses":
            return chunks[-1]["response"]
        case "messages":
            return chunks[-2]


def texts(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> str:
    match kind:
        case "chat":
            return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        case "responses":
            return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "response.output_text.delta")
        case "messages":
            return "".join(chunk.get("delta", {}).get("text", "") for chunk in chunks)


@each_kind
@MODES
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_refused_call_is_listed_with_its_code_and_path_and_never_handed_out_whole(
    kind: adapters.Kind, calls: Any, size: int
) -> None:
    said = guarded(f"Hot. {TOO_HOT}", size)
    chunks = chunks_of(kind, said, Options(calls=calls))
    assert closed_calls(kind, chunks) == []
    (refused,) = lists(kind, chunks)["refused_calls"]
    (outcome,) = [event for events in said for event in events if isinstance(event, CallOutcome)]
    assert isinstance(outcome.outcome, Refused)
    assert refused["name"] == "set_oven"
    assert refused["code"] == outcome.outcome.code
    assert refused["path"] == outcome.outcome.path
    assert "incomplete_calls" not in lists(kind, chunks)
    ends = {"chat": "finish_reason", "responses": "status", "messages": "stop_reason"}
    last = lists(kind, chunks)
    end = last["delta"]["stop_reason"] if kind == "messages" else last[ends[kind]]
    assert end not in ("tool_calls", "tool_use")


@each_kind
@MODES
def test_an_accepted_call_is_handed_out_whole_once_its_outcome_is_there(kind: adapters.Kind, calls: Any) -> None:
    said = guarded(f"{WARM}\n{DOOR}")
    chunks = chunks_of(kind, said, Options(calls=calls))
    assert closed_calls(kind, chunks) == ['{"celsius": 20}', "{}"]
    at = next(n for n, events in enumerate(said) if isinstance(events[0], CallOutcome))
    assert closed_calls(kind, chunks_of(kind, said[:at], Options(calls=calls))) == []


@each_kind
def test_a_call_that_streams_reaches_the_client_up_to_its_last_bracket_before_it_is_judged(
    kind: adapters.Kind,
) -> None:
    said = guarded(WARM)
    at = next(n for n, events in enumerate(said) if isinstance(events[0], CallOutcome))
    sent = json.dumps(chunks_of(kind, said[:at]))
    assert sent.count(" 20") == 1


@each_kind
@MODES
def test_the_sound_call_before_a_refused_one_is_not_whole_when_the_engine_is_stopped(
    kind: adapters.Kind, calls: Any
) -> None:
    broken = WARM.replace('"celsius": 20', '"celsius": "hot"')
    said = guarded(f"{WARM}\n{broken}")
    chunks = chunks_of(kind, said, Options(calls=calls))
    outcomes = [event for events in said for event in events if isinstance(event, CallOutcome)]
    refused = [entry for entry in outcomes if isinstance(entry.outcome, Refused)]
    assert [entry["code"] for entry in lists(kind, chunks)["refused_calls"]] == [
        entry.outcome.code for entry in sorted(refused, key=lambda entry: entry.index) if entry.outcome
    ]
    assert len(closed_calls(kind, chunks)) == len(outcomes) - len(refused)


@each_kind
@pytest.mark.parametrize("text", [TOO_HOT, WARM, f"a {WARM} b {DOOR} c {TOO_HOT} d", f"{DOOR}{DOOR}{DOOR}"])
@MODES
def test_a_guarded_stream_moves_between_any_two_events(kind: adapters.Kind, text: str, calls: Any) -> None:
    options = Options(calls=calls)
    said = guarded(text, 5)
    stream = adapters.stream(kind, ENVELOPE, options)
    moved: list[dict[str, Any]] = []
    for events in said:
        stream = type(stream).restore(stream.snapshot(), ENVELOPE, options)
        moved += stream.chunks(events)
    assert moved == chunks_of(kind, said, options)


@each_kind
@MODES
def test_a_whole_answer_holds_no_refused_call(kind: adapters.Kind, calls: Any) -> None:
    events = [event for events in guarded(f"{DOOR} {TOO_HOT}") for event in events]
    answer = json.dumps(adapters.whole(kind, events, ENVELOPE, Options(calls=calls)))
    assert "refused_calls" in answer
    read = json.loads(answer)
    match kind:
        case "chat":
            names = [entry["function"]["name"] for entry in read["choices"][0]["message"].get("tool_calls", [])]
            entries = read["choices"][0]["refused_calls"]
        case "responses":
            names = [item["name"] for item in read["output"] if item["type"] == "function_call"]
            entries = read["refused_calls"]
        case "messages":
            names = [block["name"] for block in read["content"] if block["type"] == "tool_use"]
            entries = read["refused_calls"]
    accepted = [
        event.name for event in events if isinstance(event, CallOutcome) and isinstance(event.outcome, Accepted)
    ]
    assert names == accepted
    assert [entry["name"] for entry in entries] == [name for name in ("open_door", "set_oven") if name not in accepted]
    assert entries[-1]["arguments"].startswith('{"celsius": 9')


@each_kind
def test_an_outcome_that_nobody_announced_is_honoured_where_the_end_still_can_be(kind: adapters.Kind) -> None:
    refusal = CallOutcome(0, "add", Refused(StreamCode.SEMANTIC, "30 or less", 4, "maximum", "$.a"))
    events: list[Any] = [*call(0, "add", '{"a": 99}'), refusal, Finish("tool_calls", 1, None)]
    chunks = chunks_of(kind, [[event] for event in events])
    (entry,) = lists(kind, chunks)["refused_calls"]
    assert (entry["name"], entry["code"], entry["path"], entry["rule"]) == (
        "add", "STREAM-SEMANTIC", "$.a", "maximum",
    )  # fmt: skip
    assert "tool_use" not in json.dumps(chunks[-2:])
    assert '"finish_reason": "tool_calls"' not in json.dumps(chunks[-2:])
    assert "99" not in json.dumps(adapters.whole(kind, events, ENVELOPE)).split('"refused_calls"')[0]


@st.composite
def judged_outputs(draw: st.DrawFn) -> list[Any]:
    """Calls with text between, whose outcomes come at any time from their last fragment on, in any order."""
    events: list[Any] = []
    waiting: list[CallOutcome] = []
    for index in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            events.append(Content(draw(st.sampled_from(["a", " ", "b\n"]))))
        start, *rest = call(index, "add", '{"a": ', str(index), "}", complete=True)
        assert isinstance(start, CallStart)
        start.validated = True
        events += [start, *rest]
        sound = draw(st.booleans())
        outcome = Accepted(index) if sound else Refused(StreamCode.SEMANTIC, "no", 0, "maximum", "$.a")
        waiting.append(CallOutcome(index, "add", outcome))
        while waiting and draw(st.booleans()):
            events.append(waiting.pop(draw(st.integers(0, len(waiting) - 1))))
    while waiting:
        events.append(waiting.pop(draw(st.integers(0, len(waiting) - 1))))
    return [*events, Finish("tool_calls", 0, None)]


@each_kind
@MODES
@given(events=judged_outputs())
def test_whatever_the_order_of_outcomes_exactly_the_accepted_calls_are_whole_and_text_keeps_its_place(
    kind: adapters.Kind, calls: Any, events: list[Any]
) -> None:
    chunks = chunks_of(kind, [[event] for event in events], Options(calls=calls))
    accepted = {
        event.index for event in events if isinstance(event, CallOutcome) and isinstance(event.outcome, Accepted)
    }
    assert closed_calls(kind, chunks) == [f'{{"a": {index}}}' for index in sorted(accepted)]
    refused = {event.index for event in events if isinstance(event, CallOutcome)} - accepted
    assert len(lists(kind, chunks).get("refused_calls", [])) == len(refused)
    text = "".join(event.text for event in events if isinstance(event, Content))
    assert "".join(texts(kind, chunks).split()) == "".join(text.split())


@each_kind
@MODES
@given(events=judged_outputs(), data=st.data())
def test_what_waits_behind_a_call_moves_with_the_stream(
    kind: adapters.Kind, calls: Any, events: list[Any], data: st.DataObject
) -> None:
    options = Options(calls=calls, malformed="extension")
    at = data.draw(st.integers(0, len(events) - 1))
    kinds: list[Any] = [Reasoning("r", 1), Dropped(" ", Why.LAYOUT, None, "end"), Malformed("m", Why.STRAY, 2)]
    events = [*events[:-1], *kinds, events[-1]]
    stream = adapters.stream(kind, ENVELOPE, options)
    before = stream.chunks(events[:at])
    moved = type(stream).restore(stream.snapshot(), ENVELOPE, options)
    assert before + moved.chunks(events[at:]) == adapters.stream(kind, ENVELOPE, options).chunks(events)


@pytest.mark.parametrize("text", [TOO_HOT, f"{WARM} and {TOO_HOT}"])
def test_the_clients_accumulators_hold_no_refused_arguments_that_parse(text: str) -> None:
    said = guarded(text)
    completion = chat_completion(chunks_of("chat", said))
    calls = completion.choices[0].message.tool_calls or []
    assert not any("99.5}" in entry.function.arguments for entry in calls if entry.type == "function")
    final, _ = response(chunks_of("responses", said))
    items = [item for item in final.output if item.type == "function_call" and item.status == "completed"]
    assert not any("99.5" in item.arguments for item in items)
    complete = message(chunks_of("messages", said, Options(calls="complete")))
    assert not any(block.type == "tool_use" for block in complete.content)  # the sound one was cancelled with it
