"""The guide to guided decoding is true: its program prints what it shows, its table is the code's, its requests fit."""

from __future__ import annotations

import functools
import re
from typing import Any

import guided_table
import jsonschema_rs
import pytest

PAGE = guided_table.PAGE.read_text(encoding="utf-8")


@functools.cache
def run() -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The names of the page's program, and each block's output with what the page shows."""
    import contextlib
    import io

    names: dict[str, Any] = {"__name__": "guide"}
    shown = []
    for code, expected in re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE, re.DOTALL):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "guided-decoding.md", "exec", dont_inherit=True), names)
        shown.append((out.getvalue().strip(), expected.strip()))
    return names, shown


def test_the_table_is_the_codes() -> None:
    assert guided_table.filled(PAGE) == PAGE, "run: python tests/docs/guided_table.py --write"


def test_the_program_prints_what_the_page_shows() -> None:
    _, shown = run()
    assert len(shown) == 3
    for out, expected in shown:
        assert out == expected


MESSAGES = {"type": "array", "items": {"required": ["role", "content"]}}
TAG = {
    "type": "object",
    "properties": {"type": {"const": "structural_tag"}, "format": {"type": "object", "required": ["type"]}},
    "required": ["type", "format"],
    "additionalProperties": False,
}


def chat(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"model": {"type": "string"}, "messages": MESSAGES, **fields},
        "required": ["model", "messages", *fields],
        "additionalProperties": False,
    }


def one_text(*names: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


# The fields as the servers' own request classes declare them (vLLM's ChatCompletionRequest and StructuredOutputsParams,
# SGLang's ChatCompletionRequest and SamplingParams, TensorRT-LLM's ResponseFormat, llama.cpp's server).
REQUESTS = {
    "vllm": chat(structured_outputs=one_text("structural_tag", "grammar", "regex")),
    "vllm_response_format": chat(response_format=TAG),
    "vllm_guidance": chat(structured_outputs=one_text("structural_tag", "grammar", "regex")),
    "sglang": chat(response_format=TAG),
    "sglang_generate": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "sampling_params": one_text("structural_tag", "ebnf", "regex")},
        "required": ["text", "sampling_params"],
        "additionalProperties": False,
    },
    "sglang_llguidance": chat(ebnf={"type": "string"}),
    "tensorrt_llm": chat(response_format=TAG),
    "tensorrt_llm_llguidance": chat(
        response_format={
            "properties": {"type": {"const": "ebnf"}, "ebnf": {"type": "string"}},
            "required": ["type", "ebnf"],
            "additionalProperties": False,
        }
    ),
    "llama_cpp": chat(grammar={"type": "string", "pattern": "^%llguidance"}),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_has_the_shape_that_its_server_declares(name: str) -> None:
    body = run()[0][name]
    assert [str(error) for error in jsonschema_rs.validator_for(REQUESTS[name]).iter_errors(body)] == []


KINDS: dict[str, dict[str, Any]] = {
    "const_string": {"value": {"type": "string"}},
    "regex": {"pattern": {"type": "string"}},
    "any_text": {"excludes": {"type": "array", "items": {"type": "string", "minLength": 1}}},
    "json_schema": {"json_schema": {"type": ["object", "boolean"]}},
    "grammar": {"grammar": {"type": "string", "pattern": "^root ::= "}},
    "sequence": {"elements": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/format"}}},
    "or": {"elements": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/format"}}},
    "optional": {"content": {"$ref": "#/$defs/format"}},
    "star": {"content": {"$ref": "#/$defs/format"}},
    "plus": {"content": {"$ref": "#/$defs/format"}},
    "repeat": {"content": {"$ref": "#/$defs/format"}, "min": {"type": "integer"}, "max": {"type": "integer"}},
}
EXTRA: dict[str, dict[str, Any]] = {"json_schema": {"excludes": KINDS["any_text"]["excludes"]}}
LANGUAGE: dict[str, Any] = {
    **TAG,
    "properties": {"type": {"const": "structural_tag"}, "format": {"$ref": "#/$defs/format"}},
    "$defs": {
        "format": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"type": {"const": kind}, **fields, **EXTRA.get(kind, {})},
                    "required": ["type", *fields],
                    "additionalProperties": False,
                }
                for kind, fields in KINDS.items()
            ]
        }
    },
}
"""The part of xgrammar's tag language that is written, as its classes declare it (0.2.9)."""


def test_every_tag_is_in_xgrammars_language() -> None:
    from gateway_args import formats, grammar

    validator = jsonschema_rs.validator_for(LANGUAGE)
    tried = 0
    for name in formats.names():
        for choice in ("auto", "required"):
            try:
                tag = grammar.structural_tag(
                    formats.load(name), guided_table.TOOLS, choice=choice, reasoning="optional"
                )
            except grammar.GrammarError:
                continue
            assert validator.is_valid(dict(tag.value)), (name, choice)
            tried += 1
    assert tried > 100
