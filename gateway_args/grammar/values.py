"""Values that are no JSON, as trees by their schema: Python's literals and Gemma's.

The targets know JSON Schema for JSON alone, so for the other languages this is written out here: types, `enum`,
`const`, `properties`, `required`, `items`, their bounds, unions, `$ref`. What is not said is noted: `unenforced` where
a tree allows more than its schema, `narrowed` where it allows less. An object has its declared properties in their
order; others are left out, since no grammar can keep a model from giving one twice, which is no reading.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from .nodes import (
    EMPTY,
    NOTHING,
    SPACE,
    Choice,
    Free,
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
from .schemas import BEARS_ON, NOTES, TYPES, merge, pointed, types_of

Schema = Mapping[str, Any]

INTEGER: Final = Pattern("-?(0|[1-9][0-9]{0,60})")
NUMBER: Final = Pattern(r"-?(0|[1-9][0-9]{0,60})(\.[0-9]{1,60})?([eE][+-]?[0-9]{1,2})?")
_NAMES: Final = frozenset(("$defs", "definitions", "$ref"))
_LISTED: Final = frozenset(("type", "enum", "const"))
_MEMBERS: Final = frozenset(("type", "properties", "additionalProperties"))
_DEEP: Final = 24
_NOTHING_ELSE: Final[Schema] = {}


class Values:
    """What the values of one constraint share: named rules, and the notes on how they differ from their schemas."""

    def __init__(self) -> None:
        self.rules: dict[str, Node] = {}
        self.unenforced: dict[str, None] = {}
        self.narrowed: dict[str, None] = {}

    def unsaid(self, schema: Schema, kept: frozenset[str], types: Iterable[str], where: str) -> None:
        """Notes the keywords that a tree of these types says nothing of: all that bear on them but `kept`."""
        for key in schema:
            bears = key not in BEARS_ON or not BEARS_ON[key].isdisjoint(types)
            if bears and key not in kept and key not in NOTES and key not in _NAMES and not key.startswith("x-"):
                self.unenforced[f"{where}: {key}"] = None

    def members(self, schema: Schema, where: str, kept: frozenset[str] = _MEMBERS) -> list[tuple[str, Any, bool]]:
        """The declared members of an object: the key, its schema, whether it is required; no others can be given."""
        properties: Mapping[str, Any] = schema.get("properties", {})
        required = schema.get("required", ())
        self.unsaid(schema, kept | {"required"} if all(key in properties for key in required) else kept, TYPES, where)
        extra = schema.get("additionalProperties")
        if extra is not None and extra is not False:
            self.narrowed[f"{where}: additionalProperties"] = None
        return [(key, one, key in required) for key, one in properties.items()]

    def free_text(self, schema: Schema, where: str) -> None:
        """Notes what a value that is written as text need not keep: all but its type, if that is told by the text."""
        plain = {"anyOf"} if all(part.keys() <= {"type", *NOTES} for part in _parts(schema, "anyOf")) else set()
        ones = _parts(schema, "oneOf")
        if all("type" in part and part.keys() <= {"type", *NOTES} for part in ones):
            kinds = [kind for part in ones for kind in types_of(part["type"])]
            plain |= {"oneOf"} if len(kinds) == len(set(kinds)) else set()
        self.unsaid(schema, _LISTED | plain, self.types(schema), where)

    def resolved(self, schema: object, root: Schema) -> dict[str, Any]:
        """The schema with the references at its top followed, what names nothing left out; true is that of anything."""
        seen = 0
        while isinstance(schema, Mapping) and "$ref" in schema and seen < _DEEP:
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            target = pointed(root, schema["$ref"])
            whole = dict(target) if isinstance(target, Mapping) else {}
            exact = merge(whole, rest)
            if target is None or target is False or not exact:
                self.unenforced[f"{schema['$ref']}: $ref"] = None
            schema = whole
            seen += 1
        if schema is False:
            return {"enum": []}
        return dict(schema) if isinstance(schema, Mapping) else {}

    def all_of(self, schema: Schema, root: Schema, where: str) -> dict[str, Any]:
        """The schema with those of its `allOf` in it, each reference once; what cannot be put together is noted."""
        merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        todo = [*schema["allOf"]]
        seen: set[str] = set()
        while todo:
            part = todo.pop(0)
            if (reference := reference_of(part)) in seen:
                continue
            seen |= {reference} - {""}
            said = self.resolved(part, root)
            todo[:0] = said.pop("allOf", ())
            if not merge(merged, said):
                self.unenforced[f"{where}: allOf"] = None
        return merged

    def object(self, schema: Schema, where: str) -> dict[str, Any]:
        """The schema of an arguments object with its references followed, as an object's."""
        said = self.resolved(schema, schema)
        return {"type": "object", **(self.all_of(said, schema, where) if "allOf" in said else said)}

    def rooted(self, schema: Schema, root: Schema) -> dict[str, Any]:
        """The schema as one of its own, with the definitions that its references name."""
        kept = {key: root[key] for key in ("$defs", "definitions") if key in root}
        return {**kept, **schema}

    def types(self, schema: Schema) -> frozenset[str]:
        """The JSON types that a value may have."""
        if "const" in schema:
            return frozenset([type_of(schema["const"])])
        found = frozenset(TYPES)
        if "enum" in schema:
            found &= {type_of(value) for value in schema["enum"]}
        if "type" in schema:
            found &= types_of(schema["type"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                found &= frozenset().union(*(self.types(_said(part)) for part in schema[key] if part is not False))
        for part in schema.get("allOf", ()):
            found &= self.types(_said(part))
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
    space: Node = SPACE
    """Stands behind commas and colons."""

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
        for key, one, required in self._values.members(schema, where):
            value = self._values.resolved(one, schema)
            if "string" in self._values.types(value):
                self._values.free_text(value, f"{where}.{key}")
                written = self._text(value)
            else:
                written = sequence(delimiter, inner.value(value, schema, f"{where}.{key}"), delimiter)
            items.append((sequence(Literal(f"{key}:"), written), required))
        return sequence(Literal("{"), self._joined(items), Literal("}"))

    def members(self, schema: Schema, root: Schema, where: str, quote: str, colon: str) -> Node:
        """The declared members, joined by commas; a key stands between quotes or bare."""
        items = []
        for key, one, required in self._values.members(schema, where):
            name = self.text(key) if quote else Literal(key)
            value = self.value(self._values.resolved(one, root), root, f"{where}.{key}", reference_of(one))
            space = self._dialect.space if colon == ":" else EMPTY
            items.append((sequence(name, Literal(colon), space, value), required))
        return self._joined(items)

    def text(self, text: str) -> Node:
        """This one string, in each way of quoting."""
        if self._dialect.delimiter:
            return sequence(Literal(self._dialect.delimiter), Literal(text), Literal(self._dialect.delimiter))
        body = json.dumps(text, ensure_ascii=False)[1:-1]
        if len(self._dialect.strings) == 1:
            return Literal(f'"{body}"')
        single = body.replace('\\"', '"').replace("'", "\\'")
        return choice([Literal(f"'{single}'"), Literal(f'"{body}"')])

    def value(
        self, schema: Schema, root: Schema, where: str, reference: str = "", beside: Schema = _NOTHING_ELSE
    ) -> Node:
        """Any value that the schema describes; one behind a reference is a rule, since it may hold itself.

        `beside` is what the schema has that the reference does not name.
        """
        if reference:
            name = f"{self._dialect.name}_{word_of(reference)}_{word_of(where.partition('.')[0])}"
            if beside:
                name += f"_{zlib.crc32(json.dumps(beside, sort_keys=True).encode()):x}"
            if name not in self._values.rules:
                self._values.rules[name] = NOTHING  # taken, while its inside is made
                self._values.rules[name] = self._one(schema, root, where)
            return Rule(name)
        return self._one(schema, root, where)

    def _one(self, schema: Schema, root: Schema, where: str) -> Node:
        if "const" in schema or "enum" in schema:
            listed = [schema["const"]] if "const" in schema else schema["enum"]
            self._values.unsaid(schema, _LISTED, TYPES, where)
            types = self._values.types({key: said for key, said in schema.items() if key == "type"})
            return choice(self.constant(value) for value in listed if type_of(value) in types)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                rest = {k: v for k, v in schema.items() if k != key and k not in ("$defs", "definitions")}
                if key == "oneOf":
                    self._values.unenforced[f"{where}: oneOf"] = None
                ways = []
                for part in schema[key]:
                    both = dict(rest)
                    if not merge(both, self._values.resolved(part, root)):
                        self._values.unenforced[f"{where}: {key}"] = None
                    ways.append(self.value(both, root, where, reference_of(part), rest))
                return choice(ways)
        if "allOf" in schema:
            return self._one(self._values.all_of(schema, root, where), root, where)
        if "type" in schema:
            types = self._values.types(schema)
        elif "properties" in schema or "items" in schema:
            types = frozenset(["object" if "properties" in schema else "array"])
            self._values.narrowed[f"{where}: type"] = None
        else:
            self._values.unsaid(schema, frozenset(), TYPES, where)
            return self._anything()
        if "number" in types:
            types -= {"integer"}
        return choice(self._typed(kind, schema, root, where) for kind in TYPES if kind in types)

    def _typed(self, kind: str, schema: Schema, root: Schema, where: str) -> Node:
        dialect = self._dialect
        if kind == "object" and "properties" in schema:
            inner = self.members(schema, root, where, "" if dialect.bare_keys else "'", ":")
            return sequence(Literal("{"), inner, Literal("}"))
        kept = {"array": ("type", "items", "minItems", "maxItems"), "object": ("type", "additionalProperties")}
        self._values.unsaid(schema, frozenset(kept.get(kind, ("type",))), [kind], where)
        match kind:
            case "string":
                return self._text(schema)
            case "integer":
                return INTEGER
            case "number":
                return NUMBER
            case "boolean":
                return choice([dialect.true, dialect.false])
            case "null":
                return dialect.null
            case "object":
                return self._map(schema, root, where)
        if "items" in schema:
            one = schema["items"]
            item = self.value(self._values.resolved(one, root), root, f"{where}[]", reference_of(one))
        else:
            item = self._anything()
        return sequence(Literal("["), self._counted(item, schema), Literal("]"))

    def _text(self, schema: Schema) -> Node:
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
            else self.value(self._values.resolved(extra, root), root, f"{where}.*", reference_of(extra))
        )
        return self._any_members(value)

    def _any_members(self, value: Node) -> Node:
        """An object of any keys, in braces."""
        bare = Pattern("[A-Za-z_][A-Za-z0-9_]{0,63}")
        key = bare if self._dialect.bare_keys else choice(self._dialect.strings)
        member = sequence(key, Literal(":"), self._dialect.space, value)
        return sequence(Literal("{"), optional(separated(member, self._comma)), Literal("}"))

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
                    sequence(Literal("["), self._counted(Rule(name), {}), Literal("]")),
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
                return sequence(Literal("["), *self._between(items), Literal("]"))
            case dict():
                members = [
                    sequence(
                        Literal(key) if dialect.bare_keys else self.text(key),
                        *(Literal(":"), dialect.space, self.constant(item)),
                    )
                    for key, item in value.items()
                ]
                return sequence(Literal("{"), *self._between(members), Literal("}"))
        return Literal(json.dumps(value))

    @property
    def _comma(self) -> Node:
        return sequence(Literal(","), self._dialect.space)

    def _joined(self, items: list[tuple[Node, bool]]) -> Node:
        """Members in their order with commas between those that are there; each is required or not."""
        comma = self._comma
        ways: list[Node] = []
        for first, (item, required) in enumerate(items):
            rest = [
                sequence(comma, one) if needed else optional(sequence(comma, one)) for one, needed in items[first + 1 :]
            ]
            ways.append(sequence(item, *rest))
            if required:
                return choice(ways)
        return choice([*ways, EMPTY])

    def _counted(self, item: Node, schema: Schema) -> Node:
        """Items with commas between them, as many as the schema says."""
        least, most = int(schema.get("minItems", 0)), schema.get("maxItems")
        if most == 0:
            return EMPTY
        more = repeated(sequence(self._comma, item), max(0, least - 1), None if most is None else int(most) - 1)
        some = sequence(item, more)
        return some if least else optional(some)

    def _between(self, items: list[Node]) -> list[Node]:
        found: list[Node] = []
        for item in items:
            found += [self._comma, item] if found else [item]
        return found


def reference_of(schema: object) -> str:
    return str(schema["$ref"]) if isinstance(schema, Mapping) and "$ref" in schema else ""


def _said(part: Schema | bool) -> Schema:
    """A schema's part as a schema: true says nothing."""
    return part if isinstance(part, Mapping) else {} if part else {"not": {}}


def _parts(schema: Schema, key: str) -> list[Schema]:
    return [_said(part) for part in schema.get(key, ())]


def word_of(text: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else f"x{ord(char):x}" for char in text).lower()
