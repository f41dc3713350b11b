"""The shape of a Python type, read from the core schema that pydantic builds for it.

Each field, element and member gets the validator of its own part of that schema, so its constraints and its field
validators hold as they do in the whole. Decisions:
- Values are checked in pydantic's JSON mode, from their text, as `validate_json` checks the whole.
- A field whose validator asks for the other fields (`info`) is checked at the end alone, and so is what wraps a record
  (model validators).
- Elements are seen one by one in `list`, `set`, `frozenset`, `Sequence` and `tuple[T, ...]`, members in `dict` and
  `Mapping` with string keys, through `None`-able and defaulted types too. A union, or a collection behind a validator
  that reshapes its input, is seen whole.
- `typing.TypedDict`, which pydantic refuses before Python 3.12, is read as the one of typing_extensions.
"""

from __future__ import annotations

import json
import sys
import typing
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, final

import typing_extensions
from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from .type_view import Invalid, Kind, Shape, Slot

Node = dict[str, Any]

_WRAPPERS = {"default", "nullable", "function-after"}
_RESHAPERS = {"function-before", "function-wrap"}
_RECORDS = {"model-fields", "dataclass-args", "typed-dict", "named-tuple", "arguments"}
_LISTS = {"list", "set", "frozenset"}


class _Context(NamedTuple):
    """What a part of a schema needs from the whole: shared definitions and the configuration around it."""

    definitions: dict[str, Node]
    config: Any


def model_shape(type_: Any) -> Shape:
    """The shape of this type; `TypeError` when pydantic has no schema for it."""
    adapter: TypeAdapter[Any] = TypeAdapter(_modern(type_))
    node: Node = dict(adapter.core_schema)
    definitions: dict[str, Node] = {}
    if node["type"] == "definitions":
        definitions = {each["ref"]: each for each in node["definitions"]}
        node = node["schema"]
    shape = ModelShape(node, _Context(definitions, None), getattr(type_, "__name__", str(type_)))
    shape.validator = adapter.validator  # type: ignore[assignment]
    return shape


@final
class ModelShape(Shape):
    """A part of pydantic's schema, seen as a shape; everything about it is found out on first use."""

    reads_text = True

    def __init__(self, node: Node, context: _Context, title: str) -> None:
        self._node = node
        self._context = context
        self.title = title

    @cached_property
    def validator(self) -> SchemaValidator:
        return _validator(self._node, self._context)

    def check(self, value: Any, text: str | None = None) -> Any:
        try:
            return self.validator.validate_json(json.dumps(value) if text is None else text)
        except ValidationError as error:
            if text is not None and any(each["type"] == "json_invalid" for each in error.errors(include_input=False)):
                return self.check(value)  # pydantic reads no raw control characters
            raise _invalid(error) from None
        except RecursionError:
            raise Invalid([((), "nested too deep to be checked")]) from None
        except Exception as error:
            raise Invalid([((), _shown(error))]) from error

    def shell(self, values: Any) -> Any:
        try:
            return self._shell.validate_python(values, strict=False)
        except ValidationError as error:
            raise _invalid(error) from None
        except Exception as error:
            raise Invalid([((), _shown(error))]) from error

    @cached_property
    def _shell(self) -> SchemaValidator:
        return _validator(self._emptied(self._node), self._context)

    def _emptied(self, node: Node) -> Node:
        """This collection's schema with elements or members that are taken as they are."""
        node = {key: value for key, value in node.items() if key != "ref"}
        match node["type"]:
            case "definition-ref":
                return self._emptied(self._context.definitions[node["schema_ref"]])
            case "json-or-python":
                return self._emptied(node["json_schema"])
            case "tuple":
                return {**node, "items_schema": [{"type": "any"}]}
            case "dict":
                return {**node, "values_schema": {"type": "any"}}
            case kind if kind in _LISTS:
                return {**node, "items_schema": {"type": "any"}}
        return {**node, "schema": self._emptied(node["schema"])}

    @cached_property
    def _core(self) -> tuple[Node, Any]:
        """The record or collection inside the wrappers, and the configuration that holds in it."""
        node, config, reshaped = self._node, self._context.config, False
        while True:
            kind = node["type"]
            if kind == "definition-ref":
                node = self._context.definitions[node["schema_ref"]]
            elif kind == "json-or-python":
                node = node["json_schema"]
            elif kind in ("model", "dataclass"):
                config = node.get("config", config)
                node = node["schema"]
            elif kind == "call":
                node = node["arguments_schema"]
            elif kind in _WRAPPERS or kind in _RESHAPERS:
                reshaped = reshaped or kind in _RESHAPERS
                node = node["schema"]
            else:
                break
        if reshaped and node["type"] not in _RECORDS:
            node = {"type": "any"}
        return node, node.get("config", config)

    @cached_property
    def kind(self) -> Kind:
        node = self._core[0]
        kind = node["type"]
        if kind in _RECORDS:
            return Kind.FIELDS
        if (kind in _LISTS and "items_schema" in node) or (
            kind == "tuple" and node.get("variadic_item_index") == 0 and len(node["items_schema"]) == 1
        ):
            return Kind.ELEMENTS
        if kind == "dict" and "values_schema" in node and node.get("keys_schema", {"type": "str"})["type"] == "str":
            return Kind.MEMBERS
        return Kind.WHOLE

    @cached_property
    def positional(self) -> bool:
        return self._core[0]["type"] in ("named-tuple", "arguments")

    @cached_property
    def item(self) -> Shape | None:
        node, config = self._core
        if self.kind is Kind.MEMBERS:
            return ModelShape(node["values_schema"], _Context(self._context.definitions, config), f"{self.title}[...]")
        if self.kind is Kind.ELEMENTS:
            item = node["items_schema"][0] if node["type"] == "tuple" else node["items_schema"]
            return ModelShape(item, _Context(self._context.definitions, config), f"{self.title}[...]")
        return None

    @cached_property
    def _fields(self) -> list[tuple[tuple[str, ...], Slot]]:
        """The JSON keys of each field, and its slot; a field that is never read from JSON is none."""
        node, config = self._core
        if self.kind is not Kind.FIELDS:
            return []
        context = _Context(self._context.definitions, config)
        fields = node["arguments_schema"] if node["type"] == "arguments" else node["fields"]
        named = fields.items() if isinstance(fields, Mapping) else [(each["name"], each) for each in fields]
        found = []
        for name, each in named:
            if each.get("init", True):
                shape = DEFERRED if _asks_others(each["schema"]) else ModelShape(each["schema"], context, name)
                found.append((_keys(name, each, config or {}), Slot(name, shape)))
        return found

    @cached_property
    def slots(self) -> Mapping[str, Slot]:
        return {key: slot for keys, slot in self._fields for key in keys}

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        return {slot.name: keys for keys, slot in self._fields}


