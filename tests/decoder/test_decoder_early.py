"""Early verdicts against jsonschema-rs: what is refused at a byte has no continuation that the library accepts.

All continuations cannot be tried. Tried are those that are likeliest to be valid: the valid documents of the same
schema, and, behind the refused prefix, closings of what is open with sample values and keys in the gaps.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from decoder_documents import spellings
from decoder_schemas import VALUE_MUTATIONS, schemas, value_for
from hypothesis import given
from hypothesis import strategies as st

from gateway_args.decoder import CompiledSchema, Refused, StreamDecoder, compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VALUES = ('""', '"a"', '"abc"', "0", "1", "3", "10", "-1", "1.5", "255", "true", "false", "null", "[]", "{}", "[1]")
INSIDE = ("", "a", "b", "ab", "kind", "n", "é", "x" * 12)


def _open(prefix: str) -> tuple[str, bool]:
    """The closers of what is open, innermost first, and whether a string is."""
    stack: list[str] = []
    inside = escaped = False
    for char in prefix:
        if inside:
            inside = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            inside = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]":
            stack.pop()
    return "".join(reversed(stack)), inside


def continuations(prefix: str, names: tuple[str, ...], most: int = 150) -> Iterator[Any]:
    """The values of documents that start with this prefix, a sample of them."""
    closers, inside = _open(prefix)
    heads = (
        [f'{text}"' for text in INSIDE] + ["\\" + '"']
        if inside
        else ["", "0", "00", "5", ".5", "e1", "ue", "alse", "ll"]
    )
    members = [f"{json.dumps(name, ensure_ascii=False)}:{value}" for name in names for value in VALUES[::3]]
    tails = ["", *(f":{value}" for value in VALUES), *VALUES, *(f",{value}" for value in VALUES[::2])]
    tails += [*members, *(f",{member}" for member in members)]
    pairs = list(itertools.product(heads, tails))
    for head, tail in random.Random(prefix).sample(pairs, min(most, len(pairs))):
        try:
            yield json.loads(prefix + head + tail + closers, object_pairs_hook=_once)
        except ValueError:
            continue


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def refusals(schema: CompiledSchema[Any], document: bytes) -> bytes | None:
    """The document up to and with the byte that is refused early, if one is."""
    decoder = StreamDecoder(schema)
    outcome = decoder.push(document)
    if not isinstance(outcome, Refused):
        return None
    return document[: outcome.at_byte + 1]


def check(prefix: bytes, validator: Any, names: tuple[str, ...], valid: list[bytes]) -> int:
    """How many continuations were tried; none of them may be valid."""
    assert not any(document.startswith(prefix) for document in valid), prefix
    tried = 0
    for value in continuations(prefix.decode(errors="ignore"), names) if prefix[-1] < 0x80 else ():
        tried += 1
        assert not validator.is_valid(value), (prefix, value)
    return tried


@given(schemas, st.randoms(use_true_random=False))
def test_no_continuation_of_a_refused_prefix_is_valid(raw: Any, rnd: random.Random) -> None:
    schema = compile_schema(raw)
    validator = jsonschema_rs.validator_for(raw)
    for change in VALUE_MUTATIONS:
        value = value_for(raw, raw, rnd)
        change(value, rnd)
        prefix = refusals(schema, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        if prefix is not None:
            check(prefix, validator, ("a", "ab", "kind", "n"), [])


def test_no_continuation_of_a_refused_prefix_is_valid_in_the_schema_suite(suites: Path) -> None:
    folder = suites / "JSON-Schema-Test-Suite"
    remotes = folder / "remotes"
    resources = {
        f"http://localhost:1234/{path.relative_to(remotes).as_posix()}": json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(remotes.rglob("*.json"))
    }
    registry = jsonschema_rs.Registry(list(resources.items()))
    refused = tried = 0
    for path in sorted((folder / "tests" / "draft2020-12").glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = compile_schema(group["schema"], resources=resources)
            validator = jsonschema_rs.validator_for(group["schema"], registry=registry)
            names = tuple(sorted({key for case in group["tests"] for key in _keys(case["data"])}))[:6]
            valid = [document for case in group["tests"] if case["valid"] for document in spellings(case["data"])]
            for case in group["tests"]:
                if case["valid"]:
                    continue
                for document in itertools.islice(spellings(case["data"]), 2):
                    prefix = refusals(schema, document)
                    if prefix is not None:
                        refused += 1
                        tried += check(prefix, validator, names, valid)
    assert refused > 300
    assert tried > 5 * refused


def _keys(value: Any) -> set[str]:
    found: set[str] = set()
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            found.update(part)
            stack += part.values()
        elif isinstance(part, list):
            stack += part
    return found


@pytest.mark.parametrize("text", ['{"a": 1, "a', "[1, 2", '"abc', '{"a": [{"b": "c'])
def test_continuations_start_with_their_prefix_and_are_many(text: str) -> None:
    assert sum(1 for _ in continuations(text, ("a",), 5_000)) > 5
