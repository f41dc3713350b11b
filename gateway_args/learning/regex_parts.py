"""Reads a regular expression of a response template as what a table's patterns can say.

A pattern is taken apart with Python's own parser and written out as alternatives, each a row of parts: literals,
white space, named groups, runs of text that nobody wants. Optional parts and choices become alternatives. What is none
of these (a look-around, a back reference, a class with no meaning here) is refused by name.
"""

# The opcodes are made when `re._constants` is imported, so no checker sees them.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import itertools
import re
import re._constants as op  # type: ignore[import-not-found]  # typeshed leaves it out
import re._parser as parser  # type: ignore[import-not-found]
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST: Final = 64
"""Alternatives of one pattern."""
_SPACE: Final = " \t\n\r"


@dataclass(frozen=True, slots=True)
class Literal:
    """Text as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Space:
    """White space or none."""


@dataclass(frozen=True, slots=True)
class Group:
    """A named group: a word."""

    name: str


@dataclass(frozen=True, slots=True)
class Run:
    """Text that nobody wants, up to what follows; `without` are characters that it may not hold."""

    without: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that nobody wants: digits, or letters of some class."""


@dataclass(frozen=True, slots=True)
class Around:
    """The beginning or the end of a named group that has parts of its own."""

    name: str
    ends: bool


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of the output."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A word begins or ends here."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What follows is looked at and not taken."""


Part = Literal | Space | Group | Run | Word | Around | Start | Boundary | Ahead
Row = tuple[Part, ...]


def alternatives(pattern: str, fail: Callable[[str], Exception]) -> list[Row]:
    """The rows that this pattern means; `fail` makes the error for a construct that no row can say."""
    try:
        parsed: Any = parser.parse(pattern, re.DOTALL)
    except re.error as error:
        raise fail(f"invalid regex: {error}") from None
    except RecursionError:
        raise fail("a regex that is nested too deep") from None
    names = {number: name for name, number in parsed.state.groupdict.items()}
    rows = _rows(list(parsed), names, fail)
    return list(dict.fromkeys(_joined(row) for row in rows))


def _rows(items: Sequence[Any], names: dict[int, str], fail: Callable[[str], Exception]) -> list[Row]:
    choices = [_item(kind, value, names, fail) for kind, value in items]
    size = 1
    for choice in choices:
        size *= len(choice)
        if size > _MOST:
            raise fail(f"more than {_MOST} alternatives")
    return [tuple(itertools.chain.from_iterable(row)) for row in itertools.product(*choices)]


def _item(kind: Any, value: Any, names: dict[int, str], fail: Callable[[str], Exception]) -> list[Row]:
    if kind is op.LITERAL:
        return [(Literal(chr(value)),)]
    if kind is op.AT and value is op.AT_BEGINNING:
        return [(Start(),)]
    if kind is op.AT and value is op.AT_BOUNDARY:
        return [(Boundary(),)]
    if kind is op.ASSERT and value[0] > 0:
        return [(Ahead(),)]
    if kind is op.BRANCH:
        return [row for branch in value[1] for row in _rows(list(branch), names, fail)]
    if kind is op.SUBPATTERN:
        number, added, removed, inner = value
        if added or removed:
            raise fail("flags inside a group")
        if number in names:
            return _group(names[number], list(inner), names, fail)
        return _rows(list(inner), names, fail)
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        least, most, inner = value
        return _repeat(least, most, inner, names, fail)
    if kind is op.IN:
        letters = _letters(value)
        if letters is not None and len(letters) <= 8:
            return [(Literal(letter),) for letter in letters]
        raise fail("one character of a class; give the characters that may stand there, or a repeat")
    raise fail(f"{_name(kind)} has no place in a table's patterns")


def _repeat(least: int, most: Any, inner: Any, names: dict[int, str], fail: Callable[[str], Exception]) -> list[Row]:
    items = list(inner)
    if len(items) == 1:
        kind, value = items[0]
        if _is_space(kind, value):
            return [(Space(),)] if least == 0 else [(Literal(letter), Space()) for letter in " \n"]
        if kind is op.ANY and most is op.MAXREPEAT:
            return [(Run(),)]
        if kind is op.NOT_LITERAL and most is op.MAXREPEAT:
            return [(Run(chr(value)),)]
        if kind is op.IN and value[0][0] is op.NEGATE and (letters := _letters(value[1:])) and most is op.MAXREPEAT:
            return [(Run(letters),)]
        if kind is op.IN and most is op.MAXREPEAT:
            return [(Word(),)] if least else [(), (Word(),)]
    if (least, most) == (0, 1):
        return [(), *_rows(items, names, fail)]
    if least == most and most <= 8:
        return _rows(items * most, names, fail)
    raise fail(f"a repeat from {least} to {most} of more than one character")


def _group(name: str, inner: list[Any], names: dict[int, str], fail: Callable[[str], Exception]) -> list[Row]:
    """A named group: a run of characters, whatever their class, or parts with named groups among them."""
    if any(kind is op.SUBPATTERN and value[0] in names for kind, value in inner):
        rows = _rows(inner, names, fail)
        return [(Around(name, ends=False), *row, Around(name, ends=True)) for row in rows]
    if len(inner) == 1 and inner[0][0] in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        _, most, repeated = inner[0][1]
        if most is op.MAXREPEAT and len(list(repeated)) == 1:
            return [(Group(name),)]
    if not any(kind in (op.ASSERT, op.ASSERT_NOT, op.GROUPREF) for kind, _ in inner):
        runs = [kind for kind, _ in inner if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.IN)]
        if runs and all(kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.IN, op.LITERAL, op.SUBPATTERN) for kind, _ in inner):
            return [(Group(name),)]  # a name spelled out: [A-Za-z_][\w.-]*
    raise fail(f"the group {name!r} is no run of characters")


def _is_space(kind: Any, value: Any) -> bool:
    if kind is op.LITERAL:
        return chr(value) in _SPACE
    return kind is op.IN and all(
        (inner is op.CATEGORY and what is op.CATEGORY_SPACE) or (inner is op.LITERAL and chr(what) in _SPACE)
        for inner, what in value
    )


def _letters(items: Sequence[Any]) -> str | None:
    """The characters of a class that lists them; None for another class."""
    found = ""
    for kind, value in items:
        if kind is op.LITERAL:
            found += chr(value)
        elif kind is op.RANGE and value[1] - value[0] < 16:
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        elif kind is op.CATEGORY and value is op.CATEGORY_SPACE:
            found += _SPACE
        else:
            return None
    return found


def _joined(row: Row) -> Row:
    """The row with neighbouring literals as one, and white space said once."""
    found: list[Part] = []
    for part in row:
        last = found[-1] if found else None
        if isinstance(part, Literal) and isinstance(last, Literal):
            found[-1] = Literal(last.text + part.text)
        elif part != last or isinstance(part, Group):
            found.append(part)
    return tuple(found)


def _name(kind: Any) -> str:
    words = {
        op.ASSERT: "a look-behind",
        op.ASSERT_NOT: "a negative look-around",
        op.GROUPREF: "a back reference",
        op.AT: "an anchor other than ^ and \\b",
        op.ANY: "a single dot",
        op.NOT_LITERAL: "a single negated character",
        op.ATOMIC_GROUP: "an atomic group",
        op.GROUPREF_EXISTS: "a condition",
    }
    return words.get(kind, str(kind).lower())


__all__ = [
    "Ahead",
    "Around",
    "Boundary",
    "Group",
    "Literal",
    "Part",
    "Row",
    "Run",
    "Space",
    "Start",
    "Word",
    "alternatives",
]
