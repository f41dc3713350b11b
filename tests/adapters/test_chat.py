"""Chat Completions, against the openai package's types and its accumulator."""

from __future__ import annotations

from typing import Any

import pytest
from client_models import EXTENSION, REASONING, chat_completion, strictly
from event_streams import call, streams
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from gateway_args.adapters import Envelope, Options, Usage, chat
from gateway_args.events import Content, Event, Finish, Malformed, Reasoning, ReasoningEnd, ReasoningStart, Why
from gateway_args.reading import fold

ENVELOPE = Envelope(id="chatcmpl-7", model="qwen", created=1_700_000_000)
FIELDS = EXTENSION | REASONING


def deltas(events: list[Event], options: Options | None = None) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chat.Stream(ENVELOPE, options).chunks(events)]


def finish_reason(events: list[Event]) -> str:
    return chat.whole(events, ENVELOPE)["choices"][0]["finish_reason"]


@given(events=streams(reasons=("stop", "length", "content_filter", "cancelled")), parallel=st.booleans())
def test_what_openai_accumulates_is_the_reading(events: list[Event], parallel: bool) -> None:
    reading = fold(events)
    chunks = chat.Stream(ENVELOPE, Options(malformed="extension", parallel=parallel)).chunks(events)
    choice = chat_completion(chunks).choices[0]
    calls = reading.calls if parallel else reading.calls[:1]
    assert (choice.message.content or "") == reading.content
    assert (choice.message.model_extra or {}).get("reasoning_content", "") == reading.reasoning
    assert [(entry.function.name, entry.function.arguments) for entry in choice.message.tool_calls or []] == [
        (entry.name, entry.arguments) for entry in calls
    ]
    assert reading.finish is not None
    expected = {"cancelled": "length"}.get(reading.finish.reason, reading.finish.reason)
    if expected == "tool_calls" and not any(entry.complete for entry in calls):
        expected = "stop"
    assert choice.finish_reason == expected


@given(events=streams())
def test_the_whole_completion_is_what_openai_accumulates(events: list[Event]) -> None:
    stream = chat.Stream(ENVELOPE)
    chunks = [*stream.chunks(events), chat.usage_chunk([stream])]
    whole = strictly(ChatCompletion, chat.whole(events, ENVELOPE), FIELDS)
    accumulated = chat_completion(chunks)
    assert whole.usage == accumulated.usage
    ours, theirs = whole.choices[0], accumulated.choices[0]
    assert ours.message.content == theirs.message.content
    assert ours.message.model_extra == {k: v for k, v in (theirs.message.model_extra or {}).items() if k != "parsed"}
    broken = {entry["id"] for entry in (ours.model_extra or {}).get("incomplete_calls", ())}
    assert [(c.id, c.function.name, c.function.arguments) for c in ours.message.tool_calls or []] == [
        (c.id, c.function.name, c.function.arguments) for c in theirs.message.tool_calls or [] if c.id not in broken
    ]
    assert ours.finish_reason == theirs.finish_reason


