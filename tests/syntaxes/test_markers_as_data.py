"""Markers by id that count for nothing where they stand are data there, in every language of values and in names."""

from __future__ import annotations

import json

import pytest

from gateway_args import Delta, Parser, Token, Tools, fold, formats
from gateway_args.events import source_of

TOOLS = Tools.of([{"name": name, "input_schema": {}} for name in ("f", "a</think>b")])


def read(table: str, pieces: list[str], quoted: str, one_by_one: bool = False):
    """The reading of text whose markers are one token each, and whose other characters are a token each."""
    fmt = formats.load(table)
    ids = {text: 1000 + n for n, text in enumerate(fmt.marker_texts())}
    assert quoted in ids
    deltas, text, tokens = [], "", []
    for piece in pieces:
        for part in [piece] if piece in ids else piece:
            tokens.append(Token(ids.get(part, ord(part[0]) % 900), len(text), len(text) + len(part)))
            text += part
            if one_by_one:
                deltas.append(Delta(text, tokens))
                text, tokens = "", []
    deltas = deltas or [Delta(text, tokens)]
    parser = Parser(fmt, TOOLS, markers=ids)
    events = [event for delta in deltas for event in parser.feed(delta)] + parser.finish("stop")
    assert "".join(map(source_of, events)) == "".join(pieces)
    return fold(events)


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize(
    ("before", "behind"),
    [("\\N{", "}"), ("\\N{DIGIT ", "ONE}"), ("\\", "n"), ("\\x4", "1"), ("\\u00", "41")],
)
def test_no_escape_of_pythons_takes_a_marker_into_itself(before: str, behind: str, one_by_one: bool) -> None:
    pieces = ["<|tool_call_start|>", f'[f(a="{before}', "<think>", f'{behind}")]', "<|tool_call_end|>"]
    reading = read("lfm2", pieces, "<think>", one_by_one)  # raises nothing, loses nothing
    for call in reading.calls:
        assert not call.complete or json.loads(call.arguments)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_marker_in_a_name_is_its_text(one_by_one: bool) -> None:
    pieces = ["<tool_call>", '{"name": "a', "</think>", 'b", "arguments": {"x": 1}}', "</tool_call>"]
    reading = read("qwen3", pieces, "</think>", one_by_one)
    assert [(call.name, call.arguments, call.complete) for call in reading.calls] == [("a</think>b", '{"x": 1}', True)]


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_marker_behind_a_backslash_is_no_part_of_an_escape(one_by_one: bool) -> None:
    pieces = ["<tool_call>", '{"name": "a\\', "</think>", 'b", "arguments": {}}', "</tool_call>"]
    assert not read("qwen3", pieces, "</think>", one_by_one).calls
