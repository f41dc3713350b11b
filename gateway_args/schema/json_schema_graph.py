"""From a JSON Schema to the graph: the keywords that a prefix of a document can already break.

Known dialects are 2020-12 (the default), 2019-09, draft-07 and draft-06; a schema in another one, or with a vocabulary
of its own, is a node that demands nothing. So is a `$ref` that this module does not resolve by the plainest rules.
Whatever is left out here waits for the whole-document decoder, which has the last word in any case; the schema itself
was checked by that decoder before it comes here, so the types of its keywords are known.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urljoin

from . import graph
from .graph import ArrayShape, Node, NumberShape, ObjectShape, StringShape, encode, seal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

KIND_OF_TYPE = {
    "object": graph.OBJECT,
    "array": graph.ARRAY,
    "string": graph.STRING,
    "number": graph.NUMBER,
    "integer": graph.NUMBER,
    "boolean": graph.TRUE | graph.FALSE,
    "null": graph.NULL,
}

# Where subschemas stand: a schema, a list of them, a map to them. A position counts only where its value has that form.
ROOT = "urn:gateway-args:schema"
"""The address that the root schema has in the validator's registry, whatever it calls itself."""

ONE: tuple[str, ...] = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
)
ONE += ("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties")
LISTS = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
MAPS = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")

OBJECT_WORDS = {"additionalProperties", "maxProperties", "minProperties", "patternProperties", "properties", "required"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between the drafts: the spelling of tuples, and whether `$ref` silences its neighbours."""

    prefix: str
    rest: str
    ref_alone: bool


MODERN = Dialect("prefixItems", "items", ref_alone=False)
DIALECTS = {
    "https://json-schema.org/draft/2020-12/schema": MODERN,
    "https://json-schema.org/draft/2019-09/schema": Dialect("items", "additionalItems", ref_alone=False),
    "http://json-schema.org/draft-07/schema": Dialect("items", "additionalItems", ref_alone=True),
    "http://json-schema.org/draft-06/schema": Dialect("items", "additionalItems", ref_alone=True),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands: the URI that its references start from, its dialect (None: unknown), its address."""

    base: str
    dialect: Dialect | None
    address: str


def lower(schema: Any, resources: Mapping[str, Any], matcher: Callable[[str], Callable[[str], bool]]) -> Node:
    """The root node of `schema`; `resources` are the other documents by URI, `matcher` compiles a `pattern`.

    The schemas must be plain parsed JSON in which no object stands in two places.
    """
    return seal(_Lowering(schema, resources, matcher).root)


class _Lowering:
    """One schema's way into the graph: an index of all places first, then nodes, each filled from a work list."""

    def __init__(
        self, schema: Any, resources: Mapping[str, Any], matcher: Callable[[str], Callable[[str], bool]]
    ) -> None:
        self.matcher = matcher
        self.places: dict[int, Place] = {}
        self.documents: dict[str, Any] = {}
        self.anchors: dict[tuple[str, str], Any] = {}
        self.nodes: dict[int, Node] = {}
        self.unfilled: list[tuple[Node, dict[str, Any], Place]] = []
        for uri, document in resources.items():
            self._index(document, Place(uri, MODERN, f"{uri}#"))
        root = Place("", MODERN, f"{ROOT}#")
        self._index(schema, root)
        self.root = self.node(schema, root)
        while self.unfilled:
            self._fill(*self.unfilled.pop())

    def _index(self, document: Any, place: Place) -> None:
        """Notes the place of every subschema, the resources that have an `$id`, and the anchors."""
        self.documents.setdefault(place.base.rstrip("#"), document)
        stack = [(document, place)]
        while stack:
            schema, place = stack.pop()
            if not isinstance(schema, dict):
                continue
            base, dialect = place.base, place.dialect
            named = schema.get("$schema")
            if isinstance(named, str):
                dialect = DIALECTS.get(named.rstrip("#"))
            identity = schema.get("$id")
            if isinstance(identity, str) and not (dialect and dialect.ref_alone and "$ref" in schema):
                if identity.startswith("#"):
                    self.anchors.setdefault((base, identity[1:]), schema)
                else:
                    base = urljoin(base, identity).rstrip("#")
                    self.documents.setdefault(base, schema)
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(key), str):
                    self.anchors.setdefault((base, schema[key]), schema)
            self.places[id(schema)] = Place(base, dialect, place.address)
            stack += [(part, Place(base, dialect, place.address + step)) for step, part in _subschemas(schema)]

    def _target(self, reference: str, base: str) -> tuple[Any, str] | None:
        """The schema that a reference names and its document's base, None when the plain rules do not find it."""
        uri, _, fragment = (base + reference if reference.startswith("#") else urljoin(base, reference)).partition("#")
        if uri not in self.documents:
            return None
        if fragment and not fragment.startswith("/"):
            anchored = self.anchors.get((uri, unquote(fragment)))
            return None if anchored is None else (anchored, uri)
        schema = self.documents[uri]
        for step, token in enumerate(unquote(fragment).split("/")[1:]):
            if step and isinstance(schema, dict) and "$id" in schema:
                return None
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, dict) and key in schema:
                schema = schema[key]
            elif isinstance(schema, list) and key.isdecimal() and int(key) < len(schema):
                schema = schema[int(key)]
            else:
                return None
        return schema, uri

    def node(self, schema: Any, place: Place) -> Node:
        """The node of a schema, made once; it is filled later, so that cycles are edges."""
        if not isinstance(schema, dict):
            return Node(0) if schema is False else Node()
        node = self.nodes.get(id(schema))
        if node is None:
            node = self.nodes[id(schema)] = Node()
            place = self.places.get(id(schema), place)
            node.address = place.address
            self.unfilled.append((node, schema, place))
        return node

    def _fill(self, node: Node, schema: dict[str, Any], place: Place) -> None:
        dialect = place.dialect
        if dialect is None:
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = self._target(reference, place.base)
            if target is not None:
                node.every.append(self.node(target[0], Place(target[1], dialect, reference)))
            if dialect.ref_alone:
                return
        types = schema.get("type")
        if types is not None:
            names = [types] if isinstance(types, str) else types
            node.kinds = 0
            for name in names:
                node.kinds |= KIND_OF_TYPE[name]
            whole = "integer" in names and "number" not in names
        else:
            whole = False
        if "enum" in schema:
            node.groups.append(_one_of(schema["enum"]))
        if "const" in schema:
            node.groups.append(_one_of([schema["const"]]))
        node.every += [self.node(part, place) for part in schema.get("allOf", ())]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                node.groups.append([self.node(part, place) for part in schema[keyword]])
        node.object = self._object(schema, place)
        node.array = self._array(schema, place, dialect)
        node.string = _string(schema)
        node.number = _number(schema, whole)

    def _object(self, schema: dict[str, Any], place: Place) -> ObjectShape | None:
        if not OBJECT_WORDS & schema.keys():
            return None
        shape = ObjectShape(
            properties={name: self.node(part, place) for name, part in schema.get("properties", {}).items()},
            patterns=tuple(
                (self.matcher(pattern), self.node(part, place))
                for pattern, part in schema.get("patternProperties", {}).items()
            ),
            rest=self.node(schema["additionalProperties"], place) if "additionalProperties" in schema else None,
            required=frozenset(schema.get("required", ())),
            least=int(schema.get("minProperties", 0)),
            most=_count(schema, "maxProperties"),
        )
        shape.ranks = {name: rank for rank, name in enumerate(shape.properties)}
        return shape

    def _array(self, schema: dict[str, Any], place: Place, dialect: Dialect) -> ArrayShape | None:
        prefix = schema.get(dialect.prefix)
        rest = schema.get(dialect.rest) if isinstance(prefix, list) or dialect is MODERN else schema.get("items")
        items = tuple(self.node(part, place) for part in prefix) if isinstance(prefix, list) else ()
        others = None if rest is None else self.node(rest, place)
        shape = ArrayShape(items, others, int(schema.get("minItems", 0)), _count(schema, "maxItems"))
        if rest is False:
            shape.most = len(items) if shape.most is None else min(shape.most, len(items))
        return None if shape == ArrayShape() else shape


