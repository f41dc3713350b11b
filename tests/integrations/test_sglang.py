"""The SGLang detectors against SGLang's own base class.

Needs SGLang's source: unpack its wheel as the folder `sglang` of the public material. Its base class and its types run
as they are; what else of SGLang they import is a stub. SGLang itself is not run.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pydantic", reason="pip install pydantic")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALL = (
    'Look. <tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>\n'
    '<tool_call>\n{"name": "sub"}\n</tool_call>'
)
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("add", "sub")]


class Stub(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


@pytest.fixture(scope="module")
def plugin(sglang_source: Path) -> Iterator[Any]:
    stubs = (
        "partial_json_parser", "partial_json_parser.core", "partial_json_parser.core.exceptions",
        "partial_json_parser.core.options", "sglang.srt.entrypoints", "sglang.srt.entrypoints.openai",
        "sglang.srt.entrypoints.openai.protocol", "sglang.srt.environ", "sglang.srt.function_call.utils",
    )  # fmt: skip
    before = dict(sys.modules)
    for name in ("sglang", "sglang.srt", "sglang.srt.function_call"):
        package = types.ModuleType(name)
        package.__path__ = [str(sglang_source / name.replace(".", "/"))]
        sys.modules[name] = package
    for name in stubs:
        sys.modules[name] = Stub(name)
    try:
        yield importlib.import_module("gateway_args.integrations.sglang")
    finally:
        for name in set(sys.modules) - set(before):
            if name.partition(".")[0] in ("sglang", "partial_json_parser") or name.endswith("integrations.sglang"):
                del sys.modules[name]


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_calls_and_text_for_every_cut(plugin: Any, size: int) -> None:
    registry: dict[str, Any] = {}
    plugin.register(registry)
    detector = registry["gateway_args_hermes"]()
    assert isinstance(detector, plugin.BaseFormatDetector)
    results = [detector.parse_streaming_increment(CALL[at : at + size], TOOLS) for at in range(0, len(CALL), size)]
    results.append(detector.finish(TOOLS))
    assert "".join(result.normal_text for result in results) == "Look. "
    said: dict[int, list[str]] = {}
    for item in (item for result in results for item in result.calls):
        if item.name is not None:
            said[item.tool_index] = [item.name, ""]
        said[item.tool_index][1] += item.parameters
    assert [(name, json.loads(text)) for name, text in said.values()] == [("add", {"a": 2}), ("sub", {})]
    whole = registry["gateway_args_hermes"]().detect_and_parse(CALL, TOOLS)
    assert whole.normal_text == "Look. "
    assert [(item.name, json.loads(item.parameters)) for item in whole.calls] == [("add", {"a": 2}), ("sub", {})]


def test_whether_a_text_may_hold_a_call(plugin: Any) -> None:
    registry: dict[str, Any] = {}
    plugin.register(registry)
    detector = registry["gateway_args_hermes"]()
    assert detector.has_tool_call(CALL)
    assert not detector.has_tool_call("Look.")
    assert registry["gateway_args_llama3_json"]().has_tool_call('{"name": "add", "parameters": {}}')
