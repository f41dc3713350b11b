"""Where a tag's raw value ends, when it may hold the very texts that close it (policy 3).

Its own closer counts when a tag that may stand there, a marker, or the end of the output follows. Without it a value
ends at the opener of a parameter that the function declares, that has not been given and that starts its line; or
where all the closers that the call still needs stand before the end of the turn or another call. Everything else is
value, but for two things: a value that can hold no text ends at its first closer, and a text that the table reserves
for its tags is the end of what can be read where it begins no tag of the call. Each question looks at what a few tags
and `max_layout` white space between them can hold, no further.
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
    from .values import Value

# How a value ends.
CLOSER: Final = 0
IMPLIED: Final = 1


def ending(
    engine: Engine, bound: BoundTagged, frames: Frames, value: Value, quoted: bool, starts_line: bool, at: int
) -> tuple[int, int, int]:
    """Whether the value ends at `at`, how, and where its closer ends: YES, NO, or MORE while undecided."""
    closes, end = _closer(engine, bound, frames, quoted, at)
    if closes == YES:
        closes = YES if value.ends_at_first_closer(engine, at) else followed(engine, bound, frames, end)
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


def foreign(engine: Engine, bound: BoundTagged, frames: Frames, at: int) -> tuple[int, int]:
    """Whether a reserved text stands at `at` and no tag or marker of the call's own, and from where to look further.

    YES: no value goes on here.
    """
    buf = engine.buf
    start, end, whole = bound.reserved.at(buf, at, engine.final)
    if start == len(buf):
        return NO, at + 1
    codes = (
        engine.row_at(at, engine.final)[0],
        bound.parameter(engine, at, False)[0],
        bound.closer.match(buf, at, frames.inner.name, False)[0],
        _own_closer(engine, bound, frames, at),
    )
    if YES in codes:
        return NO, end
    if MORE in codes or not whole:
        return (NO if engine.final else MORE), end
    return YES, at


def _own_closer(engine: Engine, bound: BoundTagged, frames: Frames, at: int) -> int:
    """Whether a parameter's closer stands at `at`: of the one in the making, or of one that the function declares."""
    if bound.any_closer is None:
        return bound.closer.match(engine.buf, at, frames.key, False)[0]
    code, tag = bound.any_closer.match(engine.buf, at, engine.limits)
    if tag is None:
        return code
    return YES if tag.name == frames.key or frames.declares(engine, tag.name) else NO


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
