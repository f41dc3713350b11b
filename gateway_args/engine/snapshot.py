"""The engine's state as plain values, every one checked when they are read again.

What a caller holds anyway is not inside: the format, the tools and the call id function. A `ValueError`, `TypeError` or
`LookupError` says that a state is none; nothing is made of a value before its type and its bounds are known.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from .. import events
from ..events import CallStart, IdKind, Why
from ..syntaxes.scanning import FIRST_PRIVATE, SPACE
from .engine import OPENING, READING

if TYPE_CHECKING:
    from ..events import Event
    from ..tools import Tools
    from .engine import Engine


def save(engine: Engine) -> dict[str, Any]:
    """The state of this engine."""
    account = engine.account
    engine.compact()
    return {
        "state": account.state.name,
        "engine": engine.save(),
        "account": account.save(),
        "layout": engine.layout.save(),
        "call": account.call.save(),
        "reader": None if account.reader is None else account.reader.save(),
        "tool": None if account.call.tool is None else account.call.tool.name,
        "out": [[type(event).__name__, *_values(event)] for event in account.out],
        "unnamed": len(account.unnamed),
    }


def load(engine: Engine, state: dict[str, Any], tools: Tools | None, *, with_ids: bool) -> None:
    """Take up a state in an engine of the same format; `with_ids`: its stream has token ids."""
    account, layout, call = engine.account, engine.layout, engine.account.call
    account.state = engine.format.states[state["state"]]
    engine.load(state["engine"])
    account.load(state["account"])
    layout.load(state["layout"])
    call.load(state["call"])
    queues = (account.starts, account.controls, account.zero)
    _require(all((queue is not None) == with_ids for queue in queues), "offsets")
    for queue in queues:
        offsets = list(queue or ())
        _require(isinstance(queue, set) or offsets == sorted(offsets), "offsets")
    for text in (account.text, account.lead, *account.parts, layout.after, engine.target):
        _known(engine, text)
    size = len(account.text)
    calls = account.state.calls
    _require(account.mark <= account.pos <= size, "account: positions")
    _require(account.parked == sum(map(len, account.parts)), "account: parked")
    _require(account.complete <= account.calls and (account.calls > 0 or not call.open), "account: calls")
    opening = engine.lead <= size + account.parked and account.mark <= engine.body <= size
    _require(engine.mode != OPENING or (opening and engine.target in account.state.rows), "engine: start marker")
    _require(-1 <= engine.syntax < len(calls), "engine: syntax")
    reasoning = engine.format.states.get(engine.interrupted)
    _require(not engine.interrupted or (reasoning is not None and reasoning.kind == "reasoning"), "engine: interrupted")
    _require(not layout.after.strip(SPACE), "layout: after")
    saved = state["reader"]
    _require((saved is not None) or engine.mode != READING, "reader")
    if saved is not None:
        _require(engine.syntax >= 0, "reader")
        account.reader = calls[engine.syntax].open()
        account.reader.load(saved)
        _require(json.dumps(account.reader.save()) == json.dumps(saved), "reader")
    if state["tool"] is not None and tools is not None:
        call.tool = tools.get(state["tool"])
    account.out = [_event(row) for row in state["out"]]
    starting = [event for event in account.out if isinstance(event, CallStart)]
    unnamed = state["unnamed"]
    _require(type(unnamed) is int and 0 <= unnamed <= len(starting), "unnamed")
    account.unnamed = starting[len(starting) - unnamed :]


def _require(sound: bool, position: str) -> None:
    if not sound:
        raise ValueError(position)


def _known(engine: Engine, text: str) -> None:
    """Private characters in a text stand for this stream's markers alone."""
    known = FIRST_PRIVATE + len(engine.format.texts)
    _require(not any(known <= ord(char) < 0xE000 for char in text), "a private character without a marker")


_KINDS: Final[dict[str, Any]] = {
    kind.__name__: kind
    for kind in (
        events.CallArguments, events.CallEnd, events.CallStart, events.Content, events.Dropped, events.Malformed,
        events.Reasoning, events.ReasoningEnd, events.ReasoningStart
    )
}  # fmt: skip
_INTEGERS: Final = ("index", "tokens")
_FLAGS: Final = ("complete", "declared", "validated")


def _values(event: Event) -> list[object]:
    return [getattr(event, field.name) for field in fields(event)]


def _event(row: list[Any]) -> Event:
    """An event that was not handed out yet: `call_ids` raised."""
    name, *values = row
    kind = _KINDS[name]
    given: dict[str, Any] = {}
    for field, value in zip(fields(kind), values, strict=True):
        expected = int if field.name in _INTEGERS else bool if field.name in _FLAGS else str
        none = field.name in ("tokens", "declared", "id_kind")
        _require(type(value) is expected or (none and value is None), f"out: {name}.{field.name}")
        given[field.name] = value
    if "why" in given:
        given["why"] = Why(given["why"])
    if given.get("id_kind") is not None:
        given["id_kind"] = IdKind(given["id_kind"])
    event: Event = kind(**given)
    return event
