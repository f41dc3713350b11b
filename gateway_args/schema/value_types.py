"""The value types of a JSON schema: what a tag syntax needs to know to write a value as JSON.

Decisions:

- A type is the set of JSON types that a schema admits, through `type`, `enum`, `const`, `nullable`, `allOf`, `anyOf`,
  `oneOf` and local `$ref`; `integer` is within `number`. Other keywords do not narrow it.
- `enum` and `const` also keep their scalar members, so that a text that could be two types is read as the one that
  is a member.
- Nothing here raises. What cannot be understood (an unknown type name, a reference that leads nowhere or to itself, a
  contradiction, a schema larger than the bounds below) says nothing about the value: it is `untyped`.
- Recursion is on the schema, never on model text, and bounded by `_MAX_NESTING` and `_MAX_NODES`. Types are computed
  on first use; two threads that race compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias, cast, final
from urllib.parse import unquote

JsonType: TypeAlias = Literal["string", "integer", "number", "boolean", "null", "object", "array"]
Scalar: TypeAlias = str | Decimal | bool | None

# A scalar member with its type: 1, True and "1" are three members.
_Members: TypeAlias = frozenset[tuple[JsonType, Scalar]] | None
# The types admitted, each with the members it is limited to (None: any value). None in place of it: untyped.
_Kinds: TypeAlias = dict[JsonType, _Members] | None

# "number" in `_Kinds` is the numbers that are not whole; the schema's `number` is both.
_TYPES: dict[str, tuple[JsonType, ...]] = {
    "string": ("string",),
    "integer": ("integer",),
    "number": ("integer", "number"),
    "boolean": ("boolean",),
    "null": ("null",),
    "object": ("object",),
    "array": ("array",),
}
_MAX_NESTING = 48  # combinators and references inside each other
_MAX_NODES = 4096  # subschemas visited for one answer: references can make a small schema exponentially large
_MAX_NUMBER = 512  # a longer number is a member of no enumeration


@final
class ValueType:
    """The type of one value: which JSON types it admits, and the types of what is inside it."""

    __slots__ = ("_items", "_keys", "_kinds", "_properties", "_root", "_schema")

    def __init__(self, schema: object, root: object = None) -> None:
        """`root` is the document that references are looked up in; None is the schema itself."""
        self._schema = schema
        self._root = schema if root is None else root
        self._kinds: _Kinds = _Walk(self._root).kinds(schema) or None
        self._keys: frozenset[str] | None = None
        # One entry a declared key, and one under None for all others, so that keys a model invents take no room.
        self._properties: dict[str | None, ValueType | None] = {}
        self._items: list[ValueType | None] = []

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
        return members is None or (kind, _scalar(kind, text)) in members

    @property
    def keys(self) -> frozenset[str]:
        """The properties that the schema names."""
        if self._keys is None:
            self._keys = frozenset(_Walk(self._root).keys(self._schema))
        return self._keys

    @property
    def items(self) -> ValueType | None:
        """The type of a list's items, or None when the schema says nothing about them."""
        if not self._items:
            self._items.append(self._inner(lambda walk: walk.items(self._schema)))
        return self._items[0]

    def property(self, key: str) -> ValueType | None:
        """The type of a property, or None when the schema says nothing about that key."""
        slot = key if key in self.keys else None
        if slot not in self._properties:
            self._properties[slot] = self._inner(lambda walk: walk.property(self._schema, slot))
        return self._properties[slot]

    def _inner(self, find: Callable[[_Walk], object]) -> ValueType | None:
        found = find(_Walk(self._root))
        return None if found is None else ValueType(found, self._root)

    def __repr__(self) -> str:
        return f"ValueType({'anything' if self._kinds is None else ' | '.join(self._kinds)})"


