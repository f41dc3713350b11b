"""A tree as a Lark grammar for llguidance.

llguidance's lexer takes the longest lexeme and never goes back, so lexemes are cut where that is harmless: a stretch of
fixed text and patterns is one terminal, free text is one with the text that stops it, and what a marker alone cannot
decide is left to the terminal behind it. In a vocabulary whose markers are special tokens no text matches them; given
their ids, the grammar names those tokens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .nodes import Choice, Cut, Free, Json, Literal, Node, Quoted, Repeat, Rule, Sequence, Tree, sequence
from .regular import can_be_empty, escaped, expression, is_regular, quoted_expression, repetition
from .schemas import LLGUIDANCE, enforced
from .values import JSON, LiteralValues, Values

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANY: Final = "(?s:.*)"
_HEADER: Final = "%llguidance {}\n"
_JSON: Final = {"whitespace_pattern": r"[ \t\n\r]{1,64}", "json_allow_general_unicode_escapes": True}
"""How llguidance writes JSON: white space has an end, and strings may hold every escape that names a character."""


@dataclass(frozen=True, slots=True)
class _Special:
    """A special token of the vocabulary, by its id."""

    id: int


def lark_of(tree: Tree, markers: Mapping[str, int]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The grammar's text, what it leaves unenforced of the schemas, and where it is narrower."""
    return _Printer(tree, markers).text()


