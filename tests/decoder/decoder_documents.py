"""Documents for the decoder's tests: spellings of a value, ways to cut bytes, and one look at what a cut says."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from gateway_args.decoder import CompiledSchema, Incomplete, Outcome, StreamDecoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def outcome(schema: CompiledSchema[Any], pieces: Iterable[bytes], **options: Any) -> Outcome[Any]:
    """What a fresh decoder says of these pieces; every push before a refusal must say `Incomplete`."""
    decoder = StreamDecoder(schema, **options)
    for piece in pieces:
        said = decoder.push(piece)
        if not isinstance(said, Incomplete):
            assert decoder.finish() is said
            return said
    return decoder.finish()


def cuts(data: bytes, seeds: Iterable[int] = range(3), *, every_split: bool = True) -> Iterator[list[bytes]]:
    """The whole, one byte at a time, every single split, and seeded plans of small pieces."""
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    if every_split:
        for at in range(1, len(data)):
            yield [data[:at], data[at:]]
    for seed in seeds:
        choose = random.Random(seed)
        pieces = []
        at = 0
        while at < len(data):
            size = choose.choice((0, 1, 2, 3, 5, 8))
            pieces.append(data[at : at + size])
            at += size
        yield pieces


def same_for_every_cut(
    schema: CompiledSchema[Any], data: bytes, *, every_split: bool = True, **options: Any
) -> Outcome[Any]:
    """The outcome of these bytes, the same however they are cut."""
    expected = outcome(schema, [data], **options)
    for pieces in cuts(data, every_split=every_split):
        said = outcome(schema, pieces, **options)
        assert repr(said) == repr(expected), (data, pieces, "the outcome depends on the cuts")
    return expected


def _write(value: Any, text: Callable[[str], str], number: Callable[[Any], str], gap: str, backwards: bool) -> str:
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float():
            return number(value)
        case str():
            return text(value)
        case list():
            inner = [_write(item, text, number, gap, backwards) for item in value]
            return f"[{gap}{f'{gap},{gap}'.join(inner)}{gap}]"
        case _:
            pairs = list(value.items())
            if backwards:
                pairs.reverse()
            inner = [f"{text(key)}{gap}:{gap}{_write(item, text, number, gap, backwards)}" for key, item in pairs]
            return f"{{{gap}{f'{gap},{gap}'.join(inner)}{gap}}}"


def _escaped(text: str) -> str:
    """Every character as \\u escapes, astral ones as a pair."""
    units = text.encode("utf-16-be")
    return '"' + "".join(f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2)) + '"'


def _raw(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _pointed(value: Any) -> str:
    """A whole number with a fraction or an exponent, where a double still holds it exactly."""
    if isinstance(value, int) and abs(value) < 10**15:
        return f"{value}00e-2" if value and value % 2 == 0 else f"{value}.0"
    return json.dumps(value)


def spellings(value: Any) -> Iterator[bytes]:
    """One value as several documents: key orders, escapes, white space, `1.0`."""
    for text, number, gap, backwards in (
        (_raw, json.dumps, "", False),
        (_raw, json.dumps, " \n\t", True),
        (_escaped, json.dumps, "", False),
        (json.dumps, _pointed, "\r", True),
        (_escaped, _pointed, " ", False),
    ):
        yield (gap + _write(value, text, number, gap, backwards) + gap).encode()
