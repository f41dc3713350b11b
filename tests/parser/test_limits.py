"""Each of `Limits` at its exact boundary: the last thing that fits, and the first that does not."""

from __future__ import annotations

import json

import pytest
from parser_harness import check

from gateway_args import Limits, Parser, Tools, formats, read

CALL = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'


def test_arguments_may_nest_as_deep_as_max_depth_and_not_deeper():
    for depth, complete in ((4, True), (5, False)):
        value = "[" * depth + "]" * depth
        reading = check("hermes", CALL % ("f", value), limits=Limits(max_depth=4))
        assert reading.calls[0].complete is complete
    assert reading.calls[0].arguments == "[[[["
    assert [(aside.text[:1], aside.why) for aside in reading.malformed] == [("[", "limit")]


def test_the_depth_is_counted_from_the_arguments_value_in_a_list_too():
    text = '[{"name": "f", "parameters": [[1]]}]'
    assert check(formats.required(), text, limits=Limits(max_depth=2)).calls[0].complete
    assert not check(formats.required(), text, limits=Limits(max_depth=1)).calls[0].complete


def test_a_name_may_be_max_name_characters_long():
    assert check("hermes", CALL % ("n" * 8, "{}"), limits=Limits(max_name=8)).calls[0].name == "n" * 8
    reading = check("hermes", CALL % ("n" * 9, "{}"), limits=Limits(max_name=8))
    assert not reading.calls
    assert {aside.why for aside in reading.malformed} == {"limit"}


def test_a_name_in_escapes_counts_its_characters_not_its_spelling():
    assert check("hermes", CALL % ("\\u006e" * 8, "{}"), limits=Limits(max_name=8)).calls[0].name == "n" * 8


def test_white_space_between_markers_is_layout_up_to_max_layout_and_text_beyond():
    call = CALL % ("f", "{}")
    for spaces, content in ((6, ""), (7, " " * 7)):
        reading = check("hermes", call + " " * spaces + call, limits=Limits(max_layout=6))
        assert reading.content == content
        assert [c.complete for c in reading.calls] == [True, True]


def test_white_space_behind_an_opener_confirms_it_up_to_max_layout():
    for spaces, calls in ((6, 1), (7, 0)):
        text = "<tool_call>" + " " * spaces + '{"name": "f"}</tool_call>'
        reading = check("hermes", text, limits=Limits(max_layout=6))
        assert len(reading.calls) == calls
        assert reading.content == ("" if calls else text)


def test_arguments_before_the_name_are_held_up_to_max_held():
    head = '<tool_call>{"arguments": {"a": "'
    tail = '"}, "name": "f"}</tool_call>'
    fits = head + "x" * 20 + tail
    held = len(fits) - len("}</tool_call>")
    assert check("hermes", fits, limits=Limits(max_held=held)).calls[0].complete
    reading = check("hermes", fits, limits=Limits(max_held=held - 1))
    assert not reading.calls
    assert {aside.why for aside in reading.malformed} == {"limit"}
    assert "".join(aside.text for aside in reading.malformed) == fits


def test_a_call_whose_arguments_pass_max_arguments_ends_incomplete_at_exactly_that_character():
    value = '{"a": "0123456789"}'
    assert check("hermes", CALL % ("f", value), limits=Limits(max_arguments=len(value))).calls[0].complete
    for limit in range(1, len(value)):
        reading = check("hermes", CALL % ("f", value), limits=Limits(max_arguments=limit))
        assert reading.calls[0].arguments == value[:limit]
        assert not reading.calls[0].complete
        assert reading.malformed[0].why == "limit"
        assert reading.malformed[0].text.startswith(value[limit])


def test_an_escape_that_does_not_fit_in_max_arguments_is_not_split():
    value = '{"a": "\t"}'  # written as \t: two characters of the fragments
    assert check("hermes", CALL % ("f", value), limits=Limits(max_arguments=8)).calls[0].arguments == '{"a": "'
    assert check("hermes", CALL % ("f", value), limits=Limits(max_arguments=9)).calls[0].arguments == '{"a": "\\t'


def test_string_valued_arguments_count_what_is_sent():
    inner = '{"a": "x\\ny"}'
    text = CALL % ("f", json.dumps(inner))
    assert check("hermes", text, limits=Limits(max_arguments=len(inner))).calls[0].complete
    reading = check("hermes", text, limits=Limits(max_arguments=10))
    assert reading.calls[0].arguments == inner[:10]
    assert not reading.calls[0].complete


