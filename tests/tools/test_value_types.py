"""Value types: what a schema admits, judged against a JSON Schema validator, and schemas that mean harm."""

from __future__ import annotations

import json
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args.schema.value_types import JsonType, ValueType

# One value of each type, as the validator sees them.
SAMPLES: dict[JsonType, Any] = {
    "string": "text",
    "integer": 3,
    "number": 0.5,
    "boolean": True,
    "null": None,
    "object": {},
    "array": [],
}
ALL = set(get_args(JsonType))


def admitted(type: ValueType) -> set[JsonType]:
    return {kind for kind in SAMPLES if type.admits(kind)}


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": "number"}, {"number", "integer"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"type": "string", "nullable": True}, {"string", "null"}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}, {"array"}),
        ({"$ref": "#/definitions/a~1b%20c", "definitions": {"a/b c": {"type": "array"}}}, {"array"}),
        ({"$ref": "#/$defs/list/1", "$defs": {"list": [{}, {"type": "null"}]}}, {"null"}),
        ({"allOf": [{"$ref": "#/$defs/a"}], "nullable": True, "$defs": {"a": {"type": "object"}}}, {"object", "null"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"oneOf": [{"type": "integer"}, {"type": "array"}]}, {"integer", "array"}),
        ({"anyOf": [False, {"type": "array"}]}, {"array"}),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, {"integer"}),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, {"integer"}),
        ({"type": ["string", "array"], "anyOf": [{"type": "string"}, {"type": "null"}]}, {"string"}),
        ({"enum": ["a", "b"]}, {"string"}),
        ({"enum": ["a", None]}, {"string", "null"}),
        ({"enum": [1, 2.0]}, {"integer"}),
        ({"enum": [1, 2.5, True, {}, []]}, {"integer", "number", "boolean", "object", "array"}),
        ({"const": None}, {"null"}),
        ({"const": "a"}, {"string"}),
        ({"type": "string", "enum": ["a", 1]}, {"string"}),
    ],
)
def test_a_schema_admits_the_types_it_names(schema: dict[str, Any], kinds: set[JsonType]) -> None:
    type = ValueType(schema)
    assert admitted(type) == kinds
    assert not type.untyped
    assert type.nullable == ("null" in kinds)
    assert type.only_string == ("string" in kinds and kinds <= {"string", "null"})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        False,
        None,
        "string",
        [],
        {"description": "a"},
        {"properties": {"a": {}}},
        {"type": "text"},
        {"type": []},
        {"type": ["string", "text"]},
        {"type": {"string": 1}},
        {"type": [["string"]]},
        {"enum": []},
        {"enum": "abc"},
        {"enum": {"a": 1}},
        {"anyOf": []},
        {"anyOf": {"type": "string"}},
        {"anyOf": [{"type": "string"}, {}]},
        {"anyOf": [{"type": "string"}, 7]},
        {"allOf": [3, None]},
        {"type": "string", "const": 1},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"$ref": 3},
        {"$ref": ""},
        {"$ref": "#"},
        {"$ref": "#anchor"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/a/99999999999999999999", "a": []},
        {"$ref": "#/a/1", "a": [{"type": "string"}]},
        {"$ref": "https://example.org/schema"},
        {"nullable": True},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    ],
)
def test_what_says_nothing_or_cannot_be_understood_is_untyped(schema: object) -> None:
    type = ValueType(schema)
    assert type.untyped
    assert not type.only_string
    assert admitted(type) == ALL
    assert type.has_member("string", "anything")


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, 2.5]) | st.sampled_from("ab13")
leaves = st.one_of(
    st.builds(lambda kind: {"type": kind}, st.sampled_from(sorted(ALL))),
    st.builds(lambda kinds: {"type": kinds}, st.lists(st.sampled_from(sorted(ALL)), min_size=1, unique=True)),
    st.builds(lambda values: {"enum": values}, st.lists(scalars, min_size=1, unique_by=json.dumps)),
    st.builds(lambda value: {"const": value}, scalars),
    st.sampled_from([{"$ref": "#/$defs/text"}, {"$ref": "#/$defs/few"}, {}]),
)
schemas = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda keyword, branches: {keyword: branches},
        st.sampled_from(["anyOf", "allOf"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
).map(lambda schema: {**schema, "$defs": {"text": {"type": ["string", "null"]}, "few": {"enum": [1, "1", None]}}})


@given(schemas, scalars)
def test_a_scalar_is_a_member_exactly_when_the_validator_says_so(schema: dict[str, Any], value: Any) -> None:
    # A schema that nothing fits is read as one that says nothing: the validator cannot judge it.
    type = ValueType(schema)
    if type.untyped:
        return
    text = value if isinstance(value, str) else json.dumps(value)
    match value:
        case None:
            kind: JsonType = "null"
        case bool():
            kind = "boolean"
        case str():
            kind = "string"
        case _:
            kind = "integer" if value == int(value) else "number"
    assert type.has_member(kind, text) == jsonschema_rs.is_valid(schema, value)


def test_members_are_compared_as_numbers_and_never_cost_more_than_their_length() -> None:
    type = ValueType({"enum": [1, 2.5, 9007199254740993, "1"]})
    assert type.has_member("integer", "1.0")
    assert type.has_member("integer", "10e-1")
    assert type.has_member("number", "25e-1")
    assert type.has_member("integer", "9007199254740993")
    assert not type.has_member("integer", "9007199254740992")
    assert not type.has_member("integer", "9" * 1_000_000)
    assert not type.has_member("integer", "1e999999999999999999999999")
    assert not type.has_member("boolean", "true")


def test_properties_are_found_through_references_and_combinators() -> None:
    type = ValueType(
        {
            "$ref": "#/$defs/base",
            "properties": {"own": {"type": "integer"}},
            "allOf": [{"properties": {"all": {"type": "boolean"}, "own": {"minimum": 3}}}],
            "anyOf": [{"properties": {"any": {"type": "string"}}}, {"properties": {"any": {"type": "null"}}}],
            "$defs": {
                "base": {"type": "object", "properties": {"base": {"$ref": "#/$defs/leaf"}}},
                "leaf": {"enum": ["x"]},
            },
        }
    )
    expected: dict[str, set[JsonType]] = {
        "own": {"integer"},
        "all": {"boolean"},
        "any": {"string", "null"},
        "base": {"string"},
    }
    assert type.keys == set(expected)
    for key, kinds in expected.items():
        inner = type.property(key)
        assert inner is not None
        assert admitted(inner) == kinds
        assert type.property(key) is inner
    assert type.property("other") is None
    assert type.items is None


def test_additional_properties_type_the_keys_that_are_not_declared() -> None:
    type = ValueType({"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}})
    a, other = type.property("a"), type.property("other")
    assert a is not None
    assert admitted(a) == {"integer"}
    assert other is not None
    assert other.only_string
    assert type.keys == {"a"}
    assert type.property("another") is other, "keys that a model invents take no room"
    for rest in (True, False, None, 3):
        assert ValueType({"additionalProperties": rest}).property("x") is None
    patterns = {"patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
    assert ValueType(patterns).property("n1") is None


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({"items": {"type": "string"}}, {"string"}),
        ({"type": "array", "items": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"prefixItems": [{"type": "integer"}], "items": {"type": "null"}}, {"integer", "null"}),
        ({"anyOf": [{"type": "null"}, {"items": {"type": "object"}}]}, {"object"}),
    ],
)
def test_items_are_one_type(schema: dict[str, Any], kinds: set[JsonType]) -> None:
    items = ValueType(schema).items
    assert items is not None
    assert admitted(items) == kinds


def test_a_recursive_schema_is_followed_as_deep_as_the_value_goes() -> None:
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "label": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
            }
        },
    }
    type = ValueType(tree)
    for _ in range(200):
        label, children = type.property("label"), type.property("children")
        assert label is not None
        assert label.only_string
        assert children is not None
        assert children.items is not None
        type = children.items


