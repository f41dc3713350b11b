"""`strict` means the same to a partial stream and to the stream decoder: the same texts give the same values."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_documents import PLAIN, Typed, chunkings, documents, types
from pydantic import BaseModel, TypeAdapter, ValidationError

from gateway_args.decoder import Accepted, StreamDecoder, StreamLimits
from gateway_args.errors import DecodeError
from gateway_args.events import CallArguments, CallEnd, CallStart
from gateway_args.limits import Limits
from gateway_args.partial import PartialStream, decode, partials, stream

LIMITS = Limits(max_depth=16)
BOUNDS = StreamLimits(max_bytes=1 << 20, max_depth=16, max_strings=None, max_work=1 << 30)
REFUSED = object()


def _decoded(type_: Any, text: str, strict: bool) -> Any:
    """What the stream decoder makes of it."""
    decoder: StreamDecoder[Any] = StreamDecoder(type_, limits=BOUNDS, strict=strict)
    decoder.push(text)
    outcome = decoder.finish()
    return outcome.value if isinstance(outcome, Accepted) else REFUSED


def _read(type_: Any, pieces: list[str], **options: Any) -> Any:
    """What a partial stream makes of it."""
    partial: PartialStream[Any] = PartialStream(type_, limits=LIMITS, **options)
    for piece in pieces:
        partial.feed(piece)
    try:
        value = partial.finish()
    except DecodeError:
        assert partial.partial.value is None
        return REFUSED
    assert repr(partial.partial.value) == repr(value)
    return value


class Point(BaseModel):
    n: int


class Row(TypedDict, total=False):
    when: date
    price: Decimal
    tags: set[str]
    on: bool | None
    pair: tuple[int, str]


SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "maximum": 99}, "s": {"enum": ["a", "b", 1]}, "l": {"maxItems": 2}},
    "required": ["n"],
    "additionalProperties": {"type": ["string", "null"]},
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("type_", "text"),
    [
        *((Point, f'{{"n": {n}}}') for n in ("2", '"2"', "true", "2.0", "2.5", "1e2", "null", '"x"', "[2]", "1e999")),
        *((SCHEMA, f'{{"n": {n}}}') for n in ("2", '"2"', "true", "2.0", "2.5", "1e1", "100", "1e999")),
        *((list[str], f'["{text}"]') for text in ("\\ud83d\\ude00", "\\u0041", "é", "\\n")),
        *((bool, text) for text in ("true", '"yes"', "1", "0.0", "null")),
        *((date, text) for text in ('"2024-01-02"', "1704153600", '"x"')),
        *((bytes | None, text) for text in ('"abc"', "null", "1")),
        (Row, '{"when": "2024-01-02", "price": 1.10, "tags": ["a", "a"], "on": null, "pair": [1, "a"]}'),
        (Row, '{"when": 1704153600, "price": "1.10", "on": "no", "pair": ["1", "a"]}'),
        (Any, '{"a": 1, "a": 2}'),
        (Any, '{"a": 1} x'),
        (Any, "[1, 2"),
        (Any, "NaN"),
        (Any, "\ufeff1"),
        (Any, "[" * 16 + "]" * 16),
        (Any, "[" * 17 + "]" * 17),
        (Any, "9" * 4300),
        (Any, "9" * 4301),
        (int, "9" * 4300),
        (float, "1" * 400),
        (Any, "-0"),
        (Any, " \n[1] \t"),
        (Any, ""),
    ],
)
def test_the_same_text_is_judged_in_the_same_way(type_: Any, text: str, strict: bool) -> None:
    expected = _decoded(type_, text, strict)
    for pieces in ([text], list(text)):
        assert repr(_read(type_, pieces, strict=strict)) == repr(expected)
        if strict or "\\ud" not in text:
            assert repr(_read(type_, pieces, strict=strict, refuse="early")) == repr(expected)


@pytest.mark.parametrize(
    "text", ['["a\nb"]', '["\\ud83d"]', '["\\ude00x"]', '{"\\ud83d": 1}', "[1e999]", '{"a\tb": 1}']
)
def test_what_strict_json_has_not_is_refused_by_both_and_taken_by_a_partial_that_is_not_strict(text: str) -> None:
    assert _decoded(Any, text, strict=True) is REFUSED
    for pieces in ([text], list(text)):
        assert _read(Any, pieces) is REFUSED
        assert repr(_read(Any, pieces, strict=False)) == repr(json.loads(text, strict=False))


def test_the_character_that_strict_json_has_not_is_where_the_text_breaks() -> None:
    for text, offset in (('["ab\n', 4), ('{"a": "b\x00"', 8), ('{"a\tb"', 3), ("[1, 1e999,", 9)):
        for pieces in ([text], list(text)):
            partial = PartialStream(Any)
            for piece in pieces:
                partial.feed(piece)
            malformed = partial.partial.malformed
            assert malformed is not None
            assert malformed.offset == offset


@settings(max_examples=150)
@given(typed=types(), value=PLAIN | st.none(), strict=st.booleans(), data=st.data())
def test_generated_texts_of_generated_types_are_judged_in_the_same_way(
    typed: Typed, value: Any, strict: bool, data: st.DataObject
) -> None:
    text = data.draw(documents(typed.values) | documents(st.just(value)))[1]
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        put = data.draw(st.sampled_from(["", *'{}[],:"\\0-9.eEtfnu +', '"1"', "true", "1.0", "null"]))
        text = text[:at] + put + text[at + data.draw(st.integers(0, 2)) :]
    read = repr(_read(typed.type, data.draw(chunkings(text)), strict=strict))
    expected = _decoded(typed.type, text, strict)
    if not strict and expected is REFUSED and "\\u" in text:
        return  # halves of surrogate pairs are content of a partial that is not strict
    assert read == repr(expected)


@given(typed=types(), strict=st.booleans(), data=st.data())
def test_a_refusal_at_the_end_or_early_is_the_same_judgement(typed: Typed, strict: bool, data: st.DataObject) -> None:
    _, text = data.draw(documents(typed.values | PLAIN))
    pieces = data.draw(chunkings(text))
    late, early = (_read(typed.type, pieces, strict=strict, refuse=refuse) for refuse in ("end", "early"))
    assert repr(late) == repr(early)


@pytest.mark.parametrize("type_", [int, float, str, bool, list[int], Point, Row, date, Decimal])
@pytest.mark.parametrize("text", ['"1"', "1", "1.0", "true", "[1]", '["1"]', '{"n": "1"}', '{"n": 1}', "null"])
def test_strict_is_pydantics_strict_and_not_strict_its_lax_mode(type_: Any, text: str) -> None:
    for strict in (True, False):
        try:
            expected = TypeAdapter(_pydantic(type_)).validate_json(text, strict=strict)
        except ValidationError:
            expected = REFUSED
        assert repr(_read(type_, [text], strict=strict)) == repr(expected)


def _pydantic(type_: Any) -> Any:
    from typing_extensions import TypedDict as Modern

    return Modern("Row", Row.__annotations__, total=False) if type_ is Row else type_  # type: ignore[operator]


def test_every_surface_takes_strict_and_refuses_what_is_no_option() -> None:
    lax: Any = {"strict": False}
    assert decode(Point, '{"n": "2"}', **lax) == Point(n=2)
    assert list(stream(Point, ['{"n": "2"}'], **lax))[-1].value == Point(n=2)
    events = [CallStart(0, "c", "f", True, ""), CallArguments(0, '{"n": "2"}', ""), CallEnd(0, True, "")]
    assert list(partials(events, {"f": Point}, **lax))[-1].partial.value == Point(n=2)
    assert list(partials(events, {"f": Point}))[-1].error is not None
    with pytest.raises(DecodeError):
        decode(Point, '{"n": "2"}')
    with pytest.raises(TypeError, match="expected strict True or False, got 'no'"):
        PartialStream(Point, strict="no")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="lenient"):
        PartialStream(Point, lenient=True)  # type: ignore[call-overload]
