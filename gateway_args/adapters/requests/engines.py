"""What to ask an engine for: one small table a kind, of the fields of its text completion endpoint.

All are asked to leave special tokens in the text, since the markers of many formats are such tokens, and to tell usage
and token ids in a stream where they can. An engine that cannot be guided (`plain`) is not asked for a constraint: its
output is read in the model's own format.

Sources: vLLM's and SGLang's OpenAI-compatible servers (protocol modules), llama.cpp's server README, TensorRT-LLM's
`trtllm-serve` protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ...formats import Format
    from .values import Request

Fields = dict[str, Any]
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Engine:
    """What to send to an engine besides the prompt: `fields` of its completion endpoint, without `model`.

    `format` is the one to read its output with. `late_usage` is whether it tells the usage after the finish reason, for
    `Options.late_usage`.
    """

    kind: str
    fields: Fields
    format: Format
    late_usage: bool


@dataclass(frozen=True, slots=True)
class _Kind:
    """One engine: fields that are always sent, the names of others, and how it takes a constraint."""

    always: Mapping[str, Any]
    constraint: Callable[[Schema], Fields] | None = None
    any_object: Mapping[str, Any] | None = None
    max_tokens: str = "max_tokens"
    logprobs: str = "logprobs"
    preserved: bool = False  # special tokens are kept one by one: the format's are named
    stream_usage: bool = True
    late_usage: bool = True


_ANY_OBJECT: Final = {"type": "object"}
_KINDS: Final[Mapping[str, _Kind]] = {
    "vllm": _Kind(
        always={
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
            "return_token_ids": True,
        },
        constraint=lambda schema: {"structured_outputs": {"json": dict(schema)}},
        any_object={"structured_outputs": {"json_object": True}},
    ),
    "sglang": _Kind(
        always={"skip_special_tokens": False},
        constraint=lambda schema: {"json_schema": json.dumps(schema)},
    ),
    "llama.cpp": _Kind(
        always={"cache_prompt": True, "return_tokens": True},
        constraint=lambda schema: {"json_schema": dict(schema)},
        max_tokens="n_predict",
        logprobs="n_probs",
        preserved=True,
        stream_usage=False,
        late_usage=False,
    ),
    "trtllm": _Kind(
        always={"skip_special_tokens": False, "spaces_between_special_tokens": False},
        constraint=lambda schema: {"response_format": {"type": "json", "schema": dict(schema)}},
        any_object={"response_format": {"type": "json_object"}},
    ),
    "plain": _Kind(always={}),
}


def engine(kind: str, request: Request) -> Engine:
    """What this request needs of an engine of this kind."""
    if kind not in _KINDS:
        raise ValueError(f"no engine of kind {kind!r}: one of {', '.join(_KINDS)}")
    table = _KINDS[kind]
    fields: Fields = {**request.sampling, **table.always, "stream": request.stream}
    if table.preserved and request.model_format.token_texts:
        fields["preserved_tokens"] = sorted(request.model_format.token_texts)
    if request.choices > 1:
        fields["n"] = request.choices
    if request.stops:
        fields["stop"] = list(request.stops)
    if request.max_tokens is not None:
        fields[table.max_tokens] = request.max_tokens
    if request.logprobs is not None:
        fields[table.logprobs] = request.logprobs
    if request.stream and table.stream_usage:
        fields["stream_options"] = {"include_usage": True}
    constraint = request.constraint
    if constraint is None:
        return Engine(kind, fields, request.format, table.late_usage and request.stream)
    if table.constraint is None:
        return Engine(kind, fields, request.model_format, table.late_usage and request.stream)
    if constraint.schema is None and table.any_object is not None:
        fields |= table.any_object
    else:
        fields |= table.constraint(constraint.schema or _ANY_OBJECT)
    return Engine(kind, fields, request.format, table.late_usage and request.stream)