def test_a_small_schema_that_expands_without_end_is_cut_short() -> None:
    doubled = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    type = ValueType({"$ref": "#/$defs/d0", "$defs": {**doubled, "d40": {"type": "string"}}})
    assert type.keys == frozenset()
    assert type.property("x") is None
    assert type.untyped
    nested: dict[str, Any] = {"type": "string"}
    for _ in range(400):
        nested = {"allOf": [nested]}
    assert ValueType(nested).untyped


keywords = "type enum const anyOf allOf oneOf $ref properties items prefixItems nullable additionalProperties $defs a"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keywords.split()), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_no_schema_raises(schema: object) -> None:
    type = ValueType(schema)
    inner = [type.property("a"), type.property("type"), type.items]
    assert type.untyped or admitted(type)
    assert all(one is None or one.untyped or admitted(one) for one in inner)


def test_of_enumerations_that_must_all_hold_only_the_common_members_are_members() -> None:
    type = ValueType({"allOf": [{"enum": [1, 2, "a"]}, {"enum": [2, 3, "a", "b"]}]})
    members = [("integer", "1"), ("integer", "2"), ("integer", "3"), ("string", "a"), ("string", "b")]
    assert [type.has_member(kind, text) for kind, text in members] == [False, True, False, True, False]  # type: ignore[arg-type]
    either = ValueType({"anyOf": [{"enum": [1]}, {"const": 3}]})
    assert [either.has_member("integer", text) for text in "123"] == [True, False, True]
