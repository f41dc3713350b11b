"""The account of one output: the text that has come and is not settled, and the events that settle it.

`text` holds what is not settled; `mark` is the first character no event has accounted for, `pos` the first one not yet
looked at. Text that a reader holds for longer moves to `parts`, joined once when it is accounted for. Every event takes
its text from here, in order, so that texts and sources joined are the output; every token is counted in the event that
carries its first character, and a token without text in an event of its own.

It is the `Region` that readers see: what they say of a call becomes events here, with the call's index, the limits on
calls and what the request declares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from ..events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)
from ..syntaxes.region import BROKE, Call
from ..syntaxes.scanning import FIRST_PRIVATE, NO, PRIVATE, SPACE, YES, Verdict
from ..syntaxes.state import COUNT, FLAG, JOINED, OFFSETS, QUEUE, TEXT, WHY, Kind, State, optional

if TYPE_CHECKING:
    from collections import deque

    from ..events import Event
    from ..limits import Limits
    from ..syntaxes.base import Reader
    from ..syntaxes.region import Hot, Markers
    from ..tools import Tools
    from .compiled import CompiledFormat, CompiledState, MarkerRow


class Account(State):
    """The text of one output as far as it is not settled, the events that were said, and the call in flight."""

    __slots__ = (
        "call",
        "calls",
        "complete",
        "controls",
        "debt",
        "done",
        "final",
        "hot_value",
        "in_reasoning",
        "lead",
        "limits",
        "mark",
        "out",
        "parked",
        "parts",
        "pos",
        "reader",
        "reasoning_tokens",
        "regions",
        "spelled",
        "starts",
        "state",
        "stopped",
        "tentative_why",
        "text",
        "texted",
        "undeclared_is_malformed",
        "unnamed",
        "why",
        "zero",
    )

    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        *((name, TEXT) for name in ("text", "lead")),
        *((name, COUNT) for name in ("pos", "mark", "parked", "debt", "done", "reasoning_tokens", "calls", "complete")),
        *((name, FLAG) for name in ("final", "in_reasoning", "texted")),
        *((name, WHY) for name in ("why", "tentative_why")),
        ("parts", JOINED),
        ("starts", optional(QUEUE)),
        ("controls", optional(QUEUE)),
        ("zero", optional(OFFSETS)),
    )

    def __init__(
        self, format: CompiledFormat, state: str, tools: Tools | None, limits: Limits, undeclared_is_malformed: bool
    ) -> None:
        self.spelled = format.texts
        self.regions = format.format.regions  # what the format's markers open and close, for who shows them
        self.state: CompiledState = format.states[state]
        self.limits = limits
        self.text = ""
        self.pos = 0
        self.mark = 0
        self.parts: list[str] = []  # unaccounted text before text[mark:]
        self.parked = 0  # its length
        self.lead = ""  # undecided text before a tentative call, and before `parts`
        self.final = False  # no more text will come
        self.stopped = False  # and the model ended it itself
        self.debt = 0  # unaccounted characters that came from before the output
        # Tokens: offsets in all of the text, and how much of it is accounted for (in streams with token ids).
        self.starts: deque[int] | None = None
        self.zero: set[int] | None = None  # private characters whose token has no text
        self.controls: deque[int] | None = None  # tokens without text that are no markers
        self.done = 0
        self.reasoning_tokens = 0
        self.in_reasoning = self.state.kind == "reasoning"
        self.texted = False  # content was said
        self.out: list[Event] = []
        # The call in flight.
        self.call = Call(tools)
        self.undeclared_is_malformed = undeclared_is_malformed
        self.unnamed: list[CallStart] = []  # calls that started and wait for the parser to give them an id
        self.calls = 0
        self.complete = 0
        self.reader: Reader | None = None
        self.why: Why = Why.SHAPE  # why the region broke
        self.tentative_why: Why = Why.LAYOUT  # what `lead` is when the tentative call is one
        self.hot_value: Hot | None = None  # who may take the next delta

    # ------------------------------------------------------------------------ what stands here

    @property
    def markers(self) -> Markers:
        return self.state.markers

    @property
    def held(self) -> int:
        return self.parked + self.pos - self.mark

    def marker(self, at: int, cut: bool = False) -> Verdict:
        return self.row(at, self.final and not cut)[0]

    def row(self, at: int, final: bool) -> tuple[Verdict, MarkerRow | None]:
        """Whether a marker that counts stands at `at`, and its row."""
        verdict, end = self.state.words.at(self.text, at, final)
        if verdict != YES:
            return verdict, None
        row = self.state.rows.get(self.text[at:end])
        return (NO, None) if row is None or row.closer else (YES, row)

    def closer(self, at: int) -> bool:
        row = self.row(at, self.final)[1]
        return row is not None and row.own and row.ends_call

    def data(self, start: int, end: int) -> str:
        return self._restored(self.text[start:end], self.offset(start))

    def held_text(self, end: int) -> str:
        text = self.text[self.mark : end]
        if self.parked:
            text = "".join(self.parts) + text
        return self._restored(text, self.done)

    def _restored(self, text: str, offset: int) -> str:
        """Text as the output has it: private characters become their tokens' text. `offset` counts in all of it."""
        zero = self.zero
        if zero is None or PRIVATE.search(text) is None:
            return text
        return PRIVATE.sub(
            lambda match: "" if offset + match.start() in zero else self.spelled[ord(match.group()) - FIRST_PRIVATE],
            text,
        )

    def offset(self, at: int) -> int:
        """Where the character at `text[at]` is in all of the text."""
        return self.done + len(self.lead) + self.parked + at - self.mark

    def divided(self, end: int) -> bool:
        controls = self.controls
        return controls is not None and len(controls) > 0 and controls[0] < self.offset(end)

    # -------------------------------------------------------------------------- moving the text

    def advance(self, end: int) -> None:
        self.pos = end

    def skip_space(self) -> int:
        text = self.text
        at = self.pos
        end = len(text)
        while at < end and text[at] in SPACE:
            at += 1
        self.pos = at
        return at

    def park(self, text: str) -> None:
        """More text has come for a reader: what it has read moves to `parts`, so that no long hold is copied again."""
        mark, pos = self.mark, self.pos
        if mark < pos:
            self.parts.append(self.text[mark:pos])
            self.parked += pos - mark
        self.text = self.text[pos:] + text if pos < len(self.text) else text
        self.pos = self.mark = 0

    def compact(self) -> int:
        """Let go of text that is accounted for; how far offsets have moved."""
        mark = self.mark
        if mark:
            self.text = self.text[mark:]
            self.pos -= mark
            self.mark = 0
        return mark

    def rejoin(self) -> int:
        shift = self.parked - self.mark
        self.text = "".join(self.parts) + self.text[self.mark :]
        self.parts = []
        self.parked = self.mark = 0
        self.pos += shift
        return shift

    def forget(self) -> None:
        """All text that has come is no part of the output."""
        self.parts = []
        self.parked = 0
        self.lead = ""
        self.pos = self.mark = len(self.text)

    # ------------------------------------------------------------------------------ accounting

    def _take(self, end: int) -> str:
        """The unaccounted text up to `end`, which the caller's one event now accounts for."""
        if self.controls and (end > self.mark or self.parked):
            self.flush_controls()
        return self._normalised(self._gather(end))

    def _gather(self, end: int) -> str:
        text = self.text[self.mark : end]
        self.mark = end
        if self.parked:
            self.parts.append(text)
            text = "".join(self.parts)
            self.parts = []
            self.parked = 0
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

    def _normalised(self, text: str) -> str:
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
            restored = self._restored(text, start)
            if zero:
                zero.difference_update(start + match.start() for match in PRIVATE.finditer(text))
            return restored
        return text

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

    def flush_controls(self) -> None:
        """Say the tokens without text that stand before what is accounted for next; events without text wait for none.

        Reasoning ends before the text that ends it, so what stands in it is said by then.
        """
        controls = self.controls
        while controls and controls[0] <= self.done:
            controls.popleft()
            if self.in_reasoning:
                self.reasoning_tokens += 1
            self.out.append(Dropped("", Why.CONTROL, 1))

    # ------------------------------------------------------------------------- text, said so far

    def consume(self, end: int, why: Why) -> None:
        if why is Why.IMPLICIT_CLOSE:  # a closer that the model left out would stand here
            self.out.append(Dropped("", why, None if self.starts is None else 0))
            return
        if end > self.mark or self.parked:
            self._aside(Dropped, end, why)

    def malformed(self, end: int, why: Why) -> None:
        if end > self.mark or self.parked:
            self._aside(Malformed, end, why)

    def _aside(self, kind: type[Dropped | Malformed], end: int, why: Why) -> None:
        for stretch in self._stretches(end):
            if self.controls:
                self.flush_controls()
            text = self._normalised(stretch)
            tokens = self.count()
            if text or tokens:
                if self.in_reasoning and tokens and why is not Why.MARKER:
                    self.reasoning_tokens += tokens
                event = kind(text, why, tokens)
                if why is Why.MARKER and isinstance(event, Dropped):
                    event.region = self.regions.get(text, "")
                self.out.append(event)

    def emit_text(self, end: int) -> None:
        """The unaccounted text up to `end` is text of the state."""
        if end <= self.mark and not self.parked:
            return
        kind = self.state.kind
        if kind == "wrapper":
            self.malformed(end, Why.STRAY)
            return
        for stretch in self._stretches(end):
            if self.controls:
                self.flush_controls()
            text = self._normalised(stretch)
            tokens = self.count()
            if text or tokens:
                if kind == "reasoning":
                    if not self.in_reasoning:
                        self.start_reasoning()
                    self.reasoning_tokens += tokens or 0
                    self.out.append(Reasoning(text, tokens))
                else:
                    self.texted = True
                    self.out.append(Content(text, tokens))

    def enter(self, state: CompiledState) -> None:
        """The text goes on in this state; reasoning starts and ends where the kinds change."""
        if self.in_reasoning and state.kind != "reasoning":
            self.end_reasoning()
        self.state = state
        if state.kind == "reasoning" and not self.in_reasoning:
            self.start_reasoning()

    def resume(self, state: CompiledState) -> None:
        """Reasoning that a call interrupted goes on: it starts again with its next text, if any comes."""
        self.state = state

    def start_reasoning(self) -> None:
        self.in_reasoning = True
        self.out.append(ReasoningStart())

    def end_reasoning(self) -> None:
        if self.controls:
            self.flush_controls()
        self.in_reasoning = False
        self.out.append(ReasoningEnd())

    # ------------------------------------------------------------------------------- the call

    def fail(self, why: Why) -> Literal["broke"]:
        self.why = why
        return BROKE

    def start_call(self, name: str, end: int, id: str | None = None) -> Why | None:
        call = self.call
        declared = None if call.tools is None else name in call.tools
        if declared is False and self.undeclared_is_malformed:
            return Why.UNDECLARED
        if self.calls >= self.limits.max_calls:
            return Why.LIMIT
        if self.controls and (end > self.mark or self.parked):
            self.flush_controls()
        if self.lead:
            self.release_lead()
        call.tool = call.tools.get(name) if call.tools is not None else None
        call.open = call.seen = True
        start = CallStart(self.calls, id or "", name, declared, self._take(end), self.count())
        self.calls += 1
        self.unnamed.append(start)
        self.out.append(start)
        return None

    def reject(self) -> int:
        """The tentative call is none: where its first character stands, with its lead unaccounted before it."""
        size = len(self.lead)
        if self.parked or self.mark < size or not self.text.startswith(self.lead, self.mark - size):
            self.text = self.lead + "".join(self.parts) + self.text[self.mark :]
            self.mark = 0
            self.parts = []
            self.parked = 0
        else:
            self.mark -= size
        self.lead = ""
        return self.mark + size

    def release_lead(self) -> None:
        """The tentative call is one: account for what stood before it, white space or a separator."""
        text = self._normalised(self.lead)
        self.lead = ""
        tokens = self.count()
        if text or tokens:
            self.out.append(Dropped(text, self.tentative_why, tokens))

    def arguments(self, json: str, end: int, divisible: bool = False) -> None:
        if divisible and self.controls and json == self.text[self.mark : end] and not self.parked:
            for stretch in self._stretches(end):
                if stretch:
                    self.flush_controls()
                    self.out.append(CallArguments(self.calls - 1, stretch, self._normalised(stretch), self.count()))
            return
        source = self._take(end)
        self.out.append(CallArguments(self.calls - 1, json, source, self.count()))

    def end_call(self, end: int) -> None:
        self._end_call(self._take(end))

    def break_call(self) -> None:
        """The call ends before all that is unaccounted."""
        self._end_call("")

    def _end_call(self, source: str) -> None:
        complete = self.reader is not None and self.reader.complete
        self.call.open = False
        self.call.tool = None
        if complete:
            self.complete += 1
        self.out.append(CallEnd(self.calls - 1, complete, source, self.count()))

    def hot(self, value: Hot) -> None:
        self.hot_value = value

    def run_on(self, text: str) -> bool:
        """The hot path: put this delta to the value in flight first. False: it was not taken, and nothing was done."""
        value = self.hot_value
        if value is None or self.controls:
            return False
        pos = self.pos
        if pos < len(self.text):  # layout that may end the value is held
            text = self.text[pos:] + text
        taken = value.run_on(text)
        if taken is None:
            self.hot_value = None
            return False
        json, left = taken
        if left:
            self.text = text[-left:]
            source = text[:-left]
        else:
            self.text = ""
            source = text
        self.pos = self.mark = 0
        if self.debt or self.zero is not None:
            source = self._normalised(source)
        self.out.append(CallArguments(self.calls - 1, json, source, None if self.starts is None else self.count()))
        return True
