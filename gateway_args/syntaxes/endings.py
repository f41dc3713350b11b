"""Where a tag's raw value ends, when it may hold the very texts that close it (policy 3).

Its own closer counts when a tag that may stand there, a marker, or the end of the output follows. Without it a value
ends at the opener of a parameter that the function declares, that has not been given and that starts its line; or
where all the closers that the call still needs stand before the end of the turn or another call. Everything else is
value. Each question looks at what a few tags and `max_layout` white space between them can hold, no further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..engine.program import skip_space
from .base import MORE, NO, YES
from .tags import half

if TYPE_CHECKING:
    from ..engine.engine import Engine
    from .frames import Frames
    from .tagged import BoundTagged

# How a value ends.
CLOSER: Final = 0
IMPLIED: Final = 1


def ending(
    engine: Engine, bound: BoundTagged, frames: Frames, quoted: bool, starts_line: bool, at: int
) -> tuple[int, int, int]:
    """Whether the value ends at `at`, how, and where its closer ends: YES, NO, or MORE while undecided."""
    closes, end = _closer(engine, bound, frames, quoted, at)
    if closes == YES:
        closes = followed(engine, bound, frames, end)
        if closes == YES:
            return YES, CLOSER, end
    opens = chain = NO
    if not quoted and closes != MORE:
        if starts_line:
            opens, tag = bound.parameter(engine, at, engine.final)
            if tag is not None:
                opens = YES if frames.awaits(engine, tag.name) else NO
        chain = _chain(engine, at) if len(frames) == 1 else NO
    if YES in (opens, chain):
        return YES, IMPLIED, at
    return (MORE if MORE in (closes, opens, chain) else NO), CLOSER, end


def _closer(engine: Engine, bound: BoundTagged, frames: Frames, quoted: bool, at: int) -> tuple[int, int]:
    buf = engine.buf
    if quoted:
        quote = bound.quotes[1]
        if not buf.startswith(quote, at):
            return (NO if engine.final else half(buf, at, quote)), at
        at += len(quote)
        if at == len(buf):
            return (NO if engine.final else MORE), at
    return bound.closer.match(buf, at, frames.key, engine.final)


def followed(engine: Engine, bound: BoundTagged, frames: Frames, at: int) -> int:
    """Whether a tag or marker that may follow a value stands behind white space, or the end of the output does."""
    buf = engine.buf
    first = skip_space(buf, at)
    if first - at > engine.limits.max_layout:
        return NO
    codes = [MORE]
    if first < len(buf):
        codes = [engine.row_at(first, False)[0], bound.parameter(engine, first, False)[0]]
        if len(frames) > 1:
            codes.append(bound.closer.match(buf, first, frames.inner.name, False)[0])
    # A tag that the end of the output cuts short has begun all the same.
    return YES if YES in codes or (engine.final and MORE in codes) else MORE if MORE in codes else NO


def _chain(engine: Engine, at: int) -> int:
    """Whether all the remaining closers stand here, and behind them the end of the turn or another call."""
    buf = engine.buf
    final = engine.final
    for n, words in enumerate(engine.stage.chain):
        first = skip_space(buf, at) if n else at
        if first - at > engine.limits.max_layout:
            return NO
        if first == len(buf):
            return NO if final else MORE
        start, at, whole = words.at(buf, first, final)
        if not whole:
            return MORE if start < len(buf) else NO
    first = skip_space(buf, at)
    if first - at > engine.limits.max_layout:
        return NO
    if first == len(buf):
        return YES if final else MORE
    start, _, whole = engine.stage.ends.at(buf, first, False)
    return YES if whole or (final and start < len(buf)) else MORE if start < len(buf) else NO
