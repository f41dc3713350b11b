"""Chat Completions: the chunks of one choice, and the completion that they fold to.

The role comes first. A call's first chunk has index, id, type, name and empty arguments, the later ones index and
arguments alone: clients that read a name together with a first fragment lose one of the two. A delta holds what it
says and nothing else; `finish_reason` is in every choice because the API requires the field.

Several choices (`n` > 1) are one `Stream` each, `choice=0, 1, …`. Open all of them in order before any goes on
(`frames()` with no events): the openai client files a choice by the position in which it first appears. `end` closes
the whole response.

`error` ends the stream with the API's error object in place of a last choice. Extension fields (see `core`) stand in
the choice, beside the message and not in it, so that a client which sends the message back sends none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .core import ERROR_MESSAGE, Call, Chunk, Envelope, Options
from .core import Stream as _Stream
from .framing import DONE, dumps, frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..events import Event

_FINISH = ("stop", "tool_calls", "length", "content_filter")
_CUT = "length"


class Stream(_Stream):
    """The chunks of one choice."""

    KIND: ClassVar[str] = "chat"

    def __init__(self, envelope: Envelope, options: Options | None = None, *, choice: int = 0) -> None:
        super().__init__(envelope, options, choice=choice)
        self._head = _head(envelope)
        before = dumps({**self._head, "choices": [{"index": choice, "delta": 0}]})
        self._before = b"data: " + before.removesuffix(b"0}]}")
        self._last: Chunk | None = None  # the chunk that ends the choice, until it is sent

    # What is appended to `_out` is a delta: all around it is the same in every chunk, and encoded once.

    def chunks(self, events: Iterable[Event] = ()) -> list[Chunk]:
        chunks = [
            {**self._head, "choices": [{"index": self.choice, "delta": delta, "finish_reason": None}]}
            for delta in self._fold(events)
        ]
        if self._last is not None:
            chunks.append(self._last)
            self._last = None
        return chunks

    def frames(self, events: Iterable[Event] = ()) -> bytes:
        before = self._before
        data = b"".join([b'%b%b,"finish_reason":null}]}\n\n' % (before, dumps(delta)) for delta in self._fold(events)])
        if self._last is not None:
            data += frame(self._last)
            self._last = None
        return data

    def _open(self) -> None:
        self._out.append({"role": "assistant"})

    def _text(self, text: str) -> None:
        self._out.append({"content": text})

    def _thought(self, text: str) -> None:
        self._out.append({self.options.reasoning: text})

    def _thought_over(self) -> None:
        pass  # several thoughts are one text here

    def _start(self, call: Call) -> None:
        function = {"name": call.name, "arguments": ""}
        self._out.append(
            {"tool_calls": [{"index": call.index, "id": call.id, "type": "function", "function": function}]}
        )

    def _fragment(self, call: Call, fragment: str) -> None:
        self._out.append({"tool_calls": [{"index": call.index, "function": {"arguments": fragment}}]})

    def _end(self, call: Call, complete: bool) -> bool:
        return complete

    def _close(self, reason: str, extension: Chunk) -> None:
        if reason == "error":
            self._last = {"error": {"message": ERROR_MESSAGE, "type": "server_error"}, **extension}
            return
        finish = reason if reason in _FINISH else _CUT
        choice = {"index": self.choice, "delta": {}, "finish_reason": finish, **extension}
        self._last = {**self._head, "choices": [choice]}


def usage_chunk(streams: Sequence[Stream]) -> Chunk:
    """The chunk of `stream_options.include_usage`: what all choices of the response spent together."""
    spent = [stream.usage() for stream in streams]
    envelope = streams[0].envelope
    completion = envelope.usage.completion_tokens
    if completion is None:
        completion = sum(usage.completion_tokens or 0 for usage in spent)
    prompt = envelope.usage.prompt_tokens
    usage: Chunk = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    reasoning = envelope.usage.reasoning_tokens
    known = [usage.reasoning_tokens for usage in spent if usage.reasoning_tokens is not None]
    if reasoning is None and known:
        reasoning = sum(known)
    if reasoning is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    if envelope.usage.cached_tokens:
        usage["prompt_tokens_details"] = {"cached_tokens": envelope.usage.cached_tokens}
    return {**_head(envelope), "choices": [], "usage": usage}


def end(streams: Sequence[Stream]) -> bytes:
    """The last bytes of a response whose choices have finished: its usage where asked for, then `[DONE]`."""
    if streams[0].options.include_usage:
        return frame(usage_chunk(streams)) + DONE
    return DONE


def fold(chunks: Iterable[Chunk]) -> Chunk:
    """The completion that these chunks say, of one or several choices, as a client folds them."""
    choices: dict[int, Chunk] = {}
    whole: Chunk = {}
    usage: Chunk | None = None
    for chunk in chunks:
        if "error" in chunk:
            return chunk
        whole = whole or {key: value for key, value in chunk.items() if key not in ("choices", "usage")}
        usage = chunk.get("usage", usage)
        for piece in chunk["choices"]:
            choice = choices.setdefault(piece["index"], {"index": piece["index"], "message": {}, "calls": {}})
            _take(choice, piece["delta"])
            choice.update({key: value for key, value in piece.items() if key not in ("index", "delta")})
    return {
        **whole,
        "object": "chat.completion",
        "choices": [_choice(choices[index]) for index in sorted(choices)],
        **({} if usage is None else {"usage": usage}),
    }


def whole(events: Iterable[Event], envelope: Envelope, options: Options | None = None) -> Chunk:
    """The completion with one choice that these events say."""
    stream = Stream(envelope, options)
    return fold([*stream.chunks(events), usage_chunk([stream])])


def _head(envelope: Envelope) -> Chunk:
    return {
        "id": envelope.id,
        "object": "chat.completion.chunk",
        "created": envelope.created,
        "model": envelope.model,
        **envelope.extra,
    }


def _take(choice: Chunk, delta: Chunk) -> None:
    for key, value in delta.items():
        if key == "tool_calls":
            for piece in value:
                call = choice["calls"].setdefault(piece["index"], {**piece, "arguments": []})
                call["arguments"].append(piece["function"]["arguments"])
        else:
            choice["message"].setdefault(key, []).append(value)


def _choice(choice: Chunk) -> Chunk:
    message: Chunk = {"role": "assistant", "content": None}
    message.update({key: "".join(parts) for key, parts in choice.pop("message").items()})
    calls = choice.pop("calls")
    if calls:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["function"]["name"], "arguments": "".join(call["arguments"])},
            }
            for _, call in sorted(calls.items())
        ]
    return {"index": choice.pop("index"), "message": message, **choice}
