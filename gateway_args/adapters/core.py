"""The fold that the three adapters share: events in, the chunks of one generated choice out.

`Stream` decides everything that is the same for every API, so that an adapter only says how its API spells it:

- what a client is shown of a call and when (`parallel`, `calls`), whether the call is complete, and the finish reason
  that follows;
- what a guard's `CallOutcome` makes of a call: the end of a call that a guard judges waits for its outcome;
- where malformed text goes;
- ids: the caller's own (`call_ids`) as they are, every other one made for this response (`ids`);
- the tokens spent, and the log probabilities of content.

`Choice` holds the state of all this, moves it (`snapshot`, `restore`) and names what an adapter has to say.

Malformed text: by default (`"auto"`) what comes before the first call started is content (a region that held no call:
the model's own words, which a client has to see), and what comes after is never content: it is listed in the field
`malformed` of the last chunk. `unterminated` text, the beginning of a call that the end of the output cut, is never
content. A call that broke keeps what was sent; it is listed in `incomplete_calls`, one that a guard refused in
`refused_calls` with its code and path, and calls that `parallel=False` keeps from the client in `withheld_calls`. These
four fields are the only ones that an API does not have, stand in the last chunk and the whole message alone, and are
left out when they have nothing to say.

The finish is honest: `tool_calls` stays only when a call that the client was shown is complete. A reason that an API
has no word for (`cancelled`, an engine's own) is spelled as that API spells a cut output; `error` is the API's error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ..decoder.calls import CallOutcome
from ..decoder.outcomes import Refused
from ..errors import LifecycleError
from ..events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)
from . import ids
from .choice import Choice
from .escapes import split
from .framing import frames
from .values import Call, Chunk, Logprob

if TYPE_CHECKING:
    from collections.abc import Sequence

_NONE: Final[list[Chunk]] = []
StreamEvent = Event | CallOutcome
"""What a parser says, or a guard."""


class Stream(Choice):
    """The fold of one choice's events. `chunks` and `frames` say the same, as objects and as bytes to send."""

    def chunks(self, events: Iterable[StreamEvent] = (), *, logprobs: Sequence[Logprob] = ()) -> list[Chunk]:
        """The chunks that these events cause; the first time also those that open the stream, events or not.

        `events` is what one `feed` or `finish` of a parser or a guard returned. `logprobs` has an entry for each token
        of the delta that was fed. TypeError names what is no event.
        """
        return self._fold(events, logprobs)

    def frames(self, events: Iterable[StreamEvent] = (), *, logprobs: Sequence[Logprob] = ()) -> bytes:
        """The same as server-sent events."""
        return frames(self._fold(events, logprobs))

    def last(self) -> list[Chunk]:
        """The chunks that `Options.late_usage` kept until the usage is known; none where nothing waits."""
        out = self._out = []
        if self._reason is not None:
            reason, self._reason = self._reason, None
            self._conclude(reason)
        return out

    def _fold(self, events: Iterable[StreamEvent], logprobs: Sequence[Logprob] = ()) -> list[Chunk]:
        if type(events) is not list and (isinstance(events, str | bytes | Mapping) or not isinstance(events, Iterable)):
            raise TypeError(f"expected the events of a feed or finish, got {events!r:.80}")
        out = self._out = []
        if not self._opened:
            self._opened = True
            self._open()
        if logprobs:
            self._logprobs += [dict(entry) for entry in logprobs]
        self._run(events)
        return out

    def _run(self, events: Iterable[StreamEvent]) -> None:
        """Take the events in order; what nearly every delta is comes first, for speed."""
        for event in events:
            call = self._call
            kind = type(event)
            if call is not None:
                if call.due:
                    self._while_due(call, event)
                    continue
                if type(event) is CallArguments:
                    if event.tokens:
                        self._tokens += event.tokens
                    if self._logprobs:
                        self._use_logprobs(event.tokens)
                    self._after_malformed = False
                    json = event.json
                    if json and (json[-1] == "\\" or call.tail or "\\u" in json):
                        json, call.tail = split(call.tail + json)
                        json = self._escapes(json)
                    if not call.direct:
                        self._held_back(call, event, json)
                    elif json:
                        self._fragment(call, json)
                    continue
            elif (type(event) is Content or type(event) is Reasoning) and not self._finished:
                if event.tokens:
                    self._tokens += event.tokens
                probable = self._use_logprobs(event.tokens) if self._logprobs else _NONE
                self._after_malformed = False
                if event.text:
                    if kind is Reasoning:
                        self._reasoning(event.text)
                    else:
                        if self._around.run or self._around.shown:
                            self._shown_around(text_follows=True)
                        self._text(event.text, probable)
                continue
            self._take(event)

    def _take(self, event: StreamEvent) -> None:
        if self._finished and not isinstance(event, CallOutcome):
            raise LifecycleError("the stream has finished: an adapter takes nothing after `Finish`")
        match event:
            case Dropped():
                self._spend(event.tokens)
                if event.tokens:
                    self._use_logprobs(event.tokens)
                if not event.text:
                    return  # a token without text parts no neighbours
                if self._call is None:
                    self._around.dropped(event)
                elif self._call.show == "held":
                    self._call.source.append(event.text)
            case Malformed():
                self._spend(event.tokens)
                self._use_logprobs(event.tokens)
                self._malformed(event.text, event.why, joined=self._after_malformed)
            case CallStart():
                self._spend(event.tokens)
                self._use_logprobs(event.tokens)
                self._call_starts(event)
            case CallEnd():
                self._spend(event.tokens)
                self._use_logprobs(event.tokens)
                self._call_ends(event)
            case CallArguments():
                raise LifecycleError("call arguments outside of a call: `CallStart` comes first")
            case ReasoningStart():
                self._shown_around()
            case ReasoningEnd():
                self._reasoning_over()
            case Finish():
                self._finish(event)
            case CallOutcome():
                self._outcome(event)
            case _:
                raise TypeError(f"expected an event, got {event!r:.80}: pass what one feed or finish returned")
        self._after_malformed = type(event) is Malformed

    # Calls.

    def _call_starts(self, event: CallStart) -> None:
        self._shown_around()
        self._started = True
        id = ids.call_id(self.CALL_PREFIX, self.envelope.id, self.choice, event, self._record.ids)
        show = "held" if self.options.calls == "complete" else "shown"
        if not self.options.parallel and self._shown:
            show = "withheld"
        self._call = call = Call(event.index, id, event.name, show, event.validated)
        call.refusal = self._verdicts.get(str(event.index)) if self._verdicts else None
        call.direct = show == "shown" and not call.validated and call.refusal is None
        if show == "shown":
            self._show(call)
        elif show == "held":
            call.source.append(event.source)

    def _show(self, call: Call) -> None:
        call.index = self._shown
        self._shown += 1
        self._start(call)

    def _held_back(self, call: Call, event: CallArguments, json: str) -> None:
        """Arguments of a call that is not sent as it comes."""
        if call.show == "held":
            call.source.append(event.source)
        if not json:
            return
        if call.show != "shown" or call.refusal is not None:
            call.held.append(json)
        elif json := call.kept_open(json):
            self._fragment(call, json)

    def _call_ends(self, event: CallEnd) -> None:
        call = self._call
        if call is None:
            raise LifecycleError("the end of a call outside of a call: `CallStart` comes first")
        if call.show == "held":
            call.source.append(event.source)
        if call.tail:  # only a call that was cut ends inside an escape
            json, call.tail = call.tail, ""
            if call.direct:
                self._fragment(call, json)
            else:
                self._held_back(call, CallArguments(call.number, "", ""), json)
        if call.validated and event.complete and call.refusal is None and str(call.number) not in self._verdicts:
            call.due = True
        else:
            self._close_call(call, event.complete and call.refusal is None)

    def _close_call(self, call: Call, whole: bool) -> None:
        """The call is over; `whole` is whether its arguments are and no guard refused them."""
        self._call = None
        if call.show == "held" and whole:
            self._show(call)
            held, call.held, call.show = call.held, [], "shown"
            self._fragment(call, "".join(held))
        elif call.show == "shown" and whole and call.closing:
            self._fragment(call, call.closing)
        there = self._end(call, whole) if call.show == "shown" else False
        self._record.ended(call, whole=whole, there=there)
        if call.show == "held" and not whole:
            why = call.asides[0][0] if call.asides else Why.UNTERMINATED.value
            if call.refusal is None:
                self._aside("".join(call.source), why, joined=False)
        else:
            for why, *parts in call.asides:
                self._aside("".join(parts), why, joined=False)
        if self._pending:
            self._text("".join(self._pending), [])
            self._pending = []

    # A guard's outcomes.

    def _while_due(self, call: Call, event: StreamEvent) -> None:
        """An event behind a call that has ended and waits for its outcome: what it says waits too."""
        match event:
            case CallOutcome():
                self._outcome(event)
            case Finish():  # nobody said what became of the call: it is no whole one
                while self._call is not None and self._call.due:
                    self._resolve(self._call, False)
                self._take(event)
            case _:
                self._queue.append(event)

    def _outcome(self, event: CallOutcome) -> None:
        call = self._call
        refusal: Chunk | None = None
        if isinstance(event.outcome, Refused):
            refused = event.outcome
            refusal = {
                "code": str(refused.code),
                "path": refused.path,
                "rule": refused.rule,
                "message": refused.message,
            }
        if call is not None and call.number == event.index:
            call.refusal = call.refusal or refusal
            call.direct = call.direct and refusal is None
            if call.due:
                self._resolve(call, refusal is None)
            return
        if not self._record.late(event.index, refusal):
            self._verdicts[str(event.index)] = refusal

    def _resolve(self, call: Call, accepted: bool) -> None:
        """The outcome of a call that waited for it; then what came behind it, up to the next one that waits."""
        call.due = False
        self._close_call(call, accepted)
        queue = self._queue
        while queue and not (self._call is not None and self._call.due):
            self._run((queue.popleft(),))

    # What is the same for all.

    def _spend(self, tokens: int | None) -> None:
        if tokens:
            self._tokens += tokens

    def _use_logprobs(self, tokens: int | None) -> list[Chunk]:
        """The log probabilities of an event's tokens; all that are at hand where the events carry no counts."""
        known = self._logprobs
        if not known:
            return known
        size = len(known) if tokens is None else tokens
        self._logprobs = known[size:]
        return known[:size]

    def _malformed(self, text: str, why: Why, *, joined: bool) -> None:
        call = self._call
        if call is not None and call.show == "held":
            call.source.append(text)
            if joined and call.asides and call.asides[-1][0] == why:
                call.asides[-1].append(text)
            else:
                call.asides.append([why.value, text])
            return
        self._aside(text, why.value, joined=joined)

    def _aside(self, text: str, why: str, *, joined: bool) -> None:
        to = self.options.malformed
        if why != Why.UNTERMINATED and (to == "content" or (to == "auto" and not self._started)):
            if self._call is not None:
                self._pending.append(text)  # an open call is one item or block: text waits for its end
            elif text := self._around.before_malformed(in_region=not self._started) + text:
                self._text(text, [])
        else:
            self._record.malformed(text, why, joined=joined)

    def _shown_around(self, *, text_follows: bool = False) -> None:
        """What stands behind malformed text that was shown, and belongs to it, is shown too."""
        if text := self._around.resolved(text_follows=text_follows):
            self._text(text, [])

    def _finish(self, event: Finish) -> None:
        if self._call is not None:
            self._close_call(self._call, False)
        self._shown_around()
        self._finished = True
        self._reasoning_tokens = event.reasoning_tokens
        reason = event.reason
        if reason == "tool_calls" and not self._record.any_whole:
            reason = "stop"
        if self.options.late_usage and self.WAITS:
            self._reason = reason
        else:
            self._conclude(reason)

    def _conclude(self, reason: str) -> None:
        extension = self._record.extension(malformed=self.options.malformed != "hide")
        self._close(reason, extension)
        if self.options.hook is not None:
            for aside in self._record.asides:
                self.options.hook(aside)
