"""What a parser demands of its caller, and the one order in which it speaks."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from parser_harness import events_of, merged

from gateway_args import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Finish,
    FormatError,
    LifecycleError,
    Parser,
    ReasoningEnd,
    ReasoningStart,
    Tools,
    formats,
    read,
)
from gateway_args.tokens.detokenizer import Delta, Token

PIECES = [
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "<think>\n\n</think>\n\n",
    '\n{"name": "add", "arguments": {"a": 1}}\n',
    '{"arguments": {"b": "x"}, "name": "sub"}',
    '{"name": "broken", "arguments": {"a": nope}}',
    '{"name": "',
    "text",
    " ",
    "\n",
    "<|im_end|>",
    "<tool_",
    '"',
    "}",
]


def test_a_finished_parser_takes_nothing_more():
    parser = Parser(formats.load("hermes"))
    parser.feed("Hi")
    parser.finish("stop")
    with pytest.raises(LifecycleError, match="finished"):
        parser.feed("more")
    with pytest.raises(LifecycleError, match="finished"):
        parser.finish("stop")


def test_a_parser_in_the_middle_of_a_string_takes_nothing_after_its_finish():
    parser = Parser(formats.load("hermes"))
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "x')
    parser.finish("length")
    with pytest.raises(LifecycleError):
        parser.feed("y")


def test_the_first_piece_decides_whether_a_stream_has_tokens():
    parser = Parser(formats.load("hermes"))
    parser.feed("")
    parser.feed(Delta("Hi", (Token(1, 0, 2),)))
    with pytest.raises(LifecycleError, match="without tokens"):
        parser.feed("text")
    parser = Parser(formats.load("hermes"))
    parser.feed("text")
    with pytest.raises(LifecycleError, match="began without"):
        parser.feed(Delta("Hi", (Token(1, 0, 2),)))


@pytest.mark.parametrize(
    "tokens",
    [(), (Token(1, 0, 1),), (Token(1, 1, 2),), (Token(1, 0, 3),), (Token(1, 0, 2), Token(2, 1, 2)), (Token(1, 2, 0),)],
)
def test_tokens_that_do_not_cover_the_text_are_refused(tokens):
    with pytest.raises(LifecycleError, match="cover the text"):
        Parser(formats.load("hermes")).feed(Delta("Hi", tokens))


def test_a_start_that_is_no_state_is_refused_with_the_states_there_are():
    with pytest.raises(ValueError, match="reasoning"):
        Parser(formats.load("qwen3"), start="thinking")


def test_tools_that_are_no_tools_value_are_refused():
    with pytest.raises(TypeError, match=r"Tools\.of"):
        Parser(formats.load("qwen3"), [{"name": "f"}])  # type: ignore[arg-type]


def test_an_unknown_format_names_near_ones():
    with pytest.raises(FormatError, match="hermes"):
        formats.load("hermess")


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("eos_token", "stop"),
        ("stop_sequence", "stop"),
        ("tool_calls", "stop"),
        ("function_call", "stop"),
        ("abort", "cancelled"),
        ("cancelled", "cancelled"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("error", "error"),
        (None, "error"),
        ("something_else", "something_else"),
    ],
)
def test_finish_reasons_are_read_in_the_words_of_engines(said, read):
    assert events_of("hermes", ["Hi"], said)[-1] == Finish(read, 0, None)


def test_tool_calls_is_said_only_when_the_engine_stopped_and_a_call_is_complete():
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    cut = '<tool_call>{"name": "f", "arguments": {"a"'
    assert events_of("hermes", [call], "stop")[-1] == Finish("tool_calls", 1, None)
    assert events_of("hermes", [call], "length")[-1] == Finish("length", 1, None)
    assert events_of("hermes", [cut], "stop")[-1] == Finish("stop", 1, None)
    assert events_of("hermes", [call + cut], "stop")[-1] == Finish("tool_calls", 2, None)


def test_call_ids_are_asked_for_once_a_call_with_index_and_name():
    asked = []

    def ids(index, name):
        asked.append((index, name))
        return f"id-{index}-{name}"

    text = '<tool_call>{"name": "f"}</tool_call><tool_call>{"name": "g"}</tool_call>'
    events = events_of("hermes", list(text), call_ids=ids)
    assert asked == [(0, "f"), (1, "g")]
    assert [event.id for event in events if isinstance(event, CallStart)] == ["id-0-f", "id-1-g"]


def test_a_request_without_tools_reads_call_markers_as_content():
    events = events_of("hermes", ['<tool_call>{"name": "f"}</tool_call>'], tools=Tools.of([]))
    assert not any(isinstance(event, CallStart) for event in events)


class Lifecycle(RuleBasedStateMachine):
    """Feeds, snapshots, copies and restores in any order, then a finish: the events keep the one order."""

    @initialize(start=st.sampled_from([None, "reasoning"]))
    def begin(self, start):
        self.format = formats.load("qwen3")
        self.parser = Parser(self.format, start=start)
        self.events = []
        self.over = False

    @precondition(lambda self: self.over)
    @rule(start=st.sampled_from([None, "reasoning"]))
    def read_another(self, start):
        self.begin(start)

    @precondition(lambda self: not self.over)
    @rule(piece=st.sampled_from(PIECES), cut=st.integers(0, 50))
    def feed(self, piece, cut):
        for part in (piece[:cut], piece[cut:]):
            self.events += self.parser.feed(part)

    @precondition(lambda self: not self.over)
    @rule()
    def move(self):
        self.parser = Parser.restore(self.parser.snapshot(), self.format)

    @precondition(lambda self: not self.over)
    @rule(piece=st.sampled_from(PIECES))
    def fork(self, piece):
        before = self.parser.snapshot()
        other = self.parser.copy()
        other.feed(piece)
        other.finish("stop")
        assert self.parser.snapshot() == before

    @precondition(lambda self: not self.over)
    @rule(reason=st.sampled_from(["stop", "length", None]))
    def finish(self, reason):
        self.events += self.parser.finish(reason)
        self.over = True

    @invariant()
    def the_order_holds(self):
        open_call = None
        thought = False
        calls = 0
        for n, event in enumerate(self.events):
            match event:
                case CallStart():
                    assert open_call is None
                    assert event.index == calls
                    assert not thought
                    open_call = event.index
                    calls += 1
                case CallArguments() | CallEnd():
                    assert event.index == open_call
                    if isinstance(event, CallEnd):
                        open_call = None
                case ReasoningStart():
                    assert not thought
                    assert open_call is None
                    thought = True
                case ReasoningEnd():
                    assert thought
                    thought = False
                case Finish():
                    assert n == len(self.events) - 1
                    assert self.over
                    assert event.calls == calls
        if self.over:
            assert isinstance(self.events[-1], Finish)
            assert open_call is None
            assert not thought


TestLifecycle = Lifecycle.TestCase


def test_a_delta_that_is_refused_changes_nothing():
    parser = Parser(formats.load("hermes"))
    for text, tokens in (("bc", (Token(1, 0, 0), Token(2, 0, 1))), ("b", (Token(1, 0, 2),)), ("b", ())):
        with pytest.raises(LifecycleError, match="cover"):
            parser.feed(Delta(text, tokens))
    events = [*parser.feed("d"), *parser.finish("stop")]
    assert events == [Content("d", None), Finish("stop", 0, None)]


def test_a_call_is_no_state_to_start_in():
    with pytest.raises(ValueError, match="prefill"):
        Parser(formats.load("hermes"), start="call")


@pytest.mark.parametrize(
    ("mistake", "mend"),
    [
        (lambda: Parser("hermes"), r"formats\.load"),
        (lambda: Parser(formats.load("hermes"), limits={"max_name": 3}), "Limits"),
        (lambda: Parser(formats.load("hermes"), markers=["<tool_call>"]), "token id"),
        (lambda: Parser(formats.load("hermes")).feed(b"bytes"), "decode them"),
        (lambda: Parser(formats.load("hermes")).feed(None), "neither str nor Delta"),
        (lambda: Parser(formats.load("hermes")).finish(3), "finish reason|str or None object expected"),
    ],
)
def test_a_wrong_argument_is_one_error_with_its_mend(mistake, mend):
    with pytest.raises(TypeError, match=mend):
        mistake()


CALLS = {
    "hermes": 'So.\n<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call>\n<tool_call>{"name": "b"}</tool_call>',
    "mistral_v3": '[TOOL_CALLS] [{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}}]',
    "llama3_json": '{"name": "a", "parameters": {"x": 1}}; {"name": "b", "parameters": {}}',
    "pythonic": "[a(x=1), b()]",
    "qwen3_coder": "<tool_call>\n<function=a>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n"
    "<function=b>\n</function>\n</tool_call>",
    "gemma4": "<|tool_call>call:a{x:1}<tool_call|><|tool_call>call:b{}<tool_call|>",
    "sarashina": "<|tool_calls|>[{'name': 'a', 'arguments': {'x': 1}}, {'name': 'b', 'arguments': {}}]",
    "mistral": '[TOOL_CALLS]a[ARGS]{"x": 1}[TOOL_CALLS]b[ARGS]{}',
}


class Flaky:
    """A `call_ids` that raises before it answers, as often as it is told."""

    def __init__(self, times):
        self.times = times
        self.left = times
        self.given = []

    def __call__(self, index, name):
        if self.left:
            self.left -= 1
            raise OSError("no ids today")
        self.left = self.times
        self.given.append((index, name))
        return f"id_{name}"


@pytest.mark.parametrize("format", CALLS)
@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("stored", [False, True])
def test_call_ids_that_raise_lose_nothing(format, size, times, stored):
    table = formats.load(format)
    text = CALLS[format]
    plain = events_of(table, [text], call_ids=lambda _, name: f"id_{name}")
    ids = Flaky(times)
    parser = Parser(table, call_ids=ids)
    events = []
    for piece in [text[at : at + size] for at in range(0, len(text), size)] + [None]:
        step = piece
        while True:
            try:
                events += parser.finish("stop") if step is None else parser.feed(step)
            except OSError:
                step = None if step is None else ""  # the piece has been read
                if stored:
                    parser = Parser.restore(parser.snapshot(), table, call_ids=ids)
            else:
                break
    assert merged(events) == merged(plain)
    assert ids.given == [(0, "a"), (1, "b")]


def test_call_ids_that_raise_for_a_prefilled_call():
    parser = Parser(formats.load("hermes"), prefill='<tool_call>{"name": "a", "arguments": {"x": ', call_ids=Flaky(1))
    with pytest.raises(OSError, match="no ids"):
        parser.feed("1")
    start, *rest = parser.feed("")
    assert (start.id, start.source) == ("id_a", "")
    assert "".join(event.json for event in rest) == '{"x": 1'


def test_an_output_whose_last_ids_failed_takes_no_more_text():
    parser = Parser(formats.forced("a"), call_ids=Flaky(1))
    parser.feed(" ")
    with pytest.raises(OSError, match="no ids"):
        parser.finish("stop")
    with pytest.raises(LifecycleError, match="finished"):
        parser.feed("x")
    assert [type(event) for event in parser.finish("stop")][-3:] == [CallArguments, CallEnd, Finish]
    with pytest.raises(LifecycleError, match="finished"):
        parser.finish("stop")


def test_ids_of_nine_letters_and_digits_know_the_call_and_its_function() -> None:
    def ids(text: str) -> list[str]:
        return [call.id for call in read(formats.load("mistral"), [text]).calls]

    assert len({*ids("[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]f[ARGS]{}"), *ids("[TOOL_CALLS]g[ARGS]{}")}) == 3
    assert all(len(id) == 9 and id.isalnum() for id in ids("[TOOL_CALLS]f[ARGS]{}"))


def test_calls_that_say_the_same_are_equal_however_their_arguments_came():
    output = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    hermes = formats.load("hermes")
    whole, single = (read(hermes, pieces, finish="stop").calls[0] for pieces in ([output], list(output)))
    assert whole == single
    assert whole != read(hermes, [output.replace("1", "2")], finish="stop").calls[0]
    assert whole.as_dict()["arguments"] == '{"a": 1}'
