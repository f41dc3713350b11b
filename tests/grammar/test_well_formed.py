"""Schemas of strangers: what is no JSON Schema is left out and named, and an engine takes the grammar that is made."""

from __future__ import annotations

from typing import Any

import llguidance
import pytest
import walks
from strangers import BROKEN, LOOPS, SOUND

from gateway_args import Tools, formats, grammar

FORMATS = [
    *("hermes", "qwen3_coder"),
    *(pytest.param(name, marks=pytest.mark.full) for name in ("pythonic", "minimax_m3", "kimi_k3", "gemma4", "cwm")),
]


def tools_of(schema: dict[str, Any], **around: Any) -> Tools:
    parameters = {"type": "object", "properties": {"n": schema}, "additionalProperties": False, **around}
    return Tools.of([{"type": "function", "function": {"name": "f", "parameters": parameters}}])


def compiled(name: str, tools: Tools) -> grammar.LarkGrammar:
    made = grammar.lark(formats.load(name), tools, choice="required")
    matcher = llguidance.LLMatcher(walks.tokenizer(), made.text)
    assert not matcher.is_error(), matcher.get_error()
    try:
        assert grammar.structural_tag(formats.load(name), tools, choice="required").value
    except grammar.GrammarError as error:
        if "write Lark" not in str(error):
            raise
    return made


@pytest.mark.parametrize("name", FORMATS)
def test_a_keyword_that_is_none_is_left_out_and_named(name: str) -> None:
    for schema, keywords in BROKEN:
        for required in ([], ["n"]):
            tools = tools_of(schema, required=required)
            for made in (compiled(name, tools), grammar.structural_tag(formats.load(name), tools, choice="required")):
                named = {note.rpartition(": ")[2] for note in made.unenforced}
                assert named & keywords, (schema, made.unenforced)
        with pytest.raises(grammar.GrammarError, match="strict: the target does not enforce"):
            grammar.lark(formats.load(name), tools, choice="required", strict=True)


@pytest.mark.parametrize("name", ["hermes", "mistral"])
def test_a_sound_one_stays(name: str) -> None:
    for schema in SOUND:
        assert not compiled(name, tools_of(schema)).unenforced, schema


@pytest.mark.parametrize("name", FORMATS)
def test_schemas_that_hold_themselves_end(name: str) -> None:
    for schema in LOOPS:
        compiled(name, tools_of(schema))


@pytest.mark.parametrize("name", FORMATS)
def test_a_whole_schema_of_no_form_is_no_failure(name: str) -> None:
    for around in ({"properties": 3}, {"type": "array"}, {"required": {"n": 1}}, {"allOf": "n"}, {"$ref": "#/none"}):
        compiled(name, tools_of({"type": "integer"}, **around))


@pytest.mark.parametrize("name", FORMATS)
def test_parts_that_say_it_twice_cost_no_more_than_twice(name: str) -> None:
    """Each definition names the one before it twice: two to the power of forty ways, forty rules."""
    definitions: dict[str, Any] = {"d0": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    for n in range(1, 40):
        before = {"$ref": f"#/$defs/d{n - 1}"}
        definitions[f"d{n}"] = {"type": "object", "properties": {"a": before, "b": before}}
    assert len(compiled(name, tools_of({"$ref": "#/$defs/d39"}, **{"$defs": definitions})).text) < 100_000


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("key", ["allOf", "anyOf"])
def test_alternatives_that_say_it_twice_end(name: str, key: str) -> None:
    definitions: dict[str, Any] = {"d0": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    for n in range(1, 24):
        definitions[f"d{n}"] = {key: [{"$ref": f"#/$defs/d{n - 1}"}, {"$ref": f"#/$defs/d{n - 1}", "title": "again"}]}
    tools = tools_of({"$ref": "#/$defs/d23"}, **{"$defs": definitions})
    assert len(grammar.lark(formats.load(name), tools, choice="required").text) < 200_000
