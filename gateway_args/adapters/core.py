"""The fold that the three adapters share: events in, the chunks of one generated choice out.

`Stream` decides everything that is the same for every API, so that an adapter only says how its API spells it:

- what a client is shown of a call (`parallel`), whether the call is complete, and the finish reason that follows;
- where malformed text goes;
- ids that are unique: the parser's default id and a repeated one become a hash of the response's id and the call's
  place; ids of the model or of the caller's `call_ids` stay as they are;
- the tokens spent.

Malformed text: by default (`"auto"`) what comes before the first call started is content (a region that held no call:
the model's own words, which a client has to see), and what comes after is never content: it is listed in the field
`malformed` of the last chunk. A call that broke keeps what was sent; it is listed in `incomplete_calls`, and calls that
`parallel=False` keeps from the client in `withheld_calls`. These three fields are the only ones that an API does not
have, stand in the last chunk and the whole message alone, and are left out when they have nothing to say.

The finish is honest: `tool_calls` stays only when a call that the client was shown is complete. A reason that an API
has no word for (`cancelled`, an engine's own) is spelled as that API spells a cut output; `error` is the API's error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import orjson

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
from ..reading import Aside
from .escapes import split
from .framing import dumps, frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Chunk = dict[str, Any]
MalformedTo = Literal["auto", "content", "extension", "hide"]

ERROR_MESSAGE = "the engine ended the output with an error"
_VERSION = 1


@dataclass(slots=True)
class Usage:
    """Tokens of a request; what is None is taken from the events, which know it when the parser was fed token ids."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(slots=True)
class Envelope:
    """What the caller knows of a response, given once.

    `usage` and `stop_sequence` (the caller's own stop string that ended the output, for Messages) are read when the
    output ends and may be filled in until then. `extra` is fields of the API that are sent as they are: in every chunk
    (Chat), in the response object (Responses: the request's `tools`, `tool_choice`…), in the message (Messages).
    """

    id: str
    model: str
    created: int
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """The choices of an operator, one set for all three APIs.

    `malformed`: see the module. `hook` is called at the end with each stretch of malformed text that is no content,
    whatever the client is told. `parallel=False`: a client is shown the first call only. `reasoning` names the field of
    a Chat delta that carries thoughts; `include_usage` is Chat's `stream_options.include_usage`. `signature` is what a
    Messages thinking block is signed with: "" as an empty field, None leaves the field out.
    """

    malformed: MalformedTo = "auto"
    hook: Callable[[Aside], None] | None = None
    parallel: bool = True
    reasoning: str = "reasoning_content"
    include_usage: bool = False
    signature: str | None = ""

    def __post_init__(self) -> None:
        if self.malformed not in get_args(MalformedTo):
            raise ValueError(
                f"Options: malformed is {self.malformed!r}; it is one of {', '.join(get_args(MalformedTo))}"
            )


@dataclass(slots=True)
class Call:
    """The call being read: `index` among the calls shown, `held` the fragments that the client was not sent.

    `tail` is the beginning of an escape, which waits for its end. `refused` is an adapter's word that its API cannot
    show these arguments. A call that was never `shown` is listed with its arguments.
    """

    index: int
    id: str
    name: str
    shown: bool
    refused: bool = False
    tail: str = ""
    held: list[str] = field(default_factory=list)


