"""Headers of messages that are no calls, as in `<|message_model|>bob<|content_text|>`.

Where one marker begins the header of a call and of a message alike, its state lists the headers that lead to text: all
of such a header is a marker, and the text behind it is the text of another state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .base import BoundSyntax
from .pattern import Match, Pattern, first_match
from .scanning import MORE, YES, Verdict, layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region


@dataclass(frozen=True, slots=True)
class Header:
    """A message's header behind the marker that begins it, and the state that it leads to."""

    name: str
    state: str
    patterns: tuple[str, ...]
    """What stands between the marker and the text; the first that matches counts."""
    after: str = ""
    """White space that the template writes behind the header, at most this."""
    last: bool = False
    """It counts only where no call's header does; the others are tried before the calls'."""

    def bind(self, spell: Callable[[str], str]) -> BoundHeader:
        return BoundHeader(self, spell)


class BoundHeader(BoundSyntax):
    """A message's header, ready to be looked for; it stands among the calls that its marker may begin."""

    __slots__ = ("after", "patterns")

    def __init__(self, header: Header, spell: Callable[[str], str]) -> None:
        super().__init__(leads=header.state)
        self.after: Final = header.after
        self.patterns: Final = tuple(Pattern(pattern, spell) for pattern in header.patterns)

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        return self._match(region, at)[0]

    def message(self, region: Region, at: int) -> tuple[int, str]:
        found = self._match(region, at)[1]
        return (at if found is None else found.end), self.after

    def _match(self, region: Region, at: int) -> tuple[Verdict, Match | None]:
        verdict, first = layout(region.text, at, region.limits.max_layout)
        if verdict == YES or (verdict == MORE and region.final):
            return first_match(self.patterns, region.text, first, region.limits, region.final, region.call.names)
        return verdict, None
