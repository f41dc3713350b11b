"""The vLLM plugin against vLLM's own abstract classes and its own tests' cases.

Needs vLLM's source (0.33.0 is what this was written against): unpack its sdist as the folder `vllm` of the public
material. Its two abstract modules and its protocol run as they are; all else of vLLM that they import is a stub.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from engine_sources import Finder

pydantic = pytest.importorskip("pydantic", reason="pip install pydantic")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REAL = (
    "vllm.tool_parsers.abstract_tool_parser",
    "vllm.reasoning.abs_reasoning_parsers",
    "vllm.entrypoints.generate.base.protocol",
)
CASES = {
    "deepseekv3": "deepseek_v3",
    "granite_20b_fc": "granite_20b_fc",
    "granite": "granite",
    "internlm2": "internlm",
    "longcat": "longcat",
    "phi4mini": "phi4_mini",
    "step3": "step3",
}


def answer(module: str, name: str) -> Any:
    """What a stub has by this name."""
    if name == "OpenAIBaseModel":
        return pydantic.BaseModel
    if name.startswith("VLLM_MAX"):
        return 4
    if name == "is_list_of":
        return lambda value, kind: isinstance(value, list) and all(isinstance(item, kind) for item in value)
    if name in ("init_logger", "make_tool_call_id"):
        return lambda *_: None
    if name.endswith(("Info", "Params", "Config", "Request", "Format")):
        return type(name, (pydantic.BaseModel,), {})
    return type(name, (), {"AUTO": "auto"})


@pytest.fixture(scope="module")
def plugin(vllm_source: Path) -> Iterator[Any]:
    finder = Finder(vllm_source, REAL, ("vllm",), answer)
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("gateway_args.integrations.vllm")
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "vllm"]:
            del sys.modules[name]
        sys.modules.pop("gateway_args.integrations.vllm", None)


class Tokenizer:
    name_or_path = "Qwen/Qwen3-8B"

    def get_vocab(self) -> dict[str, int]:
        return {}

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


def case_of(source: Path, name: str) -> dict[str, Any]:
    """The data of vLLM's own test of a parser, from its text: nothing of it is run."""
    tree = ast.parse((source / f"tests/tool_parsers/test_{name}_tool_parser.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ToolParserTestConfig":
            found = {}
            for keyword in node.keywords:
                try:
                    found[str(keyword.arg)] = ast.literal_eval(keyword.value)
                except ValueError:
                    continue
            return found
    raise AssertionError(name)


def streamed(plugin: Any, name: str, text: str, size: int) -> tuple[str, list[tuple[str, str]]]:
    parser = plugin.ToolParserManager.get_tool_parser(f"gateway_args_{name}".rstrip("_"))(Tokenizer())
    messages, before = [], ""
    for at in range(0, len(text), size):
        delta = text[at : at + size]
        messages.append(parser.extract_tool_calls_streaming(before, before + delta, delta, [], [], [], None))
        before += delta
    messages.append(parser.finish_streaming())
    content, calls = "", {}
    for message in filter(None, messages):
        content += message.content or ""
        for call in message.tool_calls:
            if call.id is not None:
                calls[call.index] = [call.function.name, ""]
            calls[call.index][1] += call.function.arguments
    assert parser.streamed_args_for_tool == [arguments for _, arguments in calls.values()]
    assert parser.get_remaining_unstreamed_args() == ""
    return content, [(called, arguments) for called, arguments in calls.values()]


def whole(plugin: Any, name: str, text: str) -> tuple[str, list[tuple[str, str]]]:
    parser = plugin.ToolParserManager.get_tool_parser(f"gateway_args_{name}")(Tokenizer())
    found = parser.extract_tool_calls(text, None)
    assert found.tools_called is bool(found.tool_calls)
    return found.content or "", [(call.function.name, call.function.arguments) for call in found.tool_calls]


@pytest.mark.parametrize("size", [0, 1, 5, 10_000])
@pytest.mark.parametrize("name", CASES)
def test_vllms_own_cases(plugin: Any, vllm_source: Path, name: str, size: int) -> None:
    case, table = case_of(vllm_source, name), CASES[name]

    def run(text: str) -> tuple[str, list[tuple[str, str]]]:
        return streamed(plugin, table, text, size) if size else whole(plugin, table, text)

    content, calls = run(case["no_tool_calls_output"])
    assert (content, calls) == (case["no_tool_calls_output"], [])
    content, calls = run(case["single_tool_call_output"])
    expected = case.get("single_tool_call_expected_name", "get_weather")
    arguments = case.get("single_tool_call_expected_args", {"city": "Tokyo"})
    assert [(called, json.loads(said)) for called, said in calls] == [(expected, arguments)]
    _, calls = run(case["parallel_tool_calls_output"])
    assert [called for called, _ in calls] == case.get("parallel_tool_calls_names", ["get_weather", "get_time"])
    for key in (
        "various_data_types_output",
        "empty_arguments_output",
        "surrounding_text_output",
        "escaped_strings_output",
    ):
        _, calls = run(case[key])
        assert len(calls) == 1
        assert isinstance(json.loads(calls[0][1]), dict)
    for text in case["malformed_input_outputs"]:
        run(text)


def test_the_models_own_table_and_every_tables_name(plugin: Any) -> None:
    from gateway_args import formats

    registered = set(plugin.ToolParserManager.list_registered())
    assert {"gateway_args", *(f"gateway_args_{name}" for name in formats.names())} <= registered
    text = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
    assert streamed(plugin, "", text, 3) == ("", [("add", '{"a": 2}')])


def test_thoughts_and_what_stands_behind_them(plugin: Any) -> None:
    call = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'
    for opener, prompt in (("<think>\n", ""), ("", "<|im_start|>assistant\n<think>\n")):
        text = f"{opener}Two and two.\n</think>\n\nSo: {call}"
        made = plugin.ReasoningParserManager.get_reasoning_parser("gateway_args_qwen3")
        thought, rest = made(Tokenizer()).extract_reasoning(text, None)
        assert thought.strip() == "Two and two."
        assert rest.strip() == f"So: {call}"
        parser = made(Tokenizer())
        parser.set_prompt_token_ids([ord(c) for c in prompt])
        before, thoughts, said = "", "", ""
        for c in text:
            message = parser.extract_reasoning_streaming(before, before + c, c, [], [], [ord(c)])
            before += c
            thoughts += (message and message.reasoning) or ""
            said += (message and message.content) or ""
        assert thoughts.strip() == "Two and two."
        assert f"So: {call}".startswith(said.strip())
    parser = made(Tokenizer())
    turn = "<|im_start|>assistant\n<think>\n"
    assert not parser.is_reasoning_end([ord(c) for c in turn])
    assert parser.is_reasoning_end([ord(c) for c in turn + "\n</think>\n\n"])
    ids = [ord(c) for c in "Hm.</think>Yes"]
    assert parser.extract_content_ids(ids) == ids[-3:]
