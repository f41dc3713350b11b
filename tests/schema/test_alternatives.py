"""Types of nested values in unions: exact, linear in the value, and bounded whatever the schema."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lines_run import HOME, lines_of

from gateway_args import Parser, Tools, formats
from gateway_args.schema.expressions import MAX_ALTERNATIVES, MAX_TABLE
from gateway_args.schema.value_types import JsonType, ValueType

TREE = {
    "oneOf": [
        *(
            {"type": "object", "properties": {"op": {"const": op}, "left": {"$ref": "#"}, "right": {"$ref": "#"}}}
            for op in ("add", "sub", "mul", "div")
        ),
        {"type": "number"},
    ]
}
FIVE = {"anyOf": [{"properties": {key: {"$ref": "#"} for key in "abcde"[: number + 1]}} for number in range(5)]}
# Each step may lead to any of many sets of alternatives: one for each way to have come so far.
SUBSETS = {
    "$ref": "#/$defs/s0",
    "$defs": {
        "s0": {
            "properties": {
                "a": {"anyOf": [{"$ref": "#/$defs/s0"}, {"$ref": "#/$defs/s1"}]},
                "b": {"$ref": "#/$defs/s0"},
            }
        },
        **{f"s{at}": {"properties": {key: {"$ref": f"#/$defs/s{at + 1}"} for key in "ab"}} for at in range(1, 14)},
        "s14": {"type": "integer"},
    },
}


def _k(schema: Any) -> dict[str, Any]:
    return {"properties": {"k": schema}}


def _walk(type: ValueType, path: str) -> ValueType | None:
    for key in path:
        inner = type.property(key)
        if inner is None:
            return None
        type = inner
    return type


@pytest.mark.parametrize(("schema", "keys"), [(TREE, ("left", "right")), (FIVE, "abcde"), (SUBSETS, "ab")])
def test_the_type_of_each_element_costs_the_same_however_many_came_before(schema: Any, keys: Any) -> None:
    chance = random.Random(4)
    paths = [[chance.choice(keys) for _ in range(24)] for _ in range(400)]

    def lines(count: int) -> int:
        type = ValueType(schema)
        return lines_of(lambda: [_walk(type, path) for path in paths[:count]], HOME / "schema")  # type: ignore[misc]

    counts = [lines(count) for count in (50, 100, 200, 400)]
    assert all(more < 2.2 * less for less, more in pairwise(counts)), counts
    assert counts[-1] < 400 * 24 * 400


@pytest.mark.parametrize("schema", [TREE, FIVE, SUBSETS])
def test_the_tables_of_types_are_bounded(schema: Any) -> None:
    chance = random.Random(5)
    type = ValueType(schema)
    for _ in range(1500):
        _walk(type, "".join(chance.choice("ab") for _ in range(28)))
    types = type._types
    assert len(types._inside) <= MAX_TABLE
    assert len(types._types) <= MAX_TABLE
    assert len(types.expressions._found) <= 2 * MAX_TABLE


def test_a_type_is_the_same_before_and_after_the_tables_were_emptied() -> None:
    chance = random.Random(6)
    paths = ["".join(chance.choice("ab") for _ in range(15)) for _ in range(2000)]
    used = ValueType(SUBSETS)
    for path in paths:
        _walk(used, path)
    for path in paths[:50]:
        assert repr(_walk(used, path)) == repr(_walk(ValueType(SUBSETS), path))


def test_an_expression_tree_in_nested_tags_takes_lines_that_grow_with_the_output() -> None:
    tool = {
        "name": "calc",
        "parameters": {"properties": {"e": {"$ref": "#/$defs/e"}}, "$defs": {"e": _at("#/$defs/e")}},
    }
    fmt, tools = formats.load("minimax_m3"), Tools.of([{"type": "function", "function": tool}])

    def output(size: int) -> str:
        text = f'<tool_call>\n<invoke name="calc"><e>{_tags(size)}</e></invoke>\n</tool_call>'
        return text.replace("<", "]<]minimax[>[<")

    def read(text: str) -> str:
        parser, sent = Parser(fmt, tools=tools), ""
        for at in range(0, len(text), 16):
            sent += "".join(getattr(event, "json", "") for event in parser.feed(text[at : at + 16]))
        return sent + "".join(getattr(event, "json", "") for event in parser.finish("stop"))

    value = json.loads(read(output(31)))["e"]
    assert value["op"] == "add"
    assert jsonschema_rs.is_valid(TREE, value)
    outputs = [output(size) for size in (63, 127, 255)]
    lines = [lines_of(lambda text=text: read(text), HOME) / len(text) for text in outputs]  # type: ignore[misc]
    assert lines[-1] < 1.3 * lines[0], lines


def _at(place: str) -> Any:
    return json.loads(json.dumps(TREE).replace('"#"', f'"{place}"'))


def _tags(size: int) -> str:
    if size <= 1:
        return "1"
    half = (size - 1) // 2
    return f"<op>add</op><left>{_tags(half)}</left><right>{_tags(size - 1 - half)}</right>"


def test_past_the_bound_a_value_is_typed_by_its_own_look() -> None:
    def alternatives(count: int) -> ValueType:
        each = [{"properties": {"x": {"type": ["integer", "null"], "title": str(number)}}} for number in range(count)]
        inner = ValueType({"anyOf": each}).property("x")
        assert inner is not None
        return inner

    assert repr(alternatives(MAX_ALTERNATIVES)) in ("ValueType(integer | null)", "ValueType(null | integer)")
    assert alternatives(MAX_ALTERNATIVES + 1).untyped


def test_what_several_schemas_demand_at_once_is_bounded_too() -> None:
    def all_of(count: int) -> ValueType | None:
        each = [{"properties": {"x": {"type": ["integer", "null"], "title": str(number)}}} for number in range(count)]
        return ValueType({"allOf": each}).property("x")

    inside, beyond = all_of(MAX_ALTERNATIVES), all_of(MAX_ALTERNATIVES + 1)
    assert inside is not None
    assert not inside.untyped
    assert beyond is not None
    assert beyond.untyped


@pytest.mark.parametrize(
    ("schema", "path", "kinds"),
    [
        ({"allOf": [_k({"type": ["integer", "string"]}), _k({"type": ["integer", "null"]})]}, "k", {"integer"}),
        ({**_k({"type": ["integer", "string"]}), "allOf": [_k({"enum": ["a", True]})]}, "k", {"string"}),
        ({"anyOf": [_k({"type": "integer"}), _k({"const": None})]}, "k", {"integer", "null"}),
        ({"anyOf": [_k(True), _k(_k({"type": "integer"}))]}, "kk", {"integer"}),
        ({"anyOf": [_k({}), _k({"type": "integer"})]}, "k", None),
        ({"anyOf": [_k({"type": "integer"}), {}]}, "k", {"integer"}),
    ],
)
def test_a_property_is_typed_by_all_that_say_something_of_it(schema: Any, path: str, kinds: set[str] | None) -> None:
    type = _walk(ValueType(schema), path)
    assert type is not None
    assert (None if type.untyped else {kind for kind in get_args(JsonType) if type.admits(kind)}) == kinds


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"$ref": "#"}, {"type": "object"}], "properties": {"k": {"type": "null"}}},
        {"allOf": [{"allOf": [{"$ref": "#"}]}], "properties": {"k": {"type": "null"}}},
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {"oneOf": [{"$ref": "#/$defs/b"}], "properties": {"k": {"type": "null"}}},
                "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"title": "x"}], "items": {"$ref": "#/$defs/b"}},
            },
        },
    ],
)
def test_a_schema_that_demands_itself_is_followed_once(schema: Any) -> None:
    type = ValueType(schema)
    assert type.keys == {"k"}
    assert repr(type.property("k")) == "ValueType(null)"
    assert type.property("other") is None
    items = type.items
    assert items is None or items.untyped


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "b", 0.5])
MEMBERS = st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr).map(lambda values: {"enum": values})
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda name: {"type": name})


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    groups = st.lists(inner, min_size=1, max_size=3)
    return groups.map(lambda parts: {"anyOf": parts}) | groups.map(lambda parts: {"allOf": parts})


def _objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of objects of which each says something of the property k, and of nothing else."""
    return st.recursive(values.map(lambda schema: {"properties": {"k": schema}}), _combined, max_leaves=4)


