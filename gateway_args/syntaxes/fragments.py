"""`Fragments` sends what is written of a call's arguments: what one delta gives as one event, each with its source.

Text that is written waits until the delta is read. It waits longer while the call has not started, or while a
parenthesis could still be a tuple's (a place for its bracket is kept). Both are bounded by `max_held`; `max_arguments`
ends the fragments before the word, number, key or character of a string that would pass it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..events import Why
from .literals import json_string_fragment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.engine import Engine


class Fragments:
    """The sending half of a writer."""

    __slots__ = ("_ends", "_out", "_pending", "_size", "_skip", "_spread", "_undecided", "started", "whole")

    def __init__(self, skip: Why | None) -> None:
        self._out: list[str] = []  # fragments of this delta that wait to be sent as one
        self._ends: list[int] = []  # where the text of each ends
        self._pending: list[str] = []  # fragments that wait for the call to start or a parenthesis to be known
        self._undecided: list[int] = []  # where in `_pending` such a parenthesis would stand
        self._size = 0
        self._skip = skip  # nothing is written, for this reason
        self._spread = False  # a long stretch of white space is being dropped
        self.started = True
        self.whole = False

    @property
    def _sends(self) -> bool:
        return self.started and self._skip is None and not self._undecided

    def release(self, engine: Engine) -> None:
        """The call has started: send what waited."""
        self.started = True
        if self._sends:
            self._release(engine, engine.mark)

    def _release(self, engine: Engine, end: int) -> None:
        json = "".join(self._pending)
        self._pending = []
        if json:
            engine.arguments(json, end)

    def _say(self, json: str, end: int) -> None:
        self._out.append(json)
        self._ends.append(end)
        self._spread = False

    def _say_text(self, engine: Engine, text: str, end: int) -> None:
        """Text of a string, as it stands in JSON. Where a cut may have to be found in it, each character is one."""
        if engine.limits.max_arguments is None and not engine.controls:
            self._say(json_string_fragment(text), end)
            return
        start = end - len(text)
        for n, char in enumerate(text, 1):
            self._say(json_string_fragment(char), start + n)

    def _room(self, engine: Engine) -> int:
        """How far a string may be read: all of the text, or what may still be held."""
        end = len(engine.buf)
        if self._sends or (self._skip is not None and self.started):
            return end
        return min(end, engine.pos + max(0, engine.limits.max_held - engine.unaccounted()))

    def _drop(self, engine: Engine, end: int) -> None:
        """Text of a value that is not written. Before the call starts it is held, for the start to account for."""
        if not self.started:
            return
        if self._skip is Why.ENVELOPE:
            engine.drop(end, Why.ENVELOPE)
        elif self._skip is not None:
            engine.spoil(end, self._skip)

    def _flush(self, engine: Engine) -> bool:
        """Send what waits in `_out`. False, with `engine.why`, when that is more than may be sent."""
        out, ends = self._out, self._ends
        if not out:
            return True
        self._out, self._ends = [], []
        end = ends[-1]
        if self._skip is not None:
            self._drop(engine, end)
            return True
        json = "".join(out)
        within = True
        limit = engine.limits.max_arguments
        if limit is not None and self._size + len(json) > limit:
            out, ends = _within(out, ends, limit - self._size)
            json = "".join(out)
            end = ends[-1] if ends else engine.mark
            engine.pos = max(end, engine.mark)
            engine.why = Why.LIMIT
            self.whole = within = False
        self._size += len(json)
        if not json:
            return within
        if not self._sends:
            self._pending.append(json)
            return within
        if self._pending:
            out[0] = "".join(self._pending) + out[0]
            json = "".join(self._pending) + json
            self._pending = []
        if engine.control_before(end):
            for piece, piece_end in zip(out, ends, strict=True):
                engine.arguments(piece, piece_end)
        else:
            engine.arguments(json, end)
        return within

    # ------------------------------------------------------------------------------

    def save(self) -> list[object]:
        skip = None if self._skip is None else str(self._skip)
        return [list(self._pending), list(self._undecided), self._size, skip, self._spread, self.started]

    def load(self, saved: Sequence[object]) -> None:
        pending, undecided, size, skip, spread, started = saved
        self._pending = list(pending)  # type: ignore[call-overload]
        self._undecided = list(undecided)  # type: ignore[call-overload]
        self._size = int(size)  # type: ignore[call-overload]
        self._skip = None if skip is None else Why(str(skip))
        self._spread = bool(spread)
        self.started = bool(started)


def _within(out: list[str], ends: list[int], room: int) -> tuple[list[str], list[int]]:
    """The fragments that fit in this many characters, and where their text ends."""
    size = n = 0
    while n < len(out) and size + len(out[n]) <= room:
        size += len(out[n])
        n += 1
    return out[:n], ends[:n]
