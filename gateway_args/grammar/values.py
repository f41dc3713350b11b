"""Values that are no JSON, as trees by their schema: Python's literals, Gemma's, and elements inside elements.

The targets know JSON Schema for JSON alone, so for the other languages this is written out here: types, `enum`,
`const`, `properties`, `required`, `items`, their bounds, unions, `$ref`. What is not said is noted: `unenforced` where
a tree allows more than its schema, `narrowed` where it allows less. An object has its declared properties in their
order; others are left out, since no grammar can keep a model from giving one twice, which is no reading.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from .nodes import (
    EMPTY,
    NOTHING,
    SPACE,
    Choice,
    Free,
    Json,
    Literal,
    Node,
    Pattern,
    Quoted,
    Rule,
    choice,
    optional,
    repeated,
    separated,
    sequence,
)
from .schemas import pointed

Schema = Mapping[str, Any]

INTEGER: Final = Pattern("-?(0|[1-9][0-9]{0,60})")
NUMBER: Final = Pattern(r"-?(0|[1-9][0-9]{0,60})(\.[0-9]{1,60})?([eE][+-]?[0-9]{1,2})?")
_TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
_TEXT_KEYS: Final = ("minLength", "maxLength", "pattern", "format")
_NUMBER_KEYS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OTHER_KEYS: Final = (
    *("not", "if", "then", "else", "patternProperties", "propertyNames", "minProperties", "maxProperties"),
    *("dependentRequired", "dependentSchemas", "dependencies", "contains", "uniqueItems", "prefixItems"),
    *("unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains"),
)
_DEEP: Final = 24


class Values:
    """What the values of one constraint share: named rules, and the notes on how they differ from their schemas."""

    def __init__(self) -> None:
        self.rules: dict[str, Node] = {}
        self.unenforced: dict[str, None] = {}
        self.narrowed: dict[str, None] = {}

    def closed(self, schema: Schema, where: str) -> None:
        """Notes that an object's undeclared properties are left out, where its schema lets them in."""
        extra = schema.get("additionalProperties")
        if extra is not None and extra is not False:
            self.narrowed[f"{where}: additionalProperties"] = None

    def note(self, schema: Schema, keys: Iterable[str], where: str) -> None:
        for key in keys:
            if key in schema:
                self.unenforced[f"{where}: {key}"] = None

    def text_bounds(self, schema: Schema, where: str) -> None:
        self.note(schema, (*_TEXT_KEYS, *_OTHER_KEYS), where)

    def resolved(self, schema: object, root: Schema) -> dict[str, Any]:
        """The schema with the references at its top followed, what names nothing left out; true is that of anything."""
        seen = 0
        while isinstance(schema, Mapping) and "$ref" in schema and seen < _DEEP:
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            target = pointed(root, schema["$ref"])
            if target is None:
                self.unenforced[f"{schema['$ref']}: $ref"] = None
            schema = {**target, **rest} if isinstance(target, Mapping) else target
            seen += 1
        if schema is False:
            return {"enum": []}
        return dict(schema) if isinstance(schema, Mapping) else {}

    def rooted(self, schema: Schema, root: Schema) -> dict[str, Any]:
        """The schema as one of its own, with the definitions that its references name."""
        kept = {key: root[key] for key in ("$defs", "definitions") if key in root}
        return {**kept, **schema}

    def types(self, schema: Schema) -> frozenset[str]:
        """The JSON types that a value may have."""
        if "const" in schema:
            return frozenset([type_of(schema["const"])])
        found = frozenset(_TYPES)
        if isinstance(schema.get("enum"), list):
            found &= {type_of(value) for value in schema["enum"]}
        given = schema.get("type")
        if isinstance(given, str):
            found &= {given, "integer"} if given == "number" else {given}
        elif isinstance(given, list):
            found &= {*given, "integer"} if "number" in given else set(given)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                found &= frozenset().union(*(self.types(part) for part in schema[key] if isinstance(part, Mapping)))
        for part in schema.get("allOf", ()):
            if isinstance(part, Mapping):
                found &= self.types(part)
        return found

    def words(self, schema: Schema, as_text: bool = False) -> list[str] | None:
        """The strings that an `enum` or `const` allows, `as_text` the JSON of other values too; None without either."""
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if not isinstance(values, list):
            return None
        return [
            value if isinstance(value, str) else json.dumps(value)
            for value in values
            if as_text or isinstance(value, str)
        ]


