"""The view of a JSON Schema, checked by jsonschema-rs; values stay plain.

Fields are its `properties`, elements the `items` of an array, members the `additionalProperties` of an object without
`properties`, alternatives those of `anyOf` and `oneOf`. References are followed, as are `allOf` of one and alternatives
beside null. What is seen one by one is checked against its own part; the other keywords of a record, and of a
collection all but its size and uniqueness, against the whole at the end.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import jsonschema_rs

from .references import ROOT, Location, References, fetch_nothing, pointer_step
from .type_view import Invalid, Kind, Slot, TypeView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OWN = ("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "propertyNames")
_DEEPEST = 255
_KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")


def json_schema_view(schema: dict[str, Any]) -> TypeView:
    """The view of this schema; `ValueError` when it is none."""
    try:
        validator = jsonschema_rs.validator_for(schema, retriever=fetch_nothing)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(schema_complaint(error)) from None
    references = References(schema)
    view = JsonSchemaView(schema, references.root, _Document(schema, references))
    view.validator = validator
    return view


def schema_complaint(error: Exception) -> str:
    """What is wrong with a schema, for people: the place in it, and what is expected there."""
    from .path import show

    steps = tuple(getattr(error, "instance_path", ()))
    message = getattr(error, "message", str(error))
    if steps and steps[-1] == "type" and "anyOf" in message:
        message = f"expected one of {', '.join(_KINDS)}, or a list of them, got {message.split(' is not ')[0]}"
    return f"schema: {show(steps)}: {message}"


class _Document:
    """The schema that a view is a part of."""

    __slots__ = ("references", "registry", "schema")

    def __init__(self, schema: dict[str, Any], references: References) -> None:
        self.schema = schema
        self.references = references
        self.registry: Any = None

    def validator(self, location: Location) -> jsonschema_rs.Validator:
        """What judges a value by the part at this place."""
        if self.registry is None:
            self.registry = jsonschema_rs.Registry([(ROOT, self.schema)], retriever=fetch_nothing)
        part = {"$ref": location.address}
        if isinstance(self.schema.get("$schema"), str):
            part["$schema"] = self.schema["$schema"]
        return jsonschema_rs.validator_for(part, registry=self.registry, retriever=fetch_nothing)


@final
class JsonSchemaView(TypeView):
    """The part of a schema at one place."""

    def __init__(self, schema: Any, location: Location, integral: _Document) -> None:
        self._schema = schema
        self._location = integral.references.location(schema, location)
        self._document = integral
        pointer = self._location.address.removeprefix(f"{ROOT}#")
        self.title = f"the schema's {pointer}" if pointer else "the schema"

    @cached_property
    def identity(self) -> str:  # type: ignore[override]
        return hashlib.sha256(json.dumps(self._schema, sort_keys=True).encode()).hexdigest()

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        return self._document.validator(self._location)

    def check(self, value: Any, text: str | None = None) -> Any:
        return _checked(self.validator, value)

    def check_own(self, values: Any) -> Any:
        return _checked(self._own_validator, values)

    @cached_property
    def _own_validator(self) -> jsonschema_rs.Validator:
        node = self._core[0]
        return jsonschema_rs.validator_for({key: node[key] for key in _OWN if key in node}, retriever=fetch_nothing)

    @cached_property
    def _core(self) -> tuple[Mapping[str, Any], Location]:
        """The schema that says how the value is built, and where it stands."""
        node, location = self._schema, self._location
        seen: set[int] = set()
        while isinstance(node, dict) and id(node) not in seen:
            seen.add(id(node))
            reference = node.get("$ref")
            if isinstance(reference, str):
                target = self._document.references.target(reference, location)
                if target is None:
                    break
                node, location = target
                continue
            branches = [] if "properties" in node else _branches(node)
            if len(branches) != 1:
                break
            step, node = branches[0]
            location = self._inside(node, location, step)
        return (node, location) if isinstance(node, dict) and "$ref" not in node else ({}, location)

    def _inside(self, node: Any, location: Location, step: str) -> Location:
        return self._document.references.location(
            node, Location(location.base, location.dialect, location.address + step)
        )

    def _view(self, node: Any, step: str) -> JsonSchemaView:
        return JsonSchemaView(node, self._inside(node, self._core[1], step), self._document)

    @cached_property
    def kind(self) -> Kind:
        node = self._core[0]
        if isinstance(node.get("properties"), dict):
            return Kind.FIELDS
        if isinstance(node.get("items"), dict) and "prefixItems" not in node:
            return Kind.ELEMENTS
        if isinstance(node.get("additionalProperties"), dict) and "patternProperties" not in node:
            return Kind.MEMBERS
        return Kind.UNION if len(_branches(node)) > 1 and "allOf" not in node else Kind.WHOLE

    @cached_property
    def slots(self) -> Mapping[str, Slot]:
        if self.kind is not Kind.FIELDS:
            return {}
        properties = self._core[0]["properties"]
        return {
            name: Slot(name, self._view(part, f"/properties{pointer_step(name)}")) for name, part in properties.items()
        }

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        if self.kind is Kind.UNION:
            return {name: keys for each in self.alternatives for name, keys in each.names.items()}
        return {name: (name,) for name in self.slots}

    @cached_property
    def item(self) -> TypeView | None:
        keyword = {Kind.ELEMENTS: "items", Kind.MEMBERS: "additionalProperties"}.get(self.kind)
        return None if keyword is None else self._view(self._core[0][keyword], f"/{keyword}")

    @cached_property
    def alternatives(self) -> Sequence[TypeView]:
        if self.kind is not Kind.UNION:
            return ()
        return [self._view(part, step) for step, part in _branches(self._core[0])]

    @cached_property
    def tags(self) -> Mapping[str, frozenset[str]]:
        if self.kind is Kind.UNION:  # what every alternative in it says
            each = [inner.tags for inner in self.alternatives]
            keys = frozenset(each[0]).intersection(*each[1:])
            return {key: frozenset().union(*(tags[key] for tags in each)) for key in keys}
        found = {}
        for key, slot in self.slots.items():
            assert isinstance(slot.view, JsonSchemaView)
            node = slot.view._core[0]
            texts = [node["const"]] if "const" in node else node.get("enum")
            if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
                found[key] = frozenset(texts)
        return found

    @cached_property
    def containers(self) -> str:
        if self.kind is Kind.UNION:
            return "".join(bracket for bracket in "{[" if any(bracket in each.containers for each in self.alternatives))
        node = self._core[0]
        named = node.get("type")
        if "enum" in node or "const" in node:
            values = node["enum"] if "enum" in node else [node["const"]]
            return "{[" if any(isinstance(value, dict | list) for value in values) else ""
        if named is None:
            return "{["
        kinds = named if isinstance(named, list) else [named]
        return "{" * ("object" in kinds) + "[" * ("array" in kinds)


def _branches(node: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The alternatives beside null, or the one schema of `allOf`, each with its step."""
    for keyword in ("anyOf", "oneOf"):
        parts = node.get(keyword)
        if isinstance(parts, list):
            return [(f"/{keyword}/{n}", part) for n, part in enumerate(parts) if part != {"type": "null"}]
    parts = node.get("allOf")
    return [("/allOf/0", parts[0])] if isinstance(parts, list) and len(parts) == 1 else []


def _checked(validator: jsonschema_rs.Validator, value: Any) -> Any:
    if _too_deep(value):
        raise Invalid([((), "nested too deep to be checked")])
    try:
        if validator.is_valid(value):
            return value
        problems = [(tuple(error.instance_path), error.message) for error in validator.iter_errors(value)]
    except ValueError as error:  # a value that the checker cannot hold; older ones bound their integers
        problems = [((), f"cannot be checked: {error}")]
    raise Invalid(problems)


def _too_deep(value: Any) -> bool:
    """Whether a value nests deeper than the checker, which is recursive, can follow."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True
