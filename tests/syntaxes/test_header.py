"""Header patterns: what they read, and that what they say of a text never depends on how much of it has come."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args import Limits
from gateway_args.syntaxes.pattern import Match, Pattern, first_match, header_problem
from gateway_args.syntaxes.scanning import MORE, NO, YES

NAMES = st.text(string.ascii_letters + string.digits + "._-é東", min_size=1, max_size=12)
PATTERNS = (
    "{name}[ARGS]",
    "{name}{ws}[CALL_ID]{ws}{id}{ws}[ARGS]",
    "functions.{name}:{skip}{ws}<|a|>",
    "functions{declared}{index}{ws}<|a|>",
    "{skip}{ws}to={name} {skip}<|m|>",
    "{skip}{ws}<sep>{ws}{name}{ws}```json",
    "{name}{ws}{object}",
    "{name}{object}",
    "{ws}<|n|>",
)
PIECES = st.lists(
    st.sampled_from(
        [
            "functions",
            ".",
            ":",
            "add",
            "add_two",
            "0",
            "_",
            "-",
            "[ARGS]",
            "[CALL_ID]",
            "[",
            "<|a|>",
            "<|",
            "<",
            "to=",
            "<|m|>",
            "<sep>",
            "```json",
            "`",
            "{",
            "<|n|>",
            "é",
            " ",
            "\n",
            "\x01",
            "\ud800",
        ]
    ),
    max_size=9,
).map("".join)


def match(pattern: str, text: str, names: tuple[str, ...] = (), max_name: int = 256) -> Match | None:
    """What the pattern finds in a text that is all there is."""
    code, found = Pattern(pattern).match(text, 0, Limits(max_name=max_name), True, names)
    assert (code == YES) == (found is not None)
    return found


@given(PIECES, st.sampled_from(PATTERNS), st.sampled_from([8, 256]))
def test_a_verdict_on_part_of_a_text_is_the_verdict_on_all_of_it(text: str, pattern: str, max_name: int) -> None:
    header = Pattern(pattern)
    names = ("add", "add_two")
    last = header.match(text, 0, Limits(max_name=max_name), True, names)
    assert last[0] in (YES, NO)
    for size in range(len(text) + 1):
        early = header.match(text[:size], 0, Limits(max_name=max_name), False, names)
        assert early[0] == MORE or early == last


@given(NAMES, st.integers(0, 999), st.sampled_from(["", " ", "\n"]))
def test_a_name_and_what_follows_it_are_told_apart(name: str, index: int, space: str) -> None:
    text = f"functions.{name}:{index}{space}<|a|>"
    found = match("functions.{name}:{skip}{ws}<|a|>", text + "{}")
    assert found is not None
    assert (found.name, found.end, text[: found.tail].rstrip()) == (name, len(text), f"functions.{name}:{index}")


@given(NAMES, st.text(string.ascii_letters + string.digits, min_size=9, max_size=9))
def test_a_name_and_an_id_are_told_apart(name: str, id: str) -> None:
    found = match("{name}{ws}[CALL_ID]{ws}{id}{ws}[ARGS]", f"{name}[CALL_ID] {id}\n[ARGS]")
    assert found is not None
    assert (found.name, found.id) == (name, id)


def test_a_place_ends_at_the_last_of_its_literals() -> None:
    found = match("{name}:{skip}<|a|>", "a:b:c:7<|a|>")
    assert found is not None
    assert found.name == "a:b:c"


def test_a_place_takes_at_least_one_character() -> None:
    assert match("{name}[ARGS]", "[ARGS]") is None
    assert match("functions.{name}:{skip}<|a|>", "functions.:0<|a|>") is None
    assert match("functions.{name}:{skip}<|a|>", "functions.add:<|a|>") is None


def test_a_look_ahead_takes_nothing() -> None:
    found = match("{name}{ws}{object}", "add\n{")
    assert found is not None
    assert found.end == len("add\n")
    assert match("{name}{ws}{object}", "add\n[") is None


def test_a_name_longer_than_the_limit_is_none() -> None:
    assert match("{name}[ARGS]", "a" * 8 + "[ARGS]", max_name=8) is not None
    assert match("{name}[ARGS]", "a" * 9 + "[ARGS]", max_name=8) is None
    assert Pattern("{name}[ARGS]").match("a" * 9, 0, Limits(max_name=8))[0] == NO


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("functionsadd5<|a|>", "add"),
        ("functionsadd_two_1<|a|>", "add_two"),
        ("functionsadd<|a|>", "add"),
        ("functionsadd_2<|a|>", "add"),
        ("functionsadds<|a|>", None),
        ("functionssub0<|a|>", None),
        ("functionsadd_twenty<|a|>", None),
    ],
)
def test_a_declared_name_is_the_longest_that_stands_there(text: str, name: str | None) -> None:
    found = match("functions{declared}{index}{ws}<|a|>", text, ("add", "add_two"))
    assert (found.name if found is not None else None) == name


def test_a_declared_name_that_may_still_grow_is_waited_for() -> None:
    text = "functionsadd_two5<|a|>{"
    header = Pattern("functions{declared}{index}{ws}<|a|>")
    for size in range(len(text)):
        code, found = header.match(text[:size], 0, Limits(), False, ("add", "add_two"))
        assert code == (YES if size == len(text) - 1 else MORE)
    assert found is not None
    assert found.name == "add_two"


def test_no_name_is_declared_when_the_tools_are_unknown() -> None:
    assert match("{declared}{index}<|a|>", "add<|a|>") is None


def test_an_earlier_pattern_that_may_still_match_is_waited_for() -> None:
    headers = (Pattern("{name}[ARGS]"), Pattern("{name}"))
    assert first_match(headers, "add[AR", 0, Limits())[0] == MORE
    code, found = first_match(headers, "add[AR", 0, Limits(), True)
    assert code == YES
    assert found is not None
    assert found.end == len("add")


def test_literals_are_spelled_by_the_stream() -> None:
    header = Pattern("{name}[ARGS]", lambda text: text.replace("[ARGS]", "\ud801"))
    assert header.match("add\ud801", 0, Limits())[0] == YES
    assert header.match("add[ARGS]", 0, Limits(), True)[0] == NO


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "an empty header"),
        ("{nom}:", "unknown place"),
        ("a}", "unknown place"),
        ("{name}{id}", "nothing between"),
        ("{name}{ws}{skip}", "nothing between"),
    ],
)
def test_a_pattern_that_cannot_work_is_refused(pattern: str, problem: str) -> None:
    assert problem in header_problem(pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_patterns_of_these_tests_are_sound(pattern: str) -> None:
    assert header_problem(pattern) == ""
