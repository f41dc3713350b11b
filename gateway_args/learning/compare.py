"""Says how our own tables read the outputs of a template: which reads all of them, or where the nearest differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..tools import Tools
from .prove import difference, read_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats import Format
    from .prove import Proved

_MOST: Final = 40


def compared(format: Format, samples: Sequence[Proved]) -> tuple[str, ...]:
    """Lines of the report: our tables that read the same, or the nearest one and how it differs."""
    from .. import formats

    chosen = [sample for sample in samples if sample.turn.calls][:_MOST]
    if not chosen:
        return ()
    ends = [marker.text for marker in format.turn_end]
    scores: list[tuple[int, str, str]] = []
    for name in formats.names():
        ours = formats.load(name)
        first = ""
        read = 0
        for n, sample in enumerate(chosen):
            problem = _problem(ours, sample, ends)
            read += not problem
            first = first or problem
            if n == 5 and not read:
                break
        if read:
            scores.append((read, name, first))
    same = [name for read, name, _ in scores if read == len(chosen)]
    if same:
        lines = [f"our tables that read the same calls: {', '.join(same)}"]
        ours = formats.load(min(same, key=lambda name: _distance(format, formats.load(name))))
        return (*lines, *_differences(format, ours))
    if not scores:
        return ("none of our tables reads these calls",)
    read, name, first = max(scores)
    lines = [
        f"nearest of our tables: {name}, which reads {read} of {len(chosen)} of these turns; first difference: {first}"
    ]
    return (*lines, *_differences(format, formats.load(name)))


def _problem(format: Format, sample: Proved, ends: Sequence[str]) -> str:
    output = sample.rendered.output.rstrip()
    for end in ends:  # what ends a turn is compared apart from how calls are read
        output = output.removesuffix(end).rstrip()
    reading = read_pieces(format, [output], Tools.of(list(sample.tools)), sample.rendered.prompt)
    problem = difference(sample.turn, reading)
    if "arguments read" in problem and tuple(call.arguments for call in reading.calls) == sample.arguments:
        return ""  # what the template writes alike was accepted when it was proved
    return problem


def _texts(format: Format) -> set[str]:
    return {marker.text for marker in format.markers.values()}


def _distance(format: Format, ours: Format) -> int:
    return len(_texts(format) ^ _texts(ours)) + len(set(format.turn_openers) - set(ours.turn_openers))


def _differences(format: Format, ours: Format) -> list[str]:
    """What the learned table says otherwise than ours."""
    lines = []
    openers = [opener for opener in format.turn_openers if opener not in ours.turn_openers]
    if openers:
        lines.append(f"{ours.name} lacks the turn opener {', '.join(map(repr, openers))}")
    known = {marker.text for marker in ours.turn_end} | _texts(ours)
    ends = [marker.text for marker in format.turn_end if marker.text not in known]
    if ends:
        lines.append(f"{ours.name} lacks the end-of-turn text {', '.join(map(repr, ends))}")
    markers = {marker.text: marker for marker in ours.markers.values()}
    for marker in format.markers.values():
        other = markers.get(marker.text)
        if other is None:
            lines.append(f"{ours.name} has no marker {marker.text!r}")
        elif (marker.before, marker.after) != (other.before, other.after):
            lines.append(
                f"{marker.text!r}: the template writes {marker.before!r} before and {marker.after!r} after it, "
                f"{ours.name} has {other.before!r} and {other.after!r}"
            )
    return lines
