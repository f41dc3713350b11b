"""Tool and reasoning parsers for vLLM.

    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser gateway_args \\
        --tool-parser-plugin gateway_args.integrations.vllm

`gateway_args` takes the table of the model's name (that of its tokenizer), `gateway_args_<format>` that table. The same
names are reasoning parsers (`--reasoning-parser-plugin`, `--reasoning-parser`), for the families that mark thoughts.

Written against vLLM 0.33's classes; it also looks for them where earlier releases had them. vLLM asks a parser for
forced and required calls only where it cannot guide them to JSON itself, so those stay vLLM's own.
"""

from __future__ import annotations

import importlib
import secrets
from typing import TYPE_CHECKING, Any

from gateway_args import Parser, Tools, adapters, formats
from gateway_args.events import (
    CallArguments,
    CallEnd,
    CallStart,
    Dropped,
    Event,
    Finish,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gateway_args import Format


def _from(name: str, *modules: str) -> Any:
    """The class of this name from the first of vLLM's modules that is there and has it."""
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ModuleNotFoundError, AttributeError):
            continue
    raise ImportError(f"gateway_args.integrations.vllm: this vLLM has no {name} in {', '.join(modules)}")


_PROTOCOL = (
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.engine.protocol",
    "vllm.entrypoints.openai.protocol",
)
_TOOLS = ("vllm.tool_parsers.abstract_tool_parser", "vllm.entrypoints.openai.tool_parsers.abstract_tool_parser")
_REASONING = ("vllm.reasoning.abs_reasoning_parsers",)
DeltaMessage = _from("DeltaMessage", *_PROTOCOL)
Extracted = _from("ExtractedToolCallInformation", *_PROTOCOL)
FunctionCall, ToolCall = _from("FunctionCall", *_PROTOCOL), _from("ToolCall", *_PROTOCOL)
ToolParser, ToolParserManager = _from("ToolParser", *_TOOLS), _from("ToolParserManager", *_TOOLS)
ReasoningParser = _from("ReasoningParser", *_REASONING)
ReasoningParserManager = _from("ReasoningParserManager", *_REASONING)
_REASONING_FIELD = "reasoning" if "reasoning" in DeltaMessage.model_fields else "reasoning_content"
_LAST_TOKENS = 4096
"""Tokens of a prompt's end that are looked at."""


def _format_of(named: str | None, tokenizer: Any) -> Format:
    """The format named by the parser's own name, or that of the model."""
    if named is not None:
        return formats.load(named)
    model = getattr(tokenizer, "name_or_path", None)
    if not isinstance(model, str) or not model:
        raise ValueError("gateway_args: the tokenizer does not say its model; name the table: gateway_args_<format>")
    return formats.for_model(model)


class GatewayArgsToolParser(ToolParser):  # type: ignore[misc, valid-type]
    """One output's calls."""

    named: str | None = None
    engine_based_streaming = True  # so that `finish_streaming` is called

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self.format = _format_of(self.named, tokenizer)
        self._parser: Parser | None = None
        self._stream: adapters.Stream | None = None

    def adjust_request(self, request: Any) -> Any:
        """Markers that are special tokens stay in the text."""
        request = super().adjust_request(request)
        if getattr(request, "tools", None) and getattr(request, "tool_choice", None) != "none":
            request.skip_special_tokens = False
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """The calls of a whole output."""
        parser, options = self._begin(request)
        events = parser.feed(model_output) + parser.finish("stop")
        message = adapters.chat.whole(events, self._envelope(), options)["choices"][0]["message"]
        calls = [
            ToolCall(id=call["id"], type="function", function=FunctionCall(**call["function"]))
            for call in message.get("tool_calls", ())
        ]
        return Extracted(tools_called=bool(calls), tool_calls=calls, content=message["content"] or None)

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """What this delta says."""
        if self._parser is None or not previous_text:
            self._parser, options = self._begin(request)
            self._stream = adapters.stream("chat", self._envelope(), options)
            self._stream.chunks()
        return self._message(self._parser.feed(delta_text))

    def finish_streaming(self) -> Any:
        """What was held back when the output ended."""
        parser, self._parser = self._parser, None
        return None if parser is None else self._message(parser.finish("stop"))

    def _begin(self, request: Any) -> tuple[Parser, adapters.Options]:
        listed = getattr(request, "tools", None)
        tools = None
        if getattr(request, "tool_choice", None) == "none":
            tools = Tools.of([])
        elif isinstance(listed, list) and listed:
            tools = Tools.of([tool if isinstance(tool, dict) else tool.model_dump() for tool in listed])
        fmt = self.format
        start = fmt.home if fmt.states[fmt.start].kind == "reasoning" else None  # thoughts are another parser's
        return Parser(fmt, tools, start=start), adapters.Options(reasoning=_REASONING_FIELD, tools=tools)

    def _envelope(self) -> adapters.Envelope:
        """Ids of calls are made from this, and each output has another."""
        return adapters.Envelope(secrets.token_hex(12), self.format.name, 0)

    def _message(self, events: list[Event]) -> Any:
        """The events as one delta, or None where they say nothing."""
        assert self._stream is not None
        fields: dict[str, Any] = {}
        calls: list[dict[str, Any]] = []
        for chunk in self._stream.chunks(events):
            for choice in chunk.get("choices", ()):
                for key, value in choice["delta"].items():
                    if key != "tool_calls":
                        fields[key] = fields.get(key, "") + value
                        continue
                    for call in value:
                        self._told(call)
                        if calls and calls[-1]["index"] == call["index"]:
                            calls[-1]["function"]["arguments"] += call["function"]["arguments"]
                        else:
                            calls.append({**call, "function": dict(call["function"])})
        if calls:
            fields["tool_calls"] = calls
        return DeltaMessage(**fields) if fields else None

    def _told(self, call: dict[str, Any]) -> None:
        """Keep what vLLM looks at to see whether calls were made, and that nothing of them is missing."""
        if "id" in call:
            self.current_tool_id = call["index"]
            self.current_tool_name_sent = True
            self.prev_tool_call_arr.append({"name": call["function"]["name"], "arguments": ""})
            self.streamed_args_for_tool.append("")
        self.streamed_args_for_tool[call["index"]] += call["function"]["arguments"]
        self.prev_tool_call_arr[call["index"]]["arguments"] = self.streamed_args_for_tool[call["index"]]


