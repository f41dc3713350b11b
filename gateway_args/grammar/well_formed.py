"""A tool's schema without what is no JSON Schema: no engine compiles a keyword whose value has another form.

Schemas are written by strangers. Such a keyword says nothing to the parser, so it says nothing here, and its place is
listed, as is a bound that contradicts another and a pattern that no engine takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from .schemas import LISTS, MAPS, ONE, TYPES, types_of
from .values import type_of

_BOUNDS: Final = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minimum", "maximum"),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)
_ESCAPES: Final = re.compile(r"[dDwWsSnrtfv]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{\w+(=\w+)?\}|[^a-zA-Z0-9]", re.ASCII)
_COUNT: Final = re.compile(r"\{[0-9]{1,5}(,[0-9]{0,5})?\}")
_LARGEST: Final = 10**300
"""Numbers beyond it engines do not read."""
_MOST: Final = 2**31
"""Nor counts."""


def well_formed(schema: Mapping[str, Any], where: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The schema without what is no JSON Schema, and the places of that: `add.port: type`."""
    left: dict[str, None] = {}
    found = _schema(schema, where, left)
    if "object" not in types_of(found.get("type", "object")):  # arguments are one
        del found["type"]
        left[f"{where}: type"] = None
    return found, tuple(left)


def _schema(schema: Mapping[str, Any], where: str, left: dict[str, None]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _PARTS:
            is_whole, parts_of = _PARTS[key]
            if is_whole(value):
                found[key] = parts_of(key, value, where, left)
                continue
        elif key not in _VALUES or _VALUES[key](value):
            found[key] = int(value) if key in _COUNTS else value
            continue
        left[f"{where}: {key}"] = None
    if isinstance(found.get("items"), list):  # as drafts before 2020-12 have it
        found.setdefault("prefixItems", found.pop("items"))
        found["items"] = found.pop("additionalItems", True)
    _leave_out(_contradictions(found), found, where, left)
    if "required" in found:
        possible = [name for name in found["required"] if _may_be_given(found, name)]
        if len(possible) < len(found["required"]):
            found["required"] = possible
            left[f"{where}: required"] = None
    return found


def _may_be_given(found: Mapping[str, Any], name: str) -> bool:
    """Whether an object by this schema may have a member of this name at all."""
    others = found.get("additionalProperties", True) is not False or "patternProperties" in found
    return found.get("properties", {}).get(name, others) is not False


def _leave_out(keys: Iterator[str], found: dict[str, Any], where: str, left: dict[str, None]) -> None:
    for key in keys:
        if found.pop(key, None) is not None:
            left[f"{where}: {key}"] = None


def _contradictions(found: Mapping[str, Any]) -> Iterator[str]:
    """Keywords that leave no value together with another, which stays."""
    for low, high in _BOUNDS:
        if low in found and high in found and _is_empty(found, low, high):
            yield high
    listed = [found["const"]] if "const" in found else found.get("enum", ())
    if "const" in found and "enum" in found and found["const"] not in found["enum"]:
        yield "enum"
    if listed and "type" in found:
        kinds = types_of(found["type"])
        if not any(type_of(value) in kinds for value in listed):
            yield "type"
    for key in ("anyOf", "oneOf"):
        if key in found and not any(found[key]):
            yield key  # false, each of them
    if False in found.get("allOf", ()):
        yield "allOf"
    if found.get("items") is False and "prefixItems" not in found and found.get("minItems"):
        yield "minItems"


def _is_empty(found: Mapping[str, Any], low: str, high: str) -> bool:
    open_ended = "exclusive" in low or "exclusive" in high
    return bool(found[low] >= found[high] if open_ended else found[low] > found[high])


# ------------------------------------------------------------------------------------- forms of plain keywords


def _is_type(value: object) -> bool:
    kinds = value if isinstance(value, list) else [value]
    return bool(kinds) and all(isinstance(kind, str) and kind in TYPES for kind in kinds)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_value, value))


def _is_value(value: object) -> bool:
    match value:
        case int():
            return abs(value) < _LARGEST
        case list():
            return all(map(_is_value, value))
        case dict():
            return all(map(_is_value, value.values()))
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and _is_number(value) and 0 <= value < _MOST and value == int(value)


def _is_divisor(value: object) -> bool:
    """Positive, and of as few digits as engines can count in."""
    return isinstance(value, int | float) and _is_number(value) and value > 0 and len(f"{value:.15g}".strip("0.")) < 8


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_pattern(value: object) -> bool:
    """Whether engines read this expression as JSON Schema does: no look-around, no references, anchors at its ends."""
    if not isinstance(value, str):
        return False
    at, in_class = 0, False
    while at < len(value):
        char, rest = value[at], value[at + 1 :]
        if char == "\\":
            escape = _ESCAPES.match(rest)
            if escape is None:
                return False
            at += escape.end()
        elif in_class:
            if char == "[" or value[at : at + 2] in ("&&", "--", "~~"):
                return False
            in_class = char != "]"
        elif char == "[":
            in_class = True
            at += rest.startswith("^")
            if value[at + 1 : at + 2] == "]":
                return False
        elif (
            (char == "(" and rest.startswith("?") and not rest.startswith("?:"))
            or (char == "^" and at > 0)
            or (char == "$" and rest)
            or (char in "*+?}" and rest.startswith("+"))
            or (char == "{" and not _COUNT.match(value, at))
        ):
            return False
        at += 1
    try:
        re.compile(re.sub(r"\\[pP]\{[^}]*\}", r"\\w", value))
    except (re.error, RecursionError, OverflowError):
        return False
    return True


_COUNTS: Final = frozenset(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"))
_VALUES: Final[dict[str, Callable[[object], bool]]] = {
    "type": _is_type,
    "enum": _is_list,
    "const": _is_value,
    "required": _is_names,
    "pattern": _is_pattern,
    "format": _is_text,
    "$ref": _is_text,
    "multipleOf": _is_divisor,
    **dict.fromkeys(_COUNTS, _is_count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
}


# ----------------------------------------------------------------------------------- keywords that hold schemas


def _is_schema(value: object) -> bool:
    return isinstance(value, Mapping | bool)


def _is_schemas(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(_is_schema, value.values()))


def _is_items(value: object) -> bool:
    return _is_schema(value) or _is_schemas(value)


def _is_patterns(value: object) -> bool:
    return isinstance(value, Mapping) and _is_map(value) and all(map(_is_pattern, value))


def _one(key: str, value: Any, where: str, left: dict[str, None]) -> Any:
    if isinstance(value, list):
        return _list(key, value, where, left)
    return _part(value, f"{where}[]" if key == "items" else where, left)


def _list(key: str, value: Any, where: str, left: dict[str, None]) -> Any:
    return [_part(part, where, left) for part in value]


def _map(key: str, value: Any, where: str, left: dict[str, None]) -> Any:
    return {name: _part(part, f"{where}.{name}", left) for name, part in value.items()}


def _part(schema: Any, where: str, left: dict[str, None]) -> Any:
    return _schema(schema, where, left) if isinstance(schema, Mapping) else schema


_Parts = tuple[Callable[[object], bool], Callable[[str, Any, str, dict[str, None]], Any]]
_PARTS: Final[dict[str, _Parts]] = {
    **dict.fromkeys(MAPS, (_is_map, _map)),
    **dict.fromkeys(LISTS, (_is_schemas, _list)),
    **dict.fromkeys(ONE, (_is_schema, _one)),
    "patternProperties": (_is_patterns, _map),
    "items": (_is_items, _one),
}
