"""A parser's state as sealed bytes: plain values, every one checked when they are read again.

What a caller holds anyway is not inside: the format (named by its digest), the tools and the call id function. Any
bytes give the parser or one `LifecycleError`; nothing is made of a value before its type and its bounds are known.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Final

from .. import events
from ..errors import LifecycleError
from ..events import CallStart, IdKind, Why
from ..limits import Limits
from ..sealing import reading, seal, set_fields, unseal
from .engine import JUNK, OPENING, READING, TEXT
from .program import FIRST_PRIVATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..events import Event
    from ..formats.table import Format
    from ..parser import Parser
    from ..tools import Tools
    from .engine import Engine

VERSION: Final = 2

# The engine's plain fields, as they are. What is not here is derived, or saved by hand below.
_FIELDS: Final = (
    "pos", "mark", "held", "debt", "done", "thought_tokens", "mode", "blank", "after", "after_call", "texted",
    "in_thought", "lead", "lead_text", "body", "target", "junk_back", "candidate", "syntax", "in_call",
    "had_call", "calls", "complete", "final"
)  # fmt: skip
_TEXTS: Final = ("after", "lead_text", "target")


def save(parser: Parser) -> bytes:
    """The state of this parser."""
    engine = parser._engine
    engine.compact()
    start, undeclared, limits = parser._options
    state = {
        "format": parser._format.digest,
        "options": [start, undeclared, asdict(limits)],
        "markers": parser._markers,
        "before": parser._before,
        "by_id": None if parser._ids is None else sorted(engine.program.texts),
        "high": ord(parser._high) if parser._high else 0,
        "finished": parser._finished,
        "stage": engine.stage.name,
        "buf": engine.buf,
        "parts": "".join(engine.parts),
        "engine": [getattr(engine, name) for name in _FIELDS],
        "why": str(engine.why),
        "layout_why": str(engine.layout_why),
        "starts": None if engine.starts is None else list(engine.starts),
        "controls": None if engine.controls is None else list(engine.controls),
        "zero": None if engine.zero is None else sorted(engine.zero),
        "reader": None if engine.reader is None else engine.reader.save(),
        "tool": None if engine.tool is None else engine.tool.name,
        "out": [[type(event).__name__, *_values(event)] for event in engine.out],
        "unnamed": len(engine.unnamed),
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
    with_ids = state["by_id"] is not None
    stage = engine.program.stages[state["stage"]]
    engine.stage = stage
    engine.buf = _text(engine, state["buf"])
    parts = _text(engine, state["parts"])
    engine.parts = [parts] if parts else []
    set_fields(engine, _FIELDS, state["engine"])
    for name in _TEXTS:
        _text(engine, getattr(engine, name))
    size = len(engine.buf)
    _require(0 <= engine.mark <= engine.pos <= size, "engine: places")
    opening = 0 <= engine.lead <= size + len(parts) and engine.mark <= engine.body <= size
    _require(engine.mode != OPENING or opening, "engine: opener")
    _require(engine.held == len(parts), "engine: held")
    _require(min(engine.debt, engine.done, engine.thought_tokens, engine.calls, engine.complete) >= 0, "engine: counts")
    _require(engine.complete <= engine.calls and (engine.calls > 0 or not engine.in_call), "engine: calls")
    _require(TEXT <= engine.mode <= JUNK, "engine: mode")
    _require(engine.mode != OPENING or engine.target in stage.rows, "engine: target")
    _require(-1 <= engine.syntax < len(stage.calls), "engine: syntax")
    _require(not engine.after.strip(" \t\n\r"), "engine: after")
    engine.why = Why(state["why"])
    engine.layout_why = Why(state["layout_why"])
    starts, controls, zero = (_offsets(state[name], with_ids) for name in ("starts", "controls", "zero"))
    engine.starts = None if starts is None else deque(starts)
    engine.controls = None if controls is None else deque(controls)
    engine.zero = None if zero is None else set(zero)
    saved = state["reader"]
    _require((saved is not None) or engine.mode != READING, "reader")
    if saved is not None:
        _require(engine.syntax >= 0, "reader")
        engine.reader = stage.calls[engine.syntax].open()
        engine.reader.load(saved)
        _require(json.dumps(engine.reader.save()) == json.dumps(saved), "reader")
    if state["tool"] is not None and tools is not None:
        engine.tool = tools.get(state["tool"])
    engine.out = [_event(row) for row in state["out"]]
    starting = [event for event in engine.out if isinstance(event, CallStart)]
    unnamed = state["unnamed"]
    _require(type(unnamed) is int and 0 <= unnamed <= len(starting), "unnamed")
    engine.unnamed = starting[len(starting) - unnamed :]


def _require(sound: bool, place: str) -> None:
    if not sound:
        raise ValueError(place)


def _text(engine: Engine, value: object) -> str:
    """A text in which private characters stand for this stream's markers alone."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r:.40}")
    known = FIRST_PRIVATE + len(engine.program.texts)
    _require(not any(known <= ord(char) < 0xE000 for char in value), "a private character without a marker")
    return value


def _ids(value: object) -> dict[str, int] | None:
    if value is None:
        return None
    _require(isinstance(value, dict) and all(type(id) is int for id in value.values()), "markers")
    return value  # type: ignore[return-value]


def _offsets(value: object, with_ids: bool) -> list[int] | None:
    """Offsets in the stream's text, rising; none in a stream without token ids."""
    if value is None and not with_ids:
        return None
    if not isinstance(value, list) or not with_ids or not all(type(at) is int and at >= 0 for at in value):
        raise TypeError("expected offsets in a stream with token ids, and none without")
    _require(value == sorted(value), "offsets")
    return value


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
