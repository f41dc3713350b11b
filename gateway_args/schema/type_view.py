"""A type view says how a type is seen while its value grows: by fields, elements, members, an alternative, or whole.

`view_of` compiles a type once. Python types go through pydantic (`python_type_view`, extra `typed`), a JSON Schema
through jsonschema-rs (`json_schema_view`, extra `schema`); `Any` and `object` need neither and check nothing. What is
validated, and when, is the same for all: a field, element or member that is complete, by the type's own rules, once; of
a collection then the rules of its own (its length), its elements as they are; the whole value at the end.

A union is seen by its alternative from the moment that one alone is left: by the bracket that opened, or by a tag, a
field that is one of some texts in each of the alternatives (a discriminator, `Literal`, `const`, `enum`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
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
    UNION = "union"  # as its alternative is, once that is known
    WHOLE = "whole"


COLLECTIONS: Final = (Kind.ELEMENTS, Kind.MEMBERS)


@final
class Invalid(Exception):
    """A complete value that breaks the rules of its type: where in it, and what. Caught where a value is validated."""

    def __init__(self, problems: list[tuple[Path, str]]) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(slots=True, eq=False)
class Slot:
    """A declared field: its name in Python and its type."""

    name: str
    view: TypeView


class TypeView:
    """A type whose values are not checked; the base of those that are."""

    reads_text = False
    """Whether `check` reads the value's JSON text when it is given, and not the plain value."""
    title = "Any"
    identity = "Any"
    """Says which type it is, the same in every process."""

    def check(self, value: Any, text: str | None = None) -> Any:
        """The value as the type has it; `Invalid` when it breaks the rules."""
        return value

    def check_own(self, values: Any) -> Any:
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
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """The declared fields' names in Python, in order, each with the JSON keys that it may come under."""
        return {}

    @cached_property
    def item(self) -> TypeView | None:
        """The type of an element or member."""
        return None

    # ------------------------------------------------------------------------------- unions

    @cached_property
    def alternatives(self) -> Sequence[TypeView]:
        """The types of a union, unions in it taken apart."""
        return ()

    @cached_property
    def tags(self) -> Mapping[str, frozenset[str]]:
        """The fields that are one of these texts, by JSON key."""
        return {}

    @cached_property
    def containers(self) -> str:
        """The brackets that a value may open with: of "{[", all where the type does not say."""
        record = "{[" if self.positional else "{"
        return {Kind.FIELDS: record, Kind.MEMBERS: "{", Kind.ELEMENTS: "["}.get(self.kind, "{[")

    @cached_property
    def tag_keys(self) -> frozenset[str]:
        """The keys that may tell the alternatives apart."""
        return frozenset().union(*(each.tags for each in self.alternatives))

    def alternative(self, opener: str, member: Callable[[str], Any]) -> TypeView | None:
        """The one alternative that is left for a container, None while several are.

        `member` gives the complete member under a key, None where there is none.
        """
        left = [each for each in self.alternatives if opener in each.containers]
        for key in self.tag_keys:
            tag = member(key)
            if isinstance(tag, str):
                left = [each for each in left if tag in each.tags.get(key, (tag,))]
        return left[0] if len(left) == 1 else None

    # ------------------------------------------------------------------------------- looking inside

    def fits(self, value: Any) -> bool:
        """Whether this container, an object or a list, is one that the type is seen by."""
        match self.kind:
            case Kind.FIELDS:
                return isinstance(value, dict) or self.positional
            case Kind.MEMBERS:
                return isinstance(value, dict)
            case Kind.ELEMENTS:
                return isinstance(value, list)
        return self.kind is Kind.UNION

    def slot(self, step: str | int) -> Slot | None:
        """The declared field under this key, or at this index of a record that is written as a list."""
        if isinstance(step, str):
            return self.slots.get(step)
        names = list(self.names.values()) if self.positional else []
        return self.slots[names[step][0]] if step < len(names) else None

    def child(self, step: str | int) -> TypeView | None:
        """The declared type of the value behind this step."""
        if self.kind is Kind.FIELDS:
            slot = self.slot(step)
            return None if slot is None else slot.view
        return self.item


def resolved(view: TypeView, value: Any) -> TypeView:
    """The type that a union comes to for this container, whose members are complete; any other type is itself."""
    while view.kind is Kind.UNION:
        if not isinstance(value, dict | list):
            return view
        found = view.alternative("[", _none) if isinstance(value, list) else view.alternative("{", value.get)
        if found is None:
            return view
        view = found
    return view


def _none(key: str) -> None:
    return None


ANY: Final = TypeView()


def view_of(type_: Any, *, strict: bool = True) -> TypeView:
    """The view of this type or JSON Schema, compiled once for each; `strict` is how pydantic reads values."""
    if type_ is Any or type_ is object:
        return ANY
    if isinstance(type_, Mapping):
        try:
            return _schema_view(json.dumps(type_))
        except (TypeError, RecursionError) as error:
            raise ValueError(f"schema: expected JSON, got a value that is none: {error}") from None
    try:
        return _type_view(type_, strict)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        return _type_view.__wrapped__(type_, strict)


@lru_cache(maxsize=256)
def _type_view(type_: Any, strict: bool) -> TypeView:
    module = _reader("python_type_view", "pydantic", "typed", f"the type {getattr(type_, '__name__', type_)}")
    view: TypeView = module.python_type_view(type_, strict)
    return view


@lru_cache(maxsize=256)
def _schema_view(schema: str) -> TypeView:
    module = _reader("json_schema_view", "jsonschema_rs", "schema", "a JSON Schema")
    view: TypeView = module.json_schema_view(json.loads(schema))
    return view


def _reader(module: str, package: str, extra: str, what: str) -> Any:
    try:
        import_module(package)
    except ImportError:
        raise ModuleNotFoundError(f"{what} needs {package}: pip install 'gateway-args[{extra}]'") from None
    return import_module(f".{module}", __package__)