LEAVES = st.recursive(MEMBERS | TYPES | st.just({"$ref": "#/$defs/scalar"}), _combined, max_leaves=4)


INNER = _objects(LEAVES | st.just({"$ref": "#/$defs/scalar"}))


@given(schema=INNER | _objects(INNER | st.just({"$ref": "#/$defs/object"})), shared=LEAVES, value=SCALARS)
def test_a_nested_scalar_is_a_member_exactly_when_the_validator_admits_it(schema: Any, shared: Any, value: Any) -> None:
    scalar = json.loads(json.dumps(shared).replace("#/$defs/scalar", "#/$defs/few"))
    scalars = {"scalar": scalar, "few": {"enum": [1, "a", None]}}
    schema = {"allOf": [schema], "$defs": {**scalars, "object": {"properties": {"k": {"$ref": "#/$defs/scalar"}}}}}
    type, integral = ValueType(schema).property("k"), {"k": value}
    while type is not None and type.keys:
        type, integral = type.property("k"), {"k": integral}
    if type is None or type.untyped:  # nothing fits, or nothing is said
        return
    text = value if isinstance(value, str) else json.dumps(value)
    kinds: dict[type, JsonType] = {str: "string", bool: "boolean", int: "integer", float: "number"}  # type: ignore[valid-type]
    kind = "null" if value is None else kinds[value.__class__]
    assert type.has_member(kind, text) == jsonschema_rs.is_valid(schema, integral)


