"""Renders a template with Jinja directly and reads the output: an oracle that shares nothing with `learning`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gateway_args import Format, Tools, fold

TEMPLATES = Path(__file__).parents[2] / "fixtures" / "templates"

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book_berth",
            "description": "Books a berth.",
            "parameters": {
                "type": "object",
                "properties": {
                    "ship": {"type": "string", "description": "Her name."},
                    "metres": {"type": "integer", "description": "Her length."},
                    "power": {"type": "boolean", "description": "Shore power."},
                    "crew": {"type": "array", "items": {"type": "string"}, "description": "Names."},
                },
                "required": ["ship"],
            },
        },
    },
]

ARGUMENTS: dict[str, Any] = {
    "ship": "Gull & <Tern>\nof Kiel",
    "metres": 18014398509481985,
    "power": True,
    "crew": ["Ada", "Böð"],
}


def rendered(template: str, messages: list[dict[str, Any]], prompt: bool) -> str:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)

    def raise_exception(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment.globals["raise_exception"] = raise_exception
    return environment.from_string(template).render(
        messages=messages, tools=TOOLS, add_generation_prompt=prompt, eos_token="</s>"
    )


def reading(format: Format, output: str, prompt: str) -> tuple[str, list[tuple[str, Any, bool]], list[str]]:
    """The content, the calls (name, arguments, complete) and the malformed texts."""
    folded = fold(read_events(format, output, prompt))
    calls = [(call.name, json.loads(call.arguments), call.complete) for call in folded.calls]
    return folded.content, calls, [aside.text for aside in folded.malformed]


def read_events(format: Format, output: str, prompt: str) -> Any:
    from gateway_args import Parser

    parser = Parser(format, Tools.of(TOOLS), prompt=prompt)
    events = []
    for character in output:
        events += parser.feed(character)
    return [*events, *parser.finish("stop")]


__all__ = ["ARGUMENTS", "TEMPLATES", "TOOLS", "read_events", "reading", "rendered"]
