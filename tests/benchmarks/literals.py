"""What a delta costs in Python's and Gemma's literals, in units; run by hand: `python tests/benchmarks/literals.py`.

Prose is text with no character that JSON escapes, code has newlines and quotes. The target for both is 1.2 units
a delta of four characters at every size, parser made and finished included. A list has a number in nearly every delta,
each written at its end; it has no target.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

from units import deltas, unit

from gateway_args import Finish, Parser, formats

PROSE = "word and word, "
CODE = 'def total(rows):\n    return sum(row["net"] for row in rows)\n\n'
SIZES = {"4 KB": 4 << 10, "64 KB": 64 << 10, "1 MB": 1 << 20}


def filled(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def python_string(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def outputs(size: int) -> dict[str, tuple[str, str]]:
    """What is measured -> the table and the output."""
    numbers = filled("12, 345, -6.5, ", size).rstrip(" ,.-")
    return {
        "pythonic prose": ("pythonic", f"[write(path='a.txt', body={python_string(filled(PROSE, size))})]"),
        "pythonic code": ("pythonic", f"[write(path='a.txt', body={python_string(filled(CODE, size))})]"),
        "pythonic list": ("pythonic", f"[put(items=[{numbers}])]"),
        "gemma4 prose": ("gemma4", f'<|tool_call>call:write{{body:<|"|>{filled(PROSE, size)}<|"|>}}<tool_call|>'),
        "gemma4 code": ("gemma4", f'<|tool_call>call:write{{body:<|"|>{filled(CODE, size)}<|"|>}}<tool_call|>'),
        "gemma4 list": ("gemma4", f"<|tool_call>call:put{{items:[{numbers}]}}<tool_call|>"),
    }


def cost(table: str, text: str, rounds: int) -> float:
    """Units a delta of four characters."""
    format = formats.load(table)
    pieces = deltas(text)
    ratios = []
    for _ in range(rounds):
        before = unit()
        start = perf_counter()
        parser = Parser(format)
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        finish = parser.finish("stop")[-1]
        spent = (perf_counter() - start) / len(pieces)
        ratios.append(spent / ((before + unit()) / 2))
        assert isinstance(finish, Finish)
        assert finish.reason == "tool_calls"
    return median(ratios)


if __name__ == "__main__":
    for name in outputs(0):
        row = []
        for label, size in SIZES.items():
            table, text = outputs(size)[name]
            row.append(f"{cost(table, text, 3 if size > 1 << 19 else 7):.2f} units at {label}")
        print(f"{name:16}", ", ".join(row))