def type_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case None:
            return "null"
        case list():
            return "array"
    return "object"


class Dialect(NamedTuple):
    """How a language of literals spells what JSON spells its own way."""

    name: str
    true: Node
    false: Node
    null: Node
    strings: tuple[Quoted, ...] = ()
    """The ways of writing any string."""
    bare_keys: bool = False
    delimiter: str = ""
    """Stands on each side of a string that holds any other text, where the language has one."""
    typed: bool = False
    """Every argument stands between delimiters, whatever its type."""

    def without(self, excludes: tuple[str, ...], name: str) -> Dialect:
        """The same with strings that do not hold these texts; `name` keeps its rules apart."""
        return self._replace(strings=tuple(replace(string, excludes=excludes) for string in self.strings), name=name)


PYTHON: Final = Dialect(
    "python",
    Choice((Literal("True"), Literal("true"))),
    Choice((Literal("False"), Literal("false"))),
    Choice((Literal("None"), Literal("null"))),
    (Quoted("'"), Quoted('"')),
)
JSON: Final = Dialect("json", Literal("true"), Literal("false"), Literal("null"), (Quoted('"', json=True),))
GEMMA: Final = Dialect(
    "gemma",
    Literal("true"),
    Literal("false"),
    Choice((Literal("null"), Literal("None"))),
    bare_keys=True,
    delimiter='"',
)