def test_a_call_is_announced_once_and_grows_by_index_alone() -> None:
    events: list[Event] = [
        *call(0, "add", '{"a":', " 1}", id="x"),
        *call(1, "mul", "{}", id="y"),
        Finish("tool_calls", 2, None),
    ]
    assert deltas(events) == [
        {"role": "assistant"},
        {"tool_calls": [{"index": 0, "id": "x", "type": "function", "function": {"name": "add", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]},
        {"tool_calls": [{"index": 1, "id": "y", "type": "function", "function": {"name": "mul", "arguments": ""}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
        {},
    ]


@given(events=streams())
def test_no_delta_holds_an_empty_or_null_field_but_a_new_calls_arguments(events: list[Event]) -> None:
    said = deltas(events)
    assert said[0] == {"role": "assistant"}
    assert said[-1] == {}
    for delta in said[1:-1]:
        ((key, value),) = delta.items()
        assert value
        if key == "tool_calls":
            (piece,) = value
            first = "id" in piece
            assert set(piece) == ({"index", "id", "type", "function"} if first else {"index", "function"})
            assert (piece["function"]["arguments"] == "") is first
            assert set(piece["function"]) == ({"name", "arguments"} if first else {"arguments"})


def test_the_field_of_thoughts_has_the_name_that_the_operator_gives() -> None:
    events: list[Event] = [ReasoningStart(), Reasoning("hm"), ReasoningEnd(), Content("hi"), Finish("stop", 0, None)]
    assert deltas(events, Options(reasoning="reasoning"))[1:3] == [{"reasoning": "hm"}, {"content": "hi"}]
    message = chat.whole(events, ENVELOPE, Options(reasoning="reasoning"))["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "hi", "reasoning": "hm"}


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
        ("cancelled", "length"),
        ("repetition", "length"),
    ],
)
def test_the_finish_reason_is_one_that_the_api_has(reason: str, said: str) -> None:
    assert finish_reason([*call(0, "add", "{}"), Finish(reason, 1, None)]) == said


def test_a_cut_call_keeps_what_was_sent_and_is_listed_as_incomplete() -> None:
    events: list[Event] = [*call(0, "add", '{"a": "x', complete=False, id="x"), Finish("length", 1, None)]
    choice = chat.whole(events, ENVELOPE)["choices"][0]
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "length"
    assert choice["incomplete_calls"] == [{"id": "x", "name": "add", "arguments": '{"a": "x'}]
    last = chat.Stream(ENVELOPE).chunks(events)[-1]["choices"][0]
    assert last["incomplete_calls"] == [{"id": "x", "name": "add"}]  # the stream has carried the rest


def test_a_broken_call_that_the_engine_ended_is_no_tool_call() -> None:
    events: list[Event] = [*call(0, "add", '{"a": ', complete=False), Malformed("nope}", Why.ARGUMENTS)]
    assert finish_reason([*events, Finish("stop", 1, None)]) == "stop"
    assert finish_reason([*events, Finish("tool_calls", 1, None)]) == "stop"


def test_extension_fields_stand_in_the_last_choice_and_never_in_the_message() -> None:
    events: list[Event] = [*call(0, "add", '{"a": ', complete=False), Malformed("nope}", Why.ARGUMENTS)]
    chunks = chat.Stream(ENVELOPE).chunks([*events, Finish("stop", 1, None)])
    choice = chunks[-1]["choices"][0]
    assert choice["malformed"] == [{"text": "nope}", "why": "arguments"}]
    assert not any(EXTENSION & set(chunk["choices"][0]) for chunk in chunks[:-1])
    whole = chat.fold(chunks)["choices"][0]
    assert not EXTENSION & set(whole["message"])
    assert whole["malformed"] == choice["malformed"]


def test_an_engines_error_is_the_apis_error_object() -> None:
    events: list[Event] = [Content("hi"), Finish("error", 0, None)]
    chunks = chat.Stream(ENVELOPE).chunks(events)
    assert chunks[-1]["error"]["type"] == "server_error"
    assert chat.whole(events, ENVELOPE) == chunks[-1]


def test_several_choices_are_one_stream_each_and_one_usage() -> None:
    envelope = Envelope("chatcmpl-7", "qwen", 0, Usage(prompt_tokens=3))
    choices = [chat.Stream(envelope, choice=index) for index in range(3)]
    chunks = [chunk for stream in choices for chunk in stream.chunks()]
    for index in (2, 0, 1):
        body: list[Event] = [Content(f"text {index}", 2)]
        if index == 2:
            body += call(0, "add", "{}")
        chunks += choices[index].chunks([*body, Finish("tool_calls" if index == 2 else "stop", 0, 0)])
    chunks.append(chat.usage_chunk(choices))
    accumulated = chat_completion(chunks)
    assert [choice.message.content for choice in accumulated.choices] == ["text 0", "text 1", "text 2"]
    assert [choice.finish_reason for choice in accumulated.choices] == ["stop", "stop", "tool_calls"]
    assert accumulated.usage is not None
    assert accumulated.usage.completion_tokens == 6
    assert accumulated.usage.total_tokens == 9
    whole = chat.fold(chunks)
    strictly(ChatCompletion, whole, FIELDS)
    assert [choice["message"]["content"] for choice in whole["choices"]] == ["text 0", "text 1", "text 2"]


def test_two_choices_never_share_a_calls_id() -> None:
    ids = {
        chat.Stream(ENVELOPE, choice=index).chunks(call(0, "add"))[1]["choices"][0]["delta"]["tool_calls"][0]["id"]
        for index in range(4)
    }
    assert len(ids) == 4


def test_usage_is_sent_where_it_was_asked_for_and_then_done() -> None:
    events: list[Event] = [Content("hi", 1), Finish("stop", 0, 0)]
    for include in (False, True):
        stream = chat.Stream(ENVELOPE, Options(include_usage=include))
        stream.chunks(events)
        end = chat.end([stream])
        assert end.endswith(b"data: [DONE]\n\n")
        assert (b'"choices":[],"usage":{' in end) is include


def test_fields_of_the_callers_stand_in_every_chunk() -> None:
    envelope = Envelope("c", "m", 0, extra={"system_fingerprint": "fp_1", "service_tier": "default"})
    stream = chat.Stream(envelope)
    for chunk in [*stream.chunks([Content("hi"), Finish("stop", 0, None)]), chat.usage_chunk([stream])]:
        assert strictly(ChatCompletionChunk, chunk).system_fingerprint == "fp_1"
    assert chat.whole([Finish("stop", 0, None)], envelope)["service_tier"] == "default"
