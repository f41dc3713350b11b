"""The work is linear in the output for any chunking: lines of ours that run are counted, not time."""

from __future__ import annotations

import pytest
from lines_run import lines_run

from gateway_args import Parser, formats

HOSTILE = {
    "prose": ("hermes", "word and <b> word, "),
    "half markers": ("hermes", "<tool_cal"),
    "openers": ("hermes", "<tool_call>"),
    "openers and white space": ("hermes", "<tool_call> \n"),
    "white space": ("hermes", " \n"),
    "blank lines in text": ("qwen3", "x\n\n\n\n\n\n"),
    "empty regions": ("hermes", "<tool_call>{}</tool_call>"),
    "broken calls": ("hermes", '<tool_call>{"name": "f", "arguments": {"a": nope}}'),
    "small calls": ("hermes", '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>\n'),
    "thoughts": ("qwen3", "<think>\n\n</think>\n\n"),
    "closers": ("qwen3", "</think></tool_call>"),
    "braces": ("json", "{"),
    "lists": ("json", '[{"name": '),
    "escapes in a string": ("hermes", "\\\\n"),
    "stray braces": ("hermes", "}{]["),
}
HEADS = {"white space": "x", "escapes in a string": '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"'}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("size", [1, 7, None])
def test_four_times_the_text_is_at_most_four_times_the_work(name, size):
    format, unit = HOSTILE[name]
    work = []
    for times in (200, 800):
        text = HEADS.get(name, "") + unit * times
        pieces = [text] if size is None else [text[n : n + size] for n in range(0, len(text), size)]
        work.append(lines_run(Parser(formats.load(format)), pieces))
    assert work[1] <= 4.4 * work[0] + 200, work


def test_a_long_argument_is_the_same_work_a_delta_however_long_it_is():
    head = '<tool_call>\n{"name": "write_file", "arguments": {"content": "'
    work = [lines_run(Parser(formats.load("hermes")), [head, *["and "] * times]) / times for times in (500, 4000)]
    assert work[1] <= work[0]
