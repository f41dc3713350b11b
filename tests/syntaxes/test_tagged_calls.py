"""Calls in tags, written as each family's template writes them, are read back as they were, however they are cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tag_templates import TEMPLATES

from gateway_args import CallArguments, Limits, Parser, Reading, Tools, formats, read

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = Tools.of(
    [
        {
            "name": "act",
            "input_schema": {
                "properties": {
                    "text": {"type": "string"},
                    "note": {"type": "string"},
                    "count": {"type": "integer"},
                    "ratio": {"type": "number"},
                    "on": {"type": "boolean"},
                    "rows": {"type": "array", "items": {"type": "string"}},
                    "pairs": {"type": "object", "additionalProperties": {"type": "integer"}},
                }
            },
        }
    ]
)

# Half tags, and every closer with something behind it that no tag begins with: all of it is value.
PIECES = [
    "</parameter>.", "</arg_value>.", "</param>.", "</｜DSML｜parameter>.", "<|close|>argument<|sep|>.", "</function>.",
    "</tool_call>.", "]<]minimax[>[</text>.", "</steptml:parameter>.", "<parameter=note", "<parameter=", "<tool_call>.",
    "<", "</", "]]>", "&amp;", "\n", "\n\n", " ", "\t", '"', "\\", "'", "é", "😀", "null", "None", "5", "{", "x y",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=8).map(lambda pieces: "a" + "".join(pieces) + "z")
words = st.text(alphabet="abc _-5é", min_size=1, max_size=6).filter(lambda word: word.strip() == word)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "text": texts,
        "count": st.integers(min_value=-(10**40), max_value=10**40),
        "ratio": st.floats(allow_nan=False, allow_infinity=False),
        "on": st.booleans(),
        "note": texts,
        "rows": st.lists(words, max_size=3),
        "pairs": st.dictionaries(st.sampled_from("klm"), st.integers(-9, 9), max_size=3),
    },
)
cuts = st.lists(st.integers(min_value=1, max_value=9), min_size=1, max_size=20)


def pieces(text: str, sizes: list[int]) -> Iterator[str]:
    """The text cut at these sizes, over and over."""
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        yield text[at : at + size]
        at += size
        turn += 1


def same(one: Any, other: Any) -> bool:
    """Equal, and true is not 1."""
    return json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize("table", TEMPLATES)
@settings(max_examples=60)
@given(calls=st.lists(arguments, min_size=1, max_size=2), sizes=cuts)
def test_a_call_is_read_back_as_its_template_wrote_it(
    table: str, calls: list[dict[str, Any]], sizes: list[int]
) -> None:
    output = "".join(TEMPLATES[table]("act", call) for call in calls)
    found = read(formats.load(table), pieces(output, sizes), tools=TOOLS)
    assert not found.malformed
    assert not found.content.strip()
    assert [call.complete for call in found.calls] == [True] * len(calls)
    for call, wrote in zip(found.calls, calls, strict=True):
        assert same(json.loads(call.arguments), wrote)


@pytest.mark.parametrize("table", TEMPLATES)
@settings(max_examples=60)
@given(call=arguments, sizes=cuts, end=st.integers(min_value=0, max_value=400))
def test_a_cut_output_says_the_same_for_every_chunking_and_sends_a_prefix(
    table: str, call: dict[str, Any], sizes: list[int], end: int
) -> None:
    output = TEMPLATES[table]("act", call)[:end]
    fmt = formats.load(table)
    whole = read(fmt, [output], tools=TOOLS, finish="length")
    parts = read(fmt, pieces(output, sizes), tools=TOOLS, finish="length")
    said = [[reading.content, repr(reading.calls), repr(reading.malformed)] for reading in (parts, whole)]
    assert said[0] == said[1]
    for found in whole.calls:
        assert not found.complete or same(json.loads(found.arguments), call)


@pytest.mark.parametrize("table", TEMPLATES)
def test_a_string_is_sent_as_it_grows(table: str) -> None:
    value = 'print("<b>", {"a": 1})\n' * 400
    output = TEMPLATES[table]("act", {"text": value, "count": 3})
    start = output.index("print")
    held = max(len(output) - output.rindex("print") - len(value.rstrip("\n").rsplit("\n", 1)[-1]), 40)
    parser = Parser(formats.load(table), TOOLS)
    sent = ""
    for at, char in enumerate(output):
        sent += "".join(event.json for event in parser.feed(char) if isinstance(event, CallArguments))
        if start <= at < start + len(value):
            behind = len(json.dumps(value[: at + 1 - start])) - 1 - len(sent.partition('"text": ')[2])
            assert behind <= held
    assert sum(isinstance(event, CallArguments) for event in parser.finish("stop")) <= 1


@pytest.mark.parametrize("table", TEMPLATES)
def test_a_value_that_is_no_string_is_one_fragment(table: str) -> None:
    output = TEMPLATES[table]("act", {"count": 1234567890})
    parser = Parser(formats.load(table), TOOLS)
    events = [event for char in output for event in parser.feed(char)] + parser.finish("stop")
    assert "1234567890" in [event.json for event in events if isinstance(event, CallArguments)]


def test_a_held_value_that_grows_too_long_is_malformed_or_a_string() -> None:
    fmt = formats.load("minimax_m2")
    limits = Limits(max_held=16)
    output = TEMPLATES["minimax_m2"]("act", {"rows": ["a" * 20]})
    reading = Reading()
    parser = Parser(fmt, TOOLS, limits=limits)
    for event in [*parser.feed(output), *parser.finish("stop")]:
        reading.add(event)
    assert [(call.arguments, call.complete) for call in reading.calls] == [('{"rows": ', False)]
    assert [(part.text, str(part.why)) for part in reading.malformed] == [
        ('["aaaaaaaaaaaaaaaaaaaa"]</parameter>\n', "limit")
    ]
    untyped = Parser(fmt, None, limits=limits)
    found = Reading()
    for event in [*untyped.feed(output), *untyped.finish("stop")]:
        found.add(event)
    assert json.loads(found.calls[0].arguments) == {"rows": json.dumps(["a" * 20])}
