"""What an adapter costs a delta above `Parser.feed`, bytes included.

Run by hand: `python tests/benchmarks/adapters.py`; it exits 1 past a target. The events of each delta are read
beforehand, so that what is timed is `Stream.frames` alone, from a delta's events to the bytes to send.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from units import deltas, units

from gateway_args import adapters, formats
from gateway_args.parser import Parser
from gateway_args.tools import Tools

if TYPE_CHECKING:
    from gateway_args.events import Event

CODE = 'def area(width: float, height: float) -> float:\n    """The area."""\n    return width * height\n\n'
ARGUMENTS = json.dumps({"path": "src/area.py", "content": CODE * 170})
ROWS = json.dumps({"rows": [{"a": n, "b": [True, None, {}]} for n in range(500)]})
PROSE = "The tide turns at noon, and the harbour is calm until then. " * 270
CASES = {
    "a file in a string argument": f'<tool_call>\n{{"name": "write_file", "arguments": {ARGUMENTS}}}\n</tool_call>',
    "structure": f'<tool_call>\n{{"name": "write_file", "arguments": {ROWS}}}\n</tool_call>',
    "content": PROSE,
    "a thought": f"<think>\n{PROSE}\n</think>\n\nDone.",
}
TARGET = 0.5  # units a delta
ENVELOPE = adapters.Envelope("chatcmpl-8f14e45fceea167a5a36dedd4bea2543", "qwen3-8b", 1_764_547_200)
KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")


def events_of(output: str) -> list[list[Event]]:
    """The events of each 4-character delta."""
    tools = Tools.of([{"type": "function", "function": {"name": "write_file", "parameters": {"type": "object"}}}])
    parser = Parser(formats.load("qwen3"), tools)
    return [*(parser.feed(piece) for piece in deltas(output)), parser.finish("stop")]


def cost(kind: adapters.Kind, read: list[list[Event]]) -> float:
    def run() -> None:
        stream = adapters.stream(kind, ENVELOPE)
        for events in read:
            if events:
                stream.frames(events)

    return units(run, len(read))


def main() -> int:
    status = 0
    for name, output in CASES.items():
        read = events_of(output)
        for kind in KINDS:
            spent = cost(kind, read)
            status |= spent > TARGET
            print(
                f"{name:28} {kind:10} {spent:6.3f} units a delta (at most {TARGET})", "TOO SLOW"[: 8 * (spent > TARGET)]
            )
    return status


if __name__ == "__main__":
    sys.exit(main())
