"""From a JSON Schema to the graph: the keywords that a prefix of a document can already break.

Known dialects are 2020-12 (the default), 2019-09, draft-07 and draft-06; a schema in another one, or with a vocabulary
of its own, is a node that demands nothing. So is a `$ref` that this module does not resolve by the plainest rules.
Whatever is left out here waits for the whole-document decoder, which has the last word in any case; the schema itself
was checked by that decoder before it comes here, so the types of its keywords are known.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from . import graph
from .graph import ArrayShape, Node, NumberShape, ObjectShape, StringShape, encode, seal
from .references import MODERN, Dialect, Location, References

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KIND_OF_TYPE = {
    "object": graph.OBJECT,
    "array": graph.ARRAY,
    "string": graph.STRING,
    "number": graph.NUMBER,
    "integer": graph.NUMBER,
    "boolean": graph.TRUE | graph.FALSE,
    "null": graph.NULL,
}

OBJECT_WORDS = {"additionalProperties", "maxProperties", "minProperties", "patternProperties", "properties", "required"}


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
        self.references = References(schema, resources)
        self.nodes: dict[int, Node] = {}
        self.unfilled: list[tuple[Node, dict[str, Any], Location]] = []
        self.root = self.node(schema, self.references.root)
        while self.unfilled:
            self._fill(*self.unfilled.pop())

    def node(self, schema: Any, location: Location) -> Node:
        """The node of a schema, made once; it is filled later, so that cycles are edges."""
        if not isinstance(schema, dict):
            return Node(0) if schema is False else Node()
        node = self.nodes.get(id(schema))
        if node is None:
            node = self.nodes[id(schema)] = Node()
            location = self.references.location(schema, location)
            node.address = location.address
            self.unfilled.append((node, schema, location))
        return node

    def _fill(self, node: Node, schema: dict[str, Any], location: Location) -> None:
        dialect = location.dialect
        if dialect is None:
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = self.references.target(reference, location)
            if target is not None:
                node.every.append(self.node(*target))
            if dialect.ref_alone:
                return
        types = schema.get("type")
        if types is not None:
            names = [types] if isinstance(types, str) else types
            node.kinds = 0
            for name in names:
                node.kinds |= KIND_OF_TYPE[name]
            integral = "integer" in names and "number" not in names
        else:
            integral = False
        if "enum" in schema:
            node.groups.append(_one_of(schema["enum"]))
        if "const" in schema:
            node.groups.append(_one_of([schema["const"]]))
        node.every += [self.node(part, location) for part in schema.get("allOf", ())]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                node.groups.append([self.node(part, location) for part in schema[keyword]])
        node.object = self._object(schema, location)
        node.array = self._array(schema, location, dialect)
        node.string = _string(schema)
        node.number = _number(schema, integral)

    def _object(self, schema: dict[str, Any], location: Location) -> ObjectShape | None:
        if not OBJECT_WORDS & schema.keys():
            return None
        shape = ObjectShape(
            properties={name: self.node(part, location) for name, part in schema.get("properties", {}).items()},
            patterns=tuple(
                (self.matcher(pattern), self.node(part, location))
                for pattern, part in schema.get("patternProperties", {}).items()
            ),
            rest=self.node(schema["additionalProperties"], location) if "additionalProperties" in schema else None,
            required=frozenset(schema.get("required", ())),
            least=int(schema.get("minProperties", 0)),
            most=_count(schema, "maxProperties"),
        )
        shape.ranks = {name: rank for rank, name in enumerate(shape.properties)}
        return shape

    def _array(self, schema: dict[str, Any], location: Location, dialect: Dialect) -> ArrayShape | None:
        prefix = schema.get(dialect.prefix)
        rest = schema.get(dialect.rest) if isinstance(prefix, list) or dialect is MODERN else schema.get("items")
        items = tuple(self.node(part, location) for part in prefix) if isinstance(prefix, list) else ()
        others = None if rest is None else self.node(rest, location)
        shape = ArrayShape(items, others, int(schema.get("minItems", 0)), _count(schema, "maxItems"))
        if rest is False:
            shape.most = len(items) if shape.most is None else min(shape.most, len(items))
        return None if shape == ArrayShape() else shape


def _count(schema: dict[str, Any], keyword: str) -> int | None:
    return int(schema[keyword]) if keyword in schema else None


def _string(schema: dict[str, Any]) -> StringShape | None:
    if "minLength" not in schema and "maxLength" not in schema:
        return None
    return StringShape(None, int(schema.get("minLength", 0)), _count(schema, "maxLength"))


def _number(schema: dict[str, Any], integral: bool) -> NumberShape | None:
    shape = NumberShape(_bound(schema, "minimum"), _bound(schema, "maximum"), integral=integral)
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