class _Printer:
    def __init__(self, tree: Tree, markers: Mapping[str, int]) -> None:
        self._tree = tree
        self._special = sorted(markers.items(), key=lambda item: (-len(item[0]), item[0]))
        self._terminals: dict[str, str] = {}  # definition -> name
        self._rules: dict[str, str] = {}
        self._json: dict[Json, str] = {}
        self._shared: dict[Node, str] = {}
        self._unenforced: dict[str, None] = dict.fromkeys(tree.unenforced)
        self._narrowed: dict[str, None] = dict.fromkeys(tree.narrowed)

    def text(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        start = self._rule(self._tree.root)
        for name, node in self._tree.rules.items():
            self._rules[name] = self._rule(node)
        lines = [f"start: {start}"]
        lines += [f"{name}: {body}" for name, body in self._rules.items()]
        lines += [f"{name}: {body}" for body, name in self._terminals.items()]
        return _HEADER + "\n".join(lines) + "\n", tuple(self._unenforced), tuple(self._narrowed)

    # ------------------------------------------------------------------------------------------- rules

    def _rule(self, node: Node) -> str:
        """The right side of a rule."""
        match node:
            case Choice(items) if not is_regular(node) or self._spells(node):
                return " | ".join(self._rule(item) or '""' for item in items)
            case Sequence(()):
                return '""'
            case Sequence(items):
                return " ".join(self._row(items))
        return self._one(node)

    def _one(self, node: Node) -> str:
        """One symbol of a rule's right side."""
        if isinstance(node, Json):
            return self._schema(node)
        if isinstance(node, Rule):
            return node.name
        if isinstance(node, Quoted) and node.excludes:
            barred = "|".join(map(escaped, node.excludes))
            return self._terminal(f"/{quoted_expression(node)}/ & ~/{_ANY}({barred}){_ANY}/", "STRING")
        if isinstance(node, Repeat) and (not is_regular(node) or self._spells(node)):
            return self._named(node.item) + repetition(node.least, node.most)
        if isinstance(node, Choice | Sequence) and (not is_regular(node) or self._spells(node)):
            return self._named(node)
        return " ".join(self._row((node,)))

    def _named(self, node: Node) -> str:
        """A rule of its own for this part, one for all that are equal."""
        if isinstance(node, Rule | Json):
            return self._one(node)
        if node not in self._shared:
            name = self._shared[node] = f"part_{len(self._shared) + 1}"
            self._rules[name] = ""  # keeps its place before the rules that it uses
            self._rules[name] = self._rule(node)
        return self._shared[node]

    def _row(self, items: tuple[Node, ...]) -> list[str]:
        """The symbols of a sequence: stretches of fixed text and patterns as terminals, and what stands between."""
        found: list[str] = []
        lead: Free | None = None
        run: list[Node] = []
        for part in self._parts(items):
            if isinstance(part, _Special):
                found += self._stretch(lead, run)
                found.append(f"<[{part.id}]>")
                lead, run = None, []
            elif isinstance(part, Cut):
                found += self._stretch(lead, run)
                lead, run = None, []
            elif isinstance(part, Free):
                found += self._stretch(lead, run)
                lead, run = part, []
                if part.stop:
                    found += self._stretch(lead, run)
                    lead = None
            elif is_regular(part) and not self._spells(part):
                run.append(part)
            else:
                found += self._stretch(lead, run)
                lead, run = None, []
                found.append(self._one(part))
        return [*found, *self._stretch(lead, run)]

    def _parts(self, items: tuple[Node, ...]) -> list[Node | _Special]:
        """The items with the special tokens in their literals taken out."""
        found: list[Node | _Special] = []
        for item in items:
            match item:
                case Literal(text) if self._special:
                    found += self._split(text)
                case Free(excludes, stop, head, avoid) if stop and any(special in stop for special, _ in self._special):
                    first, *rest = self._split(stop)
                    before = first.text if isinstance(first, Literal) else ""
                    found.append(Free(excludes, before, head, avoid))
                    found += rest if isinstance(first, Literal) else [first, *rest]
                case Sequence(inner):
                    found += self._parts(inner)
                case _:
                    found.append(item)
        return found

    def _split(self, text: str) -> list[Node | _Special]:
        for special, id in self._special:
            before, here, behind = text.partition(special)
            if here:
                return [*self._split(before), _Special(id), *self._split(behind)]
        return [Literal(text)] if text else []

    def _spells(self, node: Node) -> bool:
        """Whether a special token stands in the fixed text of this part."""
        match node:
            case Literal(text):
                return any(special in text for special, _ in self._special)
            case Sequence(items) | Choice(items):
                return any(map(self._spells, items))
            case Repeat(item):
                return self._spells(item)
        return False

    def _schema(self, node: Json) -> str:
        if node.excludes and node not in self._json:
            values = Values()
            literals = LiteralValues(values, JSON.without(node.excludes, f"json_{len(self._json) + 1}"))
            written = literals.value(node.schema, node.schema, node.where)
            self._unenforced.update(values.unenforced)
            self._narrowed.update(values.narrowed)
            for name, rule in values.rules.items():
                self._rules[name] = ""
                self._rules[name] = self._rule(rule)
            self._json[node] = self._named(written)
        if node not in self._json:
            schema, left = enforced(node.schema, node.where, LLGUIDANCE)
            self._unenforced.update(dict.fromkeys(left))
            name = self._json[node] = f"json_{len(self._json) + 1}"
            self._rules[name] = "%json " + json.dumps({**schema, "x-guidance": _JSON}, ensure_ascii=False)
        return self._json[node]

    # ---------------------------------------------------------------------------------------- terminals

    def _terminal(self, definition: str, kind: str) -> str:
        if definition not in self._terminals:
            self._terminals[definition] = f"{kind}_{len(self._terminals) + 1}"
        return self._terminals[definition]

    def _stretch(self, lead: Free | None, run: list[Node]) -> list[str]:
        """The terminal of free text and what follows it directly, or of fixed text and patterns alone."""
        joined = sequence(*run)
        if lead is None:
            if joined == Sequence(()):
                return []
            pattern = f"/{expression(joined)}/"
            if can_be_empty(joined):
                return [self._terminal(f"{pattern} & /(?s:.+)/", "RUN") + "?"]
            return [self._terminal(pattern, "RUN")]
        text = self._free(lead)
        if lead.stop:
            body = f"({text} /{escaped(lead.stop)}/)"
            if _overlaps_itself(lead.stop):
                body += f" & ~/{_ANY}{escaped(lead.stop)}(?s:.+)/"
            return [self._terminal(body, "UNTIL")]
        if joined != Sequence(()):
            return [self._terminal(f"{text} /{expression(joined)}/", "TEXT_THEN")]
        return [self._terminal(f"{text} & /(?s:.+)/", "SOME_TEXT") + "?"]

    def _free(self, node: Free) -> str:
        """The terminal of text without what it may not hold."""
        parts = [f"/{_ANY}/"]
        barred = [*map(escaped, node.excludes), *node.avoid]
        if barred:
            parts.append(f"~/{_ANY}({'|'.join(barred)}){_ANY}/")
        if node.head:
            parts.append(rf"~/[ \t\n\r]*[{escaped(node.head)}]{_ANY}/")
        return self._terminal(" & ".join(parts), "TEXT")


def _overlaps_itself(text: str) -> bool:
    """Whether the text's end can be the beginning of another occurrence."""
    return any(text.startswith(text[n:]) for n in range(1, len(text)))
