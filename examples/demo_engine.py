"""What stands for an engine in the examples: it says again what a model once wrote, a few characters at a time.

A real one is reached over HTTP with the same two steps: render the prompt, then read the completion as it streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from gateway_args.adapters import Usage

SIZE = 7  # characters a delta: a part of a token, or the end of one call and the beginning of the next

# What the model answers, by the last word of what it is asked.
ANSWERS = {
    "hello": ["Hello! How can I help?", "Hi there."],
    "tide": [
        'Let me look. <tool_call>\n{"name": "get_tide", "arguments": {"port": "Cork", "day": 3}}\n</tool_call>',
        "The tide turns at noon.",
    ],
    "both": [
        '<tool_call>\n{"name": "get_tide", "arguments": {"port": "Cork"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "get_tide", "arguments": {"port": "Kiel"}}\n</tool_call>'
    ],
    "wrong": ['I try. <tool_call>\n{"name": "get_tide", "arguments": {"port": 12, "day": "soon"}}\n</tool_call>'],
    "cut": ['Let me see. <tool_call>\n{"name": "get_tide", "arguments": {"port": "Co'],
    "forced": ['{"port": "Cork"}'],
    "think": ["<think>\nThe moon, I suppose.\n</think>\n\nAt noon."],
    "crash": ["I begin, and"],
}


@dataclass(frozen=True, slots=True)
class Step:
    """New text of one choice, why it ended when it did, and at the very end the usage of all."""

    choice: int = 0
    text: str = ""
    finish: str | None = None
    usage: Usage | None = None


Steps = AsyncGenerator[Step, None]


def render(template: dict[str, Any]) -> str:
    """The prompt that the model's chat template makes of these arguments."""
    turns = [f"<|im_start|>{message['role']}\n{message['content']}" for message in template["messages"]]
    prompt = "<|im_end|>\n".join(turns)
    return prompt if template.get("continue_final_message") else f"{prompt}<|im_end|>\n<|im_start|>assistant\n"


async def generate(prompt: str, fields: dict[str, Any]) -> Steps:
    """What the model writes behind this prompt; `fields` are those of the engine's completion endpoint."""
    asked = prompt.rpartition("user\n")[2].partition("<|im_end|>")[0].split()[-1]
    texts = ANSWERS.get(asked, ["I do not know."])
    spent = 0
    for number in range(fields.get("n", 1)):
        text = texts[number % len(texts)]
        for at in range(0, len(text), SIZE):
            spent += 1
            await asyncio.sleep(0)
            yield Step(number, text[at : at + SIZE])
        if asked == "crash":
            raise ConnectionError("the engine went away")
        yield Step(number, finish="length" if asked == "cut" else "stop")
    yield Step(usage=Usage(prompt_tokens=len(prompt), completion_tokens=spent))
