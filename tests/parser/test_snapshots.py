"""A stream can move to another process between any two deltas, and a snapshot says whose it is."""

from __future__ import annotations

import json

import pytest
from parser_harness import merged

from gateway_args import LifecycleError, Limits, Parser, Tools, contract, fold, formats
from gateway_args.engine.snapshot import VERSION

TEXT = (
    "<think>\nhm\n</think>\n\nSo: <b>\n<tool_call>\n"
    '{"id": 1, "name": "f", "x": [1, {}], "arguments": {"a": "\\u00e9\t", "b": [null]}}\n</tool_call>\n'
    '<tool_call>{"arguments": "{\\"a\\": \\"\\\\ud83d\\\\ude00\\"}", "name": "g"}</tool_call> bye <tool_c'
)


@pytest.mark.parametrize("cut", range(len(TEXT) + 1))
def test_a_stream_moves_at_any_character(cut):
    format = formats.load("qwen3")
    whole = Parser(format)
    expected = merged(whole.feed(TEXT) + whole.finish("length"))
    parser = Parser(format)
    events = parser.feed(TEXT[:cut])
    moved = Parser.restore(parser.snapshot(), format)
    assert moved.snapshot() == parser.snapshot()
    assert merged(events + moved.feed(TEXT[cut:]) + moved.finish("length")) == expected


def test_a_copy_goes_its_own_way():
    parser = Parser(formats.load("hermes"))
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "x')
    copy = parser.copy()
    copy.feed('y"}}</tool_call>')
    assert parser.finish("length")[-1].reason == "length"
    assert copy.finish("stop")[-1].reason == "tool_calls"


def test_options_and_limits_travel_inside():
    format = formats.load("hermes")
    tools = Tools.of([{"name": "f", "input_schema": {}}])
    parser = Parser(format, tools, undeclared="malformed", limits=Limits(max_depth=2))
    moved = Parser.restore(parser.snapshot(), format, tools)
    reading = fold(moved.feed('<tool_call>{"name": "g"}</tool_call><tool_call>{"name": "f", "arguments": [[[1'))
    assert [(call.name, call.arguments) for call in reading.calls] == [("f", "[[")]
    assert [aside.why for aside in reading.malformed] == ["undeclared", "limit"]


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff", b'"x"', b'{"version": 1}', b"[" * 100_000])
def test_what_is_no_snapshot_is_refused(data):
    with pytest.raises(LifecycleError, match=r"Parser\.restore"):
        Parser.restore(data, formats.load("hermes"))


def test_another_table_or_version_is_refused():
    data = Parser(formats.load("hermes")).snapshot()
    with pytest.raises(LifecycleError, match="another table"):
        Parser.restore(data, formats.load("qwen3"))
    state = json.loads(data)
    state["version"] = VERSION + 1
    with pytest.raises(LifecycleError, match="version"):
        Parser.restore(json.dumps(state).encode(), formats.load("hermes"))


@pytest.mark.parametrize("key", ["stage", "engine", "queues", "reader", "options", "buf", "before"])
def test_a_damaged_snapshot_is_one_clear_error(key):
    parser = Parser(formats.load("hermes"))
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "x')
    state = json.loads(parser.snapshot())
    state[key] = ["damaged"]
    with pytest.raises(LifecycleError, match="damaged"):
        Parser.restore(json.dumps(state).encode(), formats.load("hermes"))


def test_snapshots_of_the_corpora_are_small():
    for name in ("hermes", "qwen3"):
        for case in contract.load(name).cases:
            if len(case.text) > 2000:
                continue
            parser = Parser(formats.load(name))
            for char in case.text:
                parser.feed(char)
                assert len(parser.snapshot()) < 1500 + 4 * len(case.text)


def test_a_snapshot_does_not_hold_what_is_said():
    parser = Parser(formats.load("hermes"))
    parser.feed("word " * 10_000 + '<tool_call>{"name": "f", "arguments": {"a": "' + "x" * 10_000)
    assert len(parser.snapshot()) < 2048
