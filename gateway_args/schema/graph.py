"""The compiled grammar: a graph of nodes, one for each schema, shared by all streams and never changed once built.

A node says which kinds of value it admits and, for each kind, what it demands of one. Nodes refer to one another, so
shared and recursive definitions are edges, never copies. Everything here errs to one side: what a node refuses, the
whole-document decoder refuses too. Keywords that no prefix decides are simply not in the graph.

A *plan* is what a node comes to once the kind of the value is known, which the first byte tells: the shapes that must
all hold, and the choices of which one alternative must. Unions of different kinds dissolve here: `anyOf` of a string
and null is one shape at a `"`, and nothing at all at an `n`.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE, NULL = (1 << bit for bit in range(7))
EVERY_KIND = 127

MAX_NESTING = 64
"""In-place applicators (`allOf`, `anyOf`, `$ref` siblings) followed within one value; deeper ones wait for the end."""
MAX_SIZE = 4096
"""Shapes and alternatives in one plan; a bigger plan is not judged early."""


@dataclass(slots=True)
class ObjectShape:
    """What is demanded of an object. `names` are the sorted UTF-8 names of a closed one, None of an open one."""

    properties: dict[str, Node] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    patterns: tuple[tuple[Callable[[str], bool], Node], ...] = ()
    rest: Node | None = None
    names: list[bytes] | None = None
    required: frozenset[str] = frozenset()
    least: int = 0
    most: int | None = None

    def freeze(self) -> None:
        """Works out what a closed object can hold, once all nodes are filled."""
        if self.rest is not None and not self.rest.kinds and not self.patterns:
            self.names = sorted(encode(name) for name, node in self.properties.items() if node.kinds)
            self.most = len(self.names) if self.most is None else min(self.most, len(self.names))


@dataclass(slots=True)
class ArrayShape:
    """What is demanded of a list: its first items each by their own node, all others by `rest`."""

    prefix: tuple[Node, ...] = ()
    rest: Node | None = None
    least: int = 0
    most: int | None = None


@dataclass(slots=True)
class StringShape:
    """What is demanded of a string: lengths in characters, and the sorted UTF-8 texts it may be."""

    texts: list[bytes] | None = None
    least: int = 0
    most: int | None = None

    def is_one(self, text: bytearray) -> bool:
        """Whether the text is one of those admitted."""
        if self.texts is None:
            return True
        at = bisect_left(self.texts, text)
        return at < len(self.texts) and self.texts[at] == text


@dataclass(slots=True)
class NumberShape:
    """What is demanded of a number. `exact` is an integer that is spelled as one: no fraction, no exponent."""

    low: int | float | None = None
    high: int | float | None = None
    low_open: bool = False
    high_open: bool = False
    integral: bool = False
    exact: bool = False
    values: frozenset[float] | None = None

    def excludes_sign(self, negative: bool) -> bool:
        """Whether no number with this sign is in bounds; either may still come to zero."""
        if negative:
            return self.low is not None and (self.low > 0 or (self.low == 0 and self.low_open))
        return self.high is not None and (self.high < 0 or (self.high == 0 and self.high_open))

    def excludes(self, value: int | float) -> bool:
        """Whether a number is out of bounds, exactly and as a double: validators compare the one way or the other."""
        low, high = self.low, self.high
        if low is not None and (value < low or (self.low_open and value == low)):
            near, limit = as_float(value), as_float(low)
            return near < limit or (self.low_open and near == limit)
        if high is not None and (value > high or (self.high_open and value == high)):
            near, limit = as_float(value), as_float(high)
            return near > limit or (self.high_open and near == limit)
        return False


@dataclass(frozen=True, slots=True)
class Plan:
    """What must hold of a value of one kind: all of `shapes`, and of each choice one alternative."""

    shapes: tuple[Any, ...] = ()
    choices: tuple[tuple[Plan, ...], ...] = ()
    size: int = 0
    height: int = 0


FREE = Plan()
"""The plan that demands nothing."""


class Node:
    """One schema's demands; `every` and `groups` are its in-place applicators, resolved into `plans` by `seal`."""

    __slots__ = ("address", "array", "every", "free", "groups", "kinds", "number", "object", "plans", "string")

    def __init__(self, kinds: int = EVERY_KIND) -> None:
        self.kinds = kinds
        self.address = ""  # where its schema stands, for the validator; empty for what no schema says by itself
        self.object: ObjectShape | None = None
        self.array: ArrayShape | None = None
        self.string: StringShape | None = None
        self.number: NumberShape | None = None
        self.every: list[Node] = []
        self.groups: list[list[Node]] = []
        self.plans: dict[int, Plan | None] = {}  # by kind; None where no value of the kind is admitted
        self.free = False  # whether nothing is demanded of any value, so that none need be followed

    def inner(self) -> Iterator[Node]:
        """The nodes that this one refers to."""
        yield from self.every
        for group in self.groups:
            yield from group
        if self.object is not None:
            yield from self.object.properties.values()
            yield from (node for _, node in self.object.patterns)
            if self.object.rest is not None:
                yield self.object.rest
        if self.array is not None:
            yield from self.array.prefix
            if self.array.rest is not None:
                yield self.array.rest


