"""Text inside strings takes short paths; what is said of it is the same in every cut."""

from __future__ import annotations

import json

import pytest

from gateway_args import CallArguments, Parser, formats, read

HERMES = '<tool_call>\n{"name": "save", "arguments": ', "}\n</tool_call>"
CODE = 'out[row["key"]] = {"a": [1, "\\t"]}\nprint("<b>")\n'


def fragments(text: str, size: int) -> tuple[str, str]:
    """The call's arguments, and the text that its events account for."""
    parser = Parser(formats.load("hermes"))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    said = [event for piece in pieces for event in parser.feed(piece)] + parser.finish("stop")
    joined = "".join(event.json for event in said if isinstance(event, CallArguments))
    return joined, "".join(event.source for event in said if isinstance(event, CallArguments))


@pytest.mark.parametrize("size", [1, 3, 4, 7, 1_000_000])
@pytest.mark.parametrize(
    "written",
    [
        json.dumps({"body": CODE * 3}),
        '{"body": "a [line],\n\tand {another}\n"}',  # raw control characters, which models do write
        '{"body": "é[\u200b]\n"}',
        '[\n  {"a": [1, true]},\n  "b"\n]',
    ],
)
def test_brackets_and_newlines_in_strings_read_the_same_in_every_cut(written, size):
    before, after = HERMES
    said, source = fragments(before + written + after, size)
    assert json.loads(said) == json.loads(written, strict=False)
    assert source == written


@pytest.mark.parametrize("size", [1, 2, 4, 9, 1_000_000])
def test_arguments_written_as_a_string_read_the_same_in_every_cut(size):
    value = {"body": CODE, "n": [1, {"c": 'a "quoted" \\ /'}]}
    before, after = HERMES
    said, _ = fragments(before + json.dumps(json.dumps(value)) + after, size)
    assert json.loads(said) == value


@pytest.mark.parametrize(
    ("table", "head", "tail"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": "', '"}}\n</tool_call>'),
        ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n", "\n</parameter>\n</function>\n</tool_call>"),
    ],
)
def test_half_a_pair_that_text_follows_keeps_its_place(table: str, head: str, tail: str) -> None:
    for last, text in (("b", "xa\ufffdb"), ("\ude00b", "xa\U0001f600b")):
        reading = read(formats.load(table), [head, "x", "a\ud83d", last, tail])
        assert json.loads(reading.calls[0].arguments) == {"a": text}
