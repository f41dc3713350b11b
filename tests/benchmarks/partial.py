"""Partial values side by side on three 102 KB documents: how long the whole stream takes, in one `json.loads` of it.

Run: `python tests/benchmarks/partial.py [--quick]`. The documents: `records` with numbers, short strings, booleans and
some prose (json.loads takes twice orjson's time for it); `prose`, a report of phrases; and `numbers`. All parsers are
timed in turn in one run, in processor time, and the median of the ratios to a `json.loads` timed next to each is
printed. The streams are timed also for a consumer that takes every view's snapshot, and its list of items. The others:
jiter's partial mode and pydantic's `experimental_allow_partial` parse the text so far again at every piece, as their
users do; streaming-json-parser (optional) is incremental. At 4 characters a piece the re-parsing ones are timed on
every 16th piece and multiplied, as a full round takes minutes.
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
READ = "PartialStream(Any), every view read"


@dataclass
class Size:
    width: int
    height: int
    unit: str


@dataclass
class Record:
    id: int
    name: str
    sku: str
    price: float
    stock: int
    active: bool
    rating: float | None
    tags: list[str]
    size: Size
    note: str


@dataclass
class Records:
    title: str
    items: list[Record]


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
    items: list[Competitor]


@dataclass
class Row:
    at: int
    values: list[float]
    mean: float
    low: int


@dataclass
class Series:
    items: list[Row]


chance, words = random.Random(1), WORDS.split()


def phrase(count: int) -> str:
    return " ".join(chance.choice(words) for _ in range(count))


def record() -> dict[str, Any]:
    return {
        "id": chance.randrange(1_000_000),
        "name": phrase(2),
        "sku": f"{phrase(1)[:2].upper()}-{chance.randrange(1000):03}",
        "price": round(chance.random() * 500, 2),
        "stock": chance.randrange(500),
        "active": chance.random() < 0.5,
        "rating": chance.choice([None, round(chance.random() * 5, 1)]),
        "tags": [phrase(1) for _ in range(chance.randrange(4))],
        "size": {"width": chance.randrange(100), "height": chance.randrange(100), "unit": "cm"},
        "note": phrase(chance.choice([0, 3, 12])),
    }


def competitor() -> dict[str, Any]:
    return {
        "name": phrase(2).title(),
        "share": round(chance.random() * 40, 1),
        "employees": chance.randrange(10, 90_000),
        "listed": chance.random() < 0.5,
        "strengths": [phrase(4) for _ in range(3)],
        "note": phrase(14),
    }


def row() -> dict[str, Any]:
    values = [round(chance.uniform(-1000, 1000), chance.randrange(5)) for _ in range(12)]
    return {"at": chance.randrange(10**9), "values": values, "mean": chance.random(), "low": chance.randrange(-50, 0)}


def document(head: dict[str, str], item: Callable[[], dict[str, Any]]) -> str:
    """A document of `SIZE` characters or a few more."""
    items: list[dict[str, Any]] = []
    whole = {**head, "items": items}
    size = len(json.dumps(whole))
    while size < SIZE:
        items.append(item())
        size += len(json.dumps(items[-1])) + 2
    return json.dumps(whole)


DOCUMENTS: dict[str, tuple[str, type[Any]]] = {
    "records": (document({"title": phrase(4)}, record), Records),
    "prose": (document({"summary": phrase(60)}, competitor), Report),
    "numbers": (document({}, row), Series),
}


def ours(type_: Any) -> Callable[[list[str]], object]:
    def work(pieces: list[str]) -> object:
        stream: PartialStream[Any] = PartialStream(type_)
        for piece in pieces:
            stream.feed(piece)
        return stream.finish()

    return work


def ours_read(type_: Any) -> Callable[[list[str]], object]:
    """The same for a consumer that looks at every view it is handed."""

    def work(pieces: list[str]) -> object:
        stream: PartialStream[Any] = PartialStream(type_)
        seen = 0
        for piece in pieces:
            partial = stream.feed(piece)
            if partial is not None:
                if type_ is not Any:
                    items = partial.fields.items
                    seen += len(items) if items is not None else 0
                seen += len(partial.snapshot)
        return stream.finish(), seen

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
    "jiter, parsed again": jiter_again,
    "pydantic allow_partial, parsed again": pydantic_again,
    "streaming-json-parser": streaming_parser,
}
AGAIN = ("jiter, parsed again", "pydantic allow_partial, parsed again")


def ratios(text: str, type_: type[Any], size: int, rounds: int) -> dict[str, float]:
    """What each parser takes for this text in pieces of this many characters, in `json.loads` of it."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    parsers = {"PartialStream(Any)": PARSERS["PartialStream(Any)"], "PartialStream(typed)": ours(type_)}
    parsers |= {READ: ours_read(Any), "PartialStream(typed), every view read": ours_read(type_), **PARSERS}
    found: dict[str, list[float]] = {name: [] for name in parsers}
    for _ in range(rounds):
        for name, work in parsers.items():
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
    rounds = 3 if "--quick" in sys.argv else 11
    for kind, (text, type_) in DOCUMENTS.items():
        print(f"{kind}: {len(text)} characters; one json.loads of them: {_loads(text) * 1e3:.2f} ms")
        print(f"{'whole stream, in json.loads':38}" + "".join(f"{f'{size} a piece':>14}" for size in (4, 100, 400)))
        table = {size: ratios(text, type_, size, rounds if size > 4 else 3) for size in (4, 100, 400)}
        for name in table[100]:
            print(f"{name:38}" + "".join(f"{table[size].get(name, float('nan')):14.1f}" for size in table))
        half, whole = (_linear(text[: len(text) // part]) for part in (2, 1))
        print(f"linear: the whole text takes {whole / half:.2f} times its first half, at 4 characters a piece")
        at_4, ours_at_4 = table[4]["jiter, parsed again"], table[4]["PartialStream(Any)"]
        print(f"at 4 a piece: {at_4 / ours_at_4:.0f} times faster than jiter")
        print()


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
