"""What a call syntax is to the engine: parameters from a table, bound to a stream's spelling, read by a `Reader`.

A syntax has three forms. `Syntax` is its parameters, a frozen dataclass whose fields are what a table may say; the
loader, the published schema and the docs are made from these fields. `Bound` is the syntax with its literal texts
spelled for one kind of stream, immutable and shared. `Reader` reads one region and holds the only state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine.engine import Engine

# What `Bound.begins` says of a text.
NO: Final = 0  # no call of this syntax can begin here
YES: Final = 1  # one does
MORE: Final = 2  # undecided until more text comes

# What `Reader.read` says of its region. (`MORE` as above: all is read, more text is needed.)
DONE: Final = 3  # the value is whole, `engine.pos` stands behind it
BROKE: Final = 4  # from `engine.pos` on this is no call; `engine.why` says why
MARKER: Final = 5  # a marker that counts here stands at `engine.pos`
REJECT: Final = 6  # a bare candidate is no call: all that is held is text


class Syntax:
    """The parameters of one way of writing calls. Subclasses are frozen dataclasses."""

    __slots__ = ()

    def check(self) -> tuple[str, str] | None:
        """What is wrong with the parameters taken together, as (key, problem), or None."""
        return None

    def bind(self, spell: Callable[[str], str]) -> Bound:
        """The syntax for a stream that spells markers this way."""
        raise NotImplementedError


class Bound:
    """A syntax ready to run; `firsts` are the characters with which its calls begin when no marker opens them."""

    __slots__ = ("firsts", "separator", "wraps")

    def __init__(self, firsts: str = "", separator: str = "", wraps: bool = False) -> None:
        self.firsts: Final = firsts
        self.separator: Final = separator  # what stands between bare calls
        self.wraps: Final = wraps  # the region's marker is a wrapper's: dropped, not part of the first call's source

    def begins(self, engine: Engine, at: int) -> int:
        """Whether a call begins at this offset of `engine.buf`, white space before it included: NO, YES or MORE."""
        raise NotImplementedError

    def open(self) -> Reader:
        """A reader for one region."""
        raise NotImplementedError


class Plain(Protocol):
    """What reads printable text on a short path: `engine.plain`, set while nothing is held back."""

    def run_on(self, engine: Engine, text: str) -> bool:
        """False: nothing was done. When not all was taken, `engine.plain` is None and `engine.pos` where to read on."""
        ...


class Reader:
    """Reads one call region as its text arrives, from `engine.pos` on, and tells the engine what it finds.

    `read` takes what it can decide and returns one of the codes above. What it has read but not yet accounted for
    stays between `engine.mark` and `engine.pos`; the engine keeps that text, over deltas too. `whole` is whether the
    fragments of the call in flight, or of the last one, are one whole JSON value.
    """

    __slots__ = ("whole",)
    whole: bool

    def read(self, engine: Engine) -> int:
        raise NotImplementedError

    def cut(self, engine: Engine) -> None:
        """The region ends at `engine.pos` (a marker, or the end of the output): say what is held back and sound."""

    def nothing(self, engine: Engine) -> None:
        """The model ended its output with no text for a region that is the whole of it."""

    def save(self) -> list[object]:
        """The state as plain values that JSON can carry."""
        raise NotImplementedError

    def load(self, saved: list[object]) -> None:
        """Take up a saved state."""
        raise NotImplementedError
