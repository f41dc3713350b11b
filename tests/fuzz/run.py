"""Runs the mutation fuzzer for as long as you like: `python tests/fuzz/run.py --seconds 60 [--seed N] [FORMAT…]`.

A failure prints a minimal input and the exit status is 1; a run of the same seed and formats repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_inputs import Input
from fuzz_runs import kind_of, search

from gateway_args import contract


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("formats", nargs="*", help="formats to try (default: every one with a corpus)")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", default="0")
    options.add_argument("--most", type=int, default=20, help="stop after so many failures")
    given = options.parse_args()
    names = given.formats or contract.names()
    end = time.monotonic() + given.seconds
    tried = 0

    def go_on(number: int) -> bool:
        nonlocal tried
        tried = number
        return time.monotonic() < end

    kinds: Counter[str] = Counter()
    for case, fault in search(given.seed, names, go_on):
        kinds[kind_of(fault)] += 1
        print(f"--- {fault}\n    {shown(case)}", flush=True)
        if kinds.total() >= given.most:
            break
    print(f"{tried} inputs of {len(names)} formats, seed {given.seed}: {kinds.total()} failures {dict(kinds) or ''}")
    return 1 if kinds else 0


def shown(case: Input) -> str:
    """The input as a Python expression that makes it again."""
    blank = Input(case.format, case.output)
    fields = [f"{case.format!r}", f"{case.output!r}"]
    for name in Input.__dataclass_fields__:
        if name not in ("format", "output") and getattr(case, name) != getattr(blank, name):
            fields.append(f"{name}={getattr(case, name)!r}")
    return f"Input({', '.join(fields)})"


if __name__ == "__main__":
    raise SystemExit(main())