class _Walk:
    """One bounded walk over a schema and what it refers to."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._left = _MAX_NODES
        self._nesting = 0
        self._open: set[str] = set()

    def kinds(self, schema: object) -> _Kinds:
        if schema is False:
            return {}
        if not isinstance(schema, Mapping):
            return None
        found = _narrow(_named(schema.get("type")), _enumerated(schema))
        for way, branches in self._branches(schema):
            each = [self.kinds(branch) for branch in branches]
            if way == "all":
                for kinds in each:
                    found = _narrow(found, kinds)
            elif each:
                found = _narrow(found, _widen(each))
        if schema.get("nullable") is True and found is not None:
            found = dict(found)
            found["null"] = None
        return found

    def keys(self, schema: object) -> Iterator[str]:
        if isinstance(schema, Mapping):
            properties = schema.get("properties")
            if isinstance(properties, Mapping):
                yield from (key for key in properties if isinstance(key, str))
            for _, branches in self._branches(schema):
                for branch in branches:
                    yield from self.keys(branch)

    def property(self, schema: object, key: str | None) -> object:
        """The schema of a property, None when there is none; key None is every key that is not declared."""

        def own(node: Mapping[str, object]) -> object:
            properties = node.get("properties")
            if key is not None and isinstance(properties, Mapping) and key in properties:
                return properties[key]
            # Patterns would be the request's regular expressions run on the model's text: such keys stay untyped.
            rest = None if node.get("patternProperties") else node.get("additionalProperties")
            return rest if isinstance(rest, Mapping) else None

        return self._gather(schema, own)

    def items(self, schema: object) -> object:
        def own(node: Mapping[str, object]) -> object:
            # Items typed by position (`prefixItems`, or a list in the older drafts) are one union here.
            several: list[object] = []
            for name in ("prefixItems", "items"):
                match node.get(name):
                    case list() as listed:
                        several += listed
                    case Mapping() as one:
                        several.append(one)
            return _one_of("anyOf", several)

        return self._gather(schema, own)

    def _gather(self, schema: object, own: Callable[[Mapping[str, object]], object]) -> object:
        """One schema made of what each part of `schema` says by `own`."""
        if not isinstance(schema, Mapping):
            return None
        every = [own(schema)]
        for way, branches in self._branches(schema):
            found = [self._gather(branch, own) for branch in branches]
            if way == "all":
                every += found
            else:
                every.append(_one_of("anyOf", [part for part in found if part is not None]))
        return _one_of("allOf", [part for part in every if part is not None])

    def _branches(self, schema: Mapping[str, object]) -> Iterator[tuple[Literal["all", "any"], Sequence[object]]]:
        """The subschemas that a value has to meet all, or any, of; nothing beyond the bounds."""
        self._left -= 1
        if self._left < 0 or self._nesting >= _MAX_NESTING:
            return
        self._nesting += 1
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in self._open:
            self._open.add(reference)
            yield "all", [self._resolved(reference)]
            self._open.discard(reference)
        for name, way in (("allOf", "all"), ("anyOf", "any"), ("oneOf", "any")):
            branches = schema.get(name)
            if isinstance(branches, list):
                yield cast('Literal["all", "any"]', way), branches
        self._nesting -= 1

    def _resolved(self, reference: str) -> object:
        """What a local reference (a JSON pointer after `#`) points at; True, which says nothing, when it is none."""
        path, *steps = reference.split("/")
        if path != "#":
            return True
        node = self._root
        for step in steps:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isascii() and key.isdigit() and len(key) < 6 and int(key) < len(node):
                node = node[int(key)]
            else:
                return True
        return node


def _one_of(keyword: str, parts: list[object]) -> object:
    """The parts as one schema: none, the part itself, or a combination."""
    if len(parts) > 1:
        return {keyword: parts}
    return parts[0] if parts else None


def _narrow(one: _Kinds, other: _Kinds) -> _Kinds:
    """What both admit. A contradiction is no type at all; `ValueType` reads that as untyped."""
    if one is None or other is None:
        return other if one is None else one
    found: dict[JsonType, _Members] = {}
    for kind in one.keys() & other.keys():
        mine, theirs = one[kind], other[kind]
        members = mine & theirs if mine is not None and theirs is not None else theirs if mine is None else mine
        if members is None or members:
            found[kind] = members
    return found


def _widen(each: list[_Kinds]) -> _Kinds:
    """What any of them admits."""
    found: dict[JsonType, _Members] = {}
    for kinds in each:
        if kinds is None:
            return None
        for kind, members in kinds.items():
            mine = found.get(kind, frozenset())
            found[kind] = None if mine is None or members is None else mine | members
    return found


def _named(declared: object) -> _Kinds:
    found: dict[JsonType, _Members] = {}
    for name in declared if isinstance(declared, list) else [declared]:
        if not isinstance(name, str) or name not in _TYPES:
            return None
        found.update(dict.fromkeys(_TYPES[name]))
    return found or None


def _enumerated(schema: Mapping[str, object]) -> _Kinds:
    found: _Kinds = None
    values = schema.get("enum")
    if isinstance(values, list) and values:
        found = _widen([_member(value) for value in values])
    if "const" in schema:
        found = _narrow(found, _member(schema["const"]))
    return found


def _member(value: object) -> _Kinds:
    match value:
        case None:
            return {"null": None}
        case bool():
            return {"boolean": frozenset({("boolean", value)})}
        case str():
            return {"string": frozenset({("string", value)})}
        case int() | float():
            number = _number(repr(value))
            if number is None:
                return None
            kind: JsonType = "integer" if number == number.to_integral_value() else "number"
            return {kind: frozenset({(kind, number)})}
        case Mapping():
            return {"object": None}
        case list():
            return {"array": None}
        case _:
            return None


def _scalar(kind: JsonType, text: str) -> Scalar:
    match kind:
        case "integer" | "number":
            return _number(text)
        case "boolean":
            return text == "true"
        case _:
            return text


def _number(text: str) -> Decimal | None:
    if len(text) > _MAX_NUMBER:
        return None
    try:
        number = Decimal(text)
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MAX_NUMBER else None
