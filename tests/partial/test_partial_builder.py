"""The builder against the acceptor, `json.loads` and its own whole reading."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from partial_documents import PLAIN, chunkings, documents

from gateway_args.limits import Limits
from gateway_args.partial.builder import Builder
from gateway_args.partial.source import Source
from gateway_args.strict_json.acceptor import Acceptor

_SPACE = " \t\n\r"


def _built(pieces: list[str], limits: Limits | None = None) -> Builder:
    builder = Builder(limits or Limits(), Source())
    for piece in pieces:
        builder.feed(piece)
    builder.end()
    return builder


def _boundary(text: str, max_depth: int) -> int | None:
    """Where the acceptor says that the text stops being a value and the white space around it; None: it is one."""
    acceptor = Acceptor(max_depth)
    acceptor.feed(text)
    if acceptor.refused:
        return acceptor.valid
    rest = text[acceptor.valid :]
    if acceptor.complete is None:
        number = text.strip(_SPACE)[:1] in tuple("-0123456789") and bool(text.strip(_SPACE)[-1:].isdigit())
        return None if number else len(text)
    return None if not rest.strip(_SPACE) else len(text) - len(rest.lstrip(_SPACE))


@st.composite
def _broken(draw: st.DrawFn) -> str:
    """A document with a few characters taken out, put in or replaced."""
    text = draw(documents(PLAIN))[1]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        put = draw(st.sampled_from(["", *'{}[],:"\\0-9.eEtfnu \n+x', "\\ud83d", "\\u12", "00", "1e", "nul"]))
        text = text[:at] + put + text[at + draw(st.integers(0, 2)) :]
    return text


@given(document=documents(PLAIN), data=st.data())
def test_any_chunking_of_a_sound_text_builds_what_json_loads_reads(
    document: tuple[Any, str], data: st.DataObject
) -> None:
    text = document[1]
    builder = _built(data.draw(chunkings(text)))
    assert builder.problem is None
    assert repr(builder.in_flight) == repr(json.loads(text))


@given(text=_broken(), data=st.data())
@example(text='{"a": 1}x', data=None)
@example(text="01", data=None)
@example(text='["\\ud83d\\q"]', data=None)
@example(text='["\\ud83d\\u00e"]', data=None)
@example(text="[1,]", data=None)
@example(text='{"a": 1,}', data=None)
@example(text="[[[[[1]]]]]", data=None)
@example(text="[[[[1]]]]", data=None)
@example(text="[truex]", data=None)
@example(text="[1.]", data=None)
@example(text='{"a"; 1}', data=None)
def test_a_text_breaks_at_the_character_that_the_acceptor_refuses(text: str, data: st.DataObject | None) -> None:
    expected = _boundary(text, 4)
    for pieces in (list(text), [text], [] if data is None else data.draw(chunkings(text))):
        if "".join(pieces) != text:
            continue
        problem = _built(pieces, Limits(max_depth=4)).problem
        if problem is not None and "duplicate" in problem.message:
            assert expected is None or problem.offset < expected  # type: ignore[operator]
        else:
            assert (None if problem is None else problem.offset) == expected, pieces


@st.composite
def _broken_rows(draw: st.DrawFn) -> str:
    """Many short values in a row, as are read at once, with a few characters changed."""
    row = draw(
        st.sampled_from(
            [
                '1, "a", -2.5e3, null, ',
                '{"id": 1, "on": true}, ',
                '[1, [2, {"a:b": "]"}]], ',
                '{"a": {"b": {"c": [[]]}}, "d" : "\\u00e9"}, ',
                '{"k": [1, 2], "l": "say \\"}\\" ",\n "m":0}, ',
            ]
        )
    )
    text = f"[{row * draw(st.integers(3, 9) | st.just(60))}0]"
    if draw(st.booleans()):
        members = ", ".join(f'"k{number}": {row.rstrip(", ")}' for number in range(9)) if row[0] in "[{" else '"a":1'
        text = f'{{{members}, "rows": {text}}}'
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        put = draw(st.sampled_from(["", *'{}[],:"\\0-9.eEtfnu \n+x', "NaN", "Infinity", "\\u12", "00", "1e", "nul"]))
        text = text[:at] + put + text[at + draw(st.integers(0, 2)) :]
    return text


@given(text=_broken_rows(), depth=st.integers(2, 9), data=st.data())
def test_rows_break_at_the_character_that_the_acceptor_refuses_however_many_come_at_once(
    text: str, depth: int, data: st.DataObject
) -> None:
    expected = _boundary(text, depth)
    problems = [_built(pieces, Limits(max_depth=depth)).problem for pieces in ([text], data.draw(chunkings(text)))]
    assert problems[0] == problems[1] == _built(list(text), Limits(max_depth=depth)).problem
    if problems[0] is not None and "duplicate" in problems[0].message:
        assert expected is None or problems[0].offset < expected  # type: ignore[operator]
    else:
        assert (None if problems[0] is None else problems[0].offset) == expected


@pytest.mark.parametrize("row", ['{"a": 1, "b": 2, "a": 3}', '{"a:": "x:", "b": [{"c": 1, "c": 2}]}'])
def test_a_duplicate_key_among_values_that_come_at_once_breaks_the_text_at_its_quote(row: str) -> None:
    text = '[{"a": 0}, ' + "1, 2, 3, 4, 5, 6, 7, 8, 9, " * 4 + row + ", 1, 2, 3, 4]"
    key = '"a": 3' if '"a": 3' in row else '"c": 2'
    for pieces in ([text], list(text), [text[:40], text[40:]]):
        problem = _built(pieces).problem
        assert problem is not None
        assert problem.offset == text.index(key)


@given(text=_broken() | documents(PLAIN).map(lambda document: document[1]), data=st.data())
def test_what_is_built_and_what_breaks_is_a_function_of_the_text_alone(text: str, data: st.DataObject) -> None:
    def state(pieces: list[str]) -> tuple[Any, ...]:
        builder = _built(pieces)
        return (
            builder.problem,
            builder.offset,
            builder.done,
            repr([frame.items for frame in builder.frames]),
            builder.path(),
        )

    assert state([text]) == state(list(text)) == state(data.draw(chunkings(text)))


def test_a_duplicate_key_breaks_the_text_at_its_quote_however_it_is_spelled_and_cut() -> None:
    for text in ('{"key": 1, "k\\u0065y": 2}', '{"key": 1, "key": 2}', '{"key": 1, "key" : 2}'):
        for pieces in ([text], list(text), [text[:13], text[13:]], [text[:18], text[18:]]):
            problem = _built(pieces).problem
            assert problem is not None
            assert (problem.offset, problem.path) == (11, ())


@pytest.mark.parametrize("wrap", ["{}", "[{}]", '{{"a": {}}}', "[[{}], 2]"])
@pytest.mark.parametrize("digits", ["9", "0.", "-1e"])
def test_a_number_of_4300_characters_is_read_and_one_more_breaks_it_there(wrap: str, digits: str) -> None:
    number = digits + "1" * (4300 - len(digits))
    text = wrap.format(number)
    for pieces in ([text], list(text), [text[:4000], text[4000:]]):
        assert repr(_built(pieces).in_flight) == repr(json.loads(text))
    longer = wrap.format(number + "1")
    for pieces in ([longer], list(longer), [longer[:4000], longer[4000:]]):
        problem = _built(pieces).problem
        assert problem is not None
        assert problem.offset == longer.index(number) + 4300


def test_the_bracket_that_nests_too_deep_is_refused_where_it_stands() -> None:
    limits = Limits(max_depth=3)
    assert _built(['{"a": [[1]]}'], limits).problem is None
    for text in ('{"a": [[[1]]]}', '{"a": [[{"b": 1}]]}'):
        for pieces in ([text], list(text)):
            problem = _built(pieces, limits).problem
            assert problem is not None
            assert (problem.offset, problem.path) == (8, ("a", 0, 0))


def test_text_beyond_max_arguments_is_refused_at_the_bound() -> None:
    text = '["abc", "def"]'
    assert _built([text], Limits(max_arguments=len(text))).problem is None
    for pieces in ([text], list(text)):
        problem = _built(pieces, Limits(max_arguments=len(text) - 1)).problem
        assert problem is not None
        assert problem.offset == len(text) - 1
        assert "max_arguments" in problem.message


def test_surrogates_are_paired_over_pieces_and_a_lone_one_is_replaced() -> None:
    assert _built(['"\ud83d', '\ude00"']).in_flight == "😀"
    assert _built(['"\ud83d', 'x"']).in_flight == "\ufffdx"
    assert _built(['"\ude00"']).in_flight == "\ufffd"
    assert _built(["1\ud83d"]).problem is not None
    assert _built(["1 \ud83d"]).problem is not None


def test_an_escaped_surrogate_pair_is_one_character_wherever_it_is_cut() -> None:
    text = '"a\\ud83d\\ude00b\\ud83dc\\ude00"'
    for cut in range(len(text)):
        assert _built([text[:cut], text[cut:]]).in_flight == json.loads(text)


def test_a_number_at_the_root_is_whole_only_at_the_end_or_behind_white_space() -> None:
    builder = Builder(Limits(), Source())
    assert builder.feed("12")
    assert not builder.done
    builder.feed("5")
    assert builder.end() is None
    assert builder.in_flight == 125
    spaced = Builder(Limits(), Source())
    spaced.feed("12 ")
    assert spaced.done


def test_a_text_that_ends_too_early_says_inside_what() -> None:
    for text, words in {
        "": "before its value",
        "[": "before it is closed",
        '["a': "inside a string",
        '{"a': "inside a key",
        '{"a"': "before a colon",
        '{"a":': "before it is closed",
        "-": "inside a number",
        "[1e": "inside a number",
        "[tru": "inside a literal",
    }.items():
        for pieces in ([text], list(text)):
            problem = _built(pieces).problem
            assert problem is not None
            assert problem.message == f"the text ends {words}"
            assert problem.offset == len(text)


@pytest.mark.parametrize("size", [1, 7, 200, 10_000])
def test_a_duplicate_key_far_behind_its_first_is_found(size: int) -> None:
    members = [f'"k{number}": {number}' for number in range(80)]
    text = f"{{{', '.join(members)}, {members[3]}}}"
    problem = _built([text[at : at + size] for at in range(0, len(text), size)]).problem
    assert problem is not None
    assert (problem.message, problem.offset) == ("duplicate key 'k3'", text.rindex('"k3"'))


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("text", ["[1]  x", '{"a": 1}\n\n{', "12 \t,", '"s"   "t"'])
def test_text_behind_the_value_breaks_it_at_its_first_character_that_is_no_white_space(text: str, size: int) -> None:
    problem = _built([text[at : at + size] for at in range(0, len(text), size)]).problem
    assert problem is not None
    assert (problem.message, problem.offset) == ("text behind the value", len(text) - 1 - 2 * text.endswith('t"'))
