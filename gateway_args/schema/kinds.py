"""Which JSON types a schema admits, and of each which members: by `type`, `enum` and `const`, narrowed and widened."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Final, Literal, TypeAlias

JsonType: TypeAlias = Literal["string", "integer", "number", "boolean", "null", "object", "array"]
Scalar: TypeAlias = str | Decimal | bool | None

SCALARS: Final[tuple[JsonType, ...]] = ("string", "integer", "number", "boolean", "null")

# A scalar member with its type: 1, True and "1" are three members.
Members: TypeAlias = frozenset[tuple[JsonType, Scalar]] | None
# The types admitted, each with the members it is limited to (None: any value). None in place of it: untyped.
Kinds: TypeAlias = dict[JsonType, Members] | None

# "number" in `Kinds` is the numbers that are not whole; the schema's `number` is both.
_TYPES: dict[str, tuple[JsonType, ...]] = {
    "string": ("string",),
    "integer": ("integer",),
    "number": ("integer", "number"),
    "boolean": ("boolean",),
    "null": ("null",),
    "object": ("object",),
    "array": ("array",),
}
MAX_MEMBERS: Final = 4096  # scalars in a union of enumerations; a bigger one is any value of its types
MAX_NUMBER: Final = 512  # a longer number is a member of no enumeration


def narrow(one: Kinds, other: Kinds) -> Kinds:
    """What both admit. A contradiction is no type at all; `ValueType` reads that as untyped."""
    if one is None or other is None:
        return other if one is None else one
    found: dict[JsonType, Members] = {}
    for kind in one.keys() & other.keys():
        mine, theirs = one[kind], other[kind]
        members = mine & theirs if mine is not None and theirs is not None else theirs if mine is None else mine
        if members is None or members:
            found[kind] = members
    return found


def widen(each: list[Kinds]) -> Kinds:
    """What any of them admits."""
    found: dict[JsonType, list[Members]] = {}
    for kinds in each:
        if kinds is None:
            return None
        for kind, members in kinds.items():
            found.setdefault(kind, []).append(members)
    return {kind: _joined(several) for kind, several in found.items()}


def _joined(several: list[Members]) -> Members:
    """The members of any of these enumerations."""
    listed = [members for members in several if members is not None]
    if len(listed) < len(several):
        return None
    if len(listed) > 1 and sum(map(len, listed)) > MAX_MEMBERS:
        return None
    return listed[0].union(*listed[1:])


def named(declared: object) -> Kinds:
    found: dict[JsonType, Members] = {}
    for name in declared if isinstance(declared, list) else [declared]:
        if not isinstance(name, str) or name not in _TYPES:
            return None
        found.update(dict.fromkeys(_TYPES[name]))
    return found or None


def enumerated(schema: Mapping[str, object]) -> Kinds:
    found: Kinds = None
    values = schema.get("enum")
    if isinstance(values, list) and values:
        found = _members(values)
    if "const" in schema:
        found = narrow(found, _member(schema["const"]))
    return found


def _members(values: list[object]) -> Kinds:
    """What an enumeration admits; a long one is joined at once, whatever it holds."""
    found: dict[JsonType, set[tuple[JsonType, Scalar]] | None] = {}
    for value in values:
        kinds = _member(value)
        if kinds is None:
            return None
        for kind, members in kinds.items():
            mine = found.setdefault(kind, set())
            if members is None:
                found[kind] = None
            elif mine is not None:
                mine |= members
    return {kind: None if members is None else frozenset(members) for kind, members in found.items()}


def _member(value: object) -> Kinds:
    match value:
        case None:
            return {"null": None}
        case bool():
            return {"boolean": frozenset({("boolean", value)})}
        case str():
            return {"string": frozenset({("string", value)})}
        case int() | float():
            number = _number(repr(value))
            if number is None:
                return None
            kind: JsonType = "integer" if number == number.to_integral_value() else "number"
            return {kind: frozenset({(kind, number)})}
        case Mapping():
            return {"object": None}
        case list():
            return {"array": None}
        case _:
            return None


def scalar(kind: JsonType, text: str) -> Scalar:
    match kind:
        case "integer" | "number":
            return _number(text)
        case "boolean":
            return text == "true"
        case _:
            return text


def _number(text: str) -> Decimal | None:
    if len(text) > MAX_NUMBER:
        return None
    try:
        number = Decimal(text)
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= MAX_NUMBER else None
