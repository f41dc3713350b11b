"""Where texts stop being prefixes and where values are whole, under every cut."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from acceptor_texts import pieces, texts

from gateway_args.strict_json.acceptor import Acceptor, Scan, scan

# text, characters accepted, where the whole value ends
BOUNDARIES = [
    ("truex", 4, 4),
    ("falsex", 5, 5),
    ("nullx", 4, 4),
    ("tru", 3, None),
    ("nope", 1, None),
    ('{"a": nope}', 7, None),
    ('{"a": 1, nope}', 9, None),
    ("12abc", 2, 2),
    ("01", 1, 1),
    ("-", 1, None),
    ("1.", 2, None),
    ("12", 2, None),
    ("1e5 ", 3, 3),
    ("+1", 0, None),
    (".5", 0, None),
    ("NaN", 0, None),
    ("-Infinity", 1, None),
    ('{"a": "x"}junk', 10, 10),
    ('{"a": "x"} ', 10, 10),
    ('{"a" 1}', 5, None),
    ("[1 2]", 3, None),
    ('{"a": 1,}', 8, None),
    ("[1, 2,]", 6, None),
    ("[,1]", 1, None),
    ('{"a": [1}', 8, None),
    ("[1}", 2, None),
    ("{]", 1, None),
    ('{a": 1}', 1, None),
    ("{1: 2}", 1, None),
    ("", 0, None),
    (" \t\r\n", 4, None),
    ("\x0b1", 0, None),
    ("\u00a01", 0, None),
    ("\ufeff{}", 0, None),
    ("[1\u0661]", 2, None),
    ('"\\x"', 2, None),
    ('"\\u12g4"', 5, None),
    ('"\\uD800"', 8, 8),
    ('"\\u00E9é世🌤"', 11, 11),
    ('"a\x00\n\x1fb"', 7, 7),
    ('"a\x00\\\n"', 4, None),
    ("'a'", 0, None),
    ("/**/1", 0, None),
    ("[-]", 2, None),
    ("[1.]", 3, None),
    ("[1e]", 3, None),
    ("[1e+]", 4, None),
    ("[-01]", 3, None),
    ("[truex]", 5, None),
    ('{"tru": fals}', 12, None),
    ('{"a":1}{', 7, 7),
    (f'["{"x" * 60}\\n{"y" * 60}", 1]', 129, 129),
    (f'{{"{"k" * 60}\\u00zz": 1}}', 66, None),
    (f'["{"é" * 1500}\\"{"世" * 1500}\\q"]', 3_005, None),
]


@pytest.mark.parametrize(("text", "valid", "complete"), BOUNDARIES)
def test_the_boundary_of_a_text_is_where_no_value_could_continue(text: str, valid: int, complete: int | None) -> None:
    assert scan(text) == Scan(valid, complete)


@pytest.mark.parametrize(("text", "valid", "complete"), BOUNDARIES)
def test_the_boundary_is_the_same_under_every_cut(text: str, valid: int, complete: int | None) -> None:
    inside = range(1, len(text))
    every = combinations(inside, 2) if len(text) < 30 else zip(inside, inside, strict=True)
    for first, second in every:
        acceptor = Acceptor()
        fed = [acceptor.feed(piece) for piece in (text[:first], text[first:second], text[second:])]
        assert (sum(fed), acceptor.valid, acceptor.complete) == (valid, valid, complete)
    acceptor = Acceptor()
    assert sum(acceptor.feed(character) for character in text) == acceptor.valid == valid
    assert acceptor.complete == complete


@pytest.mark.parametrize(("text", "valid", "complete"), BOUNDARIES)
def test_a_window_into_a_longer_text_reads_as_the_text_alone(text: str, valid: int, complete: int | None) -> None:
    around = '"\\\\' + text + '"\\\\'
    for cut in range(len(text) + 1):
        acceptor = Acceptor()
        fed = acceptor.feed(around, 3, 3 + cut) + acceptor.feed(around, 3 + cut, 3 + len(text))
        assert (fed, acceptor.valid, acceptor.complete) == (valid, valid, complete)


def test_random_texts_read_the_same_under_random_cuts() -> None:
    random = Random(7)
    for text in texts(2_000, seed=8):
        whole = Acceptor()
        whole.feed(text)
        cut = Acceptor()
        for piece in pieces(random, text):
            cut.feed(piece)
        assert cut.state == whole.state


def test_every_text_is_open_whole_or_refused_and_nothing_is_accepted_after_the_last_two() -> None:
    for text in texts(1_000, seed=9):
        acceptor = Acceptor()
        accepted = acceptor.feed(text)
        whole = acceptor.complete is not None
        assert not (whole and acceptor.refused)
        assert (accepted < len(text)) <= (whole or acceptor.refused)
        if whole or acceptor.refused:
            before = acceptor.state
            assert [acceptor.feed(more) for more in ("", " ", "1", '"', "}")] == [0] * 5
            assert acceptor.state == before


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [0, 1, 2, 31, 32, 33, 1_000])
def test_the_bracket_that_nests_deeper_than_max_depth_is_refused(bracket: str, depth: int) -> None:
    fits = bracket * depth
    acceptor = Acceptor(depth)
    assert acceptor.feed(fits) == len(fits)
    assert acceptor.depth == depth
    assert acceptor.copy().feed("1") == 1
    assert acceptor.feed(bracket) == 0
    assert acceptor.refused


def test_the_default_depth_is_thirty_two() -> None:
    assert scan("[" * 33).valid == 32
    assert scan("[" * 32 + "]" * 32).complete == 64


def test_closed_brackets_leave_room_for_others() -> None:
    text = "[" + "[[]]," * 100 + '{"a":[]}]'
    assert scan(text, max_depth=3).complete == len(text)


def test_a_negative_depth_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="max_depth is -1"):
        Acceptor(-1)


@pytest.mark.parametrize(
    ("text", "in_string", "in_escape"),
    [
        ("", False, False),
        ('"', True, False),
        ('"a', True, False),
        ('"\\', True, True),
        ('"\\u', True, True),
        ('"\\u123', True, True),
        ('"\\u1234', True, False),
        ('"\\n', True, False),
        ('"\\n"', False, False),
        ('{"', True, False),
        ('{"k\\', True, True),
        ('{"k\\u0', True, True),
        ('{"k"', False, False),
        ('{"k":"v"', False, False),
        ('["\\x', False, False),
    ],
)
def test_in_string_and_in_escape_say_where_the_place_is(text: str, in_string: bool, in_escape: bool) -> None:
    acceptor = Acceptor()
    acceptor.feed(text)
    assert (acceptor.in_string, acceptor.in_escape) == (in_string, in_escape)


def test_a_lone_surrogate_is_a_character_like_any_other() -> None:
    assert scan('"\ud800"').complete == 3
    assert scan("[\ud800]").valid == 1


def test_an_end_beyond_the_text_is_the_texts_end() -> None:
    acceptor = Acceptor()
    assert acceptor.feed('[1, "a', 0, 99) == 6
    assert acceptor.feed('x"]', 1, 99) == 2
    assert acceptor.complete == 8
