"""The promises over generated outputs: sound ones, broken ones and debris, as text and as tokens, cut anywhere.

An output is a list of atoms (markers, calls, halves of calls, characters that mean something). A stream of tokens cuts
the atoms at random; a marker is one token by its id, with its text or without, or spelled in ordinary tokens; tokens
without text stand between. What JSON is, llguidance and `json.loads` say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_harness import merged, normal

from gateway_args import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Delta,
    Event,
    Finish,
    Format,
    Limits,
    Parser,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Token,
    Tools,
    fold,
    formats,
)
from gateway_args.contract import oracle
from gateway_args.events import source_of

QWEN3 = formats.load("qwen3")
TABLES: dict[str, Format] = {
    **{name: formats.load(name) for name in ("hermes", "qwen3", "json", "plain")},
    "forced": formats.forced("add"),
    "forced after a thought": formats.forced("add", QWEN3),
    "required": formats.required(),
    "required after a thought": formats.required(QWEN3),
}
TOOLS = Tools.of([{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("add", "f")])
MARKERS = ["<tool_call>", "</tool_call>", "<think>", "</think>", "<|im_end|>"]
IDS = {text: 1000 + number for number, text in enumerate(MARKERS)}
ORDINARY = 5
UNKNOWN = 7
TURN = "<|im_start|>assistant\n"

CALLS = [
    '{"name": "add", "arguments": {"a": 1}}',
    '{"arguments": {"b": [1, 2]}, "name": "x"}',
    '{"name": "f", "arguments": {"a": nope}}',
    '{"name": "f", "arguments": {"a": 1,}}',
    '{"name": "f", "arguments": "{\\"k\\": \\"v\\\\n\\"}"}',
    '{"arguments": "[\\"\\\\ud83d\\\\ude00\\", \\"\\ud83d\\ude00\\"]", "name": "f"}',
    '{"name": "f", "arguments": "{} x"}',
    '{"name": "add", "arguments": null}',
    '{"type": "f", "id": "1", "name": "add", "parameters": 12}',
    '{"name": "add", "name": "e", "arguments": {"s": "a\tb"}, "arguments": 3}',
    '{"name": "add", "arguments": {"s": "<tool_call> </tool_call> <think> <|im_end|>"}}',
    '{"name": "add", "x": {"y": [1, "</tool_call>"]}, "arguments": [[[[1]]]], "z": tru}',
    '[{"name": "add", "arguments": {}}, {"name": "f", "parameters": 1.5e3}]',
    '{"a": [true, null, "\\u00e9😀"]}',
]
DEBRIS = [
    *'{}[]",:\\ \n\t<xn15-é😀\x01\ud83d\ude00',
    "\n\n",
    "</",
    "<tool",
    "null",
    "tru",
    '"name": ',
    '"arguments":',
    "\\ud83d",
]


@st.composite
def pieces_of_calls(draw: st.DrawFn) -> str:
    call = draw(st.sampled_from(CALLS))
    start = draw(st.integers(0, len(call)))
    return call[: start or None] if draw(st.booleans()) else call[start:]


atoms = st.lists(
    st.one_of(
        st.sampled_from(MARKERS),
        st.sampled_from(CALLS),
        st.sampled_from(CALLS).map(lambda call: f"<tool_call>\n{call}\n</tool_call>\n"),
        pieces_of_calls(),
        st.sampled_from(DEBRIS),
    ),
    min_size=1,
    max_size=7,
)
options = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.sampled_from([TOOLS, TOOLS, Tools.of([])]),
        "undeclared": st.just("malformed"),
        "limits": st.builds(
            Limits,
            max_depth=st.sampled_from([1, 3, 32]),
            max_name=st.sampled_from([1, 4, 256]),
            max_layout=st.sampled_from([1, 3, 256]),
            max_held=st.sampled_from([1, 12, 40, 1 << 20]),
            max_arguments=st.sampled_from([1, 3, 9, None]),
            max_calls=st.sampled_from([1, 2, 1024]),
        ),
        "prompt": st.builds(
            lambda front, parts, size: front + "".join(parts)[:size],
            st.sampled_from([TURN, "", "x" + TURN]),
            atoms,
            st.integers(0, 120),
        ),
    },
)
reasons = st.sampled_from(["stop", "length", "abort", None])


@st.composite
def tokens(draw: st.DrawFn) -> list[tuple[str, int]]:
    """An output as tokens: (text, id)."""
    found: list[tuple[str, int]] = []
    for atom in draw(atoms):
        if atom in IDS and draw(st.booleans()):
            found.append((draw(st.sampled_from([atom, atom, "", " " + atom])), IDS[atom]))
            continue
        sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
        at = number = 0
        while at < len(atom):
            size = sizes[number % len(sizes)]
            found.append((atom[at : at + size], ORDINARY) if size else ("", UNKNOWN))
            at += size or (sum(sizes) == 0)
            number += 1
    return found or [("", UNKNOWN)]


def delta(piece: list[tuple[str, int]]) -> Delta:
    found, at = [], 0
    for text, id in piece:
        found.append(Token(id, at, at + len(text)))
        at += len(text)
    return Delta("".join(text for text, _ in piece), tuple(found))


@dataclass(frozen=True)
class Plan:
    """Where a stream is cut, in turn, and what is done to the parser after each delta."""

    sizes: tuple[int, ...]
    after: str = ""

    def deltas(self, stream: Any) -> list[Any]:
        found, at, number = [], 0, 0
        while at < len(stream):
            size = self.sizes[number % len(self.sizes)]
            piece = stream[at : at + size]
            found.append(piece if isinstance(piece, str) else delta(piece))
            at += size
            number += 1
        return found


WHOLE = Plan((1 << 30,))
plans = st.builds(
    Plan, st.lists(st.integers(1, 30), min_size=1, max_size=8).map(tuple), st.sampled_from(["", "restore", "copy"])
)


def said(format: Format, stream: Any, plan: Plan, reason: str | None, options: dict[str, Any]) -> list[Event]:
    parser = Parser(format, **options)
    events: list[Event] = []
    for piece in plan.deltas(stream):
        events += parser.feed(piece)
        if plan.after == "restore":
            parser = Parser.restore(parser.snapshot(), format, options.get("tools"))
        elif plan.after == "copy":
            parser.copy().finish("stop")
    return events + parser.finish(reason)


def assert_json_is_strict(events: list[Event]) -> None:
    """Fragments joined can become a value, and a call is complete exactly when they are one."""
    fragments: dict[int, str] = {}
    for event in events:
        match event:
            case CallStart():
                fragments[event.index] = ""
            case CallArguments():
                fragments[event.index] += event.json
            case CallEnd():
                text = fragments[event.index]
                assert oracle.refused_at(text) is None, text
                if not oracle.is_bare_number(text):
                    assert event.complete == oracle.is_whole(text), text


def assert_order_of_life(events: list[Event]) -> None:
    """One thing is open at a time, and everything that began ends."""
    open_call: int | None = None
    thinking = False
    calls = 0
    for event in events:
        match event:
            case ReasoningStart() | CallStart():
                assert not thinking
                assert open_call is None
            case Reasoning() | ReasoningEnd():
                assert thinking
            case CallArguments() | CallEnd():
                assert event.index == open_call
            case Content() | Finish():
                assert not thinking
                assert open_call is None
        if isinstance(event, ReasoningStart | ReasoningEnd):
            thinking = isinstance(event, ReasoningStart)
        if isinstance(event, CallStart):
            assert event.index == calls
            open_call, calls = event.index, calls + 1
        if isinstance(event, CallEnd):
            open_call = None
    assert isinstance(events[-1], Finish)
    assert events[-1].calls == calls


def assert_promises(format: Format, stream: Any, plan: Plan, reason: str | None, options: dict[str, Any]) -> None:
    whole = said(format, stream, WHOLE, reason, options)
    text = stream if isinstance(stream, str) else "".join(text for text, _ in stream)
    assert normal("".join(map(source_of, whole))) == normal(text)
    counts = [event.tokens for event in whole if not isinstance(event, ReasoningStart | ReasoningEnd | Finish)]
    if isinstance(stream, str):
        assert set(counts) <= {None}
    else:
        assert sum(count for count in counts if count is not None) == len(stream)
        assert None not in counts
    assert_order_of_life(whole)
    assert_json_is_strict(whole)
    expected = merged(whole)
    assert merged(said(format, stream, Plan((1,)), reason, options)) == expected
    assert merged(said(format, stream, plan, reason, options)) == expected


@pytest.mark.parametrize("table", TABLES)
@given(parts=atoms, plan=plans, reason=reasons, options=options)
def test_text_keeps_the_promises_however_it_is_cut(table, parts, plan, reason, options):
    assert_promises(TABLES[table], "".join(parts), plan, reason, options)


@pytest.mark.parametrize("table", TABLES)
@given(
    stream=tokens(),
    plan=plans,
    reason=reasons,
    options=options,
    known=st.none() | st.sets(st.sampled_from(MARKERS)) | st.just(set(MARKERS)),
)
def test_tokens_keep_the_promises_however_they_are_grouped(table, stream, plan, reason, options, known):
    markers = None if known is None else {text: IDS[text] for text in known}
    assert_promises(TABLES[table], stream, plan, reason, {**options, "markers": markers})


SOUND = {
    "hermes": 'Hi.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "s": "\\n\\u00e9"}}\n</tool_call>\n<tool_call>\n'
    '{"arguments": "{\\"a\\": [1, 2.5e3]}", "name": "f", "x": null}\n</tool_call><|im_end|>',
    "qwen3": '<think>\nhm\n</think>\n\nHi.\n<tool_call>\n{"name": "add", "arguments": {"a": [1, "<think>"]}}'
    "\n</tool_call>",
    "forced after a thought": '<think>\nhm\n</think>\n\n{"a": [1, {"b": "c\\u00e9\n"}], "s": -1.5e+3}<|im_end|>',
    "required after a thought": '<think>\nhm\n</think>\n\n[{"name": "f", "parameters": {"a": 1}}, {"name": "add"}]\n',
}


@pytest.mark.parametrize("table", SOUND)
def test_an_output_begun_in_the_prefill_ends_in_the_same_calls_wherever_it_was_cut(table):
    output = SOUND[table]
    whole = said(TABLES[table], output, WHOLE, "stop", {})
    calls = fold(whole).calls
    for cut in range(len(output)):
        rest = said(TABLES[table], output[cut:], WHOLE, "stop", {"prompt": TURN, "prefill": output[:cut]})
        assert "".join(map(source_of, rest)) == output[cut:]
        at = over = 0  # calls that were over in the prefill are none of this output's
        for event in whole:
            at += len(source_of(event))
            over += isinstance(event, CallEnd) and at <= cut
        found = fold(rest).calls[over - len(calls) :] if over < len(calls) else []
        assert [(c.name, c.arguments, c.complete) for c in found] == [
            (c.name, c.arguments, c.complete) for c in calls[over:]
        ], cut
        assert fold(whole).content.endswith(fold(rest).content)
        assert fold(whole).reasoning.endswith(fold(rest).reasoning)
