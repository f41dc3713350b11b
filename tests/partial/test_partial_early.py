"""Refusal at the character from which on no valid value goes: `refuse="early"`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from gateway_args.decoder import Refused, StreamDecoder
from gateway_args.errors import DecodeError
from gateway_args.partial import PartialStream


class Reading(BaseModel):
    model_config = ConfigDict(extra="forbid")
    station: str
    celsius: int = Field(le=50)
    notes: list[str] = []


SCHEMA = Reading.model_json_schema()


@pytest.mark.parametrize("type_", [Reading, SCHEMA])
@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    "text",
    [
        '{"station": "Këln 😀", "celsius": "hot", "notes": []}',
        '{"station": "Kiel", "celsius": 99, "notes": []}',
        '{"station": "Kiel", "wind": 3}',
        '{"station": "Kiel", "notes": ["a", 5]}',
    ],
)
def test_the_text_breaks_where_no_valid_value_goes_on_and_what_was_shown_stays(
    type_: Any, size: int, text: str
) -> None:
    decoder: StreamDecoder[Any] = StreamDecoder(type_)
    outcome = decoder.push(text)
    assert isinstance(outcome, Refused)
    partials: PartialStream[Any] = PartialStream(type_, refuse="early")
    views = [partials.feed(text[start : start + size]) for start in range(0, len(text), size)]
    told = [view for view in views if view is not None and view.malformed is not None]
    assert len(told) == 1
    malformed = told[0].malformed
    assert malformed is not None
    assert malformed.offset == len(text.encode()[: outcome.at_byte].decode()) < len(text)
    assert str(malformed) == outcome.message
    sound: PartialStream[Any] = PartialStream(Any)
    sound.feed(text[: malformed.offset])
    assert told[0].snapshot == sound.partial.snapshot == partials.partial.snapshot
    with pytest.raises(DecodeError) as raised:
        partials.finish()
    assert raised.value.offset == malformed.offset


def test_without_it_the_value_is_refused_at_its_end() -> None:
    partials: PartialStream[Any] = PartialStream(Reading)
    view = partials.feed('{"station": "Kiel", "celsius": 99, ')
    assert view is not None
    assert view.malformed is None
    assert [str(error) for error in view.errors] == ["$.celsius: Input should be less than or equal to 50"]


def test_a_sound_text_is_read_as_without_it() -> None:
    text = '{"station": "Kiel", "celsius": 9, "notes": ["a"]}'
    for type_ in (Reading, SCHEMA, Any, list[int] | Reading):
        plain: PartialStream[Any] = PartialStream(type_)
        early: PartialStream[Any] = PartialStream(type_, refuse="early")
        for character in text:
            one, other = plain.feed(character), early.feed(character)
            assert (one is None) is (other is None)
            assert one is None or other is None or (one.snapshot, one.incomplete) == (other.snapshot, other.incomplete)
        assert plain.finish() == early.finish()


def test_prose_before_a_lenient_start_is_counted() -> None:
    partials: PartialStream[Any] = PartialStream(Reading, refuse="early", lenient_start=True)
    partials.feed('Here: {"station": 5')
    malformed = partials.partial.malformed
    assert malformed is not None
    assert malformed.offset == 18
