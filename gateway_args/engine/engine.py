"""The engine runs a compiled format over text as it arrives: every character ends up in exactly one event, in order.

Theory of operation. The `ledger` holds the text and accounts for it, the `desk` keeps the call in flight for the
readers, and the engine decides what the text is. A step looks at `buf` from `pos` on and either decides (and moves on)
or asks for more text and changes nothing that a later look would see differently. No step decides on less than it
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

from typing import TYPE_CHECKING, Final

from ..events import CallArguments, CallStart, ReasoningStart, Why
from ..syntaxes.base import DONE, MARKER, MORE, NO, REJECT, YES
from ..syntaxes.scanning import layout
from .desk import Desk
from .program import SPACE, skip_space

if TYPE_CHECKING:
    from ..events import Event
    from ..limits import Limits
    from ..tools import Tools
    from .program import Program, Row, Stage

TEXT: Final = 0
OPENING: Final = 1
READING: Final = 2
TAIL: Final = 3
JUNK: Final = 4


class Engine(Desk):
    """One output being read. `Parser` feeds it; call syntaxes' readers use the desk and the ledger."""

    __slots__ = (
        "after",
        "after_call",
        "blank",
        "body",
        "junk_back",
        "lead",
        "mode",
        "syntax",
    )

    def __init__(
        self,
        program: Program,
        stage: str,
        tools: Tools | None,
        limits: Limits,
        undeclared_is_malformed: bool,
    ) -> None:
        super().__init__(program, stage, tools, limits, undeclared_is_malformed)
        self.mode = TEXT
        self.blank = True  # only white space since the last marker, call or start
        self.after = program.format.after_start  # what is left of that marker's layout
        self.after_call = False  # a call or region closer came last
        self.lead = 0  # unaccounted characters before the opener
        self.body = 0  # where in `buf` the text behind the opener begins
        self.junk_back = False  # unconfirmed, the opener is junk of the region it stands in
        self.syntax = -1  # which of the state's call syntaxes reads the region
        if self.stage.kind == "reasoning":
            self.in_thought = True

    def begin(self, prompt: list[str], prefill: str) -> None:
        """Read what stands before the output: stretches of the prompt's open turn, then the model's own text.

        `out` is then what the output goes on with: a thought, and behind a prefill a call; its text is accounted for.
        """
        for n, stretch in enumerate(prompt):
            if n:  # a tool's result stood here
                self._rest("")
            self.feed(stretch)
            self._close_prompt()
        self.out = []
        self.unnamed = []
        self.calls = self.complete = 0
        self.feed(prefill)
        kept: list[Event] = []
        if self.in_call:
            started = max(n for n, event in enumerate(self.out) if isinstance(event, CallStart))
            kept = self.out[started:]
        self.calls = len(kept[:1])
        self.complete = 0
        self.unnamed = [event for event in kept if isinstance(event, CallStart)]
        self.texted = False
        self.done = 0
        self.thought_tokens = 0
        self.debt = len(self.lead_text) + self.held + len(self.buf) - self.mark
        self.out = [ReasoningStart()] if self.in_thought else []
        for event in kept:
            if isinstance(event, (CallStart, CallArguments)):
                event.source = ""
                event.index = 0
                self.out.append(event)

    def _close_prompt(self) -> None:
        """The prompt is over: what it left open of a call or a wrapper is none, and only layout at its end goes on."""
        if self.mode != TEXT or self.stage.kind == "wrapper":
            if self.mode != OPENING:
                self._enter(self._root())
            self.mode = TEXT
            self.reader = self.plain = self.tool = None
            self.in_call = self.had_call = self.candidate = self.junk_back = self.after_call = False
            self.parts = []
            self.held = 0
            self.lead_text = ""
            self.syntax = -1
            self.pos = self.mark = len(self.buf)
            self._rest("")
            return
        end = len(self.buf)
        while end > self.mark and self.buf[end - 1] in SPACE:
            end -= 1
        if end > self.mark:
            self.blank = False
            self.pos = self.mark = end

    def feed(self, text: str) -> None:
        """Read on with this text; what it causes is appended to `out`."""
        if not text:
            return
        if self.mode == READING:
            plain = self.plain
            if plain is not None:
                if plain.run_on(self, text):
                    if self.plain is None:
                        self.run()
                    return
                self.plain = None
            # A reader keeps its place: what it has read moves to `parts`, so that a long hold is never copied again.
            mark, pos = self.mark, self.pos
            if mark < pos:
                self.parts.append(self.buf[mark:pos])
                self.held += pos - mark
            self.buf = self.buf[pos:] + text if pos < len(self.buf) else text
            self.pos = self.mark = 0
        else:
            self.compact()
            self.buf += text
        self.run()

    def compact(self) -> None:
        """Let go of text that is accounted for; nothing that can be seen changes."""
        mark = self.mark
        self.buf = self.buf[mark:]
        self.pos -= mark
        self.body -= mark
        self.mark = 0

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

    # -------------------------------------------------------------------------------- text modes

    def _text(self) -> bool:
        """Scan the state's text for the next marker; False when more text is needed."""
        stage = self.stage
        buf = self.buf
        if self.pos >= len(buf) and not self.final:
            return False
        start, end, whole = stage.words.find(buf, self.pos, self.final)
        if self.blank:
            first = skip_space(buf, self.pos, start)
            far = first - self.mark > self.limits.max_layout
            if first < start:
                near = not far or stage.bare == "whole"  # behind more white space than layout has, text has begun
                if stage.bare and near and self._candidate(first, MORE):
                    return self._wait_or_go()
                self._begin_text(first)
            elif far:
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

    # -------------------------------------------------------------------- openers and candidates

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
        first = skip_space(self.buf, at)
        if first - at > self.limits.max_layout:
            return NO
        if first == len(self.buf):
            return MORE
        start, _, whole = stage.openers.at(self.buf, first, False)
        if start == len(self.buf):
            return NO
        return YES if whole or self.final else MORE

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
            self._open_region(0)
            return True
        if stage.bare == "start" and (self.texted or not self.blank or self.after_call):
            return False
        buf = self.buf
        why = Why.LAYOUT
        if known == MORE:
            separator = stage.separator if self.after_call else ""
            if separator and separator.startswith(buf[at : at + len(separator)]):
                verdict, at = layout(buf, min(len(buf), at + len(separator)), self.limits.max_layout)
                why = Why.ENVELOPE
                if verdict == NO or (verdict == MORE and self.final):
                    return False
                if verdict == MORE:
                    self.mode = -1
                    return True
                code, row = self.row_at(at, self.final)
                if code == MORE:
                    self.mode = -1
                    return True
                if row is not None and row.marker.name in self.program.format.opener_names:
                    self.drop(at, Why.ENVELOPE)  # the next call has a marker
                    self.pos = at
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

    # ----------------------------------------------------------------------------------- regions

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
            first = skip_space(buf, self.pos, start)
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
