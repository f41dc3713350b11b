"""Grammars with one rule loosened, and outputs that only they allow.

A rule is loosened in the grammar's tree: fixed text may be left out, a pattern may be a word, a schema or one of its
keywords says nothing, an excluded text is let in, a part may be missing or come again. What only the loosened grammar
allows is looked for by walks that leave the grammar that it was made from, and by changing the walks of that one.

`python tests/grammar/loosened.py [TABLE ...]` looks for it, for every rule of every table's grammars, and writes
`loosened.jsonl`, a line for each grammar: `outputs`, which the grammar refuses, one of them at least for each rule that
only it keeps; and `equal`, the rules whose loosening lets nothing in. The tests read that file.
"""

from __future__ import annotations

import ast
import hashlib
import random
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import llguidance
import orjson
import walks

from gateway_args import Format, TokenDecoder, Tools, formats
from gateway_args.grammar import _tree
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
    from collections.abc import Iterator, Mapping

FILE: Final = Path(__file__).with_name("loosened.jsonl")

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
    KEYWORD = "a schema's keyword says nothing"
    EXCLUDED = "an excluded text is let in"
    MISSING = "a part may be missing"
    AGAIN = "a part may come again"


STRICT: Final = frozenset({Kind.WORD, Kind.JSON, Kind.KEYWORD, Kind.MISSING})
"""Where nothing harmless is let in: what a value is, and that a call or a parameter is there."""


class Asked(StrEnum):
    """What a request asks of the output."""

    REQUIRED = "a call, no thoughts"
    AUTO = "text, calls and thoughts"
    ONE = "one call at most, behind the open thought"
    IDS = "text, calls and thoughts, markers as special tokens"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a grammar and the way in which it is loosened."""

    kind: Kind
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"

    @property
    def text(self) -> str:
        """The fixed text that it is about; "" for another rule."""
        quoted = re.match(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")( in |$)""", self.what)
        return ast.literal_eval(quoted[1]) if quoted and self.kind in (Kind.TEXT, Kind.EXCLUDED) else ""


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


def _looser(node: Node) -> Iterator[tuple[Rule, Node]]:
    match node:
        case Literal(text) if text.strip():
            yield Rule(Kind.TEXT, repr(text)), optional(node)
        case Pattern(regex) if node != SPACE:
            yield Rule(Kind.WORD, regex), Choice((node, Pattern("[a-z]{2,5}")))
        case Json(schema, where):
            if schema:
                yield Rule(Kind.JSON, where), Json({}, where, node.excludes)
            for path, looser in _without_a_keyword(schema):
                yield Rule(Kind.KEYWORD, f"{where}: {path}"), Json(looser, where, node.excludes)
        case Repeat(item, least, most):
            if least:
                yield Rule(Kind.MISSING, _short(item)), Repeat(item, 0, most)
            if most is not None:
                yield Rule(Kind.AGAIN, _short(item)), Repeat(item, least, None)
    if isinstance(node, Free | Quoted):
        for text in node.excludes:
            stop = getattr(node, "stop", "")
            if text != stop:
                held = (stop,) if text in stop else ()  # the text still ends at its stop
                excludes = (*(other for other in node.excludes if other != text), *held)
                yield Rule(Kind.EXCLUDED, f"{text!r} in {_short(node)}"), replace(node, excludes=excludes)
    if isinstance(node, Free):
        if node.head:
            yield Rule(Kind.EXCLUDED, f"{node.head!r} as the first of {_short(node)}"), replace(node, head="")
        for regex in node.avoid:
            avoid = tuple(other for other in node.avoid if other != regex)
            yield Rule(Kind.EXCLUDED, f"/{regex}/ in {_short(node)}"), replace(node, avoid=avoid)


def _short(node: Node) -> str:
    """What tells the node from the others of its grammar, in a few words."""
    whole = str(node)
    return whole if len(whole) < 60 else f"{type(node).__name__} {hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _without_a_keyword(schema: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema without one keyword that keeps values out, for each at every depth, and where that stood."""
    for key, value in schema.items():
        if value not in ({}, []) and not (key == "properties" and schema.get("additionalProperties") is False):
            yield key, {other: said for other, said in schema.items() if other != key}
        if key in ("properties", "$defs"):
            for name, part in value.items():
                for path, looser in _without_a_keyword(part):
                    yield f"{key}.{name}.{path}", {**schema, key: {**value, name: looser}}
        elif key == "items":
            for path, looser in _without_a_keyword(value):
                yield f"{key}.{path}", {**schema, key: looser}


def loosened(tree: Tree) -> Iterator[tuple[Rule, Tree]]:
    """The tree with one rule loosened, for each rule and way."""
    for node in _nodes(tree):
        for rule, new in _looser(node):
            rules = {name: _replaced(part, node, new) for name, part in tree.rules.items()}
            yield rule, replace(tree, root=_replaced(tree.root, node, new), rules=rules)


