"""`Region` is all that a reader sees of the engine: the text, what stands in it, and what may be said of it.

A reader gets the text of one region as it arrives and says what each stretch of it is. Everything before `pos` is read,
and everything that is not accounted for yet is held by the region: an event's source is always all that is unaccounted
up to its `end`. Readers know nothing of states, token ids, call indices or limits on calls; the engine implements this
interface, and so can a test.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Protocol

from .scanning import NO, YES, Verdict, Words
from .state import FLAG, Kind, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ..events import Why
    from ..limits import Limits
    from ..tools import Tool, Tools

Progress = Literal["go", "more", "done", "broke", "marker", "reject"]
"""What reading came to."""
GO: Final = "go"  # a step is done, the next one can be taken
WAIT: Final = "more"  # all is read, more text is needed
DONE: Final = "done"  # the value is complete, `pos` stands behind it
BROKE: Final = "broke"  # from `pos` on this is no call; `why` says why
MARKER: Final = "marker"  # a marker that counts here stands at `pos`
REJECT: Final = "reject"  # a tentative call is none: all that is held is text


class Markers:
    """The markers that count in one state, compiled for scanning."""

    __slots__ = ("closers", "ends", "json_firsts", "json_starts", "name", "openers", "section", "special", "words")

    def __init__(self, name: str, words: Iterable[str], section: bool) -> None:
        self.name: Final = name  # of the state
        self.words: Final = Words(words)
        self.section: Final = section  # nothing but calls can stand in it
        # The call's closers, then those of each section around it, and what may follow them when all have come.
        self.closers: tuple[Words, ...] = ()
        self.ends: Words = Words(())
        self.openers: frozenset[str] = frozenset()  # those of calls among them
        # Markers that begin like JSON outside strings: who reads JSON looks for these itself.
        self.json_firsts: Final = "".join(c for c in self.words.firsts if c in '{}[]:,-0123456789truefalsn"')
        # Where a run of JSON stops: control characters, private ones, and these.
        self.special: Final = re.compile(r"[\x00-\x1f\ud800-\udfff" + re.escape(self.json_firsts) + "]")
        self.json_starts: Final = re.compile(r"[\ud800-\udfff" + re.escape(self.json_firsts) + "]")


class Call(State):
    """The call in flight, and what the request declares."""

    __slots__ = ("open", "seen", "tentative", "tool", "tools")

    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (("tentative", FLAG), ("open", FLAG), ("seen", FLAG))

    def __init__(self, tools: Tools | None = None) -> None:
        self.tools: Final = tools
        self.tentative = False  # no marker opened it: until it starts it may be text
        self.open = False
        self.seen = False  # the region held a call
        self.tool: Tool | None = None  # the call's, when the request declares it

    def declares(self, name: str) -> bool:
        """Whether a call of this name may be one: the request declares it, or its tools are unknown."""
        return self.tools is None or name in self.tools

    @property
    def names(self) -> Collection[str]:
        """The functions that the request declares."""
        return self.tools.names if self.tools is not None else ()

    @property
    def undecided(self) -> bool:
        """Whether all of the region may still be text."""
        return self.tentative and not self.seen


def marker_or_fail(region: Region, at: int, why: Why) -> Progress:
    """What a character that cannot stand at `at` comes to: a marker that counts, one that may be arriving, or BROKE."""
    verdict = region.marker(at)
    if verdict == NO:
        return region.fail(why)
    return MARKER if verdict == YES else WAIT


class Hot(Protocol):
    """A value that can take text on a short path while nothing but its layout is held."""

    def run_on(self, text: str) -> tuple[str, int] | None:
        """The JSON fragment that this text is, and how many characters at its end it left; None: nothing was done.

        What it leaves is layout that may end the value.
        """
        ...


class Region(Protocol):
    """One region being read."""

    @property
    def text(self) -> str:
        """The text that has come; offsets into it hold until `read` returns or `rejoin` is asked."""
        ...

    @property
    def pos(self) -> int:
        """Where reading goes on."""
        ...

    @property
    def final(self) -> bool:
        """No more text will come."""
        ...

    @property
    def stopped(self) -> bool:
        """No more text will come, and the model ended it itself."""
        ...

    @property
    def limits(self) -> Limits: ...

    @property
    def markers(self) -> Markers:
        """The markers of the state."""
        ...

    @property
    def call(self) -> Call: ...

    @property
    def why(self) -> Why:
        """The reason that was last given to `fail`."""
        ...

    @property
    def held(self) -> int:
        """How many characters up to `pos` are unaccounted."""
        ...

    def advance(self, end: int) -> None:
        """All up to `end` is read; nothing is said of it yet."""

    def skip_space(self) -> int:
        """White space from `pos` on is read: where it ends."""
        ...

    def marker(self, at: int, cut: bool = False) -> Verdict:
        """Whether a marker that counts stands at `at`; `cut`: MORE for one that the end of the output cuts short."""
        ...

    def closer(self, at: int) -> bool:
        """Whether the marker at `at` is the call's own closer."""
        ...

    def data(self, start: int, end: int) -> str:
        """This text as the output has it: markers by id that are data as the text of their tokens."""
        ...

    def held_text(self, end: int) -> str:
        """The unaccounted text up to `end` as the output has it."""
        ...

    def rejoin(self) -> int:
        """Bring all unaccounted text back into `text`, to be accounted for in parts; how far offsets have moved."""
        ...

    def divided(self, end: int) -> bool:
        """Whether a token without text stands in the unaccounted text up to `end`."""
        ...

    def consume(self, end: int, why: Why) -> None:
        """The unaccounted text up to `end` belongs to the format."""

    def malformed(self, end: int, why: Why) -> None:
        """The unaccounted text up to `end` is malformed."""

    def fail(self, why: Why) -> Literal["broke"]:
        """From `pos` on this is no call: BROKE, for the reader to return."""
        ...

    def start_call(self, name: str, end: int, id: str | None = None) -> Why | None:
        """A call starts; its source is all that is unaccounted up to `end`. Else the reason why it may not."""
        ...

    def arguments(self, json: str, end: int, divisible: bool = False) -> None:
        """A fragment; its source is the unaccounted text up to `end` (which may be none).

        `divisible`: where `json` is its source, each character is a fragment, and tokens without text go between.
        """

    def end_call(self, end: int) -> None:
        """The call is over; its closer is the unaccounted text up to `end`."""

    def hot(self, value: Hot) -> None:
        """The next delta may be put to this value first."""