def seal(root: Node) -> Node:
    """Works out all that streams will ask of the nodes that the root leads to; after this nothing changes.

    The order is the graph's own, since where a cycle of in-place applicators is cut depends on where it is entered.
    """
    nodes = [root]
    known = {id(root)}
    for node in nodes:
        for inner in node.inner():
            if id(inner) not in known:
                known.add(id(inner))
                nodes.append(inner)
    for node in nodes:
        if node.object is not None:
            node.object.freeze()
    for node in nodes:
        plans = [_plan(node, 1 << bit, 0) for bit in range(7)]
        node.free = all(plan is not None and plan.size == 0 for plan in plans)
    return root


def _plan(node: Node, kind: int, nesting: int) -> Plan | None:
    """Resolves the in-place applicators; one nested too deeply demands nothing, and no more does a cycle of them."""
    if kind in node.plans:
        return node.plans[kind]
    if not node.kinds & kind:
        node.plans[kind] = None
        return None
    if nesting > MAX_NESTING:
        return FREE
    node.plans[kind] = FREE  # what a cycle back to this node finds
    plan = node.plans[kind] = _resolve(node, kind, nesting + 1)
    return plan


def _resolve(node: Node, kind: int, nesting: int) -> Plan | None:
    own = {OBJECT: node.object, ARRAY: node.array, STRING: node.string, NUMBER: node.number}.get(kind)
    shapes: list[Any] = [] if own is None else [own]
    choices: list[tuple[Plan, ...]] = []
    for part in node.every:
        plan = _plan(part, kind, nesting)
        if plan is None:
            return None
        shapes += plan.shapes
        choices += plan.choices
    for group in node.groups:
        possible = [plan for part in group if (plan := _plan(part, kind, nesting)) is not None]
        if not possible:
            return None
        if len(possible) == 1:
            shapes += possible[0].shapes
            choices += possible[0].choices
        elif all(plan.size for plan in possible):
            choices.append(tuple(possible))
    size = len(shapes) + sum(1 + plan.size for choice in choices for plan in choice)
    if size > MAX_SIZE:
        return FREE
    height = max((1 + plan.height for choice in choices for plan in choice), default=0)
    return Plan(tuple(shapes), tuple(choices), size, height)


def as_float(value: int | float) -> float:
    """The nearest double; infinity for an integer beyond them all."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def starts_one(texts: list[bytes], text: bytearray) -> bool:
    """Whether one of the sorted texts starts so."""
    at = bisect_left(texts, text)
    return at < len(texts) and texts[at].startswith(text)


def encode(text: str) -> bytes:
    """The text in UTF-8, lone surrogates too: escapes in a document can spell one."""
    return text.encode("utf-8", "surrogatepass")
