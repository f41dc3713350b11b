"""What a JSON schema demands of one value, as expressions that stay small however deep the value nests.

A subschema is compiled once, to a `Leaf`. An *expression* is the leaves, and the choices between expressions, of which
a value has to meet all. Equal expressions are one, so a union whose alternatives all lead back to it stays as small as
it is written. Bounds: combinators and references that nest deeper than `MAX_NESTING` in one place say nothing, and
neither does an expression of more than `MAX_ALTERNATIVES` leaves, or a subschema that demands itself. The table of what
was found is emptied when it is full: it saves work and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, TypeAlias, TypeGuard, final

from .kinds import JsonType, Kinds, Scalar, enumerated, named, narrow, widen
from .references import Location, References

MAX_NESTING: Final = 48  # combinators and references inside each other
MAX_ALTERNATIVES: Final = 256  # leaves in one expression
MAX_TABLE: Final = 4096  # entries of a table before it is emptied

# What a schema beside `$ref` says that matters here; a reference alone is what it leads to.
_WORDS: Final = frozenset(
    {
        *("type", "enum", "const", "nullable", "allOf", "anyOf", "oneOf"),
        *("properties", "items", "prefixItems", "additionalProperties", "patternProperties"),
    }
)


@final
class Leaf:
    """One subschema: what it demands of the same value (`every`, and of each of `choices` one), and by itself."""

    __slots__ = ("_keys", "choices", "every", "height", "kinds", "location", "schema")

    def __init__(self, schema: Mapping[str, object], location: Location) -> None:
        self.schema = schema
        self.location = location
        self.kinds: Kinds = None
        self.every: tuple[Expression, ...] = ()
        self.choices: tuple[tuple[Expression, ...], ...] = ()
        self.height = -1  # of what it demands of the same value, in references and combinators; -1 until it is linked
        self._keys: frozenset[str] | None = None

    @property
    def keys(self) -> frozenset[str]:
        """The properties that it names."""
        if self._keys is None:
            properties = self.schema.get("properties")
            own = frozenset(filter(_is_text, properties)) if isinstance(properties, Mapping) else frozenset()
            inner = [leaf.keys for part in (*self.every, *chain(*self.choices)) for leaf in leaves_of(part)]
            self._keys = own.union(*inner) if own or len(inner) != 1 else inner[0]
        return self._keys


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """A part of an expression that is met by meeting one alternative."""

    alternatives: frozenset[Expression]
    size: int = field(compare=False)
    depth: int = field(compare=False)


# All of these have to be met; the empty one says nothing. A set, so that equal expressions are one.
Expression: TypeAlias = "frozenset[Leaf | Choice]"
ANYTHING: Final[Expression] = frozenset()
# What is asked for inside a value: a property's name, or one of these.
ITEMS: Final = 0
REST: Final = 1  # the properties that are not declared
Step: TypeAlias = str | int
# Members of an object that tell alternatives apart: key, JSON type and value of each.
Tags: TypeAlias = frozenset[tuple[str, JsonType, Scalar]]
# A subschema that a value has to meet too, None for one that says nothing, and how many steps lead there.
_Edge: TypeAlias = tuple[Leaf | None, int]


@final
class Expressions:
    """One schema and all that is known of it, shared by the types in it."""

    __slots__ = ("_found", "_leaves", "_nothing", "_settled", "references")

    def __init__(self, schema: object) -> None:
        self.references = References(schema)
        self._leaves: dict[int, Leaf] = {}
        self._found: dict[tuple[Leaf, Step], Expression | None] = {}
        self._settled: dict[tuple[Expression, Tags], Expression | None] = {}
        self._nothing = Leaf({}, self.references.root)  # the schema that admits no value
        self._nothing.kinds = {}
        self._nothing.height = 0

    # ------------------------------------------------------------------------- from schemas to expressions

    def of(self, schema: object, location: Location) -> Expression:
        """What this schema demands."""
        leaf = self._edge(schema, location)[0]
        if leaf is None:
            return ANYTHING
        if leaf.height < 0:
            self._link(leaf)
        return frozenset((leaf,))

    def _edge(self, schema: object, location: Location) -> _Edge:
        seen: set[int] = set()
        while isinstance(schema, Mapping):
            location = self.references.location(schema, location)
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not _WORDS.isdisjoint(schema):
                leaf = self._leaves.get(id(schema))
                if leaf is None:
                    leaf = self._leaves[id(schema)] = Leaf(schema, location)
                return leaf, 1 + len(seen)
            target = None if id(schema) in seen else self.references.target(reference, location)
            seen.add(id(schema))
            if target is None:
                break
            schema, location = target
        return (self._nothing if schema is False else None), 1

    def _branches(self, leaf: Leaf) -> tuple[list[_Edge], list[list[_Edge]]]:
        """The subschemas that the same value has to meet, and the lists of which it has to meet one."""
        schema, location = leaf.schema, leaf.location
        every: list[_Edge] = []
        reference = schema.get("$ref")
        target = self.references.target(reference, location) if isinstance(reference, str) else None
        if target is not None:
            every.append(self._edge(*target))
        listed = {name: value for name in ("allOf", "anyOf", "oneOf") if isinstance(value := schema.get(name), list)}
        every += [self._edge(part, location) for part in listed.pop("allOf", ())]
        return every, [[self._edge(part, location) for part in parts] for parts in listed.values() if parts]

    def _link(self, start: Leaf) -> None:
        """Finish a leaf and all that it demands of the same value.

        Those that demand one another in a circle are found together (Tarjan's components, with no recursion): what
        leads back says nothing.
        """
        index: dict[Leaf, int] = {}
        low: dict[Leaf, int] = {}
        branches: dict[Leaf, tuple[list[_Edge], list[list[_Edge]]]] = {}
        path: list[Leaf] = []
        work: list[tuple[Leaf, Iterator[_Edge]]] = []
        opened: Leaf | None = start
        while opened is not None or work:
            if opened is not None:
                index[opened] = low[opened] = len(index)
                path.append(opened)
                every, choices = branches[opened] = self._branches(opened)
                work.append((opened, chain(every, *choices)))
                opened = None
            leaf, edges = work[-1]
            for child, _ in edges:
                if child is None or child.height >= 0:
                    continue
                if child not in index:
                    opened = child
                    break
                low[leaf] = min(low[leaf], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[leaf])
                if low[leaf] == index[leaf]:
                    circle = {path.pop()}
                    while leaf not in circle:
                        circle.add(path.pop())
                    for each in circle:
                        self._finish(each, *branches.pop(each), circle)
                    for each in circle:
                        each.height = max(0, ~each.height)

    def _finish(self, leaf: Leaf, every: list[_Edge], choices: list[list[_Edge]], circle: set[Leaf]) -> None:
        def expression(edge: _Edge) -> Expression:
            return ANYTHING if edge[0] is None or edge[0] in circle else frozenset((edge[0],))

        edges = chain(every, *choices)
        height = max(
            (child.height + steps for child, steps in edges if child is not None and child not in circle), default=0
        )
        if height <= MAX_NESTING:
            leaf.every = tuple(map(expression, every))
            leaf.choices = tuple(tuple(map(expression, edges)) for edges in choices)
        leaf.height = ~height  # finished once the circle is
        leaf.kinds = narrow(named(leaf.schema.get("type")), enumerated(leaf.schema))
        for part in leaf.every:
            leaf.kinds = narrow(leaf.kinds, self.kinds(part))
        for parts in leaf.choices:
            leaf.kinds = narrow(leaf.kinds, widen([self.kinds(part) for part in parts]))
        if leaf.schema.get("nullable") is True and leaf.kinds is not None:
            leaf.kinds = {**leaf.kinds, "null": None}

    # ------------------------------------------------------------------------- what settles alternatives

    def settle(self, expression: Expression, tags: Tags) -> Expression:
        """What is left of its choices where an object has these members; all where no alternative admits them."""
        found = self._settled.get((expression, tags))
        if found is None:
            if len(self._settled) >= MAX_TABLE:
                self._settled.clear()
            found = self._settled[expression, tags] = _all_of(self._settled_part(part, tags) for part in expression)
        return ANYTHING if found is None else found

    def _settled_part(self, part: Leaf | Choice, tags: Tags) -> Expression:
        if isinstance(part, Choice):
            return _any_of(self._left(part.alternatives, tags)) or ANYTHING
        if not part.every and not part.choices:
            return frozenset((part,))
        leaf = Leaf(part.schema, part.location)
        leaf.kinds, leaf.height = part.kinds, part.height
        leaf.every = tuple(self.settle(each, tags) for each in part.every)
        leaf.choices = tuple(self._left(parts, tags) for parts in part.choices)
        return frozenset((leaf,))

    def _left(self, alternatives: Iterable[Expression], tags: Tags) -> tuple[Expression, ...]:
        every = tuple(alternatives)
        left = [each for each in every if all(self._admits(each, *tag) for tag in tags)]
        return tuple(self.settle(each, tags) for each in left) if left else every

    def _admits(self, expression: Expression, key: str, kind: JsonType, value: Scalar) -> bool:
        found = self.find(expression, key)
        kinds = None if found is None else self.kinds(found)
        if kinds is None:
            return True
        members = kinds.get(kind, frozenset())
        return members is None or (kind, value) in members

    # ------------------------------------------------------------------------- what expressions say

    def kinds(self, expression: Expression) -> Kinds:
        """The types that it admits."""
        found: Kinds = None
        for part in expression:
            if isinstance(part, Leaf):
                found = narrow(found, part.kinds)
            else:
                found = narrow(found, widen([self.kinds(each) for each in part.alternatives]))
        return found

    def find(self, expression: Expression, step: Step) -> Expression | None:
        """What is demanded of an item or a property; None when nothing is said of it."""
        if len(self._found) >= MAX_TABLE:
            self._found.clear()
        return self._find(expression, step)

    def _find(self, expression: Expression, step: Step) -> Expression | None:
        found = []
        for part in expression:
            if isinstance(part, Leaf):
                found.append(self._find_in_leaf(part, step))
            else:
                found.append(_any_of(self._find(each, step) for each in part.alternatives))
        return _all_of(found)

    def _find_in_leaf(self, leaf: Leaf, step: Step) -> Expression | None:
        key = leaf, step
        if key not in self._found:
            found = [self._own(leaf, step), *(self._find(part, step) for part in leaf.every)]
            found += [_any_of(self._find(part, step) for part in parts) for parts in leaf.choices]
            self._found[key] = _all_of(found)
        return self._found[key]

    def _own(self, leaf: Leaf, step: Step) -> Expression | None:
        """What the schema says by itself."""
        schema = leaf.schema
        if step == ITEMS:
            # Items typed by position (`prefixItems`, or a list in the older drafts) are one union here.
            several: list[object] = []
            for name in ("prefixItems", "items"):
                match schema.get(name):
                    case list() as listed:
                        several += listed
                    case Mapping() as one:
                        several.append(one)
            return _any_of(self.of(each, leaf.location) for each in several)
        properties = schema.get("properties")
        if isinstance(step, str) and isinstance(properties, Mapping) and step in properties:
            return self.of(properties[step], leaf.location)
        # Patterns would be the request's regular expressions run on the model's text: such keys stay untyped.
        rest = None if schema.get("patternProperties") else schema.get("additionalProperties")
        return self.of(rest, leaf.location) if isinstance(rest, Mapping) else None


def leaves_of(expression: Expression) -> Iterator[Leaf]:
    for part in expression:
        if isinstance(part, Leaf):
            yield part
        else:
            for each in part.alternatives:
                yield from leaves_of(each)


def _all_of(found: Iterable[Expression | None]) -> Expression | None:
    """What meets all of these; None when there is none."""
    parts = [each for each in found if each is not None]
    if not parts:
        return None
    expression = parts[0].union(*parts[1:])
    return expression if _measured(expression)[0] <= MAX_ALTERNATIVES else ANYTHING


def _any_of(found: Iterable[Expression | None]) -> Expression | None:
    """What meets one of these; None when there is none."""
    alternatives: set[Expression] = set()
    for each in found:
        match each and [*each]:
            case None:
                pass
            case [Choice() as choice]:
                alternatives |= choice.alternatives
            case _:
                alternatives.add(each or ANYTHING)
    if len(alternatives) <= 1:
        return next(iter(alternatives), None)
    sizes, depths = zip(*map(_measured, alternatives), strict=True)
    if max(depths) >= MAX_NESTING:
        return ANYTHING
    return frozenset((Choice(frozenset(alternatives), sum(sizes), 1 + max(depths)),))


def _measured(expression: Expression) -> tuple[int, int]:
    """How many leaves an expression holds, and how deep its choices nest."""
    choices = [part for part in expression if isinstance(part, Choice)]
    size = len(expression) - len(choices) + sum(choice.size for choice in choices)
    return size, max((choice.depth for choice in choices), default=0)


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)
