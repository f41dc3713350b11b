"""The value types of a JSON schema: what a tag syntax needs to know to write a value as JSON.

Decisions:

- A type is the set of JSON types that a schema admits, through `type`, `enum`, `const`, `nullable`, `allOf`, `anyOf`,
  `oneOf` and `$ref` within the schema; `integer` is within `number`. Other keywords do not narrow it.
- `enum` and `const` also keep their scalar members, so that a text that could be two types is read as the one that
  is a member.
- Nothing here raises. What cannot be understood (an unknown type name, a reference that leads nowhere or to itself, a
  contradiction, what lies beyond the bounds of `expressions`) says nothing about the value: it is `untyped`, and its
  text decides by its own look.
- The types found are kept in tables that are emptied when they are full: they save work and decide nothing, so memory
  is bounded and a type is a function of the schema and the path alone. Two threads that race compute the same.
"""

from __future__ import annotations

from typing import final

from .expressions import ITEMS, MAX_TABLE, REST, Choice, Expression, Expressions, Step, Tags, leaves_of
from .kinds import JsonType, Kinds, scalar

__all__ = ["JsonType", "Tags", "ValueType"]


@final
class ValueType:
    """The type of one value: which JSON types it admits, and the types of what is inside it."""

    __slots__ = ("_expression", "_keys", "_kinds", "_types")

    def __init__(self, schema: object) -> None:
        types = _Types(schema)
        self._set(types, types.expressions.of(schema, types.expressions.references.root))

    def _set(self, types: _Types, expression: Expression) -> None:
        self._types = types
        self._expression = expression
        self._kinds: Kinds = types.expressions.kinds(expression) or None
        self._keys: frozenset[str] | None = None

    @property
    def untyped(self) -> bool:
        """The schema says nothing about the type."""
        return self._kinds is None

    @property
    def only_string(self) -> bool:
        """A string, or a string or null: the text itself is the value, and can be sent as it grows."""
        return self._kinds is not None and "string" in self._kinds and self._kinds.keys() <= {"string", "null"}

    @property
    def nullable(self) -> bool:
        return self.admits("null")

    def admits(self, kind: JsonType) -> bool:
        """`number` asks for numbers that are not whole; an untyped value admits everything."""
        return self._kinds is None or kind in self._kinds

    def has_member(self, kind: JsonType, text: str) -> bool:
        """Whether a value of this type is one that the schema allows: `text` is a string's text, else its JSON."""
        if self._kinds is None:
            return True
        if kind not in self._kinds:
            return False
        members = self._kinds[kind]
        return members is None or (kind, scalar(kind, text)) in members

    @property
    def keys(self) -> frozenset[str]:
        """The properties that the schema names."""
        if self._keys is None:
            self._keys = frozenset().union(*(leaf.keys for leaf in leaves_of(self._expression)))
        return self._keys

    def declares(self, key: str) -> bool:
        """Whether the schema names this property."""
        return any(key in leaf.keys for leaf in leaves_of(self._expression))

    @property
    def items(self) -> ValueType | None:
        """The type of a list's items, or None when the schema says nothing about them."""
        return self._types.inside(self._expression, ITEMS)

    def property(self, key: str) -> ValueType | None:
        """The type of a property, or None when the schema says nothing about that key."""
        return self._types.inside(self._expression, key if self.declares(key) else REST)

    def tells(self, key: str) -> bool:
        """Whether a property of this name may tell alternatives apart: the scalars that it admits are listed."""
        if not any(isinstance(part, Choice) or part.choices or part.every for part in self._expression):
            return False
        found = self.property(key)
        return found is not None and found._kinds is not None and any(found._kinds.values())

    def tag(self, key: str, kind: JsonType, text: str) -> Tags:
        """What a property with this scalar says of the object it is in: nothing, where no enumeration lists it."""
        found = self.property(key)
        if found is None or found._kinds is None or not found._kinds.get(kind) or not found.has_member(kind, text):
            return frozenset()
        return frozenset({(key, kind, scalar(kind, text))})

    def settled(self, tags: Tags) -> ValueType:
        """What is left of the type of an object that has these members."""
        return self._types.settled(self._expression, tags) if tags else self

    def __repr__(self) -> str:
        return f"ValueType({'anything' if self._kinds is None else ' | '.join(self._kinds)})"


class _Types:
    """The types in one schema: equal ones are one object, while the table has room."""

    __slots__ = ("_inside", "_types", "expressions")

    def __init__(self, schema: object) -> None:
        self.expressions = Expressions(schema)
        self._types: dict[Expression, ValueType] = {}
        self._inside: dict[tuple[Expression, Step], ValueType | None] = {}

    def inside(self, expression: Expression, step: Step) -> ValueType | None:
        """The type of an item or a property, None when nothing is said of it."""
        key = expression, step
        if key in self._inside:
            return self._inside[key]
        found = self.expressions.find(expression, step)
        type = None if found is None else self._type(found)
        if len(self._inside) >= MAX_TABLE:
            self._inside.clear()
        self._inside[key] = type
        return type

    def settled(self, expression: Expression, tags: Tags) -> ValueType:
        return self._type(self.expressions.settle(expression, tags))

    def _type(self, expression: Expression) -> ValueType:
        found = self._types.get(expression)
        if found is None:
            if len(self._types) >= MAX_TABLE:
                self._types.clear()
            found = self._types[expression] = ValueType.__new__(ValueType)
            found._set(self, expression)
        return found
