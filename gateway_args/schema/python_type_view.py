"""The view of a Python type, read from the core schema that pydantic builds for it.

Each field, element and member gets the validator of its own part of that schema, so its constraints and its field
validators hold as they do in the whole. Decisions:
- Values are checked in pydantic's JSON mode, from their text, as `validate_json` checks the whole; strictly or not, as
  the caller asked.
- A field whose validator asks for the other fields (`info`) is checked at the end alone, and so is what wraps a record
  (model validators).
- Elements are seen one by one in `list`, `set`, `frozenset`, `Sequence` and `tuple[T, ...]`, members in `dict` and
  `Mapping` with string keys, through `None`-able and defaulted types too. A collection or a union behind a validator
  that reshapes its input is seen whole.
- `typing.TypedDict`, which pydantic refuses before Python 3.12, is read as the one of typing_extensions.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import SchemaValidator

from .core_schema import LISTS, RECORDS, Definitions, Node, choices_of, fields_of, texts_of
from .type_view import Invalid, Kind, Slot, TypeView
from .typed_dicts import modern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WRAPPERS = {"default", "nullable", "function-after"}
_RESHAPERS = {"function-before", "function-wrap"}
# What never takes an object or a list; of any other type that is not seen into, nothing is known.
_SCALARS = {
    *("bool", "bytes", "complex", "date", "datetime", "decimal", "enum", "float", "int", "literal", "multi-host-url"),
    *("none", "str", "time", "timedelta", "url", "uuid"),
}


class _Context(NamedTuple):
    """What a part of a schema needs from the whole: shared definitions, strictness, the configuration around it."""

    definitions: Definitions
    strict: bool
    config: Any


def python_type_view(type_: Any, strict: bool) -> TypeView:
    """The view of this type; `TypeError` when pydantic has no schema for it."""
    name = getattr(type_, "__name__", str(type_))
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(modern(type_))
    except (PydanticUserError, NameError, TypeError) as error:
        raise TypeError(f"expected a type that pydantic knows, got {type_!r}: {error}") from error
    definitions = Definitions(dict(adapter.core_schema))
    view = PythonTypeView(definitions.resolve(dict(adapter.core_schema)), _Context(definitions, strict, None), name)
    view.validator = adapter.validator  # type: ignore[assignment]
    view.identity = _identity(type_, adapter)
    return view


def _identity(type_: Any, adapter: TypeAdapter[Any]) -> str:
    name = f"{type_.__module__}.{type_.__qualname__}" if isinstance(type_, type) else repr(type_)
    try:
        form: Any = adapter.json_schema()
    except (PydanticInvalidForJsonSchema, RecursionError):
        form = None
    return hashlib.sha256(json.dumps([name, form], sort_keys=True, default=repr).encode()).hexdigest()


@final
class PythonTypeView(TypeView):
    """A part of pydantic's schema, seen as a type; everything about it is found out on first use."""

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
            return self.validator.validate_json(
                json.dumps(value) if text is None else text, strict=self._context.strict or None
            )
        except ValidationError as error:
            if text is not None and any(each["type"] == "json_invalid" for each in error.errors(include_input=False)):
                return self.check(value)  # pydantic reads no raw control characters
            raise _invalid(error) from None
        except RecursionError:
            raise Invalid([((), "nested too deep to be checked")]) from None
        except Exception as error:
            raise Invalid([((), _shown(error))]) from error

    def check_own(self, values: Any) -> Any:
        try:
            return self._own_validator.validate_python(values, strict=False)
        except ValidationError as error:
            raise _invalid(error) from None
        except Exception as error:
            raise Invalid([((), _shown(error))]) from error

    @cached_property
    def _own_validator(self) -> SchemaValidator:
        return _validator(self._emptied(self._node), self._context)

    def _emptied(self, node: Node) -> Node:
        """This collection's schema with elements or members that are taken as they are."""
        node = {key: value for key, value in node.items() if key != "ref"}
        match node["type"]:
            case "definitions" | "definition-ref":
                return self._emptied(self._context.definitions.resolve(node))
            case "json-or-python":
                return self._emptied(node["json_schema"])
            case "lax-or-strict":
                return self._emptied(node["strict_schema" if self._context.strict else "lax_schema"])
            case "tuple":
                return {**node, "items_schema": [{"type": "any"}]}
            case "dict":
                return {**node, "values_schema": {"type": "any"}}
            case kind if kind in LISTS:
                return {**node, "items_schema": {"type": "any"}}
        return {**node, "schema": self._emptied(node["schema"])}

    @cached_property
    def _core(self) -> tuple[Node, Any]:
        """The record or collection inside the wrappers, and the configuration that holds in it."""
        node, config, reshaped = self._node, self._context.config, False
        while True:
            node = self._context.definitions.resolve(node)
            kind = node["type"]
            if kind == "json-or-python":
                node = node["json_schema"]
            elif kind == "lax-or-strict":
                node = node["strict_schema" if self._context.strict else "lax_schema"]
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
        if reshaped and node["type"] not in RECORDS:
            node = {"type": "any"}
        return node, node.get("config", config)

    @cached_property
    def kind(self) -> Kind:
        node = self._core[0]
        kind = node["type"]
        if kind in RECORDS:
            return Kind.FIELDS
        if (kind in LISTS and "items_schema" in node) or (
            kind == "tuple" and node.get("variadic_item_index") == 0 and len(node["items_schema"]) == 1
        ):
            return Kind.ELEMENTS
        if kind == "dict" and "values_schema" in node and node.get("keys_schema", {"type": "str"})["type"] == "str":
            return Kind.MEMBERS
        return Kind.UNION if kind in ("union", "tagged-union") else Kind.WHOLE

    @cached_property
    def positional(self) -> bool:
        return self._core[0]["type"] in ("named-tuple", "arguments")

    def _part(self, node: Node, title: str) -> PythonTypeView:
        return PythonTypeView(node, self._context._replace(config=self._core[1]), title)

    @cached_property
    def item(self) -> TypeView | None:
        node = self._core[0]
        if self.kind is Kind.MEMBERS:
            return self._part(node["values_schema"], f"{self.title}[...]")
        if self.kind is Kind.ELEMENTS:
            item = node["items_schema"][0] if node["type"] == "tuple" else node["items_schema"]
            return self._part(item, f"{self.title}[...]")
        return None

    @cached_property
    def alternatives(self) -> Sequence[TypeView]:
        if self.kind is not Kind.UNION:
            return ()
        return [self._part(choice, self.title) for choice in choices_of(self._core[0])]

    @cached_property
    def tags(self) -> Mapping[str, frozenset[str]]:
        if self.kind is Kind.UNION:  # what every alternative in it says
            each = [inner.tags for inner in self.alternatives]
            keys = frozenset(each[0]).intersection(*each[1:]) if each else ()
            return {key: frozenset().union(*(tags[key] for tags in each)) for key in keys}
        found = {}
        for key, slot in self.slots.items():
            texts = texts_of(slot.view._core[0]) if isinstance(slot.view, PythonTypeView) else None
            if texts is not None:
                found[key] = frozenset(texts)
        return found

    @cached_property
    def containers(self) -> str:
        if self.kind is Kind.UNION:
            return "".join(bracket for bracket in "{[" if any(bracket in each.containers for each in self.alternatives))
        return "" if self._core[0]["type"] in _SCALARS else super().containers

    @cached_property
    def _fields(self) -> list[tuple[tuple[str, ...], Slot]]:
        """The JSON keys of each field, and its slot; a field that is never read from JSON is none."""
        node, config = self._core
        if self.kind is not Kind.FIELDS:
            return []
        found = []
        for name, each in fields_of(node):
            if each.get("init", True):
                view = DEFERRED if _asks_others(each["schema"]) else self._part(each["schema"], name)
                found.append((_keys(name, each, config or {}), Slot(name, view)))
        return found

    @cached_property
    def slots(self) -> Mapping[str, Slot]:
        return {key: slot for keys, slot in self._fields for key in keys}

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        if self.kind is Kind.UNION:
            return {name: keys for each in self.alternatives for name, keys in each.names.items()}
        return {slot.name: keys for keys, slot in self._fields}


@final
class _Deferred(TypeView):
    """A field that only the whole value can check."""

    title = "a field that is checked with the whole"

    def check(self, value: Any, text: str | None = None) -> Any:
        raise Invalid([])


DEFERRED = _Deferred()


def _validator(node: Node, context: _Context) -> SchemaValidator:
    schema: Any = node
    if context.definitions.by_name:
        schema = {"type": "definitions", "schema": node, "definitions": list(context.definitions.by_name.values())}
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
