"""Canonical framing: order is judged at the first wrong key, integers are exact, digits decide as soon as they can."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest

from gateway_args.decoder import (
    Accepted,
    Refused,
    StreamCode,
    StreamDecoder,
    StreamLimits,
    ToolDecoders,
    compile_schema,
)
from gateway_args.decoder.digits import DigitRange
from gateway_args.events import CallArguments, CallEnd, CallStart
from gateway_args.schema.graph import NumberShape
from gateway_args.tools import Tools

RECORD = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer", "minimum": 10, "maximum": 19}, "c": {}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def _refusal(schema: Any, text: str) -> Refused:
    outcomes = []
    for size in (1, 3, len(text)):
        decoder = StreamDecoder(schema, framing="canonical")
        outcome: Any = None
        for at in range(0, len(text), size):
            outcome = decoder.push(text[at : at + size])
        outcomes.append(outcome)
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert isinstance(outcomes[0], Refused), text
    return outcomes[0]


@pytest.mark.parametrize(
    ("text", "at_byte"),
    [
        ('{"b":12,"a":"x"}', 2),  # inside the first key: `a` must come first
        ('{"c":1}', 2),
        ('{"a":"x","c":1}', 10),
        ('{"a":"x","b":12,"a":"y"}', 17),
        ('{"a":"x","b":1.0}', 14),
        ('{"a":"x","b":1e1}', 14),
        ('{"a":"x","b":5}', 13),  # no number from 10 to 19 starts with 5
        ('{"a":"x","b":1}', 14),  # one does start with 1, so its end is where it fails
        ('{"a":"x","b":120}', 15),
        ('{"a":"x","b":-1}', 13),
        ('{"a":"x","b":0', 13),
    ],
)
def test_a_record_is_refused_at_the_first_byte_that_no_canonical_document_has(text: str, at_byte: int) -> None:
    refused = _refusal(RECORD, text + "\n")
    assert (refused.code, refused.at_byte) == (StreamCode.GRAMMAR, at_byte)


def test_a_long_value_in_the_wrong_field_costs_none_of_its_bytes() -> None:
    refused = _refusal(RECORD | {"additionalProperties": True}, '{"b":"' + "x" * 60_000)
    assert refused.at_byte == 3, "at the key's closing quote, where undeclared ones could stand"
    assert refused.message == "$: property 'b' is out of order: expected 'a' before it"


@dataclass
class Pair:
    first: int
    second: int


def test_a_type_is_judged_in_declared_order_too() -> None:
    assert _refusal(Pair, '{"second":1,"first":2}\n').at_byte == 8, (
        "a dataclass takes other keys, so the name must be whole"
    )
    decoder = StreamDecoder(Pair, framing="canonical")
    decoder.push('{"first":1,"second":2}\n')
    assert decoder.finish() == Accepted(Pair(1, 2))


@pytest.mark.parametrize("schema", [{"type": "integer"}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}])
@pytest.mark.parametrize("text", ["1.0", "1e0", "1E2", "-0.0", "10.00"])
def test_an_integer_has_no_fraction_and_no_exponent(schema: Any, text: str) -> None:
    refused = _refusal(schema, text + "\n")
    assert refused.code is StreamCode.GRAMMAR
    assert refused.at_byte == next(at for at, char in enumerate(text) if char in ".eE")
    with pytest.raises(ValueError, match="integer"):
        compile_schema(schema).decode(text + "\n", "canonical")
    assert compile_schema(schema).decode(text) == float(text), "in tool calls 1.0 is an integer, as JSON Schema has it"


def test_a_number_beside_an_integer_may_have_a_fraction() -> None:
    either = {"anyOf": [{"type": "integer"}, {"type": "number"}]}
    for schema in ({"type": "number"}, {"type": ["integer", "number"]}, either):
        decoder = StreamDecoder(schema, framing="canonical")
        decoder.push("1.5\n")
        assert decoder.finish() == Accepted(1.5)
        decoder = StreamDecoder(schema, framing="canonical")
        decoder.push("1.0\n")
        assert decoder.finish() == Accepted(1.0)


def test_a_schema_that_refers_to_itself_is_followed_once() -> None:
    for schema in ({"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"anyOf": [{"$ref": "#"}, {"type": "number"}]}):
        for text, value in (("1.5", 1.5), ("[1.5]", [1.5]), ('{"a":1.5}', {"a": 1.5})):
            if "anyOf" not in schema or isinstance(value, float):
                assert compile_schema(schema).decode(text + "\n", "canonical") == value


@pytest.mark.parametrize("schema", [{"type": "integer", "minimum": 5}, {"multipleOf": 7}, {"minimum": 1}])
def test_digits_run_out_of_work_at_the_same_one_whatever_the_cuts(schema: Any) -> None:
    text = "7" * 60
    found = set()
    for size in (1, 2, 7, 25, 60):
        decoder = StreamDecoder(schema, framing="canonical", limits=StreamLimits(max_work=30))
        outcomes = [decoder.push(text[at : at + size]) for at in range(0, len(text), size)]
        found.add(repr(outcomes[-1]))
    assert len(found) == 1, found
    assert ("max_work" in found.pop()) == ("multipleOf" not in schema)


def test_exact_integers_keep_every_digit() -> None:
    text = "123456789012345678901234567890"
    decoder = StreamDecoder({"type": "integer"}, framing="canonical")
    decoder.push(text + "\n")
    assert decoder.finish() == Accepted(int(text))


def test_digits_are_refused_exactly_where_no_number_in_range_is_left() -> None:
    rnd = random.Random(5)
    bounds = [None, 0, 1, 5, 9, 10, 11, 19, 99, 100, 101, 120, 995, 1000, -1, -5, -10, -99, -100, -120, 9.5, -9.5]
    for _ in range(400):
        shape = NumberShape(rnd.choice(bounds), rnd.choice(bounds), rnd.random() < 0.3, rnd.random() < 0.3, exact=True)
        numbers = {
            str(n)
            for n in range(-20_000, 20_001)
            if not (shape.low is not None and (n < shape.low or (shape.low_open and n == shape.low)))
            and not (shape.high is not None and (n > shape.high or (shape.high_open and n == shape.high)))
        }
        starts = {number[:size] for number in numbers for size in range(1, 5)}
        for negative in (False, True):
            if shape.excludes_sign(negative):
                continue
            found = DigitRange.of(shape, negative=negative)
            for digits in map(str, range(1000)):
                possible = ("-" * negative + digits) in starts or (digits == "0" and "0" in starts)
                said = found is None or found.admits(digits.encode())
                assert said or not possible, (shape, negative, digits)
                if negative and digits == "0":
                    continue  # -0 is 0
                assert said == possible, (shape, negative, digits)


def test_bounds_that_doubles_blur_are_never_refused_early() -> None:
    for bound in (2**53, 2**53 + 1, 2**60 + 3, 10**25):
        found = DigitRange.of(NumberShape(high=bound, exact=True), negative=False)
        assert found is not None
        near = int(float(bound))
        assert all(found.admits(str(number).encode()) for number in (bound, near, max(bound, near)))
        assert not found.admits(str(bound * 10).encode())


def test_calls_may_be_held_to_canonical_form() -> None:
    tools = Tools.of([{"type": "function", "name": "f", "parameters": RECORD}, {"type": "function", "name": "n"}])

    def run(name: str, *fragments: str, complete: bool = True) -> Any:
        decoders = ToolDecoders(tools, framing="canonical")
        events: list[Any] = [CallStart(0, "a", name, True, "")]
        events += [CallArguments(0, fragment, "") for fragment in fragments] + [CallEnd(0, complete, "</call>")]
        told = [outcome for event in events if (outcome := decoders.feed(event)) is not None]
        (outcome,) = told or decoders.finish()
        return outcome.outcome

    assert run("f", '{"a":"x",', '"b":12}') == Accepted({"a": "x", "b": 12})
    assert run("f", '{"b":12,"a":"x"}').at_byte == 2
    assert run("f", '{"a": "x"').code is StreamCode.WHITESPACE
    assert run("n", "12") == Accepted(12)
    assert run("n", "12", complete=False).code is StreamCode.TRUNCATED
    assert run("n", '{"a":"\\u0041"}').rule == "canonical"
