"""JSON Schema's keywords with values that each lets in and keeps out: what a target that enforces it must do."""

from __future__ import annotations

from typing import Any

CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("type", {"type": "integer"}, [1], ["1", 1.5, None]),
    ("type", {"type": ["string", "null"]}, ["x", None], [1]),
    ("enum", {"enum": ["a", 2, None]}, ["a", 2, None], ["b", 3]),
    ("const", {"const": {"a": 1}}, [{"a": 1}], [{"a": 2}, 1]),
    ("const", {"const": [1, {"b": [], "c": "x"}]}, [[1, {"b": [], "c": "x"}]], [[1], [1, {"b": []}], []]),
    ("enum", {"enum": [[1, 2], {"a": {}}, "x"]}, [[1, 2], {"a": {}}, "x"], [[1], [1, 2, 3], {}, "y"]),
    ("properties", {"type": "object", "properties": {"a": {"type": "integer"}}}, [{"a": 1}, {}], [{"a": "x"}]),
    ("required", {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]}, [{"b": 1}], [{}, {"a": 1}]),
    (
        "additionalProperties",
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        [{"a": 1}],
        [{"b": 1}],
    ),
    ("additionalProperties", {"type": "object", "additionalProperties": {"type": "integer"}}, [{"b": 1}], [{"b": "x"}]),
    ("items", {"type": "array", "items": {"type": "integer"}}, [[1, 2], []], [["x"]]),
    ("prefixItems", {"type": "array", "prefixItems": [{"type": "integer"}], "items": False}, [[1]], [["x"], [1, 2]]),
    ("minItems", {"type": "array", "minItems": 2}, [[1, 2]], [[1]]),
    ("maxItems", {"type": "array", "maxItems": 1}, [[1]], [[1, 2]]),
    ("minLength", {"type": "string", "minLength": 2}, ["ab"], ["a"]),
    ("maxLength", {"type": "string", "maxLength": 2}, ["ab"], ["abc"]),
    ("pattern", {"type": "string", "pattern": "^a+$"}, ["aa"], ["b"]),
    ("format", {"type": "string", "format": "date"}, ["2026-12-01"], ["tomorrow"]),
    ("format", {"type": "string", "format": "uuid"}, ["123e4567-e89b-12d3-a456-426614174000"], ["x"]),
    ("minimum", {"type": "integer", "minimum": 3}, [3, 40], [2]),
    ("maximum", {"type": "integer", "maximum": 31}, [31], [32]),
    ("exclusiveMinimum", {"type": "integer", "exclusiveMinimum": 3}, [4], [3]),
    ("exclusiveMaximum", {"type": "integer", "exclusiveMaximum": 3}, [2], [3]),
    ("minimum", {"type": "number", "minimum": 0, "maximum": 1}, [0.5], [2]),
    ("anyOf", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, [1, None], ["x"]),
    ("oneOf", {"oneOf": [{"type": "integer"}, {"type": "null"}]}, [1, None], ["x"]),
    ("allOf", {"allOf": [{"type": "integer"}, {"minimum": 3}]}, [3], [2]),
    ("$ref", {"$defs": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/n"}}, [[1]], [["x"]]),
    (
        "$ref",
        {
            "$defs": {
                "t": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}, "additionalProperties": False}
            },
            "$ref": "#/$defs/t",
        },
        [{"t": {"t": {}}}],
        [{"t": 1}, {"t": {"u": 1}}],
    ),
    (
        "patternProperties",
        {"type": "object", "patternProperties": {"a*": {"type": "integer"}, "aaa*": {"maximum": 20}}},
        [{"b": 1}],
        [{"aaaa": 31}],
    ),
    ("$ref", {"$ref": "https://example.com/other.json"}, [1, "a"], []),
    ("$ref", {"$ref": "#/$defs/nothing"}, [1, "a"], []),
    (
        "patternProperties",
        {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
        [{"ab": 1}],
        [{"b": 1}],
    ),
    ("multipleOf", {"type": "integer", "multipleOf": 5}, [10], [7]),
    ("uniqueItems", {"type": "array", "uniqueItems": True}, [[1, 2]], [[1, 1]]),
    ("not", {"not": {"type": "string"}}, [1], ["x"]),
    ("minProperties", {"type": "object", "minProperties": 1}, [{"a": 1}], [{}]),
    ("maxProperties", {"type": "object", "maxProperties": 1}, [{"a": 1}], [{"a": 1, "b": 2}]),
    ("propertyNames", {"type": "object", "propertyNames": {"pattern": "^a"}}, [{"a": 1}], [{"b": 1}]),
    ("contains", {"type": "array", "contains": {"const": 1}}, [[1]], [[2]]),
    ("dependentRequired", {"type": "object", "dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 2}], [{"a": 1}]),
    ("if", {"if": {"type": "integer"}, "then": {"minimum": 3}}, [3, "x"], [2]),
    ("format", {"type": "string", "format": "color"}, ["red"], []),
]
