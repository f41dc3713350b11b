"""What a type leaves out no grammar allows, and what a target does not enforce is said."""

from __future__ import annotations

import pytest
import walks

from gateway_args import Tools, formats, grammar


def tools(schema: dict[str, object]) -> Tools:
    parameters = {"type": "object", "properties": {"n": schema}, "required": ["n"]}
    return Tools.of([{"type": "function", "function": {"name": "f", "parameters": parameters}}])


CALLS = {
    "pythonic": "[f(n=%s)]",
    "lfm2": "<|tool_call_start|>[f(n=%s)]<|tool_call_end|>",
    "gemma4": "<|tool_call>call:f{n:%s}<tool_call|>",
    "qwen3_coder": "<tool_call>\n<function=f>\n<parameter=n>\n%s\n</parameter>\n</function>\n</tool_call>",
    "hermes": '<tool_call>\n{"name": "f", "arguments": {"n": %s}}\n</tool_call>',
    "mistral": '[TOOL_CALLS]f[ARGS]{"n": %s}',
}


@pytest.mark.parametrize("name", CALLS)
def test_an_integer_has_no_fraction_and_no_letters(name: str) -> None:
    made = grammar.lark(formats.load(name), tools({"type": "integer"}), choice="required").text
    allowed = [value for value in ("7", "-12", "1.5", "2.25", "x", '"7"') if walks.allows(made, CALLS[name] % value)]
    assert allowed == ["7", "-12"]


@pytest.mark.parametrize("name", CALLS)
def test_that_one_of_several_alone_holds_is_not_enforced_and_said(name: str) -> None:
    schema: dict[str, object] = {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    for make in (grammar.lark, grammar.structural_tag):
        made = make(formats.load(name), tools(schema), choice="required")
        assert any("oneOf" in note for note in made.unenforced), made.unenforced
        with pytest.raises(grammar.GrammarError, match="oneOf"):
            make(formats.load(name), tools(schema), choice="required", strict=True)
