"""A union is seen by its alternative from the moment that one alone is left."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partial_documents import chunkings, seen
from pydantic import BaseModel, Field, TypeAdapter

from gateway_args.partial import Partial, PartialStream


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float
    labels: list[str] = []


class Square(BaseModel):
    kind: Literal["square"]
    side: float
    labels: list[str] = []


Shape = Annotated[Circle | Square, Field(discriminator="kind")]


@dataclass
class Drawing:
    title: str
    main: Shape
    shapes: list[Shape]
    note: str | list[str] = ""


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class Red(BaseModel):
    color: Literal[Color.RED]
    heat: int


class Blue(BaseModel):
    color: Literal[Color.BLUE]
    depth: int


SCHEMA = {
    "oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}, {"type": "null"}],
    "$defs": {
        "circle": {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}, "labels": {"$ref": "#/$defs/l"}},
            "required": ["kind", "radius"],
        },
        "square": {
            "type": "object",
            "properties": {"kind": {"enum": ["square", "box"]}, "side": {"type": "number"}},
            "required": ["kind", "side"],
        },
        "l": {"type": "array", "items": {"type": "string"}},
    },
}


def _after(type_: Any, text: str, size: int = 10_000) -> Partial[Any]:
    stream: PartialStream[Any] = PartialStream(type_)
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    return stream.partial


@pytest.mark.parametrize("size", [1, 4, 10_000])
@pytest.mark.parametrize("type_", [Shape, Circle | Square, Shape | None, SCHEMA])
def test_a_root_union_shows_its_alternatives_fields_when_the_tag_is_whole(type_: Any, size: int) -> None:
    before = _after(type_, '{"labels": ["a", "b"], "radius": 2, "kind": "circle"', size)
    assert (before.fields.radius, before.fields.kind) == (None, None)
    after = _after(type_, '{"labels": ["a", "b"], "radius": 2, "kind": "circle",', size)
    assert (after.fields.radius, after.fields.kind, after.fields.labels) == (2, "circle", ["a", "b"])
    assert after.get(lambda shape: shape.radius) == 2
    growing = _after(type_, '{"kind": "circle", "labels": ["a", "b"', size)
    assert growing.fields.labels == ["a"]
    with pytest.raises(AttributeError):
        _ = growing.fields.side


@pytest.mark.parametrize("size", [1, 4, 10_000])
def test_an_element_of_a_list_shows_its_alternatives_fields_when_narrowed(size: int) -> None:
    text = '{"title": "t", "main": {"kind": "square", "side": 3, '
    main = _after(Drawing, text, size).narrow(lambda drawing: drawing.main)
    assert main is not None
    assert (main.fields.kind, main.fields.side) == ("square", 3.0)
    text += '"x": 0}, "shapes": [{"kind": "circle", "radius": 1}, {"labels": ["a", "b"], "kind": "square", "side": 2, '
    partial = _after(Drawing, text, size)
    assert partial.fields.main == Square(kind="square", side=3)
    assert partial.fields.shapes == [Circle(kind="circle", radius=1)]
    second = partial.narrow(lambda drawing: drawing.shapes[1])
    assert second is not None
    assert (second.fields.side, second.fields.labels) == (2.0, ["a", "b"])
    assert partial.get(("shapes", 1, "side")) == 2.0
    assert partial.get(lambda drawing: drawing.shapes[1].labels[0]) == "a"


def test_the_bracket_tells_alternatives_apart_too() -> None:
    partial = _after(Drawing, '{"title": "t", "note": ["a", "b"')
    assert partial.fields.note == ["a"]
    assert _after(int | list[int], "[1, 2").fields == [1]
    assert _after({"anyOf": [{"type": "string"}, {"items": {"type": "integer"}, "type": "array"}]}, "[1, 2").fields == [
        1
    ]


def test_a_tag_that_is_an_enumeration_tells_too() -> None:
    partial = _after(Red | Blue, '{"color": "blue", "depth": 3, ')
    assert (partial.fields.color, partial.fields.depth) == (Color.BLUE, 3)


def test_alternatives_that_nothing_tells_apart_are_seen_whole() -> None:
    class Either(BaseModel):
        a: int

    class Other(BaseModel):
        a: int
        b: int = 0

    partial = _after(Either | Other, '{"a": 1, ')
    assert partial.fields.a is None
    assert _after(Either | Other, '{"a": 1, "b": 2}').fields.b == 2

    class AnyKind(BaseModel):
        kind: str
        radius: int

    with_another = _after(Circle | AnyKind, '{"kind": "circle", "radius": 1, ')
    assert with_another.fields.radius is None
    unknown = _after(Shape, '{"kind": "hexagon", "side": 1, ')
    assert unknown.fields.side is None


def test_an_invalid_field_of_the_alternative_is_an_error_when_the_tag_came() -> None:
    early = _after(Shape, '{"radius": "x", ')
    assert list(early.errors) == []
    late = _after(Shape, '{"radius": "x", "kind": "circle", ')
    assert [error.path for error in late.errors] == [("radius",)]


def test_held_views_of_a_union_never_change() -> None:
    text = '{"labels": ["a", 5, "c"], "radius": "x", "kind": "circle", "more": [1]}'
    stream: PartialStream[Any] = PartialStream(Shape)
    held = [(view, seen(view)) for view in map(stream.feed, text) if view is not None]
    for view, then in held:
        assert seen(view) == then


def shapes() -> st.SearchStrategy[Any]:
    labels = st.lists(st.text(max_size=3), max_size=3)
    circles = st.fixed_dictionaries({"kind": st.just("circle"), "radius": st.floats(0, 9)}, optional={"labels": labels})
    squares = st.fixed_dictionaries({"side": st.floats(0, 9), "kind": st.just("square")}, optional={"labels": labels})
    return circles | squares


@given(value=st.lists(shapes(), max_size=4), data=st.data())
def test_what_an_alternative_shows_stays_and_is_the_final_value(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    final = TypeAdapter(list[Shape]).validate_json(text)
    stream: PartialStream[Any] = PartialStream(list[Shape])
    for piece in data.draw(chunkings(text)):
        stream.feed(piece)
        view = stream.partial
        for index in range(len(final)):
            element = view.narrow(index)
            if element is None:
                continue
            for name in ("kind", "radius", "side"):
                shown = element.get(name)
                assert shown is None or shown == getattr(final[index], name)
            labels = element.get("labels")
            assert labels is None or labels == final[index].labels
    assert stream.finish() == final
