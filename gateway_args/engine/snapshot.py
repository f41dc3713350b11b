"""A parser's state as sealed bytes: plain values, every one checked when they are read again.

What a caller holds anyway is not inside: the format (named by its digest), the tools and the call id function. Any
bytes give the parser or one `LifecycleError`; nothing is made of a value before its type and its bounds are known.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Final

from .. import events
from ..errors import LifecycleError
from ..events import CallStart, IdKind, Why
from ..limits import Limits
from ..sealing import reading, seal, unseal
from ..syntaxes.scanning import FIRST_PRIVATE, SPACE
from .engine import OPENING, READING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..events import Event
    from ..formats.table import Format
    from ..parser import Parser
    from ..tools import Tools
    from .engine import Engine

VERSION: Final = 3


def save(parser: Parser) -> bytes:
    """The state of this parser."""
    engine = parser._engine
    account = engine.account
    engine.compact()
    start, undeclared, limits = parser._options
    state = {
        "format": parser._format.digest,
        "options": [start, undeclared, asdict(limits)],
        "markers": parser._markers,
        "before": parser._before,
        "by_id": None if parser._ids is None else sorted(engine.format.texts),
        "high": ord(parser._high) if parser._high else 0,
        "finished": parser._finished,
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
    return seal("Parser", VERSION, state)


def load(data: bytes, format: Format, tools: Tools | None, call_ids: Callable[[int, str], str] | None) -> Parser:
    """The parser whose state this is."""
    state = unseal("Parser", VERSION, data)
    with reading("Parser"):
        if state["format"] != format.digest:
            raise LifecycleError(
                f"Parser.restore: the snapshot was made with another table than this {format.name}, or another version "
                "of it; restore with the same table"
            )
        return _load(state, format, tools, call_ids)


def _load(
    state: dict[str, Any], format: Format, tools: Tools | None, call_ids: Callable[[int, str], str] | None
) -> Parser:
    from ..parser import Parser

    start, undeclared, limits = state["options"]
    _require(undeclared in ("call", "malformed"), "options")
    parser = Parser(
        format,
        tools,
        start=start,
        markers=_ids(state["markers"]),
        call_ids=call_ids,
        undeclared=undeclared,
        limits=Limits(**limits),
    )
    match state["before"]:
        case None:
            parser._before = None
        case [[*stretches], str(prefill)] if all(isinstance(text, str) for text in stretches):
            parser._before = (tuple(stretches), prefill)
        case _:
            _require(False, "before")
    by_id = state["by_id"]
    if by_id is not None:
        _require(isinstance(by_id, list) and format.token_texts.issuperset(by_id), "by_id")
        parser._engine = parser._make_engine(frozenset(by_id), tools)
        parser._by_id(frozenset(by_id))
    high = state["high"]
    _require(type(high) is int and (high == 0 or 0xD800 <= high < 0xDC00), "high")
    parser._high = chr(high) if high else ""
    _require(isinstance(state["finished"], bool), "finished")
    parser._finished = state["finished"]
    _engine(parser._engine, state, tools)
    return parser


def _engine(engine: Engine, state: dict[str, Any], tools: Tools | None) -> None:
    """The engine's own part of the state, and that of the reader in a call's region."""
    account, layout, call = engine.account, engine.layout, engine.account.call
    account.state = engine.format.states[state["state"]]
    engine.load(state["engine"])
    account.load(state["account"])
    layout.load(state["layout"])
    call.load(state["call"])
    with_ids = state["by_id"] is not None
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


def _require(sound: bool, place: str) -> None:
    if not sound:
        raise ValueError(place)


def _known(engine: Engine, text: str) -> None:
    """Private characters in a text stand for this stream's markers alone."""
    known = FIRST_PRIVATE + len(engine.format.texts)
    _require(not any(known <= ord(char) < 0xE000 for char in text), "a private character without a marker")


def _ids(value: object) -> dict[str, int] | None:
    if value is None:
        return None
    _require(isinstance(value, dict) and all(type(id) is int for id in value.values()), "markers")
    return value  # type: ignore[return-value]


_KINDS: Final[dict[str, Any]] = {
    kind.__name__: kind
    for kind in (
        events.CallArguments, events.CallEnd, events.CallStart, events.Content, events.Dropped, events.Malformed,
        events.Reasoning, events.ReasoningEnd, events.ReasoningStart
    )
}  # fmt: skip
_INTEGERS: Final = ("index", "tokens")
_FLAGS: Final = ("complete", "declared", "judged")


def _values(event: Event) -> list[object]:
    return [getattr(event, field.name) for field in fields(event)]


def _event(row: list[Any]) -> Event:
    """An event that was not handed out yet: `call_ids` raised."""
    name, *values = row
    kind = _KINDS[name]
    said: dict[str, Any] = {}
    for field, value in zip(fields(kind), values, strict=True):
        expected = int if field.name in _INTEGERS else bool if field.name in _FLAGS else str
        none = field.name in ("tokens", "declared", "id_kind")
        _require(type(value) is expected or (none and value is None), f"out: {name}.{field.name}")
        said[field.name] = value
    if "why" in said:
        said["why"] = Why(said["why"])
    if said.get("id_kind") is not None:
        said["id_kind"] = IdKind(said["id_kind"])
    event: Event = kind(**said)
    return event
