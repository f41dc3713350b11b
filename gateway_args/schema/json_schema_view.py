"""The shape of a JSON Schema, checked by jsonschema-rs; values stay plain.

Fields are its `properties`, elements the `items` of an array, members the `additionalProperties` of an object without
`properties`. References inside the schema (`#/...`) are followed, as are `allOf` of one and `anyOf` of one and null.
What is seen one by one is checked against its own part; the other keywords of a record, and of a collection all but
its size and uniqueness, against the whole at the end.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, final
from urllib.parse import unquote

import jsonschema_rs

from .type_view import Invalid, Kind, Shape, Slot

if TYPE_CHECKING:
    from collections.abc import Mapping

_URI = "urn:gateway-args:schema"
_OWN = ("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "propertyNames")


def schema_shape(schema: dict[str, Any]) -> Shape:
    """The shape of this schema; `ValueError` when it is none."""
    jsonschema_rs.validator_for(schema)
    return SchemaShape(schema, "")


@final
class SchemaShape(Shape):
    """The part of a schema at one pointer."""

    def __init__(self, root: dict[str, Any], pointer: str) -> None:
        self._root = root
        self._pointer = pointer
        self.title = f"the schema's {pointer}" if pointer else "the schema"

    @cached_property
    def _validator(self) -> jsonschema_rs.Validator:
        if not self._pointer:
            return jsonschema_rs.validator_for(self._root)
        uri = self._root.get("$id", _URI)
        registry = jsonschema_rs.Registry([(uri, self._root)])
        reference = {"$ref": f"{uri}#{self._pointer}"}
        if "$schema" in self._root:
            reference["$schema"] = self._root["$schema"]
        return jsonschema_rs.validator_for(reference, registry=registry)

    def check(self, value: Any, text: str | None = None) -> Any:
        return _checked(self._validator, value)

    def shell(self, values: Any) -> Any:
        return _checked(self._shell, values)

    @cached_property
    def _shell(self) -> jsonschema_rs.Validator:
        node = self._core[0]
        return jsonschema_rs.validator_for({key: node[key] for key in _OWN if key in node})

    @cached_property
    def _core(self) -> tuple[Mapping[str, Any], str]:
        """The schema that says how the value is built, and its pointer."""
        pointer, node = self._pointer, _at(self._root, self._pointer)
        seen = set()
        while isinstance(node, dict) and pointer not in seen:
            seen.add(pointer)
            reference = node.get("$ref")
            if isinstance(reference, str) and reference.startswith("#"):
                pointer = unquote(reference[1:])
            elif isinstance(node.get("anyOf"), list) and "properties" not in node:
                options = [n for n, each in enumerate(node["anyOf"]) if each != {"type": "null"}]
                if len(options) != 1:
                    break
                pointer += f"/anyOf/{options[0]}"
            elif isinstance(node.get("allOf"), list) and len(node["allOf"]) == 1 and "properties" not in node:
                pointer += "/allOf/0"
            else:
                break
            node = _at(self._root, pointer)
        return (node, pointer) if isinstance(node, dict) else ({}, pointer)

    @cached_property
    def kind(self) -> Kind:
        node = self._core[0]
        if isinstance(node.get("properties"), dict):
            return Kind.FIELDS
        if isinstance(node.get("items"), dict) and "prefixItems" not in node:
            return Kind.ELEMENTS
        if isinstance(node.get("additionalProperties"), dict) and "patternProperties" not in node:
            return Kind.MEMBERS
        return Kind.WHOLE

    @cached_property
    def slots(self) -> Mapping[str, Slot]:
        node, pointer = self._core
        if self.kind is not Kind.FIELDS:
            return {}
        return {
            name: Slot(name, SchemaShape(self._root, f"{pointer}/properties/{_escaped(name)}"))
            for name in node["properties"]
        }

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        return {name: (name,) for name in self.slots}

    @cached_property
    def item(self) -> Shape | None:
        keyword = {Kind.ELEMENTS: "items", Kind.MEMBERS: "additionalProperties"}.get(self.kind)
        return None if keyword is None else SchemaShape(self._root, f"{self._core[1]}/{keyword}")


def _checked(validator: jsonschema_rs.Validator, value: Any) -> Any:
    try:
        if validator.is_valid(value):
            return value
        faults = [(tuple(error.instance_path), error.message) for error in validator.iter_errors(value)]
    except ValueError as error:  # a value that the checker cannot hold; older ones bound their integers
        faults = [((), f"cannot be checked: {error}")]
    raise Invalid(faults)


def _escaped(key: str) -> str:
    """The key in a JSON pointer inside a URI fragment."""
    return key.replace("~", "~0").replace("/", "~1").replace("%", "%25")


def _at(root: Any, pointer: str) -> Any:
    """What stands at this pointer; an empty schema where nothing does."""
    node = root
    for part in pointer.split("/")[1:]:
        step = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        else:
            return {}
    return node
