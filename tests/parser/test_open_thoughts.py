"""Calls from inside an open thought, in every table whose thought has rows for calls (policy 11)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from parser_harness import check

from gateway_args import Parser, Reading, ReasoningStart, Tools, contract, formats, read

TABLES = [
    name
    for name in formats.names()
    for fmt in [formats.load(name)]
    if fmt.reasoning_pairs
    and any(
        fmt.states[target].kind in ("call", "wrapper")
        for state in fmt.states.values()
        if state.kind == "reasoning"
        for target in state.on.values()
    )
    and "messages" not in fmt.summary.lower()
]


def written(name: str) -> contract.Case:
    """One call as the template writes it, with nothing else in the output."""
    fmt = formats.load(name)
    regions = tuple(text for text, what in fmt.regions.items() if what == "start")
    for case in contract.load(name).cases:
        if not case.text.lstrip().startswith(regions):
            continue
        plain = not (case.prompt or case.prefill or case.start or case.expect.reasoning or case.expect.content)
        if case.canonical and plain and len(case.expect.calls) == 1:
            return case
    pytest.skip(f"{name}: no lone call among the canonical cases")


def reading(name: str, case: contract.Case, output: str) -> Reading:
    tools = None if case.tools is None else Tools.of(list(case.tools))
    whole = read(formats.load(name), [output], tools=tools, finish="stop")
    assert read(formats.load(name), list(output), tools=tools, finish="stop") == whole
    return whole


@pytest.mark.parametrize("name", TABLES)
def test_a_call_from_an_open_thought_is_a_call_and_the_thought_goes_on(name: str) -> None:
    opener, closer = formats.load(name).reasoning_pairs[0]
    case = written(name)
    said = reading(name, case, f"{opener}Need it.{case.text.rstrip()}More.{closer}Done.")
    assert [(call.name, call.arguments, call.complete) for call in said.calls] == [
        (call.name, call.arguments, True) for call in case.expect.calls
    ]
    assert said.reasoning.split() == ["Need", "it.More."] or said.reasoning.split() == ["Need", "it.", "More."]
    assert said.content.strip() == "Done."


@pytest.mark.parametrize("name", TABLES)
def test_the_closer_behind_such_a_call_is_not_shown(name: str) -> None:
    opener, closer = formats.load(name).reasoning_pairs[0]
    case = written(name)
    said = reading(name, case, f"{opener}Need it.{case.text.rstrip()}{closer}")
    assert (said.reasoning.strip(), said.content.strip(), len(said.calls)) == ("Need it.", "", 1)
    assert not said.malformed


@pytest.mark.parametrize("name", TABLES)
def test_a_second_opener_inside_a_thought_is_dropped(name: str) -> None:
    fmt = formats.load(name)
    opener, closer = fmt.reasoning_pairs[0]
    said = read(fmt, [f"{opener}{opener}checking{closer}ok"], finish="stop")
    assert (said.reasoning.strip(), said.content.strip()) == ("checking", "ok")


def test_a_thought_starts_again_only_with_text() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    for tail, thoughts in (("", 1), ("\n</think>\n\n", 1), ("\nmore</think>", 2)):
        parser = Parser(formats.load("qwen3"))
        events = [*parser.feed(f"<think>\na\n{call}{tail}"), *parser.finish("stop")]
        assert sum(isinstance(event, ReasoningStart) for event in events) == thoughts
        starts = [type(event).__name__ for event in events]
        assert ("ReasoningStart", "ReasoningEnd") not in set(pairwise(starts))


def test_a_marker_that_reasoning_does_not_know_ends_it_behind_a_call() -> None:
    text = "a<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁output▁begin｜>x"
    reading = check("deepseek_v3_1", text, start="reasoning")
    assert (reading.reasoning, reading.content) == ("a", "x")
    assert [call.complete for call in reading.calls] == [True]
    assert [aside.text for aside in reading.dropped][-1] == "<｜tool▁output▁begin｜>"
