"""Responses items that some clients need: custom tools' calls, names behind a namespace, reasoning as a summary."""

from __future__ import annotations

import json
from typing import Any

import pytest
from client_models import response, strictly
from event_streams import call
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response

from gateway_args import Parser, Tools, adapters, formats
from gateway_args.adapters import Envelope, Options, responses
from gateway_args.events import Event, Finish, Reasoning, ReasoningEnd, ReasoningStart

ENVELOPE = Envelope("resp_5", "m", 0)
PATCH = '*** Begin Patch\n*** Add File: a "b"\\c 🌤\n+é\n*** End Patch'
TOOLS = Tools.of(
    [
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
        {
            "type": "namespace",
            "name": "crm",
            "description": "d",
            "tools": [{"type": "function", "name": "find", "parameters": {}}],
        },
    ]
)
OPTIONS = Options(tools=TOOLS)


def patched(arguments: str, size: int = 1000, *, complete: bool = True) -> list[Event]:
    fragments = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    body = call(0, "apply_patch", *fragments, complete=complete)
    return [*body, Finish("tool_calls" if complete else "length", 1, None)]


@pytest.mark.parametrize("calls", ["stream", "complete"])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_custom_tools_call_is_one_item_whose_input_is_the_text(calls: Any, ascii: bool, size: int) -> None:
    events = patched(json.dumps({"input": PATCH}, ensure_ascii=ascii), size)
    chunks = responses.Stream(ENVELOPE, Options(tools=TOOLS, calls=calls)).chunks(events)
    last, _ = response(chunks)
    (item,) = last.output
    assert (item.type, item.name, item.input) == ("custom_tool_call", "apply_patch", PATCH)
    assert "".join(chunk["delta"] for chunk in chunks if chunk["type"].endswith("input.delta")) == PATCH
    (done,) = [chunk for chunk in chunks if chunk["type"] == "response.custom_tool_call_input.done"]
    assert done["input"] == PATCH
    whole = strictly(Response, responses.whole(events, ENVELOPE, OPTIONS))
    assert whole.output == last.output


def test_a_model_writes_a_custom_tools_text_as_an_argument_in_any_format() -> None:
    outputs = {
        "hermes": f'<tool_call>\n{{"name": "apply_patch", "arguments": {json.dumps({"input": PATCH})}}}\n</tool_call>',
        "qwen3_coder": f"<tool_call>\n<function=apply_patch>\n<parameter=input>\n{PATCH}\n</parameter>\n</function>\n"
        "</tool_call>",
    }
    for format, text in outputs.items():
        parser = Parser(formats.load(format), TOOLS)
        events = parser.feed(text) + parser.finish("stop")
        (item,) = responses.whole(events, ENVELOPE, OPTIONS)["output"]
        assert (item["type"], item["input"]) == ("custom_tool_call", PATCH), format


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('"just text"', "just text"),
        ('{"patch": "p", "input": "q"}', "p"),
        ("{}", "{}"),
        ('{"input": 3}', '{"input": 3}'),
        ('{"input": ""}', ""),
        ('  {  "in\\"put" : "a\\u00e9\\ud83c\\udf24" } ', "aé🌤"),
        ("[1]", "[1]"),
        ('{"' + "k" * 2000 + '": "v"}', '{"' + "k" * 2000 + '": "v"}'),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 511, 513, 5000])
def test_arguments_of_another_shape_lose_nothing(arguments: str, text: str, size: int) -> None:
    (item,) = responses.whole(patched(arguments, size), ENVELOPE, OPTIONS)["output"]
    assert item["input"] == text


@pytest.mark.parametrize("calls", ["stream", "complete"])
def test_a_custom_tools_call_that_was_cut_is_never_done_and_no_item_of_the_response(calls: Any) -> None:
    events = patched('{"input": "*** Begin', complete=False)
    chunks = responses.Stream(ENVELOPE, Options(tools=TOOLS, calls=calls)).chunks(events)
    kinds = [chunk["type"] for chunk in chunks]
    assert "response.custom_tool_call_input.done" not in kinds
    assert "response.output_item.done" not in kinds
    last = chunks[-1]["response"]
    assert last["output"] == []
    assert [entry["name"] for entry in last["incomplete_calls"]] == ["apply_patch"]
    assert ("response.output_item.added" in kinds) is (calls == "stream")


def test_a_function_of_a_namespace_is_called_by_its_own_name_beside_the_namespace() -> None:
    events: list[Event] = [*call(0, "crm__find", "{}"), Finish("tool_calls", 1, None)]
    last, _ = response(responses.Stream(ENVELOPE, OPTIONS).chunks(events))
    (item,) = last.output
    assert (item.type, item.name, item.namespace) == ("function_call", "find", "crm")
    chat = adapters.whole("chat", events, ENVELOPE, OPTIONS)
    assert chat["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "crm__find"


@given(thoughts=st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=3), data=st.data())
def test_a_summary_says_what_the_reasoning_says(thoughts: list[str], data: st.DataObject) -> None:
    events: list[Event] = []
    for thought in thoughts:
        cut = data.draw(st.integers(0, len(thought)))
        parts: list[Event] = [Reasoning(part) for part in (thought[:cut], thought[cut:])]
        events += [ReasoningStart(), *parts, ReasoningEnd()]
    events.append(Finish("stop", 0, None))
    chunks = responses.Stream(ENVELOPE, Options(reasoning_summary=True)).chunks(events)
    last, _ = response(chunks)
    said = [(item.summary[0].text, item.content[0].text) for item in last.output]
    assert said == [(thought, thought) for thought in thoughts]
    deltas = [chunk["delta"] for chunk in chunks if chunk["type"] == "response.reasoning_summary_text.delta"]
    assert "".join(deltas) == "".join(thoughts)
    order = [chunk["type"] for chunk in chunks if "summary" in chunk["type"]]
    assert order[0] == "response.reasoning_summary_part.added"
    assert order[-2:] == ["response.reasoning_summary_text.done", "response.reasoning_summary_part.done"]
    plain = responses.Stream(ENVELOPE).chunks(events)
    assert not any("summary" in chunk["type"] for chunk in plain)


@given(text=st.text(max_size=20), size=st.integers(1, 7), at=st.integers(0, 40))
def test_a_custom_tools_call_moves_between_any_two_events(text: str, size: int, at: int) -> None:
    events = patched(json.dumps({"input": text}), size)
    stream = responses.Stream(ENVELOPE, OPTIONS)
    before = stream.chunks(events[:at])
    moved = responses.Stream.restore(stream.snapshot(), ENVELOPE, OPTIONS)
    assert before + moved.chunks(events[at:]) == responses.Stream(ENVELOPE, OPTIONS).chunks(events)
