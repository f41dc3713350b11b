"""Messages: the events of one message, and the message that they fold to.

Content blocks are opened and closed one at a time, with rising index: `thinking`, `text`, `tool_use`. A text block is
opened by its first character that is no white space; white space before it waits for that character, and is left out
when none comes (the API refuses such a block in a history).

A `tool_use` block's `input` is an object, so a call is shown from the character that opens one: a value of another
kind, or a call cut before its arguments began, never becomes a block that clients read as `{}`. Such a call is broken,
like one whose fragments stopped: it is listed in `incomplete_calls`, and no reason to say `tool_use`. A block that was
opened and broke stays in the stream as far as it came; a whole message has no way to show half an object, so there the
block is left out and the list carries its text.

An input is made of characters: the escape of a lone surrogate, which the other two APIs pass on as text, becomes
U+FFFD's (the anthropic client refuses the stream otherwise), as it does wherever a text is read (policy 13).

Ids: `toolu_…` for the parser's default ones. `signature` (see `core.Options`) is "" in a thinking block unless the
operator signs thoughts or leaves the field out. One `ping` follows `message_start`; `PING` may be sent at any time.
Extension fields (see `core`) stand in `message_delta` and in the message.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, ClassVar

from . import state
from .core import Stream as _Stream
from .escapes import replace_lone
from .folding import broken_ids, relisted, validated
from .values import ERROR_MESSAGE, Call, Chunk, Envelope, Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .core import StreamEvent

PING: Chunk = {"type": "ping"}

_STOP = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
_CUT = "max_tokens"
_FIELD = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_SPACE = " \t\n\r"  # JSON's


class Stream(_Stream):
    """The events of one message."""

    KIND: ClassVar[str] = "messages"
    CALL_PREFIX: ClassVar[str] = "toolu_"
    STATE: ClassVar[Mapping[str, state.Check]] = {
        **_Stream.STATE,
        "_index": state.count,
        "_block": lambda value: value in (None, "text", "thinking", "tool_use"),
        "_blank": state.texts,
    }

    def __init__(self, envelope: Envelope, options: Options | None = None, *, choice: int = 0) -> None:
        super().__init__(envelope, options, choice=choice)
        self._index = 0
        self._block: str | None = None  # the type of the open block
        self._blank: list[str] = []  # white space that waits for text

    def _open(self) -> None:
        message = {**_message(self.envelope), "content": [], "stop_reason": None, "stop_sequence": None}
        self._out.append(
            {"type": "message_start", "message": {**message, "usage": {**self._input(), "output_tokens": 0}}}
        )
        self._out.append(PING)

    def _text(self, text: str, logprobs: list[Chunk]) -> None:
        if self._block != "text":
            if text.isspace():
                self._blank.append(text)
                return
            text = "".join((*self._blank, text))
            self._start_block({"type": "text", "text": ""})
        self._delta({"type": "text_delta", "text": text})

    def _reasoning(self, text: str) -> None:
        if self._block != "thinking":
            signed = {} if self.options.signature is None else {"signature": ""}
            self._start_block({"type": "thinking", "thinking": "", **signed})
        self._delta({"type": "thinking_delta", "thinking": text})

    def _reasoning_over(self) -> None:
        if self._block == "thinking":
            self._stop_block()

    def _start(self, call: Call) -> None:
        self._stop_block()

    def _fragment(self, call: Call, fragment: str) -> None:
        if self._block != "tool_use":
            call.held.append(fragment)
            value = fragment.lstrip(_SPACE)
            if call.unfit or not value:
                return
            if value[0] != "{":
                call.unfit = True
                return
            fragment = "".join(call.held)
            call.held = []
            self._start_block({"type": "tool_use", "id": call.id, "name": call.name, "input": {}})
        self._delta({"type": "input_json_delta", "partial_json": fragment})

    def _escapes(self, fragment: str) -> str:
        return replace_lone(fragment)

    def _end(self, call: Call, whole: bool) -> bool:
        if self._block != "tool_use":
            call.unfit = True  # nothing of it was shown
            return False
        if whole:
            self._stop_block()
        else:
            self._block = None
            self._index += 1
        return whole

    def _close(self, reason: str, extension: Chunk) -> None:
        self._stop_block()
        if reason == "error":
            self._out.append({"type": "error", "error": {"type": "api_error", "message": ERROR_MESSAGE}, **extension})
            return
        stop = _STOP.get(reason, _CUT)
        sequence = self.envelope.stop_sequence if stop == "end_turn" else None
        if sequence is not None:
            stop = "stop_sequence"
        usage = self.usage()
        spent: Chunk = {**self._input(), "output_tokens": usage.completion_tokens}
        if usage.reasoning_tokens is not None:
            spent["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
        delta = {"stop_reason": stop, "stop_sequence": sequence}
        self._out.append({"type": "message_delta", "delta": delta, "usage": spent, **extension})
        self._out.append({"type": "message_stop"})

    def _start_block(self, block: Chunk) -> None:
        self._stop_block()
        self._block = block["type"]
        self._out.append({"type": "content_block_start", "index": self._index, "content_block": block})

    def _delta(self, delta: Chunk) -> None:
        self._out.append({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _stop_block(self) -> None:
        """Close the open block; white space that waited for its text is over too."""
        self._blank = []
        if self._block is None:
            return
        if self._block == "thinking" and self.options.signature:
            self._delta({"type": "signature_delta", "signature": self.options.signature})
        self._out.append({"type": "content_block_stop", "index": self._index})
        self._block = None
        self._index += 1

    def _input(self) -> Chunk:
        """The prompt's tokens; those read from a cache are counted apart, as the API does."""
        usage = self.envelope.usage
        cached = usage.cached_tokens
        return {
            "input_tokens": usage.prompt_tokens - cached,
            **({"cache_read_input_tokens": cached} if cached else {}),
        }


