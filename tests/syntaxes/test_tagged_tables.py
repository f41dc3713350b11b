"""What a table may say of tags, and what is said of one that says something else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway_args import Dropped, FormatError, Limits, Parser, Tools, read
from gateway_args.formats.build import build
from gateway_args.syntaxes.pattern import Pattern


def table(**calls: Any) -> dict[str, Any]:
    tags = {
        "syntax": "tagged",
        "header": ["{name}>"],
        "parameter": ["<parameter={name}>"],
        "value_close": "</parameter>",
    }
    return {
        "summary": "tags",
        "turn_end": ["<end>"],
        "markers": {"function": {"text": "<function="}, "function_end": {"text": "</function>"}},
        "states": {
            "content": {"kind": "content", "on": {"function": "call"}},
            "call": {"kind": "call", "calls": ["tags"], "on": {"function_end": "content"}},
        },
        "calls": {"tags": {key: value for key, value in {**tags, **calls}.items() if value is not None}},
    }


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ({"header": None}, "calls.tags.header: missing"),
        ({"parameter": None}, "calls.tags.parameter: missing"),
        ({"value_close": None}, "calls.tags.value_close: missing"),
        ({"parameter": ["{name}>"]}, "calls.tags.parameter[0]: a tag begins with text"),
        ({"parameter": ["<p={name}>", "<p={nmae}>"]}, "calls.tags.parameter[1]: unknown place in braces"),
        ({"parameter": ["<p>"]}, "calls.tags.parameter[0]: a parameter has one {name}"),
        ({"parameter": ["<p={name}"]}, "calls.tags.parameter[0]: a place needs text behind it"),
        ({"quotes": ["<![CDATA["]}, "calls.tags.quotes: two texts, or none"),
        ({"around": "x"}, "calls.tags.around: layout is white space only"),
        ({"nested": True, "value_open": "<v>"}, "calls.tags.nested: "),
        ({"arround": "\n"}, "calls.tags.arround: unknown key (did you mean 'around'?)"),
    ],
)
def test_a_table_that_tags_cannot_follow_is_refused_with_its_place(calls: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        build("mine", table(**calls))
    assert str(caught.value).startswith(f"mine: {said}")


def test_a_pattern_says_no_as_soon_as_no_text_could_make_it_match() -> None:
    pattern = Pattern('<p name="{name}" string="{type}">', tag=True)
    text = '<p name="a b" string="true">'
    limits = Limits(max_name=8)
    answers = [pattern.match(text[:end], 0, limits)[0] for end in range(len(text) + 1)]
    assert set(answers[:-1]) == {"more"}
    assert answers[-1] == "yes"
    for broken in ('<p nama="', '<p name="a">', '<p name="', '<p name="a\n'):
        more = broken == '<p name="'
        assert pattern.match(broken, 0, limits)[0] == ("more" if more else "no")
    assert pattern.match('<p name="' + "a" * 9, 0, limits)[0] == "no"


def test_attributes_are_decoded_once() -> None:
    pattern = Pattern('<p name="{name}">', tag=True, entities=True)
    found = pattern.match('<p name="a &amp;quot; &quot;b&quot;">', 0, Limits())[1]
    assert found is not None
    assert found.name == 'a &quot; "b"'


TOOLS = Tools.of([{"name": "add", "input_schema": {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}}])


def test_a_closer_that_was_left_out_is_an_event_without_text() -> None:
    parser = Parser(build("mine", table(between="\n")), TOOLS)
    events = parser.feed("<function=add><parameter=a>x\n<parameter=b>1</parameter></function>")
    implied = [event for event in events if isinstance(event, Dropped) and event.why == "implicit_close"]
    assert [(event.text, event.tokens) for event in implied] == [("", None)]


@pytest.mark.parametrize(("gap", "value"), [(4, "x"), (5, "x</parameter>     ")])
def test_white_space_behind_a_closer_counts_up_to_the_limit(gap: int, value: str) -> None:
    # Past it the closer is value, and the call's closer at the end of the output ends that.
    output = "<function=add><parameter=a>x</parameter>" + " " * gap + "</function>"
    reading = read(build("mine", table()), [output], tools=TOOLS, limits=Limits(max_layout=4))
    assert [(call.arguments, call.complete) for call in reading.calls] == [(json.dumps({"a": value}), True)]


@pytest.mark.parametrize("limit", [8, 9, 10, 11, 40])
def test_fragments_stop_at_the_limit_and_never_inside_an_escape(limit: int) -> None:
    output = '<function=add><parameter=a>x"y</parameter></function>'
    whole = '{"a": "x\\"y"}'
    for pieces in ([output], list(output)):
        reading = read(build("mine", table()), pieces, tools=TOOLS, limits=Limits(max_arguments=limit))
        [call] = reading.calls
        if limit == 40:
            assert (call.arguments, call.complete) == (whole, True)
        else:
            assert call.arguments == whole[: 8 if limit == 9 else limit]
            assert not call.complete
            assert [str(part.why) for part in reading.malformed] == ["limit"]
