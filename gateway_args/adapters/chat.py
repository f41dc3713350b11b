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

from .core import Stream as _Stream
from .folding import NOT_JSON, broken_ids, parsed, relisted, validated
from .framing import DONE, dumps, frame, frames
from .values import ERROR_MESSAGE, Call, Chunk, Envelope, Logprob, Options, logprob

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .core import StreamEvent

_FINISH = ("stop", "tool_calls", "length", "content_filter")
_CUT = "length"
_LOGPROBS = ""


class Stream(_Stream):
    """The chunks of one choice."""

    KIND: ClassVar[str] = "chat"
    WAITS: ClassVar[bool] = False

    def __init__(self, envelope: Envelope, options: Options | None = None, *, choice: int = 0) -> None:
        super().__init__(envelope, options, choice=choice)
        self._head = _head(envelope)
        before = dumps({**self._head, "choices": [{"index": choice, "delta": 0}]})
        self._before = b"data: " + before.removesuffix(b"0}]}")
        self._last: Chunk | None = None  # the chunk that ends the choice, until it is sent

    # What is appended to `_out` is a delta: all around it is the same in every chunk, and encoded once. Log
    # probabilities stand beside the delta, so they wait in it under a name that no delta has.

    def chunks(self, events: Iterable[StreamEvent] = (), *, logprobs: Sequence[Logprob] = ()) -> list[Chunk]:
        chunks = []
        for delta in self._fold(events, logprobs):
            beside = delta.pop(_LOGPROBS, {})
            choice = {"index": self.choice, "delta": delta, **beside, "finish_reason": None}
            chunks.append({**self._head, "choices": [choice]})
        if self._last is not None:
            chunks.append(self._last)
            self._last = None
        return chunks

    def frames(self, events: Iterable[StreamEvent] = (), *, logprobs: Sequence[Logprob] = ()) -> bytes:
        before = self._before
        parts = []
        for delta in self._fold(events, logprobs):
            beside = b"," + dumps(delta.pop(_LOGPROBS))[1:-1] if _LOGPROBS in delta else b""
            parts.append(b'%b%b%b,"finish_reason":null}]}\n\n' % (before, dumps(delta), beside))
        data = b"".join(parts)
        if self._last is not None:
            data += frame(self._last)
            self._last = None
        return data

    def _open(self) -> None:
        self._out.append({"role": "assistant"})

    def _text(self, text: str, logprobs: list[Chunk]) -> None:
        delta: Chunk = {"content": text}
        if logprobs:
            delta[_LOGPROBS] = {"logprobs": {"content": [logprob(entry) for entry in logprobs], "refusal": None}}
        self._out.append(delta)

    def _reasoning(self, text: str) -> None:
        self._out.append({self.options.reasoning: text})

    def _reasoning_over(self) -> None:
        pass  # several thoughts are one text here

    def _start(self, call: Call) -> None:
        function = {"name": call.name, "arguments": ""}
        self._out.append(
            {"tool_calls": [{"index": call.index, "id": call.id, "type": "function", "function": function}]}
        )

    def _fragment(self, call: Call, fragment: str) -> None:
        self._out.append({"tool_calls": [{"index": call.index, "function": {"arguments": fragment}}]})

    def _end(self, call: Call, whole: bool) -> bool:
        return whole

    def _close(self, reason: str, extension: Chunk) -> None:
        if reason == "error":
            self._last = {"error": {"message": ERROR_MESSAGE, "type": "server_error"}, **extension}
            return
        finish = reason if reason in _FINISH else _CUT
        choice = {"index": self.choice, "delta": {}, "finish_reason": finish, **extension}
        self._last = {**self._head, "choices": [choice]}


def usage_chunk(streams: Sequence[Stream]) -> Chunk:
    """The chunk of `stream_options.include_usage`: what all choices of the response spent together."""
    _options(streams)
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


def last(streams: Sequence[Stream]) -> list[Chunk]:
    """The last chunks of a response whose choices have finished: its usage, where it was asked for."""
    return [usage_chunk(streams)] if _options(streams).include_usage else []


def end(streams: Sequence[Stream]) -> bytes:
    """The last bytes of a response whose choices have finished: its usage where asked for, then `[DONE]`."""
    return frames(last(streams)) + DONE


def _options(streams: Sequence[Stream]) -> Options:
    if not streams:
        raise ValueError("expected the streams of all choices of the response, got none")
    return streams[0].options


def fold(chunks: Iterable[Chunk]) -> Chunk:
    """The completion that these chunks say, of one or several choices, as a client folds them.

    A call whose arguments are not whole stands in the choice's `incomplete_calls` (or `refused_calls`) alone, with what
    came of them. `usage` is what the chunk of `usage_chunk` says, where it is among the chunks.
    """
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
            if (known := piece.get("logprobs")) is not None:
                choice.setdefault("logprobs", {"content": [], "refusal": None})["content"] += known["content"]
            choice.update({key: value for key, value in piece.items() if key not in ("index", "delta", "logprobs")})
    return {
        **whole,
        "object": "chat.completion",
        "choices": [_choice(choices[index]) for index in sorted(choices)],
        **({} if usage is None else {"usage": usage}),
    }


def whole(events: Iterable[StreamEvent], envelope: Envelope, options: Options | None = None) -> Chunk:
    """The completion with one choice that these events say."""
    stream = Stream(envelope, options)
    return fold([*stream.chunks(validated(events)), usage_chunk([stream])])


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
    called = []
    unsound = broken_ids(choice)
    broken: dict[str, Chunk] = {}
    for _, call in sorted(choice.pop("calls").items()):
        name, arguments = call["function"]["name"], "".join(call["arguments"])
        if call["id"] in unsound or parsed(arguments) is NOT_JSON:
            broken[call["id"]] = {"id": call["id"], "name": name, "arguments": arguments}
        else:
            called.append({"id": call["id"], "type": "function", "function": {"name": name, "arguments": arguments}})
    if called:
        message["tool_calls"] = called
    return {"index": choice.pop("index"), "message": message, **choice, **relisted(choice, broken)}
