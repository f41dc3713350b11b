"""Responses, against the openai package's types and its accumulator, and the order of events as a grammar."""

from __future__ import annotations

import re
from typing import Any

import pytest
from client_models import response
from event_streams import call, streams
from hypothesis import given

from gateway_args.adapters import Envelope, Options, responses
from gateway_args.events import Content, Event, Finish, Malformed, Reasoning, ReasoningEnd, ReasoningStart, Why
from gateway_args.reading import fold

ENVELOPE = Envelope(id="resp_7", model="qwen", created=1_700_000_000)

# One letter an event: the order that the API documents, with a broken call's missing `arguments.done`.
LETTERS = {
    "response.created": "C",
    "response.in_progress": "P",
    "response.output_item.added": "a",
    "response.content_part.added": "p",
    "response.output_text.delta": "t",
    "response.output_text.done": "T",
    "response.reasoning_text.delta": "r",
    "response.reasoning_text.done": "R",
    "response.function_call_arguments.delta": "f",
    "response.function_call_arguments.done": "F",
    "response.content_part.done": "q",
    "response.output_item.done": "z",
    "response.completed": "E",
    "response.incomplete": "E",
    "response.failed": "E",
}
ORDER = re.compile("CP(aptt*Tqz|aprr*Rqz|af*F?z)*E")


def chunks_of(events: list[Event], options: Options | None = None) -> list[dict[str, Any]]:
    return responses.Stream(ENVELOPE, options).chunks(events)


@given(events=streams(reasons=("stop", "length", "content_filter", "error", "cancelled")))
def test_events_come_in_the_apis_order_and_are_numbered(events: list[Event]) -> None:
    chunks = chunks_of(events)
    assert ORDER.fullmatch("".join(LETTERS[chunk["type"]] for chunk in chunks))
    assert [chunk["sequence_number"] for chunk in chunks] == list(range(len(chunks)))
    added = [chunk for chunk in chunks if chunk["type"] == "response.output_item.added"]
    assert [chunk["output_index"] for chunk in added] == list(range(len(added)))
    ids = [chunk["item"]["id"] for chunk in added]
    assert len(set(ids)) == len(ids)
    for chunk in chunks:
        if "item_id" in chunk:
            assert chunk["item_id"] == ids[chunk["output_index"]]


@given(events=streams(reasons=("stop", "length", "content_filter", "error", "cancelled")))
def test_what_openai_accumulates_is_the_reading_and_the_last_events_response(events: list[Event]) -> None:
    reading = fold(events)
    chunks = chunks_of(events, Options(malformed="extension"))
    last, accumulated = response(chunks)
    assert last.model_dump(exclude_unset=True) == {**chunks[-1]["response"], "created_at": 1_700_000_000.0}
    assert [item.type for item in accumulated.output] == [item.type for item in last.output]
    for said in (last, accumulated):
        texts = [part.text for item in said.output if item.type == "message" for part in item.content]
        assert "".join(texts) == reading.content
        calls = [item for item in said.output if item.type == "function_call"]
        assert [(item.name, item.arguments) for item in calls] == [(c.name, c.arguments) for c in reading.calls]
    thoughts = [part.text for item in last.output if item.type == "reasoning" for part in item.content]
    assert "".join(thoughts) == reading.reasoning
    statuses = [item.status for item in last.output if item.type == "function_call"]
    assert statuses == ["completed" if entry.complete else "incomplete" for entry in reading.calls]


@given(events=streams())
def test_the_done_events_say_what_the_deltas_said(events: list[Event]) -> None:
    parts: dict[int, list[str]] = {}
    for chunk in chunks_of(events):
        match chunk["type"].rsplit(".", 1):
            case ["response.output_text" | "response.reasoning_text", "done"]:
                assert chunk["text"] == "".join(parts[chunk["output_index"]])
            case ["response.function_call_arguments", "done"]:
                assert chunk["arguments"] == "".join(parts.get(chunk["output_index"], []))
            case [_, "delta"]:
                parts.setdefault(chunk["output_index"], []).append(chunk["delta"])


