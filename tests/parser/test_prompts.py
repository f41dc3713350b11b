"""What a prompt opened is open: thoughts, layout and calls that the output goes on with."""

from __future__ import annotations

import pytest
from parser_harness import check, events_of, merged

from gateway_args import CallArguments, CallStart, Delta, Parser, ReasoningStart, Token, Tools, fold, formats
from gateway_args.events import source_of

TURN = "<|im_start|>user\nHello <think> there<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("prompt", "output", "reasoning", "content"),
    [
        (TURN, "<think>\nhm\n</think>\n\nHi", "hm", "Hi"),
        (TURN + "<think>\n", "hm\n</think>\n\nHi", "hm", "Hi"),
        (TURN + "<think>", "\nhm\n</think>\n\nHi", "hm", "Hi"),
        (TURN + "<think>\n\n</think>\n\n", "Hi", "", "Hi"),
        (TURN + "<think>\n\n</think>\n", "\nHi", "", "Hi"),
        (TURN + "<think>\n\n</think>\n", "\n\nHi", "", "\nHi"),
        (TURN + "</think>", "Hi", "", "Hi"),
        ("no opener here <think>\n", "hm</think>Hi", "hm", "Hi"),
        ("no opener here, <think> and </think>", "Hi", "", "Hi"),
        ("no opener here, <tool_call>", '{"name": "f"}</tool_call>', "", '{"name": "f"}</tool_call>'),
        ("", "hm</think>Hi", "", "hm</think>Hi"),
    ],
)
def test_the_prompts_end_says_where_the_output_starts(prompt, output, reasoning, content):
    reading = check("qwen3", output, prompt=prompt)
    assert (reading.reasoning, reading.content) == (reasoning, content)


def test_only_the_last_turn_counts():
    prompt = "<|im_start|>assistant\n<think>\n" + TURN
    assert check("qwen3", "Hi", prompt=prompt).content == "Hi"


def test_a_thought_that_the_prompt_opened_starts_with_the_first_delta():
    parser = Parser(formats.load("qwen3"), prompt=TURN + "<think>\n")
    assert parser.feed("") == []
    assert parser.feed("h")[0] == ReasoningStart()


CALL = '<tool_call>\n{"name": "add", "arguments": {"a": "x\\n", "b": 2}}\n</tool_call>'


@pytest.mark.parametrize("cut", range(1, len(CALL)))
def test_a_call_that_the_prompt_began_is_whole(cut):
    reading = check("qwen3", CALL[cut:], prompt=TURN + CALL[:cut])
    assert [(call.name, call.arguments, call.complete) for call in reading.calls] == [
        ("add", '{"a": "x\\n", "b": 2}', True)
    ]
    assert not reading.malformed
    assert reading.content == ""


def test_the_prefilled_part_has_no_source_and_comes_with_the_first_delta():
    events = events_of("qwen3", ["x", CALL[CALL.index("\\n") :]], prompt=TURN + CALL[: CALL.index("x\\n")])
    start, fragment, *_ = events
    assert isinstance(start, CallStart)
    assert start.source == ""
    assert fragment == CallArguments(0, '{"a": "', "", None)
    assert "".join(map(source_of, events)) == "x" + CALL[CALL.index("\\n") :]


def test_calls_that_the_prompt_ended_are_not_said_again():
    prompt = TURN + CALL + "\n" + CALL[:30]
    reading = check("qwen3", CALL[30:], prompt=prompt)
    assert [call.index for call in reading.calls] == [0]
    assert reading.finish is not None
    assert reading.finish.calls == 1


def test_a_prompt_and_a_snapshot_before_the_first_delta():
    format = formats.load("qwen3")
    plain = events_of(format, [CALL[40:]], prompt=TURN + CALL[:40])
    parser = Parser.restore(Parser(format, prompt=TURN + CALL[:40]).snapshot(), format)
    assert merged(parser.feed(CALL[40:]) + parser.finish("stop")) == merged(plain)


def test_start_names_a_state_when_no_prompt_is_at_hand():
    reading = check("qwen3", "hm\n</think>\n\nHi", start="reasoning")
    assert (reading.reasoning, reading.content) == ("hm", "Hi")


@pytest.mark.parametrize("deltas", [["</think>x"], [Delta("</think>x", (Token(2, 0, 8), Token(3, 8, 9)))]])
def test_half_a_surrogate_pair_in_a_prompt_is_no_marker(deltas):
    said = events_of("qwen3", deltas, prompt=TURN + "<think>\n\ud800 \udc00\ude00", markers={"</think>": 2})
    assert "".join(map(source_of, said)) == "</think>x"
    assert fold(said).content == "x"


def test_calls_that_are_over_in_the_prompt_are_given_no_id():
    asked = []

    def call_ids(index, name):
        asked.append((index, name))
        return f"id_{name}"

    prompt = '<|im_start|>assistant\n<tool_call>{"name": "a"}</tool_call><tool_call>{"name": "b", "arguments": {"x'
    said = events_of("hermes", ['": 1}}</tool_call><tool_call>{"name": "c"}'], prompt=prompt, call_ids=call_ids)
    assert [event.id for event in said if isinstance(event, CallStart)] == ["id_b", "id_c"]
    assert asked == [(0, "b"), (1, "c")]


def test_a_marker_that_the_prompt_quotes_in_a_value_is_its_text():
    prompt = "<|assistant|><tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value><arg_key> z</arg_value></too"
    function = {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}
    tools = Tools.of([{"type": "function", "function": function}])
    said = events_of("glm47", [Delta("call>", (Token(3, 0, 5),))], prompt=prompt, tools=tools)
    assert fold(said).calls[0].arguments == '{"a": "x</arg_value><arg_key> z</arg_value></toocall>'
