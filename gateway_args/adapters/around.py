"""What stands around malformed text that is shown as content: the markers and the white space of its region.

A region of calls that held none is shown as the model wrote it, to the last character. Its markers and its layout come
as dropped text, though, like those of reasoning and of the turn, which are nobody's to see. So dropped text waits here
until it is known what it belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..events import Why

if TYPE_CHECKING:
    from ..events import Dropped

_NOT_SHOWN: Final = (Why.CONTROL, Why.IMPLICIT_CLOSE)


class Around:
    """The dropped text since the last text of another kind, and whether it stands around malformed text."""

    __slots__ = ("open", "other", "run", "shown")

    def __init__(self) -> None:
        self.run: list[list[str]] = []  # text, and whether it starts or ends a region
        self.shown = False  # malformed text was shown before it
        self.open = False  # and the marker that starts its region
        self.other = False  # a marker of another kind stands before it: the layout behind that is its own

    def dropped(self, event: Dropped) -> None:
        if event.why in _NOT_SHOWN:
            return
        if event.why is Why.MARKER and not event.region:
            if not self.shown:
                self.run.clear()
            self.other = True
        elif event.why is Why.MARKER or not self.other:
            self.run.append([event.text, event.region])
            self.other = False

    def before_malformed(self, in_region: bool) -> str:
        """What belongs to the malformed text that comes now.

        `in_region`: no call has started, so a marker that ends a region behind it ends one that held no call.
        """
        text = "".join(text for text, _ in self.run)
        self.open = self.open or in_region or any(region == "start" for _, region in self.run)
        self.run = []
        self.shown, self.other = True, False
        return text

    def resolved(self, *, text_follows: bool) -> str:
        """What belongs to malformed text that was shown before; what comes now is text, or it is none."""
        run = self.run
        ends = [at for at, (_, region) in enumerate(run) if region == "end"] if self.open else []
        keep = ends[-1] + 1 if ends else 0
        if text_follows:
            while keep < len(run) and not run[keep][1]:
                keep += 1
        shown_text = "".join(text for text, _ in run[:keep]) if self.shown else ""
        self.run = []
        self.shown = self.open = self.other = False
        return shown_text

    def save(self) -> list[Any]:
        return [self.run, self.shown, self.open, self.other]

    def load(self, saved: list[Any]) -> None:
        """Take up a state for which `is_state` holds."""
        self.run, self.shown, self.open, self.other = saved


def is_state(value: object) -> bool:
    match value:
        case [list(run), bool(), bool(), bool()]:
            return all(map(_is_entry, run))
    return False


def _is_entry(entry: object) -> bool:
    match entry:
        case [str(), "" | "start" | "end"]:
            return True
    return False
