"""What is rendered: an assistant's turn, and the ways in which templates want it written into messages.

Templates disagree on nearly every key: arguments are an object for some and a JSON text for others, content without
text is `""` or null, thoughts have three names, stand inside the content, or are a part of it. A `Shape` is one
combination; probing tries them all and takes the one in which the template renders what it was given.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call as the conversation has it."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What the assistant says: None where it says nothing of the kind."""

    content: str | None = None
    reasoning: str | None = None
    calls: tuple[MadeCall, ...] = ()

    def __str__(self) -> str:
        parts = [f"reasoning {self.reasoning!r}"] if self.reasoning is not None else []
        parts += [f"content {self.content!r}"] if self.content is not None else []
        parts += [f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})" for call in self.calls]
        return ", ".join(parts) or "nothing"


class ReasoningStyle(StrEnum):
    """How a message carries its thought."""

    KEYS = "the keys reasoning_content, reasoning and thinking"
    PARTS = "a content part of type thinking"
    BLOCKS = "a block of type thoughts in the content"
    CLOSED = "the text before </think> in the content"
    INLINE = "the text between <think> and </think> at the content's start"


@dataclass(frozen=True, slots=True)
class Shape:
    """One way of writing a turn into messages."""

    text_arguments: bool = False
    """Arguments are their JSON text."""
    no_content: str | None = ""
    """The content of a turn without any."""
    reasoning_style: ReasoningStyle = ReasoningStyle.KEYS
    parts: bool = False
    """Content is a list of parts, as templates of models that see want it."""
    system: bool = False
    """A system message stands first."""
    kimi_ids: bool = False
    """Call ids are `functions.NAME:INDEX`: the template writes the id in place of the name."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """What else the template is rendered with."""

    def message(self, turn: Turn) -> dict[str, Any]:
        """The turn as a message."""
        rendered: dict[str, Any] = {
            "role": "assistant",
            "content": self.no_content if turn.content is None else turn.content,
        }
        if turn.calls:
            rendered["tool_calls"] = [self._call(call, n) for n, call in enumerate(turn.calls)]
        if self.parts:
            rendered["content"] = self.text(turn.content or "")
        if turn.reasoning is None:
            return rendered
        match self.reasoning_style:
            case ReasoningStyle.KEYS:
                rendered |= dict.fromkeys(("reasoning_content", "reasoning", "thinking"), turn.reasoning)
            case ReasoningStyle.PARTS:
                parts = [{"type": "thinking", "thinking": turn.reasoning}]
                parts += [{"type": "text", "text": turn.content}] if turn.content is not None else []
                rendered["content"] = parts
            case ReasoningStyle.BLOCKS:
                blocks: list[dict[str, Any]] = [{"type": "thoughts", "text": turn.reasoning}]
                if turn.calls:
                    listed = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in turn.calls]
                    blocks.append({"type": "tool_calls", "calls": listed})
                    del rendered["tool_calls"]
                blocks += [{"type": "response", "text": turn.content}] if turn.content is not None else []
                rendered["content"] = {"blocks": blocks}
            case ReasoningStyle.CLOSED:
                rendered["content"] = f"{turn.reasoning}</think>{turn.content or ''}"
            case ReasoningStyle.INLINE:
                rendered["content"] = f"<think>{turn.reasoning}</think>{turn.content or ''}"
        return rendered

    def text(self, text: str) -> Any:
        """Content as a message has it."""
        return [{"type": "text", "text": text}] if self.parts else text

    def call_id(self, name: str, index: int) -> str:
        return f"functions.{name}:{index}" if self.kimi_ids else f"cid{index}abcde"

    def _call(self, call: MadeCall, index: int) -> dict[str, Any]:
        arguments: Any = json.dumps(call.arguments, ensure_ascii=False) if self.text_arguments else call.arguments
        return {
            "type": "function",
            "id": self.call_id(call.name, index),
            "function": {"name": call.name, "arguments": arguments},
        }

    def result(self, call: MadeCall, text: str, index: int = 0) -> dict[str, Any]:
        """The answer of a tool."""
        return {
            "role": "tool",
            "tool_call_id": self.call_id(call.name, index),
            "name": call.name,
            "content": self.text(text),
        }


def tool(name: str, properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """A function as a request declares it."""
    described = {key: {"description": f"The {key}.", **schema} for key, schema in properties.items()}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Does {name}.",
            "parameters": {"type": "object", "properties": described, "required": list(required)},
        },
    }
