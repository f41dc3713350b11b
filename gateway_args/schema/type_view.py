"""A shape says how a type is seen while its value grows: by its fields, its elements, its members, or only whole.

`shape_of` compiles a type once. Python types go through pydantic (`models`, extra `typed`), a JSON Schema through
jsonschema-rs (`schemas`, extra `schema`); `Any` and `object` need neither and check nothing. What is validated, and
when, is the same for all: a field, element or member that is complete, by the type's own rules, once; of a collection
then the rules of its own (its length), its elements as they are; the whole value at the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from .path import Path


class Kind(StrEnum):
    """How a value of this type is seen before it is complete."""

    FIELDS = "fields"  # declared names, each with a type of its own
    ELEMENTS = "elements"  # a list of one type
    MEMBERS = "members"  # an object of one type under any key
    WHOLE = "whole"


COLLECTIONS: Final = (Kind.ELEMENTS, Kind.MEMBERS)


@final
class Invalid(Exception):
    """A complete value that breaks the rules of its type: where in it, and what. Caught where a value is settled."""

    def __init__(self, faults: list[tuple[Path, str]]) -> None:
        super().__init__(faults)
        self.faults = faults


@dataclass(slots=True, eq=False)
class Slot:
    """A declared field: its name in Python and its shape."""

    name: str
    shape: Shape


class Shape:
    """A type whose values are not checked; the base of those that are."""

    reads_text = False
    """Whether `check` reads the value's JSON text when it is given, and not the plain value."""
    title = "Any"

    def check(self, value: Any, text: str | None = None) -> Any:
        """The value as the type has it; `Invalid` when it breaks the rules."""
        return value

    def shell(self, values: Any) -> Any:
        """The collection of these validated elements or members, by its own rules alone; `Invalid`."""
        return values

    @cached_property
    def kind(self) -> Kind:
        return Kind.WHOLE

    @cached_property
    def positional(self) -> bool:
        """Whether a record may be written as a list, in the order of its fields."""
        return False

    @cached_property
    def slots(self) -> Mapping[str, Slot]:
        """The declared fields by their JSON keys."""
        return {}

    @cached_property
    def collections(self) -> tuple[str, ...]:
        """The keys of the declared fields that are collections."""
        return tuple(key for key, slot in self.slots.items() if slot.shape.kind in COLLECTIONS)

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """The declared fields' names in Python, in order, each with the JSON keys that it may come under."""
        return {}

    @cached_property
    def item(self) -> Shape | None:
        """The shape of an element or member."""
        return None

    def fits(self, value: Any) -> bool:
        """Whether this container is the one that the type is seen by, an object or a list."""
        return isinstance(value, list) if self.kind is Kind.ELEMENTS else isinstance(value, dict) or self.positional

    def slot(self, step: str | int) -> Slot | None:
        """The declared field under this key, or at this index of a record that is written as a list."""
        if isinstance(step, str):
            return self.slots.get(step)
        names = list(self.names.values()) if self.positional else []
        return self.slots[names[step][0]] if step < len(names) else None

    def child(self, step: str | int) -> Shape | None:
        """The declared shape of the value behind this step."""
        if self.kind is Kind.FIELDS:
            slot = self.slot(step)
            return None if slot is None else slot.shape
        return self.item


ANY = Shape()


def shape_of(type_: Any) -> Shape:
    """The shape of this type or JSON Schema, compiled once for each."""
    if type_ is Any or type_ is object:
        return ANY
    if isinstance(type_, Mapping):
        return _schema_shape(json.dumps(type_))
    try:
        return _type_shape(type_)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        return _type_shape.__wrapped__(type_)


@lru_cache(maxsize=256)
def _type_shape(type_: Any) -> Shape:
    module = _reader("python_type_view", "pydantic", "typed", f"the type {getattr(type_, '__name__', type_)}")
    shape: Shape = module.model_shape(type_)
    return shape


@lru_cache(maxsize=256)
def _schema_shape(schema: str) -> Shape:
    module = _reader("json_schema_view", "jsonschema_rs", "schema", "a JSON Schema")
    shape: Shape = module.schema_shape(json.loads(schema))
    return shape


def _reader(module: str, package: str, extra: str, what: str) -> Any:
    try:
        import_module(package)
    except ImportError:
        raise ModuleNotFoundError(f"{what} needs {package}: pip install 'gateway-args[{extra}]'") from None
    return import_module(f".{module}", __package__)
