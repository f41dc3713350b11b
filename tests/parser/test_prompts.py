"""What a prompt opened is open, thoughts and layout; what the model has said already goes on, calls too."""

from __future__ import annotations

import pytest
from parser_harness import check, events_of, merged

import gateway_args
from gateway_args import CallArguments, CallStart, Delta, Parser, ReasoningStart, Token, Tools, fold, formats, read
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
def test_a_call_that_the_prefill_began_is_whole(cut):
    reading = check("qwen3", CALL[cut:], prompt=TURN, prefill=CALL[:cut])
    assert [(call.name, call.arguments, call.complete) for call in reading.calls] == [
        ("add", '{"a": "x\\n", "b": 2}', True)
    ]
    assert not reading.malformed
    assert reading.content == ""


def test_the_prefilled_part_has_no_source_and_comes_with_the_first_delta():
    events = events_of("qwen3", ["x", CALL[CALL.index("\\n") :]], prompt=TURN, prefill=CALL[: CALL.index("x\\n")])
    start, fragment, *_ = events
    assert isinstance(start, CallStart)
    assert start.source == ""
    assert fragment == CallArguments(0, '{"a": "', "", None)
    assert "".join(map(source_of, events)) == "x" + CALL[CALL.index("\\n") :]


def test_calls_that_the_prefill_ended_are_not_said_again():
    reading = check("qwen3", CALL[30:], prompt=TURN, prefill=CALL + "\n" + CALL[:30])
    assert [call.index for call in reading.calls] == [0]
    assert reading.finish is not None
    assert reading.finish.calls == 1


def test_a_prompt_and_a_snapshot_before_the_first_delta():
    format = formats.load("qwen3")
    plain = events_of(format, [CALL[40:]], prompt=TURN, prefill=CALL[:40])
    parser = Parser.restore(Parser(format, prompt=TURN, prefill=CALL[:40]).snapshot(), format)
    assert merged(parser.feed(CALL[40:]) + parser.finish("stop")) == merged(plain)


def test_start_names_a_state_when_no_prompt_is_at_hand():
    reading = check("qwen3", "hm\n</think>\n\nHi", start="reasoning")
    assert (reading.reasoning, reading.content) == ("hm", "Hi")


@pytest.mark.parametrize("deltas", [["</think>x"], [Delta("</think>x", (Token(2, 0, 8), Token(3, 8, 9)))]])
def test_half_a_surrogate_pair_in_a_prompt_is_no_marker(deltas):
    said = events_of("qwen3", deltas, prompt=TURN + "<think>\n\ud800 \udc00\ude00", markers={"</think>": 2})
    assert "".join(map(source_of, said)) == "</think>x"
    assert fold(said).content == "x"


def test_calls_that_are_over_in_the_prefill_are_given_no_id():
    asked = []

    def call_ids(index, name):
        asked.append((index, name))
        return f"id_{name}"

    prefill = '<tool_call>{"name": "a"}</tool_call><tool_call>{"name": "b", "arguments": {"x'
    said = events_of("hermes", ['": 1}}</tool_call><tool_call>{"name": "c"}'], prefill=prefill, call_ids=call_ids)
    assert [event.id for event in said if isinstance(event, CallStart)] == ["id_b", "id_c"]
    assert asked == [(0, "b"), (1, "c")]


def test_a_marker_that_the_prefill_quotes_in_a_value_is_its_text():
    prefill = "<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value><arg_key> z</arg_value></too"
    function = {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}
    tools = Tools.of([{"type": "function", "function": function}])
    said = events_of("glm47", [Delta("call>", (Token(3, 0, 5),))], prefill=prefill, tools=tools)
    assert fold(said).calls[0].arguments == '{"a": "x</arg_value><arg_key> z</arg_value></toocall>'


def test_of_a_list_that_the_prefill_began_only_the_open_call_goes_on():
    prefill = '[TOOL_CALLS] [{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {"y": '
    reading = check("mistral_v3", "2}}]", prefill=prefill)
    assert [(call.index, call.name, call.arguments) for call in reading.calls] == [(0, "b", '{"y": 2}')]


def test_a_prefill_between_two_calls_of_a_list():
    reading = check("mistral_v3", ' {"name": "b", "arguments": {}}]', prefill='[TOOL_CALLS] [{"name": "a"},')
    assert [(call.index, call.name) for call in reading.calls] == [(0, "b")]


def test_the_prefilled_call_counts_no_tokens():
    said = events_of(
        "hermes", [Delta("1}}", (Token(5, 0, 3),))], prefill='<tool_call>{"name": "f", "arguments": {"a": '
    )
    assert [event.tokens for event in said if isinstance(event, CallStart | CallArguments)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("start", "prefill", "output", "reasoning", "content"),
    [
        (None, "<think>\nI", " see</think>Yes", " see", "Yes"),
        (None, "<think>\nI see</think>\n", "\nYes", "", "Yes"),
        (None, "Well", ", yes", "", ", yes"),
        ("reasoning", "I", " see</think>Yes", " see", "Yes"),
    ],
)
def test_text_that_was_said_already_goes_on(start, prefill, output, reasoning, content):
    reading = check("qwen3", output, start=start, prefill=prefill)
    assert (reading.reasoning, reading.content) == (reasoning, content)


def test_the_templates_own_beginning_of_an_output_stands_in_the_prompt_or_in_the_table():
    assert [call.name for call in check("functionary_v3_2", "f\n{}").calls] == ["f"]
    assert [call.name for call in check("functionary_v3_2", "f\n{}", prompt="Hi>>>").calls] == ["f"]
    assert [call.name for call in check("functionary_v3_2", "\n{}", prefill=">>>f").calls] == ["f"]


@pytest.mark.parametrize("option", ["prompt", "prefill"])
def test_what_stands_before_the_output_is_text(option):
    said = "str object expected" if gateway_args.__compiled__ else f"{option} is None; expected its text"
    with pytest.raises(TypeError, match=said):
        Parser(formats.load("hermes"), **{option: None})


@pytest.mark.parametrize(
    ("name", "header"), [("functionary_v2", "all\n<|content|>"), ("functionary_v3_2", "all\n"), ("glm4_0414", "\n")]
)
def test_the_tables_end_of_a_prompt_is_not_read_where_the_caller_names_the_state(name: str, header: str) -> None:
    format = formats.load(name)
    assert format.prompt_end
    assert read(format, [header + "Hello."]).content == "Hello."
    assert read(format, [header + "Hello."], start=format.start).content == header + "Hello."
