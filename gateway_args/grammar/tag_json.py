"""A tree as an xgrammar structural tag, the form that vLLM, SGLang and TensorRT-LLM pass on.

The tag language has free text without given strings, JSON by schema, regular expressions, and their combinations; what
may hold itself, and text that it cannot keep apart, is written as a grammar in EBNF inside the tag.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from .automaton import rules_of, string_rules
from .nodes import Choice, Cut, Free, Json, Literal, Node, Pattern, Quoted, Repeat, Rule, Sequence, Tree, shortest
from .schemas import XGRAMMAR, XGRAMMAR_EXCLUDING, enforced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..errors import GrammarError

Format = dict[str, Any]
_QUANTIFIERS: Final = {(0, 1): "optional", (0, None): "star", (1, None): "plus"}


def structural_tag_of(tree: Tree, name: str, tokens: tuple[str, ...]) -> tuple[Format, tuple[str, ...]]:
    """The tag, and what it leaves unenforced of the schemas; `tokens` are the markers that are single tokens.

    A string of the JSON may not hold those: the parser would read such a token as the marker.
    """
    printer = _Printer(tree, name, tokens)
    return {"type": "structural_tag", "format": printer.format(tree.root)}, tuple(printer.unenforced)


class _Printer:
    def __init__(self, tree: Tree, name: str, tokens: tuple[str, ...]) -> None:
        self._rules = tree.rules
        self._name = name
        self._tokens = tokens
        self._strings: dict[Quoted, str] = {}
        self.unenforced: dict[str, None] = dict.fromkeys(tree.unenforced)

    def format(self, node: Node) -> Format:
        if _is_grammar(node) == "whole":
            return {"type": "grammar", "grammar": self._grammar(node)}
        match node:
            case Literal(text):
                return {"type": "const_string", "value": text}
            case Pattern(regex):
                return {"type": "regex", "pattern": regex}
            case Json():
                return self._json(node)
            case Quoted():
                return {"type": "grammar", "grammar": self._grammar(node)}
            case Free(excludes, stop, head, avoid):
                if avoid:
                    raise self._cannot(
                        "calls may stand in text without a marker, and free text of a structural tag excludes fixed "
                        "strings alone; choose required or a function's name, or write Lark"
                    )
                if head or _overlaps_itself(stop):
                    return {"type": "grammar", "grammar": self._grammar(node)}
                free: Format = {"type": "any_text", "excludes": list(excludes)}
                if not stop:
                    return free
                return {"type": "sequence", "elements": [free, {"type": "const_string", "value": stop}]}
            case Sequence(()) | Cut():
                return {"type": "const_string", "value": ""}
            case Sequence(items):
                elements = [self.format(item) for item in items if not isinstance(item, Cut)]
                return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": elements}
            case Choice(items):
                return {"type": "or", "elements": [self.format(item) for item in items]}
            case Repeat(item, least, most):
                inner = self.format(item)
                kind = _QUANTIFIERS.get((least, most))
                if kind is not None:
                    return {"type": kind, "content": inner}
                return {"type": "repeat", "min": least, "max": -1 if most is None else most, "content": inner}
            case Rule():
                return {"type": "grammar", "grammar": self._grammar(node)}

    def _cannot(self, reason: str) -> GrammarError:
        from ..errors import GrammarError

        return GrammarError(f"{self._name}: {reason}")

    def _json(self, node: Json) -> Format:
        excludes = shortest([*node.excludes, *self._tokens])
        schema, left = enforced(node.schema, node.where, XGRAMMAR_EXCLUDING if excludes else XGRAMMAR)
        self.unenforced.update(dict.fromkeys(left))
        found: Format = {"type": "json_schema", "json_schema": schema}
        if excludes:
            found["excludes"] = list(excludes)
        return found

    # -------------------------------------------------------------------------------------------- EBNF

    def _grammar(self, node: Node) -> str:
        rules: dict[str, str] = {"root": ""}
        rules["root"] = self._ebnf(node, rules)
        return "\n".join(f"{name} ::= {body}" for name, body in rules.items()) + "\n"

    def _ebnf(self, node: Node, rules: dict[str, str]) -> str:
        match node:
            case Literal(text):
                return quoted(text)
            case Pattern(regex):
                return from_regex(regex)
            case Sequence(()) | Cut():
                return '""'
            case Sequence(items):
                return " ".join(self._ebnf(item, rules) for item in items)
            case Choice(items):
                return "(" + " | ".join(self._ebnf(item, rules) for item in items) + ")"
            case Repeat(item, least, most):
                from .regular import repetition

                return f"({self._ebnf(item, rules)}){repetition(least, most)}"
            case Rule(name):
                if name not in rules:
                    rules[name] = ""
                    rules[name] = self._ebnf(self._rules[name], rules)
                return name
            case Free():
                return self._free(node, rules)
            case Quoted():
                string = replace(node, excludes=shortest([*node.excludes, *self._tokens]))
                prefix = self._strings.setdefault(string, f"string_{len(self._strings)}_")
                if f"{prefix}0" not in rules:
                    rules.update(string_rules(string, prefix))
                return f"{quoted(node.quote)} {prefix}0"
            case Json(where=where):
                raise self._cannot(f"{where}: a part that may hold itself holds values by schema; write Lark")

    def _free(self, node: Free, rules: dict[str, str]) -> str:
        start = next((text for text in node.excludes if text != node.stop and node.stop.startswith(text)), "")
        if start:  # what begins the stop may stand nowhere else
            return f"{self._free(replace(node, stop=start), rules)} {quoted(node.stop[len(start) :])}"
        prefix = f"text_{len(rules)}_"
        for name, body in rules_of(node, prefix).items():
            rules[name] = body
        return f"{prefix}0"


def _is_grammar(node: Node) -> str:
    """Whether a part is to be written in EBNF: "whole" when it has strings or rules, "also" when it can be, else ""."""
    match node:
        case Quoted() | Rule():
            return "whole"
        case Literal() | Pattern() | Cut():
            return "also"
        case Sequence(items) | Choice(items):
            kinds = {_is_grammar(item) for item in items}
            return "" if "" in kinds else "whole" if "whole" in kinds else "also"
        case Repeat(item):
            return _is_grammar(item)
    return ""


def quoted(text: str) -> str:
    """The text as EBNF has it between quotes."""
    return '"' + "".join(_plain(char) for char in text) + '"'


def _plain(char: str) -> str:
    match char:
        case '"' | "\\":
            return "\\" + char
        case "\n":
            return "\\n"
        case "\r":
            return "\\r"
        case "\t":
            return "\\t"
    return char


def from_regex(regex: str) -> str:
    """A `Pattern` as EBNF: the same classes, groups and quantifiers, with literals between quotes."""
    found: list[str] = []
    at = 0
    while at < len(regex):
        char = regex[at]
        end = at + 1
        if char == "[":
            while regex[end] != "]" or regex[end - 1] == "\\":
                end += 2 if regex[end] == "\\" else 1
            end += 1
            found.append(regex[at:end])
        elif char == "{":
            end = regex.index("}", at) + 1
            found[-1] += regex[at:end]
        elif char in "?*+":
            found[-1] += char
        elif char in "()|":
            if char == ")":  # a quantifier behind it belongs to the group
                start = len(found) - 1 - found[::-1].index("(")
                found[start:] = ["(" + " ".join(found[start + 1 :]) + ")"]
            else:
                found.append(char)
        elif char == "\\":
            end = at + 2
            found.append(quoted({"n": "\n", "r": "\r", "t": "\t"}.get(regex[at + 1], regex[at + 1])))
        else:
            found.append(quoted(char))
        at = end
    return " ".join(found) if "|" not in found else "(" + " ".join(found) + ")"


def _overlaps_itself(text: str) -> bool:
    return any(text.startswith(text[n:]) for n in range(1, len(text)))


def text_of(tag: Mapping[str, Any]) -> str:
    """The tag as the JSON that engines take."""
    return json.dumps(tag, ensure_ascii=False)
