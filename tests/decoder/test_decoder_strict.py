"""`strict`: what pydantic's lax mode converts is not refused early where it is asked for, and is where it is not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Literal

import pydantic
import pytest

from gateway_args.decoder import Accepted, Refused, StreamDecoder, compile_schema

TEXTS = [
    *("1", "2.0", "2.5", "true", "false", "null", '"1"', '"2.0"', '"true"', '"x"', '""', '"on"', "-1", "1e2", "0"),
    *("[]", '["1", 2, true]', "[1]", "{}", '{"n": "2"}', '{"n": 2, "at": "2024-01-31"}', '{"n": true}', '{"n": 2.0}'),
    *('"2024-01-31"', "0.0", '{"n": "x"}', '"red"', '[["a", "1"]]', '{"a": "1"}'),
]


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@dataclass
class Note:
    n: int
    at: date | None = None


class Coercing(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(coerce_numbers_to_str=True)
    n: str


TYPES: list[Any] = [
    *(int, float, bool, str, bytes, Decimal, date, Colour, Level, Note, Coercing, Literal["x", 1], int | None),
    *(list[int], set[str], tuple[int, bool], dict[str, int], int | str, list[Note], dict[int, float]),
]


@pytest.mark.parametrize("of", TYPES, ids=str)
@pytest.mark.parametrize("strict", [True, False])
def test_a_stream_is_decoded_as_pydantic_decodes_the_whole_in_the_same_mode(of: Any, strict: bool) -> None:
    adapter = pydantic.TypeAdapter(of)
    schema = compile_schema(of, strict=strict)
    for text in TEXTS:
        try:
            expected: Any = Accepted(adapter.validate_json(text, strict=True if strict else None))
        except pydantic.ValidationError:
            expected = None
        decoder = StreamDecoder(schema)
        for byte in text.encode():
            decoder.push(bytes((byte,)))
        outcome = decoder.finish()
        if expected is None:
            assert isinstance(outcome, Refused), (of, text)
        else:
            assert outcome == expected, (of, text)


def test_the_default_is_strict_and_a_compiled_schema_keeps_its_own() -> None:
    for text in ('"2"', "true", "2.0"):
        assert isinstance(
            StreamDecoder(int).push(text + " ") if text != "2.0" else StreamDecoder(int).push(text), Refused
        )
        lax = StreamDecoder(int, strict=False)
        lax.push(text)
        assert lax.finish() == Accepted(int(json.loads(text)))
    compiled = compile_schema(int, strict=False)
    assert compiled.identity != compile_schema(int).identity
    with pytest.raises(ValueError, match="strict: True, but the schema was compiled with False"):
        StreamDecoder(compiled, strict=True)
    assert StreamDecoder(compiled, strict=False).schema is compiled


def test_a_json_schema_has_one_reading() -> None:
    schema = {"type": "integer"}
    assert compile_schema(schema, strict=False).identity == compile_schema(schema).identity
    assert isinstance(StreamDecoder(schema, strict=False).push('"'), Refused)
