"""Messages, against the anthropic package's types and its accumulator."""

from __future__ import annotations

import re
from typing import Any

import pytest
from anthropic.types import ErrorResponse, Message
from client_models import MESSAGE_EVENTS, message, object_of, strictly
from event_streams import call, streams
from hypothesis import given

from gateway_args.adapters import Envelope, Options, messages
from gateway_args.events import (
    CallArguments,
    CallStart,
    Content,
    Event,
    Finish,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)
from gateway_args.reading import fold

ENVELOPE = Envelope(id="msg_7", model="qwen", created=1_700_000_000)

LETTERS = {"message_start": "M", "ping": "i", "message_delta": "D", "message_stop": "E"}
ORDER = re.compile("Mi(<[tjh]+[s]?>|<j+)*DE")  # a call that is not whole is never closed


def chunks_of(events: list[Event], options: Options | None = None) -> list[dict[str, Any]]:
    return messages.Stream(ENVELOPE, options).chunks(events)


def letter(chunk: dict[str, Any]) -> str:
    match chunk["type"]:
        case "content_block_start":
            return "<"
        case "content_block_stop":
            return ">"
        case "content_block_delta":
            kinds = {"text_delta": "t", "input_json_delta": "j", "thinking_delta": "h", "signature_delta": "s"}
            return kinds[chunk["delta"]["type"]]
        case kind:
            return LETTERS[kind]


@given(events=streams())
def test_blocks_open_and_close_one_at_a_time_with_rising_index(events: list[Event]) -> None:
    chunks = chunks_of(events, Options(signature="sig"))
    assert ORDER.fullmatch("".join(map(letter, chunks)))
    opened = [chunk["index"] for chunk in chunks if chunk["type"] == "content_block_start"]
    assert opened == list(range(len(opened)))
    at = -1
    for chunk in chunks:
        at += chunk["type"] == "content_block_start"
        assert chunk.get("index", at) == at


@given(events=streams())
def test_what_anthropic_accumulates_is_the_reading(events: list[Event]) -> None:
    reading = fold(events)
    said = message(chunks_of(events, Options(malformed="extension")))
    text = "".join(block.text for block in said.content if block.type == "text")
    assert "".join(text.split()) == "".join(reading.content.split())
    assert "".join(block.thinking for block in said.content if block.type == "thinking") == reading.reasoning
    uses = [block for block in said.content if block.type == "tool_use"]
    shown = [entry for entry in reading.calls if entry.arguments.lstrip().startswith("{")]
    assert [block.name for block in uses] == [entry.name for entry in shown]
    for block, entry in zip(uses, shown, strict=True):
        if entry.complete:
            assert block.input == object_of(entry.arguments)
    whole = [entry for entry in reading.calls if entry.complete and object_of(entry.arguments) is not None]
    assert reading.finish is not None
    expected = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}.get(reading.finish.reason)
    assert said.stop_reason == (expected or ("tool_use" if whole else "end_turn"))


@given(events=streams())
def test_the_whole_message_is_what_anthropic_accumulates_less_the_broken_calls(events: list[Event]) -> None:
    chunks = chunks_of(events)
    whole = messages.whole(events, ENVELOPE)
    strictly(Message, whole)
    said = message(chunks)
    broken = {entry["id"] for entry in whole.get("incomplete_calls", [])}
    kept = [block for block in said.content if block.type != "tool_use" or block.id not in broken]
    assert whole["content"] == [block.to_dict() for block in kept]
    assert (whole["stop_reason"], whole["stop_sequence"]) == (said.stop_reason, said.stop_sequence)
    assert whole["usage"] == said.usage.to_dict()


@given(events=streams())
def test_no_call_is_lost_between_the_blocks_and_the_list_of_broken_ones(events: list[Event]) -> None:
    whole = messages.whole(events, ENVELOPE)
    said = [(block["name"], block["input"]) for block in whole["content"] if block["type"] == "tool_use"]
    listed = [(entry["name"], entry["arguments"]) for entry in whole.get("incomplete_calls", [])]
    calls = fold(events).calls
    sound = [entry for entry in calls if object_of(entry.arguments) is not None and entry.complete]
    assert said == [(entry.name, object_of(entry.arguments)) for entry in sound]
    assert listed == [(entry.name, entry.arguments) for entry in calls if entry not in sound]


@given(events=streams())
def test_no_text_block_is_empty_or_white_space(events: list[Event]) -> None:
    for block in messages.whole(events, ENVELOPE)["content"]:
        assert block["type"] != "text" or block["text"].strip()


def test_white_space_waits_for_the_text_that_it_belongs_to() -> None:
    events: list[Event] = [Content("\n"), Content("\n"), Content(" hi"), Content("\n"), *call(0, "add", "{}")]
    events += [Content("\n\n"), *call(1, "add", "{}"), Content(" "), Finish("tool_calls", 2, None)]
    content = messages.whole(events, ENVELOPE)["content"]
    assert [block.get("text") for block in content] == ["\n\n hi\n", None, None]


@pytest.mark.parametrize("arguments", ["[1, 2]", '"text"', "5", "null", " \n[{}]"])
def test_arguments_that_are_no_object_make_the_call_broken(arguments: str) -> None:
    events: list[Event] = [*call(0, "add", *arguments), Finish("tool_calls", 1, None)]
    chunks = chunks_of(events)
    assert not any(chunk["type"] == "content_block_start" for chunk in chunks)
    assert chunks[-2]["delta"]["stop_reason"] == "end_turn"
    (entry,) = chunks[-2]["incomplete_calls"]
    assert (entry["name"], entry["arguments"]) == ("add", arguments)
    assert entry["id"].startswith("toolu_")


