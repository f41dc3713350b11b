"""What a refusal says: what came, what is allowed, and where, in one spelling of paths and in plain English."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from gateway_args.decoder import DocumentError, Refused, StreamDecoder, compile_schema

TRIP = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 8},
        "day": {"type": "integer", "minimum": 1, "maximum": 7},
        "unit": {"enum": ["celsius", "kelvin"]},
        "odd key": {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 1, "maxItems": 2},
    },
    "required": ["city"],
    "additionalProperties": False,
}
ONE = {"type": "object", "properties": {"city": {}}, "additionalProperties": False}
CASES: list[tuple[Any, str, str]] = [
    (TRIP, '{"dayz": 1}', "$: unexpected property 'dayz'; allowed: city, day, odd key, unit"),
    (TRIP, '{"x', "$: unexpected property 'x'; allowed: city, day, odd key, unit"),
    (TRIP, "[", "$: unexpected array; expected object"),
    (TRIP, '{"day": "', "$.day: unexpected string; expected number"),
    (TRIP, '{"day": 9}', "$.day: out of range: expected a number of at least 1 and of at most 7"),
    (TRIP, '{"day": -', "$.day: out of range: expected a number of at least 1 and of at most 7"),
    (TRIP, '{"day": 1.5}', "$.day: expected an integer"),
    (TRIP, '{"unit": "fahr', "$.unit: unexpected text 'f'; allowed: celsius, kelvin"),
    (TRIP, '{"unit": "cel"', "$.unit: unexpected text 'cel'; allowed: celsius, kelvin"),
    (TRIP, '{"city": "x"', "$.city: expected at least 2 characters, got 1"),
    (TRIP, '{"city": "Amsterdam"', "$.city: expected at most 8 characters"),
    (TRIP, '{"day": 1}', "$: missing property 'city'"),
    (TRIP, '{"odd key": []', '$["odd key"]: expected at least 1 items, got 0'),
    (TRIP, '{"odd key": ["a", null, "c"', '$["odd key"]: expected at most 2 items'),
    (TRIP, '{"odd key": [1', '$["odd key"][0]: unexpected number; expected string or null'),
    (TRIP, '{"city": "Rome", "city"', "$: duplicate property 'city'"),
    (True, "x", "unexpected 'x' at the start; expected a value"),
    (True, '{"a" 1', "$.a: unexpected '1'; expected ':'"),
    (True, '{"a": 1 2', "$.a: unexpected '2'; expected ',' or '}'"),
    (True, "[1 2", "$[0]: unexpected '2'; expected ',' or ']'"),
    (True, '{"a": 1,}', "$: unexpected '}'; expected a property name in quotes"),
    (True, "[1, x", "$[1]: unexpected 'x'; expected a value"),
    (True, "[1.x", "$[0]: unexpected 'x'; expected a digit"),
    (True, "[trux", "$[0]: unexpected 'x'; expected 'e'"),
    (True, "[1}", "unexpected '}': nothing that it closes is open"),
    (True, "1 2", "unexpected '2' after the document"),
    (True, '"\\x', "unexpected 'x' after a backslash"),
    (True, '"\\u00x', "unexpected 'x'; expected a hexadecimal digit"),
    (ONE, '{"city": 1, ', "$: unexpected property; allowed: city"),
    ({"type": "object", "additionalProperties": False}, '{"', "$: unexpected property; allowed: none"),
    ({"maxProperties": 1}, '{"a": 1, ', "$: expected at most 1 properties"),
    ({"enum": [1, 2.5]}, "3 ", "$: unexpected number 3; allowed: 1, 2.5"),
    ({"exclusiveMinimum": 0}, "0 ", "$: out of range: expected a number above 0"),
    ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "1", "$: unexpected number; expected string or boolean"),
]


@pytest.mark.parametrize(("schema", "text", "message"), CASES)
def test_a_refusal_says_what_came_and_what_is_allowed_whatever_the_cuts(schema: Any, text: str, message: str) -> None:
    for size in (1, 2, 3, len(text)):
        decoder = StreamDecoder(schema)
        outcome: Any = None
        for at in range(0, len(text), size):
            outcome = decoder.push(text[at : at + size])
        assert isinstance(outcome, Refused)
        assert outcome.message == message


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("x", r"schema: expected a JSON Schema \(a mapping or a boolean\) or a type, got 'x'"),
        (5, r"got 5"),
        ([{}], r"got \[\{\}\]"),
        ({"type": "objekt"}, r"schema: \$\.type: unknown type 'objekt'; did you mean 'object'\?"),
        (
            {"properties": {"a b": {"type": "zzz"}}},
            r"\$\.properties\[\"a b\"\]\.type: unknown type 'zzz'; known: ",
        ),
        (object(), r"type: expected a type that pydantic knows, got <object"),
    ],
)
def test_a_schema_that_is_none_is_one_clear_error(schema: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        compile_schema(schema)
    assert "\n" not in str(caught.value)
    assert "pydantic.dev" not in str(caught.value)


def test_a_value_nested_too_deeply_is_refused_before_the_validator_sees_it() -> None:
    for schema in ({"uniqueItems": True}, {"const": [[1]]}, {"enum": [{"a": 1}]}, True, list):
        for depth in (256, 500, 2000):
            inner = "[" * depth + "]" * depth
            with pytest.raises(DocumentError) as caught:
                compile_schema(schema).decode(f"[{inner},{inner}]")
            assert caught.value.rule == "depth"
            assert len(str(caught.value)) < 500
    inner = "[" * 253 + "]" * 253
    assert compile_schema(True).decode(f"[{inner}]")


def test_a_validator_that_panics_refuses_the_document() -> None:
    # At the deepest that is admitted, on a stack that is nearly full, where the library's comparisons give up.
    import sys

    text = "[" + ",".join(["[" * 250 + "]" * 250] * 2) + "]"
    schema = compile_schema({"uniqueItems": True})

    def down(depth: int) -> None:
        if depth:
            down(depth - 1)
            return
        with contextlib.suppress(DocumentError, RecursionError):
            schema.decode(text)

    used = len(__import__("inspect").stack())
    for left in (40, 120, 200, 260):
        down(sys.getrecursionlimit() - used - left)


def test_long_numbers_are_charged_and_cost_what_their_length_says() -> None:
    import time

    huge = 10**4200
    from typing import Annotated

    import pydantic

    schema = compile_schema(Annotated[int, pydantic.Field(le=huge)])
    decoder = StreamDecoder(schema)
    start = time.process_time()
    decoder.push("1" * 4200)
    assert time.process_time() - start < 0.1, "190 ms when every digit cost a whole number"
    assert decoder.grammar_work >= 4200
