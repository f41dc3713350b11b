"""The ledger accounts for the text: what has come and is not settled, and the events that settle it.

`buf` holds the text that is not yet settled; `mark` is the first character no event has accounted for, `pos` the first
one not yet looked at. Text that a reader holds for longer moves to `parts`, joined once when it is accounted for. Every
event takes its text from here, in order, so that texts and sources joined are the output; every token is counted in the
event that carries its first character, and a token without text in an event of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..events import Content, Dropped, Malformed, Reasoning, ReasoningEnd, Why
from .program import FIRST_PRIVATE

if TYPE_CHECKING:
    from collections import deque

    from ..events import Event
    from ..limits import Limits
    from .program import Program, Stage

_PRIVATE: Final = re.compile(r"[\ud800-\udfff]")


class Ledger:
    """The text of one output, as far as it is not settled, and the events that were said."""

    __slots__ = (
        "buf",
        "controls",
        "debt",
        "done",
        "final",
        "held",
        "in_thought",
        "lead_text",
        "limits",
        "mark",
        "out",
        "parts",
        "pos",
        "program",
        "stage",
        "starts",
        "texted",
        "thought_tokens",
        "zero",
    )

    def __init__(self, program: Program, stage: str, limits: Limits) -> None:
        self.program = program
        self.stage: Stage = program.stages[stage]
        self.limits = limits
        self.buf = ""
        self.pos = 0
        self.mark = 0
        self.parts: list[str] = []  # unaccounted text before buf[mark:]
        self.held = 0  # its length
        self.lead_text = ""  # undecided text before a bare candidate, and before `parts`
        self.final = False  # no more text will come
        self.debt = 0  # unaccounted characters that came from the prompt
        # Tokens: offsets in all of the text, and how much of it is accounted for.
        self.starts: deque[int] | None = None
        self.zero: set[int] | None = None  # private characters whose token has no text
        self.controls: deque[int] | None = None  # tokens without text that are no markers
        self.done = 0
        self.thought_tokens = 0
        self.in_thought = False
        self.texted = False  # content was said
        self.out: list[Event] = []

    def take(self, end: int) -> str:
        """The unaccounted text up to `end`, which the caller's one event now accounts for."""
        return self._account(self._gather(end))

    def _gather(self, end: int) -> str:
        text = self.buf[self.mark : end]
        self.mark = end
        if self.held:
            self.parts.append(text)
            text = "".join(self.parts)
            self.parts = []
            self.held = 0
        return text

    def _stretches(self, end: int) -> list[str]:
        """The unaccounted text up to `end`, cut where tokens without text stand: their events go between."""
        text = self._gather(end)
        controls = self.controls
        size = len(text)
        if not controls or controls[0] >= self.done + size:
            return [text]
        cuts = [0]
        for at in controls:
            if at - self.done >= size:
                break
            if at - self.done > cuts[-1]:
                cuts.append(at - self.done)
        cuts.append(size)
        return [text[cuts[n] : cuts[n + 1]] for n in range(len(cuts) - 1)]

    def _account(self, text: str) -> str:
        """This text is accounted for: what an event shows of it."""
        start = self.done
        self.done += len(text)
        if self.debt:
            cut = min(self.debt, len(text))
            self.debt -= cut
            text = text[cut:]
            start += cut
        zero = self.zero
        if zero is not None:
            said = self.restore(text, start)
            if zero:
                zero.difference_update(start + match.start() for match in _PRIVATE.finditer(text))
            return said
        return text

    def restore(self, text: str, offset: int) -> str:
        """Text as the output has it: private characters become their tokens' text. `offset` counts in all of it."""
        if self.zero is None or _PRIVATE.search(text) is None:
            return text
        zero = self.zero
        spelled = self.program.texts
        return _PRIVATE.sub(
            lambda match: "" if offset + match.start() in zero else spelled[ord(match.group()) - FIRST_PRIVATE], text
        )

    def offset(self, at: int) -> int:
        """Where the character at `buf[at]` is in all of the text."""
        return self.done + len(self.lead_text) + self.held + at - self.mark

    def unaccounted(self) -> int:
        """Characters read but not accounted for."""
        return self.held + self.pos - self.mark

    def pending(self, end: int) -> str:
        """The unaccounted text up to `end`, as the output has it; it stays unaccounted."""
        text = self.buf[self.mark : end]
        if self.held:
            text = "".join(self.parts) + text
        return self.restore(text, self.done)

    def unpark(self) -> int:
        """Take the unaccounted text back into `buf`, to be accounted for in pieces; how far `buf` has shifted."""
        shift = self.held - self.mark
        self.buf = "".join(self.parts) + self.buf[self.mark :]
        self.parts = []
        self.held = self.mark = 0
        self.pos += shift
        return shift

    def count(self) -> int | None:
        """The tokens whose first character is accounted for by now and was not before."""
        starts = self.starts
        if starts is None:
            return None
        done = self.done
        tokens = 0
        while starts and starts[0] < done:
            starts.popleft()
            tokens += 1
        return tokens

    def drop(self, end: int, why: Why) -> None:
        """The unaccounted text up to `end` belongs to the format."""
        self._aside(Dropped, end, why)

    def spoil(self, end: int, why: Why) -> None:
        """The unaccounted text up to `end` is malformed."""
        self._aside(Malformed, end, why)

    def _aside(self, kind: type[Dropped | Malformed], end: int, why: Why) -> None:
        if end <= self.mark and not self.held:
            return
        for stretch in self._stretches(end):
            if self.controls:
                self._flush_controls()
            text = self._account(stretch)
            tokens = self.count()
            if text or tokens:
                if self.in_thought and tokens and why is not Why.MARKER:
                    self.thought_tokens += tokens
                self.out.append(kind(text, why, tokens))

    def say(self, end: int) -> None:
        """The unaccounted text up to `end` is text of the state."""
        if end <= self.mark and not self.held:
            return
        kind = self.stage.kind
        if kind == "wrapper":
            self.spoil(end, Why.STRAY)
            return
        for stretch in self._stretches(end):
            if self.controls:
                self._flush_controls()
            text = self._account(stretch)
            tokens = self.count()
            if text or tokens:
                if kind == "reasoning":
                    self.thought_tokens += tokens or 0
                    self.out.append(Reasoning(text, tokens))
                else:
                    self.texted = True
                    self.out.append(Content(text, tokens))

    def imply_close(self) -> None:
        """A closer that the model left out would stand here, with nothing unaccounted before it."""
        self.out.append(Dropped("", Why.IMPLICIT_CLOSE, None if self.starts is None else 0))

    def control_before(self, end: int) -> bool:
        """Whether a token without text stands in the unaccounted text up to `end`."""
        return bool(self.controls) and self.controls[0] < self.offset(end)  # type: ignore[index]

    def _flush_controls(self) -> None:
        """Say the tokens without text that stand before what is accounted for next; events without text wait for none.

        A thought ends before the text that ends it, so what stands in it is said by then.
        """
        controls = self.controls
        while controls and controls[0] <= self.done:
            controls.popleft()
            if self.in_thought:
                self.thought_tokens += 1
            self.out.append(Dropped("", Why.CONTROL, 1))

    def _leave_thought(self) -> None:
        if self.controls:
            self._flush_controls()
        self.in_thought = False
        self.out.append(ReasoningEnd())
