"""JSON-Schema-Test-Suite, draft 2020-12, through the grammars: what is let in though it is not valid is said.

Each schema of the suite is that of a function's one argument. For JSON arguments the verdicts are the suite's; in the
other languages a value that the grammar allows is read by the parser, and jsonschema-rs judges what was read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import llguidance
import pytest
import walks

from gateway_args import Tools, formats, grammar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITTEN = {
    "hermes": '<tool_call>\n{"name": "f", "arguments": {"v": %s}}\n</tool_call>',
    "pythonic": "[f(v=%s)]",
    "qwen3_coder": "<tool_call>\n<function=f>\n<parameter=v>\n%s\n</parameter>\n</function>\n</tool_call>",
    "minimax_m2": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="v">%s</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    '{"v": %s}<|tool_call_end|><|tool_calls_section_end|>',
}
JSON = ("hermes", "kimi_k2")
_ELSEWHERE = re.compile(r"\"(\$id|\$dynamicRef)\"|http://localhost|urn:")
"""Schemas whose references are no longer right where the test puts them: no validator can judge them there."""
# Valid values that a grammar refuses without naming it under `narrowed`: members come in the schema's order, a listed
# number in one spelling, and the suite takes `format` for a remark.
NARROWER = {"hermes": 25, "kimi_k2": 25, "pythonic": 15, "qwen3_coder": 16, "minimax_m2": 16}


def groups(suites: Path) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    for path in sorted((suites / "JSON-Schema-Test-Suite" / "tests" / "draft2020-12").glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            if isinstance(group["schema"], dict):
                yield f"{path.stem}: {group['description']}", group["schema"], group["tests"]


def moved(schema: Any) -> Any:
    """The schema with its references as they are when it stands under `properties.v`."""
    if isinstance(schema, list):
        return [moved(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: moved(part) for key, part in schema.items() if key != "$schema"}
    pointer = found.get("$ref")
    if pointer == "#" or (isinstance(pointer, str) and pointer.startswith("#/")):
        found["$ref"] = "#/properties/v" + pointer[1:]
    return found


def spelled(name: str, value: Any) -> str:
    if name in ("qwen3_coder", "minimax_m2") and isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return python(value) if name == "pythonic" else text


def python(value: Any) -> str:
    match value:
        case list():
            return f"[{', '.join(map(python, value))}]"
        case dict():
            return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {python(v)}" for k, v in value.items()) + "}"
        case None | bool():
            return repr(value)
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    "name", ["hermes", *(pytest.param(n, marks=pytest.mark.full) for n in WRITTEN if n != "hermes")]
)
def test_what_is_let_in_though_not_valid_is_said(name: str, suites: Path) -> None:
    format = formats.load(name)
    counts: Counter[str] = Counter()
    narrower: list[str] = []
    for where, schema, tests in groups(suites):
        parameters = {"type": "object", "properties": {"v": moved(schema)}, "required": ["v"]}
        parameters["additionalProperties"] = False
        tools = Tools.of([{"type": "function", "function": {"name": "f", "parameters": parameters}}])
        try:
            made = grammar.lark(format, tools, choice="required")
        except grammar.GrammarError:  # there is no such value
            assert not any(test["valid"] for test in tests), where
            counts["impossible"] += 1
            continue
        matcher = llguidance.LLMatcher(walks.tokenizer(), made.text)
        assert not matcher.is_error(), f"{where}: {matcher.get_error()}"
        for test in tests:
            text = WRITTEN[name] % spelled(name, test["data"])
            if not walks.allows(made.text, text):
                counts["refused"] += 1
                if test["valid"] and not made.narrowed:
                    narrower.append(f"{where}: {test['description']}")
                continue
            counts["allowed"] += 1
            valid = test["valid"]
            if name not in JSON and not _ELSEWHERE.search(json.dumps(schema)):
                reading = walks.reading_of(format, tools, walks.Walk(text, []), start=None, by_id=False)
                assert not reading.malformed, f"{where}: {text!r}"
                valid = is_valid(parameters, json.loads(reading.calls[0].arguments))
            counts["loose"] += not valid
            assert valid or made.unenforced, f"{where}: {test['description']}: {text!r}"
    print(f"\n{name}: {dict(counts)}, {len(narrower)} narrower: {narrower}")
    assert len(narrower) <= NARROWER[name]
    assert counts["refused"] > 100


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(value)
