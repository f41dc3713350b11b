"""`Sender` sends what is written of a call's arguments: the fragments of one delta as one event, within the limits.

Until the call starts, fragments wait (`max_held` bounds their text); `max_arguments` ends the fragments before the
word, number, key or character of a string that would pass it. Where a token without text stands between two fragments,
each is an event of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..events import Why
from .state import COUNT, FLAG, TEXTS, Kind, State

if TYPE_CHECKING:
    from .region import Region


class Sender(State):
    """The fragments of one call's arguments."""

    __slots__ = ("blocked", "pending", "sends", "sent", "started")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("pending", TEXTS),
        ("sent", COUNT),
        ("started", FLAG),
        ("blocked", FLAG),
    )

    def __init__(self, started: bool = False, lead: str = "") -> None:
        self.pending: list[str] = [lead] if lead else []  # fragments that wait
        self.sent = len(lead)  # characters of all fragments, those that wait included
        self.started = started  # the call has
        self.blocked = False  # something that waits is not decided
        self.sends = started  # a fragment is sent at once: both of these

    def start(self) -> None:
        """The call has started."""
        self.started = True
        self.sends = not self.blocked

    def block(self, blocked: bool) -> None:
        """Whether something that waits is not decided."""
        self.blocked = blocked
        self.sends = self.started and not blocked

    def load(self, saved: object) -> None:
        super().load(saved)
        self.block(self.blocked)

    def release(self, region: Region, end: int) -> None:
        """Nothing keeps what waited any more: send it, for the text up to `end`."""
        if self.pending and self.sends:
            json = "".join(self.pending)
            self.pending = []
            if json:
                region.arguments(json, end)

    def room(self, region: Region, at: int) -> int:
        """How far a value may be read: all of the text, or what may still be held before the call starts."""
        end = len(region.text)
        if self.sends:
            return end
        return min(end, at + max(0, region.limits.max_held - region.held))

    def fits(self, region: Region, size: int) -> bool:
        """Whether this many characters more are within `max_arguments`."""
        limit = region.limits.max_arguments
        return limit is None or self.sent + size <= limit

    def send_one(self, region: Region, json: str, end: int) -> bool:
        """This fragment, for the text up to `end`, whole or not at all (False)."""
        if not self.fits(region, len(json)):
            region.fail(Why.LIMIT)
            return False
        self.sent += len(json)
        region.arguments(json, end)
        return True

    def send(self, region: Region, pieces: list[str], ends: list[int], end: int, *, divisible: bool = False) -> bool:
        """All up to `end` is read, and these fragments are sent, the text of each up to its end.

        False: not all of them fit; `region.pos` stands behind what did. With `divisible` a piece that is its own text
        is cut in the middle, others are sent whole or not at all.
        """
        json = pieces[0] if len(pieces) == 1 else "".join(pieces)
        limit = region.limits.max_arguments
        within = limit is None or self.sent + len(json) <= limit
        if limit is not None and not within:
            start = region.pos if divisible else max(0, region.pos - region.held)  # where the text of the first begins
            pieces, ends = _within(pieces, ends, start if divisible else -1, limit - self.sent)
            json = "".join(pieces)
            end = ends[-1] if ends else start
            region.fail(Why.LIMIT)
        region.advance(end)
        self.sent += len(json)
        if not json:
            return within
        if not self.sends:
            self.pending.append(json)
            return within
        if self.pending:
            pieces = ["".join(self.pending) + pieces[0], *pieces[1:]]
            json = "".join(pieces)
            self.pending = []
        if region.divided(end):
            for piece, piece_end in zip(pieces, ends, strict=True):
                region.arguments(piece, piece_end, divisible)
        else:
            region.arguments(json, end)
        return within


def _within(pieces: list[str], ends: list[int], start: int, room: int) -> tuple[list[str], list[int]]:
    """The pieces that fit in this many characters and where their text ends; one that is its text is cut (`start`)."""
    kept: list[str] = []
    kept_ends: list[int] = []
    for piece, end in zip(pieces, ends, strict=True):
        if len(piece) > room:
            if start >= 0 and end - start == len(piece) and room > 0:
                kept.append(piece[:room])
                kept_ends.append(start + room)
            break
        kept.append(piece)
        kept_ends.append(end)
        room -= len(piece)
        start = end if start >= 0 else start
    return kept, kept_ends
