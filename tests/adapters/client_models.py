"""What real clients make of our chunks: their types, strictly, and their accumulators. The oracles of this folder."""

from __future__ import annotations

import json
from typing import Any, get_args

from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import Message, RawMessageStreamEvent
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel

from gateway_args.adapters import framing

# Fields that no API has, and where they may stand (docs/adapters.md).
EXTENSION = {"malformed", "incomplete_calls", "refused_calls", "withheld_calls"}
REASONING = {"reasoning_content", "reasoning"}


def _by_type(union: Any) -> dict[str, type[BaseModel]]:
    return {get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(get_args(union)[0])}


RESPONSE_EVENTS = _by_type(ResponseStreamEvent)
MESSAGE_EVENTS = _by_type(RawMessageStreamEvent)


def unknown_fields(value: Any) -> set[str]:
    """Names of fields that the client's models do not have, at any depth."""
    if isinstance(value, BaseModel):
        found = set(value.model_extra or {})
        return found.union(*(unknown_fields(getattr(value, name)) for name in type(value).model_fields))
    if isinstance(value, list):
        return set().union(*map(unknown_fields, value))
    return set()


def strictly(model: type[BaseModel], chunk: dict[str, Any], allowed: set[str] = EXTENSION) -> Any:
    """The chunk as its bytes validate against the client's model: no coercion, no field that the model lacks."""
    read = model.model_validate_json(framing.dumps(chunk), strict=True)
    assert unknown_fields(read) <= allowed
    return read


def sse(data: bytes) -> list[tuple[str | None, Any]]:
    """Server-sent events as the standard reads them: (event, data), data decoded where it is JSON."""
    found = []
    for block in data.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        assert set(fields) <= {"event", "data"}
        found.append(
            (fields.get("event"), fields["data"] if fields["data"] == "[DONE]" else json.loads(fields["data"]))
        )
    return found


def chat_completion(chunks: list[dict[str, Any]]) -> ChatCompletion:
    """What openai's stream state accumulates."""
    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(strictly(ChatCompletionChunk, chunk, EXTENSION | REASONING))
    return state.current_completion_snapshot


def response(chunks: list[dict[str, Any]]) -> tuple[Response, Any]:
    """The last event's response, and what openai's stream state accumulated on the way there."""
    from openai._types import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState

    state: ResponseStreamState[Any] = ResponseStreamState(input_tools=omit, text_format=omit)
    last: Any = None
    for chunk in chunks:
        last = strictly(RESPONSE_EVENTS[chunk["type"]], chunk)
        state.handle_event(last)
    return last.response, state._ResponseStreamState__current_snapshot  # type: ignore[attr-defined]


def message(chunks: list[dict[str, Any]], allowed: set[str] = EXTENSION) -> Message:
    """What anthropic's stream accumulates (`ping` never reaches it)."""
    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for chunk in chunks:
        if chunk["type"] != "ping":
            event = strictly(MESSAGE_EVENTS[chunk["type"]], chunk, allowed)
            snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    return snapshot


def object_of(arguments: str) -> dict[str, Any] | None:
    """The object of characters that arguments say, by Python's own readers: a lone surrogate is none (policy 13)."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
