"""Calls in Gemma's literals, rendered as the templates write them and read back."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from literal_texts import GEMMA_ARGUMENTS, KEYS, called, gemma, pieces, reading, same

from gateway_args import CallArguments, Limits, Parser, Tools, formats, read
from gateway_args.events import source_of
from gateway_args.strict_json.acceptor import scan

CALLS = st.lists(st.tuples(KEYS, GEMMA_ARGUMENTS), min_size=1, max_size=3)


@given(st.data(), CALLS, st.sampled_from(["", "I looked.", "a < b"]))
def test_calls_as_gemma4_writes_them_read_back(data: st.DataObject, calls: list[tuple[str, Any]], text: str) -> None:
    rendered = "".join(f"<|tool_call>call:{name}{gemma(arguments)}<tool_call|>" for name, arguments in calls)
    assume(rendered.count('<|"|>') == rendered.count("<|") - len(calls))  # no string that holds half a delimiter
    said = reading("gemma4", pieces(data.draw, rendered + text))
    assert same(called(said), [(name, arguments, True) for name, arguments in calls])
    assert said.content == text
    assert not said.malformed


TYPED = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "share": {"type": "number"},
    "warm": {"type": "boolean"},
    "items": {"type": "array"},
    "owner": {"type": "object"},
    "until": {"type": ["string", "null"]},
}
INNER = st.text("abc é'\"\\\n", max_size=8)
TYPED_ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "text": st.sampled_from(["007", "null", "None", "[1]", " x ", '"q"', "nul", "a\nb"]) | INNER,
        "count": st.integers(),
        "share": st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
        "warm": st.booleans(),
        "items": st.lists(st.none() | st.booleans() | INNER, max_size=3),
        "owner": st.dictionaries(KEYS, INNER | st.integers(), max_size=3),
        "until": st.none() | st.sampled_from(["nul", "nullx", "Non", "x", ""]),
    },
)


@given(st.data(), TYPED_ARGUMENTS)
def test_functiongemma_values_take_the_type_of_their_schema(data: st.DataObject, arguments: dict[str, Any]) -> None:
    tools = Tools.of([{"name": "feed", "input_schema": {"type": "object", "properties": TYPED}}])
    written = ",".join(f"{key}:<escape>{value}<escape>" for key, value in arguments.items())
    text = f"<start_function_call>call:feed{{{written}}}<end_function_call>"
    said = reading("functiongemma", pieces(data.draw, text), tools)
    assert same(called(said), [("feed", arguments, True)])


ATOMS = [
    *("}", "{", "[", "]", ",", ":", '"', "\\", "\\n", "\\u00e9", "<", " ", "\n", " " * 9, "\x01", "é", "text", "add"),
    *(
        "a:",
        "b:",
        "k:",
        '"q":',
        "1",
        "-2.5",
        "true",
        "None",
        "nul",
        "call:",
        "call:add{",
        "call:add{k:",
        '<|"|>',
        '<|"',
    ),
    *(
        "<|tool_call>",
        "<tool_call|>",
        "<|channel>thought",
        "<channel|>",
        "<|tool_response>",
        "<turn|>",
        "<escape>",
        "<esc",
    ),
    *("<start_function_call>", "<end_function_call>", '<|tool_call>call:add{k:<|"|>v<|"|>}<tool_call|>'),
]
OPENERS = {"gemma4": "<|tool_call>call:add{k:", "functiongemma": "<start_function_call>call:add{k:<escape>"}
TIGHT = Limits(max_depth=2, max_name=4, max_layout=3, max_held=7)
TOOLS = Tools.of(
    [{"name": "add", "input_schema": {"properties": {"k": {"type": ["string", "null"]}, "a": TYPED["count"]}}}]
)


@settings(max_examples=300)
@given(
    st.data(),
    st.sampled_from(sorted(OPENERS)),
    st.booleans(),
    st.lists(st.sampled_from(ATOMS), max_size=9).map("".join),
    st.sampled_from([Limits(), TIGHT, Limits(max_arguments=9)]),
    st.sampled_from([None, TOOLS]),
)
def test_whatever_is_written_keeps_the_promises(
    data: st.DataObject, table: str, opened: bool, tail: str, limits: Limits, tools: Tools | None
) -> None:
    text = OPENERS[table] * opened + tail
    format = formats.load(table)
    whole = Parser(format, tools, limits=limits)
    events = whole.feed(text) + whole.finish("stop")
    assert "".join(map(source_of, events)) == text
    said = read(format, [text], tools, limits=limits)
    assert read(format, pieces(data.draw, text), tools, limits=limits) == said
    assert read(format, list(text), tools, limits=limits) == said
    for call in said.calls:
        assert scan(call.arguments).valid == len(call.arguments)


def test_a_string_is_sent_as_it_grows_but_for_half_a_delimiter() -> None:
    body = 'say "high" <b> <| water\n' * 30
    written = body.replace('"', '\\"').replace("\n", "\\n")
    parser = Parser(formats.load("gemma4"))
    parser.feed('<|tool_call>call:write{body:<|"|>')
    sent = '{"body": "'
    for n, char in enumerate(body, 1):
        sent += "".join(event.json for event in parser.feed(char) if isinstance(event, CallArguments))
        held = body[:n].rpartition("<")[2]
        tail = 1 + len(held) if "<" + held in ("<", "<|") else 0
        assert len(sent) - len('{"body": "') >= n - tail
    assert ('{"body": "' + written).startswith(sent)


def test_a_declared_string_streams_and_another_type_waits_for_its_close() -> None:
    tools = Tools.of([{"name": "feed", "input_schema": {"type": "object", "properties": TYPED}}])
    parser = Parser(formats.load("functiongemma"), tools)
    opened = parser.feed("<start_function_call>call:feed{text:<escape>as it gr")
    assert "".join(event.json for event in opened if isinstance(event, CallArguments)) == '{"text": "as it gr'
    parser.feed("ows<escape>,count:<escape>12")
    closed = parser.feed("3<escape>")
    assert [event.json for event in closed if isinstance(event, CallArguments)] == ["123"]
