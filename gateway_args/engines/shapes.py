"""The objects that engines send, each read into steps: one function an endpoint's shape.

Each function names the engine's own file that it was read from, by its path in that engine's repository. A field that
is missing or of another type than these send is as if it were not there, unless the text itself is meant: then the
object is a fault of shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..adapters.values import Logprob, Usage
from .steps import Step

Object = Mapping[str, Any]


class ShapeError(Exception):
    """An object that this endpoint does not send; the message says where."""


@dataclass(slots=True)
class Progress:
    """How far a choice of a cumulative stream has come."""

    length: int = 0
    tail: str = ""
    tokens: int = 0
    logprobs: int = 0
    steps: int = 0


@dataclass(slots=True)
class Memory:
    """What a reader remembers for its shape: the progress of each choice, and whether text is cumulative (None: to be
    seen)."""

    cumulative: bool | None = None
    choices: dict[int, Progress] = field(default_factory=dict)


Shape = Callable[[Object, Memory], Iterator[Step]]
MAX_CHOICES: Final = 1024
_TAIL: Final = 64


def openai_completions(body: Object, memory: Memory) -> Iterator[Step]:
    """`/v1/completions`, streamed or whole.

    Sources: `CompletionResponseStreamChoice` in vLLM's `vllm/entrypoints/openai/protocol.py` (`token_ids`,
    `stop_reason`), SGLang's `python/sglang/srt/entrypoints/openai/protocol.py` (`matched_stop`) and TensorRT-LLM's
    `tensorrt_llm/serve/openai_protocol.py` (`token_ids`, `prompt_token_ids` beside the choices).
    """
    for choice in _choices(body):
        yield Step(
            choice=_index(choice),
            text=_text(choice, "text"),
            tokens=_ids(choice.get("token_ids")),
            logprobs=_logprobs(choice.get("logprobs")),
            finish=_finish(choice),
            stopped_by=_stopped_by(choice),
            prompt=_ids(choice.get("prompt_token_ids")) or _ids(body.get("prompt_token_ids")),
        )
    yield from _usage_step(body)


def openai_chat(body: Object, memory: Memory) -> Iterator[Step]:
    """`/v1/chat/completions`, streamed or whole.

    Sources: the same protocol modules as for text completions; reasoning is `reasoning_content` or `reasoning` there,
    by version.
    """
    for choice in _choices(body):
        delta = choice.get("delta", choice.get("message"))
        if not isinstance(delta, Mapping):
            raise ShapeError("choices: a choice without delta or message")
        reasoning = delta.get("reasoning_content") or delta.get("reasoning") or ""
        calls = delta.get("tool_calls") or ()
        yield Step(
            choice=_index(choice),
            text=_text(delta, "content"),
            tokens=_ids(choice.get("token_ids")),
            logprobs=_logprobs(choice.get("logprobs")),
            finish=_finish(choice),
            stopped_by=_stopped_by(choice),
            reasoning=reasoning if isinstance(reasoning, str) else "",
            calls=tuple(call for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else (),
            prompt=_ids(body.get("prompt_token_ids")),
        )
    yield from _usage_step(body)


def sglang_generate(body: Object, memory: Memory) -> Iterator[Step]:
    """SGLang's `/generate`: cumulative text by default, new text alone with its option for that.

    Which of the two it is, the ids tell: cumulative ones are as many as the completion's tokens. Without ids the text
    of the second event decides: it begins with the first's, or it does not.

    Source: `python/sglang/srt/managers/tokenizer_manager.py` (`meta_info`, `output_ids`).
    """
    meta = body.get("meta_info")
    if not isinstance(meta, Mapping):
        raise ShapeError("meta_info: expected an object")
    text, index = _text(body, "text"), _index(body)
    ids = _ids(body.get("output_ids"))
    spent = meta.get("completion_tokens")
    if index not in memory.choices and len(memory.choices) >= MAX_CHOICES:
        raise ShapeError(f"index: more than {MAX_CHOICES} choices")
    progress = memory.choices.setdefault(index, Progress())
    reason = meta.get("finish_reason")
    reason = reason if isinstance(reason, Mapping) else {"type": reason} if isinstance(reason, str) else {}
    if memory.cumulative is None and progress.steps:
        if ids is not None and isinstance(spent, int):
            memory.cumulative = len(ids) == spent
        else:
            memory.cumulative = _extends(text, progress) or (bool(reason) and len(text) <= progress.length)
    logprobs = tuple(_sglang_logprobs(meta))
    if memory.cumulative is not False:
        whole, text = text, _grown(text, progress, ended=bool(reason))
        progress.length, progress.tail = max(progress.length, len(whole)), whole[-_TAIL:]
        ids, progress.tokens = (None, 0) if ids is None else (ids[progress.tokens :], len(ids))
        logprobs, progress.logprobs = logprobs[progress.logprobs :], len(logprobs)
    progress.steps += 1
    matched = reason.get("matched")
    finish = reason.get("type")
    usage = None
    if finish is not None:
        usage = Usage(
            prompt_tokens=_count(meta.get("prompt_tokens")) or 0,
            cached_tokens=_count(meta.get("cached_tokens")) or 0,
            completion_tokens=_count(spent),
        )
    yield Step(
        choice=index,
        text=text,
        tokens=ids,
        logprobs=logprobs,
        finish=str(finish) if finish is not None else None,
        stopped_by=matched if isinstance(matched, str | int) else None,
        usage=usage,
    )


def llama_completion(body: Object, memory: Memory) -> Iterator[Step]:
    """llama.cpp's `/completion`, streamed or whole; its last event alone has `stop: true`.

    Source: `tools/server/README.md`, the section on `POST /completion`.
    """
    if "content" not in body and "prompt_progress" in body:
        return
    text = _text(body, "content")
    finish = usage = None
    word = body.get("stopping_word")
    if body.get("stop") is True:
        kind = body.get("stop_type")
        if kind is None:  # before it had a stop type
            flags = {"stopped_limit": "limit", "stopped_word": "word", "stopped_eos": "eos"}
            kind = next((name for flag, name in flags.items() if body.get(flag) is True), "none")
        finish = {"eos": "stop", "word": "stop", "limit": "length"}.get(str(kind), "error")
        timings = body.get("timings")
        cached = _count(timings.get("cache_n")) if isinstance(timings, Mapping) else None
        usage = Usage(
            prompt_tokens=_count(body.get("tokens_evaluated")) or 0,
            cached_tokens=cached or 0,
            completion_tokens=_count(body.get("tokens_predicted")),
        )
    told = body.get("completion_probabilities", body.get("probs"))
    yield Step(
        choice=_index(body),
        text=text,
        tokens=_ids(body.get("tokens")) or None,
        logprobs=tuple(_chat_logprobs(told)),
        finish=finish,
        stopped_by=word if finish and isinstance(word, str) and word else None,
        usage=usage,
    )


def triton_generate(body: Object, memory: Memory) -> Iterator[Step]:
    """Triton's `generate_stream` for TensorRT-LLM: text alone, or text and a finish reason where it is asked for.

    Source: `text_output` in tensorrtllm_backend's `all_models/inflight_batcher_llm/ensemble/config.pbtxt`. The text is
    read as new text: the BLS model's `accumulate_tokens`, with which it sends the whole text each time, has to be off.
    """
    text = body.get("text_output")
    if isinstance(text, list) and all(isinstance(part, str) for part in text):
        text = "".join(text)
    if not isinstance(text, str):
        raise ShapeError("text_output: expected a string")
    finish = body.get("finish_reason")
    yield Step(
        choice=_index(body, "sequence_index"),
        text=text,
        tokens=_ids(body.get("output_ids")),
        finish=finish if isinstance(finish, str) and finish not in ("", "not_finished") else None,
    )


def shape_of(body: Object) -> tuple[str, Shape] | None:
    """The endpoint that sends such an object, by the keys that only it has; for logs whose origin is not known."""
    if "meta_info" in body:
        return "native", sglang_generate
    if "text_output" in body:
        return "native", triton_generate
    choices = body.get("choices")
    if isinstance(choices, list):
        if any(isinstance(choice, Mapping) and ("delta" in choice or "message" in choice) for choice in choices):
            return "chat", openai_chat
        if any(isinstance(choice, Mapping) and "text" in choice for choice in choices):
            return "completions", openai_completions
        return None
    if "prompt_progress" in body or ("content" in body and ("stop" in body or "tokens_predicted" in body)):
        return "native", llama_completion
    return None


def error_of(body: Object) -> tuple[str, int | None] | None:
    """The message and status of an engine's error, in the shapes that engines have for it.

    Sources: `ErrorResponse` in the protocol modules (an object "error", the fields beside it or under it); llama.cpp's
    README on errors (`{"error": {"code", "message", "type"}}`).
    """
    told = body.get("error")
    if told is None and body.get("object") == "error":
        told = body
    if told is None and "choices" not in body and isinstance(body.get("code"), int) and "message" in body:
        told = body  # llama.cpp's `error:` field
    if told is None or told is False:
        return None
    if isinstance(told, Mapping):
        code = told.get("code", told.get("status"))
        known = code if isinstance(code, int) and 400 <= code <= 599 else None
        return str(told.get("message") or told.get("type") or "no message")[:500], known
    return str(told)[:500], None


# ---- fields


def _choices(body: Object) -> list[Object]:
    choices = body.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, Mapping) for choice in choices):
        raise ShapeError("choices: expected a list of objects")
    return choices


def _index(body: Object, key: str = "index") -> int:
    index = body.get(key)
    if index is None:
        return 0
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < MAX_CHOICES:
        return index
    raise ShapeError(f"{key}: expected an integer of 0 to {MAX_CHOICES - 1}")


def _text(body: Object, key: str) -> str:
    text = body.get(key)
    if text is None:
        return ""
    if isinstance(text, list):  # content parts
        parts = [part.get("text") if isinstance(part, Mapping) else None for part in text]
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return "".join(texts)
    if not isinstance(text, str):
        raise ShapeError(f"{key}: expected a string")
    return text


def _ids(value: object) -> tuple[int, ...] | None:
    if isinstance(value, list) and all(isinstance(item, int) and not isinstance(item, bool) for item in value):
        return tuple(value)
    return None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _finish(choice: Object) -> str | None:
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) and reason else None


def _stopped_by(choice: Object) -> str | int | None:
    """`stop_reason` (vLLM, TensorRT-LLM) or `matched_stop` (SGLang)."""
    for key in ("stop_reason", "matched_stop"):
        value = choice.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
    return None


def _usage_step(body: Object) -> Iterator[Step]:
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return
    prompt, spent = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    reasoning = _count(spent.get("reasoning_tokens")) if isinstance(spent, Mapping) else None
    if reasoning is None:
        reasoning = _count(usage.get("reasoning_tokens"))
    cached = _count(prompt.get("cached_tokens")) if isinstance(prompt, Mapping) else None
    yield Step(
        choice=None,
        usage=Usage(
            prompt_tokens=_count(usage.get("prompt_tokens")) or 0,
            cached_tokens=cached or 0,
            completion_tokens=_count(usage.get("completion_tokens")),
            reasoning_tokens=reasoning or None,
        ),
    )


# ---- log probabilities, in Chat's shape


def _logprobs(told: object) -> tuple[Logprob, ...]:
    """Chat's `{"content": […]}`, or the lists of text completions."""
    if not isinstance(told, Mapping):
        return ()
    if "content" in told:
        return tuple(_chat_logprobs(told["content"]))
    tokens, values, tops = told.get("tokens"), told.get("token_logprobs"), told.get("top_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return ()
    if not isinstance(tops, list) or len(tops) != len(tokens):
        tops = [{}] * len(tokens)
    found: list[Logprob] = []
    for token, value, top in zip(tokens, values, tops, strict=True):
        if isinstance(token, str) and isinstance(value, int | float):
            others = [
                {"token": other, "logprob": known}
                for other, known in (top.items() if isinstance(top, Mapping) else ())
                if isinstance(known, int | float)
            ]
            found.append({"token": token, "logprob": value, "top_logprobs": others})
    return tuple(found)


def _chat_logprobs(told: object) -> Iterator[Logprob]:
    for entry in told if isinstance(told, list) else ():
        known = _entry(entry)
        if known is not None:
            others = entry.get("top_logprobs")
            tops = [_entry(other) for other in others] if isinstance(others, list) else []
            yield {**known, "top_logprobs": [other for other in tops if other is not None]}


def _entry(value: object) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    token, known = value.get("token"), value.get("logprob")
    if not isinstance(token, str) or not isinstance(known, int | float):
        return None
    data = _ids(value.get("bytes"))
    return {"token": token, "logprob": known, **({} if data is None else {"bytes": list(data)})}


def _sglang_logprobs(meta: Object) -> Iterator[Logprob]:
    """`[logprob, id, text or null]` for each token."""
    tops = meta.get("output_top_logprobs")
    told = meta.get("output_token_logprobs")
    for at, entry in enumerate(told if isinstance(told, list) else ()):
        known = _triple(entry)
        if known is not None:
            others = tops[at] if isinstance(tops, list) and at < len(tops) else None
            listed = [_triple(other) for other in others] if isinstance(others, list) else []
            yield {**known, "top_logprobs": [other for other in listed if other is not None]}


def _triple(entry: object) -> dict[str, Any] | None:
    if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[0], int | float):
        return None
    return {"token": entry[2] if isinstance(entry[2], str) else f"token_id:{entry[1]}", "logprob": entry[0]}


# ---- cumulative text


def _extends(text: str, progress: Progress) -> bool:
    start = progress.length - len(progress.tail)
    return len(text) >= progress.length and text.startswith(progress.tail, start)


def _grown(text: str, progress: Progress, *, ended: bool) -> str:
    """What is new in a cumulative text. The last one may be shorter: a stop string is cut off its end."""
    if _extends(text, progress):
        return text[progress.length :]
    if ended and len(text) < progress.length:
        return ""
    raise ShapeError("text: expected the text so far and more, got another text")
