"""A few seeded inputs of every format, and the oracles tried on what they must refuse; `run.py` goes on for longer."""

from __future__ import annotations

import pytest
from fuzz_inputs import Input
from fuzz_oracles import faults, fragments, is_whole, json_prefix, merged, output_of
from fuzz_runs import search, smallest, wrong

from gateway_args import contract


@pytest.mark.every_table
@pytest.mark.parametrize("name", contract.names())
def test_mutated_outputs_keep_every_promise(name: str) -> None:
    found = [f"{fault}\n{case}" for case, fault in search("ci", [name], lambda number: number < 12)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("", 0),
        ('{"a": [1, true, null, "x"]} ', 28),
        ("-", 1),
        ("01", 1),
        ("1.", 2),
        ("1.x", 2),
        ("1e+", 3),
        ("1 2", 2),
        ("[1,]", 3),
        ('{"a" 1}', 5),
        ("{,", 1),
        ("falsex", 5),
        ("fax", 2),
        ("[}", 1),
        ('"\\x"', 2),
        ('"\\u12', 5),
        ('"a\nb"', 2),
        ("NaN", 0),
        ("[]]", 2),
        ("{}", 2),
    ],
)
def test_the_prefix_oracle_refuses_at_the_character(text: str, good: int) -> None:
    assert json_prefix(text) == good


@pytest.mark.parametrize(("text", "whole"), [("{}", True), ("NaN", False), ("[1,]", False), (" 1 ", True), ("", False)])
def test_the_oracle_of_whole_values(text: str, whole: bool) -> None:
    assert is_whole(text) is whole


def test_the_output_has_pairs_joined_and_lone_surrogates_replaced() -> None:
    assert output_of("a\ud83d\ude00b\ud83dc\ude00") == "a😀b\ufffdc\ufffd"


def _call(json: str, complete: bool) -> list[dict[str, object]]:
    return [
        {"kind": "CallStart", "index": 0, "id": "i", "name": "f", "declared": None, "source": "f", "tokens": None},
        {"kind": "CallArguments", "index": 0, "json": json, "source": json, "tokens": None},
        {"kind": "CallEnd", "index": 0, "complete": complete, "source": "", "tokens": None},
        {"kind": "Finish", "reason": "tool_calls" if complete else "stop", "calls": 1, "reasoning_tokens": None},
    ]


def test_sound_events_have_no_fault() -> None:
    assert list(faults(_call("{}", True), "f{}", None, "stop")) == []


@pytest.mark.parametrize(
    ("events", "output", "what"),
    [
        (_call("{}", True), "f{}x", "conservation"),
        (_call("{", True), "f{", "complete"),
        (_call("{}", False), "f{}", "complete"),
        (_call("{]", False), "f{]", "strict prefix"),
        (_call("{}", True)[1:], "{}", "lifecycle"),
        (_call("{}", True)[:-1], "f{}", "lifecycle"),
    ],
)
def test_each_oracle_sees_its_fault(events: list[dict[str, object]], output: str, what: str) -> None:
    assert any(what in fault for fault in faults(events, output, None, "stop"))


def test_neighbours_are_joined_whatever_the_cut() -> None:
    events = [{"kind": "Content", "text": text, "tokens": 1} for text in ("a", "b")]
    assert merged(events) == [{"kind": "Content", "text": "ab", "tokens": 2}]
    assert list(fragments(merged(_call("[1", False)))) == []


def test_a_failure_is_shown_with_a_small_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted oracle stands for a fault of the package: an output with a `z` in it is wrong."""
    import fuzz_runs

    monkeypatch.setattr(fuzz_runs, "faults", lambda said, *_: ["tokens: planted"] if "z" in str(said) else [])
    case = Input("hermes", "some words, z and more words")
    assert next(wrong(case, "s")).endswith("tokens: planted")
    assert smallest(case, "s", "whole: tokens: planted").output == "z"
