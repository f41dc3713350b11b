"""What is validated, when and how often, for every kind of type."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    ValidationInfo,
    field_validator,
    model_validator,
)

from gateway_args import errors
from gateway_args.partial import Partial, PartialStream, decode
from gateway_args.schema.path import show


def _views(
    type_: Any, text: str, size: int = 1, *, strict: bool = True
) -> tuple[PartialStream[Any], list[Partial[Any]]]:
    stream: PartialStream[Any] = PartialStream(type_, strict=strict)
    views = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return stream, [view for view in views if view is not None]


def _last(type_: Any, text: str) -> Partial[Any]:
    return _views(type_, text)[0].partial


def _faults(partial: Partial[Any]) -> list[str]:
    return [show(fault.path) for fault in partial.errors]


CALLS: Counter[str] = Counter()


def _counted(value: str) -> str:
    CALLS[value] += 1
    return value


Counted = Annotated[str, AfterValidator(_counted)]


@dataclass
class Inner:
    name: Counted


@dataclass
class Outer:
    title: Counted
    inners: list[Inner]
    by_key: dict[str, Counted]
    one: Inner
    inner_tags: list[Counted] = field(default_factory=list)


@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_each_complete_part_is_validated_once_as_it_streams_and_once_in_the_end(size: int) -> None:
    names = [f"n{number}" for number in range(20)]
    text = json.dumps(
        {
            "title": "t",
            "inners": [{"name": name} for name in names],
            "by_key": {f"k{name}": f"v{name}" for name in names},
            "one": {"name": "one"},
            "inner_tags": [f"tag{name}" for name in names],
        }
    )
    CALLS.clear()
    stream, views = _views(Outer, text, size)
    for view in views:
        _ = repr(view.fields), view.errors, view.get("title"), view.get(("inners", 0)), view.get("inners")
    assert set(CALLS.values()) == {1}
    assert len(CALLS) == 2 + 3 * len(names)
    stream.finish()
    _ = stream.partial.value, stream.partial.value
    assert set(CALLS.values()) == {2}


def test_what_a_cursor_validates_it_validates_once_over_the_views_it_is_asked_on() -> None:
    text = '[{"name": "a", "tags": ["x", "y", "z"]}, {"name": "b", "tags": ["v"'

    @dataclass
    class Tagged:
        name: Counted
        tags: list[Counted]

    CALLS.clear()
    for view in _views(Any, text)[1]:
        cursor = view.narrow(0, Tagged)
        if cursor is not None:
            _ = repr(cursor.fields)
    assert CALLS == {"a": 1, "x": 1, "y": 1, "z": 1}


def test_a_part_that_fails_is_reported_once_and_does_not_stop_the_stream() -> None:
    class Item(BaseModel):
        price: Annotated[float, Field(gt=0)]

    class Basket(BaseModel):
        owner: Annotated[str, Field(min_length=3)]
        items: Annotated[list[Item], Field(max_length=3)]
        prices: dict[str, Annotated[int, Field(lt=10)]] = {}

    text = (
        '{"owner": "al", "items": [{"price": 1}, {"price": -1}, {"cost": 2}, {"price": 4}],'
        ' "prices": {"a": 1, "b": 12, "c": 3}}'
    )
    stream, views = _views(Basket, text)
    partial = views[-1]
    assert _faults(partial) == ["$.owner", "$.items[1].price", "$.items[2].price", "$.prices.b"]
    assert next(view for view in views if _faults(view)).fields.items == []
    assert partial.fields.owner is None
    assert partial.fields.items == [Item(price=1), Item(price=4)]
    assert partial.fields.prices == {"a": 1, "c": 3}
    assert partial.get(("items", 1)) is None
    assert partial.get(("items", 3)) == Item(price=4)
    assert partial.get("items") is None
    assert partial.value is None
    with pytest.raises(errors.DecodeError) as raised:
        stream.finish()
    assert (raised.value.path, raised.value.offset) == ("$.owner", text.index('"al"'))


def test_held_views_keep_the_errors_that_they_had() -> None:
    _, views = _views(list[int], '["a", 1, "b", "c"]')
    counts = [len(view.errors) for view in views]
    assert [len(view.errors) for view in views] == counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == 3


@pytest.mark.parametrize("size", [1, 1000])
def test_the_elements_of_a_list_that_closed_last_are_seen_however_it_was_read(size: int) -> None:
    class Tagged(BaseModel):
        tags: list[str]

    for text in ('{"tags": ["a", "b"]', '{"tags": ["a", "b"] '):
        partial = _views(Tagged, text, size)[0].partial
        assert partial.fields.tags == ["a", "b"]
        assert not partial.is_complete("tags")


def test_a_collections_own_rules_are_checked_when_it_closes_without_its_elements() -> None:
    class Basket(BaseModel):
        items: Annotated[list[Counted], Field(min_length=3)]

    CALLS.clear()
    partial = _last(Basket, '{"items": ["a", "b"], "x": 0')
    assert _faults(partial) == ["$.items"]
    assert partial.fields.items == ["a", "b"]
    assert CALLS == {"a": 1, "b": 1}


def test_whole_value_validators_run_only_at_the_end() -> None:
    ran = []

    class Pair(BaseModel):
        low: int
        high: int

        @model_validator(mode="after")
        def ordered(self) -> Pair:
            ran.append((self.low, self.high))
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    stream: PartialStream[Any] = PartialStream(Pair)
    view = stream.feed('{"low": 2, "high": 1, ')
    assert view is not None
    assert (view.fields.low, view.fields.high, ran) == (2, 1, [])
    stream.feed('"x": 1}')
    with pytest.raises(errors.DecodeError, match="low is above high"):
        stream.finish()
    assert ran == [(2, 1)]


def test_field_validators_hold_and_one_that_asks_for_other_fields_waits_for_the_end() -> None:
    class Account(BaseModel):
        name: str
        again: str

        @field_validator("name")
        @classmethod
        def lowered(cls, value: str) -> str:
            return value.lower()

        @field_validator("again")
        @classmethod
        def same(cls, value: str, info: ValidationInfo) -> str:
            if value.lower() != info.data["name"]:
                raise ValueError("differs")
            return value.lower()

    _, views = _views(Account, '{"name": "AL", "again": "Al"}')
    assert views[-2].fields.name == "al"
    assert views[-2].fields.again is None
    assert views[-1].fields.again == "al"


def test_aliases_are_the_json_keys_and_names_the_attributes() -> None:
    class Aliased(BaseModel):
        first: int = Field(alias="1st")
        second: int = Field(validation_alias=AliasChoices("two", "2nd"))

    partial = _last(Aliased, '{"1st": 1, "2nd": 2, "x": ')
    assert (partial.fields.first, partial.fields.second) == (1, 2)
    assert partial.get(lambda value: value.first) == 1
    assert partial.get("1st") == 1
    with pytest.raises(AttributeError):
        _ = partial.fields.two

    class ByName(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        first: int = Field(alias="1st")

    assert _last(ByName, '{"first": 1, ').fields.first == 1


def test_a_strict_model_takes_from_json_what_json_has_no_type_for() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        pair: tuple[int, int]
        tags: set[str]
        count: int

    partial = _last(Strict, '{"pair": [1, 2], "tags": ["a", "b"], "count": "3", ')
    assert partial.fields.pair == (1, 2)
    assert partial.fields.tags == ["a", "b"]
    assert partial.get("tags") == {"a", "b"}
    assert _faults(partial) == ["$.count"]


class Node(BaseModel):
    name: str
    children: list[Node] = []


def test_recursive_types_are_seen_level_by_level() -> None:
    partial = _last(Node, '{"name": "r", "children": [{"name": "a"}, {"name": "b", "children": [{"name": "c"}, {"na')
    assert partial.fields.children == [Node(name="a")]
    inner = partial.narrow(lambda node: node.children[1])
    assert inner is not None
    assert (inner.fields.name, inner.fields.children) == ("b", [Node(name="c")])


class Described(TypedDict, total=False):
    name: str
    tags: list[str]


class Nested(TypedDict):
    inner: list[Described]


class Point(NamedTuple):
    x: int
    ys: list[int] = []  # noqa: RUF012 - the default of a field
    label: str = "none"


def test_typed_dicts_of_the_standard_library_are_read_on_every_python() -> None:
    partial = _last(Described, '{"tags": ["a", "b"')
    assert partial.fields["tags"] == ["a"]
    assert decode(Nested, '{"inner": [{"name": "x"}]}') == {"inner": [{"name": "x"}]}
    with pytest.raises(errors.DecodeError):
        decode(Nested, '{"inner": [{"name": 5}]}')


@pytest.mark.parametrize("text", ['{"x": 1, "ys": [2, 3', "[1, [2, 3"])
def test_a_named_tuple_is_read_from_an_object_and_from_a_list(text: str) -> None:
    partial = _last(Point, text)
    assert (partial.fields.x, partial.fields.ys, partial.fields.label) == (1, [2], None)


def test_what_the_text_leaves_out_has_its_default_once_the_value_is_done() -> None:
    assert _last(Point, '{"x": 1}').fields.label == "none"


@pytest.mark.parametrize(
    "type_",
    [list[int], set[int], frozenset[int], tuple[int, ...], Sequence[int], RootModel[list[int]], list[int] | None],
)
def test_elements_of_every_kind_of_list_are_seen_one_by_one(type_: Any) -> None:
    partial = _last(type_, '[1, "x", 3, ')
    assert partial.fields == [1, 3]
    assert _faults(partial) == ["$[1]"]


@pytest.mark.parametrize("type_", [dict[str, int], Mapping[str, int]])
def test_members_of_every_kind_of_mapping_are_seen_one_by_one(type_: Any) -> None:
    assert _last(type_, '{"a": 1, "b": 2').fields == {"a": 1}


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (dict[int, int], '{"1": 1, "2": 2}'),
        (tuple[int, str], '[1, "a"]'),
        (int | list[int], "[1, 2]"),
        (int, "12"),
        (str, '"abc"'),
        (Any, "null"),
    ],
)
def test_every_other_type_is_seen_whole(type_: Any, text: str) -> None:
    stream, views = _views(type_, text)
    assert all(view.value is None for view in views[:-1])
    expected = json.loads(text)
    match type_:
        case _ if type_ == dict[int, int]:
            expected = {1: 1, 2: 2}
        case _ if type_ == tuple[int, str]:
            expected = (1, "a")
    assert stream.finish() == expected


def test_a_null_or_a_wrong_kind_where_a_collection_belongs_is_none() -> None:
    class Maybe(BaseModel):
        one: list[int] | None
        two: list[int]

    partial = _last(Maybe, '{"one": null, "two": {"a": 1}, ')
    assert partial.fields.one is None
    assert partial.fields.two is None
    assert _faults(partial) == ["$.two"]


def test_raw_control_characters_are_content_for_every_check_that_is_not_strict() -> None:
    class Noted(BaseModel):
        note: str
        notes: list[str]

    text = '{"note": "a\tb", "notes": ["c\nd", "e"]}'
    stream, views = _views(Noted, text, strict=False)
    assert views[-2].fields.note == "a\tb"
    assert stream.finish() == Noted(note="a\tb", notes=["c\nd", "e"])


SCHEMA = {
    "$defs": {"item": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 3},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 4},
        "a/b~c": {"anyOf": [{"type": "object", "additionalProperties": {"type": "string"}}, {"type": "null"}]},
    },
    "required": ["title"],
}


def test_a_json_schema_checks_each_part_against_its_own_subschema() -> None:
    text = '{"title": "long", "items": [{"n": 1}, {"n": "x"}, {"n": 3}], "a/b~c": {"k": "v", "l": 2}, "other": 1}'
    stream, views = _views(SCHEMA, text)
    partial = views[-1]
    assert _faults(partial) == ["$.title", "$.items[1].n", '$["a/b~c"].l']
    assert partial.fields.title is None
    assert partial.fields.items == [{"n": 1}, {"n": 3}]
    assert partial.fields["a/b~c"] == {"k": "v"}
    assert partial.get(("items", 0, "n")) == 1
    with pytest.raises(errors.DecodeError) as raised:
        stream.finish()
    assert raised.value.path in ("$.title", "$.items[1].n", '$["a/b~c"]', '$["a/b~c"].l')


def test_a_json_schemas_array_is_held_to_its_own_size_when_it_closes() -> None:
    assert _faults(_last(SCHEMA, '{"items": [{"n": 1}], ')) == ["$.items"]


def test_numbers_and_texts_that_no_checker_expects_raise_nothing_before_the_end() -> None:
    for text in (
        '{"items": [{"n": 1' + "0" * 400 + '}], "title": 1e999, ',
        '{"title": "\\ud800", "items": [{"n": 1e999}], ',
    ):
        for type_ in (SCHEMA, Outer, list[float]):
            for view in _views(type_, text, 5)[1]:
                _ = repr(view.fields), list(view.errors), view.get("title", str), view.get("items", list[int])


def test_what_is_no_schema_is_a_value_error_at_once() -> None:
    with pytest.raises(ValueError, match="type"):
        PartialStream({"type": 5})


@given(
    value=st.fixed_dictionaries(
        {"title": st.text(max_size=3)},
        optional={"items": st.lists(st.fixed_dictionaries({"n": st.integers()}), min_size=4)},
    )
)
def test_a_json_schemas_final_value_is_the_plain_value(value: Any) -> None:
    stream, _ = _views(SCHEMA, json.dumps(value), 7)
    assert stream.finish() == value
