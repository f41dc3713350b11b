"""What `Acceptor.feed` costs. Run by hand: `python tests/benchmarks/acceptor.py`; it exits 1 past a target."""

from __future__ import annotations

import json
import sys

from units import deltas, units

from gateway_args.strict_json.acceptor import Acceptor

CODE = 'def area(width: float, height: float) -> float:\n    """The area."""\n    return width * height\n\n'
MIXED = json.dumps(
    [{"path": f"src/shapes/part_{n}.py", "content": CODE, "line": n, "save": True} for n in range(120)], indent=1
)
# name, text, most units a 4-character delta may cost
CASES = [
    ("inside a string", '"' + "hello world, this is content " * 800, 0.12),
    ("mixed", MIXED, 0.2),
    ("structure", "[" + '{"a":1,"b":[true,null,{}],"c":-1.5e3},' * 600, 0.26),
]


def cost(text: str, size: int) -> float:
    """Units that a delta of `size` characters costs."""
    pieces = deltas(text, size)

    def run() -> None:
        acceptor = Acceptor()
        for piece in pieces:
            acceptor.feed(piece)

    return units(run, len(pieces))


def main() -> int:
    status = 0
    for name, text, most in CASES:
        spent = cost(text, 4)
        status |= spent > most
        print(f"{name:16} {spent:6.3f} units a 4-character delta (at most {most})", "" if spent <= most else "TOO SLOW")
    for name, text, _ in CASES:
        ratios = ", ".join(f"{size}: {cost(text, size) * 1000 / size:.0f}" for size in (1, 4, 100, 400, len(text)))
        print(f"{name:16} milli-units a character, by characters a delta: {ratios}")
    return status


if __name__ == "__main__":
    sys.exit(main())
