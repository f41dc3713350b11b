"""Generated schemas, values made for them, and the ways in which a document goes wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

NAMES = ("a", "ab", "kind", "é", "n")
TEXTS = ("", "a", "ab", "abc", "é😀", 'q"\\\n', "x" * 12)
NUMBERS = (0, 1, -1, 3, 10, 255, -0.5, 1.5, 1e-7, 1e22, 2**63)


def _lengths(least: int, more: int) -> Any:
    return {"type": "string", "minLength": least, "maxLength": least + more}


def _range(low: int, more: int) -> Any:
    return {"type": "integer", "minimum": low, "maximum": low + more}


_constants = st.sampled_from((*TEXTS, 1, None, ["a", 1], {"kind": "a", "n": [1]}))
_members = st.lists(st.sampled_from((*TEXTS, *NUMBERS, None, True)), min_size=1, max_size=4)
_scalars = st.one_of(
    st.sampled_from((True, {"type": "boolean"}, {"type": "null"}, {"pattern": "^a"}, {"multipleOf": 2})),
    st.builds(_lengths, st.integers(0, 2), st.integers(0, 2)),
    st.builds(_range, st.integers(-3, 3), st.integers(0, 12)),
    st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, st.sampled_from(NUMBERS)),
    st.builds(lambda values: {"enum": values}, _members),
    st.builds(lambda value: {"const": value}, _constants),
    st.builds(lambda name: {"$ref": f"#/$defs/{name}"}, st.sampled_from("xy")),
)


def _object(properties: dict[str, Any], required: list[str], rest: Any, bounds: dict[str, int]) -> Any:
    schema: dict[str, Any] = {"type": "object", "properties": properties, **bounds}
    schema["required"] = sorted({name for name in required if name in properties})
    if rest is not None:
        schema["additionalProperties"] = rest
    return schema


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(
            _object,
            st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
            st.lists(st.sampled_from(NAMES), max_size=2),
            st.one_of(st.none(), st.just(False), st.just(False), inner),
            st.sampled_from(({}, {}, {"maxProperties": 2}, {"minProperties": 1})),
        ),
        st.builds(lambda part: {"patternProperties": {"^a": part}, "additionalProperties": False}, inner),
        st.builds(
            lambda prefix, rest, bounds: (
                {"type": "array", "prefixItems": prefix, "items": rest, **bounds}
                if prefix
                else {"type": "array", "items": rest, **bounds}
            ),
            st.lists(inner, max_size=2),
            inner | st.just(False),
            st.sampled_from(({}, {}, {"maxItems": 2}, {"minItems": 1}, {"uniqueItems": True})),
        ),
        st.builds(
            lambda word, parts: {word: parts},
            st.sampled_from(("anyOf", "anyOf", "oneOf", "allOf")),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(
            lambda tag, first, second: {
                "anyOf": [
                    {"properties": {"kind": {"const": "a"}, "n": first}, "required": ["kind", "n"]},
                    {"properties": {"kind": {"const": tag}, "n": second}, "required": ["kind"]},
                ]
            },
            st.sampled_from(("ab", "b")),
            inner,
            inner,
        ),
        st.builds(lambda part: {"not": part}, inner),
    )


_trees = st.recursive(_scalars, _containers, max_leaves=8)
schemas: st.SearchStrategy[Any] = st.builds(
    lambda root, x, y: {"$defs": {"x": x, "y": y}, "allOf": [root]},
    _containers(_trees),
    _trees,
    _trees,
)


def value_for(schema: Any, root: Any, rnd: random.Random, depth: int = 0) -> Any:
    """A value that more often than not is valid; the decoder under test is not asked."""
    if not isinstance(schema, dict) or depth > 6:
        return rnd.choice((*TEXTS, *NUMBERS, None, False, [], {}))
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rnd.choice(schema["enum"])
    if "$ref" in schema:
        return value_for(root["$defs"][schema["$ref"][-1]], root, rnd, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return value_for(rnd.choice(schema[word]), root, rnd, depth + 1)
    if "properties" in schema or "patternProperties" in schema:
        matching = dict.fromkeys(("a", "ab"), next(iter(schema.get("patternProperties", {}).values()), True))
        properties = schema.get("properties", matching)
        names = [name for name in properties if name in schema.get("required", ()) or rnd.random() < 0.7]
        value = {name: value_for(properties[name], root, rnd, depth + 1) for name in names}
        if schema.get("additionalProperties", True) is not False and rnd.random() < 0.3:
            value["z"] = value_for(schema.get("additionalProperties", True), root, rnd, depth + 1)
        return value
    if schema.get("type") == "array":
        value = [value_for(part, root, rnd, depth + 1) for part in schema.get("prefixItems", ())]
        if schema["items"] is not False:
            value += [value_for(schema["items"], root, rnd, depth + 1) for _ in range(rnd.randrange(3))]
        return value
    kind = schema.get("type")
    if kind == "string":
        size = rnd.randint(schema["minLength"], schema["maxLength"])
        return "".join(rnd.choice("aé😀\n") for _ in range(size))
    if kind == "integer":
        return rnd.randint(schema["minimum"], schema["maximum"])
    if kind == "number":
        return schema["exclusiveMinimum"] + rnd.choice((1, 0.5, 3))
    return {"boolean": True, "null": None}.get(kind or "", rnd.choice((*TEXTS, *NUMBERS)))


def _places(value: Any) -> list[Any]:
    """Every object and list inside, the value itself first."""
    found = []
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict | list):
            found.append(part)
            stack += part.values() if isinstance(part, dict) else part
    return found


def _some(value: Any, kind: type, rnd: random.Random) -> Any:
    candidates = [part for part in _places(value) if isinstance(part, kind)]
    return rnd.choice(candidates) if candidates else None


def unknown_field(value: Any, rnd: random.Random) -> None:
    if (part := _some(value, dict, rnd)) is not None:
        part["unknown"] = rnd.choice((1, "a", None))


def missing_field(value: Any, rnd: random.Random) -> None:
    if part := _some(value, dict, rnd):
        del part[rnd.choice(list(part))]


def another_value(value: Any, rnd: random.Random) -> None:
    """A wrong type, an unknown variant, a number out of range or a text too long, as the place has it."""
    candidates = [part for part in _places(value) if part]
    if candidates:
        part = rnd.choice(candidates)
        key = rnd.choice(list(part)) if isinstance(part, dict) else rnd.randrange(len(part))
        part[key] = rnd.choice((None, True, "unknown", "a" * 40, -(10**6), 10**30, 0.25, [], {}, [1, 2, 3, 4]))


def reordered(value: Any, rnd: random.Random) -> None:
    if part := _some(value, dict, rnd):
        items = list(part.items())
        rnd.shuffle(items)
        part.clear()
        part.update(items)


def nothing(value: Any, rnd: random.Random) -> None:
    """The value as it was made."""


VALUE_MUTATIONS: tuple[Callable[[Any, random.Random], None], ...] = (
    nothing, unknown_field, missing_field, another_value, reordered,
)  # fmt: skip


def duplicate_field(document: bytes, rnd: random.Random) -> bytes:
    """The first member of some object, twice."""
    text = document.decode()
    starts = [at for at, character in enumerate(text) if character == "{"]
    for at in rnd.sample(starts, len(starts)):
        decoder = json.JSONDecoder()
        try:
            key, end = decoder.raw_decode(text, at + 1)
            _, end = decoder.raw_decode(text, text.index(":", end) + 1)
        except ValueError:
            continue
        if isinstance(key, str):
            return f"{text[: at + 1]}{text[at + 1 : end]},{text[at + 1 :]}".encode()
    return document


def trailing_data(document: bytes, rnd: random.Random) -> bytes:
    return document + rnd.choice((b"1", b" {}", b",", b"\x00", b"\n\n", b"]"))


def corrupted_byte(document: bytes, rnd: random.Random) -> bytes:
    at = rnd.randrange(len(document))
    return (
        document[:at] + bytes([rnd.choice((0xFF, 0xC3, 0x80, 0xED, 0x00, 0x22, 0x5C, 0x2C, 0x7D))]) + document[at + 1 :]
    )


def cut_short(document: bytes, rnd: random.Random) -> bytes:
    return document[: rnd.randrange(len(document))]


def unchanged(document: bytes, rnd: random.Random) -> bytes:
    return document


BYTE_MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    unchanged, duplicate_field, trailing_data, corrupted_byte, cut_short,
)  # fmt: skip