def _subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas directly inside, each with its step of a JSON pointer."""
    for key in ONE:
        if isinstance(schema.get(key), dict):
            yield f"/{key}", schema[key]
    for key in LISTS:
        if isinstance(schema.get(key), list):
            for index, part in enumerate(schema[key]):
                yield f"/{key}/{index}", part
    for key in MAPS:
        if isinstance(schema.get(key), dict):
            for name, part in schema[key].items():
                yield f"/{key}/{quote(name.replace('~', '~0').replace('/', '~1'), safe='~')}", part


def _count(schema: dict[str, Any], keyword: str) -> int | None:
    return int(schema[keyword]) if keyword in schema else None


def _string(schema: dict[str, Any]) -> StringShape | None:
    if "minLength" not in schema and "maxLength" not in schema:
        return None
    return StringShape(None, int(schema.get("minLength", 0)), _count(schema, "maxLength"))


def _number(schema: dict[str, Any], whole: bool) -> NumberShape | None:
    shape = NumberShape(_bound(schema, "minimum"), _bound(schema, "maximum"), whole=whole)
    above, below = _bound(schema, "exclusiveMinimum"), _bound(schema, "exclusiveMaximum")
    if above is not None and (shape.low is None or above >= shape.low):
        shape.low, shape.low_open = above, True
    if below is not None and (shape.high is None or below <= shape.high):
        shape.high, shape.high_open = below, True
    return None if shape == NumberShape() else shape


def _bound(schema: dict[str, Any], keyword: str) -> int | float | None:
    value = schema.get(keyword)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _one_of(values: list[Any]) -> list[Node]:
    """The nodes of which one must admit: all scalars share one; `1` and `1.0` are the same number."""
    scalars = Node(0)
    texts: set[bytes] = set()
    numbers: set[float] | None = set()
    nodes: list[Node] = []
    for value in values:
        match value:
            case None:
                scalars.kinds |= graph.NULL
            case bool():
                scalars.kinds |= graph.TRUE if value else graph.FALSE
            case str():
                scalars.kinds |= graph.STRING
                texts.add(encode(value))
            case int() | float():
                scalars.kinds |= graph.NUMBER
                if abs(value) > sys.float_info.max:
                    numbers = None  # past what is compared early
                elif numbers is not None:
                    numbers.add(float(value))
            case list():
                node = Node(graph.ARRAY)
                node.array = ArrayShape(tuple(map(_constant, value)), None, len(value), len(value))
                nodes.append(node)
            case _:
                node = Node(graph.OBJECT)
                members = {name: _constant(member) for name, member in value.items()}
                node.object = ObjectShape(members, rest=Node(0), required=frozenset(members))
                nodes.append(node)
    if texts:
        scalars.string = StringShape(sorted(texts))
    if numbers:
        scalars.number = NumberShape(values=frozenset(numbers))
    return [scalars, *nodes] if scalars.kinds else nodes


def _constant(value: Any) -> Node:
    (node,) = _one_of([value])
    return node
