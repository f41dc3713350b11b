"""Tool-call detectors for SGLang.

    python -m gateway_args.integrations.sglang --model-path MODEL --tool-call-parser gateway_args_qwen3

SGLang loads no plugins: this registers a detector `gateway_args_<format>` for every table and then starts SGLang's own
server with the same arguments. Forced and required calls stay SGLang's own (guided to JSON). Written against SGLang
0.5.23's detector class.
"""

from __future__ import annotations

import importlib
import secrets
from typing import TYPE_CHECKING, Any

from gateway_args import Parser, Tools, adapters, formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway_args import Format
    from gateway_args.events import Event

_base = importlib.import_module("sglang.srt.function_call.base_format_detector")
_types = importlib.import_module("sglang.srt.function_call.core_types")
BaseFormatDetector: Any = _base.BaseFormatDetector
StreamingParseResult, ToolCallItem = _types.StreamingParseResult, _types.ToolCallItem


class GatewayArgsDetector(BaseFormatDetector):  # type: ignore[misc]
    """One output's calls."""

    format: Format

    def __init__(self) -> None:
        super().__init__()
        self._parser: Parser | None = None
        self._stream = adapters.stream("chat", adapters.Envelope(secrets.token_hex(12), self.format.name, 0))

    def has_tool_call(self, text: str) -> bool:
        """Whether a call may stand in this text; formats without markers are always looked at."""
        fmt = self.format
        openers = [fmt.markers[name].text for name in fmt.opener_names]
        bare = any(state.kind == "content" and state.calls for state in fmt.states.values())
        return bare or not openers or any(opener in text for opener in openers)

    def detect_and_parse(self, text: str, tools: Sequence[Any]) -> Any:
        """The calls of a whole output, and the text around them."""
        made = type(self)()
        first, last = made.parse_streaming_increment(text, tools), made.finish(tools)
        calls: dict[int, Any] = {}
        for item in (*first.calls, *last.calls):
            if item.tool_index in calls:
                calls[item.tool_index].parameters += item.parameters
            else:
                calls[item.tool_index] = item
        return StreamingParseResult(normal_text=first.normal_text + last.normal_text, calls=list(calls.values()))

    def parse_streaming_increment(self, new_text: str, tools: Sequence[Any]) -> Any:
        """What this delta says."""
        if self._parser is None:
            fmt, known = self.format, Tools.of([_tool(tool) for tool in tools]) if tools else None
            start = fmt.home if fmt.states[fmt.start].kind == "reasoning" else None  # thoughts are another parser's
            self._parser = Parser(fmt, known, start=start)
        return self._result(self._parser.feed(new_text))

    def finish(self, tools: Sequence[Any]) -> Any:
        """What was held back when the output ended."""
        parser, self._parser = self._parser, None
        return StreamingParseResult() if parser is None else self._result(parser.finish("stop"))

    def supports_structural_tag(self) -> bool:
        return False

    def structure_info(self) -> Any:
        raise NotImplementedError("gateway_args detectors guide nothing; gateway_args.grammar gives structural tags")

    def _result(self, events: list[Event]) -> Any:
        text, calls = "", []
        for chunk in self._stream.chunks(events):
            for choice in chunk.get("choices", ()):
                text += choice["delta"].get("content", "")
                for call in choice["delta"].get("tool_calls", ()):
                    name = call["function"].get("name")
                    if name is not None:
                        self.current_tool_id = call["index"]
                        self.streamed_args_for_tool.append("")
                    self.streamed_args_for_tool[call["index"]] += call["function"]["arguments"]
                    calls.append(
                        ToolCallItem(tool_index=call["index"], name=name, parameters=call["function"]["arguments"])
                    )
        return StreamingParseResult(normal_text=text, calls=calls)


def _tool(tool: Any) -> dict[str, Any]:
    given: dict[str, Any] = tool if isinstance(tool, dict) else tool.model_dump()
    return given


def register(registry: dict[str, Any]) -> None:
    """Put a detector for each table into SGLang's registry (`FunctionCallParser.ToolCallParserEnum`)."""
    for name in formats.names():
        fields = {"format": formats.load(name)}
        registry[f"gateway_args_{name}"] = type("GatewayArgsDetector", (GatewayArgsDetector,), fields)


if __name__ == "__main__":
    import runpy

    parser = importlib.import_module("sglang.srt.function_call.function_call_parser")
    register(parser.FunctionCallParser.ToolCallParserEnum)
    runpy.run_module("sglang.launch_server", run_name="__main__", alter_sys=True)
