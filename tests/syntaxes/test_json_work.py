"""Hostile text costs linear work where bare calls are looked for: our lines are counted, and large texts must end."""

from __future__ import annotations

import pytest
from lines_run import lines_run

from gateway_args import Content, Parser, Tools, fold, formats

TOOLS = Tools.of([{"type": "function", "function": {"name": "add"}}])

UNITS = [
    "{",
    "[{",
    '{"',
    '{"a": ',
    '{"type": [',
    '{"parameters": ',
    '{"name": "add", ',
    '{"name": "add", "parameters": {"a": n',
    '{"name": "add"}; ',
    "<|python_tag|>{",
    "functools[",
    "```json\n[",
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("size", [7, None])
def test_four_times_the_text_is_at_most_four_times_the_work(unit, size):
    for table in ("llama3_json", "xlam", "phi4_mini"):
        work = []
        for times in (100, 400):
            text = unit * times
            work.append(
                lines_run(
                    Parser(formats.load(table), TOOLS),
                    [text] if size is None else [text[n : n + size] for n in range(0, len(text), size)],
                )
            )
        # nested candidates are read again at most `max_depth` times each, which a short text does not reach
        assert work[1] <= 4.6 * work[0] + 3000, (table, work)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", ["{", "[{", '{"parameters": '])
def test_a_large_hostile_delta_ends(unit):
    """What the interpreter scans in C is no line of ours: a square of this size would not end in time."""
    text = unit * (100_000 // len(unit))
    for table in ("llama3_json", "xlam"):
        parser = Parser(formats.load(table), TOOLS)
        events = parser.feed(text) + parser.finish("stop")
        assert fold(events).content == text


@pytest.mark.timeout(30)
@pytest.mark.parametrize("tail", ['], "name": "sub"}', '], "size": 1}', "]x"])
def test_a_large_candidate_that_is_rejected_late_is_read_twice_at_most_and_lost_never(tail):
    text = '{"parameters": [' + "10, " * 250_000 + "1" + tail
    parser = Parser(formats.load("llama3_json"), TOOLS)
    events = [event for at in range(0, len(text), 4096) for event in parser.feed(text[at : at + 4096])]
    events += parser.finish("stop")
    assert all(isinstance(event, Content) for event in events[:-1])
    assert fold(events).content == text
