"""From a Python type to the graph, by way of pydantic's core schema.

The core schema says what the validator does; the JSON schema that pydantic derives from it does not (a
`BeforeValidator` admits what it likes, a model may be filled by alias or by name). Only what `validate_json(...,
strict=True)` cannot but refuse is lowered; a kind of schema that is not in this table demands nothing.
"""

from __future__ import annotations

from typing import Any

from . import graph
from .core_schema import Definitions, choices_of, fields_of
from .graph import ArrayShape, Node, NumberShape, ObjectShape, StringShape, encode, seal

TEXTS = ("bytes", "json", "multi-host-url", "str", "url", "uuid")
TEXTS_OR_NUMBERS = ("complex", "date", "datetime", "decimal", "time", "timedelta")
LISTS = ("frozenset", "generator", "list", "set", "tuple")
# What a schema of these is, is what the schema inside says first; some may also stand in for a value left out.
INSIDE = {
    "chain": "steps",
    "custom-error": "schema",
    "dataclass": "schema",
    "default": "schema",
    "function-after": "schema",
    "json-or-python": "json_schema",
    "lax-or-strict": "strict_schema",
    "model": "schema",
}
MAY_BE_ABSENT = ("chain", "custom-error", "default", "json-or-python", "lax-or-strict")


def lower(core: Any, *, strict: bool = True) -> Node:
    """The root node of a pydantic core schema; not `strict`, a scalar may be written as another that converts to it."""
    return seal(_Lowering(core, strict).root)


