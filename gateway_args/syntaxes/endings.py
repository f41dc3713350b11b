"""Where a tag's raw value ends, when it may hold the very texts that close it (policy 3).

Its own closer counts when a tag that may stand there, a marker, or the end of the output follows. Without it a value
ends at the opener of a parameter that the function declares, that has not been given and that starts its line; or
where all the closers that the call still needs stand before the end of the turn or another call. Everything else is
value, but for two things: a value that can hold no text ends at its first closer, and a text that the table reserves
for its tags is the end of what can be read where it begins no tag of the call. Each question looks at what a few tags
and `max_layout` white space between them can hold, no further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .scanning import MORE, NO, YES, Verdict, either, layout, literal

if TYPE_CHECKING:
    from .frames import Frames
    from .region import Region
    from .tagged import BoundTagged
    from .values.tag_value import TagValue


def ending(
    region: Region, bound: BoundTagged, frames: Frames, value: TagValue, quoted: bool, starts_line: bool, at: int
) -> tuple[Verdict, bool, int]:
    """Whether the value ends at `at`, whether its closer is missing, and where the closer ends."""
    closes, end = _closer(region, bound, frames, quoted, at)
    if closes == YES:
        closes = YES if value.ends_at_first_closer(region, at) else followed(region, bound, frames, end)
        if closes == YES:
            return YES, False, end
    opens: Verdict = NO
    chain: Verdict = NO
    if not quoted and closes != MORE:
        if starts_line:
            opens, tag = bound.parameter(region, at, region.final)
            if tag is not None:
                opens = YES if frames.awaits(region, tag.name) else NO
        chain = _all_closers(region, at) if len(frames) == 1 else NO
    if YES in (opens, chain):
        return YES, True, at
    return either(closes, opens, chain), False, end


def _closer(region: Region, bound: BoundTagged, frames: Frames, quoted: bool, at: int) -> tuple[Verdict, int]:
    text = region.text
    if quoted:
        quote = bound.quotes[1]
        verdict = literal(text, at, quote, region.final)
        if verdict != YES:
            return verdict, at
        at += len(quote)
        if at == len(text):
            return (NO if region.final else MORE), at
    return bound.closer.match(text, at, frames.key, region.final)


def followed(region: Region, bound: BoundTagged, frames: Frames, at: int) -> Verdict:
    """Whether a tag or marker that may follow a value stands behind white space, or the end of the output does."""
    text = region.text
    verdict, first = layout(text, at, region.limits.max_layout)
    if verdict == YES:
        verdict = region.marker(first, cut=True)
        if verdict != YES:
            verdict = either(verdict, bound.parameter(region, first, False)[0], bound.elides(region, first)[0])
        if verdict != YES and len(frames) > 1:
            verdict = either(verdict, bound.closer.match(text, first, frames.inner.name, False)[0])
    # A tag that the end of the output cuts short has begun all the same.
    return YES if verdict == MORE and region.final else verdict


def foreign(region: Region, bound: BoundTagged, frames: Frames, at: int) -> tuple[Verdict, int]:
    """Whether a reserved text stands at `at` and no tag or marker of the call's own, and from where to look further.

    YES: no value goes on here.
    """
    reserved, end = bound.reserved.at(region.text, at, region.final)
    if reserved == NO:
        return NO, at + 1
    own = either(
        region.marker(at),
        bound.parameter(region, at, False)[0],
        bound.closer.match(region.text, at, frames.inner.name, False)[0],
        _own_closer(region, bound, frames, at),
    )
    if own == YES:
        return NO, end
    if own == MORE or reserved == MORE:
        return (NO if region.final else MORE), end
    return YES, at


def _own_closer(region: Region, bound: BoundTagged, frames: Frames, at: int) -> Verdict:
    """Whether a parameter's closer stands at `at`: of the one in the making, or of one that the function declares."""
    if bound.closer.any is None:
        return bound.closer.match(region.text, at, frames.key, False)[0]
    verdict, tag = bound.closer.any.match(region.text, at, region.limits)
    if tag is None:
        return verdict
    return YES if tag.name == frames.key or frames.declares(region, tag.name) else NO


def _all_closers(region: Region, at: int) -> Verdict:
    """Whether all the remaining closers stand here, and behind them the end of the turn or another call."""
    text = region.text
    bound = region.limits.max_layout
    final = region.final
    verdict: Verdict
    for n, closers in enumerate(region.markers.closers):
        if n:
            verdict, at = layout(text, at, bound)
            if verdict != YES:
                return NO if final else verdict
        verdict, at = closers.at(text, at, final)
        if verdict != YES:
            return verdict
    verdict, at = layout(text, at, bound)
    if verdict == YES:
        verdict, _ = region.markers.ends.at(text, at, False)
    return YES if verdict == MORE and final else verdict