def test_a_call_cut_before_its_arguments_is_not_shown_as_one_without_arguments() -> None:
    events: list[Event] = [CallStart(0, "call_0", "delete_all", None, ""), Finish("length", 1, None)]
    whole = messages.whole(events, ENVELOPE)
    assert whole["content"] == []
    assert [entry["name"] for entry in whole["incomplete_calls"]] == ["delete_all"]


def test_a_call_is_shown_from_its_first_brace_with_the_white_space_before_it() -> None:
    stream = messages.Stream(ENVELOPE)
    stream.chunks([CallStart(0, "call_0", "add", None, "")])
    assert stream.chunks([CallArguments(0, " ", " "), CallArguments(0, "\n", "\n")]) == []
    start, delta = stream.chunks([CallArguments(0, '{"a"', '{"a"')])
    assert start["content_block"]["input"] == {}
    assert delta["delta"] == {"type": "input_json_delta", "partial_json": ' \n{"a"'}


def test_a_broken_call_stays_in_the_stream_and_is_left_out_of_a_whole_message() -> None:
    events: list[Event] = [*call(0, "add", '{"a": ', complete=False), Malformed("nope}", Why.ARGUMENTS)]
    events.append(Finish("stop", 1, None))
    chunks = chunks_of(events)
    assert [letter(chunk) for chunk in chunks] == ["M", "i", "<", "j", "D", "E"]  # never closed: clients run what is
    whole = messages.whole(events, ENVELOPE)
    assert (whole["content"], whole["stop_reason"]) == ([], "end_turn")
    assert [(entry["name"], entry["arguments"]) for entry in whole["incomplete_calls"]] == [("add", '{"a": ')]
    assert whole["malformed"] == [{"text": "nope}", "why": "arguments"}]


@pytest.mark.parametrize("digits", ["9007199254740993", "123456789012345678901234567890"])
def test_integers_keep_every_digit_in_a_whole_message(digits: str) -> None:
    events: list[Event] = [*call(0, "add", f'{{"a": {digits}}}'), Finish("tool_calls", 1, None)]
    assert messages.whole(events, ENVELOPE)["content"][0]["input"] == {"a": int(digits)}


def test_a_number_that_no_double_holds_is_never_changed_into_another() -> None:
    events: list[Event] = [*call(0, "add", '{"a": 1e999}'), Finish("tool_calls", 1, None)]
    whole = messages.whole(events, ENVELOPE)
    assert whole["content"] == []
    assert whole["incomplete_calls"][0]["arguments"] == '{"a": 1e999}'


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("tool_calls", "tool_use"),
        ("cancelled", "max_tokens"),
        ("repetition", "max_tokens"),
    ],
)
def test_the_stop_reason_is_one_that_the_api_has(reason: str, said: str) -> None:
    chunks = chunks_of([*call(0, "add", "{}"), Finish(reason, 1, None)])
    assert chunks[-2]["delta"] == {"stop_reason": said, "stop_sequence": None}


def test_a_stop_sequence_of_the_callers_is_named() -> None:
    envelope = Envelope("msg_7", "qwen", 0)
    stream = messages.Stream(envelope)
    stream.chunks([Content("hi")])
    envelope.stop_sequence = "###"
    chunks = stream.chunks([Finish("stop", 0, None)])
    assert chunks[-2]["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "###"}


def test_an_engines_error_is_the_apis_error_event() -> None:
    chunks = chunks_of([Content("hi"), Finish("error", 0, None)])
    assert strictly(ErrorResponse, chunks[-1]).error.type == "api_error"
    assert messages.whole([Finish("error", 0, None)], ENVELOPE) == chunks[-1]


THOUGHT: list[Event] = [ReasoningStart(), Reasoning("hm"), ReasoningEnd(), Finish("stop", 0, None)]


@pytest.mark.parametrize("signature", ["", "c2ln"])
def test_a_thought_is_signed_with_what_the_operator_gives(signature: str) -> None:
    options = Options(signature=signature)
    said = message(chunks_of(THOUGHT, options))
    assert said.content[0].to_dict() == {"type": "thinking", "thinking": "hm", "signature": signature}
    assert messages.whole(THOUGHT, ENVELOPE, options)["content"] == [said.content[0].to_dict()]


def test_the_signature_can_be_left_out() -> None:
    whole = messages.whole(THOUGHT, ENVELOPE, Options(signature=None))
    assert whole["content"] == [{"type": "thinking", "thinking": "hm"}]


def test_a_thoughts_block_is_closed_when_the_thought_is_over() -> None:
    stream = messages.Stream(ENVELOPE)
    stream.chunks([ReasoningStart(), Reasoning("hm")])
    assert stream.chunks([ReasoningEnd()]) == [{"type": "content_block_stop", "index": 0}]


def test_every_kind_of_event_but_ping_is_one_of_the_clients_types() -> None:
    events: list[Event] = [*THOUGHT[:-1], Content("hi"), *call(0, "add", "{}"), Finish("tool_calls", 1, None)]
    kinds = {chunk["type"] for chunk in chunks_of(events)}
    assert kinds == set(MESSAGE_EVENTS) | {"ping"}
