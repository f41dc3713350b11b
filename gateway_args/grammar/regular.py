"""The regular part of a tree as one regular expression, in what llguidance and xgrammar read alike."""

from __future__ import annotations

from typing import Final

from .nodes import Choice, Cut, Free, Json, Literal, Node, Pattern, Quoted, Repeat, Rule, Sequence

_SPECIAL: Final = frozenset(r"\.^$*+?()[]{}|/")
_HEX: Final = "[0-9a-fA-F]"
_UNICODE: Final = (
    rf"\\u([0-9a-ce-fA-CE-F]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}}|[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}})"
)
_BODY: Final = {  # (quote, JSON): one character of the string
    ('"', True): rf'[^"\\\x00-\x1f]|\\["\\\/bfnrt]|{_UNICODE}',
    ('"', False): rf'[^"\\\x00-\x08\x0b-\x1f]|\\["\'\\bfnrt]|{_UNICODE}',
    ("'", False): rf"[^'\\\x00-\x08\x0b-\x1f]|\\[\"'\\bfnrt]|{_UNICODE}",
}
"""In Python's strings a raw line break may stand, as some models write it."""
_NAMED: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escaped(text: str) -> str:
    """A regular expression of this text alone."""
    return "".join(_NAMED.get(char) or (f"\\{char}" if char in _SPECIAL else char) for char in text)


def is_regular(node: Node) -> bool:
    """Whether the tree is fixed text and patterns alone."""
    match node:
        case Literal() | Pattern() | Quoted(excludes=()):
            return True
        case Sequence(items) | Choice(items):
            return all(map(is_regular, items))
        case Repeat(item):
            return is_regular(item)
    return False


def can_be_empty(node: Node) -> bool:
    """Whether the empty text is in the tree's language."""
    match node:
        case Literal(text):
            return not text
        case Pattern(regex):
            import re

            return re.fullmatch(regex, "") is not None
        case Free(stop=stop):
            return not stop
        case Sequence(items):
            return all(map(can_be_empty, items))
        case Choice(items):
            return any(map(can_be_empty, items))
        case Repeat(item, least):
            return not least or can_be_empty(item)
    return False


def expression(node: Node) -> str:
    """The regular expression of a regular tree."""
    match node:
        case Literal(text):
            return escaped(text)
        case Pattern(regex):
            return f"({regex})" if "|" in regex else regex
        case Quoted(excludes=()):
            return quoted_expression(node)
        case Sequence(items):
            return "".join(map(expression, items))
        case Choice(items):
            return "(" + "|".join(map(expression, items)) + ")"
        case Repeat(item, least, most):
            inner = expression(item)
            return (inner if _is_one(item) else f"({inner})") + repetition(least, most)
        case Free() | Quoted() | Json() | Cut() | Rule():
            raise AssertionError(f"{node} is not regular")


def quoted_expression(node: Quoted) -> str:
    """The regular expression of a string, `excludes` aside."""
    return f"{node.quote}({_BODY[node.quote, node.json]})*{node.quote}"


def repetition(least: int, most: int | None) -> str:
    """The quantifier of so many."""
    match least, most:
        case 0, 1:
            return "?"
        case 0, None:
            return "*"
        case 1, None:
            return "+"
    return f"{{{least},{'' if most is None else most}}}"


def _is_one(node: Node) -> bool:
    return isinstance(node, Choice) or (isinstance(node, Literal) and len(node.text) == 1)
