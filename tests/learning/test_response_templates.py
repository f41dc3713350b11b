"""Response templates as tables: ours and the public ones read what a model writes, under every chunking.

The oracle is transformers' own `parse_response`. It is not installed with the tests, for it would bring hundreds of
megabytes; run these by hand with

    pip install --no-deps 'transformers>=5.24' && pip install regex huggingface_hub packaging tqdm filelock pyyaml
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from response_outputs import OTHERS, OURS, TOOLS, respelled, said, written

from gateway_args import FormatError, Parser, Reading, Tools, formats, grammar
from gateway_args.events import CallArguments

NAMES = sorted(path.stem for path in OURS.glob("*.json"))


def template(name: str) -> dict[str, Any]:
    return dict(json.loads((OURS / f"{name}.json").read_text(encoding="utf-8")))


def public(name: str) -> dict[str, Any]:
    """The public template of the same construction; skipped where the material is not at hand."""
    folder = os.environ.get("GATEWAY_ARGS_TEST_MATERIAL")
    path = Path(folder or "") / "response_templates" / f"{OTHERS[name][0]}.json"
    if not folder or not path.is_file():
        pytest.skip("the public response templates are not here (GATEWAY_ARGS_TEST_MATERIAL)")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def chunked(output: str, seed: int) -> list[list[str]]:
    pick = random.Random(seed)
    pieces, at = [], 0
    while at < len(output):
        size = pick.randint(1, 9)
        pieces.append(output[at : at + size])
        at += size
    return [[output], list(output), pieces]


def read(format: formats.Format, pieces: list[str], prompt: str) -> Reading:
    parser = Parser(format, Tools.of(TOOLS), prompt=prompt)
    reading = Reading()
    for piece in pieces:
        for event in parser.feed(piece):
            reading.add(event)
    for event in parser.finish("stop"):
        reading.add(event)
    return reading


def calls_of(reading: Reading) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in reading.calls if call.complete]


def check_written(format: formats.Format, name: str, spelling: dict[str, str]) -> None:
    fields = template(name)["fields"]
    for seed in range(40):
        turn = said(seed)
        prompt, output = (respelled(text, spelling) for text in written(name, turn))
        for pieces in chunked(output, seed):
            reading = read(format, pieces, "<|x|>Hello" + prompt)
            assert reading.malformed == [], output
            assert [(call.name, json.loads(call.arguments)) for call in reading.calls] == list(turn.calls), output
            assert all(call.complete for call in reading.calls)
            if "thinking" in fields or "reasoning_content" in fields:
                assert reading.reasoning.strip() == turn.thinking, output
            if "content" in fields:
                assert reading.content.strip() == turn.content, output


@pytest.mark.parametrize("name", NAMES)
def test_what_a_model_writes_is_read(name: str) -> None:
    check_written(formats.from_response_template(template(name), name=name), name, {})


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_what_a_model_of_a_public_template_writes_is_read(name: str) -> None:
    check_written(formats.from_response_template(public(name), name=name), name, dict(OTHERS[name][1]))


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("whose", ["ours", "public"])
def test_transformers_reads_the_same(name: str, whose: str) -> None:
    chat_parsing = pytest.importorskip(
        "transformers.utils.chat_parsing", reason="transformers 5.24 is not installed (this module says how)"
    )
    if whose == "public" and name not in OTHERS:
        pytest.skip("no public template of this construction")
    spec = template(name) if whose == "ours" else public(name)
    spelling = {} if whose == "ours" else dict(OTHERS[name][1])
    format = formats.from_response_template(spec, name=name)
    compared = refused = unharmed = 0
    for seed in range(60):
        turn = said(seed)
        prompt, output = (respelled(text, spelling) for text in written(name, turn))
        for text in (output, *broken(output, seed)):
            reading = read(format, list(text), prompt)
            ours = calls_of(reading)
            try:
                message = chat_parsing.parse_response(text, spec, prefix=prompt, tools=TOOLS)
            except Exception:
                assert text != output
                refused += 1  # a broken call raises there; here `calls_of` read what is sound without raising
                continue
            listed = [call["function"] for call in message.get("tool_calls", [])]
            theirs = [(call.get("name"), call.get("arguments")) for call in listed]
            if text != output:  # where the fault is outside of the calls, both read them
                # (A text between two tags is part of a value here, policy 3: it stands inside a call.)
                whole = theirs == list(turn.calls) and spec["fields"]["tool_calls"]["content"] != "xml-inline"
                complaint = reading.malformed or not all(call.complete for call in reading.calls)
                assert not whole or ours == theirs or complaint, text
                unharmed += whole
                continue
            compared += 1
            assert ours == theirs, text
            thinking = message.get("thinking") or message.get("reasoning_content") or ""
            assert reading.reasoning.strip() == thinking.strip(), text
            if message.get("content"):  # white space behind a call empties it there
                assert reading.content.strip() == message["content"].strip(), text
    assert compared == 60
    assert unharmed >= 10 or spec["fields"]["tool_calls"]["content"] == "xml-inline"


def broken(output: str, seed: int) -> list[str]:
    """The output with a character taken out of a call, cut, or with a bracket too many."""
    pick = random.Random(seed)
    if not output:
        return []
    at = pick.randrange(len(output))
    return [output[:at] + output[at + 1 :], output[:at], output[:at] + pick.choice('}]",') + output[at:]]


@pytest.mark.parametrize("name", ["channels", "object", "bare_keys", "any_attributes", "function_tags", "lines"])
def test_arguments_stream_before_the_call_is_over(name: str) -> None:
    """Where transformers gives raw text until the field closes."""
    from response_outputs import StreamEvent

    format = formats.from_response_template(template(name), name=name)
    turn = StreamEvent("", "", (("lookup_tide", {"port": "Kiel and its harbour " * 8}),))
    prompt, output = written(name, turn)
    parser = Parser(format, Tools.of(TOOLS), prompt=prompt)
    events = [event for character in output[: output.index("harbour") + 60] for event in parser.feed(character)]
    fragments = "".join(event.json for event in events if isinstance(event, CallArguments))
    assert '{"port": "Kiel and its harbour'.startswith(fragments[:20])
    assert len(fragments) > 40


@pytest.mark.parametrize("name", NAMES)
def test_every_character_is_accounted_for(name: str) -> None:
    format = formats.from_response_template(template(name), name=name)
    for seed in range(10):
        prompt, output = written(name, said(seed))
        parser = Parser(format, Tools.of(TOOLS), prompt=prompt)
        events = [*parser.feed(output), *parser.finish("stop")]
        joined = "".join(
            getattr(event, "source", None) if hasattr(event, "source") else getattr(event, "text", "")
            for event in events
        )
        assert joined == output


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"open": "<c>", "content": "kv-lines"},
        r"function.arguments: expected .*: the lines' keys",
    ),
    (
        {"open_pattern": r"<c (?P<name>\w+)>", "content": "kv-lines", "content_args": {"strip": False}},
        r"content_args.strip: keys and values with the white space",
    ),
    (
        {"open_pattern": r"<c (?P<name>\w+)>", "content": "kv-lines", "content_args": {"kv_sep": " "}},
        r"content_args.kv_sep: no text that parts",
    ),
    ({"open": "<c>", "content": "int"}, r"fields.tool_calls.content: int"),
    ({"open_pattern": r"(?P<name>\w+)\("}, r"open_pattern: an opener that begins with no literal text"),
    ({"open_pattern": r"<c>(?<=x)(?P<name>\w+)"}, r"open_pattern: a look-behind"),
    ({"open_pattern": r"<(a)\1>(?P<name>\w+)"}, r"open_pattern: a back reference"),
    ({"open_pattern": "<c>["}, r"open_pattern: invalid regex"),
    ({"open": "<c>", "close_pattern": r"<x\d+>"}, r"close_pattern: a closer that is more than one literal text"),
    ({"open": "<c>", "content_args": {"unquoted_keys": True}}, r"content_args: a dialect of JSON in the object"),
    ({"open": "<c>", "opens": "<d>"}, r"fields.tool_calls: unknown keys opens"),
    ({"close": "</c>"}, r"fields.tool_calls: calls that nothing opens"),
    (
        {"open": "<c>", "transform": {"function": {"name": "{content.f.g}", "arguments": "{content.a}"}}},
        r"no key of the object",
    ),
    ({"open": "<c>", "transform": {"function": {"name": "add", "arguments": "{content.a}"}}}, r"expected a place"),
]


@pytest.mark.parametrize(("field", "said_of_it"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_what_a_table_cannot_say_is_refused_by_name(field: dict[str, Any], said_of_it: str) -> None:
    base = {
        "content": "json",
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    }
    if "open" in field and "transform" not in field:
        base["transform"] = {"type": "function", "function": "{content}"}
    spec = {"start_anchor": "<|bot|>", "fields": {"tool_calls": {**base, **field}}}
    with pytest.raises(FormatError, match=said_of_it):
        formats.from_response_template(spec, name="odd")


@pytest.mark.parametrize(
    ("spec", "said_of_it"),
    [
        ({}, "expected an object with at least one field|fields"),
        ({"fields": {"tool_calls": {}}, "start_anchor": "a", "more": 1}, "unknown keys more"),
        ({"version": 2, "fields": {"content": {}}, "start_anchor": "a"}, "version 2"),
        ({"fields": {"content": {}}, "start_anchor": "a"}, "fields.tool_calls: missing"),
        ({"fields": {"content": {}}}, "exactly one of start_anchor"),
        ({"fields": {"content": {}, "thinking": {}}, "start_anchor": "a"}, "more than one field without an opener"),
        (
            {"fields": {"content": {}, "mood": {"open": "<m>"}, "tool_calls": {"open": "<c>"}}, "start_anchor": "a"},
            "no event carries",
        ),
    ],
)
def test_a_template_that_transformers_would_not_load_is_refused(spec: dict[str, Any], said_of_it: str) -> None:
    with pytest.raises(FormatError, match=said_of_it):
        formats.from_response_template(spec)


def test_the_field_of_the_calls_can_have_another_name() -> None:
    spec = template("object")
    spec["fields"]["actions"] = spec["fields"].pop("tool_calls")
    format = formats.from_response_template(spec, name="renamed", tools_field="actions")
    reading = read(format, ['<call>{"name": "save_note", "arguments": {}}</call>'], "<|bot|>\n")
    assert calls_of(reading) == [("save_note", {})]


def test_names_have_dots_and_dashes_though_the_template_says_word_characters() -> None:
    format = formats.from_response_template(template("channels"), name="channels")
    reading = read(format, ['<|lane|>work to=tools.tide.v2-north<|body|>{"a": 1}<|run|>'], "<|from|>bot")
    assert calls_of(reading) == [("tide.v2-north", {"a": 1})]


@pytest.mark.parametrize("name", NAMES)
def test_the_way_back_reads_the_same(name: str) -> None:
    """A table's response template, as a table again, reads what the first one reads."""
    format = formats.from_response_template(template(name), name=name)
    again = formats.from_response_template(formats.to_response_template(format), name=name)
    for seed in range(20):
        prompt, output = written(name, said(seed))
        once, twice = read(format, [output], prompt), read(again, [output], prompt)
        assert calls_of(once) == calls_of(twice), output


def test_a_table_without_markers_has_no_response_template() -> None:
    with pytest.raises(
        FormatError, match=r"llama3_json: states.content.calls: .*: a response template cannot say that"
    ):
        formats.to_response_template(formats.load("llama3_json"))


def test_what_a_response_template_leaves_out_is_noted() -> None:
    notes: list[str] = []
    spec = formats.to_response_template(formats.load("hermes"), notes=notes)
    assert notes == ["calls.object.arguments: only 'arguments' is read"]
    assert spec["fields"]["tool_calls"]["transform"]["function"] == {
        "name": "{content.name}",
        "arguments": "{content.arguments}",
    }


def test_a_table_from_a_response_template_has_a_grammar() -> None:
    format = formats.from_response_template(template("object"), name="object")
    assert "<call>" in str(grammar.structural_tag(format, Tools.of(TOOLS)))