@pytest.mark.parametrize(
    "reference",
    ["#item", "#/$defs/item", "https://example.org/s#item", "item.json", "/item.json#", "item.json#/allOf/0"],
)
def test_a_reference_is_followed_by_pointer_anchor_and_id(reference: str) -> None:
    type = ValueType(
        {
            "$id": "https://example.org/s",
            "properties": {"x": {"$ref": reference}},
            "$defs": {
                "item": {"$anchor": "item", "type": "integer"},
                "other": {"$id": "item.json", "type": "integer", "allOf": [{"type": "integer"}]},
            },
        }
    ).property("x")
    assert repr(type) == "ValueType(integer)"


TAGGED = {
    "oneOf": [
        {"properties": {"kind": {"const": "a"}, "on": {"const": True}, "x": {"type": "integer"}}},
        {"properties": {"kind": {"const": "b"}, "on": {"const": False}, "x": {"type": "string"}}},
        {"properties": {"kind": {"enum": ["a", 1]}, "x": {"type": "boolean"}}},
    ]
}


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ([], {"integer", "string", "boolean"}),
        ([("kind", "string", "a")], {"integer", "boolean"}),
        ([("kind", "string", "b")], {"string"}),
        ([("kind", "integer", "1")], {"boolean"}),
        ([("kind", "integer", "1.0")], {"boolean"}),
        ([("kind", "string", "1")], {"integer", "string", "boolean"}),  # no alternative lists it
        ([("on", "boolean", "true")], {"integer", "boolean"}),
        ([("kind", "string", "a"), ("on", "boolean", "false")], {"boolean"}),
        ([("kind", "string", "b"), ("on", "boolean", "true")], {"integer", "string", "boolean"}),  # none is left
    ],
)
def test_members_leave_the_alternatives_that_admit_them(told: list[tuple[str, Any, str]], left: set[str]) -> None:
    type = ValueType(TAGGED)
    tags = frozenset().union(*(type.tag(*member) for member in told))
    found = type.settled(tags).property("x")
    assert found is not None
    assert {kind for kind in ("integer", "string", "boolean") if found.admits(kind)} == left


def test_what_members_tell_keeps_the_work_linear_and_the_table_small() -> None:
    """A tree of four tagged nodes, deeper and deeper: lines of the package run for a character stay the same."""
    tools = Tools.of(
        [{"name": "f", "input_schema": {"properties": {"e": {"$ref": "#/$defs/e"}}, "$defs": {"e": _tree()}}}]
    )
    costs = []
    for depth in (4, 6, 8):
        mark = "]<]minimax[>["
        output = f'{mark}<tool_call>\n{mark}<invoke name="f">{mark}<e>{_written(depth, mark)}{mark}</e>{mark}</invoke>'
        parser = Parser(formats.load("minimax_m3"), tools)
        costs.append(lines_of(lambda parser=parser, output=output: parser.feed(output), HOME) / len(output))  # type: ignore[misc]
    assert all(later < 1.2 * first for first, later in pairwise(costs)), costs


def _tree() -> dict[str, Any]:
    def node(op: str) -> dict[str, Any]:
        sides = {side: {"$ref": "#/$defs/e"} for side in ("left", "right")}
        return {"type": "object", "properties": {"op": {"const": op}, **sides}}

    return {"oneOf": [*map(node, ("add", "sub", "mul", "div")), {"type": "number"}]}


def _written(depth: int, mark: str) -> str:
    if depth == 0:
        return "1"
    inner = _written(depth - 1, mark)
    op = ("add", "sub", "mul", "div")[depth % 4]
    return f"{mark}<op>{op}{mark}</op>{mark}<left>{inner}{mark}</left>{mark}<right>{inner}{mark}</right>"
