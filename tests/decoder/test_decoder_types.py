"""Python types: records, variants and recursion, in both framings; pydantic has the last word and the first."""

from __future__ import annotations

import copy
import datetime as dt
import enum
import json
import random
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import pytest
from decoder_documents import same_for_every_cut, spellings
from decoder_schemas import BYTE_MUTATIONS, VALUE_MUTATIONS
from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from gateway_args.decoder import Accepted, Refused, StreamCode, compile_schema


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Circle(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["circle"]
    radius: Annotated[int, Field(ge=1, le=500)]
    label: Annotated[str, Field(max_length=5)] | None = None


class Group(BaseModel):
    kind: Literal["group"]
    shapes: list[Shape]
    colour: Colour = Colour.RED


Shape = Annotated[Circle | Group, Field(discriminator="kind")]
Group.model_rebuild()


class Point(NamedTuple):
    x: int
    y: float


class Options(TypedDict):
    deep: bool
    limit: NotRequired[int]


@dataclass
class Node:
    next: Node | None


@dataclass
class Search:
    query: str
    options: Options
    at: Point | None = None
    tags: tuple[str, int] = ("a", 1)
    seen: set[int] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)


SHAPE = compile_schema(Shape)
SEARCH = compile_schema(Search)
VALUES: list[tuple[Any, Any]] = [
    (SHAPE, {"kind": "circle", "radius": 20, "label": "é😀"}),
    (
        SHAPE,
        {
            "kind": "group",
            "shapes": [{"kind": "group", "shapes": [], "colour": "green"}, {"kind": "circle", "radius": 1}],
        },
    ),
    (
        SEARCH,
        {"query": "q", "options": {"deep": True}, "at": None, "tags": ["b", 2], "seen": [1, 1], "counts": {"a": 1}},
    ),
    (SEARCH, {"query": "q", "options": {"deep": False, "limit": 3}, "at": [1, 2.5]}),
    (compile_schema(list[Options]), [{"deep": True}, {"deep": False, "limit": 10**20}]),
]


def _agree(schema: Any, document: bytes, framing: Any = "json") -> Any:
    said = same_for_every_cut(schema, document, every_split=len(document) < 60, framing=framing)
    try:
        value = schema.decode(document, framing)
    except ValueError:
        assert isinstance(said, Refused), document
        return said
    assert isinstance(said, Accepted), (document, said)
    assert said.value == value
    return said


@pytest.mark.parametrize("index", range(len(VALUES)))
def test_valid_values_are_accepted_in_every_spelling_that_strict_pydantic_takes(index: int) -> None:
    schema, value = VALUES[index]
    accepted = 0
    for document in spellings(value):
        accepted += isinstance(_agree(schema, document), Accepted)
    assert accepted >= 3, "the spellings with whole numbers as integers"


def test_streamed_and_whole_agree_on_hostile_documents_of_types() -> None:
    rnd = random.Random(6)
    early = accepted = 0
    for schema, value in VALUES * 12:
        changed = copy.deepcopy(value)
        for change in rnd.sample(VALUE_MUTATIONS, 2):
            change(changed, rnd)
        document = rnd.choice(BYTE_MUTATIONS)(next(iter(spellings(changed))), rnd)
        for framing, text in (("json", document), ("canonical", document + b"\n")):
            said = _agree(schema, text, framing)
            accepted += isinstance(said, Accepted)
            early += isinstance(said, Refused) and said.code is not StreamCode.SEMANTIC
    assert early > 40
    assert accepted > 5


# Type, the document, the sound part of it: refused at the byte after, or in the end when there is none.
REFUSED: list[tuple[Any, str, str]] = [
    (Shape, '{"kind":"square"}', '{"kind":"'),
    (Shape, '{"kind":"circle","radius":501}', '{"kind":"circle","radius":50'),
    (Shape, '{"kind":"circle","radius":1.0}', '{"kind":"circle","radius":1'),
    (Shape, '{"kind":"circle","radius":1,"colour":"red"}', '{"kind":"circle","radius":1,"'),
    (Shape, '{"kind":"group","shapes":[{"kind":"circle"}]}', '{"kind":"group","shapes":[{"kind":"circle"'),
    (Shape, '{"kind":"group","shapes":[],"colour":"blue"}', '{"kind":"group","shapes":[],"colour":"'),
    (Search, '{"query":"q","options":{"deep":1}}', '{"query":"q","options":{"deep":'),
    (Search, '{"query":"q","options":{},"at":null}', '{"query":"q","options":{'),
    (Search, '{"query":"q","options":{"deep":true},"tags":["a"]}', '{"query":"q","options":{"deep":true},"tags":["a"'),
    (Search, '{"query":"q"}', '{"query":"q"'),
    (dict[str, int], '{"a":1,"b":"1"}', '{"a":1,"b":'),
    (Annotated[str, Field(max_length=2)], '"abc"', '"ab'),
    (bool, "1", ""),
    (int | str | None, "[1]", ""),
    (None, "1", ""),
    (Annotated[int, Field(lt=10)], "10", "1"),
    (list[Circle | Group], '[{"kind":"group","radius":1}]', '[{"kind":"group","radius":1'),
]