@dataclass(frozen=True)
class Made:
    """One grammar of a table: what it was made for, its tree and its text."""

    format: Format
    tools: Tools
    asked: Asked
    of: str
    tree: Tree
    markers: Mapping[str, int]

    @property
    def key(self) -> tuple[str, Asked, str]:
        return self.format.name, self.asked, self.of

    def text(self, tree: Tree | None = None) -> str:
        return lark_of(tree or self.tree, self.markers)[0]

    def rules(self) -> Iterator[tuple[Rule, str]]:
        """Each rule with the text of the grammar without it; what is excluded beside is written once."""
        text = self.text()
        for rule, tree in loosened(self.tree):
            if rule.kind is Kind.EXCLUDED and rule.text in self.markers:
                continue  # a token that no text matches
            if (looser := self.text(tree)) != text:
                yield rule, looser

    def allows(self, grammar: str, output: str) -> bool:
        return walks.allows(grammar, output, self.markers)

    def is_misread(self, output: str) -> bool:
        """Whether the output breaks the promise of guided decoding."""
        choice = "required" if self.asked in (Asked.REQUIRED, Asked.ONE) else "auto"
        start = "reasoning" if self.asked is Asked.ONE and "reasoning" in self.format.states else None
        walk = walks.Walk(output, walks.spelled(output, self.markers))
        reading = walks.reading_of(self.format, self.tools, walk, start=start, by_id=bool(self.markers))
        if walks.faults(reading, self.tools, choice=choice, parallel=self.asked is not Asked.ONE):
            return True
        if self.asked is Asked.REQUIRED and reading.reasoning:
            return True
        return not self.markers and bool(walks.quoted_markers(reading, self.format))


def grammars(name: str) -> Iterator[Made]:
    """The grammars of a table whose rules are loosened: for each kind of value, and for each other request."""
    format = formats.load(name)
    thinks = "reasoning" in format.states
    for of, properties in PROPERTIES.items():
        tools = tools_with(properties)
        yield Made(format, tools, Asked.REQUIRED, of, _tree(format, tools, "required", True, "none"), {})
    of, tools = "a string", tools_with(PROPERTIES["a string"])
    auto = _tree(format, tools, "auto", True, "optional")
    one = _tree(format, tools, "required", False, "open" if thinks else "none")
    yield Made(format, tools, Asked.AUTO, of, auto, {})
    yield Made(format, tools, Asked.ONE, of, one, {})
    if markers := TokenDecoder(walks.encoding()).markers(format):
        yield Made(format, tools, Asked.IDS, of, auto, markers)


