"""Adapters: the streams that clients of Chat Completions, Responses and Messages expect, folded from events.

A `Stream` of each module takes the events of one generated choice as they come and gives chunks (`chunks`) or bytes to
send (`frames`); `end` gives the last bytes of the response; `whole` is the answer of a request that did not stream, the
`fold` of the same chunks. The functions here take the API's name. All is pure: no clock, no randomness, no socket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from . import chat, framing, messages, responses
from .core import Stream, StreamEvent
from .errors import ApiError, BadRequest, error
from .requests import Constraint, Engine, Request, ToolChoice, request
from .values import Calls, Chunk, Envelope, Logprob, MalformedTo, Options, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Kind = Literal["chat", "responses", "messages"]

__all__ = [
    "ApiError",
    "BadRequest",
    "Calls",
    "Chunk",
    "Constraint",
    "Engine",
    "Envelope",
    "Kind",
    "Logprob",
    "MalformedTo",
    "Options",
    "Request",
    "Stream",
    "StreamEvent",
    "ToolChoice",
    "Usage",
    "chat",
    "end",
    "error",
    "fold",
    "framing",
    "last",
    "messages",
    "request",
    "responses",
    "sse",
    "stream",
    "whole",
]

T = TypeVar("T")
_STREAMS: Mapping[str, type[Stream]] = {
    "chat": chat.Stream,
    "responses": responses.Stream,
    "messages": messages.Stream,
}
_FOLDS = {"chat": chat.fold, "responses": responses.fold, "messages": messages.fold}
_WHOLES = {"chat": chat.whole, "responses": responses.whole, "messages": messages.whole}


def stream(kind: Kind, envelope: Envelope, options: Options | None = None, *, choice: int = 0) -> Stream:
    """The fold of this API for one choice; only Chat has choices behind the first."""
    made = _of(_STREAMS, kind)
    if choice and kind != "chat":
        raise ValueError(f"choice is {choice}: a {kind} response has one choice, 0")
    return made(envelope, options, choice=choice)


def last(kind: Kind, streams: Sequence[Stream]) -> list[Chunk]:
    """The last chunks of a response, once all its choices have finished and its usage is known.

    Chat: the usage where it was asked for. Responses and Messages: the last events, where `Options.late_usage` made
    them wait, else none.
    """
    _of(_STREAMS, kind)
    if not streams:
        raise ValueError("expected the streams of all choices of the response, got none")
    if kind == "chat":
        return chat.last([stream for stream in streams if isinstance(stream, chat.Stream)])
    return [chunk for stream in streams for chunk in stream.last()]


def end(kind: Kind, streams: Sequence[Stream]) -> bytes:
    """The last bytes of a response: those of its last chunks, for Chat also `[DONE]`."""
    return framing.frames(last(kind, streams)) + (framing.DONE if kind == "chat" else b"")


def fold(kind: Kind, chunks: Iterable[Chunk]) -> Chunk:
    """The whole answer that these chunks say, as a client folds them; for Chat of all choices."""
    return _of(_FOLDS, kind)(chunks)


def sse(
    kind: Kind, events: Iterable[StreamEvent], envelope: Envelope, options: Options | None = None
) -> Iterator[bytes]:
    """The whole response of one choice as server-sent events, each as soon as its event comes."""
    fold = stream(kind, envelope, options)
    yield fold.frames()
    for event in events:
        if data := fold.frames((event,)):
            yield data
    if data := end(kind, [fold]):
        yield data


def whole(kind: Kind, events: Iterable[StreamEvent], envelope: Envelope, options: Options | None = None) -> Chunk:
    """What a request that did not stream is answered: the same message, as one object."""
    return _of(_WHOLES, kind)(events, envelope, options)


def _of(table: Mapping[str, T], kind: str) -> T:
    if kind not in table:
        raise ValueError(f"no adapter named {kind!r}: one of {', '.join(get_args(Kind))}")
    return table[kind]
