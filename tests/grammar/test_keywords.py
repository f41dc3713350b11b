"""What a schema says is enforced, or it is said that it is not."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema_rs
import keywords
import pytest
import walks

from gateway_args import Tools, formats, grammar

IDS = [f"{keyword}-{n}" for n, (keyword, *_) in enumerate(keywords.CASES)]


def tools_of(schema: dict[str, Any]) -> Tools:
    """A tool whose one argument has the schema."""
    definitions = schema.get("$defs", {})
    own = {key: value for key, value in schema.items() if key != "$defs"}
    parameters = {
        "type": "object",
        "properties": {"v": own},
        "required": ["v"],
        "additionalProperties": False,
        "$defs": definitions,
    }
    return Tools.of([{"type": "function", "function": {"name": "f", "parameters": parameters}}])


@pytest.mark.parametrize(("keyword", "schema", "good", "bad"), keywords.CASES, ids=IDS)
def test_json_arguments(keyword: str, schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    tools = tools_of(schema)
    made = grammar.lark(formats.load("hermes"), tools, choice="required")

    def allowed(value: Any) -> bool:
        call = json.dumps({"name": "f", "arguments": {"v": value}}, ensure_ascii=False)
        return walks.allows(made.text, f"<tool_call>\n{call}\n</tool_call>")

    for value in good:
        assert allowed(value), value
    if any(allowed(value) for value in bad):
        assert any(note.endswith(f": {keyword}") for note in made.unenforced), f"{keyword} is loose and nothing says so"
    with_notes = [note for note in made.unenforced if keyword not in ("oneOf",)]
    if with_notes:
        with pytest.raises(grammar.GrammarError, match="strict"):
            grammar.lark(formats.load("hermes"), tools, choice="required", strict=True)


OTHERS = [
    *("pythonic", "qwen3_coder"),
    *(
        pytest.param(name, marks=pytest.mark.full)
        for name in ("sarashina", "deepseek_v3_2", "minimax_m3", "kimi_k3", "glm45", "gemma4")
    ),
]


@pytest.mark.parametrize(("keyword", "schema", "good", "bad"), keywords.CASES, ids=IDS)
@pytest.mark.parametrize("name", OTHERS)
def test_arguments_in_other_languages(
    name: str, keyword: str, schema: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    """Walks are valid, or it is said that the keyword is not enforced."""
    tools = tools_of(schema)
    format = formats.load(name)
    made = grammar.lark(format, tools, choice="required", parallel=False)
    inside = {part for said in schema.get("allOf", ()) for part in said}  # is put together with what is around it
    said = any(note.rpartition(": ")[2] in {keyword, *inside} for note in made.unenforced)
    walker = walks.Walker(made.text, format, ("f", "v", "a", "ab", "t"), {})
    rng = random.Random(keyword)
    whole = 0
    for _ in range(12):
        text = walker.walk(rng, 12)
        reading = walks.reading_of(format, tools, text, start=None, by_id=False)
        assert not reading.malformed, text.text
        for call in reading.calls:
            value = json.loads(call.arguments, parse_float=walks._finite)
            whole += 1
            if not is_valid(tools, value):
                assert said, f"{call.arguments}: {made.unenforced}"
                with pytest.raises(grammar.GrammarError, match="strict"):
                    grammar.lark(format, tools, choice="required", strict=True)
    assert whole


def is_valid(tools: Tools, value: object) -> bool:
    try:
        return jsonschema_rs.is_valid(walks.schema_of(tools, "f"), value)
    except (ValueError, jsonschema_rs.ReferencingError):
        return True  # a reference that leads nowhere says nothing
