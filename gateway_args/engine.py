"""The engine runs a compiled format over text as it arrives: every character ends up in exactly one event, in order.

Theory of operation. `buf` holds the text that is not yet settled; `mark` is the first character no event has accounted
for, `pos` the first one not yet looked at. A step looks at `buf` from `pos` on and either decides (and moves on) or
asks for more text and changes nothing that a later look would see differently. No step decides on less than it
needs, so what is said depends on the text alone and never on how it was cut. What a step may hold back is bounded by
`Limits`, so re-reading it is bounded too; a region's reader that holds more (a value, a bare candidate) keeps its own
place and the text moves to `parts`, joined once when it is accounted for.

The engine is always in one of five modes:

    TEXT     content, reasoning or a wrapper: scan for the next marker, keep the layout apart
    OPENING  an opener was read and is not confirmed yet
    READING  a call syntax's reader has the text
    TAIL     the call's value is whole, its closer has not come
    JUNK     the region broke: everything to the next marker that counts is malformed

Modes say how text is read; states (the table's) say where the output stands. All rules here are the policies of
docs/policies.md; a rule about one model does not belong here, it is a table's data or a syntax's parameter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .events import (
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
from .program import FIRST_PRIVATE, SPACE
from .syntaxes.base import DONE, MARKER, MORE, NO, REJECT, YES

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable

    from .events import Event
    from .limits import Limits
    from .program import Program, Row, Stage
    from .syntaxes.base import Plain, Reader
    from .tools import Tool, Tools

_PRIVATE: Final = re.compile(r"[\ud800-\udfff]")

TEXT: Final = 0
OPENING: Final = 1
READING: Final = 2
TAIL: Final = 3
JUNK: Final = 4


class Engine:
    """One output being read. `Parser` feeds it; call syntaxes' readers use `buf`, `pos`, `final` and the emitters."""

    __slots__ = (
        "after",
        "after_call",
        "blank",
        "body",
        "buf",
        "call_ids",
        "calls",
        "candidate",
        "complete",
        "controls",
        "debt",
        "done",
        "final",
        "had_call",
        "held",
        "in_call",
        "in_thought",
        "junk_back",
        "layout_why",
        "lead",
        "lead_text",
        "limits",
        "mark",
        "mode",
        "out",
        "parts",
        "plain",
        "pos",
        "program",
        "reader",
        "region",
        "replaying",
        "stage",
        "starts",
        "syntax",
        "target",
        "texted",
        "thought_tokens",
        "tool",
        "tools",
        "undeclared_is_malformed",
        "why",
        "zero",
    )

    def __init__(
        self,
        program: Program,
        stage: str,
        tools: Tools | None,
        limits: Limits,
        call_ids: Callable[[int, str, str | None], str],
        undeclared_is_malformed: bool,
    ) -> None:
        self.program = program
        self.stage: Stage = program.stages[stage]
        self.tools = tools
        self.limits = limits
        self.call_ids = call_ids
        self.undeclared_is_malformed = undeclared_is_malformed
        # text
        self.buf = ""
        self.pos = 0
        self.mark = 0
        self.parts: list[str] = []  # unaccounted text before buf[mark:]
        self.held = 0  # its length
        self.final = False
        self.debt = 0  # unaccounted characters that came from the prompt
        # tokens: offsets in all of the text, and how much of it is accounted for
        self.starts: deque[int] | None = None
        self.zero: set[int] | None = None  # private characters whose token has no text
        self.controls: deque[int] | None = None  # tokens without text that are no markers
        self.done = 0
        self.thought_tokens = 0
        # text modes
        self.mode = TEXT
        self.blank = True  # only white space since the last marker, call or start
        self.after = program.format.after_start  # what is left of that marker's layout
        self.after_call = False  # a call or region closer came last
        self.texted = False  # content was said
        self.in_thought = False
        # an opener or a bare candidate
        self.lead = 0  # unaccounted characters before the opener
        self.lead_text = ""  # undecided text before the candidate
        self.body = 0  # where in `buf` the text behind the opener begins
        self.target = ""
        self.junk_back = False  # unconfirmed, it is junk of the region it stands in
        self.candidate = False
        self.layout_why: Why = Why.LAYOUT  # what the lead of a candidate is
        self.region = 0  # events before the region, while a prompt is replayed
        self.replaying = False
        # the call in flight
        self.syntax = -1
        self.reader: Reader | None = None
        self.in_call = False
        self.had_call = False  # the region held a call
        self.calls = 0
        self.complete = 0
        self.tool: Tool | None = None
        self.why: Why = Why.SHAPE
        self.plain: Plain | None = None  # who reads printable text, when nothing is held and no marker is looked for
        self.out: list[Event] = []

    # ---------------------------------------------------------------- text in

    def feed(self, text: str) -> None:
        """Read on with this text; what it causes is appended to `out`."""
        if not text:
            return
        mark = self.mark
        if self.mode == READING:
            plain = self.plain
            if plain is not None:
                if plain.run_on(self, text):
                    if self.plain is None:
                        self.run()
                    return
                self.plain = None
            # A reader keeps its place: what it has read moves to `parts`, so that a long hold is never copied again.
            pos = self.pos
            if mark < pos:
                self.parts.append(self.buf[mark:pos])
                self.held += pos - mark
            self.buf = self.buf[pos:] + text if pos < len(self.buf) else text
            self.pos = self.mark = 0
        elif mark < len(self.buf):
            self.buf = self.buf[mark:] + text
            self.pos -= mark
            self.body -= mark
            self.mark = 0
        else:
            self.buf = text
            self.body -= mark
            self.pos = self.mark = 0
        self.run()

    def finish(self, stopped: bool) -> None:
        """The text ends here: settle everything that is held. `stopped` is whether the model ended it itself."""
        self.final = True
        self.run()
        if stopped and self.mode == TEXT and self.blank and self.stage.bare == "whole":
            self.drop(len(self.buf), Why.LAYOUT)
            self._open_region(0)
            assert self.reader is not None
            self.pos = len(self.buf)
            self.reader.nothing(self)
        self.plain = None
        self._end()
        if self.in_thought:
            self._leave_thought()

    def run(self) -> None:
        going = True
        while going:
            mode = self.mode
            if mode == TEXT:
                going = self._text()
            elif mode == READING:
                going = self._reading()
            elif mode == OPENING:
                going = self._opening()
            else:
                going = self._junk()

    # --------------------------------------------------------- accounting for text

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
                self.out.append(Dropped(text, why, tokens))

    def spoil(self, end: int, why: Why) -> None:
        """The unaccounted text up to `end` is malformed."""
        if end <= self.mark and not self.held:
            return
        for stretch in self._stretches(end):
            if self.controls:
                self._flush_controls()
            text = self._account(stretch)
            tokens = self.count()
            if text or tokens:
                self.out.append(Malformed(text, why, tokens))

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

    # ------------------------------------------------------------------- text modes

    def _text(self) -> bool:
        """Scan the state's text for the next marker; False when more text is needed."""
        stage = self.stage
        buf = self.buf
        if self.pos >= len(buf) and not self.final:
            return False
        start, end, whole = stage.words.find(buf, self.pos, self.final)
        if self.blank:
            first = _first_text(buf, self.pos, start)
            if first < start:
                if stage.bare and self._candidate(first, MORE):
                    return self._wait_or_go()
                self._begin_text(first)
            elif start - self.mark > self.limits.max_layout:
                if stage.kind == "wrapper" or (stage.bare == "whole" and not self.after_call):
                    self.drop(start, Why.LAYOUT)
                else:
                    self._begin_text(start)
        if start >= len(buf):
            if self.final:
                return False
            self._hold_back(start)
            self.pos = start
            return False
        if not whole:
            self._hold_back(start)
            self.pos = start
            return False
        row = stage.rows.get(buf[start:end])
        if row is None:  # the first character of a bare call
            if self._candidate(start, YES):
                return self._wait_or_go()
            self._begin_text(start)
            self.pos = start + 1
            return True
        if row.closer:
            if self.after_call and self.blank:
                self.drop(start, Why.LAYOUT)
                self.spoil(end, Why.STRAY)
                self._rest(row.marker.after)
                self.after_call = True
            else:
                self._begin_text(start)
            self.pos = end
            return True
        if row.turn_end:
            self._settle(start, row)
            self.drop(end, Why.MARKER)
            self.pos = end
            self.after_call = False
            if stage.kind == "wrapper":
                self._enter(self._root())
            self._rest(row.marker.after)
            return True
        if not row.own:  # the enclosing state's marker ends this wrapper
            self._settle(start, row)
            self._enter(stage.parent)
            self._rest("")
            self.pos = start
            return True
        kind = self.program.stages[row.target].kind
        if kind == "call" or (kind == "wrapper" and row.marker.name in self.program.format.opener_names):
            return self._opener(start, end, row)
        self._settle(start, row)
        if self.in_thought and kind != "reasoning":
            self._leave_thought()
        self.drop(end, Why.MARKER)
        self.pos = end
        closes = row.marker.name in self.program.format.closer_names
        self._enter(row.target)
        self._rest(row.marker.after)
        self.after_call = closes
        return True

    def _hold_back(self, end: int) -> None:
        """Say the text up to `end`, but for white space that may prove to be the next marker's layout."""
        if self.blank:
            return
        keep = end
        floor = max(self.mark, end - self.stage.hold)
        while keep > floor and self.buf[keep - 1] in SPACE:
            keep -= 1
        self.say(keep)

    def _begin_text(self, end: int) -> None:
        """Text stands at `end`: of the white space before it, what the last marker's layout covers is layout."""
        if not self.blank:
            return
        self.blank = False
        self.after_call = False
        after = self.after
        if self.stage.kind == "wrapper":  # only layout may stand here, whatever the template writes
            self.drop(end, Why.LAYOUT)
        elif after:
            size = 0
            limit = min(len(after), end - self.mark)
            while size < limit and self.buf[self.mark + size] == after[size]:
                size += 1
            self.drop(self.mark + size, Why.LAYOUT)

    def _settle(self, start: int, row: Row) -> None:
        """A marker stands at `start`: of the text before it, what its layout covers is layout."""
        if self.blank:
            self.drop(start, Why.LAYOUT)
            return
        before = row.marker.before
        size = 0
        limit = min(len(before), start - self.mark)
        while size < limit and self.buf[start - 1 - size] == before[-1 - size]:
            size += 1
        self.say(start - size)
        self.drop(start, Why.LAYOUT)

    def _rest(self, after: str) -> None:
        """A marker has just been read; `after` is the layout that may follow it."""
        self.blank = True
        self.after = after

    def _enter(self, name: str) -> None:
        """Go to this state; thoughts start and end where the kinds change."""
        stage = self.program.stages[name]
        if self.in_thought and stage.kind != "reasoning":
            self._leave_thought()
        self.stage = stage
        if stage.kind == "reasoning" and not self.in_thought:
            self.in_thought = True
            self.out.append(ReasoningStart())

    def _leave_thought(self) -> None:
        if self.controls:
            self._flush_controls()
        self.in_thought = False
        self.out.append(ReasoningEnd())

    # --------------------------------------------------------------- openers and candidates

    def _opener(self, start: int, end: int, row: Row) -> bool:
        """A marker that leads into a call or a wrapper was read."""
        if not self.blank:
            self._hold_back(start)
        self.lead = self.held + start - self.mark
        self.body = end
        self.pos = end
        self.target = row.spelling
        self.junk_back = False
        self.candidate = False
        self.mode = OPENING
        return True

    def _opening(self) -> bool:
        """Is the opener confirmed by what follows it? False when more text is needed."""
        row = self.stage.rows[self.target]
        stage = self.program.stages[row.target]
        verdict = YES
        syntax = -1
        if stage.kind == "call":
            verdict = NO
            for n, call in enumerate(stage.calls):
                answer = call.begins(self, self.body)
                if answer != NO:
                    verdict = answer
                    syntax = n
                    break
            if verdict == NO and row.marker.certain:
                verdict = YES
        elif not row.marker.certain:
            verdict = self._wrapper_begins(stage, self.body)
        if verdict == MORE:
            if not self.final:
                return False
            verdict = NO
        if verdict == NO:
            self._unconfirmed(row)
            return True
        self._confirmed(row, stage, syntax)
        return True

    def _wrapper_begins(self, stage: Stage, at: int) -> int:
        """A wrapper's opener is confirmed by white space and the opener of a call."""
        first = _first_text(self.buf, at, len(self.buf))
        if first - at > self.limits.max_layout:
            return NO
        if first == len(self.buf):
            return MORE
        start, _, whole = stage.openers.at(self.buf, first, self.final)
        if start == len(self.buf):
            return NO
        return YES if whole else MORE

    def _unconfirmed(self, row: Row) -> None:
        """The opener is text of the state it stands in, or junk of the broken region."""
        self.pos = self.body
        if self.junk_back:
            self.mode = JUNK
            return
        self.mode = TEXT
        self._begin_text(self.mark + self.lead)
        self.blank = False

    def _confirmed(self, row: Row, stage: Stage, syntax: int) -> None:
        if self.junk_back:
            self.spoil(self.body - len(row.spelling), self.why)
            self._close_region("", self.mark)
            self._enter(self._ancestor(self.target))
            self.blank = True
        start = self.body - len(row.spelling)
        self._settle(start, row)
        self._mark_region()
        if self.in_thought and stage.kind != "reasoning":
            self._leave_thought()
        if stage.kind != "call":
            self.drop(self.body, Why.MARKER)
            self.pos = self.body
            self.mode = TEXT
            self._enter(row.target)
            self._rest(row.marker.after)
            self.after_call = False
            return
        self.stage = stage
        self._open_region(syntax)
        self.pos = self.body
        if stage.calls and syntax >= 0 and stage.calls[syntax].wraps:
            self.drop(self.body, Why.MARKER)

    def _mark_region(self) -> None:
        """A region opens: while the prompt is replayed, only the last one's events matter."""
        if self.replaying:
            self.region = len(self.out)
            self.calls = self.complete = 0

    def _open_region(self, syntax: int) -> None:
        self.candidate = False
        self.junk_back = False
        self.in_call = False
        self.had_call = False
        self.tool = None
        self.blank = True
        self.after_call = False
        if syntax < 0:  # a certain opener before nothing readable
            self.syntax = -1
            self.reader = None
            self.why = Why.SHAPE
            self.mode = JUNK
            return
        self.syntax = syntax
        self.reader = self.stage.calls[syntax].open()
        self.mode = READING

    def _candidate(self, at: int, known: int) -> bool:
        """Whether a bare call may begin at `at`; then the engine reads on as one until it is decided."""
        stage = self.stage
        if stage.bare == "whole":
            self.drop(at, Why.LAYOUT)
            self.pos = at
            self._mark_region()
            self._open_region(0)
            return True
        if stage.bare == "start" and (self.texted or not self.blank or self.after_call):
            return False
        buf = self.buf
        why = Why.LAYOUT
        if known == MORE:
            separator = stage.separator if self.after_call else ""
            if separator and separator.startswith(buf[at : at + len(separator)]):
                at = _first_text(buf, min(len(buf), at + len(separator)), len(buf))
                why = Why.ENVELOPE
                if at == len(buf):
                    if self.final or at - self.mark > self.limits.max_layout:
                        return False
                    self.mode = -1
                    return True
            if buf[at] not in stage.bare_firsts:
                return False
        for n, call in enumerate(stage.calls):
            answer = call.begins(self, at)
            if answer == MORE and not self.final:
                self.mode = -1
                return True
            if answer == YES:
                if self.blank:
                    self.lead_text = buf[self.mark : at]
                    self.mark = at
                else:
                    self.say(at)
                self.layout_why = why
                self.pos = at
                self._mark_region()
                blank, after_call = self.blank, self.after_call
                self._open_region(n)
                self.blank, self.after_call = blank, after_call
                self.candidate = True
                return True
        return False

    def _again(self, at: int) -> bool:
        """Behind a bare call that broke: whether another one may begin at `at`. In mode JUNK that needs more text."""
        broken = self.why
        if not self._candidate(at, YES):
            return False
        if self.mode == -1:
            self.mode = JUNK
        else:
            self.junk_back = True
            self.layout_why = broken  # what the text is again if this is no call
        return True

    def _wait_or_go(self) -> bool:
        """After `_candidate`: it either opened a region or waits for more text."""
        if self.mode == -1:
            self.mode = TEXT
            return False
        return True

    def _rejected(self) -> None:
        """The candidate is no call: its first character is text, what follows is read again."""
        at = len(self.lead_text)
        self.buf = self.lead_text + "".join(self.parts) + self.buf[self.mark :] if at or self.held else self.buf
        if at or self.held:
            self.mark = 0
        at += self.mark
        self.lead_text = ""
        self.parts = []
        self.held = 0
        self.candidate = False
        self.reader = None
        self.pos = at + 1
        if self.junk_back:
            self.junk_back = False
            self.why = self.layout_why
            self.mode = JUNK
            return
        self.mode = TEXT
        self._begin_text(at)

    # ---------------------------------------------------------------------------- regions

    def _reading(self) -> bool:
        reader = self.reader
        assert reader is not None
        code = reader.read(self)
        if code == MORE:
            if not self.final:
                return False
            reader.cut(self)
            if self.candidate and not self.had_call:
                self._rejected()
                return True
            return False
        if code == REJECT:
            self._rejected()
            return True
        if code == DONE:
            if self.candidate or self.stage.then or self.stage.kind == "content":
                # Bare calls and families without a closer: the value's end is the call's.
                self._close_region("", self.pos)
                self.mode = TEXT
                self._enter(self.stage.then or self.stage.name)
                self._rest("")
                self.after_call = True
                return True
            self.mode = TAIL
            self.why = Why.STRAY
            return True
        if code == MARKER:
            reader.cut(self)
            if self.candidate and not self.had_call:
                self._rejected()
                return True
            self._bare_over()
            self.mode = JUNK
            self.why = Why.SHAPE
            return True
        self._bare_over()
        self.mode = JUNK
        return True

    def _bare_over(self) -> None:
        """A bare call that broke ends where it did: nothing closes it."""
        if self.stage.kind == "content":
            self.candidate = False
            if self.lead_text:
                self._lead_out()
            if self.in_call:  # what is held back is junk behind it
                parts, held = self.parts, self.held
                self.parts, self.held = [], 0
                self.end_call(self.mark)
                self.parts, self.held = parts, held

    def _root(self) -> str:
        """Where the end of the turn leads: out of every call and wrapper."""
        name = self.stage.name
        stages = self.program.stages
        while stages[name].kind in ("call", "wrapper") and stages[name].parent != name:
            name = stages[name].parent
        return name

    def _ancestor(self, spelling: str) -> str:
        """The nearest enclosing state in which this marker has a row of its own."""
        name = self.stage.parent or self.stage.name
        seen = set()
        while name not in seen:
            seen.add(name)
            row = self.program.stages[name].rows.get(spelling)
            if row is not None and row.own and not row.closer:
                return name
            name = self.program.stages[name].parent or name
        return self.program.format.home

    def _junk(self) -> bool:
        """After a call's value, or in a broken region: everything to the next marker that counts."""
        stage = self.stage
        buf = self.buf
        start, end, whole = stage.words.find(buf, self.pos, self.final)
        if self.mode == TAIL:
            first = _first_text(buf, self.pos, start)
            self.drop(first, Why.ENVELOPE)
            if first < start:
                self.mode = JUNK
        if self.mode == JUNK:
            self.spoil(start, self.why)
        self.pos = start
        if start >= len(buf) or not whole:
            return False
        row = stage.rows.get(buf[start:end])
        if row is None and not self.in_call and self._again(start):
            return self.mode != JUNK
        if row is None or row.closer:  # a bare call's first character, or a closer that means nothing here
            self.mode = JUNK
            self.spoil(end, self.why)
            self.pos = end
            return True
        if row.turn_end:
            self._close_region("", start)
            self._enter(self.stage.then or self._root())
            self.mode = TEXT
            self._rest("")
            return True
        if row.own and row.marker.name in self.program.format.closer_names:
            self._close_region(buf[start:end], end)
            self.pos = end
            self.mode = TEXT
            self._enter(row.target)
            self._rest(row.marker.after)
            self.after_call = True
            return True
        if row.marker.name in self.program.format.opener_names:
            self.lead = 0
            self.body = end
            self.pos = end
            self.target = row.spelling
            self.junk_back = True
            self.mode = OPENING
            return True
        self._close_region("", start)
        self._enter(self._ancestor(row.spelling))
        self.mode = TEXT
        self._rest("")
        return True

    def _close_region(self, closer: str, end: int) -> None:
        """The region is over at `end`; `closer` is the marker that said so, if one did."""
        if self.in_call:
            self.end_call(end)
        elif end > self.mark or self.held:
            if self.had_call or self._wraps():
                self.drop(end, Why.MARKER if closer else Why.ENVELOPE)
            else:
                self.spoil(end, self.why)
        self.reader = None
        self.syntax = -1
        self.candidate = False
        self.had_call = False

    def _wraps(self) -> bool:
        return 0 <= self.syntax < len(self.stage.calls) and self.stage.calls[self.syntax].wraps

    def _end(self) -> None:
        """The output is over: settle what each mode still holds."""
        mode = self.mode
        if mode == TEXT:
            if self.blank:
                self.drop(len(self.buf), Why.LAYOUT)
            else:
                self.say(len(self.buf))
        elif mode == READING:
            if self.in_call:
                self.drop(len(self.buf), Why.ENVELOPE)
                self.end_call(len(self.buf))
            elif self.had_call:
                self.drop(len(self.buf), Why.ENVELOPE)
            else:
                self.spoil(len(self.buf), Why.UNTERMINATED)
        else:
            self.spoil(len(self.buf), self.why)
            if self.in_call:
                self.end_call(len(self.buf))
        if self.controls:
            self._flush_controls()

    # ------------------------------------------------------------------- what readers say

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

    def imply_close(self) -> None:
        """A closer that the model left out would stand here, with nothing unaccounted before it."""
        self.out.append(Dropped("", Why.IMPLICIT_CLOSE, None if self.starts is None else 0))

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
        if self.controls and (end > self.mark or self.held):
            self._flush_controls()
        if self.lead_text:
            self._lead_out()
        self.tool = self.tools.get(name) if self.tools is not None else None
        index = self.calls
        self.calls += 1
        self.in_call = self.had_call = True
        source = self.take(end)
        self.out.append(CallStart(index, self.call_ids(index, name, id), name, declared, source, self.count()))
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

    def control_before(self, end: int) -> bool:
        """Whether a token without text stands in the unaccounted text up to `end`."""
        return bool(self.controls) and self.controls[0] < self.offset(end)  # type: ignore[index]

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


def _first_text(text: str, start: int, end: int) -> int:
    """The first character from `start` on that is no white space, or `end`."""
    while start < end and text[start] in SPACE:
        start += 1
    return start
