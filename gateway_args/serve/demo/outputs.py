"""The written outputs of the demonstration, its chat templates and its vocabulary."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TOOLS: Final[Mapping[str, dict[str, Any]]] = {
    "find_boats": {
        "type": "object",
        "properties": {"pier": {"type": "string"}, "seats": {"type": "integer"}},
        "required": ["pier"],
        "additionalProperties": False,
    },
    "set_heater": {
        "type": "object",
        "properties": {"room": {"type": "string"}, "celsius": {"type": "number"}, "on": {"type": "boolean"}},
        "required": ["room", "celsius"],
        "additionalProperties": False,
    },
}
"""The two functions that the outputs call, with their schemas."""
ARGUMENTS: Final[Mapping[str, dict[str, Any]]] = {
    "find_boats": {"pier": "Quay 4", "seats": 2},
    "set_heater": {"room": "cabin", "celsius": 19.5, "on": True},
}
_WORDS: Final = {"heater": "heater", "both": "both", "wrong": "wrong", "hello": "text"}
_FIRST_SPECIAL: Final = 0x110000  # ids below are code points
_TOOLS_HEAD: Final = "You may call these functions:\n"
_PIECE: Final = re.compile(r"\s*\w+|\s+|[^\w\s]", re.DOTALL)


@dataclass(frozen=True)
class Output:
    """One model of the demonstration."""

    model: str
    format: str
    system: str
    user: str
    reply: str
    open: str
    special: tuple[str, ...]
    tokens: tuple[str, ...]
    end: str
    text: str
    boats: str
    heater: str
    both: str
    wrong: str
    thinking: str = ""
    open_thinking: str | None = None
    always_thinks: bool = False

    def render(
        self,
        messages: Iterable[Mapping[str, Any]],
        tools: list[Any] | None = None,
        *,
        thinking: bool = False,
        add_generation_prompt: bool = True,
        continue_final: bool = False,
    ) -> str:
        """The prompt of this conversation, as a chat template makes it."""
        parts = [self.system.format(_TOOLS_HEAD + json.dumps(tools))] if tools else []
        turns = list(messages)
        for number, message in enumerate(turns):
            text = _text_of(message)
            template = {"system": self.system, "developer": self.system, "assistant": self.reply}.get(
                str(message.get("role")), self.user
            )
            if continue_final and number == len(turns) - 1:
                parts.append(template.partition("{}")[0] + text)
            else:
                parts.append(template.replace("{}", text))
        if add_generation_prompt and not continue_final:
            parts.append(self.open_thinking if thinking and self.open_thinking is not None else self.open)
        return "".join(parts)

    def answer(self, prompt: str) -> str:
        """What the model says behind this prompt."""
        reply: str = self.text
        if _TOOLS_HEAD in prompt:
            reply = getattr(self, _WORDS.get(self.asked(prompt), "boats"))
        thinks = self.always_thinks or (self.open_thinking is not None and prompt.endswith(self.open_thinking))
        return self.thinking + reply if thinks else reply

    def asked(self, prompt: str) -> str:
        """The last word of the user's last turn."""
        for end in (self.open, self.open_thinking or ""):
            prompt = prompt.removesuffix(end)
        before, _, behind = self.user.partition("{}")
        text = prompt.rpartition(before)[2]
        words = (text.partition(behind)[0] if behind else text).split()
        return words[-1].lower().strip("?!.") if words else ""

    def call(self, name: str) -> str | None:
        """The output that calls this function alone and says nothing before, in the model's own format."""
        reply = {"find_boats": self.boats, "set_heater": self.heater}.get(name)
        return None if reply is None else reply.replace("I will look.", "", 1).removesuffix("I set it.")

    # The vocabulary: markers are one token each, everything else is its code points.

    @cached_property
    def _markers(self) -> Mapping[str, int]:
        return {text: _FIRST_SPECIAL + n for n, text in enumerate((*self.special, *self.tokens))}

    @cached_property
    def _texts(self) -> Mapping[int, str]:
        return {id: text for text, id in self._markers.items()}

    @cached_property
    def _split(self) -> re.Pattern[str]:
        return re.compile("(" + "|".join(map(re.escape, sorted(self._markers, key=len, reverse=True))) + ")")

    def encode(self, text: str) -> list[int]:
        return [id for ids, _ in self.pieces(text) for id in ids]

    def decode(self, ids: Iterable[int]) -> str:
        return "".join(self._texts[id] if id >= _FIRST_SPECIAL else chr(id) for id in ids)

    def pieces(self, text: str) -> Iterator[tuple[list[int], str]]:
        """The text as the engine generates it: ids and text, some at a time."""
        for part in self._split.split(text):
            if part in self._markers:
                yield [self._markers[part]], part
            else:
                yield from (([ord(c) for c in piece], piece) for piece in _PIECE.findall(part))


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    calls = message.get("tool_calls")
    return str(content or "") + (json.dumps(calls, ensure_ascii=False) if calls else "")


@cache
def outputs() -> Mapping[str, Output]:
    """Model name -> its outputs."""
    text = Path(__file__).with_name("outputs.toml").read_text(encoding="utf-8")
    found: dict[str, Output] = {}
    for model, row in tomllib.loads(text).items():
        fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        found[model] = Output(model=model, **fields)
    return found