class Finder:
    """Outputs that a loosened grammar allows and the one that it was made from refuses."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._original = made.text()
        self._matcher = llguidance.LLMatcher(walks.tokenizer(), self._original)
        assert not self._matcher.is_error(), self._matcher.get_error()
        texts = walks.texts_of(made.format, walks.WORDS), walks.closing_texts(made.format, walks.WORDS)
        self._texts, self._ends = ([walks.spelled(text, made.markers) for text in row] for row in texts)
        self._closers = [walks.spelled(text, {}) for text in walks.CLOSERS]
        self._others = [walks.spelled(text, {}) for text in walks.OTHERS]
        self._end = 1 << walks.encoding().n_vocab
        walker = walks.Walker(self._original, made.format, walks.WORDS, made.markers)
        rng = random.Random(str(made.key))
        self._walks = sorted({walker.walk(rng, 20).text for _ in range(24)}, key=len)

    def find(self, rule: Rule, looser: str, tries: int = 80) -> str | None:
        """The shortest output found, one that is misread before others; None: nothing was found."""
        matcher = llguidance.LLMatcher(walks.tokenizer(), looser)
        if matcher.is_error():
            return None  # a schema that no value fits
        rng = random.Random(str(rule))
        best: tuple[bool, int, str] | None = None
        for tried, output in enumerate(self._candidates(rule, looser, matcher, rng)):
            if output is not None and not self._made.allows(self._original, output):
                if self._made.allows(looser, output):  # as its text is spelled
                    found = (not self._made.is_misread(output), len(output), output)
                    best = min(best or found, found)
            if best is not None and (tried >= tries or (not best[0] and tried >= tries // 4)):
                break
        return best[2] if best else None

    def shortened(self, output: str, looser: str) -> str:
        """The output with all left out that does not matter to it."""
        misread = self._made.is_misread(output)
        size = len(output) // 2
        while size:
            at = 0
            while at < len(output):
                less = output[:at] + output[at + size :]
                if (
                    not self._made.allows(self._original, less)
                    and self._made.allows(looser, less)
                    and self._made.is_misread(less) == misread
                ):
                    output = less
                else:
                    at += size
            size //= 2
        return output

    def _candidates(
        self, rule: Rule, looser: str, matcher: llguidance.LLMatcher, rng: random.Random
    ) -> Iterator[str | None]:
        if rule.kind is Kind.TEXT:
            yield from self._without(rule.text)
        elif rule.text:
            text = rule.text
            for walk in self._walks:
                for at in rng.sample(range(len(walk) + 1), min(len(walk) + 1, 12)):
                    yield walk[:at] + text + walk[at:]
        for _ in range(400):
            yield self._walk(matcher, rng)

    def _without(self, text: str) -> Iterator[str]:
        for walk in self._walks:
            at = walk.find(text)
            while at >= 0:
                yield walk[:at] + walk[at + len(text) :]
                at = walk.find(text, at + 1)

    def _walk(self, looser: llguidance.LLMatcher, rng: random.Random) -> str | None:
        """A walk of the looser grammar beside the other, which it leaves where it can; None: a dead end."""
        looser.reset()
        self._matcher.reset()
        inside = True  # the other grammar allows what is written so far
        length = rng.randrange(30)
        written: list[int] = []
        while len(written) < 400 and not looser.is_stopped():
            done = not inside or len(written) >= length
            if looser.is_accepting() and (done or not self._matcher.is_accepting()) and rng.random() < 0.6:
                break
            ids = self._next(looser, rng, inside, done)
            if not ids or not looser.consume_tokens(ids):
                return None
            if inside and self._matcher.validate_tokens(ids) == len(ids):
                self._matcher.consume_tokens(ids)
            else:
                inside = False
            written += ids
        if not looser.is_accepting():
            return None
        return walks.encoding().decode_bytes(written).decode("utf-8", "ignore")

    def _next(self, looser: llguidance.LLMatcher, rng: random.Random, inside: bool, done: bool) -> list[int]:
        allowed = int.from_bytes(looser.compute_bitmask(), "little") & ~self._end
        if inside and rng.random() < 0.6:
            leaves = allowed & ~int.from_bytes(self._matcher.compute_bitmask(), "little")
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


@dataclass(frozen=True)
class Shown:
    """What a line of the file says of one grammar."""

    outputs: tuple[str, ...]
    """It refuses each of them."""
    equal: tuple[str, ...]
    """The rules that let nothing in when they are loosened."""


def recorded() -> dict[tuple[str, Asked, str], Shown]:
    found = {}
    for line in FILE.read_bytes().splitlines():
        entry = orjson.loads(line)
        key = entry["format"], Asked(entry["asked"]), entry["of"]
        found[key] = Shown(tuple(entry["outputs"]), tuple(entry["equal"]))
    return found


def rules_of(name: str) -> Iterator[tuple[Made, list[tuple[Rule, str]]]]:
    """The grammars of a table, each with its rules: those of the markup once, those of a schema for each."""
    seen: set[tuple[Asked, Rule]] = set()
    for made in grammars(name):
        rules = []
        for rule, looser in made.rules():
            if rule.kind in (Kind.JSON, Kind.KEYWORD) or (made.asked, rule) not in seen:
                seen.add((made.asked, rule))
                rules.append((rule, looser))
        yield made, rules


def shown(made: Made, rules: list[tuple[Rule, str]], totals: Counter[tuple[Kind, str]]) -> Shown:
    finder = Finder(made)
    outputs: list[str] = []
    misread: set[str] = set()
    for rule, looser in rules:
        among = [output for output in outputs if made.allows(looser, output)]
        if not among or (rule.kind in STRICT and misread.isdisjoint(among)):
            output = finder.find(rule, looser)
            if output is not None:
                output = finder.shortened(output, looser)
                among.append(output)
                if output not in outputs:
                    outputs.append(output)
                if made.is_misread(output):
                    misread.add(output)
        how = "misread" if misread.intersection(among) else "read all the same" if among else "nothing let in"
        totals[rule.kind, how] += 1
    return Shown(tuple(outputs), equal_rules(made, rules, outputs))


def equal_rules(made: Made, rules: list[tuple[Rule, str]], outputs: list[str]) -> tuple[str, ...]:
    return tuple(str(rule) for rule, looser in rules if not any(made.allows(looser, output) for output in outputs))


def shown_of(name: str) -> tuple[list[tuple[tuple[str, Asked, str], Shown]], Counter[tuple[Kind, str]]]:
    totals: Counter[tuple[Kind, str]] = Counter()
    return [(made.key, shown(made, rules, totals)) for made, rules in rules_of(name) if rules], totals


def write(names: list[str]) -> None:
    known = {key: entry for key, entry in recorded().items() if key[0] not in names} if FILE.exists() else {}
    totals: Counter[tuple[Kind, str]] = Counter()
    with ProcessPoolExecutor() as pool:
        for name, (entries, counts) in zip(names, pool.map(shown_of, names), strict=True):
            print(name, flush=True)
            known.update(entries)
            totals += counts
    lines = [
        orjson.dumps({"format": key[0], "asked": key[1].value, "of": key[2], **asdict(entry)})
        for key, entry in sorted(known.items(), key=lambda item: item[0][0])
    ]
    FILE.write_bytes(b"".join(line + b"\n" for line in lines))
    for (kind, how), count in sorted(totals.items()):
        print(f"{kind}: {count} {how}")


if __name__ == "__main__":
    import sys

    write(sys.argv[1:] or [n for n in formats.names() if any(s.calls for s in formats.load(n).states.values())])
