"""vLLM's and SGLang's parsers from their distributions' sources, without the engines.

The modules named here run as they are. The rest of an engine is stubs: settings, loggers and types that a parser names
and does not run.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine_sources import Finder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REAL = {
    "vllm": (
        "vllm.entrypoints.generate.base.protocol",
        "vllm.tool_parsers.abstract_tool_parser",
        "vllm.tool_parsers.tool_strict_level",
        "vllm.tool_parsers.utils",
        "vllm.tool_parsers.hermes_tool_parser",
    ),
    "sglang": (
        "sglang.srt.function_call.base_format_detector",
        "sglang.srt.function_call.core_types",
        "sglang.srt.function_call.utils",
        "sglang.srt.function_call.qwen25_detector",
        "sglang.srt.function_call.qwen3_coder_detector",
    ),
}
TOOLS_OF = {"save": {"type": "object", "properties": {"body": {"type": "string"}}}}


def answer(module: str, name: str) -> Any:
    """What a stub has by this name."""
    import pydantic

    if name == "OpenAIBaseModel":
        return pydantic.BaseModel
    if name in ("init_logger", "is_mistral_tokenizer"):
        return lambda *_: None
    if name == "make_tool_call_id":
        return lambda *_, **__: "call_0"
    if name == "is_list_of":
        return lambda value, kind: isinstance(value, list) and all(isinstance(item, kind) for item in value)
    if name == "envs":
        return types.SimpleNamespace()
    return type(name, (pydantic.BaseModel,), {})


@contextlib.contextmanager
def found(engine: str, folder: Path | None) -> Iterator[None]:
    """The engine's modules can be imported; ImportError without its sources."""
    if folder is None or not (folder / engine / "__init__.py").exists():
        raise ImportError(f"no sources of {engine}")
    finder = Finder(folder, REAL[engine], (engine,), answer)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class Tokenizer:
    """vLLM's parsers ask it for nothing here but that it is there."""

    def get_vocab(self) -> dict[str, int]:
        return {}


def vllm_hermes(folder: Path | None) -> Callable[[list[str]], str]:
    """The arguments that vLLM's Hermes parser streams for these pieces."""
    with found("vllm", folder):
        parsers: Any = importlib.import_module("vllm.tool_parsers.hermes_tool_parser")
    request = types.SimpleNamespace(tools=None, tool_choice="auto")

    def read(pieces: list[str]) -> str:
        parser = parsers.Hermes2ProToolParser(Tokenizer())
        feed = parser.extract_tool_calls_streaming
        before, arguments = "", []
        for piece in pieces:
            text = before + piece
            delta = feed(before, text, piece, (), (), (), request)
            if delta is not None:
                arguments += [call.function.arguments for call in delta.tool_calls or () if call.function.arguments]
            before = text
        return "".join(arguments)

    return read


def sglang(folder: Path | None, module: str, name: str) -> Callable[[list[str]], str]:
    """The arguments that one of SGLang's detectors streams for these pieces."""
    with found("sglang", folder):
        detectors: Any = importlib.import_module(f"sglang.srt.function_call.{module}")
    tools = [
        types.SimpleNamespace(type="function", function=types.SimpleNamespace(name=tool, parameters=schema))
        for tool, schema in TOOLS_OF.items()
    ]

    def read(pieces: list[str]) -> str:
        detector = getattr(detectors, name)()
        arguments = []
        for piece in pieces:
            arguments += [call.parameters for call in detector.parse_streaming_increment(piece, tools).calls]
        return "".join(arguments)

    return read