class LiteralValues:
    """Values and members in a language of literals."""

    def __init__(self, values: Values, dialect: Dialect) -> None:
        self._values = values
        self._dialect = dialect

    def top(self, schema: Schema, where: str) -> Node:
        """An arguments object in braces, its values between delimiters where the language types them."""
        if not self._dialect.typed:
            return sequence(Literal("{"), self.members(schema, schema, where, "", ":"), Literal("}"))
        inner = LiteralValues(self._values, PYTHON.without((self._dialect.delimiter,), "inner"))
        delimiter = Literal(self._dialect.delimiter)
        items = []
        for key, one in self._properties(schema):
            value = self._values.resolved(one, schema)
            if "string" in self._values.types(value):
                written = self._text(value, f"{where}.{key}")
            else:
                written = sequence(delimiter, inner.value(value, schema, f"{where}.{key}"), delimiter)
            items.append((sequence(Literal(f"{key}:"), written), key in schema.get("required", ())))
        return sequence(Literal("{"), joined(items), Literal("}"))

    def members(self, schema: Schema, root: Schema, where: str, quote: str, colon: str) -> Node:
        """The declared members, joined by commas; a key stands between quotes or bare."""
        items = []
        for key, one in self._properties(schema):
            name = self.text(key) if quote else Literal(key)
            value = self.value(self._values.resolved(one, root), root, f"{where}.{key}", _reference(one))
            space = SPACE if colon == ":" else EMPTY
            items.append((sequence(name, Literal(colon), space, value), key in schema.get("required", ())))
        return joined(items)

    def _properties(self, schema: Schema) -> list[tuple[str, object]]:
        found = schema.get("properties", {})
        return list(found.items()) if isinstance(found, Mapping) else []

    def text(self, text: str) -> Node:
        """This one string, in each way of quoting."""
        if self._dialect.delimiter:
            return sequence(Literal(self._dialect.delimiter), Literal(text), Literal(self._dialect.delimiter))
        body = json.dumps(text, ensure_ascii=False)[1:-1]
        if len(self._dialect.strings) == 1:
            return Literal(f'"{body}"')
        single = body.replace('\\"', '"').replace("'", "\\'")
        return choice([Literal(f"'{single}'"), Literal(f'"{body}"')])

    def value(self, schema: Schema, root: Schema, where: str, reference: str = "") -> Node:
        """Any value that the schema describes; one behind a reference is a rule, since it may hold itself."""
        if reference:
            name = f"{self._dialect.name}_{_word(reference)}_{_word(where.partition('.')[0])}"
            if name not in self._values.rules:
                self._values.rules[name] = NOTHING  # taken, while its inside is made
                self._values.rules[name] = self._one(schema, root, where)
            return Rule(name)
        return self._one(schema, root, where)

    def _one(self, schema: Schema, root: Schema, where: str) -> Node:
        if "const" in schema:
            return self.constant(schema["const"])
        if isinstance(schema.get("enum"), list):
            return choice(map(self.constant, schema["enum"]))
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                rest = {k: v for k, v in schema.items() if k != key and k not in ("$defs", "definitions")}
                if key == "oneOf":
                    self._values.note(schema, ("oneOf",), where)
                parts = [
                    self.value({**rest, **self._values.resolved(part, root)}, root, where, _reference(part))
                    for part in schema[key]
                ]
                return choice(parts)
        if isinstance(schema.get("allOf"), list):
            merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                merged = _merged(merged, self._values.resolved(part, root))
            return self._one(merged, root, where)
        self._values.note(schema, _OTHER_KEYS, where)
        types = [kind for kind in _TYPES if kind in self._values.types(schema)]
        if "type" not in schema and "properties" not in schema and "items" not in schema:
            return self._anything()
        if "type" not in schema:
            types = ["object"] if "properties" in schema else ["array"]
        if "number" in types and "integer" in types:
            types.remove("integer")
        return choice(self._typed(kind, schema, root, where) for kind in types)

    def _typed(self, kind: str, schema: Schema, root: Schema, where: str) -> Node:
        dialect = self._dialect
        match kind:
            case "string":
                return self._text(schema, where)
            case "integer":
                self._values.note(schema, _NUMBER_KEYS, where)
                return INTEGER
            case "number":
                self._values.note(schema, _NUMBER_KEYS, where)
                return NUMBER
            case "boolean":
                return choice([dialect.true, dialect.false])
            case "null":
                return dialect.null
            case "array":
                if "items" in schema:
                    one = schema["items"]
                    item = self.value(self._values.resolved(one, root), root, f"{where}[]", _reference(one))
                else:
                    item = self._anything()
                return sequence(Literal("["), counted(item, schema), Literal("]"))
        if "properties" not in schema:
            return self._map(schema, root, where)
        self._values.closed(schema, where)
        inner = self.members(schema, root, where, "" if dialect.bare_keys else "'", ":")
        return sequence(Literal("{"), inner, Literal("}"))

    def _text(self, schema: Schema, where: str) -> Node:
        self._values.note(schema, _TEXT_KEYS, where)
        words = self._values.words(schema)
        if words is not None:
            return choice(map(self.text, words))
        delimiter = self._dialect.delimiter
        if delimiter:
            return sequence(Literal(delimiter), Free((delimiter,), delimiter))
        return choice(self._dialect.strings)

    def _map(self, schema: Schema, root: Schema, where: str) -> Node:
        """An object without declared properties."""
        extra = schema.get("additionalProperties")
        if extra is False:
            return Literal("{}")
        value = (
            self._anything()
            if extra in (None, True)
            else self.value(self._values.resolved(extra, root), root, f"{where}.*", _reference(extra))
        )
        return self._any_members(value)

    def _any_members(self, value: Node) -> Node:
        """An object of any keys, in braces."""
        bare = Pattern("[A-Za-z_][A-Za-z0-9_]{0,63}")
        key = bare if self._dialect.bare_keys else choice(self._dialect.strings)
        member = sequence(key, Literal(":"), SPACE, value)
        return sequence(Literal("{"), optional(separated(member, sequence(Literal(","), SPACE))), Literal("}"))

    def _anything(self) -> Node:
        """A value that no schema describes."""
        name = f"{self._dialect.name}_anything"
        if name not in self._values.rules:
            self._values.rules[name] = NOTHING
            dialect = self._dialect
            delimiter = dialect.delimiter
            strings = (sequence(Literal(delimiter), Free((delimiter,), delimiter)),) if delimiter else dialect.strings
            self._values.rules[name] = choice(
                [
                    *strings,
                    *(NUMBER, dialect.true, dialect.false, dialect.null),
                    sequence(Literal("["), counted(Rule(name), {}), Literal("]")),
                    self._any_members(Rule(name)),
                ]
            )
        return Rule(name)

    def constant(self, value: object) -> Node:
        """This one value."""
        dialect = self._dialect
        match value:
            case bool():
                return dialect.true if value else dialect.false
            case None:
                return dialect.null
            case str():
                return self.text(value)
            case list():
                items = [self.constant(item) for item in value]
                return sequence(Literal("["), *_between(items), Literal("]"))
            case dict():
                members = [
                    sequence(
                        Literal(key) if dialect.bare_keys else self.text(key), Literal(":"), SPACE, self.constant(item)
                    )
                    for key, item in value.items()
                ]
                return sequence(Literal("{"), *_between(members), Literal("}"))
        return Literal(json.dumps(value))


