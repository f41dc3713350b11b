"""What a parser says: flat, slotted values, one class a kind, made for `match`.

`text` and `source` are characters of the output, in order and each in exactly one event: joined they are the output.
`json` is what a client receives. `tokens` is the number of tokens whose first character the event carries, or None in
a stream without token ids. Events are values that nobody mutates; they are not `frozen` because the constructor of a
frozen dataclass costs more than reading the text did.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, final


class Why(StrEnum):
    """Why text reached no client: the closed list for `Dropped` and for `Malformed`."""

    # Dropped: text that belongs to the format, not to the message.
    MARKER = "marker"  # a wrapper's or a thought's marker, an end-of-turn text
    LAYOUT = "layout"  # white space that the template writes
    ENVELOPE = "envelope"  # what a call's syntax writes around its name and arguments
    CONTROL = "control"  # a token without text that is no marker
    IMPLICIT_CLOSE = "implicit_close"  # a closer that the model left out; its text is ""
    # Malformed: text that should have been part of a call, or stands where nothing may.
    ARGUMENTS = "arguments"  # from the first character that no JSON value could continue
    UNTERMINATED = "unterminated"  # a call's region that the end of the output cut before its call began
    STRAY = "stray"  # text where only layout may stand, or a closer with nothing open
    DUPLICATE = "duplicate"  # a second name, arguments or parameter
    UNDECLARED = "undeclared"  # a function that the request does not declare, where the caller refuses those
    SHAPE = "shape"  # a body that its call syntax cannot read
    LIMIT = "limit"  # text beyond one of `Limits`


Region = Literal["", "start", "end"]


class IdKind(StrEnum):
    """Where a call's id comes from, and so what an adapter may send of it (`CallStart.id_kind`)."""

    GIVEN = "given"  # `call_ids` gave it: it goes to the client unchanged
    DEFAULT = "default"  # the parser's `call_<index>` or the model's own: unique in this output alone
    ALNUM9 = "alnum9"  # as DEFAULT, in a format whose template takes nine letters and digits


@final
@dataclass(slots=True, init=False)
class Content:
    """Text of the reply."""

    text: str
    tokens: int | None

    def __init__(self, text: str, tokens: int | None = None) -> None:
        self.text = text
        self.tokens = tokens


@final
@dataclass(slots=True)
class ReasoningStart:
    """A thought begins."""


@final
@dataclass(slots=True, init=False)
class Reasoning:
    """Text of a thought."""

    text: str
    tokens: int | None

    def __init__(self, text: str, tokens: int | None = None) -> None:
        self.text = text
        self.tokens = tokens


@final
@dataclass(slots=True)
class ReasoningEnd:
    """A thought ended, by its closer, by a call that may interrupt it, or by the end of the output."""


@final
@dataclass(slots=True, init=False)
class CallStart:
    """A call begins: `index` counts from 0, `id` is final, `name` is whole.

    `declared` is whether the request's tools have that name, None when the tools are unknown. `id_kind` says where the
    id comes from: one that `call_ids` did not give repeats in other outputs, so adapters send an id of their own. It is
    None in events that no parser of this package made. `validated` is set by a guard: a `CallOutcome` will say
    what became of this call.
    """

    index: int
    id: str
    name: str
    declared: bool | None
    source: str
    tokens: int | None
    id_kind: IdKind | None
    validated: bool

    def __init__(
        self,
        index: int,
        id: str,
        name: str,
        declared: bool | None,
        source: str,
        tokens: int | None = None,
        id_kind: IdKind | None = None,
        validated: bool = False,
    ) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.declared = declared
        self.source = source
        self.tokens = tokens
        self.id_kind = id_kind
        self.validated = validated


@final
@dataclass(slots=True, init=False)
class CallArguments:
    """A fragment of a call's arguments: the fragments joined so far are always a prefix of some JSON value."""

    index: int
    json: str
    source: str
    tokens: int | None

    def __init__(self, index: int, json: str, source: str, tokens: int | None = None) -> None:
        self.index = index
        self.json = json
        self.source = source
        self.tokens = tokens


@final
@dataclass(slots=True, init=False)
class CallEnd:
    """A call is over; `complete` says whether its fragments joined are one whole JSON value."""

    index: int
    complete: bool
    source: str
    tokens: int | None

    def __init__(self, index: int, complete: bool, source: str, tokens: int | None = None) -> None:
        self.index = index
        self.complete = complete
        self.source = source
        self.tokens = tokens


@final
@dataclass(slots=True, init=False)
class Dropped:
    """Text that the format writes around the message.

    `region` is "start" or "end" for the markers of a region of calls: where one held no call, who shows what the model
    wrote needs them. It is no part of the event's equality.
    """

    text: str
    why: Why
    tokens: int | None
    region: Region = field(compare=False)

    def __init__(self, text: str, why: Why, tokens: int | None = None, region: Region = "") -> None:
        self.text = text
        self.why = why
        self.tokens = tokens
        self.region = region


@final
@dataclass(slots=True, init=False)
class Malformed:
    """Text of a call that is none, or that broke: never repaired, never lost."""

    text: str
    why: Why
    tokens: int | None

    def __init__(self, text: str, why: Why, tokens: int | None = None) -> None:
        self.text = text
        self.why = why
        self.tokens = tokens


@final
@dataclass(slots=True, init=False)
class Finish:
    """The output is over: `calls` were started, `reasoning_tokens` were spent in thoughts (None without token ids)."""

    reason: str
    calls: int
    reasoning_tokens: int | None

    def __init__(self, reason: str, calls: int, reasoning_tokens: int | None = None) -> None:
        self.reason = reason
        self.calls = calls
        self.reasoning_tokens = reasoning_tokens


Event = (
    Content
    | ReasoningStart
    | Reasoning
    | ReasoningEnd
    | CallStart
    | CallArguments
    | CallEnd
    | Dropped
    | Malformed
    | Finish
)


def source_of(event: Event) -> str:
    """The characters of the output that this event accounts for."""
    match event:
        case Content() | Reasoning() | Dropped() | Malformed():
            return event.text
        case CallStart() | CallArguments() | CallEnd():
            return event.source
        case _:
            return ""
