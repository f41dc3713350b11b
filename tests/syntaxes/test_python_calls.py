"""Calls in Python's literals, against Python's own reading of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_texts import ARGUMENTS, called, pieces, plain, python_calls, reading, same

from gateway_args import CallArguments, Limits, Parser, formats, read
from gateway_args.events import source_of
from gateway_args.strict_json.acceptor import scan

if TYPE_CHECKING:
    from pathlib import Path

BUILTIN = """
summary = "One call behind a marker"
markers.call = { text = "<|python_tag|>", token = true }
states.content = { kind = "content", on = { call = "call" } }
states.call = { kind = "call", calls = ["builtin"], then = "content" }
calls.builtin = { syntax = "python", shape = "call", suffix = ".call" }
"""
NAMED = st.lists(st.tuples(st.sampled_from(["add", "mul_2"]), ARGUMENTS), min_size=1, max_size=3)
LIST_TABLES = {
    "pythonic": ("", ""),
    "llama4_pythonic": ("<|python_start|>", "<|python_end|>"),
    "lfm2": ("<|tool_call_start|>", "<|tool_call_end|>"),
}


@given(st.data(), st.sampled_from(sorted(LIST_TABLES)), st.lists(python_calls(), min_size=1, max_size=3))
def test_a_list_of_calls_means_what_python_reads(data: st.DataObject, table: str, calls: list[Any]) -> None:
    opener, closer = LIST_TABLES[table]
    text = opener + "[" + ", ".join(call[0] for call in calls) + "]" + closer
    said = reading(table, pieces(data.draw, text))
    assert same(called(said), [(name, arguments, True) for _, name, arguments in calls])
    assert not said.malformed
    assert not said.content


@given(st.data(), NAMED)
def test_olmo3_lines_with_json_values_read_back(data: st.DataObject, calls: list[tuple[str, Any]]) -> None:
    lines = [
        f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in arguments.items())})"
        for name, arguments in calls
    ]
    said = reading("olmo3", pieces(data.draw, "<function_calls>" + "\n".join(lines) + "</function_calls>"))
    assert same(called(said), [(name, arguments, True) for name, arguments in calls])


@given(
    st.data(), st.lists(st.tuples(st.sampled_from(["add", "mul_2"]), ARGUMENTS), min_size=1, max_size=3), st.booleans()
)
def test_sarashina_dicts_read_back_with_the_name_first_or_last(
    data: st.DataObject, calls: list[tuple[str, Any]], first: bool
) -> None:
    keys = ("name", "arguments") if first else ("arguments", "name")
    written = [dict(zip(keys, call if first else call[::-1], strict=True)) for call in calls]
    said = reading("sarashina", pieces(data.draw, f"<|tool_calls|>{written!r} ok"))
    assert same(called(said), [(name, plain(arguments), True) for name, arguments in calls])
    assert said.content == " ok"


def test_one_call_behind_a_marker_loses_its_suffix(tmp_path: Path) -> None:
    table = tmp_path / "builtin.toml"
    table.write_text(BUILTIN, encoding="utf-8")
    said = read(formats.read(table), list("ok <|python_tag|>brave_search.call(query='x', n=(1,))"))
    assert said.content == "ok "
    assert called(said) == [("brave_search", {"query": "x", "n": [1]}, True)]


ATOMS = [
    *("[", "]", "(", ")", "{", "}", ",", ", ", ":", "=", " ", "\n", " " * 9, "'", '"', "'''", '"""', "r'", "\\", "\\n"),
    *(
        "\\x4",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "\\N{BULLET}",
        "\\1",
        "\x01",
        "é",
        "a=",
        "b = ",
        "1",
        "2.5",
        "1e5",
        "True",
    ),
    *(
        "True",
        "None",
        "nope",
        "{'k': 1}",
        "(1, 2)",
        "[add(a=2)]",
        "add(",
        "mul(b='x', c=",
        "text",
        "<think>",
        "</think>",
        "<|",
    ),
    *(
        "<|tool_call_start|>",
        "<|tool_call_end|>",
        "<|tool_calls|>[{'name': 'add', 'arguments': ",
        "'name': 'q'",
        "</s>",
    ),
    *("<function_calls>", "</function_calls>", "<|im_end|>", "<|eot_id|>", '[{"name": "q", "arguments": {"a": 1}}]'),
]
OPENERS = {
    "pythonic": "[add(a=",
    "lfm2": "<|tool_call_start|>[add(a=",
    "olmo3": "<function_calls>add(a=",
    "sarashina": "<|tool_calls|>[{'name': 'add', 'arguments': {'k': ",
}
TIGHT = Limits(max_depth=2, max_name=4, max_layout=3, max_held=12)


@settings(max_examples=300)
@given(
    st.data(),
    st.sampled_from(sorted(OPENERS)),
    st.booleans(),
    st.lists(st.sampled_from(ATOMS), max_size=9).map("".join),
    st.sampled_from([Limits(), TIGHT, Limits(max_arguments=9)]),
)
def test_whatever_is_written_keeps_the_promises(
    data: st.DataObject, table: str, opened: bool, tail: str, limits: Limits
) -> None:
    text = OPENERS[table] * opened + tail
    format = formats.load(table)
    whole = Parser(format, limits=limits)
    events = whole.feed(text) + whole.finish("stop")
    assert "".join(map(source_of, events)) == text
    said = read(format, [text], limits=limits)
    assert read(format, pieces(data.draw, text), limits=limits) == said
    assert read(format, list(text), limits=limits) == said
    for call in said.calls:
        assert scan(call.arguments).valid == len(call.arguments)


@pytest.mark.parametrize("quote", ["'", '"', "'''", '"""', "r'"])
def test_a_string_is_sent_as_it_grows(quote: str) -> None:
    body = "high water " * 50
    parser = Parser(formats.load("pythonic"))
    parser.feed(f"[write(body={quote}")
    sent = ""
    for n, char in enumerate(body, 1):
        sent += "".join(event.json for event in parser.feed(char) if isinstance(event, CallArguments))
        assert sent.endswith(body[:n])


def test_a_number_of_many_digits_keeps_them_all() -> None:
    digits = "7" * 5000
    said = read(formats.load("pythonic"), list(f"[f(a={digits}, b=-{digits}.5)]"))
    assert said.calls[0].arguments == f'{{"a": {digits}, "b": -{digits}.5}}'


def test_white_space_beyond_the_layout_is_dropped_not_held() -> None:
    text = "[f(a=" + " " * 5000 + "1" + "\n" * 5000 + ", b=2)]"
    whole = read(formats.load("pythonic"), [text])
    assert whole.calls[0].arguments == '{"a": 1, "b": 2}'
    assert read(formats.load("pythonic"), list(text)) == whole
    parser = Parser(formats.load("pythonic"))
    parser.feed("[f(a=1")
    for _ in range(1_000):
        parser.feed(" " * 100)
    assert len(parser.snapshot()) < 4_000


def test_a_tuple_that_is_still_a_parenthesis_is_held_within_bounds() -> None:
    limits = Limits(max_held=1_000)
    said = read(formats.load("pythonic"), ["[f(a=('" + "x" * 2_000 + "', 1))]"], limits=limits)
    assert said.calls[0].arguments == '{"a": '
    assert [entry.why for entry in said.malformed] == ["limit"]