@given(events=streams())
def test_the_whole_response_is_the_last_events(events: list[Event]) -> None:
    last = chunks_of(events)[-1]["response"]
    whole = responses.whole(events, ENVELOPE)
    kept = [item for item in last["output"] if item["type"] != "function_call" or item["status"] == "completed"]
    assert whole["output"] == kept
    cut = [item for item in last["output"] if item not in kept]
    assert [(entry["id"], entry["arguments"]) for entry in whole.get("incomplete_calls", ())] == [
        (item["call_id"], item["arguments"]) for item in cut
    ]
    lists = ("output", "incomplete_calls")
    assert {k: v for k, v in whole.items() if k not in lists} == {k: v for k, v in last.items() if k not in lists}


@pytest.mark.parametrize(
    ("reason", "event", "details"),
    [
        ("stop", "response.completed", None),
        ("tool_calls", "response.completed", None),
        ("length", "response.incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "response.incomplete", {"reason": "content_filter"}),
        ("cancelled", "response.incomplete", {"reason": None}),
        ("repetition", "response.incomplete", {"reason": None}),
        ("error", "response.failed", None),
    ],
)
def test_the_last_event_says_how_the_output_ended(reason: str, event: str, details: object) -> None:
    last = chunks_of([*call(0, "add", "{}"), Finish(reason, 1, None)])[-1]
    assert last["type"] == event
    assert last["response"]["status"] == event.removeprefix("response.")
    assert last["response"]["incomplete_details"] == details
    assert (last["response"]["error"] is not None) is (reason == "error")


def test_a_cut_call_is_an_incomplete_item_and_its_arguments_are_never_done() -> None:
    events: list[Event] = [*call(0, "add", '{"a": "x', complete=False), Finish("length", 1, None)]
    chunks = chunks_of(events)
    assert "response.function_call_arguments.done" not in [chunk["type"] for chunk in chunks]
    (item,) = chunks[-1]["response"]["output"]
    assert (item["arguments"], item["status"]) == ('{"a": "x', "incomplete")
    assert chunks[-1]["response"]["incomplete_calls"] == [{"id": item["call_id"], "name": "add"}]


def test_a_message_that_the_output_ended_in_is_cut_and_one_before_is_not() -> None:
    events: list[Event] = [Content("one"), *call(0, "add", "{}"), Content("two"), Finish("length", 1, None)]
    assert [item["status"] for item in responses.whole(events, ENVELOPE)["output"]] == [
        "completed",
        "completed",
        "incomplete",
    ]


def test_a_thoughts_item_is_done_when_the_thought_is() -> None:
    stream = responses.Stream(ENVELOPE)
    stream.chunks([ReasoningStart(), Reasoning("hm")])
    assert stream.chunks([ReasoningEnd()])[-1]["type"] == "response.output_item.done"
    assert stream.chunks([ReasoningStart(), ReasoningEnd()]) == []


def test_an_earlier_chunk_is_not_changed_by_what_comes_later() -> None:
    stream = responses.Stream(ENVELOPE)
    opening = stream.chunks([Content("hi")])
    stream.chunks([*call(0, "add", "{}"), Finish("stop", 1, None)])
    assert opening[0]["response"]["output"] == []
    assert opening[2]["item"]["content"] == []


def test_the_requests_echo_is_the_callers() -> None:
    tool = {"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": False}
    extra = {"tools": [tool], "tool_choice": {"type": "function", "name": "add"}, "temperature": 0.5}
    chunks = responses.Stream(Envelope("resp_7", "qwen", 0, extra=extra)).chunks([Finish("stop", 0, None)])
    last, _ = response(chunks)
    assert last.tools[0].name == "add"
    assert last.tool_choice.name == "add"
    assert last.temperature == 0.5


def test_malformed_text_stands_in_the_last_response_alone() -> None:
    events: list[Event] = [*call(0, "add", "{}"), Malformed("</x>", Why.STRAY), Finish("tool_calls", 1, None)]
    chunks = chunks_of(events)
    assert chunks[-1]["response"]["malformed"] == [{"text": "</x>", "why": "stray"}]
    assert not any("malformed" in chunk.get("response", {}) for chunk in chunks[:-1])
