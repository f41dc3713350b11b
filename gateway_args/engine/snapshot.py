"""A parser's state as bytes: JSON of plain values, with the version and the table's digest in front.

What a caller holds anyway is not inside: the format (named by its digest), the tools and the call id function.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from ..errors import LifecycleError
from ..limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..formats.table import Format
    from ..parser import Parser
    from ..tools import Tools
    from .engine import Engine

VERSION: Final = 1

# The engine's plain fields, as they are. What is not here is derived, or saved by hand below.
_FIELDS: Final = (
    "pos", "mark", "held", "debt", "done", "thought_tokens", "mode", "blank", "after", "after_call", "texted",
    "in_thought", "lead", "lead_text", "body", "target", "junk_back", "candidate", "syntax", "in_call",
    "had_call", "calls", "complete"
)  # fmt: skip
_QUEUES: Final = ("starts", "controls")


def save(parser: Parser) -> bytes:
    """The state of this parser."""
    engine = parser._engine
    engine.compact()
    start, undeclared, limits = parser._options
    reader = engine.reader
    state = {
        "version": VERSION,
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
        "queues": [None if (queue := getattr(engine, name)) is None else list(queue) for name in _QUEUES],
        "reader": None if reader is None else reader.save(),
        "zero": None if engine.zero is None else sorted(engine.zero),
        "tool": None if engine.tool is None else engine.tool.name,
    }
    return json.dumps(state, separators=(",", ":")).encode()


def load(data: bytes, format: Format, tools: Tools | None, call_ids: Callable[[int, str], str] | None) -> Parser:
    """The parser whose state this is."""
    try:
        state = json.loads(data)
        version, digest = state["version"], state["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LifecycleError("Parser.restore: this is no snapshot of a parser") from error
    if version != VERSION:
        raise LifecycleError(f"Parser.restore: a snapshot of version {version}; this package reads version {VERSION}")
    if digest != format.digest:
        raise LifecycleError(
            f"Parser.restore: the snapshot was made with another table than this {format.name}; restore with that one"
        )
    try:
        return _load(state, format, tools, call_ids)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise LifecycleError(f"Parser.restore: a damaged snapshot ({error})") from error


def _load(
    state: dict[str, Any], format: Format, tools: Tools | None, call_ids: Callable[[int, str], str] | None
) -> Parser:
    from ..events import Why
    from ..parser import Parser

    start, undeclared, limits = state["options"]
    parser = Parser(
        format,
        tools,
        start=start,
        markers=state["markers"],
        call_ids=call_ids,
        undeclared=undeclared,
        limits=Limits(**limits),
    )
    before = state["before"]
    parser._before = None if before is None else (tuple("".join([text]) for text in before[0]), "".join([before[1]]))
    if state["by_id"] is not None:
        by_id = frozenset(state["by_id"])
        parser._engine = parser._make_engine(by_id, tools)
        parser._by_id(by_id)
    parser._high = chr(state["high"]) if state["high"] else ""
    parser._finished = state["finished"]
    engine: Engine = parser._engine
    engine.stage = engine.program.stages[state["stage"]]
    engine.buf = "".join([state["buf"]])  # a TypeError when it is no text
    engine.parts = [state["parts"]] if state["parts"] else []
    for name, value in zip(_FIELDS, state["engine"], strict=True):
        setattr(engine, name, value)
    engine.why = Why(state["why"])
    engine.layout_why = Why(state["layout_why"])
    for name, queue in zip(_QUEUES, state["queues"], strict=True):
        setattr(engine, name, None if queue is None else deque(queue))
    engine.zero = None if state["zero"] is None else set(state["zero"])
    if state["reader"] is not None:
        engine.reader = engine.stage.calls[engine.syntax].open()
        engine.reader.load(state["reader"])
    if state["tool"] is not None and tools is not None:
        engine.tool = tools.get(state["tool"])
    return parser
