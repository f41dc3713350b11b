"""What a request pays for its format, in units: by model, by name and constrained when warm, and a first look-up.

`python tests/benchmarks/lookups.py`; `units.py` says what a unit is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from units import units

from gateway_args import formats
from gateway_args.formats import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "nvidia/Qwen3-235B-A22B-NVFP4"
COUNT = 1000


def cost(work: Callable[[], object], count: int = COUNT) -> float:
    def run() -> None:
        for _ in range(count):
            work()

    run()
    return units(run, count)


def main() -> None:
    base = formats.load("qwen3")
    ids = catalogue.current().ids
    for name, work, count in (
        ("for_model, warm", lambda: formats.for_model(MODEL), COUNT),
        ("load, warm", lambda: formats.load("hermes"), COUNT),
        ("forced with a base, warm", lambda: formats.forced("f", base), COUNT),
        ("an id's first look-up", lambda: ids.table(MODEL), 20),
    ):
        print(f"{name:<28}{cost(work, count):8.2f} units")


if __name__ == "__main__":
    main()
