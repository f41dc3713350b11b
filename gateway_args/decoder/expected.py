"""What may come next, for the curious: categories read off the scanner and the grammar, neither of which changes."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from ..schema.graph import EVERY_KIND
from . import scanner as states
from .branches import fatal

if TYPE_CHECKING:
    from .grammar import Grammar
    from .scanner import Scanner


class ExpectedNext(StrEnum):
    """What the next byte may begin or continue; a category, not a promise of every byte in it."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    NUMBER = "number"
    TRUE = "true"
    FALSE = "false"
    NULL = "null"
    KEY = "key"
    COLON = "colon"
    COMMA = "comma"
    OBJECT_END = "object_end"
    ARRAY_END = "array_end"
    TEXT = "text"  # more of the open key or string, or its closing quote
    DIGITS = "digits"  # more of the open number
    LITERAL = "literal"  # the rest of true, false or null
    LINE_FEED = "line_feed"  # the canonical framing's end
    NOTHING = "nothing"  # only white space, or nothing at all


EXPECTED_KINDS = (
    ExpectedNext.OBJECT,
    ExpectedNext.ARRAY,
    ExpectedNext.STRING,
    ExpectedNext.NUMBER,
    ExpectedNext.TRUE,
    ExpectedNext.FALSE,
    ExpectedNext.NULL,
)


def expected_next(scanner: Scanner) -> frozenset[ExpectedNext]:
    """What the next byte may begin or continue (white space aside)."""
    grammar = scanner.grammar
    state = scanner.state
    if state in (states.TEXT, states.ESCAPE, states.HEX, states.CONTINUATION):
        return frozenset((ExpectedNext.TEXT,))
    if state == states.LITERAL:
        return frozenset((ExpectedNext.LITERAL,))
    if state == states.COLON:
        return frozenset((ExpectedNext.COLON,))
    if state == states.KEY:
        return frozenset((ExpectedNext.KEY,))
    if state == states.CLOSED or (state == states.DONE and not scanner.canonical):
        return frozenset((ExpectedNext.NOTHING,))
    if state == states.DONE:
        return frozenset((ExpectedNext.LINE_FEED,))
    found: set[ExpectedNext] = set()
    if state == states.VALUE:
        return frozenset(name for bit, name in enumerate(EXPECTED_KINDS) if _admits(grammar, 1 << bit))
    if state == states.FIRST_ITEM:
        kinds = _admits_item(grammar)
        found.update(name for bit, name in enumerate(EXPECTED_KINDS) if kinds & 1 << bit)
    if state == states.NUMBER:
        found.add(ExpectedNext.DIGITS)
        if scanner.form not in states.ENDS:
            return frozenset(found)
        if not scanner.brackets:
            found.add(ExpectedNext.LINE_FEED if scanner.canonical else ExpectedNext.NOTHING)
            return frozenset(found)
    in_object = scanner.brackets[-1] == 0x7D
    if in_object and _admits_key(grammar):
        found.add(ExpectedNext.KEY if state == states.FIRST_KEY else ExpectedNext.COMMA)
    if not in_object and state != states.FIRST_ITEM and _admits_item(grammar):
        found.add(ExpectedNext.COMMA)
    if _admits_close(grammar):
        found.add(ExpectedNext.OBJECT_END if in_object else ExpectedNext.ARRAY_END)
    return frozenset(found)


def _admits(grammar: Grammar, kind: int) -> bool:
    """Whether a value of this kind may begin now."""
    return not fatal([branch for node, branch in grammar.pending if node.plans[kind] is None])


def _admits_item(grammar: Grammar) -> int:
    """The kinds of value with which another item of the innermost list may begin."""
    frame = grammar.frames[-1]
    kinds = 0
    for bit in range(7):
        dead = []
        for shape, branch in frame.items:
            node = shape.prefix[frame.count] if frame.count < len(shape.prefix) else shape.rest
            full = shape.most is not None and frame.count >= shape.most
            if full or (node is not None and node.plans[1 << bit] is None):
                dead.append(branch)
        kinds |= 0 if fatal(dead) else 1 << bit
    return kinds & EVERY_KIND


def _admits_key(grammar: Grammar) -> bool:
    """Whether another key may follow in the innermost object."""
    frame = grammar.frames[-1]
    count = len(frame.seen or ())
    return not fatal([r.branch for r in frame.records if r.shape.most is not None and count >= r.shape.most])


def _admits_close(grammar: Grammar) -> bool:
    """Whether the innermost object or list may close."""
    frame = grammar.frames[-1]
    if frame.seen is None:
        return not fatal([branch for shape, branch in frame.items if frame.count < shape.least])
    seen = frame.seen
    return not fatal([r.branch for r in frame.records if not r.shape.required <= seen or len(seen) < r.shape.least])
