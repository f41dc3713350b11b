"""What a refusal says: what came, and what the schema allows in its place."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from ..schema.graph import ARRAY, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..schema.graph import Node, NumberShape, ObjectShape
    from .branches import Branch

MOST = 12
"""Alternatives that a message lists."""
NAMES = {
    OBJECT: "object",
    ARRAY: "array",
    STRING: "string",
    NUMBER: "number",
    TRUE: "true",
    FALSE: "false",
    NULL: "null",
}


def unexpected_kind(kind: int, pending: list[tuple[Node, Branch]]) -> str:
    """A value of this kind, where these demands wait for one."""
    return f"unexpected {NAMES[kind]}; expected {_kinds(pending)}"


def _kinds(pending: list[tuple[Node, Branch]]) -> str:
    """The kinds of value that these demands leave: all must hold, or one of several branches."""
    left = [sum(kind for kind in NAMES if node.plans[kind] is not None) for node, _ in pending]
    one = len({id(branch) for _, branch in pending}) == 1
    kinds = reduce(and_ if one else or_, left)
    names = [NAMES[kind] for kind in NAMES if kinds & kind and kind not in (TRUE, FALSE)]
    if kinds & TRUE and kinds & FALSE:
        names.append("boolean")
    else:
        names += [NAMES[kind] for kind in (TRUE, FALSE) if kinds & kind]
    return " or ".join(names) or "no value"


def out_of_range(shape: NumberShape) -> str:
    """A number outside the range."""
    parts = []
    if shape.low is not None:
        parts.append(f"{'above' if shape.low_open else 'of at least'} {_number(shape.low)}")
    if shape.high is not None:
        parts.append(f"{'below' if shape.high_open else 'of at most'} {_number(shape.high)}")
    return f"out of range: expected a number {' and '.join(parts)}"


def unexpected_property(name: str, allowed: Iterable[str]) -> str:
    """A property, or the beginning of one, that no schema here declares."""
    return f"unexpected property {name!r}; allowed: {_listed(sorted(allowed))}"


def no_more_properties(shape: ObjectShape) -> str:
    """Another property where the object can hold no more."""
    if shape.names is not None and shape.most == len(shape.names):
        return f"unexpected property; allowed: {_listed([name.decode('utf-8', 'replace') for name in shape.names])}"
    return f"expected at most {shape.most} properties"


def unexpected_text(text: str, allowed: Iterable[str]) -> str:
    """A string, or the beginning of one, that is none of those allowed."""
    return f"unexpected text {text!r}; allowed: {_listed(allowed)}"


def unexpected_number(text: bytes, shape: NumberShape) -> str:
    """A number that is none of those allowed."""
    allowed = (_number(value) for value in sorted(shape.values or ()))
    return f"unexpected number {text.decode()}; allowed: {_listed(allowed)}"


def _number(value: float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join([*listed[:MOST], *(["…"] if len(listed) > MOST else [])]) or "none"
