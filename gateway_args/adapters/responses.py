"""Responses: the events of one response, and the response that they end with.

Output items stand one after the other: `reasoning` (its text in a `reasoning_text` part, and with
`Options.reasoning_summary` in a summary too, which is what some clients show), `message` (one `output_text` part),
`function_call`, and `custom_tool_call` for a tool that the request declared as one. Each is added, grows, and is done
before the next is added; events are numbered from 0. Ids of items are a hash of the response's id and the item's place.

What is cut says so: the response is `incomplete` (or `failed`), a message open at that moment too. A call that broke is
an `incomplete` item and gets no `function_call_arguments.done`, which clients run tools at; a custom tool's call, which
has no status, gets no `output_item.done`, and is no item of the response. A reasoning item carries no
status: its end is told at once, before anyone knows whether it was the end of the output.

The response object is the request's echo where `Envelope.extra` gives it (`tools`, `tool_choice`, `instructions`…) and
the API's empty value where it does not. Extension fields (see `core`) stand in the last event's response.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import custom, ids, state
from .core import Stream as _Stream
from .folding import broken_ids, relisted, validated
from .values import ERROR_MESSAGE, Call, Chunk, Envelope, Options, logprob

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .core import StreamEvent

_ITEMS = ("message", "reasoning", "function_call", "custom_tool_call")


def _is_item(value: object) -> bool:
    return value is None or (isinstance(value, dict) and state.text(value.get("id")) and value.get("type") in _ITEMS)


_REASON = {"length": "max_output_tokens", "content_filter": "content_filter"}


class Stream(_Stream):
    """The events of one response."""

    KIND: ClassVar[str] = "responses"
    STATE: ClassVar[Mapping[str, state.Check]] = {
        **_Stream.STATE,
        "_number": state.count,
        "_output": state.objects,
        "_item": _is_item,
        "_parts": state.texts,
        "_logprob_list": state.objects,
        "_input": custom.is_state,
    }

    def __init__(self, envelope: Envelope, options: Options | None = None, *, choice: int = 0) -> None:
        super().__init__(envelope, options, choice=choice)
        self._number = 0
        self._output: list[Chunk] = []  # the items that are done
        self._item: Chunk | None = None  # the item that is open, as it was added
        self._parts: list[str] = []  # its text or arguments
        self._logprob_list: list[Chunk] = []  # of its text
        self._input = custom.InputText()  # of a custom tool's call

    def _emit(self, kind: str, **fields: Any) -> None:
        self._out.append({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1

    def _open(self) -> None:
        self._emit("response.created", response=self._response("in_progress"))
        self._emit("response.in_progress", response=self._response("in_progress"))

    def _text(self, text: str, logprobs: list[Chunk]) -> None:
        item = self._item
        if item is None or item["type"] != "message":
            item = self._add("msg", {"type": "message", "role": "assistant", "content": [], "status": "in_progress"})
            self._part("added", item, _output_text(""))
        self._parts.append(text)
        brief: list[Chunk] = []
        if logprobs:
            known = [logprob(entry) for entry in logprobs]
            self._logprob_list += known
            brief = [_brief(entry) for entry in known]
        self._out.append(
            {
                "type": "response.output_text.delta",
                "sequence_number": self._number,
                "item_id": item["id"],
                "output_index": len(self._output),
                "content_index": 0,
                "delta": text,
                "logprobs": brief,
            }
        )
        self._number += 1

    def _reasoning(self, text: str) -> None:
        item = self._item
        if item is None or item["type"] != "reasoning":
            item = self._add("rs", {"type": "reasoning", "summary": [], "content": []})
            self._part("added", item, _reasoning_text(""))
            if self.options.reasoning_summary:
                fields = {"summary_index": 0, "part": _summary_text("")}
                self._grow("response.reasoning_summary_part.added", item["id"], fields)
        self._parts.append(text)
        self._out.append(
            {
                "type": "response.reasoning_text.delta",
                "sequence_number": self._number,
                "item_id": item["id"],
                "output_index": len(self._output),
                "content_index": 0,
                "delta": text,
            }
        )
        self._number += 1

        if self.options.reasoning_summary:
            fields = {"summary_index": 0, "delta": text}
            self._grow("response.reasoning_summary_text.delta", item["id"], fields)

    def _reasoning_over(self) -> None:
        if self._item is not None and self._item["type"] == "reasoning":
            self._done()

    def _start(self, call: Call) -> None:
        tool = self.options.tools.get(call.name) if self.options.tools is not None else None
        name = {"name": call.name} if tool is None else {"name": tool.local_name}
        if tool is not None and tool.namespace:
            name["namespace"] = tool.namespace
        if tool is not None and tool.custom:
            self._input = custom.InputText()
            self._add("ctc", {"type": "custom_tool_call", "call_id": call.id, **name, "input": ""})
        else:
            item = {"type": "function_call", "call_id": call.id, **name, "arguments": "", "status": "in_progress"}
            self._add("fc", item)

    def _fragment(self, call: Call, fragment: str) -> None:
        assert self._item is not None
        if self._item["type"] == "custom_tool_call":
            self._more_input(self._item, self._input.feed(fragment))
            return
        self._parts.append(fragment)
        self._out.append(
            {
                "type": "response.function_call_arguments.delta",
                "sequence_number": self._number,
                "item_id": self._item["id"],
                "output_index": len(self._output),
                "delta": fragment,
            }
        )
        self._number += 1

    def _more_input(self, item: Chunk, text: str) -> None:
        if text:
            self._parts.append(text)
            self._grow("response.custom_tool_call_input.delta", item["id"], {"delta": text})

    def _end(self, call: Call, whole: bool) -> bool:
        if whole and self._item is not None and self._item["type"] == "custom_tool_call":
            self._more_input(self._item, self._input.finish())
        self._done(cut=not whole)
        return whole

    def _close(self, reason: str, extension: Chunk) -> None:
        whole = reason in ("stop", "tool_calls")
        self._done(cut=not whole)
        if whole:
            self._emit("response.completed", response=self._response("completed", **extension))
        elif reason == "error":
            error = {"code": "server_error", "message": ERROR_MESSAGE}
            self._emit("response.failed", response=self._response("failed", error=error, **extension))
        else:
            details = {"reason": _REASON.get(reason)}
            self._emit(
                "response.incomplete", response=self._response("incomplete", incomplete_details=details, **extension)
            )

    def _add(self, prefix: str, fields: Chunk) -> Chunk:
        """Open an item, after the one that is open."""
        self._done()
        number = f"item/{len(self._output)}"
        item = {"id": ids.item_id(f"{prefix}_", self.envelope.id, self.choice, number), **fields}
        self._item = item
        self._emit("response.output_item.added", output_index=len(self._output), item=item)
        return item

    def _grow(self, kind: str, item_id: str, fields: Chunk) -> None:
        head = {"type": kind, "sequence_number": self._number, "item_id": item_id, "output_index": len(self._output)}
        self._out.append(head | fields)
        self._number += 1

    def _part(self, what: str, item: Chunk, part: Chunk) -> None:
        self._grow(f"response.content_part.{what}", item["id"], {"content_index": 0, "part": part})

    def _done(self, *, cut: bool = False) -> None:
        """Close the open item, if any; `cut` says that it is not whole."""
        item, text = self._item, "".join(self._parts)
        if item is None:
            return
        known = self._logprob_list
        self._item, self._parts, self._logprob_list = None, [], []
        status = "incomplete" if cut else "completed"
        match item["type"]:
            case "message":
                done = {"content_index": 0, "text": text, "logprobs": [_brief(entry) for entry in known]}
                self._grow("response.output_text.done", item["id"], done)
                self._part("done", item, _output_text(text, known))
                item = {**item, "content": [_output_text(text, known)], "status": status}
            case "reasoning":
                self._grow("response.reasoning_text.done", item["id"], {"content_index": 0, "text": text})
                self._part("done", item, _reasoning_text(text))
                item = {**item, "content": [_reasoning_text(text)]}
                if self.options.reasoning_summary:
                    where = {"summary_index": 0}
                    self._grow("response.reasoning_summary_text.done", item["id"], {**where, "text": text})
                    part = {**where, "part": _summary_text(text)}
                    self._grow("response.reasoning_summary_part.done", item["id"], part)
                    item["summary"] = [_summary_text(text)]
            case "custom_tool_call":
                item = {**item, "input": text}
                if cut:  # it has no status that says so: it is never done
                    self._output.append(item)
                    return
                self._grow("response.custom_tool_call_input.done", item["id"], {"input": text})
            case _:
                if not cut:
                    self._grow("response.function_call_arguments.done", item["id"], {"arguments": text})
                item = {**item, "arguments": text, "status": status}
        self._emit("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)

    def _response(self, status: str, **fields: Any) -> Chunk:
        envelope = self.envelope
        unsound = broken_ids(fields)
        output = [item for item in self._output if item["type"] != "custom_tool_call" or item["call_id"] not in unsound]
        response: Chunk = {
            "id": envelope.id,
            "object": "response",
            "created_at": envelope.created,
            "status": status,
            "model": envelope.model,
            "output": output,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": self.options.parallel,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            **envelope.extra,
        }
        if self._finished:
            response["usage"] = self._spent()
        return {**response, **fields}

    def _spent(self) -> Chunk:
        usage = self.usage()
        output = usage.completion_tokens or 0
        return {
            "input_tokens": usage.prompt_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
            "total_tokens": usage.prompt_tokens + output,
        }


def fold(chunks: Iterable[Chunk]) -> Chunk:
    """The response that these events end with.

    A call that is not whole stands in `incomplete_calls` (or `refused_calls`) alone, with what came of it: clients run
    what they find in `output`, whatever its status says.
    """
    response: Chunk = {}
    for chunk in chunks:
        response = chunk.get("response", response)
    output = response.get("output", [])
    unsound = broken_ids(response)
    broken = {
        item["call_id"]: {
            "id": item["call_id"],
            "name": item["name"],
            "arguments": item["arguments"] if item["type"] == "function_call" else item["input"],
        }
        for item in output
        if item.get("call_id") in unsound
    }
    if not broken:
        return response
    kept = [item for item in output if item.get("call_id") not in broken]
    return {**response, "output": kept, **relisted(response, broken)}


def whole(events: Iterable[StreamEvent], envelope: Envelope, options: Options | None = None) -> Chunk:
    """The response that these events say."""
    stream = Stream(envelope, options)
    return fold([*stream.chunks(validated(events)), *stream.last()])


def _output_text(text: str, logprobs: Sequence[Chunk] = ()) -> Chunk:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(logprobs)}


def _brief(entry: Chunk) -> Chunk:
    """A token's log probability as the events that stream have it: without bytes."""
    top = [{"token": other["token"], "logprob": other["logprob"]} for other in entry["top_logprobs"]]
    return {"token": entry["token"], "logprob": entry["logprob"], "top_logprobs": top}


def _summary_text(text: str) -> Chunk:
    return {"type": "summary_text", "text": text}


def _reasoning_text(text: str) -> Chunk:
    return {"type": "reasoning_text", "text": text}
