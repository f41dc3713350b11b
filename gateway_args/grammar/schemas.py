"""Which of a JSON Schema's keywords a target keeps, and the schema without the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

_MAPS: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONE: Final = (
    "items",
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "not",
    "contains",
    "propertyNames",
)
_NOTES: Final = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id"),
        *("$comment", "id", "example", "strict", "$anchor", "contentMediaType", "contentEncoding"),
        *("discriminator", "nullable"),
    )
)
"""Keywords that say nothing about which values are valid."""
_COMMON: Final = frozenset(
    (
        *("type", "enum", "const", "properties", "required", "additionalProperties", "items", "prefixItems"),
        *("$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "minItems", "maxItems", "minLength"),
        *("maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    )
)
_FORMATS: Final = frozenset(
    (*("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"),)
)


class Target(NamedTuple):
    """What one engine enforces of JSON Schema."""

    keywords: frozenset[str]
    formats: frozenset[str]
    closed: bool = False
    """It takes objects and arrays for closed where a schema leaves that open, so the schema is told."""
    compact: bool = False
    """It takes a listed object or array in its compact spelling alone, so the schema lists what is in it."""


LLGUIDANCE: Final = Target(_COMMON | {"patternProperties", "multipleOf"}, _FORMATS)
XGRAMMAR: Final = Target(
    _COMMON | {"propertyNames", "minProperties", "maxProperties"},
    _FORMATS | {"uri-reference", "uri-template", "json-pointer", "relative-json-pointer"},
    closed=True,
    compact=True,
)


XGRAMMAR_EXCLUDING: Final = XGRAMMAR._replace(keywords=XGRAMMAR.keywords - {"minLength", "maxLength"})
"""With texts that strings may not hold it counts no lengths."""


def pointed(root: Mapping[str, Any], pointer: object) -> object:
    """What a JSON Pointer in a `$ref` names inside the root schema; None for nothing."""
    if not isinstance(pointer, str) or not pointer.startswith("#"):
        return None
    at: object = root
    for step in pointer[1:].split("/")[1:]:
        word = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, Mapping) and word in at:
            at = at[word]
        elif isinstance(at, list) and word.isdigit() and int(word) < len(at):
            at = at[int(word)]
        else:
            return None
    return at


def enforced(schema: Mapping[str, Any], where: str, target: Target) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The schema as the target enforces it, and the places of what it does not: `add.a: uniqueItems`."""
    left: dict[str, None] = {}
    return _kept(schema, where, target, left, schema), tuple(left)


def _kept(
    schema: Mapping[str, Any], where: str, target: Target, left: dict[str, None], root: Mapping[str, Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if target.compact and isinstance(listed, list) and any(isinstance(value, list | Mapping) for value in listed):
        found["anyOf"] = [_spaced(value) for value in listed]
        schema = {key: value for key, value in schema.items() if key not in ("const", "enum", "type", "anyOf")}
    for key, value in schema.items():
        if key in _NOTES or key.startswith("x-"):
            continue
        beyond = (
            (key == "allOf" and target.closed and isinstance(value, list) and len(value) > 1)
            or (key == "patternProperties" and isinstance(value, Mapping) and len(value) > 1)  # unless no key fits two
            or (key == "format" and value not in target.formats)
            or (key == "$ref" and pointed(root, value) is None)
        )
        if key not in target.keywords or beyond:
            left[f"{where}: {key}"] = None
            continue
        if key in _MAPS and isinstance(value, Mapping):
            found[key] = {name: _part(part, f"{where}.{name}", target, left, root) for name, part in value.items()}
        elif key in _LISTS and isinstance(value, list):
            found[key] = [_part(part, where, target, left, root) for part in value]
            if key == "oneOf":  # as anyOf: that no second one matches is not enforced
                found["anyOf"] = found.pop("oneOf")
                left[f"{where}: oneOf"] = None
        elif key in _ONE:
            found[key] = _part(value, f"{where}[]" if key == "items" else where, target, left, root)
        else:
            found[key] = value
    if "patternProperties" in schema and "patternProperties" not in found:
        found["additionalProperties"] = True  # the others cannot be told from those
    if target.closed:
        kinds = found.get("type", ())
        if "object" in kinds or "properties" in found:
            found.setdefault("additionalProperties", True)
        if "array" in kinds or "prefixItems" in found:
            found.setdefault("items", True)
    return found


def _spaced(value: Any) -> dict[str, Any]:
    """A schema of this value alone, that lists nothing but scalars."""
    if isinstance(value, Mapping):
        members = {key: _spaced(member) for key, member in value.items()}
        return {"type": "object", "properties": members, "required": [*value], "additionalProperties": False}
    if isinstance(value, list):
        items = [_spaced(item) for item in value]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(value), "maxItems": len(value)}
    return {"const": value}


def _part(schema: Any, where: str, target: Target, left: dict[str, None], root: Mapping[str, Any]) -> Any:
    return _kept(schema, where, target, left, root) if isinstance(schema, Mapping) else schema
