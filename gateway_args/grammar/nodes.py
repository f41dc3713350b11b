"""A constraint as a small tree that no engine's language shapes: what a printer says as a structural tag or as Lark.

`Literal` is fixed text, `Pattern` a regular expression, `Free` text that may not hold certain others, `Quoted` a
string, `Json` a value that a schema describes; `Sequence`, `Choice` and `Repeat` combine them, `Rule` names a part that
may hold itself. The functions build the same trees with what is trivial taken out, so that equal languages are mostly
equal trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Literal:
    """This text."""

    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text that this regular expression matches as a whole.

    Written in what all targets read alike: classes, groups, `|`, `?`, `*`, `+`, `{m,n}`; no anchors, no look-around.
    """

    regex: str


@dataclass(frozen=True, slots=True)
class Free:
    """Any text that holds none of `excludes`; then `stop`, which is the first one there is.

    `head` lists characters with which the text may not begin, white space before them aside. `avoid` are regular
    expressions that the text may not hold either; not every target can say those.
    """

    excludes: tuple[str, ...] = ()
    stop: str = ""
    head: str = ""
    avoid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quoted:
    """A string between two of these quotes, whose text as written holds none of `excludes`.

    Escapes are Python's that JSON has too, `json` allows nothing but JSON; surrogates come in pairs.
    """

    quote: str
    excludes: tuple[str, ...] = ()
    json: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Json:
    """A JSON value that this schema describes; compared by identity, so that one schema is printed once."""

    schema: Mapping[str, Any]
    where: str
    """What the schema is, for messages: a tool's name, or a tool's name and a parameter."""
    excludes: tuple[str, ...] = ()
    """Texts that its strings may not hold as they are written."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """These, one after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these; without any, nothing at all is allowed."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`item` from `least` to `most` times; `most` None is any number."""

    item: Node
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Nothing: where a lexer that takes the longest lexeme has to end one, since what follows may begin alike."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The tree of that name in `Tree.rules`."""

    name: str


Node = Literal | Pattern | Free | Quoted | Json | Sequence | Choice | Repeat | Cut | Rule

EMPTY: Final = Sequence(())
NOTHING: Final = Choice(())
"""What no text matches."""

SPACE: Final = Pattern(r"[ \t\n\r]{0,16}")
"""White space where the parser takes any: as much as templates write, and an end to it."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A whole constraint: its tree, the rules that it names, and how it differs from the tools' schemas."""

    root: Node
    rules: Mapping[str, Node] = field(default_factory=dict)
    unenforced: tuple[str, ...] = ()
    """Where more is allowed than a schema says: `add.parameters.a: pattern`."""
    narrowed: tuple[str, ...] = ()
    """Where less is allowed than a schema says."""


def sequence(*items: Node) -> Node:
    """These in a row, with sequences inside opened up and literals joined."""
    found: list[Node] = []
    for item in items:
        for part in item.items if isinstance(item, Sequence) else (item,):
            if part == NOTHING:
                return NOTHING
            last = found[-1] if found else None
            if isinstance(part, Literal) and isinstance(last, Literal):
                found[-1] = Literal(last.text + part.text)
            elif part != Literal("") and not (isinstance(part, Cut) and isinstance(last, Cut | None)):
                found.append(part)
    return found[0] if len(found) == 1 else Sequence(tuple(found))


def choice(items: Iterable[Node]) -> Node:
    """One of these, each once, with what no text matches left out; several ways to leave all out become `optional`."""
    found: dict[Node, None] = {}
    empty = False
    for item in items:
        for part in item.items if isinstance(item, Choice) else (item,):
            if part == EMPTY:
                empty = True
            else:
                found.setdefault(part)
    only = next(iter(found)) if len(found) == 1 else Choice(tuple(found))
    return (optional(only) if found else EMPTY) if empty else only


def optional(item: Node) -> Node:
    match item:
        case Sequence(()) | Choice(()):
            return EMPTY
        case Repeat(least=0):
            return item
        case Repeat(inner, 1, most):
            return Repeat(inner, 0, most)
    return Repeat(item, 0, 1)


def star(item: Node) -> Node:
    """Any number of these."""
    match item:
        case Sequence(()) | Choice(()):
            return EMPTY
        case Repeat(inner, 0 | 1):
            return Repeat(inner)
    return Repeat(item)


def repeated(item: Node, least: int, most: int | None) -> Node:
    """So many of these."""
    if most == 0 or (item == NOTHING and not least):
        return EMPTY
    return item if least == most == 1 else Repeat(item, least, most)


def separated(item: Node, separator: Node, most: int | None = None) -> Node:
    """One or more of these with a separator between them; `most` 1 is one."""
    return item if most == 1 else sequence(item, star(sequence(separator, item)))


def shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """These texts without those that hold another, sorted."""
    known = sorted(set(texts), key=lambda text: (len(text), text))
    return tuple(
        sorted(text for n, text in enumerate(known) if text and not any(other in text for other in known[:n] if other))
    )