@final
class _Deferred(Shape):
    """A field that only the whole value can check."""

    title = "a field that is checked with the whole"

    def check(self, value: Any, text: str | None = None) -> Any:
        raise Invalid([])


DEFERRED = _Deferred()


def _validator(node: Node, context: _Context) -> SchemaValidator:
    schema: Any = node
    if context.definitions:
        schema = {"type": "definitions", "schema": node, "definitions": list(context.definitions.values())}
    return SchemaValidator(schema, context.config)


def _shown(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _invalid(error: ValidationError) -> Invalid:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return Invalid([(each["loc"], each["msg"]) for each in details])


def _keys(name: str, field: Node, config: Mapping[str, Any]) -> tuple[str, ...]:
    """The JSON keys that this field is read from; a path of several steps is not one."""
    alias = field.get("validation_alias", field.get("alias"))
    if alias is None:
        return (name,)
    paths = [[alias]] if isinstance(alias, str) else [alias] if isinstance(alias[0], str) else alias
    keys = [path[0] for path in paths if len(path) == 1] if config.get("validate_by_alias", True) else []
    if config.get("populate_by_name") or config.get("validate_by_name"):
        keys.append(name)
    return tuple(keys)


def _asks_others(node: Node) -> bool:
    """Whether a validator around this field's value is given what the other fields hold."""
    while node["type"] in _WRAPPERS or node["type"] in _RESHAPERS or node["type"] == "function-plain":
        if node.get("function", {}).get("type") == "with-info" or node.get("default_factory_takes_data"):
            return True
        if "schema" not in node:
            return False
        node = node["schema"]
    return False


def _modern(type_: Any) -> Any:
    """The type with every `typing.TypedDict` in it, as far as it is written in generics, read as typing_extensions'."""
    if sys.version_info >= (3, 12):
        return type_
    if typing.is_typeddict(type_):
        hints = typing_extensions.get_type_hints(type_, include_extras=True)
        fields = {
            name: _modern(hint) if name in type_.__required_keys__ else typing_extensions.NotRequired[_modern(hint)]
            for name, hint in hints.items()
        }
        modern = typing_extensions.TypedDict(type_.__name__, fields)  # type: ignore[misc]
        modern.__pydantic_config__ = getattr(type_, "__pydantic_config__", {})  # type: ignore[attr-defined]
        return modern
    arguments = typing.get_args(type_)
    if typing.get_origin(type_) in (list, set, frozenset, tuple, dict):
        return typing.get_origin(type_)[tuple(each if each is ... else _modern(each) for each in arguments)]
    return type_