class Stream(ABC):
    """The fold of one choice's events. `chunks` and `frames` say the same, as objects and as bytes to send."""

    KIND: ClassVar[str]
    CALL_PREFIX: ClassVar[str] = "call_"
    # What `snapshot` carries: JSON values by construction. Adapters add their own.
    STATE: ClassVar[tuple[str, ...]] = (
        "_opened", "_finished", "_started", "_shown", "_any_complete", "_ids", "_tokens", "_reasoning_tokens",
        "_asides", "_after_malformed", "_pending", "_incomplete", "_withheld",
    )  # fmt: skip

    def __init__(self, envelope: Envelope, options: Options | None = None, *, choice: int = 0) -> None:
        self.envelope = envelope
        self.options = options or Options()
        self.choice = choice
        self._out: list[Chunk] = []
        self._opened = False
        self._finished = False
        self._started = False
        self._shown = 0
        self._any_complete = False
        self._ids: dict[str, bool] = {}
        self._tokens = 0
        self._reasoning_tokens: int | None = None
        self._asides: list[tuple[list[str], str]] = []
        self._after_malformed = False
        self._pending: list[str] = []
        self._incomplete: list[Chunk] = []
        self._withheld: list[Chunk] = []
        self._call: Call | None = None

    def chunks(self, events: Iterable[Event] = ()) -> list[Chunk]:
        """The chunks that these events cause; the first time also those that open the stream, events or not."""
        return self._fold(events)

    def frames(self, events: Iterable[Event] = ()) -> bytes:
        """The same as server-sent events."""
        return frames(self._fold(events))

    def _fold(self, events: Iterable[Event]) -> list[Chunk]:
        out = self._out = []
        if not self._opened:
            self._opened = True
            self._open()
        after_malformed = self._after_malformed
        for event in events:
            if self._finished:
                raise LifecycleError("the stream has finished: an adapter takes nothing after `Finish`")
            if type(event) is CallArguments:  # nearly every delta of a long call: before the cases, for speed
                call = self._call
                if call is None:
                    raise LifecycleError("call arguments outside of a call: `CallStart` comes first")
                if event.tokens:
                    self._tokens += event.tokens
                after_malformed = False
                json = event.json
                if json:
                    if json[-1] == "\\" or call.tail or "\\u" in json:
                        json, call.tail = split(call.tail + json)
                        json = self._escapes(json)
                    if not call.shown:
                        call.held.append(json)
                    elif json:
                        self._fragment(call, json)
                continue
            match event:
                case Content():
                    if event.tokens:
                        self._tokens += event.tokens
                    if event.text:
                        self._text(event.text)
                case Reasoning():
                    if event.tokens:
                        self._tokens += event.tokens
                    if event.text:
                        self._thought(event.text)
                case Dropped():
                    if event.tokens:
                        self._tokens += event.tokens
                    if not event.text:
                        continue  # a token without text parts no neighbours
                case Malformed():
                    if event.tokens:
                        self._tokens += event.tokens
                    self._malformed(event, joined=after_malformed)
                case CallStart():
                    if event.tokens:
                        self._tokens += event.tokens
                    self._call_starts(event)
                case CallEnd():
                    if event.tokens:
                        self._tokens += event.tokens
                    self._call_ends(event.complete)
                case ReasoningStart():
                    pass
                case ReasoningEnd():
                    self._thought_over()
                case Finish():
                    self._finish(event)
            after_malformed = type(event) is Malformed
        self._after_malformed = after_malformed
        return out

    @property
    def finished(self) -> bool:
        return self._finished

    def usage(self) -> Usage:
        """What was spent: the caller's numbers, else the events' (0 completion tokens when neither knows them)."""
        given = self.envelope.usage
        return Usage(
            given.prompt_tokens,
            given.cached_tokens,
            self._tokens if given.completion_tokens is None else given.completion_tokens,
            self._reasoning_tokens if given.reasoning_tokens is None else given.reasoning_tokens,
        )

    def snapshot(self) -> bytes:
        """The state between two events, without pickle; the envelope and the options are not in it.

        It is small in Chat and Messages; a Responses stream ends with all that it said, so it carries that.
        """
        state = {name: getattr(self, name) for name in self.STATE}
        call = self._call
        state["_call"] = call and [call.index, call.id, call.name, call.shown, call.refused, call.tail, call.held]
        return dumps({"version": _VERSION, "kind": self.KIND, "choice": self.choice, "state": state})

    @classmethod
    def restore(cls, data: bytes, envelope: Envelope, options: Options | None = None) -> Self:
        """The stream that `snapshot` was taken of; the envelope and the options are to be those it had."""
        try:
            saved = orjson.loads(data)
            version, kind = saved["version"], saved["kind"]
        except (orjson.JSONDecodeError, LookupError, TypeError):
            raise LifecycleError("this is no snapshot of an adapter's stream") from None
        if (version, kind) != (_VERSION, cls.KIND):
            raise LifecycleError(
                f"this snapshot is of a {kind} stream, version {version}: "
                f"a {cls.KIND} stream, version {_VERSION}, cannot go on from it"
            )
        stream = cls(envelope, options, choice=saved["choice"])
        state = saved["state"]
        call = state.pop("_call")
        for name, value in state.items():
            setattr(stream, name, value)
        stream._call = call and Call(*call)
        return stream

    # What an adapter says. Each appends to `self._out`.

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _text(self, text: str) -> None: ...

    @abstractmethod
    def _thought(self, text: str) -> None: ...

    @abstractmethod
    def _thought_over(self) -> None: ...

    @abstractmethod
    def _start(self, call: Call) -> None: ...

    @abstractmethod
    def _fragment(self, call: Call, fragment: str) -> None: ...

    def _escapes(self, fragment: str) -> str:
        """A fragment with escapes in it, as the API takes it."""
        return fragment

    @abstractmethod
    def _end(self, call: Call, complete: bool) -> bool:
        """Close the call; whether the client has a whole call of it."""

    @abstractmethod
    def _close(self, reason: str, extension: Chunk) -> None: ...

    # What is the same for all.

    def _call_starts(self, event: CallStart) -> None:
        self._started = True
        id = event.id
        if not id or id == f"call_{event.index}" or id in self._ids:
            id = self.CALL_PREFIX + self._digest(f"call/{event.index}")
        self._ids[id] = True
        shown = self.options.parallel or self._shown == 0
        self._call = Call(self._shown, id, event.name, shown)
        if shown:
            self._shown += 1
            self._start(self._call)

    def _call_ends(self, complete: bool) -> None:
        call = self._call
        if call is None:
            raise LifecycleError("the end of a call outside of a call: `CallStart` comes first")
        self._call = None
        if call.tail:  # only a call that was cut ends inside an escape
            if call.shown:
                self._fragment(call, call.tail)
            else:
                call.held.append(call.tail)
        if not call.shown:
            self._withheld.append(_entry(call) | {"complete": complete})
        elif self._end(call, complete):
            self._any_complete = True
        else:
            self._incomplete.append(_entry(call))
        if self._pending:
            self._text("".join(self._pending))
            self._pending = []

    def _malformed(self, event: Malformed, *, joined: bool) -> None:
        to = self.options.malformed
        if to == "content" or (to == "auto" and not self._started):
            if self._call is not None:
                self._pending.append(event.text)  # an open call is one item or block: text waits for its end
            elif event.text:
                self._text(event.text)
        elif joined and self._asides and self._asides[-1][1] == event.why:
            self._asides[-1][0].append(event.text)
        else:
            self._asides.append(([event.text], str(event.why)))

    def _finish(self, event: Finish) -> None:
        if self._call is not None:
            self._call_ends(False)
        self._finished = True
        self._reasoning_tokens = event.reasoning_tokens
        asides = [Aside("".join(parts), Why(why)) for parts, why in self._asides]
        extension: Chunk = {}
        if asides and self.options.malformed != "hide":
            extension["malformed"] = [{"text": aside.text, "why": str(aside.why)} for aside in asides]
        if self._incomplete:
            extension["incomplete_calls"] = self._incomplete
        if self._withheld:
            extension["withheld_calls"] = self._withheld
        reason = event.reason
        if reason == "tool_calls" and not self._any_complete:
            reason = "stop"
        self._close(reason, extension)
        if self.options.hook is not None:
            for aside in asides:
                self.options.hook(aside)

    def _digest(self, place: str) -> str:
        return blake2b(f"{self.envelope.id}/{self.choice}/{place}".encode(errors="replace"), digest_size=12).hexdigest()


def _entry(call: Call) -> Chunk:
    """A call as the extension fields list it: `arguments` where the message itself does not carry them."""
    entry: Chunk = {"id": call.id, "name": call.name}
    if call.held or not call.shown:
        entry["arguments"] = "".join(call.held)
    return entry
