"""Partial values side by side on one 102 KB report: how long the whole stream takes, in one `json.loads` of it.

Run: `python tests/benchmarks/partial.py [--quick]`. All are timed in turn in one run, in processor time, and the median
of the ratios to a `json.loads` timed next to each is printed. The others: jiter's partial mode and pydantic's
`experimental_allow_partial` parse the text so far again at every piece, as their users do; streaming-json-parser
(optional) is incremental. At 4 characters a piece the re-parsing ones are timed on every 16th piece and multiplied, as
a full round takes minutes.
"""

from __future__ import annotations

import gc
import importlib
import json
import random
import sys
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from gateway_args.partial import PartialStream

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 102_376
WORDS = "market growth share retail cloud price strong weak brand reach supply cost entry team product"
TARGETS = {"PartialStream(Any)": 15.0, "PartialStream(Report)": 25.0}


@dataclass
class Competitor:
    name: str
    share: float
    employees: int
    listed: bool
    strengths: list[str]
    note: str


@dataclass
class Report:
    summary: str
    competitors: list[Competitor]
    confidence: float


def report() -> str:
    """A report of `SIZE` characters or a few more: short phrases, numbers and lists, as models fill a schema in."""
    chance, words = random.Random(1), WORDS.split()

    def phrase(count: int) -> str:
        return " ".join(chance.choice(words) for _ in range(count))

    competitors: list[dict[str, Any]] = []
    whole = {"summary": phrase(60), "competitors": competitors, "confidence": 0.8}
    while len(json.dumps(whole)) < SIZE:
        competitors.append(
            {
                "name": phrase(2).title(),
                "share": round(chance.random() * 40, 1),
                "employees": chance.randrange(10, 90_000),
                "listed": chance.random() < 0.5,
                "strengths": [phrase(4) for _ in range(3)],
                "note": phrase(14),
            }
        )
    return json.dumps(whole)


def ours(type_: Any) -> Callable[[list[str]], object]:
    def work(pieces: list[str]) -> object:
        stream: PartialStream[Any] = PartialStream(type_)
        for piece in pieces:
            stream.feed(piece)
        return stream.finish()

    return work


def jiter_again(pieces: list[str]) -> object:
    jiter = importlib.import_module("jiter")
    so_far, value = b"", None
    for piece in pieces:
        so_far += piece.encode()
        value = jiter.from_json(so_far, partial_mode="trailing-strings")
    return value


def pydantic_again(pieces: list[str]) -> object:
    from pydantic import TypeAdapter

    adapter = TypeAdapter(dict[str, Any])
    so_far, value = "", None
    for piece in pieces:
        so_far += piece
        value = adapter.validate_json(so_far, experimental_allow_partial="trailing-strings")
    return value


def _timed(work: Callable[[list[str]], object], pieces: list[str], text: str) -> float:
    """The time of the work in `json.loads` of the text, timed before and after it."""
    gc.collect()  # what another parser left is not ours to sweep
    before = _loads(text)
    start = process_time()
    work(pieces)
    spent = process_time() - start
    return spent / ((before + _loads(text)) / 2)


def _loads(text: str) -> float:
    start = process_time()
    for _ in range(5):
        json.loads(text)
    return (process_time() - start) / 5


def streaming_parser(pieces: list[str]) -> object:
    module = importlib.import_module("streaming_json_parser")
    parser, value = module.StreamingJsonParser(), None
    for piece in pieces:
        value = parser.feed(piece).value
    return value


PARSERS: dict[str, Callable[[list[str]], object]] = {
    "PartialStream(Any)": ours(Any),
    "PartialStream(Report)": ours(Report),
    "jiter, parsed again": jiter_again,
    "pydantic allow_partial, parsed again": pydantic_again,
    "streaming-json-parser": streaming_parser,
}
AGAIN = ("jiter, parsed again", "pydantic allow_partial, parsed again")


def ratios(size: int, rounds: int) -> dict[str, float]:
    """What each parser takes for the report in pieces of this many characters, in `json.loads` of it."""
    text = report()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    found: dict[str, list[float]] = {name: [] for name in PARSERS}
    for _ in range(rounds):
        for name, work in PARSERS.items():
            skipped = 16 if name in AGAIN and size < 50 else 1
            if skipped > 1:
                joined = ["".join(pieces[at : at + skipped]) for at in range(0, len(pieces), skipped)]
                found[name].append(_timed(work, joined, text) * skipped)
            elif name in found:
                try:
                    found[name].append(_timed(work, pieces, text))
                except ImportError:
                    del found[name]
    return {name: median(each) for name, each in found.items()}


def main() -> None:
    text = report()
    rounds = 3 if "--quick" in sys.argv else 11
    print(f"{len(text)} characters; one json.loads of them: {_loads(text) * 1e3:.2f} ms")
    print(f"{'whole stream, in json.loads':38}" + "".join(f"{f'{size} a piece':>14}" for size in (4, 100, 400)))
    table = {size: ratios(size, rounds if size > 4 else 3) for size in (4, 100, 400)}
    for name in table[100]:
        print(f"{name:38}" + "".join(f"{table[size].get(name, float('nan')):14.1f}" for size in table))
    half, whole = (_linear(text[: len(text) // part]) for part in (2, 1))
    print(f"linear: the whole text takes {whole / half:.2f} times its first half, at 4 characters a piece")
    at_100 = table[100]
    print(f"at 100 a piece: {at_100['jiter, parsed again'] / at_100['PartialStream(Any)']:.0f} times faster than jiter")
    for name, target in TARGETS.items():
        print(f"{name}: {at_100[name]:.1f} of at most {target:.0f} json.loads")


def _linear(text: str) -> float:
    """The fastest of some whole streams of this text, which need not be whole itself."""
    times = []
    for _ in range(7):
        stream: PartialStream[Any] = PartialStream(Any)
        start = process_time()
        for at in range(0, len(text), 4):
            stream.feed(text[at : at + 4])
        times.append(process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
