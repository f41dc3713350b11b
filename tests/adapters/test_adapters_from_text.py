"""From a model's text to the wire: shapes that users of other gateways reported, in all three APIs."""

from __future__ import annotations

from typing import Any

import pytest

from gateway_args import Parser, Tools, adapters, formats
from gateway_args.adapters import Envelope

ENVELOPE = Envelope("resp_3", "model", 0)
KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")
each_kind = pytest.mark.parametrize("kind", KINDS)
TOOLS = Tools.of(
    [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in ("save_note", "list_notes")
    ]
)


def chunks_of(kind: adapters.Kind, deltas: list[str], finish: str = "stop", format: Any = None) -> list[dict[str, Any]]:
    parser = Parser(format or formats.load("hermes"), TOOLS)
    stream = adapters.stream(kind, ENVELOPE)
    chunks = [chunk for delta in deltas for chunk in stream.chunks(parser.feed(delta))]
    return chunks + stream.chunks(parser.finish(finish))


def story(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """What a client is told, in order: ("call", name), ("arguments", fragment), ("text", piece), ("end", reason)."""
    told: list[tuple[str, str]] = []
    for chunk in chunks:
        match kind:
            case "chat":
                (choice,) = chunk["choices"]
                told += [("text", choice["delta"]["content"])] if "content" in choice["delta"] else []
                for piece in choice["delta"].get("tool_calls", []):
                    function = piece["function"]
                    told.append(("call", function["name"]) if "id" in piece else ("arguments", function["arguments"]))
                told += [("end", choice["finish_reason"])] if choice["finish_reason"] else []
            case "responses":
                match chunk["type"]:
                    case "response.output_text.delta":
                        told.append(("text", chunk["delta"]))
                    case "response.output_item.added" if chunk["item"]["type"] == "function_call":
                        told.append(("call", chunk["item"]["name"]))
                    case "response.function_call_arguments.delta":
                        told.append(("arguments", chunk["delta"]))
                    case "response.completed" | "response.incomplete":
                        told.append(("end", chunk["response"]["status"]))
            case "messages":
                match chunk:
                    case {"content_block": {"type": "tool_use", "name": name}}:
                        told.append(("call", name))
                    case {"delta": {"partial_json": fragment}}:
                        told.append(("arguments", fragment))
                    case {"delta": {"text": text}}:
                        told.append(("text", text))
                    case {"delta": {"stop_reason": reason}}:
                        told.append(("end", reason))
    return told


def joined(told: list[tuple[str, str]], what: str) -> str:
    return "".join(text for kind, text in told if kind == what)


TOOL_END = {"chat": "tool_calls", "responses": "completed", "messages": "tool_use"}
CUT_END = {"chat": "length", "responses": "incomplete", "messages": "max_tokens"}


@each_kind
def test_a_call_that_arrives_in_one_delta_is_still_announced_before_its_first_fragment(kind: adapters.Kind) -> None:
    told = story(kind, chunks_of(kind, ['<tool_call>{"name": "save_note", "arguments": {"path": "n"}}</tool_call>']))
    assert [what for what, _ in told] == ["call", "arguments", "end"]
    assert told[1] == ("arguments", '{"path": "n"}')


@each_kind
def test_arguments_that_the_model_wrote_before_the_name_follow_the_name(kind: adapters.Kind) -> None:
    text = '<tool_call>{"arguments": {"path": "n"}, "name": "save_note"}</tool_call>'
    told = story(kind, chunks_of(kind, list(text)))
    assert told[0] == ("call", "save_note")
    assert joined(told, "arguments") == '{"path": "n"}'
    assert told[-1] == ("end", TOOL_END[kind])


@each_kind
def test_two_calls_never_share_a_place(kind: adapters.Kind) -> None:
    one = '<tool_call>{"name": "save_note", "arguments": {"path": "p"}}</tool_call>'
    two = one.replace('"p"', '"q"')
    chunks = chunks_of(kind, [one + "\n" + two[:40], two[40:]])
    told = story(kind, chunks)
    assert [what for what, _ in told].count("call") == 2
    assert joined(told, "arguments") == '{"path": "p"}{"path": "q"}'
    assert joined(told, "text") == ""


@each_kind
def test_a_call_without_arguments_is_an_empty_object_on_the_wire(kind: adapters.Kind) -> None:
    for text in ('{"name": "list_notes"}', '{"name": "list_notes", "arguments": null}'):
        told = story(kind, chunks_of(kind, [f"<tool_call>\n{text}\n</tool_call>"]))
        assert told == [("call", "list_notes"), ("arguments", "{}"), ("end", TOOL_END[kind])]


@each_kind
def test_a_forced_call_that_says_nothing_is_a_call_without_arguments(kind: adapters.Kind) -> None:
    told = story(kind, chunks_of(kind, ["", ""], format=formats.forced("list_notes")))
    assert told == [("call", "list_notes"), ("arguments", "{}"), ("end", TOOL_END[kind])]


@each_kind
def test_a_forced_calls_finish_is_the_one_of_any_call(kind: adapters.Kind) -> None:
    told = story(kind, chunks_of(kind, ['{"path": ', '"n"}'], format=formats.forced("save_note")))
    assert told[0] == ("call", "save_note")
    assert joined(told, "arguments") == '{"path": "n"}'
    assert told[-1] == ("end", TOOL_END[kind])


@each_kind
def test_a_call_whose_name_was_cut_is_never_announced(kind: adapters.Kind) -> None:
    text = '<tool_call>\n{"name": "save_no'
    told = story(kind, chunks_of(kind, [text], finish="length"))
    assert told == [("end", CUT_END[kind])]  # the beginning of a call is no content, whoever cut it


@each_kind
def test_a_call_that_was_cut_shows_no_markup_and_its_finish_is_the_engines(kind: adapters.Kind) -> None:
    text = 'Let me see. <tool_call>\n{"name": "save_note", "arguments": {"path": "a'
    for deltas in ([text], list(text)):
        told = story(kind, chunks_of(kind, deltas, finish="length"))
        assert joined(told, "text").strip() == "Let me see."
        assert joined(told, "arguments") == '{"path": "a'
        assert told[-1] == ("end", CUT_END[kind])


@each_kind
def test_white_space_around_calls_is_no_text(kind: adapters.Kind) -> None:
    call = '<tool_call>\n{"name": "list_notes", "arguments": {}}\n</tool_call>'
    for deltas in (["\n\n", call, "\n"], list(f"\n\n{call}\n{call}\n")):
        assert joined(story(kind, chunks_of(kind, deltas)), "text") == ""
