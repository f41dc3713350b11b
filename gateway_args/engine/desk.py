"""The desk is where a call syntax's reader speaks: markers that count in its region, and the call in flight.

Readers know nothing of states and modes. They ask what stands at a place (`marker_at`, `knows`) and say what they found
(`start_call`, `arguments`, `end_call`, and the ledger's `drop` and `spoil`); indices, ids, limits and what the request
declares are seen to here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..events import CallArguments, CallEnd, CallStart, Dropped, Why
from ..syntaxes.base import MORE, NO, YES
from .ledger import Ledger

if TYPE_CHECKING:
    from ..limits import Limits
    from ..syntaxes.base import Plain, Reader
    from ..tools import Tool, Tools
    from .program import Program, Row, Stage


class Desk(Ledger):
    """The ledger with the call in flight."""

    __slots__ = (
        "calls",
        "candidate",
        "complete",
        "had_call",
        "in_call",
        "layout_why",
        "plain",
        "reader",
        "target",
        "tool",
        "tools",
        "undeclared_is_malformed",
        "unnamed",
        "why",
    )

    def __init__(
        self,
        program: Program,
        stage: str,
        tools: Tools | None,
        limits: Limits,
        undeclared_is_malformed: bool,
    ) -> None:
        super().__init__(program, stage, limits)
        self.tools = tools
        self.undeclared_is_malformed = undeclared_is_malformed
        self.unnamed: list[CallStart] = []  # calls that started and wait for the parser to give them an id
        self.calls = 0
        self.complete = 0
        self.reader: Reader | None = None
        self.candidate = False  # a bare call, undecided until it starts
        self.layout_why: Why = Why.LAYOUT  # what the text before the candidate is
        self.target = ""  # the opener that waits to be confirmed
        self.in_call = False
        self.had_call = False  # the region held a call
        self.tool: Tool | None = None  # the call's, when the request declares it
        self.why: Why = Why.SHAPE  # why the region broke
        self.plain: Plain | None = None  # who reads printable text, when nothing is held and no marker is looked for

    def marker_at(self, at: int) -> int:
        """Whether a marker that counts in this region stands at `at`: NO, YES, or MORE while it may be arriving."""
        return self.row_at(at, self.final)[0]

    def row_at(self, at: int, final: bool) -> tuple[int, Row | None]:
        """The same with the marker's row; not `final` is to ask whether one begins there, though the text be over."""
        start, end, whole = self.stage.words.at(self.buf, at, final)
        if start >= len(self.buf):
            return NO, None
        if not whole:
            return MORE, None
        row = self.stage.rows.get(self.buf[start:end])
        return (NO, None) if row is None or row.closer else (YES, row)

    @property
    def entered(self) -> Stage:
        """The state that the opener which waits to be confirmed leads to."""
        return self.program.stages[self.stage.rows[self.target].target]

    def knows(self, name: str) -> bool:
        """Whether a call of this name may be one: the request declares it, or its tools are unknown."""
        return self.tools is None or name in self.tools

    def start_call(self, name: str, end: int, id: str | None = None) -> bool:
        """A call starts; its source is all that is unaccounted up to `end`. False, with `why`, when it may not."""
        declared = None if self.tools is None else name in self.tools
        if declared is False and self.undeclared_is_malformed:
            self.why = Why.UNDECLARED
            return False
        if self.calls >= self.limits.max_calls:
            self.why = Why.LIMIT
            return False
        index = self.calls
        if self.controls and (end > self.mark or self.held):
            self._flush_controls()
        if self.lead_text:
            self._lead_out()
        self.tool = self.tools.get(name) if self.tools is not None else None
        self.calls += 1
        self.in_call = self.had_call = True
        source = self.take(end)
        start = CallStart(index, id or "", name, declared, source, self.count())
        self.unnamed.append(start)
        self.out.append(start)
        return True

    def _lead_out(self) -> None:
        """The candidate is a call: account for what stood before it, white space or a separator."""
        text = self._account(self.lead_text)
        self.lead_text = ""
        tokens = self.count()
        if text or tokens:
            self.out.append(Dropped(text, self.layout_why, tokens))

    def arguments(self, json: str, end: int, divisible: bool = False) -> None:
        """A fragment; its source is the unaccounted text up to `end` (which may be none).

        `divisible`: where `json` is its source, each character is a fragment, and tokens without text go between.
        """
        if divisible and self.controls and json == self.buf[self.mark : end] and not self.held:
            for stretch in self._stretches(end):
                if stretch:
                    self._flush_controls()
                    self.out.append(CallArguments(self.calls - 1, stretch, self._account(stretch), self.count()))
            return
        if self.controls and (end > self.mark or self.held):
            self._flush_controls()
        source = self.take(end)
        self.out.append(CallArguments(self.calls - 1, json, source, self.count()))

    def pass_through(self, text: str, size: int) -> None:
        """A fragment that is new text as it came, when all text before it is accounted for and read."""
        if self.controls:
            self.buf = text
            self.mark = 0
            self.pos = size
            self.arguments(text, size, divisible=True)
            return
        self.done += size
        self.out.append(CallArguments(self.calls - 1, text, text, None if self.starts is None else self.count()))

    def end_call(self, end: int) -> None:
        """The call is over; its closer is the unaccounted text up to `end`."""
        reader = self.reader
        whole = reader is not None and reader.whole
        self.in_call = False
        self.tool = None
        if whole:
            self.complete += 1
        if self.controls and (end > self.mark or self.held):
            self._flush_controls()
        source = self.take(end)
        self.out.append(CallEnd(self.calls - 1, whole, source, self.count()))
