"""The README's figures, microseconds a delta and MB/s in `Parser.feed`: `python tests/benchmarks/figures.py`.

The format is qwen3, the text 64 KB, the clock the process's own CPU time, each figure the median of 15 rounds with the
parser's construction and finish included.
"""

from __future__ import annotations

import time
from statistics import median

from units import deltas

from gateway_args import Parser, formats

FORMAT = formats.load("qwen3")
TEXT = "word and word, " * 4300
STRUCTURE = '{"b": 12, "c": [true, null]}, ' * 2150
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": %s}}\n</tool_call>'
CASES = {"a string argument": CALL % f'"{TEXT}"', "JSON structure": CALL % f"[{STRUCTURE}1]", "content": TEXT}


def figures(text: str, size: int) -> tuple[float, float]:
    """Microseconds a delta of that many characters, and MB/s."""
    pieces = deltas(text, size)
    spent = []
    for _ in range(15):
        start = time.process_time()
        parser = Parser(FORMAT)
        for piece in pieces:
            parser.feed(piece)
        parser.finish("stop")
        spent.append(time.process_time() - start)
    return median(spent) / len(pieces) * 1e6, len(text.encode()) / median(spent) / 1e6


if __name__ == "__main__":
    for name, text in CASES.items():
        for size in (4, 64, 4096):
            each, rate = figures(text, size)
            print(f"{name:<18} {size:>5} characters a delta: {each:.2f} µs, {rate:.1f} MB/s")