class ElementValues:
    """Values as elements inside elements: an element a member, its items under the key `item`."""

    def __init__(self, values: Values, opener: str, closer: str, excludes: tuple[str, ...]) -> None:
        self._values = values
        self._opener = opener
        self._closer = closer
        self._excludes = excludes

    def members(self, schema: Schema, where: str, root: Schema | None = None) -> Node:
        root = schema if root is None else root
        found = []
        for key, one in schema.get("properties", {}).items():
            value = self._values.resolved(one, root)
            element = self._element(key, value, root, f"{where}.{key}", _reference(one))
            found.append(element if key in schema.get("required", ()) else optional(element))
        return sequence(*found)

    def _element(self, key: str, schema: Schema, root: Schema, where: str, reference: str) -> Node:
        close = self._closer.replace("{name}", key)
        return sequence(
            Literal(self._opener.replace("{name}", key)), self._inner(schema, root, where, reference, close)
        )

    def _inner(self, schema: Schema, root: Schema, where: str, reference: str, close: str) -> Node:
        """The value and the closer of its element."""
        if reference:
            name = f"elements_{_word(reference)}_{_word(where.partition('.')[0])}_{_word(close)}"
            if name not in self._values.rules:
                self._values.rules[name] = NOTHING
                self._values.rules[name] = self._inner(schema, root, where, "", close)
            return Rule(name)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                parts = [
                    part for part in schema[key] if self._values.types(self._values.resolved(part, root)) != {"null"}
                ]
                if len(parts) == 1:
                    return self._inner(self._values.resolved(parts[0], root), root, where, "", close)
        types = self._values.types(schema)
        if "string" in types:
            words = self._values.words(schema)
            self._values.text_bounds(schema, where)
            if words is not None:
                return sequence(choice(map(Literal, words)), Literal(close))
            return Free(self._excludes, close)
        if "null" in types:
            without = {**schema, "type": sorted(types - {"null"})}
            return choice([Literal(close), self._inner(without, root, where, "", close)])
        rest = types
        if "object" in rest:
            if "properties" not in schema and schema.get("additionalProperties") is not False:
                self._values.narrowed[f"{where}: no members"] = None
            else:
                self._values.closed(schema, where)
            return sequence(self.members(schema, where, root), Literal(close))
        if "array" in rest:
            one = schema.get("items", {})
            item = self._element("item", self._values.resolved(one, root), root, f"{where}[]", _reference(one))
            least, most = int(schema.get("minItems", 0)), schema.get("maxItems")
            return sequence(repeated(item, least, most), Literal(close))
        kept = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")} | {"type": sorted(rest)}
        return sequence(Json(self._values.rooted(kept, root), where), Literal(close))


def joined(items: list[tuple[Node, bool]]) -> Node:
    """Members in their order with commas between those that are there; each is required or not."""
    comma = sequence(Literal(","), SPACE)
    ways: list[Node] = []
    for first, (item, required) in enumerate(items):
        rest = [
            sequence(comma, one) if needed else optional(sequence(comma, one)) for one, needed in items[first + 1 :]
        ]
        ways.append(sequence(item, *rest))
        if required:
            return choice(ways)
    return choice([*ways, EMPTY])


def counted(item: Node, schema: Schema) -> Node:
    """Items with commas between them, as many as the schema says."""
    least, most = int(schema.get("minItems", 0)), schema.get("maxItems")
    if most == 0:
        return EMPTY
    more = repeated(sequence(Literal(","), SPACE, item), max(0, least - 1), None if most is None else int(most) - 1)
    some = sequence(item, more)
    return some if least else optional(some)


def _between(items: list[Node]) -> list[Node]:
    found: list[Node] = []
    for item in items:
        found += [Literal(","), SPACE, item] if found else [item]
    return found


def _reference(schema: object) -> str:
    return str(schema["$ref"]) if isinstance(schema, Mapping) and "$ref" in schema else ""


def _word(text: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else f"x{ord(char):x}" for char in text).lower()


def _merged(one: dict[str, Any], other: Schema) -> dict[str, Any]:
    """Both schemas at once, as far as keys can be put together."""
    found = {**one, **other}
    for key in ("properties", "$defs"):
        if key in one and key in other:
            found[key] = {**one[key], **other[key]}
    if "required" in one and "required" in other:
        found["required"] = [*one["required"], *other["required"]]
    return found