def test_no_more_than_max_calls_calls_are_made_and_the_rest_is_malformed():
    text = (CALL % ("f", "{}")) * 3
    reading = check("hermes", text, limits=Limits(max_calls=2))
    assert len(reading.calls) == 2
    assert [aside.why for aside in reading.malformed] == ["limit"]
    assert reading.finish is not None
    assert reading.finish.calls == 2


def test_after_a_limit_the_next_opener_is_read():
    text = CALL % ("f", '{"a": [[[]]]}') + "\n" + CALL % ("g", "{}")
    reading = check("hermes", text, limits=Limits(max_depth=3))
    assert [(call.name, call.complete) for call in reading.calls] == [("f", False), ("g", True)]


def test_a_bare_candidate_past_max_held_is_content():
    text = '{"name": "f", "type": "' + "x" * 40 + '", "arguments": {}}'
    tools = Tools.of([{"name": "f", "input_schema": {}}])
    assert check("json", text, tools=tools).calls
    reading = check("json", text, tools=tools, limits=Limits(max_held=30))
    assert not reading.calls
    assert reading.content == text


@pytest.mark.parametrize("field", ["max_depth", "max_name", "max_layout", "max_held", "max_arguments", "max_calls"])
@pytest.mark.parametrize("value", [0, -1, "9", True, 1.5])
def test_a_bound_that_is_no_positive_whole_number_is_refused_by_name(field, value):
    with pytest.raises(ValueError, match=rf"Limits\.{field}"):
        Limits(**{field: value})


def test_a_parser_holds_little_whatever_it_is_fed():
    noise = ["<tool_call>", "<tool_ca", '{"name": "', " \n" * 100, "</", '{"arguments": {"a": "']
    parser = Parser(formats.load("qwen3"))
    for n in range(3000):
        parser.feed(noise[n * 7 % len(noise)])
    assert len(parser.snapshot()) < 4096


def test_deep_nesting_is_no_recursion():
    text = CALL % ("f", "[" * 200_000)
    reading = read(formats.load("hermes"), [text])
    assert not reading.calls[0].complete
    assert reading.calls[0].arguments == "[" * 32


def test_a_depth_that_no_reader_reaches_is_refused_when_it_is_set():
    with pytest.raises(ValueError, match="max_depth"):
        Limits(max_depth=10**30)


CALLS = {
    "hermes": '<tool_call>\n{"name": "f", "arguments": {"a": "xy", "b": [1, 22]}}\n</tool_call>',
    "qwen3_coder": "<tool_call>\n<function=f>\n<parameter=a>\nxy\n</parameter>\n<parameter=b>\n[1, 22]\n</parameter>\n"
    "</function>\n</tool_call>",
    "lfm2": '<|tool_call_start|>[f(a="xy", b=[1, 22])]<|tool_call_end|>',
    "pythonic": "[f(a=('x', ('y'), ()), b=(1))]",
    "gemma4": '<|tool_call>call:f{a:<|"|>xy<|"|>,b:[1,22]}<tool_call|>',
    "mistral": '[TOOL_CALLS]f[ARGS]{"a": "xy", "b": [1, 22]}',
    "glm47": "<tool_call>f<arg_key>a</arg_key><arg_value>xy</arg_value>"
    "<arg_key>b</arg_key><arg_value>[1, 22]</arg_value></tool_call>",
}


@pytest.mark.parametrize("table", CALLS)
def test_arguments_are_whole_at_their_length_and_cut_below_it(table: str) -> None:
    whole = read(formats.load(table), [CALLS[table]]).calls[0].arguments
    for limit in range(1, len(whole) + 2):
        for pieces in ([CALLS[table]], list(CALLS[table])):
            reading = read(formats.load(table), pieces, limits=Limits(max_arguments=limit))
            assert [call.complete for call in reading.calls] == [limit >= len(whole)], limit
            assert whole.startswith(reading.calls[0].arguments)
            assert len(reading.calls[0].arguments) <= limit
            assert bool(reading.malformed) <= (limit < len(whole))


@pytest.mark.parametrize("name", ["max_depth", "max_name", "max_layout", "max_held", "max_arguments", "max_calls"])
def test_a_bound_longer_than_any_text_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"Limits.{name}"):
        Limits(**{name: 10**20})
