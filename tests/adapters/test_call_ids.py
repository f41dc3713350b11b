"""Ids of calls: unique over responses, in the API's alphabet, and the caller's own as they are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gateway_args import IdKind, Parser, adapters, formats
from gateway_args.adapters import Envelope
from gateway_args.events import CallStart

KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")
OUTPUTS = {
    "hermes": '<tool_call>\n{"name": "get_tide", "arguments": {}}\n</tool_call>',
    "mistral": "[TOOL_CALLS]get_tide[CALL_ID]A1b2C3d40[ARGS]{}",
    "mistral_v3": '[TOOL_CALLS] [{"name": "get_tide", "arguments": {}, "id": "A1b2C3d40"}]',
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_tide:0<|tool_call_argument_begin|>{}"
    "<|tool_call_end|><|tool_calls_section_end|>",
    "cohere_command": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_tide", "parameters": {}}]'
    "<|END_ACTION|>",
}
each = pytest.mark.parametrize(("kind", "format"), [(kind, name) for kind in KINDS for name in OUTPUTS])


def id_of(kind: adapters.Kind, format: str, response: str, call_ids: Any = None) -> str:
    parser = Parser(formats.load(format), call_ids=call_ids)
    events = parser.feed(OUTPUTS[format]) + parser.finish("stop")
    answer = adapters.whole(kind, events, Envelope(response, "m", 0))
    match kind:
        case "chat":
            return answer["choices"][0]["message"]["tool_calls"][0]["id"]
        case "responses":
            return answer["output"][0]["call_id"]
        case "messages":
            return answer["content"][0]["id"]


@each
def test_the_same_call_of_two_responses_has_two_ids_that_the_api_takes(kind: adapters.Kind, format: str) -> None:
    one, again, other = (id_of(kind, format, response) for response in ("resp_1", "resp_1", "resp_2"))
    assert one == again != other
    for id in (one, other):
        assert re.fullmatch("[a-zA-Z0-9]{9}" if format.startswith("mistral") else "[a-zA-Z0-9_-]+", id)


@each
@pytest.mark.parametrize("given", ["call_0", "functions.get_tide:0", "mine"])
def test_an_id_that_call_ids_gave_is_the_clients_whatever_it_looks_like(
    kind: adapters.Kind, format: str, given: str
) -> None:
    assert id_of(kind, format, "resp_1", lambda _index, _name: given) == given


@pytest.mark.parametrize(
    ("format", "id", "kind"),
    [
        ("hermes", "call_0", IdKind.DEFAULT),
        ("kimi_k2", "functions.get_tide:0", IdKind.DEFAULT),
        ("mistral", "A1b2C3d40", IdKind.ALNUM9),
    ],
)
def test_an_event_says_where_its_id_comes_from(format: str, id: str, kind: IdKind) -> None:
    parser = Parser(formats.load(format))
    (start,) = [event for event in parser.feed(OUTPUTS[format]) + parser.finish("stop") if isinstance(event, CallStart)]
    assert (start.id, start.id_kind) == (id, kind)
    parser = Parser(formats.load(format), call_ids=lambda _index, _name: id)
    (start,) = [event for event in parser.feed(OUTPUTS[format]) + parser.finish("stop") if isinstance(event, CallStart)]
    assert (start.id, start.id_kind) == (id, IdKind.GIVEN)


@pytest.mark.parametrize("given", [None, 7, ""])
def test_call_ids_that_returns_no_id_is_told_so(given: Any) -> None:
    parser = Parser(formats.load("hermes"), call_ids=lambda _index, _name: given)
    with pytest.raises(TypeError, match=r"call_ids\(0, 'get_tide'\) returned .*; expected an id, a str"):
        parser.feed(OUTPUTS["hermes"])