class GatewayArgsReasoningParser(ReasoningParser):  # type: ignore[misc, valid-type]
    """One output's thoughts; what stands behind them is content for the tool parser, as the model wrote it."""

    named: str | None = None

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self.format = _format_of(self.named, tokenizer)
        if "reasoning" not in self.format.states:
            raise ValueError(f"gateway_args: {self.format.name} marks no thoughts; leave the reasoning parser out")
        self._openers, self._closers = self.format.reasoning_openers, _reasoning_closers(self.format)
        self._prompt: str | None = None
        self._parser: Parser | None = None
        self._over = False

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._prompt = self._text(prompt_token_ids)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether the last thought in this text, of its last turn, is closed."""
        return self._ended(self._text(input_ids))

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        return self._over or self._ended(self._text(list(input_ids)[-256:]))

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The ids behind the thought's end."""

        def closed(part: list[int]) -> bool:
            return any(closer in self._text(part) for closer in self._closers)

        start = next((at for at in range(len(input_ids), -1, -1) if closed(input_ids[at:])), None)
        if start is None:
            return []
        return input_ids[next(at for at in range(start, len(input_ids) + 1) if closed(input_ids[start:at])) :]

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """The thoughts and the rest of a whole output. One that closes a thought it never opened began inside it."""
        first = min((at for text in self._openers if (at := model_output.find(text)) >= 0), default=len(model_output))
        inside = any(0 <= model_output.find(text) < first for text in self._closers)
        parser = Parser(self.format, start="reasoning" if inside else None)
        reasoning_text, rest, _ = _split(parser.feed(model_output) + parser.finish("stop"), self._closers, over=False)
        return reasoning_text or None, rest or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        """What this delta says of a thought, and what stands behind its end."""
        if self._parser is None or not previous_text:
            self._parser, self._over = Parser(self.format, prompt=self._prompt or ""), False
        reasoning_text, rest, self._over = _split(self._parser.feed(delta_text), self._closers, over=self._over)
        fields = {key: text for key, text in ((_REASONING_FIELD, reasoning_text), ("content", rest)) if text}
        return DeltaMessage(**fields) if fields else None

    def _text(self, ids: Iterable[int]) -> str:
        text: str = self.model_tokenizer.decode(list(ids)[-_LAST_TOKENS:])
        return text

    def _ended(self, text: str) -> bool:
        turn = max((text.rfind(opener) for opener in self.format.turn_openers), default=-1)
        text = text[max(turn, 0) :]
        closed = max((text.rfind(closer) for closer in self._closers), default=-1)
        return closed >= 0 and closed > max((text.rfind(opener) for opener in self._openers), default=-1)


def _reasoning_closers(fmt: Format) -> list[str]:
    """The texts that close a thought."""
    return [
        fmt.markers[name].text
        for state in fmt.states.values()
        for name, target in state.on.items()
        if state.kind == "reasoning" and fmt.states[target].kind == "content"
    ]


def _split(events: list[Event], closers: Collection[str], *, over: bool) -> tuple[str, str, bool]:
    """Thoughts, the text of all that stands behind their closer, and whether they are over."""
    reasoning_text, rest = "", ""
    for event in events:
        match event:
            case Reasoning() if not over:
                reasoning_text += event.text
            case ReasoningStart() | Finish():
                pass
            case ReasoningEnd():
                over = True
            case Dropped() if event.text.strip() in closers:
                over = True
            case CallStart() | CallArguments() | CallEnd():
                over = True
                rest += event.source
            case _:
                if over or type(event).__name__ == "Content":
                    over = True
                    rest += event.text
    return reasoning_text, rest, over


for _name in ("", *formats.names()):
    _fields = {"named": _name or None}
    _title = f"gateway_args_{_name}".rstrip("_")
    ToolParserManager.register_module(
        name=_title, module=type("GatewayArgsToolParser", (GatewayArgsToolParser,), _fields)
    )
    if not _name or "reasoning" in formats.load(_name).states:
        ReasoningParserManager.register_module(
            name=_title, module=type("GatewayArgsReasoningParser", (GatewayArgsReasoningParser,), _fields)
        )