@pytest.mark.parametrize(("of", "document", "sound"), REFUSED)
def test_a_type_refuses_as_early_as_a_schema_does(of: Any, document: str, sound: str) -> None:
    said = _agree(compile_schema(of), document.encode())
    assert isinstance(said, Refused)
    assert said.code in (StreamCode.GRAMMAR, StreamCode.START)
    assert said.at_byte == len(sound)


class ByName(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_by_name=True, validate_by_alias=True)
    size: int = Field(alias="SIZE")


class Aliased(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int = Field(validation_alias=AliasChoices("a", "b"))


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    name: Annotated[str, Field(max_length=3)]


def _length(value: Any) -> Any:
    return len(value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("of", "document"),
    [
        (ByName, '{"size":1}'),
        (ByName, '{"SIZE":1}'),
        (Aliased, '{"b":1}'),
        (Stripped, '{"name":"   abc "}'),
        (Annotated[int, BeforeValidator(_length)], '"four"'),
        (Annotated[int, AfterValidator(_length)], "4"),
        (Literal["a", 1], "1.0"),
        (Literal["a", 1], "true"),
        (dt.datetime, '"2026-01-02T03:04:05"'),
        (dt.date | None, "null"),
        (bytes, '"abc"'),
        (float, "3"),
        (Annotated[float, Field(gt=1)], "1000e-2"),
        (Annotated[set[int], Field(max_length=1)], "[1,1,1]"),
        (Annotated[dict[int, str], Field(max_length=1)], '{"1":"a","01":"b"}'),
        (tuple[int, ...], "[1,2,3]"),
        (Any, '{"anything":[1]}'),
        (int | str | None, '"a"'),
        (Circle | Group, '{"kind":"group","shapes":[]}'),
        (Literal["a", None], "null"),
        (Annotated[int, Field(lt=10)], "9"),
        (Node, '{"next":{"next":null}}'),
        (TypeAdapter(list[int]), "[1]"),
    ],
)
def test_what_strict_pydantic_takes_is_not_refused_early(of: Any, document: str) -> None:
    assert isinstance(_agree(compile_schema(of), document.encode()), Accepted)


def test_a_key_that_stands_twice_is_refused_for_types_too() -> None:
    schema = compile_schema(dict[str, int])
    said = _agree(schema, b'{"a":1,"\\u0061":2}')
    assert isinstance(said, Refused)
    assert said.code is StreamCode.GRAMMAR
    with pytest.raises(ValueError, match="twice"):
        schema.decode(b'{"a":1,"a":2}')


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ('{"kind":"circle","radius":3,"label":"é"}\n', None),
        ('{"kind":"circle","radius":3}\n', None),
        ('{"kind":"group","shapes":[{"kind":"circle","radius":3}]}\n', None),
        ('{"radius":3,"kind":"circle"}\n', StreamCode.GRAMMAR),
        ('{"kind":"circle","radius":3,"label":"\\u00e9"}\n', StreamCode.SEMANTIC),
        ('{"kind":"circle","radius":-0}\n', StreamCode.GRAMMAR),
        ('{"kind":"circle", "radius":3}\n', StreamCode.WHITESPACE),
        ('{"kind":"group","shapes":[],"more":1}\n', StreamCode.SEMANTIC),
        ('{"kind":"circle","radius":3}', StreamCode.TRUNCATED),
        ('{"kind":"circle","radius":3}\r\n', StreamCode.TRAILING),
    ],
)
def test_canonical_framing_admits_exactly_what_pydantic_writes(document: str, code: StreamCode | None) -> None:
    said = _agree(SHAPE, document.encode(), "canonical")
    if code is None:
        assert isinstance(said, Accepted)
        written = TypeAdapter(Shape).dump_json(said.value, exclude_unset=True)
        assert written + b"\n" == document.encode()
    else:
        assert isinstance(said, Refused)
        assert said.code is code


def test_a_recursive_type_is_a_cycle_and_no_expansion() -> None:
    document: Any = {"kind": "circle", "radius": 1}
    for _ in range(25):
        document = {"kind": "group", "shapes": [document]}
    assert isinstance(_agree(SHAPE, json.dumps(document).encode()), Accepted)


def test_the_identity_of_a_type_is_stable_and_its_own() -> None:
    assert compile_schema(Circle).identity == compile_schema(Circle).identity
    assert compile_schema(Circle).identity != compile_schema(Group).identity


def test_what_is_no_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="type"):
        compile_schema(object())
