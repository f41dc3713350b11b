"""Lists and objects in tags of formats that write JSON there: sent as they arrive, strict, within the bounds."""

from __future__ import annotations

import json

import pytest

from gateway_args import CallArguments, Limits, Parser, Tools, Why, fold, formats, read

_TOOLS = Tools.of(
    [
        {
            "type": "function",
            "name": "f",
            "parameters": {"type": "object", "properties": {"a": {"type": "array"}, "n": {"type": "integer"}}},
        }
    ]
)
_TABLES = {
    "deepseek_v3_2": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="false">',
        "</｜DSML｜parameter>",
        "\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    ),
    "kimi_k3": (
        '<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>'
        '<|open|>argument key="a" type="array"<|sep|>',
        "<|close|>argument<|sep|>",
        "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>",
    ),
    "hyperclovax_32b": (
        "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>",
        "</arg_value>",
        "\n</tool_call>",
    ),
}
_VALUES = [
    '[1, "two", {"three": [true, null, -4.5e-6]}, []]',
    '{"a": {"b": {}}, "c": "x\\n\\u00e9 \\" y"}',
    '[ "<tag> CLOSER</tag>", 1 ]',
    "  [1,\n\t2 ]  ",
    '["línea", "\U0001f409"]',
]


@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize("value", _VALUES)
def test_every_piece_is_sent_with_the_delta_it_came_in(table: str, value: str) -> None:
    before, closer, after = _TABLES[table]
    value = value.replace("CLOSER", closer)
    parser = Parser(formats.load(table), _TOOLS)
    events = parser.feed(before)
    sent = 0
    for at, char in enumerate(value):
        events += (new := parser.feed(char))
        sent += sum(len(event.source) for event in new if isinstance(event, CallArguments))
        # Held: a closer and the tag that may follow it, and the beginning that tells JSON from other texts.
        assert at + 1 - sent <= 2 * len(closer)
    events += parser.feed(closer + after) + parser.finish("stop")
    call = fold(events).calls[0]
    assert call.complete
    assert json.loads(call.arguments) == {"a": json.loads(value)}


@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize(
    ("value", "sent"), [("[1, 2,]", "[1, 2,"), ('{"a": tru}', '{"a": tru'), ("[1", "[1"), ("[1] 2", "[1]")]
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_what_is_no_json_breaks_the_call_where_it_is_none(table: str, value: str, sent: str, size: int) -> None:
    before, closer, after = _TABLES[table]
    output = before + value + closer + after
    reading = read(formats.load(table), [output[at : at + size] for at in range(0, len(output), size)], tools=_TOOLS)
    assert [(call.arguments, call.complete) for call in reading.calls] == [('{"a": ' + sent, False)]
    assert [entry.why for entry in reading.malformed] == [Why.ARGUMENTS]


@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize(
    ("value", "json_value"),
    [
        ("['x', True]", '["x", true]'),
        ("{nope}", '"{nope}"'),
        ("[none]", '"[none]"'),
        ("[", '"["'),
        ("(1, 2)", "[1, 2]"),
    ],
)
def test_what_begins_like_no_json_is_read_at_its_close(table: str, value: str, json_value: str) -> None:
    before, closer, after = _TABLES[table]
    call = read(formats.load(table), [before + value + closer + after], tools=_TOOLS, finish="stop").calls[0]
    assert call.complete
    assert json.loads(call.arguments) == {"a": json.loads(json_value)}


@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize(("depth", "complete"), [(4, True), (3, False)])
def test_depth_is_counted_from_the_arguments(table: str, depth: int, complete: bool) -> None:
    before, closer, after = _TABLES[table]
    output = before + "[[[1]]]" + closer + after
    reading = read(formats.load(table), list(output), tools=_TOOLS, limits=Limits(max_depth=depth))
    assert reading.calls[0].complete is complete
    assert [entry.why for entry in reading.malformed] == ([] if complete else [Why.LIMIT])


@pytest.mark.parametrize("table", _TABLES)
def test_a_bound_on_the_arguments_cuts_the_value_at_it(table: str) -> None:
    before, closer, after = _TABLES[table]
    output = before + '["abcdef", 1]' + closer + after
    whole = '{"a": ["abcdef", 1]}'
    for bound in range(1, len(whole) + 2):
        readings = [
            read(formats.load(table), pieces, tools=_TOOLS, limits=Limits(max_arguments=bound))
            for pieces in (list(output), [output], [output[:-30], output[-30:]])
        ]
        found = {
            (reading.calls[0].arguments, reading.calls[0].complete, str(reading.malformed)) for reading in readings
        }
        assert len(found) == 1
        arguments, complete, _ = found.pop()
        assert whole.startswith(arguments)
        assert len(arguments) <= bound
        assert complete is (bound >= len(whole))


@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize("value", ["", "[", '{"', "[nul", "[1, 2", '["a', "  ", "x"])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_an_output_may_end_anywhere_in_a_value(table: str, value: str, finish: str) -> None:
    output = _TABLES[table][0] + value
    readings = [
        read(formats.load(table), pieces, tools=_TOOLS, finish=finish)
        for pieces in (list(output), [output], [output, ""])
    ]
    assert len({str(reading.calls) + str(reading.malformed) for reading in readings}) == 1
    assert [call.complete for call in readings[0].calls] == [False]
