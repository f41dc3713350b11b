"""What a call syntax is: parameters from a table, bound to a stream's spelling, read by a `Reader`.

A syntax has three forms. `Syntax` is its parameters, a frozen dataclass whose fields are what a table may say; the
loader, the published schema and the docs are made from these fields. `BoundSyntax` is the syntax with its literal texts
spelled for one kind of stream, immutable and shared. `Reader` reads one region and holds the only state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .state import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Progress, Region
    from .scanning import Verdict


class Syntax:
    """The parameters of one way of writing calls. Subclasses are frozen dataclasses."""

    __slots__ = ()

    def check(self) -> tuple[str, str] | None:
        """What is wrong with the parameters taken together, as (key, problem), or None."""
        return None

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        """The syntax for a stream that spells markers this way."""
        raise NotImplementedError


class BoundSyntax:
    """A syntax ready to run; `firsts` are the characters with which its calls begin when no marker opens them."""

    __slots__ = ("firsts", "leads", "separator", "wraps")

    def __init__(self, firsts: str = "", separator: str = "", wraps: bool = False, leads: str = "") -> None:
        self.firsts: Final = firsts
        self.separator: Final = separator  # what stands between bare calls
        self.wraps: Final = wraps  # the region's marker is a section's: dropped, not part of the first call's source
        self.leads: Final = leads  # it is no call but a message's header, and its text is this state's

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        """Whether a call begins at this offset of the region's text, white space before it included.

        `inside` are the markers of the state that the call would stand in; `region.markers` are those it would end.
        """
        raise NotImplementedError

    def open(self) -> Reader:
        """A reader for one region."""
        raise NotImplementedError

    def message(self, region: Region, at: int) -> tuple[int, str]:
        """Where the message's header at `at` ends and the layout that may follow it, for one that `leads` to text."""
        raise NotImplementedError


class Reader(State):
    """Reads one call region as its text arrives, and tells the region what it finds.

    `read` takes what it can decide from `region.pos` on. What it has read but not yet accounted for stays with the
    region, over deltas too. `complete` is whether the fragments of the call in flight, or of the last one, are one
    whole JSON value.
    """

    __slots__ = ("complete",)
    complete: bool

    def read(self, region: Region) -> Progress:
        raise NotImplementedError

    def cut(self, region: Region) -> None:
        """The region ends at `region.pos` (a marker, or the end of the output): say what is held back and sound."""

    def nothing(self, region: Region) -> None:
        """The model ended its output with no text for a region that is the whole of it."""
