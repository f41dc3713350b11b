"""The unit of the benchmarks: one `json.loads` of the 284-byte chat chunk that carries a 4-character delta.

It holds on any machine, since a gateway parses or writes such a chunk for every delta anyway. Work and unit are timed
round by round in turn and the median of the ratios is reported, because a shared machine changes speed under a run.
"""

from __future__ import annotations

import json
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = (
    '{"id":"chatcmpl-8f14e45fceea167a5a36dedd4bea2543","object":"chat.completion.chunk","created":1764547200,'
    '"model":"qwen3-8b","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":'
    '{"arguments":"and "}}]},"logprobs":null,"finish_reason":null}],"system_fingerprint":"fp_8f14"}'
)


def unit() -> float:
    """Seconds of one unit, as this machine runs just now."""
    rounds = 300
    start = perf_counter()
    for _ in range(rounds):
        json.loads(CHUNK)
    return (perf_counter() - start) / rounds


def units(work: Callable[[], object], count: int, rounds: int = 25) -> float:
    """Median over the rounds of what one of `count` pieces of `work` costs, in units."""
    ratios = []
    for _ in range(rounds):
        before = unit()
        start = perf_counter()
        work()
        spent = (perf_counter() - start) / count
        ratios.append(spent / ((before + unit()) / 2))
    return median(ratios)


def deltas(text: str, size: int = 4) -> list[str]:
    """The text in pieces of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]
