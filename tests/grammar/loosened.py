"""Grammars with one rule loosened, and outputs that only they allow.

A rule is loosened in the grammar's tree: fixed text may be left out, a pattern may be a word, a schema may be any JSON,
an excluded text is let in, a part may be missing or come again. A walk of the loosened grammar goes beside the one it
was made from and leaves it where it can; what it wrote then is read like any walk.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import llguidance
import walks

from gateway_args import Tools, formats
from gateway_args.grammar.calls import Calls
from gateway_args.grammar.flow import Request, tree_of
from gateway_args.grammar.lark_text import lark_of
from gateway_args.grammar.nodes import (
    SPACE,
    Choice,
    Free,
    Json,
    Literal,
    Node,
    Pattern,
    Quoted,
    Repeat,
    Sequence,
    Tree,
    optional,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args import Format

# One small function at a time, so that a few walks meet every rule.
PROPERTIES: Final[dict[str, dict[str, Any]]] = {
    "nothing": {},
    "a string": {"query": {"type": "string"}},
    "a whole number": {"limit": {"type": "integer"}},
    "true or false": {"exact": {"type": "boolean"}},
    "a list": {"tags": {"type": "array", "items": {"type": "string"}}},
    "an object": {
        "where": {
            "type": "object",
            "properties": {"x": {"type": "number"}},
            "required": ["x"],
            "additionalProperties": False,
        }
    },
    "one of two": {"mode": {"enum": ["fast", "slow way"]}},
    "two parameters": {"query": {"type": "string"}, "limit": {"type": "integer"}},
}


class Kind(StrEnum):
    """What was loosened."""

    TEXT = "fixed text may be left out"
    WORD = "a pattern may be a word"
    JSON = "a schema may be any JSON"
    EXCLUDED = "an excluded text is let in"
    MISSING = "a part may be missing"
    AGAIN = "a part may come again"


STRICT: Final = frozenset({Kind.WORD, Kind.JSON, Kind.MISSING})
"""Where nothing harmless is let in: what a value is, and that a call or a parameter is there."""


class Outcome(StrEnum):
    """What a loosened rule comes to."""

    FOUND = "what it lets in is misread"
    READ = "what it lets in is read"
    EQUAL = "it lets nothing in"


@dataclass(frozen=True, slots=True)
class Loosened:
    """A rule that was loosened, what came of it, and an output that shows it."""

    kind: Kind
    what: str
    outcome: Outcome
    output: str = ""


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence(items) | Choice(items):
            return items
        case Repeat(item):
            return (item,)
    return ()


def _nodes(tree: Tree) -> list[Node]:
    """Each once."""
    found: dict[Node, None] = {}
    stack = [tree.root, *tree.rules.values()]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack += reversed(_children(node))
    return list(found)


def _replaced(node: Node, old: Node, new: Node) -> Node:
    if node == old:
        return new
    match node:
        case Sequence(items):
            return Sequence(tuple(_replaced(item, old, new) for item in items))
        case Choice(items):
            return Choice(tuple(_replaced(item, old, new) for item in items))
        case Repeat(item, least, most):
            return Repeat(_replaced(item, old, new), least, most)
    return node


def _looser(node: Node) -> Iterator[tuple[Kind, str, Node]]:
    match node:
        case Literal(text) if text.strip():
            yield Kind.TEXT, repr(text), optional(node)
        case Pattern(regex) if node != SPACE:
            yield Kind.WORD, regex, Choice((node, Pattern("[a-z]{2,5}")))
        case Json(schema, where):
            if schema:
                yield Kind.JSON, where, Json({}, where, node.excludes)
        case Repeat(item, least, most):
            if least:
                yield Kind.MISSING, str(item), Repeat(item, 0, most)
            if most is not None:
                yield Kind.AGAIN, str(item), Repeat(item, least, None)
    if isinstance(node, Free | Quoted):
        for text in node.excludes:
            if text != getattr(node, "stop", ""):
                excludes = tuple(other for other in node.excludes if other != text)
                yield Kind.EXCLUDED, repr(text), replace(node, excludes=excludes)


def loosened(tree: Tree) -> Iterator[tuple[Kind, str, Tree]]:
    """The tree with one rule loosened, for each rule and way."""
    for node in _nodes(tree):
        for kind, what, new in _looser(node):
            rules = {name: _replaced(rule, node, new) for name, rule in tree.rules.items()}
            yield kind, what, replace(tree, root=_replaced(tree.root, node, new), rules=rules)


class Leaver:
    """Walks of a loosened grammar beside the one it was made from."""

    def __init__(self, looser: str, original: str, format: Format) -> None:
        self._looser = llguidance.LLMatcher(walks.tokenizer(), looser)
        self._original = llguidance.LLMatcher(walks.tokenizer(), original)
        assert not self._looser.is_error(), self._looser.get_error()
        encode = walks.encoding().encode_ordinary
        self._texts = [encode(text) for text in walks.texts_of(format, walks.WORDS)]
        self._closers = [encode(text) for text in walks.CLOSERS]
        self._ends = [encode(text) for text in walks.closing_texts(format, walks.WORDS)]
        self._others = [encode(text) for text in walks.OTHERS]
        self._end = 1 << walks.encoding().n_vocab

    def walk(self, rng: random.Random) -> str | None:
        """An output that the looser grammar allows, from where it can by what the other refuses; None: a dead end."""
        self._looser.reset()
        self._original.reset()
        inside = True  # the other grammar allows what is written so far
        length = rng.randrange(30)
        written: list[int] = []
        while len(written) < 400 and not self._looser.is_stopped():
            done = not inside or len(written) >= length
            if self._looser.is_accepting() and (done or not self._original.is_accepting()) and rng.random() < 0.6:
                break
            ids = self._next(rng, inside, done)
            if not ids or not self._looser.consume_tokens(ids):
                return None
            if inside and self._original.validate_tokens(ids) == len(ids):
                self._original.consume_tokens(ids)
            else:
                inside = False
            written += ids
        return walks.encoding().decode_bytes(written).decode("utf-8") if self._looser.is_accepting() else None

    def _next(self, rng: random.Random, inside: bool, done: bool) -> list[int]:
        looser = self._looser
        allowed = int.from_bytes(looser.compute_bitmask(), "little") & ~self._end
        if inside and rng.random() < 0.6:
            leaves = allowed & ~int.from_bytes(self._original.compute_bitmask(), "little")
            if leaves:
                return _one_of(leaves, rng)
        if rng.random() < (0.8 if done else 0.3):
            first = rng.choice([[self._closers, self._ends], [self._ends, self._closers]]) if done else []
            for tier in [*first, self._texts, *([self._others] if done else [])]:
                for ids in rng.sample(tier, len(tier)):
                    if ids and looser.validate_tokens(ids) == len(ids):
                        return ids
        return _one_of(allowed, rng)


def _one_of(bits: int, rng: random.Random) -> list[int]:
    """The number of one bit that is set; none without any."""
    if not bits:
        return []
    start = rng.randrange(bits.bit_length())
    bits = (bits >> start) << start
    return [(bits & -bits).bit_length() - 1]


def tools_with(properties: dict[str, Any]) -> Tools:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Tools.of([{"type": "function", "function": {"name": "find", "parameters": schema}}])


def check(name: str, properties: dict[str, Any], shown: int = 12, tries: int = 80) -> list[Loosened]:
    """Every rule of the grammar for one required function, loosened: `shown` outputs are read, of `tries` walks."""
    format, tools = formats.load(name), tools_with(properties)
    calls = Calls(format, tools)
    root = tree_of(format, calls, Request(text=False, many=True, reasoning=False, inside=False))
    tree = Tree(root, calls.values.rules)
    original = lark_of(tree, {})[0]
    found = []
    for kind, what, mutant in loosened(tree):
        looser = lark_of(mutant, {})[0]
        if looser == original:  # what is excluded beside is written once
            found.append(Loosened(kind, what, Outcome.EQUAL))
        else:
            found.append(_judged(kind, what, looser, original, format, tools, shown, tries))
    return found


def _judged(
    kind: Kind, what: str, looser: str, original: str, format: Format, tools: Tools, shown: int, tries: int
) -> Loosened:
    rng = random.Random(f"{format.name} {kind} {what}")
    leaver = Leaver(looser, original, format)
    outcome, shows, left = Outcome.EQUAL, "", 0
    strict = kind in STRICT
    for tried in range(10 * tries):
        if tried >= tries and (left or not strict):
            break
        text = leaver.walk(rng)
        if text is None or walks.allows(original, text):
            continue
        outcome, shows, left = Outcome.READ, text, left + 1
        reading = walks.reading_of(format, tools, walks.Walk(text, []), start=None, by_id=False)
        if walks.faults(reading, tools, choice="required") or walks.quoted_markers(reading, format):
            return Loosened(kind, what, Outcome.FOUND, text)
        if left == shown:
            break
    return Loosened(kind, what, outcome, shows)


if __name__ == "__main__":
    import sys

    total: Counter[tuple[Kind, Outcome]] = Counter()
    for table in sys.argv[1:] or formats.names():
        if any(state.calls for state in formats.load(table).states.values()):
            rules = [rule for properties in PROPERTIES.values() for rule in check(table, properties)]
            total.update((rule.kind, rule.outcome) for rule in rules)
            print(table, dict(Counter(rule.outcome.name.lower() for rule in rules)), flush=True)
            for rule in sorted({rule for rule in rules if rule.outcome is not Outcome.FOUND}, key=str):
                print("   ", rule.outcome.name, rule.kind, rule.what[:60], repr(rule.output)[:120])
    for kind in Kind:
        print(f"{kind}: " + ", ".join(f"{total[kind, outcome]} {outcome}" for outcome in Outcome))
