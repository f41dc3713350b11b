"""Writes what models of our response templates write, and says how those of others spell the same."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

OURS = Path(__file__).parents[2] / "fixtures" / "response_templates"

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {
                    "port": {"type": "string"},
                    "days": {"type": "integer"},
                    "exact": {"type": "boolean"},
                    "levels": {"type": "array"},
                    "where": {"type": "object"},
                },
            },
        },
    }
    for name in ("lookup_tide", "save_note")
]


@dataclass(frozen=True)
class StreamEvent:
    """What a model wants to say."""

    thinking: str
    content: str
    calls: tuple[tuple[str, dict[str, Any]], ...]


def said(seed: int) -> StreamEvent:
    """A turn made at random, in values that every dialect can write."""
    pick = random.Random(seed)
    texts = ("Kiel", "a b", "München 🌊", 'say "no"', "<b>bold</b>", "42", "{x}", "it's", "tide, tomorrow: 3")
    makers = {
        "port": lambda: pick.choice(texts),
        "days": lambda: pick.randint(-9, 2**50),
        "exact": lambda: pick.random() < 0.5,
        "levels": lambda: [pick.randint(0, 9), pick.choice(texts[:3])][: pick.randint(0, 2)],
        "where": lambda: {"x": pick.randint(0, 9), "y": [pick.choice(texts[:3])]} if pick.random() < 0.7 else {},
    }
    calls = tuple(
        (
            pick.choice(("lookup_tide", "save_note")),
            {key: make() for key, make in makers.items() if pick.random() < 0.5},
        )
        for _ in range(pick.randint(0, 3))
    )
    thinking = pick.choice(("", "The user wants the tide.", "First this.\n\nThen 3 < 4?"))
    return StreamEvent(
        thinking, pick.choice(("", "Let me see.", "Zwei Zeilen,\nja.")) or ("" if calls else "Yes."), calls
    )


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def bare(value: Any) -> str:
    """A value with bare keys and texts between <|q|>."""
    match value:
        case str():
            return f"<|q|>{value}<|q|>"
        case dict():
            return "{" + ",".join(f"{key}:{bare(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(map(bare, value)) + "]"
    return dumped(value)


def plain(value: Any) -> str:
    return value if isinstance(value, str) else dumped(value)


def python(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{dumped(key)}: {python(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(python, value)) + "]"
        case bool():
            return str(value)
    return dumped(value)


def written(template: str, turn: StreamEvent) -> tuple[str, str]:
    """The prompt's end and the output of a model with this template of ours."""
    thinking, content, calls = turn.thinking, turn.content, turn.calls
    out = ""
    match template:
        case "action_list":
            out += f"<|mind|>{thinking}<|/mind|>" if thinking else ""
            out += f"<|reply|>{content}<|/reply|>" if content else ""
            items = [{"tool_call_id": str(n), "tool": name, "with": args} for n, (name, args) in enumerate(calls)]
            out += f"<|do|>{dumped(items)}<|/do|>" if calls else ""
            return "<|turn|><|bot|>", out
        case "opened_thought":
            out += f"{thinking}\n</mind>\n\n"
            out += f"<reply>\n{content}\n</reply>\n" if content else ""
            for name, args in calls:
                out += f"<call>\n{dumped({'name': name, 'arguments': args})}\n</call>\n"
            return "[BOT]", out
        case "bare_keys":
            out += f"<|lane>mind\n{thinking}\n<lane|>" if thinking else ""
            out += "".join(f"<|do>call:{name}{bare(args)}<do|>" for name, args in calls)
            return "<|turn>bot\n", out + content + "<turn|>"
        case "channels":
            parts = [f"<|lane|>mind<|body|>{thinking}<|over|>"] if thinking else []
            parts += [f"<|lane|>reply<|body|>{content}<|over|>"] if content else []
            styles = ("<|kind|>json", "", " json")
            for n, (name, args) in enumerate(calls):
                parts.append(
                    f"<|lane|>work to=tools.{name} {styles[n % 3]}".rstrip() + f"<|body|>{dumped(args)}<|run|>"
                )
            return "<|from|>bot", "<|from|>bot".join(parts)
        case "object":
            out += f"<mind>\n{thinking}\n</mind>\n\n" if thinking else ""
            out += content
            for name, args in calls:
                out += f"\n<call>\n{dumped({'name': name, 'arguments': args})}\n</call>"
            return "<|bot|>\n", out + "<|over|>"
        case "framed_messages":
            parts = [f"<|mind|>{thinking}<|over|>"] if thinking else []
            parts += [f"<|text|>{content}<|over|>"] if content else []
            parts += [f"{name}<|call_json|>{dumped({'name': name, 'with': args})}<|over|>" for name, args in calls]
            return "<|over|><|from_bot|>", "<|from_bot|>".join(parts)
        case "any_attributes":
            parts = [f" to=me<|body|>{thinking}<|next|>"] if thinking else []
            parts += [f" to=you<|body|>{content}<|next|>"] if content else []
            for n, (name, args) in enumerate(calls):
                attributes = ("", ' kind="tool"', " x=1  y='2'")[n % 3]
                tags = "".join(f'\n<arg name="{key}"{attributes}>{plain(value)}</arg>' for key, value in args.items())
                parts.append(f'<run{attributes} name="{name}">{tags}\n</run>')
            return "<|from|>bot", "".join(parts)
        case "function_tags":
            out += f"<mind>\n{thinking}\n</mind>\n\n" if thinking else ""
            for name, args in calls:
                tags = "".join(f"<with={key}>\n{plain(value)}\n</with>\n" for key, value in args.items())
                out += f"<act>\n<run={name}>\n{tags}</run>\n</act>\n"
            return "<|bot|>\n", out
        case "call_list":
            listed = [
                f"{name}({', '.join(f'{key}={python(value)}' for key, value in args.items())})" for name, args in calls
            ]
            out += f"<|run|>[{', '.join(listed)}]<|/run|>" if calls else ""
            return "<|bot|>\n", content + out + "<|over|>"
        case "header_ids":
            out += f"<mind>{thinking}</mind>" if thinking else ""
            out += content
            for n, (name, args) in enumerate(calls):
                out += f"<|job|>functions.{name}:{n} <|with|>{dumped(args)}<|/job|>"
            return "<|bot|>", out + "<|over|>"
        case "fences":
            out += content
            for name, args in calls:
                out += f"<|job|>function<|sep|>{name}\n```json\n{dumped(args)}\n```<|/job|>\n"
            return "<|bot|>\n", out + "<|over|>"
        case "key_value_tags":
            out += f"<mind>{thinking}</mind>" if thinking else ""
            out += content
            for name, args in calls:
                tags = "".join(f"<key>{key}</key>\n<val>{plain(value)}</val>\n" for key, value in args.items())
                out += f"\n<job>{name}\n{tags}</job>"
            return "<|bot|>", out + "<|over|>"
        case "lines":
            out += f"<mind>{thinking}</mind>" if thinking else ""
            out += content
            for name, args in calls:
                lines = "".join(f"{key} = {plain(value)}\n" for key, value in args.items())
                out += f"<do {name}>\n{lines}</do>"
            return "<|bot|>\n", out + "<|over|>"
        case "list_to_the_end":
            items = [{"name": name, "arguments": args, "id": f"abcdefg{n}9"} for n, (name, args) in enumerate(calls)]
            return "[/IN]", (content + f"[CALLS]{dumped(items)}" if calls else content) + "</s>"
    raise AssertionError(template)


