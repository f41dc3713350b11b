"""Escapes at the seams between fragments."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from event_streams import call
from hypothesis import given
from hypothesis import strategies as st
from jiter import from_json

from gateway_args import adapters
from gateway_args.adapters import Envelope
from gateway_args.adapters.escapes import replace_lone, split
from gateway_args.events import Finish

if TYPE_CHECKING:
    from gateway_args.events import Event

ENVELOPE = Envelope("r", "m", 0)
# Bodies of JSON strings: escaped backslashes before `u`, pairs, halves of either kind, other escapes.
BODIES = st.lists(
    st.sampled_from(
        ["\\\\", "u", "d83d", "\\ud83d\\ude00", "\\ud83d", "\\uDE00", "\\n", "\\u00e9", "\\u2028", "x", '\\"']
    )
).map("".join)


def fragments_of(kind: adapters.Kind, events: list[Event]) -> list[str]:
    """The argument fragments that a client is sent."""
    found = []
    for chunk in adapters.stream(kind, ENVELOPE).chunks(events):
        match kind:
            case "chat":
                calls = chunk["choices"][0]["delta"].get("tool_calls", [])
                found += [piece["function"]["arguments"] for piece in calls]
            case "responses":
                found += [chunk["delta"]] if chunk["type"] == "response.function_call_arguments.delta" else []
            case "messages":
                found += [chunk["delta"]["partial_json"]] if "partial_json" in chunk.get("delta", {}) else []
    return [fragment for fragment in found if fragment]


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
def test_a_pair_of_escapes_arrives_in_one_chunk_however_the_model_cut_it(kind: adapters.Kind) -> None:
    text = '{"a": "\\ud83c\\udf24 \\\\ud83c"}'
    sent = fragments_of(kind, [*call(0, "f", *text), Finish("tool_calls", 1, None)])
    assert "".join(sent) == text
    assert "\\ud83c\\udf24" in sent
    assert sent.count("\\\\") == 1


@given(body=BODIES, data=st.data())
def test_a_client_that_reads_every_prefix_sees_whole_characters(body: str, data: st.DataObject) -> None:
    text = f'{{"a": "{body}"}}'
    whole = replace_lone(text)
    sent, held = "", ""
    while text:
        size = data.draw(st.integers(1, 4))
        piece, text = text[:size], text[size:]
        fragment, held = split(held + piece)
        assert len(held) <= 11
        sent += replace_lone(fragment)
        from_json(sent.encode(), partial_mode="trailing-strings")  # raises at half a character
    assert (sent, held) == (whole, "")


@given(body=BODIES)
def test_only_a_half_without_its_other_half_is_replaced(body: str) -> None:
    text = json.loads(f'"{body}"')  # joins the pairs
    assert json.loads(f'"{replace_lone(body)}"') == re.sub("[\ud800-\udfff]", "\ufffd", text)


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
@pytest.mark.parametrize("tail", ["\\", "\\u", "\\ud83", "\\ud83d", "\\ud83d\\", "\\ud83d\\ude0"])
def test_a_call_cut_inside_an_escape_keeps_every_character(kind: adapters.Kind, tail: str) -> None:
    text = f'{{"a": "x{tail}'
    events: list[Event] = [*call(0, "f", *text, complete=False), Finish("length", 1, None)]
    assert "".join(fragments_of(kind, events)) == text


def test_each_api_gets_a_lone_surrogates_escape_as_it_can_take_it() -> None:
    events: list[Event] = [*call(0, "f", '{"a": "\\ud83d"}'), Finish("tool_calls", 1, None)]
    assert fragments_of("chat", events) == fragments_of("responses", events) == ['{"a": "\\ud83d"}']
    assert fragments_of("messages", events) == ['{"a": "\\ufffd"}']
    assert adapters.whole("messages", events, ENVELOPE)["content"][0]["input"] == {"a": "\ufffd"}