class _Lowering:
    """One core schema's way into the graph; nodes are filled from a work list, so that recursive types are cycles."""

    def __init__(self, core: Any, strict: bool) -> None:
        self.strict = strict
        self.definitions = Definitions(core)
        self.nodes: dict[int, Node] = {}
        self.unfilled: list[tuple[Node, dict[str, Any], dict[str, Any]]] = []
        self.root = self.node(core, {})
        while self.unfilled:
            self._fill(*self.unfilled.pop())

    def node(self, core: Any, config: dict[str, Any]) -> Node:
        """The node of a core schema under the configuration of the class it stands in."""
        core = self.definitions.resolve(core)
        node = self.nodes.get(id(core))
        if node is None:
            node = self.nodes[id(core)] = Node()
            self.unfilled.append((node, core, core.get("config") or config))
        return node

    def _fill(self, node: Node, core: dict[str, Any], config: dict[str, Any]) -> None:
        kind = core["type"]
        if not self.strict and self._converts(node, core, config):
            return
        if kind in INSIDE:
            inside = core[INSIDE[kind]]
            lenient = core.get("custom_init") or core.get("on_error", "raise") != "raise"
            if inside and not lenient:
                node.every.append(self.node(inside[0] if kind == "chain" else inside, config))
        elif kind == "none":
            node.kinds = graph.NULL
        elif kind == "bool":
            node.kinds = graph.TRUE | graph.FALSE
        elif kind in ("int", "float"):
            node.kinds = graph.NUMBER
            node.number = _number(core, exact=kind == "int")
        elif kind in TEXTS:
            node.kinds = graph.STRING
            if kind == "str" and not self.definitions.strips:
                node.string = StringShape(None, core.get("min_length") or 0, core.get("max_length"))
        elif kind in TEXTS_OR_NUMBERS:
            node.kinds = graph.STRING | graph.NUMBER
        elif kind == "literal":
            _literal(node, core["expected"])
        elif kind == "enum" and not core.get("missing"):
            _literal(node, [member.value for member in core["members"]])
        elif kind in LISTS:
            node.kinds = graph.ARRAY
            node.array = self._array(core, config)
        elif kind == "dict":
            node.kinds = graph.OBJECT
            values = core.get("values_schema")
            texts = (core.get("keys_schema") or {}).get("type") == "str"  # other keys may fall together
            node.object = ObjectShape(
                rest=self.node(values, config) if values else None,
                least=core.get("min_length") or 0,
                most=core.get("max_length") if texts else None,
            )
        elif kind == "nullable":
            node.groups.append([self.node(core["schema"], config), Node(graph.NULL)])
        elif kind in ("union", "tagged-union"):
            node.groups.append([self.node(choice, config) for choice in choices_of(core)])
        elif kind in ("model-fields", "dataclass-args", "typed-dict"):
            node.kinds = graph.OBJECT
            node.object = self._record(core, config)

    def _converts(self, node: Node, core: dict[str, Any], config: dict[str, Any]) -> bool:
        """Whether other values than the type's own may convert to it; the node then demands little or nothing."""
        kind = core["type"]
        if kind in ("bool", "float", "int", *TEXTS_OR_NUMBERS):
            node.kinds = graph.STRING | graph.NUMBER | graph.TRUE | graph.FALSE
            return True
        coerced = core.get("coerce_numbers_to_str") or config.get("coerce_numbers_to_str")
        return kind in ("enum", "lax-or-strict") or (kind == "str" and bool(coerced))

    def _array(self, core: dict[str, Any], config: dict[str, Any]) -> ArrayShape:
        items = core.get("items_schema")
        if core["type"] == "tuple":
            if core.get("variadic_item_index") is not None or not isinstance(items, list):
                return ArrayShape()
            least = 0 if any(self._may_be_absent(item) for item in items) else len(items)
            return ArrayShape(tuple(self.node(item, config) for item in items), None, least, len(items))
        unique = core["type"] in ("set", "frozenset")  # judged by what is left once equal items fell together
        most = core.get("max_length")
        return ArrayShape(
            (), self.node(items, config) if items else None, core.get("min_length") or 0, None if unique else most
        )

    def _record(self, core: dict[str, Any], config: dict[str, Any]) -> ObjectShape:
        shape = ObjectShape()
        fields = fields_of(core)
        by_name = config.get("validate_by_name") or config.get("populate_by_name")
        by_name = by_name or config.get("validate_by_alias") is False
        required = set()
        for name, item in fields:
            alias = item.get("validation_alias", name)
            if not isinstance(alias, str):
                return ObjectShape()  # paths and choices of aliases: no telling which names are known
            child = self.node(item["schema"], config)
            for spelling in (alias, name) if by_name else (alias,):
                shape.properties[spelling] = child if item.get("init", True) else Node()
                shape.ranks[spelling] = len(shape.ranks) if spelling == alias else shape.ranks[alias]
            demanded = item.get("required", core.get("total", True)) and item.get("init", True)
            if demanded and not self._may_be_absent(item["schema"]) and (alias == name or not by_name):
                required.add(alias)
        if len({*shape.ranks}) < len(fields):
            return ObjectShape()  # names that collide
        shape.required = frozenset(required)
        extra = core.get("extra_behavior") or config.get("extra_fields_behavior")
        if extra == "forbid":
            shape.rest = Node(0)
        return shape

    def _may_be_absent(self, core: dict[str, Any]) -> bool:
        """Whether a default may stand in; a validator that wraps the field may supply one too."""
        core = self.definitions.resolve(core)
        return core["type"] in MAY_BE_ABSENT or core["type"].startswith("function-")


def _number(core: dict[str, Any], *, exact: bool) -> NumberShape:
    shape = NumberShape(core.get("ge"), core.get("le"), exact=exact)
    if "gt" in core:
        shape.low, shape.low_open = core["gt"], True
    if "lt" in core:
        shape.high, shape.high_open = core["lt"], True
    return shape


def _literal(node: Node, values: list[Any]) -> None:
    """Texts are told by prefix. A literal number also admits what equals it (`1.0`, true), so those stay open."""
    texts = [value for value in values if type(value) is str]
    if any(type(value) not in (str, int, bool, type(None)) for value in values):
        return
    node.kinds = graph.STRING if texts else 0
    node.string = StringShape(sorted(encode(text) for text in texts)) if texts else None
    for value in values:
        if value is None:
            node.kinds |= graph.NULL
        elif type(value) is not str:
            node.kinds |= graph.NUMBER | graph.TRUE | graph.FALSE
