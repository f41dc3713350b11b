"""Adapters: the streams that clients of Chat Completions, Responses and Messages expect, folded from events.

A `Stream` of each module takes the events of one generated choice as they come and gives chunks (`chunks`) or bytes to
send (`frames`); `whole` is the answer of a request that did not stream, the fold of the same chunks. All is pure: no
clock, no randomness, no socket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from . import chat, framing, messages, responses
from .core import Chunk, Envelope, MalformedTo, Options, Stream, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..events import Event

Kind = Literal["chat", "responses", "messages"]

__all__ = [
    "Chunk",
    "Envelope",
    "Kind",
    "MalformedTo",
    "Options",
    "Stream",
    "Usage",
    "chat",
    "framing",
    "messages",
    "responses",
    "sse",
    "stream",
    "whole",
]


def stream(kind: Kind, envelope: Envelope, options: Options | None = None) -> Stream:
    """The fold of this kind for one choice."""
    match kind:
        case "chat":
            return chat.Stream(envelope, options)
        case "responses":
            return responses.Stream(envelope, options)
        case "messages":
            return messages.Stream(envelope, options)
    raise ValueError(f"no adapter named {kind!r}: one of {', '.join(get_args(Kind))}")


def sse(kind: Kind, events: Iterable[Event], envelope: Envelope, options: Options | None = None) -> Iterator[bytes]:
    """The whole response of one choice as server-sent events, each as soon as its event comes."""
    fold = stream(kind, envelope, options)
    yield fold.frames()
    for event in events:
        if data := fold.frames((event,)):
            yield data
    if isinstance(fold, chat.Stream):
        yield chat.end([fold])


def whole(kind: Kind, events: Iterable[Event], envelope: Envelope, options: Options | None = None) -> Chunk:
    """What a request that did not stream is answered: the same message, as one object."""
    match kind:
        case "chat":
            return chat.whole(events, envelope, options)
        case "responses":
            return responses.whole(events, envelope, options)
        case "messages":
            return messages.whole(events, envelope, options)
    raise ValueError(f"no adapter named {kind!r}: one of {', '.join(get_args(Kind))}")
