"""Logged outputs, read again: which calls were whole, which were cut or broken, which named a tool that is not there.

`python reread_batch.py log.jsonl` reads lines of `{"model", "text", "tools"?, "prompt"?, "finish"?}` and prints one
line of JSON for each, then the counts on standard error. One line is held at a time.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from gateway_args import Format, Tools, formats, read


@cache
def format_of(model: str) -> Format:
    return formats.for_model(model)


def reread(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What each line's output says."""
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            tools = Tools.of(entry["tools"]) if "tools" in entry else None
            reading = read(
                format_of(entry["model"]),
                [entry["text"]],
                tools=tools,
                prompt=entry.get("prompt", ""),
                finish=entry.get("finish", "stop"),
            )
        except (ValueError, KeyError, TypeError) as error:  # the line is no JSON, lacks a key, or names no known model
            yield {"line": number, "error": str(error)}
            continue
        yield {
            "line": number,
            "content": reading.content,
            "calls": [
                {"name": call.name, "arguments": call.arguments, "verdict": verdict(call.complete, call.declared)}
                for call in reading.calls
            ],
            "malformed": [[str(aside.why), aside.text] for aside in reading.malformed],
        }


def verdict(complete: bool, declared: bool | None) -> str:
    if not complete:
        return "cut or broken"
    return "unknown tool" if declared is False else "whole"


def main(path: str) -> None:
    counts: Counter[str] = Counter()
    with open(path, encoding="utf-8") as log:
        for answer in reread(log):
            print(json.dumps(answer, ensure_ascii=False))
            counts.update(["bad line"] if "error" in answer else [call["verdict"] for call in answer["calls"]])
    print(dict(counts), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
