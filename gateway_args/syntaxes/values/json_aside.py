"""A JSON value that nobody wants: the value of an envelope's other keys, read to its end and not written."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...events import Why
from ...strict_json.acceptor import Acceptor
from ..region import DONE, WAIT, Progress, marker_or_fail
from ..scanning import NO, PRIVATE
from ..state import ACCEPTOR, Kind, State
from .json_value import REACH

if TYPE_CHECKING:
    from ..region import Region


class JsonAside(State):
    """One such value."""

    __slots__ = ("_acceptor",)
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (("_acceptor", ACCEPTOR),)

    def __init__(self, max_depth: int = 0) -> None:
        self._acceptor = Acceptor(max_depth)

    def read(self, region: Region, started: bool) -> Progress:
        """Read on from `region.pos`; before the call has `started` at most `max_held` is held."""
        acceptor = self._acceptor
        text = region.text
        at = region.pos
        end = len(text)
        if not started:
            end = min(end, at + max(0, region.limits.max_held - region.held))
        while at < end and acceptor.complete is None:
            reach = min(end, at + REACH)
            private = PRIVATE.search(text, at, reach)
            stop = private.start() if private is not None else reach
            at += acceptor.feed(text, at, stop)
            if at < stop:
                break
            if private is None:
                continue
            if not acceptor.in_string or region.marker(at) != NO:
                break
            acceptor.feed(" ")  # a marker that is data, whatever its text
            at += 1
        region.advance(at)
        if acceptor.complete is not None:
            return DONE
        if at == end and not acceptor.refused:
            return WAIT if end == len(text) else region.fail(Why.LIMIT)
        if at == len(text):
            return WAIT
        return marker_or_fail(region, at, Why.SHAPE)
