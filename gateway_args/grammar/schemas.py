"""Which of a JSON Schema's keywords a target keeps, the schema without the others, and two schemas as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
MAPS: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SIDES: Final = ("anyOf", "oneOf", "allOf")
_NAMED: Final = ("$defs", "definitions")
ONE: Final = (
    "items",
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
)
"""Keywords that hold schemas: by name, in a list, or one."""
NOTES: Final = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id"),
        *("$comment", "id", "example", "strict", "$anchor", "contentMediaType", "contentEncoding"),
        *("discriminator", "nullable"),
    )
)
"""Keywords that say nothing about which values are valid."""
BEARS_ON: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), frozenset(("string",))),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), frozenset(("number", "integer"))
    ),
    **dict.fromkeys(
        (
            *("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"),
            *("minContains", "maxContains", "unevaluatedItems"),
        ),
        frozenset(("array",)),
    ),
    **dict.fromkeys(
        (
            *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
            *("minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies"),
            "unevaluatedProperties",
        ),
        frozenset(("object",)),
    ),
}
"""The keywords that say something of values of these types alone."""
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
    plain: bool = False
    """It takes no part that is true or false, no class of Unicode in a pattern, and reads a keyword only where the type
    that it bears on is named and no reference stands beside it."""


LLGUIDANCE: Final = Target(_COMMON | {"patternProperties", "multipleOf"}, _FORMATS)
XGRAMMAR: Final = Target(
    _COMMON | {"propertyNames", "minProperties", "maxProperties"},
    _FORMATS | {"uri-reference", "uri-template", "json-pointer", "relative-json-pointer"},
    closed=True,
    compact=True,
    plain=True,
)


XGRAMMAR_EXCLUDING: Final = XGRAMMAR._replace(keywords=XGRAMMAR.keywords - {"minLength", "maxLength"})
"""With texts that strings may not hold it counts no lengths."""


def pointed(root: Mapping[str, Any], pointer: object) -> object:
    """What a JSON Pointer in a `$ref` names inside the root schema; None for nothing."""
    if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
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


def _is_its_own_part(root: Mapping[str, Any], pointer: str) -> bool:
    """Whether what the pointer names is one of its own alternatives or conditions: that part says nothing."""
    return _reaches_itself(root, pointer, lambda part: [one for key in _SIDES for one in part.get(key, ())])


def _holds_itself(root: Mapping[str, Any], pointer: str) -> bool:
    return _reaches_itself(root, pointer, _inner)


def _inner(part: Mapping[str, Any]) -> list[Any]:
    """All the schemas in this one."""
    found: list[Any] = [part[key] for key in ONE if key in part]
    for key in MAPS:
        found += part.get(key, {}).values()
    for key in LISTS:
        found += part.get(key, ())
    return found


def _reaches_itself(
    root: Mapping[str, Any], pointer: str, onward: Callable[[Mapping[str, Any]], Iterable[object]]
) -> bool:
    """Whether references lead from what the pointer names back to it, over these of a schema's parts."""
    seen: set[str] = set()
    todo = [pointer]
    while todo:
        parts = [pointed(root, todo.pop())]
        while parts:
            part = parts.pop()
            if not isinstance(part, Mapping):
                continue
            parts += onward(part)
            reference = part.get("$ref")
            if reference == pointer:
                return True
            if isinstance(reference, str) and reference not in seen:
                seen.add(reference)
                todo.append(reference)
    return False


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
    unread = _unread(schema) if target.plain else _beside(schema, root)
    for key, value in schema.items():
        if key in NOTES or key.startswith("x-"):
            continue
        if key not in target.keywords or key in unread or _is_beyond(key, value, schema, root, target):
            left[f"{where}: {key}"] = None
        elif key in MAPS:
            parts = {name: _part(part, f"{where}.{name}", target, left, root) for name, part in value.items()}
            if target.plain and False in parts.values():
                parts = {name: part for name, part in parts.items() if part is not False}
                if schema.get("additionalProperties") is not False:
                    left[f"{where}: {key}"] = None
            found[key] = parts
        elif key in LISTS:
            ways = [_part(part, where, target, left, root) for part in value]
            found[key] = [{} if part is True else part for part in ways if part is not False] if target.plain else ways
            if key == "oneOf":  # as anyOf: that no second one matches is not enforced
                found["anyOf"] = found.pop("oneOf")
                left[f"{where}: oneOf"] = None
        elif key in ONE:
            named = {"type": "string", **value} if key == "propertyNames" and isinstance(value, Mapping) else value
            found[key] = _part(named, f"{where}[]" if key == "items" else where, target, left, root)
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


def _is_beyond(key: str, value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], target: Target) -> bool:
    """Whether the target has the keyword and not what this schema says with it."""
    match key:
        case "allOf":
            return target.closed and len(value) > 1
        case "patternProperties":
            return len(value) > 1  # unless no key fits two
        case "prefixItems":
            return target.plain and False in value
        case "required":
            return target.plain and not {*value} <= {*schema.get("properties", ())}
        case "format":
            return value not in target.formats
        case "pattern":
            return target.plain and re.search(r"\\[pP]\{", value) is not None
        case "$ref":
            return pointed(root, value) in (None, False) or _is_its_own_part(root, value)
    return False


def _beside(schema: Mapping[str, Any], root: Mapping[str, Any]) -> frozenset[str]:
    """The keywords that llguidance does not take beside a reference, to a schema that holds itself."""
    others = schema.keys() - {"$ref", *NOTES, *_NAMED}
    pointer = schema.get("$ref")
    return frozenset(others) if others and isinstance(pointer, str) and _holds_itself(root, pointer) else frozenset()


def _unread(schema: Mapping[str, Any]) -> frozenset[str]:
    """The keywords of a schema that xgrammar passes over."""
    if "$ref" in schema:
        return frozenset(key for key in schema if key not in ("$ref", "$defs", "definitions"))
    if schema.keys() & {"type", "const", "enum"}:
        return frozenset()
    told = frozenset(
        ("object",) if "properties" in schema else ("array",) if schema.keys() & {"items", "prefixItems"} else ()
    )
    return frozenset(key for key in schema if not BEARS_ON.get(key, told) <= told)


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


def merge(one: dict[str, Any], other: Mapping[str, Any]) -> bool:
    """Puts what the other says into `one`; False where the two are more than one schema can say."""
    exact = not any(
        side.get("additionalProperties", True) is not True and {*against.get("properties", ())} - {*side["properties"]}
        for side, against in ((one, other), (other, one))
        if "properties" in side
    )
    for key, said in other.items():
        mine = one.get(key, said)
        if key in ("properties", "$defs", "definitions"):
            exact = exact and all(mine[name] == part for name, part in said.items() if name in mine)
            one[key] = {**mine, **said}
        elif key == "required":
            one[key] = [*dict.fromkeys([*mine, *said])]
        elif key == "type":
            kinds = types_of(mine) & types_of(said)
            one[key] = sorted(kinds) or said
            exact = exact and bool(kinds)
        elif key == "enum":
            both = [value for value in said if value in mine]
            one[key] = both or said
            exact = exact and bool(both)
        else:
            exact = exact and (mine == said or key in NOTES)
            one[key] = said
    return exact


def types_of(said: str | list[str]) -> set[str]:
    """The types that a `type` lets in: whole numbers are numbers."""
    kinds = {said} if isinstance(said, str) else {*said}
    return kinds | {"integer"} if "number" in kinds else kinds