OTHERS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "action_list": (
        "cohere",
        {
            "<|turn|><|bot|>": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
            "<|reply|>": "<|START_RESPONSE|>",
            "<|/reply|>": "<|END_RESPONSE|>",
            "<|mind|>": "<|START_THINKING|>",
            "<|/mind|>": "<|END_THINKING|>",
            "<|do|>": "<|START_ACTION|>",
            "<|/do|>": "<|END_ACTION|>",
            '"tool": ': '"tool_name": ',
            '"with": ': '"parameters": ',
        },
    ),
    "opened_thought": (
        "ernie",
        {
            "[BOT]": "Assistant:",
            "mind>": "think>",
            "reply>": "response>",
            "<call>": "<tool_call>",
            "</call>": "</tool_call>",
        },
    ),
    "bare_keys": (
        "gemma4",
        {
            "<|turn>bot": "<|turn>model",
            "<|lane>mind": "<|channel>thought",
            "<lane|>": "<channel|>",
            "<|do>": "<|tool_call>",
            "<do|>": "<tool_call|>",
            "<|q|>": '<|"|>',
        },
    ),
    "channels": (
        "gpt_oss",
        {
            "<|from|>bot": "<|start|>assistant",
            "<|lane|>mind": "<|channel|>analysis",
            "<|lane|>reply": "<|channel|>final",
            "<|lane|>work to=tools.": "<|channel|>commentary to=functions.",
            "<|kind|>": "<|constrain|>",
            "<|body|>": "<|message|>",
            "<|over|>": "<|end|>",
            "<|run|>": "<|call|>",
        },
    ),
    "object": (
        "smollm",
        {
            "<|bot|>": "<|im_start|>assistant",
            "<|over|>": "<|im_end|>",
            "mind>": "think>",
            "<call>": "<tool_call>",
            "</call>": "</tool_call>",
        },
    ),
    "framed_messages": (
        "inkling",
        {
            "<|from_bot|>": "<|message_model|>",
            "<|mind|>": "<|content_thinking|>",
            "<|text|>": "<|content_text|>",
            "<|call_json|>": "<|content_invoke_tool_json|>",
            "<|over|>": "<|end_message|>",
            '"with": ': '"args": ',
        },
    ),
    "any_attributes": (
        "invoke",
        {
            "<|from|>bot": "<|begin|>assistant",
            "to=me<|body|>": "to=self<|msg|>",
            "to=you<|body|>": "to=user<|msg|>",
            "<|next|>": "<|pause|>",
            "<run": "<invoke",
            "</run>": "</invoke>",
            "<arg": "<param",
            "</arg>": "</param>",
        },
    ),
    "function_tags": (
        "qwen3",
        {
            "<|bot|>": "<|im_start|>assistant",
            "mind>": "think>",
            "<act>": "<tool_call>",
            "</act>": "</tool_call>",
            "<run=": "<function=",
            "</run>": "</function>",
            "<with=": "<parameter=",
            "</with>": "</parameter>",
        },
    ),
}
"""Our template -> the public one of the same construction, and how it spells each text."""


def respelled(text: str, spelling: Mapping[str, str]) -> str:
    for ours, theirs in spelling.items():
        text = text.replace(ours, theirs)
    return text
