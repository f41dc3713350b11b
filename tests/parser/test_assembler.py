"""The assembler reads one call's object in pieces, with the keys that a table names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args import Assembler, Tools, fold
from gateway_args.syntaxes.objects import Json

NAMES = st.text("abc_", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def assemble(pieces, **options):
    assembler = Assembler(**options)
    events = [event for piece in pieces for event in assembler.feed(piece)]
    return fold(events + assembler.finish())


@given(
    NAMES,
    st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
    st.booleans(),
    st.booleans(),
    st.integers(1, 7),
    st.sampled_from([None, 1]),
)
def test_name_and_arguments_come_in_either_order_as_a_value_or_as_a_string(name, value, last, quoted, size, indent):
    written = json.dumps(value, indent=indent, ensure_ascii=False)
    members = [("name", name), ("arguments", written if quoted else value)]
    if last:
        members.reverse()
    text = json.dumps({"id": [1, {}], **dict(members), "extra": None}, indent=indent, ensure_ascii=False)
    reading = assemble([text[n : n + size] for n in range(0, len(text), size)])
    (call,) = reading.calls
    assert call.name == name
    assert call.complete
    assert json.loads(call.arguments) == value
    assert not reading.malformed
    if quoted and value:
        assert call.arguments == written


def test_the_keys_are_the_tables():
    reading = assemble(['{"tool": "f", "input": {"a": 1}}'], syntax=Json(name=("tool",), arguments=("input",)))
    assert [(call.name, call.arguments) for call in reading.calls] == [("f", '{"a": 1}')]
    assert not assemble(['{"name": "f", "input": {}}'], syntax=Json(name=("tool",))).calls


def test_declared_is_told_from_the_tools():
    tools = Tools.of([{"name": "f", "input_schema": {}}])
    assert assemble(['{"name": "f"}'], tools=tools).calls[0].declared is True
    assert assemble(['{"name": "g"}'], tools=tools).calls[0].declared is False


@pytest.mark.parametrize("text", ["", "no object", "[]", '{"a": 1}', '{"name": 5}', '{"name": "f"', "\x00"])
def test_what_is_no_call_is_malformed_and_no_exception(text):
    reading = assemble([text])
    assert not reading.calls
    assert "".join(aside.text for aside in reading.malformed) == text


def test_a_cut_call_is_not_complete():
    reading = assemble(['{"name": "f", "arguments": {"a": [1, 2'])
    assert (reading.calls[0].arguments, reading.calls[0].complete) == ('{"a": [1, 2', False)


def test_an_object_without_arguments_is_called_with_none():
    assert assemble(['{"name": "f"}']).calls[0].arguments == "{}"
