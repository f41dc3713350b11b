"""Snapshots as this version writes them, kept in `golden/`: what a gateway has in flight when its package is replaced.

`python tests/parser/golden_snapshots.py` writes those of the present version where there are none; those of a released
version are never written again. The tables are copies, so that a change of a shipped table changes nothing here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from parser_harness import merged

from gateway_args import Delta, Event, Parser, Token, Tools, formats
from gateway_args.parser import VERSION

FOLDER = Path(__file__).parent / "golden"
_PARAMETERS = {"type": "object", "properties": {"pier": {"type": "string"}, "day": {"type": "integer"}}}
TOOLS = Tools.of([{"name": "find_ferry", "input_schema": _PARAMETERS}])

# table -> an output, and the arguments of its first call.
OUTPUTS = {
    "hermes": (
        'Let me see.\n<tool_call>\n{"name": "find_ferry", "arguments": {"pier": "\\u00e9", "day": [1, {"a": 2}]}}\n'
        "</tool_call><|im_end|>",
        '{"pier": "\\u00e9", "day": [1, {"a": 2}]}',
    ),
    "qwen3": (
        "<think>\nhm\n</think>\n\nSo.\n<tool_call>\n"
        '{"arguments": "{\\"pier\\": \\"x\\"}", "name": "find_ferry"}\n</tool_call>',
        '{"pier": "x"}',
    ),
    "qwen3_coder": (
        "So.\n<tool_call>\n<function=find_ferry>\n<parameter=pier>\nOld\nMill\n</parameter>\n<parameter=day>\n12\n"
        "</parameter>\n</function>\n</tool_call>",
        '{"pier": "Old\\nMill", "day": 12}',
    ),
    "deepseek_v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find_ferry\n```json\n"
        '{"pier": "x"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        '{"pier": "x"}',
    ),
    "gemma4": (
        '<|channel>thought\nhm\n<channel|><|tool_call>call:find_ferry{day:12,pier:<|"|>Old Mill<|"|>}<tool_call|>Done.',
        '{"day": 12, "pier": "Old Mill"}',
    ),
    "pythonic": (
        "[find_ferry(pier='Old \\'Mill', day=12), find_ferry(day=(1, 2))]",
        '{"pier": "Old \'Mill", "day": 12}',
    ),
    "sarashina": (
        "<|tool_calls|>[{'name': 'find_ferry', 'arguments': {'pier': 'Old', 'day': 3}}]",
        '{"pier": "Old", "day": 3}',
    ),
    "llama3_json": ('See: {"name": "find_ferry", "parameters": {"day": 3}}', '{"day": 3}'),
}


def as_json(events: list[Event]) -> list[Any]:
    """Events with neighbours of one kind joined, as JSON has them."""
    said: list[Any] = json.loads(json.dumps(merged(events)))
    return said


def as_tokens(text: str) -> Delta:
    """Each character a token of its own."""
    return Delta(text, tuple(Token(ord(char), at, at + 1) for at, char in enumerate(text)))


def snapshots(name: str) -> list[dict[str, Any]]:
    """The output cut at every fifth place, in turn as text and as tokens."""
    table = formats.read(FOLDER / f"{name}.toml")
    text, _ = OUTPUTS[name]
    kept = []
    for cut in range(0, len(text) + 1, 5):
        tokens = cut % 2 == 1
        first, rest = (as_tokens(part) if tokens else part for part in (text[:cut], text[cut:]))
        parser = Parser(table, TOOLS, markers={} if tokens else None)  # no marker is one token
        row = {"table": name, "tokens": tokens, "rest": text[cut:], "before": as_json(parser.feed(first))}
        row["snapshot"] = parser.snapshot().decode()
        row["after"] = as_json(parser.feed(rest) + parser.finish("stop"))
        kept.append(row)
    return kept


if __name__ == "__main__":
    with (FOLDER / f"version_{VERSION}.jsonl").open("x", encoding="utf-8", newline="\n") as file:
        for table_name in OUTPUTS:
            for kept_row in snapshots(table_name):
                file.write(json.dumps(kept_row) + "\n")
