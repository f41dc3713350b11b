"""What the whole answers share: calls that a guard judged, and calls that are not whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ..decoder.calls import CallOutcome
from ..events import CallStart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .core import StreamEvent
    from .values import Chunk

_BROKEN: Final = ("incomplete_calls", "refused_calls")
NOT_JSON: Final = object()


def validated(events: Iterable[StreamEvent]) -> list[StreamEvent]:
    """All events of an output; a call with an outcome among them waits for it, whoever made its `CallStart`."""
    out = list(events)
    outcomes = {event.index for event in out if isinstance(event, CallOutcome)}
    for at, event in enumerate(out):
        if outcomes and isinstance(event, CallStart) and event.index in outcomes and not event.validated:
            out[at] = CallStart(
                event.index, event.id, event.name, event.declared, event.source, event.tokens, event.id_kind, True
            )
    return out


def broken_ids(fields: Mapping[str, Any]) -> set[str]:
    """The ids of the calls that the extension fields list as broken or refused."""
    return {entry["id"] for name in _BROKEN for entry in fields.get(name, ())}


def relisted(fields: Mapping[str, Any], broken: Mapping[str, Chunk]) -> Chunk:
    """The lists of broken calls with the arguments of those that a whole answer leaves out (`broken`, by id)."""
    rest = dict(broken)
    lists: Chunk = {}
    for name in _BROKEN:
        listed = [{**rest.pop(entry["id"], {}), **entry} for entry in fields.get(name, ())]
        if listed:
            lists[name] = listed
    if rest:  # nobody listed them: the stream was cut before its last chunk
        lists["incomplete_calls"] = [*lists.get("incomplete_calls", ()), *rest.values()]
    return lists


def parsed(arguments: str) -> object:
    """The value of these arguments, `NOT_JSON` when they are not whole."""
    try:
        return json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return NOT_JSON
