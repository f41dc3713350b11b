"""The stream: emission, the end, errors, anchoring, and its iterators."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args.errors import DecodeError, LifecycleError
from gateway_args.limits import Limits
from gateway_args.partial import PartialStream, decode, stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class File:
    path: str
    lines: list[str]


TEXT = '{"path": "a.py", "lines": ["import this", "print()"]}'
PIECES = [TEXT[at : at + 4] for at in range(0, len(TEXT), 4)]


def test_emit_text_adds_a_view_for_each_growth_of_a_string_in_flight() -> None:
    by_field: PartialStream[File] = PartialStream(File)
    by_text: PartialStream[File] = PartialStream(File, emit="text")
    assert by_field.feed('{"path": "a') is not None
    assert by_text.feed('{"path": "a') is not None
    assert by_field.feed(".py") is None
    grown = by_text.feed(".py")
    assert grown is not None
    assert grown.text("path") == "a.py"
    assert by_text.feed("\\") is None
    assert by_text.feed("") is None
    with pytest.raises(ValueError, match="emit"):
        PartialStream(File, emit="all")  # type: ignore[call-overload]


def test_a_malformed_text_says_where_stops_growing_and_raises_only_at_the_end() -> None:
    partials: PartialStream[File] = PartialStream(File)
    partials.feed('{"path": "a.py", "lines": ["x",')
    broken = partials.feed(" oops")
    assert broken is not None
    assert broken.malformed is not None
    assert (broken.malformed.path, broken.malformed.offset) == (("lines",), 32)
    assert broken.snapshot == {"path": "a.py", "lines": ["x"]}
    assert partials.feed('"y"]}') is None
    assert partials.partial.snapshot == broken.snapshot
    with pytest.raises(DecodeError, match=r"\$\.lines: expected a value \(at character 32\)") as raised:
        partials.finish()
    assert (raised.value.path, raised.value.offset) == ("$.lines", 32)


def test_a_text_that_was_cut_is_a_decode_error_at_its_end_with_the_path_in_flight() -> None:
    partials: PartialStream[File] = PartialStream(File)
    partials.feed('{"path": "a.py", "lines": ["x", "ya')
    with pytest.raises(DecodeError) as raised:
        partials.finish()
    assert (raised.value.path, raised.value.offset) == ("$.lines[1]", 35)


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ('{"path": 1, "lines": []}', "$.path", "1"),
        ('{"path": "a", "lines": ["x", {"\\u0061": [1, 2]}]}', "$.lines[1]", "{"),
        ('  {"path": "a"}', "$.lines", "{"),
        ("[]", "$", "["),
    ],
)
def test_a_value_that_the_type_refuses_is_a_decode_error_where_it_stands(text: str, path: str, found: str) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(File, text)
    assert raised.value.path == path
    assert raised.value.offset is not None
    assert text[raised.value.offset :].startswith(found)
    assert str(raised.value.offset) in str(raised.value)


def test_a_stream_ends_once_and_is_not_fed_after() -> None:
    partials: PartialStream[File] = PartialStream(File)
    partials.feed(TEXT)
    partials.finish()
    with pytest.raises(LifecycleError):
        partials.finish()
    with pytest.raises(LifecycleError):
        partials.feed(" ")


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_lenient_start_skips_to_the_first_bracket_that_the_type_can_start_with(size: int) -> None:
    text = f"Sure, see [1]:\n```json\n{TEXT}\n```\nAnything [else] {{?"
    partials: PartialStream[File] = PartialStream(File, lenient_start=True)
    for at in range(0, len(text), size):
        partials.feed(text[at : at + size])
    assert partials.finish() == decode(File, TEXT)
    assert decode(list[int], 'The {"list"} is [1, 2] of course', lenient_start=True) == [1, 2]


def test_offsets_of_a_lenient_start_count_the_text_before_it() -> None:
    text = 'Here: {"path": "a", "lines": [nope]}'
    with pytest.raises(DecodeError) as raised:
        decode(File, text, lenient_start=True)
    assert raised.value.offset == text.index("ope")
    text = 'Here: {"path": 5, "lines": []}'
    with pytest.raises(DecodeError) as raised:
        decode(File, text, lenient_start=True)
    assert raised.value.offset == text.index("5")


def test_by_default_the_text_is_the_value() -> None:
    for text in (f"Here: {TEXT}", f"```json\n{TEXT}", f"{TEXT}\n```"):
        with pytest.raises(DecodeError):
            decode(File, text)
    assert decode(File, f" \n{TEXT}\n ") == decode(File, TEXT)


def test_a_lenient_start_that_never_comes_is_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="before its value"):
        decode(File, "I cannot do that.", lenient_start=True)


def test_stream_gives_views_and_last_one_with_the_strict_value() -> None:
    views = list(stream(File, PIECES))
    assert views[-1].is_done
    assert views[-1].value == File("a.py", ["import this", "print()"])
    assert [view.value for view in views[:-2]] == [None] * (len(views) - 2)
    with pytest.raises(DecodeError):
        list(stream(File, PIECES[:-2]))
    numbers = list(stream(int, ["1", "2"]))
    assert [view.value for view in numbers] == [None, 12]


def test_stream_over_an_async_source_is_an_async_iterator_of_the_same() -> None:
    async def chunks() -> AsyncIterator[str]:
        for piece in PIECES:
            yield piece

    async def collected() -> list[Any]:
        return [view.snapshot async for view in stream(File, chunks())]

    assert asyncio.run(collected()) == [view.snapshot for view in stream(File, PIECES)]


def test_the_bounds_of_limits_hold_and_end_in_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="max_depth"):
        decode(list[Any], "[[[]]]", limits=Limits(max_depth=2))
    with pytest.raises(DecodeError, match="max_arguments"):
        decode(list[Any], "[1, 2, 3]", limits=Limits(max_arguments=5))


def test_hostile_nesting_is_refused_and_never_recursed_into() -> None:
    partials: PartialStream[Any] = PartialStream(Any)
    partial = partials.feed("[" * 100_000)
    assert partial is not None
    assert partial.malformed is not None
    assert partial.malformed.offset == 32


def test_nesting_that_limits_allow_but_a_checker_does_not_is_a_fault_and_no_crash() -> None:
    text = '{"path": ' + "[" * 5_000 + "]" * 5_000 + ', "lines": []}'
    for type_ in (File, {"properties": {"path": {"items": {"items": {}}}}}):
        partials: PartialStream[Any] = PartialStream(type_, limits=Limits(max_depth=6_000))
        partials.feed(text)
        assert partials.partial.snapshot is not None
        if type_ is File:
            with pytest.raises(DecodeError):
                partials.finish()
    plain: PartialStream[Any] = PartialStream(Any, limits=Limits(max_depth=6_000))
    plain.feed(text)
    plain.finish()


def test_a_piece_that_is_no_text_is_refused_and_the_stream_goes_on() -> None:
    stream = PartialStream(Any)
    stream.feed("[1")
    with pytest.raises(
        TypeError, match=r"PartialStream\.feed: expected a str, got bytes \(bytes: decode them incrementally\)"
    ):
        stream.feed(b", 2")  # type: ignore[arg-type]
    stream.feed(", 2]")
    assert stream.finish() == [1, 2]


@pytest.mark.parametrize("size", [1, 9, 1000])
def test_prose_before_a_lenient_start_does_not_count_against_the_bound(size: int) -> None:
    text = "Here is what you asked for: [1, 2, 3]"
    for limit, fits in ((9, True), (8, False)):
        partials = PartialStream(list[int], lenient_start=True, limits=Limits(max_arguments=limit))
        for at in range(0, len(text), size):
            partials.feed(text[at : at + size])
        malformed = partials.partial.malformed
        assert (malformed is None) is fits
        assert malformed is None or malformed.offset == len(text) - 1
