"""A number as arguments: whole where something else follows, by text and by id alike; open at the output's end."""

from __future__ import annotations

import re

import pytest

from gateway_args import Delta, Format, Reading, Token, formats, read

TEXTS = {
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
    "<|tool_call_argument_begin|>{}<|tool_call_end|>",
    "deepseek_v3_1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    "harmony": "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>",
    "mistral": "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]",
    "hermes": '<tool_call>{{"name": "f", "arguments": {}}}</tool_call>',
}


def in_tokens(format: Format, text: str) -> Delta:
    """The text with each marker as one token of its own."""
    words = sorted(format.token_texts, key=len, reverse=True)
    pieces = [piece for piece in re.split(f"({'|'.join(map(re.escape, words))})", text) if piece]
    tokens, at = [], 0
    for piece in pieces:
        tokens.append(Token(words.index(piece) if piece in words else 1000, at, at + len(piece)))
        at += len(piece)
    return Delta(text, tuple(tokens))


def readings(name: str, text: str, finish: str = "stop") -> list[Reading]:
    format = formats.load(name) if name != "forced" else formats.forced("f", formats.load("qwen3"))
    words = sorted(format.token_texts, key=len, reverse=True)
    markers = {word: number for number, word in enumerate(words)}
    return [
        read(format, [text], finish=finish),
        read(format, list(text), finish=finish),
        read(format, [in_tokens(format, text)], markers=markers, finish=finish),
    ]


@pytest.mark.parametrize("number", ["5", "-0.5", "1e9", "120"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_marker_ends_a_number(name: str, number: str) -> None:
    for reading in readings(name, TEXTS[name].format(number)):
        assert [(call.arguments, call.complete) for call in reading.calls] == [(number, True)]


@pytest.mark.parametrize("number", ["-", "1.", "1e", "tru"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_marker_ends_no_number_that_wants_more(name: str, number: str) -> None:
    for reading in readings(name, TEXTS[name].format(number)):
        assert [(call.arguments, call.complete) for call in reading.calls] == [(number, False)]


def test_the_end_of_a_turn_ends_a_forced_number_and_the_end_of_the_output_does_not() -> None:
    for text, complete in (("5<|im_end|>", True), ("5 ", True), ("5", False)):
        for reading in readings("forced", text):
            assert [(call.arguments, call.complete) for call in reading.calls] == [("5", complete)], text
