"""What a grammar allows the parser reads: no malformed text, every call complete, its arguments valid.

Outputs are sampled from each table's grammar by llguidance's own matcher, as text and with markers as special tokens.
"""

from __future__ import annotations

import itertools
import random

import pytest
import walks

from gateway_args import TokenDecoder, formats, grammar

CHOICES = ("auto", "required", "find_all")
ASKED = list(itertools.product(CHOICES, (True, False), ("none", "optional", "open")))
QUICK = [("auto", True, "optional"), ("required", True, "none"), ("find_all", False, "open")]
WITH_CALLS = [name for name in formats.names() if any(state.calls for state in formats.load(name).states.values())]


def walk_and_read(name: str, choice: str, parallel: bool, reasoning: str, by_id: bool, count: int) -> int:
    """Walks one grammar, asserts that nothing in a reading breaks the promise, and says how many calls were read."""
    format = formats.load(name)
    if reasoning == "open" and "reasoning" not in format.states:
        reasoning = "none"
    markers = TokenDecoder(walks.encoding()).markers(format) if by_id else {}
    made = grammar.lark(
        format, walks.TOOLS, choice=choice, parallel=parallel, reasoning=reasoning, strict=True, markers=markers
    )
    walker = walks.Walker(made.text, format, walks.WORDS, markers)
    rng = random.Random(f"{name} {choice} {parallel} {reasoning} {by_id}")
    calls = 0
    for _ in range(count):
        walk = walker.walk(rng)
        start = "reasoning" if reasoning == "open" else None
        reading = walks.reading_of(format, walks.TOOLS, walk, start=start, by_id=by_id)
        wrong = walks.faults(reading, walks.TOOLS, choice=choice, parallel=parallel)
        assert not wrong, f"{walk.text!r}: {wrong}"
        if not by_id:
            assert not walks.quoted_markers(reading, format), repr(walk.text)
        if reasoning == "none":
            assert not reading.reasoning, repr(walk.text)
        calls += len(reading.calls)
    return calls


@pytest.mark.every_table
@pytest.mark.parametrize("by_id", [False, True], ids=["text", "ids"])
@pytest.mark.parametrize("name", WITH_CALLS)
def test_walks_are_read_whole(name: str, by_id: bool) -> None:
    calls = sum(walk_and_read(name, *asked, by_id=by_id, count=3) for asked in QUICK)
    assert calls >= 6  # the required and the forced ones at the least


@pytest.mark.every_table
@pytest.mark.parametrize("name", WITH_CALLS)
def test_what_is_still_allowed_of_a_changed_walk_is_read_whole(name: str) -> None:
    format = formats.load(name)
    allowed = 0
    for choice, parallel, reasoning in (("auto", True, "none"), ("required", False, "none")):
        made = grammar.lark(format, walks.TOOLS, choice=choice, parallel=parallel, reasoning=reasoning)
        walker = walks.Walker(made.text, format, walks.WORDS, {})
        rng = random.Random(f"changed {name}")
        for _ in range(4):
            text = walker.walk(rng, 40).text
            for _ in range(12):
                other = walks.changed(text, format, rng)
                if not walks.allows(made.text, other):
                    continue
                allowed += 1
                reading = walks.reading_of(format, walks.TOOLS, walks.Walk(other, []), start=None, by_id=False)
                wrong = walks.faults(reading, walks.TOOLS, choice=choice, parallel=parallel)
                assert not wrong, f"{other!r}: {wrong}"
    assert allowed


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("by_id", [False, True], ids=["text", "ids"])
@pytest.mark.parametrize("name", WITH_CALLS)
def test_two_hundred_walks_are_read_whole(name: str, by_id: bool) -> None:
    for asked in ASKED:
        walk_and_read(name, *asked, by_id=by_id, count=12)
