"""The engine runs a compiled format over text as it arrives: every character ends up in exactly one event, in order.

Theory of operation. The `account` holds the text and settles it, a region's reader says what a call's text is, and the
engine decides what all other text is. A step looks at the text from `pos` on and either decides (and moves on) or asks
for more text and changes nothing that a later look would see differently. No step decides on less than it needs, so
what is said depends on the text alone and never on how it was cut. What a step may hold back is bounded by `Limits`, so
re-reading it is bounded too.

The engine is always in one of five modes:

    TEXT     content, reasoning or a section: scan for the next marker, keep the layout apart
    OPENING  a start marker was read and is not confirmed yet
    READING  a call syntax's reader has the text
    TAIL     the call's value is complete, its closer has not come
    JUNK     the region broke: everything to the next marker that counts is malformed

Modes say how text is read; states (the table's) say where the output stands. All rules here are the policies of
docs/policies.md; a rule about one model does not belong here, it is a table's data or a syntax's parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from ..events import Why
from ..syntaxes.region import DONE, MARKER, REJECT, WAIT
from ..syntaxes.scanning import MORE, NO, SPACE, YES, Verdict, layout, skip_space
from ..syntaxes.state import COUNT, FLAG, INTEGER, Kind, State, choice
from ..syntaxes.state import TEXT as STRING
from .account import Account
from .confirming import call_begins, cut_short, section_begins
from .layout import Layout

if TYPE_CHECKING:
    from ..limits import Limits
    from ..syntaxes.base import BoundSyntax
    from ..tools import Tools
    from .compiled import CompiledFormat, CompiledState, MarkerRow

TEXT: Final = "text"
OPENING: Final = "opening"
READING: Final = "reading"
TAIL: Final = "tail"
JUNK: Final = "junk"


class Engine(State):
    """One output being read; `Parser` feeds it."""

    __slots__ = (
        "account",
        "body",
        "format",
        "interrupted",
        "junk_back",
        "layout",
        "lead",
        "limits",
        "mode",
        "syntax",
        "target",
    )
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("mode", choice(TEXT, OPENING, READING, TAIL, JUNK)),
        ("lead", COUNT),
        ("body", COUNT),
        ("target", STRING),
        ("junk_back", FLAG),
        ("syntax", INTEGER),
        ("interrupted", STRING),
    )

    def __init__(
        self,
        format: CompiledFormat,
        state: str,
        tools: Tools | None,
        limits: Limits,
        undeclared_is_malformed: bool,
    ) -> None:
        self.format = format
        self.limits = limits
        self.account = Account(format, state, tools, limits, undeclared_is_malformed)
        self.layout = Layout(self.account, format.format.after_start)
        self.mode: str = TEXT
        self.lead = 0  # unaccounted characters before the start marker that waits to be confirmed
        self.body = 0  # where in the text what follows it begins
        self.target = ""  # its spelling
        self.junk_back = False  # unconfirmed, it is junk of the region it stands in
        self.syntax = -1  # which of the state's call syntaxes reads the region
        self.interrupted = ""  # the state of reasoning that the open region stands in

    # ------------------------------------------------------------------------------ lifecycle

    def close_prompt(self) -> None:
        """The prompt is over: what it left open of a call or a section is none, and only layout at its end goes on."""
        account = self.account
        if self.mode != TEXT or account.state.kind == "wrapper":
            if self.mode != OPENING:
                self._leave(self.format.root(account.state))
            self.mode = TEXT
            account.reader = account.hot_value = account.call.tool = None
            account.call.open = account.call.seen = account.call.tentative = False
            self.junk_back = False
            self.syntax = -1
            account.forget()
            self.layout.rest("")
            return
        end = len(account.text)
        while end > account.mark and account.text[end - 1] in SPACE:
            end -= 1
        if end > account.mark:
            self.layout.blank = False
            account.pos = account.mark = end

    def feed(self, text: str) -> None:
        """Read on with this text; what it causes is appended to the account's `out`."""
        if not text:
            return
        account = self.account
        if self.mode == READING:
            account.hot_value = None
            account.park(text)
        else:
            self.compact()
            account.text += text
        self._run()

    def plain_text(self, text: str) -> bool:
        """The hot path of content: no marker's first character, nothing held, in mode TEXT. False: it was not taken."""
        account = self.account
        if self.layout.blank or account.mark != len(account.text) or account.out:
            return False
        state = account.state
        if state.kind != "content" or state.fast.search(text) is not None or (state.hold and text[-1] in SPACE):
            return False
        account.texted = True
        return True

    def compact(self) -> None:
        """Let go of text that is accounted for; nothing that can be seen changes."""
        self.body = max(0, self.body - self.account.compact())

    def finish(self, stopped: bool) -> None:
        """The text ends here: settle everything that is held. `stopped` is whether the model ended it itself."""
        account = self.account
        account.final = True
        account.stopped = stopped
        self._run()
        if stopped and self.mode == TEXT and self.layout.blank and account.state.bare == "whole":
            account.consume(len(account.text), Why.LAYOUT)
            self._open_region(0)
            assert account.reader is not None
            account.pos = len(account.text)
            account.reader.nothing(account)
        account.hot_value = None
        self._end()
        if account.in_reasoning:
            account.end_reasoning()

    def _run(self) -> None:
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

    # -------------------------------------------------------------------------------- text

    def _text(self) -> bool:
        """Scan the state's text for the next marker; False when more text is needed."""
        account = self.account
        state = account.state
        text = account.text
        if account.pos >= len(text) and not account.final:
            return False
        found, start, end = state.words.find(text, account.pos, account.final)
        if self.layout.blank:
            tentative = self._behind_layout(state, start)
            if tentative != NO:
                return tentative == YES
            if account.state is not state:  # text has begun, and other markers count in it
                return True
        if found != YES:
            if start < len(text) or not account.final:
                self.layout.hold_back(start)
                account.pos = start
            return False
        row = state.rows.get(text[start:end])
        if row is None:  # the first character of an unmarked call
            tentative = self._tentative(start, known=True)
            if tentative != NO:
                return tentative == YES
            self.layout.begin_text(start)
            account.pos = start + 1
        elif row.closer:
            if self.layout.after_call and self.layout.blank:
                account.consume(start, Why.LAYOUT)
                account.malformed(end, Why.STRAY)
                self.layout.rest(row.marker.after, after_call=True)
            else:
                self.layout.begin_text(start)
            account.pos = end
        elif row.turn_end:
            self.layout.before(start, row)
            account.consume(end, Why.MARKER)
            account.pos = end
            if state.kind == "wrapper":
                self._leave(self.format.root(account.state))
            self.layout.rest(row.marker.after)
        elif not row.own:  # the enclosing state's marker ends this section
            self.layout.before(start, row)
            self._leave(state.parent, row.spelling)
            self.layout.rest("", after_call=self.layout.after_call)
            account.pos = start
        else:
            self._marker(start, end, row)
        return True

    def _behind_layout(self, state: CompiledState, start: int) -> Verdict:
        """Nothing but white space has come since the last marker; what stands behind it, before the one at `start`?

        YES: a tentative call, MORE: one may be arriving. NO: the text is text, as far as it has come.
        """
        account = self.account
        first = skip_space(account.text, account.pos, start)
        far = first - account.mark > self.limits.max_layout  # behind more white space than layout has, text has begun
        if first < start:
            if state.bare and (not far or state.bare == "whole"):
                verdict = self._tentative(first, known=False)
                if verdict != NO:
                    return verdict
            self.layout.begin_text(first)
        elif far:
            if state.kind == "wrapper" or (state.bare == "whole" and not self.layout.after_call):
                account.consume(start, Why.LAYOUT)
            else:
                self.layout.begin_text(start)
        return NO

    def _marker(self, start: int, end: int, row: MarkerRow) -> None:
        """A marker of the state's own was read: it opens a region, or leads to another state of text."""
        account = self.account
        kind = self.format.states[row.target].kind
        if kind == "call" or (kind == "wrapper" and row.opens):
            if not self.layout.blank:
                self.layout.hold_back(start)
            self._wait_to_confirm(row, account.parked + start - account.mark, end)
            return
        self.layout.before(start, row)
        if account.in_reasoning and kind != "reasoning":
            account.end_reasoning()
        account.consume(end, Why.MARKER)
        account.pos = end
        if row.ends_call:
            self._leave(row.target)
        else:
            self._enter(row.target)
        self.layout.rest(row.marker.after, after_call=row.ends_call)

    def _enter(self, name: str) -> None:
        self.interrupted = ""
        self.account.enter(self.format.states[name])

    def _leave(self, name: str, spelling: str = "") -> None:
        """A region ends and the text goes on in this state, or in the reasoning that the region interrupted.

        `spelling` is a marker that stands there and is read next: reasoning goes on only if it has a meaning there.
        """
        state = self.format.states[name]
        reasoning = self.format.states[self.interrupted] if self.interrupted else None
        if state.kind in ("call", "wrapper"):
            self.account.enter(state)
        elif reasoning is not None and state.kind == "content" and (not spelling or spelling in reasoning.rows):
            self.interrupted = ""
            self.account.resume(reasoning)
        else:
            self._enter(name)

    # ---------------------------------------------------------- start markers and tentative calls

    def _wait_to_confirm(self, row: MarkerRow, lead: int, end: int, junk_back: bool = False) -> None:
        self.lead = lead
        self.body = self.account.pos = end
        self.target = row.spelling
        self.junk_back = junk_back
        self.account.call.tentative = False
        self.mode = OPENING

    def _opening(self) -> bool:
        """Is the start marker confirmed by what follows it? False when more text is needed."""
        account = self.account
        row = account.state.rows[self.target]
        state = self.format.states[row.target]
        verdict: Verdict = YES
        syntax = -1
        if state.kind == "call":
            verdict, syntax = call_begins(account, self.body, state)
            if verdict == NO and row.marker.certain:
                verdict = YES
        elif not row.marker.certain:
            verdict = section_begins(account, self.body, state)
        if verdict == MORE and not account.final:
            return False
        if verdict == YES:
            self._confirmed(row, state, syntax)
        elif not self.junk_back and cut_short(account, self.body, state, verdict):
            self.layout.before(self.body - len(row.spelling), row)
            account.malformed(len(account.text), Why.UNTERMINATED)
            account.pos = len(account.text)
            self.mode = TEXT
            self.layout.rest("")
        else:
            self._unconfirmed()
        return True

    def _unconfirmed(self) -> None:
        """The start marker is text of the state it stands in, or junk of the broken region."""
        self.account.pos = self.body
        if self.junk_back:
            self.mode = JUNK
            return
        self.mode = TEXT
        self.layout.begin_text(self.account.mark + self.lead)
        self.layout.blank = False

    def _confirmed(self, row: MarkerRow, state: CompiledState, syntax: int) -> None:
        account = self.account
        start = self.body - len(row.spelling)
        if self.junk_back:
            account.malformed(start, account.why)
            self._close_region("", account.mark)
            self._leave(self.format.ancestor(account.state, self.target), self.target)
            self.layout.blank = True
        self.layout.before(start, row)
        if syntax >= 0 and state.calls[syntax].leads:
            self._message(state.calls[syntax])
            return
        if account.state.kind == "reasoning":
            self.interrupted = account.state.name
        if account.in_reasoning:
            account.end_reasoning()
        if state.kind != "call":
            account.consume(self.body, Why.MARKER)
            account.pos = self.body
            self.mode = TEXT
            account.enter(state)
            self.layout.rest(row.marker.after)
            return
        account.state = state
        self._open_region(syntax)
        account.pos = self.body
        if syntax >= 0 and state.calls[syntax].wraps:
            account.consume(self.body, Why.MARKER)

    def _message(self, header: BoundSyntax) -> None:
        """The start marker begins the header of a message: all of it is a marker, and the state's text follows."""
        account = self.account
        end, after = header.message(account, self.body)
        self.mode = TEXT
        self.junk_back = False
        if account.in_reasoning and self.format.states[header.leads].kind != "reasoning":
            account.end_reasoning()
        account.consume(end, Why.MARKER)
        account.pos = end
        self._enter(header.leads)
        self.layout.rest(after)

    def _open_region(self, syntax: int) -> None:
        account = self.account
        call = account.call
        call.tentative = call.open = call.seen = False
        call.tool = None
        self.junk_back = False
        self.layout.blank = True
        self.layout.after_call = False
        self.syntax = syntax
        if syntax < 0:  # a certain start marker before nothing readable
            account.reader = None
            account.why = Why.SHAPE
            self.mode = JUNK
            return
        account.reader = account.state.calls[syntax].open()
        self.mode = READING

    def _tentative(self, at: int, known: bool) -> Verdict:
        """Whether an unmarked call may begin at `at`; YES: the engine reads on as one until that is decided.

        `known`: the text that can begin one has been found there; else a separator may stand before it.
        """
        account = self.account
        state = account.state
        after_call = self.layout.after_call
        if state.bare == "whole":
            account.consume(at, Why.LAYOUT)
            account.pos = at
            self._open_region(0)
            return YES
        if state.bare == "start" and (account.texted or not self.layout.blank or after_call):
            return NO
        text = account.text
        why = Why.LAYOUT
        if not known:
            separator = state.separator if after_call else ""
            if separator and separator.startswith(text[at : at + len(separator)]):
                verdict, at = layout(text, min(len(text), at + len(separator)), self.limits.max_layout)
                why = Why.ENVELOPE
                if verdict != YES:
                    return NO if account.final else verdict
                verdict, row = account.row(at, account.final)
                if verdict == MORE:
                    return MORE
                if row is not None and row.opens:
                    account.consume(at, Why.ENVELOPE)  # the next call has a marker
                    account.pos = at
                    return YES
            if text[at] not in state.bare_firsts:
                return NO
        for n, call in enumerate(state.calls):
            verdict = call.begins(account, at, state.markers)
            if verdict == MORE and not account.final:
                return MORE
            if verdict == YES:
                blank = self.layout.blank
                if blank:
                    account.lead = text[account.mark : at]
                    account.mark = at
                else:
                    account.emit_text(at)
                account.tentative_why = why
                account.pos = at
                self._open_region(n)
                self.layout.blank = blank
                self.layout.after_call = after_call
                account.call.tentative = True
                return YES
        return NO

    def _rejected(self) -> None:
        """The tentative call is none: its first character is text, what follows is read again."""
        account = self.account
        at = account.reject()
        account.call.tentative = False
        account.reader = None
        account.pos = at + 1
        if self.junk_back:
            self.junk_back = False
            account.why = account.tentative_why
            self.mode = JUNK
            return
        self.mode = TEXT
        self.layout.begin_text(at)

    # ----------------------------------------------------------------------------------- regions

    def _reading(self) -> bool:
        account = self.account
        reader = account.reader
        assert reader is not None
        code = reader.read(account)
        if code == WAIT and not account.final:
            return False
        if code in (WAIT, MARKER):
            reader.cut(account)
            if account.call.undecided:
                code = REJECT
            elif code == WAIT:
                return False
        if code == REJECT:
            self._rejected()
        elif code == DONE:
            self._value_over()
        else:
            self._break_unmarked()
            self.mode = JUNK
            if code == MARKER:
                account.why = Why.SHAPE
        return True

    def _value_over(self) -> None:
        account = self.account
        state = account.state
        if account.call.tentative or state.then or state.kind == "content":
            # Unmarked calls and families without a closer: the value's end is the call's.
            self._close_region("", account.pos)
            self.mode = TEXT
            self._leave(state.then or state.name)
            self.layout.rest("", after_call=True)
            return
        self.mode = TAIL
        account.why = Why.STRAY

    def _break_unmarked(self) -> None:
        """An unmarked call that broke ends where it did: nothing closes it, what is held back is junk behind it."""
        account = self.account
        if account.state.kind == "content":
            account.call.tentative = False
            if account.lead:
                account.release_lead()
            if account.call.open:
                account.break_call()

    def _junk(self) -> bool:
        """After a call's value, or in a broken region: everything to the next marker that counts."""
        account = self.account
        state = account.state
        text = account.text
        found, start, end = state.words.find(text, account.pos, account.final)
        if self.mode == TAIL:
            first = skip_space(text, account.pos, start)
            account.consume(first, Why.ENVELOPE)
            if first < start:
                self.mode = JUNK
        if self.mode == JUNK:
            account.malformed(start, account.why)
        account.pos = start
        if found != YES:
            return False
        row = state.rows.get(text[start:end])
        if row is None and not account.call.open:
            broken = account.why
            verdict = self._tentative(start, known=True)
            if verdict == MORE:
                self.mode = JUNK
                return False
            if verdict == YES:
                self.junk_back = True
                account.tentative_why = broken  # what the text is again if this is no call
                return True
        if row is None or row.closer:  # an unmarked call's first character, or a closer that means nothing here
            self.mode = JUNK
            account.malformed(end, account.why)
            account.pos = end
        elif row.turn_end:
            self._close_region("", start)
            self._leave(account.state.then or self.format.root(account.state))
            self.mode = TEXT
            self.layout.rest("", after_call=self.layout.after_call)
        elif row.own and row.ends_call:
            self._close_region(text[start:end], end)
            account.pos = end
            self.mode = TEXT
            self._leave(row.target)
            self.layout.rest(row.marker.after, after_call=True)
        elif row.opens:
            self._wait_to_confirm(row, 0, end, junk_back=True)
        else:
            self._close_region("", start)
            self._leave(self.format.ancestor(account.state, row.spelling), row.spelling)
            self.mode = TEXT
            self.layout.rest("", after_call=self.layout.after_call)
        return True

    def _close_region(self, closer: str, end: int) -> None:
        """The region is over at `end`; `closer` is the marker that said so, if one did."""
        account = self.account
        if account.call.open:
            account.end_call(end)
        elif end > account.mark or account.parked:
            wraps = 0 <= self.syntax < len(account.state.calls) and account.state.calls[self.syntax].wraps
            if account.call.seen or wraps:
                account.consume(end, Why.MARKER if closer else Why.ENVELOPE)
            else:
                account.malformed(end, account.why)
        account.reader = None
        self.syntax = -1
        account.call.tentative = False
        account.call.seen = False

    def _end(self) -> None:
        """The output is over: settle what each mode still holds."""
        account = self.account
        end = len(account.text)
        if self.mode == TEXT:
            if self.layout.blank:
                account.consume(end, Why.LAYOUT)
            else:
                account.emit_text(end)
        elif self.mode == READING:
            if account.call.open or account.call.seen:
                account.consume(end, Why.ENVELOPE)
            else:
                account.malformed(end, Why.UNTERMINATED)
        else:
            account.malformed(end, account.why)
        if account.call.open:
            account.end_call(end)
        if account.controls:
            account.flush_controls()
