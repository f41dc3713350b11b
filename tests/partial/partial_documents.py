"""Types, documents and chunkings for the tests of `gateway_args.partial`, and what an observer can see of a view."""

from __future__ import annotations

import json
from dataclasses import field, make_dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args.partial import Partial
    from gateway_args.schema.path import Path

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['say "hi"', "back\\slash", "a\nb\tc", "café", "😀 two", "\u2028", "[1, {", "\x07"]
)
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT


def _containers(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=4) | st.dictionaries(TEXT, values, max_size=4)


PLAIN = st.recursive(_SCALAR, _containers, max_leaves=12)
SHORT = _containers(st.recursive(_SCALAR, _containers, max_leaves=3))
"""For what looks at every path at every prefix."""


class Typed(NamedTuple):
    """A type and a strategy for the plain values that it takes."""

    type: Any
    values: st.SearchStrategy[Any]


_SCALARS = [
    Typed(str, TEXT),
    Typed(int, st.integers(-(10**20), 10**20)),
    Typed(float, st.floats(allow_nan=False, allow_infinity=False)),
    Typed(bool, st.booleans()),
    Typed(str | None, st.none() | TEXT),
]


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> Typed:
    """A scalar, a list or a dict of a type, or a record of types: a dataclass, a TypedDict or a NamedTuple."""
    kind = draw(st.integers(0, 5 if depth else 1))
    if kind <= 1:
        return draw(st.sampled_from(_SCALARS))
    if kind == 2:
        item = draw(types(depth=depth - 1))
        return Typed(list[item.type], st.lists(item.values, max_size=3))
    if kind == 3:
        item = draw(types(depth=depth - 1))
        return Typed(dict[str, item.type], st.dictionaries(TEXT, item.values, max_size=3))
    return draw(records(depth=depth))


@st.composite
def records(draw: st.DrawFn, depth: int = 2) -> Typed:
    names = draw(
        st.lists(st.sampled_from(["name", "note", "items", "by_key", "score", "inner"]), min_size=1, unique=True)
    )
    fields = {name: draw(types(depth=depth - 1)) for name in names}
    values = st.fixed_dictionaries({name: each.values for name, each in fields.items()})
    match draw(st.integers(0, 2)):
        case 0:
            return Typed(
                make_dataclass("Record", [(name, each.type, field()) for name, each in fields.items()]), values
            )
        case 1:
            return Typed(TypedDict("Record", {name: each.type for name, each in fields.items()}), values)  # type: ignore[operator]
        case _:
            return Typed(NamedTuple("Record", [(name, each.type) for name, each in fields.items()]), values)  # type: ignore[misc]


@st.composite
def documents(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> tuple[Any, str]:
    """A plain value and one of its spellings."""
    value = draw(values)
    return value, json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, None, 1])))


@st.composite
def chunkings(draw: st.DrawFn, text: str) -> list[str]:
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=12))
    edges = sorted({0, len(text), *cuts})
    return [text[start:end] for start, end in pairwise(edges)]


def paths(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every path in a plain value, with the value there."""
    yield at, value
    if isinstance(value, dict):
        for key, each in value.items():
            yield from paths(each, (*at, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from paths(each, (*at, index))


def value_spans(text: str, start: int = 0, at: Path = ()) -> Iterator[tuple[Path, tuple[int, int]]]:
    """Every path in a sound text with where its value starts and ends, read by the standard library's decoder."""
    decoder = json.JSONDecoder()
    value, end = decoder.raw_decode(text, start)
    yield at, (start, end)
    if not isinstance(value, dict | list) or not value:
        return
    inside = _behind_space(text, start + 1)
    for step in value if isinstance(value, dict) else range(len(value)):
        if isinstance(value, dict):
            inside = _behind_space(text, _behind_space(text, decoder.raw_decode(text, inside)[1]) + 1)
        yield from value_spans(text, inside, (*at, step))
        inside = _behind_space(text, _behind_space(text, decoder.raw_decode(text, inside)[1]) + 1)


def _behind_space(text: str, at: int) -> int:
    return at + len(text[at:]) - len(text[at:].lstrip())


def seen(partial: Partial[Any], asked: tuple[Path, ...] = ()) -> dict[str, Any]:
    """What a consumer can see of a view, also at the paths that are asked for, as values of its own."""
    snapshot = partial.snapshot
    return {
        "snapshot": repr(snapshot),
        "incomplete": partial.incomplete,
        "is_done": partial.is_done,
        "malformed": partial.malformed,
        "errors": list(partial.errors),
        "value": repr(partial.value),
        "fields": repr(partial.fields),
        "complete": [path for path, _ in paths(snapshot) if partial.is_complete(path)],
        "got": [repr(partial.get(path)) for path, _ in paths(snapshot)],
        "text": [(partial.text(path), partial.text(path, start=1)) for path, _ in paths(snapshot)],
        "asked": [(partial.is_complete(path), repr(partial.get(path)), partial.text(path)) for path in asked],
    }