def fold(chunks: Iterable[Chunk]) -> Chunk:
    """The message that these events say, as a client folds them.

    A call that is not whole stands in `incomplete_calls` (or `refused_calls`) alone, with what came of it.
    """
    message: Chunk = {}
    content: list[Chunk] = []
    block: Chunk = {}
    parts: list[str] = []
    broken: dict[str, Chunk] = {}

    def close() -> None:
        text = "".join(parts)
        if not block:
            return
        if block["type"] != "tool_use":
            content.append({**block, block["type"]: text})
        else:
            value = _object(text)
            broken[block["id"]] = {"id": block["id"], "name": block["name"], "arguments": text}
            if value is not None:
                content.append({**block, "input": value})

    for chunk in chunks:
        match chunk["type"]:
            case "message_start":
                message = {**chunk["message"], "content": content}
            case "content_block_start":
                close()
                block, parts = dict(chunk["content_block"]), []
            case "content_block_delta":
                delta = chunk["delta"]
                if delta["type"] == "signature_delta":
                    block["signature"] = delta["signature"]
                else:
                    parts.append(delta[_FIELD[delta["type"]]])
            case "message_delta":
                rest = {key: value for key, value in chunk.items() if key not in ("type", "delta", "usage")}
                message |= {**chunk["delta"], "usage": {**message["usage"], **chunk["usage"]}, **rest}
            case "error":
                return chunk
            case _:
                pass
    close()
    unsound = broken_ids(message)
    message["content"] = [entry for entry in content if entry.get("id") not in unsound]
    there = {entry.get("id") for entry in message["content"]}
    return message | relisted(message, {id: call for id, call in broken.items() if id not in there})


def whole(events: Iterable[StreamEvent], envelope: Envelope, options: Options | None = None) -> Chunk:
    """The message that these events say."""
    stream = Stream(envelope, options)
    return fold([*stream.chunks(validated(events)), *stream.last()])


def _message(envelope: Envelope) -> Chunk:
    return {"id": envelope.id, "type": "message", "role": "assistant", "model": envelope.model, **envelope.extra}


def _object(text: str) -> Chunk | None:
    """The object that this text is; None for one cut short, and for one that Python's numbers cannot hold."""
    try:
        value: Chunk = json.loads(text, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(f"{number} is beyond a double")
    return value
