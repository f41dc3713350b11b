"""What llguidance writes for a schema, byte by byte, the decoder does not refuse: a grammar of its own as oracle."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from gateway_args.decoder import Accepted, Incomplete, Refused, StreamDecoder, compile_schema

llguidance = pytest.importorskip("llguidance")

SCHEMAS: list[Any] = [
    {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": -5, "maximum": 120}, "b": {"type": "boolean"}},
        "required": ["a"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"enum": ["red", "green", 1, None]}, "minItems": 1, "maxItems": 4},
    {
        "type": "object",
        "properties": {"s": {"type": "string", "minLength": 1, "maxLength": 3}},
        "additionalProperties": {"type": "number"},
    },
    {
        "anyOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "a"}, "x": {"type": "number"}},
                "required": ["kind", "x"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "b"}, "x": {"type": "string"}},
                "required": ["kind"],
                "additionalProperties": False,
            },
        ]
    },
    {
        "$defs": {
            "n": {
                "type": "object",
                "properties": {"v": {"type": "integer"}, "n": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
                "required": ["v", "n"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/n",
    },
    {
        "type": "array",
        "prefixItems": [{"type": "null"}, {"type": "number", "exclusiveMinimum": 0}],
        "items": False,
        "minItems": 2,
    },
    {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "boolean"}}, "required": ["b"]},
        ],
        "additionalProperties": False,
        "properties": {"a": True, "b": True},
    },
    {},
]


@pytest.mark.parametrize("index", range(len(SCHEMAS)))
def test_no_document_that_llguidance_writes_is_refused(index: int) -> None:
    schema = SCHEMAS[index]
    compiled = compile_schema(schema)
    tokenizer = llguidance.LLTokenizer("byte")
    grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema), defaults={"whitespace_flexible": True})
    finished = 0
    for seed in range(6):
        rnd = random.Random(seed)
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        assert not matcher.get_error()
        decoder = StreamDecoder(compiled)
        document = b""
        for _ in range(300):
            mask = matcher.compute_logit_bias()
            allowed = [byte for byte in range(256) if mask[byte]]
            if matcher.is_accepting() and (not allowed or rnd.random() < 0.5):
                break
            # Closers now and then, so that documents come to an end.
            closers = [byte for byte in allowed if byte in b'"]}']
            byte = rnd.choice(closers if closers and rnd.random() < 0.3 else allowed)
            assert matcher.consume_token(byte)
            document += bytes([byte])
            said = decoder.push(bytes([byte]))
            assert isinstance(said, Incomplete), (document, said)
        if matcher.is_accepting():
            finished += 1
            said = decoder.finish()
            # A number beyond a double has no Python value, so the whole-document decoder refuses it by rule.
            assert isinstance(said, Accepted) or (isinstance(said, Refused) and said.rule == "number"), (document, said)
    assert finished > 0
