"""Which keywords refuse early, and at which byte: the same list as the table in docs/stream-decoder.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from decoder_documents import same_for_every_cut

from gateway_args.decoder import Accepted, Refused, StreamCode, compile_schema

DRAFT_7 = "http://json-schema.org/draft-07/schema#"

# Keyword, schema, a document that it refuses, and how much of that document is sound: the byte after it is refused.
EARLY: list[tuple[str, Any, str, str]] = [
    ("type", {"type": "array"}, '{"a":1}', ""),
    ("type", {"items": {"type": ["string", "null"]}}, '["a",null,true]', '["a",null,'),
    ("type", {"items": {"type": "integer"}}, "[1.0,1.5]", "[1.0,1.5"),
    ("const", {"items": {"const": "abc"}}, '["abd"]', '["ab'),
    ("const", {"items": {"const": {"a": [1, 2]}}}, '[{"a":[1,3]}]', '[{"a":[1,3'),
    ("const", {"items": {"const": 1}}, "[1.0,2]", "[1.0,2"),
    ("enum", {"items": {"enum": ["red", "green", None]}}, '["red",null,"grey"]', '["red",null,"gre'),
    ("enum", {"items": {"enum": ["red", "reddish"]}}, '["red","redd"]', '["red","redd'),
    ("enum", {"items": {"enum": [1, "a"]}}, "[true]", "["),
    ("minimum", {"items": {"minimum": 1}}, "[1,-1]", "[1,"),
    ("minimum", {"items": {"minimum": -5}}, "[-5,-6]", "[-5,-6"),
    ("maximum", {"items": {"maximum": 100}}, "[1000e-1,101]", "[1000e-1,101"),
    ("maximum", {"items": {"maximum": -1}}, "[-1,1]", "[-1,"),
    ("exclusiveMinimum", {"items": {"exclusiveMinimum": 0}}, "[1,-1]", "[1,"),
    ("exclusiveMinimum", {"items": {"exclusiveMinimum": 5}}, "[6,5.0]", "[6,5.0"),
    ("exclusiveMaximum", {"items": {"exclusiveMaximum": 5}}, "[4.9,5]", "[4.9,5"),
    ("minLength", {"items": {"minLength": 2}}, '["ab","é"]', '["ab","é'),
    ("maxLength", {"items": {"maxLength": 2}}, '["éé","éab"]', '["éé","éa'),
    ("maxLength", {"items": {"maxLength": 1}}, r'["\ud83d\ude00","\ud83d\ude00x"]', r'["\ud83d\ude00","\ud83d\ude00'),
    ("properties", {"properties": {"a": {"type": "null"}}}, '{"b":1,"\\u0061":1}', '{"b":1,"\\u0061":'),
    ("properties", {"properties": {"a": False}}, '{"a":1}', '{"a'),
    ("patternProperties", {"patternProperties": {"^a": {"type": "null"}}}, '{"b":1,"ab":1}', '{"b":1,"ab":'),
    ("additionalProperties", {"properties": {"ab": True}, "additionalProperties": False}, '{"ab":1,"c":1}', '{"ab":1'),
    ("additionalProperties", {"properties": {"ab": True}, "additionalProperties": False}, '{"ac":1}', '{"a'),
    ("additionalProperties", {"additionalProperties": {"type": "null"}}, '{"a":null,"b":1}', '{"a":null,"b":'),
    (
        "additionalProperties",
        {"patternProperties": {"^a": True}, "additionalProperties": False},
        '{"ab":1,"b":1}',
        '{"ab":1,"b',
    ),
    ("required", {"required": ["a", "b"]}, '{"a":1}', '{"a":1'),
    ("minProperties", {"minProperties": 2}, '{"a":1}', '{"a":1'),
    ("maxProperties", {"maxProperties": 1}, '{"a":1,"b":1}', '{"a":1'),
    ("maxProperties", {"maxProperties": 0}, '{"a":1}', "{"),
    ("prefixItems", {"prefixItems": [{"type": "null"}, {"type": "string"}]}, "[null,1]", "[null,"),
    ("items", {"prefixItems": [True], "items": {"type": "string"}}, '[1,"a",1]', '[1,"a",'),
    ("items", {"prefixItems": [True], "items": False}, "[1,2]", "[1"),
    ("minItems", {"minItems": 2}, "[1]", "[1"),
    ("maxItems", {"maxItems": 2}, "[1,2,3]", "[1,2"),
    ("$ref", {"$defs": {"a": {"type": "null"}}, "items": {"$ref": "#/$defs/a"}}, "[null,1]", "[null,"),
    ("$ref", {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}, '{"a":{"b":1}}', '{"a":{"'),
    ("$ref", {"$defs": {"a": {"$anchor": "x", "type": "null"}}, "items": {"$ref": "#x"}}, "[1]", "["),
    ("allOf", {"items": {"allOf": [{"minimum": 0}, {"type": "integer"}]}}, "[0,-1]", "[0,-1"),
    ("anyOf", {"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, '["a",null,1]', '["a",null,'),
    (
        "anyOf",
        {
            "anyOf": [
                {"properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "square"}, "r": {"type": "string"}}, "required": ["kind"]},
            ]
        },
        '{"r":1,"kind":"square"}',
        '{"r":1,"kind":"',
    ),
    ("oneOf", {"items": {"oneOf": [{"const": "abc"}, {"const": "abd"}]}}, '["abd","abe"]', '["abd","ab'),
]

# Keyword, schema, a document that it refuses, but only in the end.
LATE: list[tuple[str, Any, str]] = [
    ("pattern", {"items": {"pattern": "^a"}}, '["b"]'),
    ("multipleOf", {"items": {"multipleOf": 2}}, "[1]"),
    ("uniqueItems", {"uniqueItems": True}, "[1,1.0]"),
    ("contains", {"contains": {"type": "null"}}, "[1]"),
    ("minContains", {"contains": True, "minContains": 2}, "[1]"),
    ("maxContains", {"contains": True, "maxContains": 1}, "[1,2]"),
    ("propertyNames", {"propertyNames": {"maxLength": 1}}, '{"ab":1}'),
    ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, '{"a":1}'),
    ("dependentSchemas", {"dependentSchemas": {"a": {"required": ["b"]}}}, '{"a":1}'),
    ("unevaluatedProperties", {"properties": {"a": True}, "unevaluatedProperties": False}, '{"b":1}'),
    ("unevaluatedItems", {"prefixItems": [True], "unevaluatedItems": False}, "[1,2]"),
    ("not", {"items": {"not": {"type": "null"}}}, "[null]"),
    ("if", {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, '{"a":1}'),
    ("then", {"if": True, "then": {"type": "null"}}, "[1]"),
    ("else", {"if": False, "else": {"type": "null"}}, "[1]"),
    ("$dynamicRef", {"$dynamicAnchor": "n", "type": "array", "items": {"$dynamicRef": "#n"}}, "[[1]]"),
    ("oneOf (two that admit)", {"oneOf": [{"minimum": 0}, {"maximum": 9}]}, "[5]"),
]


@pytest.mark.parametrize(("keyword", "schema", "document", "sound"), EARLY)
def test_an_early_keyword_refuses_at_the_byte_after_which_nothing_valid_follows(
    keyword: str, schema: Any, document: str, sound: str
) -> None:
    said = same_for_every_cut(compile_schema(schema), document.encode())
    assert isinstance(said, Refused)
    assert said.code is (StreamCode.START if not sound else StreamCode.GRAMMAR), said
    assert said.at_byte == len(sound.encode()), said


@pytest.mark.parametrize(("keyword", "schema", "document"), LATE)
def test_a_late_keyword_waits_for_the_whole_document(keyword: str, schema: Any, document: str) -> None:
    said = same_for_every_cut(compile_schema(schema), document.encode())
    assert isinstance(said, Refused)
    assert said.code is StreamCode.SEMANTIC


def test_a_format_is_asserted_only_where_the_validator_asserts_it() -> None:
    assert isinstance(same_for_every_cut(compile_schema({"items": {"format": "date"}}), b'["x"]'), Accepted)


def test_the_table_in_the_docs_is_this_table() -> None:
    text = (Path(__file__).parents[2] / "docs" / "stream-decoder.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (early|end) \| (.+?) \|", text, re.MULTILINE)
    documented = {when: set(re.findall(r"`([^`]+)`", words)) for when, words in rows}
    # The oneOf of the late table is the same keyword's other half, and format is asserted on request alone.
    assert documented["early"] == {row[0] for row in EARLY}
    assert documented["end"] - {"format"} == {row[0] for row in LATE if " " not in row[0]}


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ({"items": {"minimum": 1}}, "[1,1000e-3]"),
        ({"items": {"maximum": 5}}, "[10000e-4,0.5E+1]"),
        ({"items": {"minimum": 0}}, "[-0,-0.0,-1e-400]"),
        ({"items": {"type": "integer"}}, "[1.0,15e1,1.5e1,-0.0]"),
        ({"items": {"maximum": 10**30}}, f"[{10**30},1e29]"),
        ({"items": {"enum": [1, 10**400]}}, f"[1.0,{10**400}]"),
        ({"items": {"const": 0.1}}, "[0.1,1e-1,0.10]"),
        ({"items": {"maxLength": 2}}, r'["\ud83d\ude00é","\u00e9\n"]'),
        ({"items": {"$ref": "#/$defs/x~1y~0z%25"}, "$defs": {"x/y~z%": {"type": "null"}}}, "[null]"),
        ({"$schema": DRAFT_7, "items": [{"type": "null"}], "additionalItems": False}, "[null]"),
        ({"$schema": DRAFT_7, "$ref": "#/definitions/a", "type": "null", "definitions": {"a": True}}, "[1]"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": False}, "5"),
        ({"items": {"anyOf": [{"$ref": "#/items"}, {"type": "null"}]}}, "[null]"),
        ({"const": {"b": 1, "a": [1.0]}}, '{"a":[1],"b":1.0}'),
    ],
)
def test_what_only_looks_out_of_bounds_is_not_refused(schema: Any, document: str) -> None:
    said = same_for_every_cut(compile_schema(schema), document.encode())
    assert isinstance(said, Accepted), said


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ({"$schema": DRAFT_7, "items": [{"type": "null"}], "additionalItems": False}, "[null,1]"),
        ({"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{"type": "null"}]}, "[1]"),
        ({"$schema": "http://json-schema.org/draft-06/schema#", "items": {"type": "null"}}, "[1]"),
    ],
)
def test_older_dialects_refuse_early_too(schema: Any, document: str) -> None:
    said = same_for_every_cut(compile_schema(schema), document.encode())
    assert isinstance(said, Refused)
    assert said.code is StreamCode.GRAMMAR


def test_a_schema_that_is_none_is_an_error_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"schema: \$\.properties\.a\.type|schema: \$.*type"):
        compile_schema({"properties": {"a": {"type": "strin"}}})
    with pytest.raises(ValueError, match="nothing is fetched"):
        compile_schema({"$ref": "http://nowhere.invalid/schema"})
    with pytest.raises(ValueError, match="not JSON"):
        compile_schema({"const": {1, 2}})
    with pytest.raises(ValueError, match="resources"):
        compile_schema(int, resources={"http://a.invalid/b": True})  # type: ignore[call-overload]


def test_references_reach_the_resources_that_are_given() -> None:
    resources = {"http://shared.invalid/point.json": {"$defs": {"x": {"type": "number"}}, "required": ["x"]}}
    schema = compile_schema(
        {
            "$id": "http://shared.invalid/root.json",
            "properties": {"p": {"$ref": "point.json"}, "q": {"$ref": "point.json#/$defs/x"}},
        },
        resources=resources,
    )
    assert isinstance(same_for_every_cut(schema, b'{"p":{"x":1},"q":2}'), Accepted)
    for document, at_byte in ((b'{"p":{}}', 6), (b'{"q":"', 5)):
        said = same_for_every_cut(schema, document)
        assert isinstance(said, Refused)
        assert said.at_byte == at_byte


def test_the_identity_is_of_the_schema_and_not_of_its_spelling() -> None:
    first = compile_schema({"type": "object", "properties": {"a": {"type": "null"}, "b": True}})
    same = compile_schema({"properties": {"a": {"type": "null"}, "b": True}, "type": "object"})
    reordered = compile_schema({"properties": {"b": True, "a": {"type": "null"}}, "type": "object"})
    other = compile_schema({"type": "object", "properties": {"a": {"type": "null"}, "b": False}})
    assert first.identity == same.identity
    assert len({first.identity, reordered.identity, other.identity}) == 3
