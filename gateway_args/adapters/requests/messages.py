"""Messages requests: content blocks become messages in Chat's shape, as a chat template takes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .common import SAMPLING, Calling, calling, free_to_continue, schema_of
from .values import Constraint, Message, Request, ToolChoice

if TYPE_CHECKING:
    from ...formats import Format
    from .body import Body


def read(body: Body, model_format: Format | None) -> Request:
    """What this body asks for."""
    model = body.needed("model")
    max_tokens = body.integer("max_tokens", 1)
    if max_tokens is None:
        raise body.bad("max_tokens", "expected an integer of at least 1, got nothing")
    choice, parallel = _choice(body)
    output = body.object("output_config")
    called: Calling = calling(body, body.tools(), choice, model_format, _output(body, output))
    messages = _messages(body)
    thinking, budget = _thinking(body)
    prefill = _prefill(body, messages)
    if prefill:
        free_to_continue(body, called, f"messages[{len(body.list('messages')) - 1}]")
    return Request(
        kind="messages",
        model=model,
        stream=body.flag("stream"),
        messages=tuple(messages),
        tools=called.tools,
        template_tools=called.template_tools,
        choice=called.choice,
        format=called.format,
        model_format=called.model_format,
        parallel=parallel,
        prefill=prefill,
        stops=body.texts("stop_sequences"),
        max_tokens=max_tokens,
        effort=output.text("effort") if output is not None else None,
        thinking=thinking,
        thinking_tokens=budget,
        constraint=called.constraint,
        sampling=body.some(SAMPLING),
    )


def _choice(body: Body) -> tuple[ToolChoice, bool]:
    choice = body.object("tool_choice")
    if choice is None:
        return ToolChoice(), True
    parallel = not choice.flag("disable_parallel_tool_use")
    match choice.one_of("type", ("auto", "any", "tool", "none")):
        case "none":
            return ToolChoice("none"), parallel
        case "any":
            return ToolChoice("required"), parallel
        case "tool":
            return ToolChoice("named", choice.needed("name")), parallel
        case "auto":
            return ToolChoice(), parallel
        case _:
            raise choice.bad(choice.at("type"), "expected one of auto, any, tool, none, got nothing")


def _output(body: Body, config: Body | None) -> Constraint | None:
    wanted = (config.object("format") if config is not None else None) or body.object("output_format")
    if wanted is None:
        return None
    wanted.one_of("type", ("json_schema",))
    return Constraint("output", schema_of(wanted, "schema"))


def _thinking(body: Body) -> tuple[bool | None, int | None]:
    wanted = body.object("thinking")
    if wanted is None:
        return None, None
    kind = wanted.one_of("type", ("enabled", "disabled", "adaptive", "between_tools"))
    return (None if kind == "adaptive" else kind != "disabled"), wanted.integer("budget_tokens", 1)


def _messages(body: Body) -> list[Message]:
    found: list[Message] = []
    system = _content(body, "system", ())
    if system:
        found.append({"role": "system", "content": system})
    size = len(found)
    for message in body.objects("messages"):
        role = message.one_of("role", ("user", "assistant", "system"))
        if role == "assistant":
            found.append(_assistant(message))
        elif role == "system":
            found.append({"role": "system", "content": _content(message, "content", ())})
        else:
            found += _asked(message)
    if len(found) == size:
        raise body.bad("messages", "expected at least one message")
    return found


def _assistant(message: Body) -> Message:
    """An assistant's turn: its text, thoughts and calls in one message."""
    if not isinstance(message.value.get("content"), list):
        return {"role": "assistant", "content": message.text("content") or ""}
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in message.objects("content"):
        match block.one_of("type", ("text", "thinking", "redacted_thinking", "tool_use")):
            case "text":
                texts.append(block.text("text") or "")
            case "thinking":
                reasoning.append(block.text("thinking") or "")
            case "tool_use":
                given = block.object("input")
                arguments = json.dumps({} if given is None else dict(given.value), ensure_ascii=False)
                function = {"name": block.needed("name"), "arguments": arguments}
                calls.append({"id": block.needed("id"), "type": "function", "function": function})
            case _:
                pass  # a redacted thought says nothing to this model
    turn: Message = {"role": "assistant", "content": "".join(texts) if texts or not calls else None}
    if reasoning:
        turn["reasoning_content"] = "".join(reasoning)
    if calls:
        turn["tool_calls"] = calls
    return turn


def _asked(message: Body) -> list[Message]:
    """A user's turn: the results of tools first, each a message of its own, then what the user says."""
    if not isinstance(message.value.get("content"), list):
        return [{"role": "user", "content": message.text("content") or ""}]
    results: list[Message] = []
    rest = False
    for block in message.objects("content"):
        if block.text("type") == "tool_result":
            content = _content(block, "content", ())
            results.append({"role": "tool", "tool_call_id": block.needed("tool_use_id"), "content": content})
        else:
            rest = True
    if rest:
        results.append({"role": "user", "content": _content(message, "content", ("tool_result",))})
    return results


def _content(body: Body, key: str, skipped: tuple[str, ...]) -> Any:
    """A text, or its parts in Chat's shape; parts of text alone are one text."""
    given = body.value.get(key)
    if given is None or isinstance(given, str):
        return given or ""
    parts: list[dict[str, Any]] = []
    for block in body.objects(key):
        match block.one_of("type", ("text", "image", *skipped)):
            case "text":
                parts.append({"type": "text", "text": block.text("text") or ""})
            case "image":
                parts.append({"type": "image_url", "image_url": {"url": _image(block)}})
            case _:
                pass
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return parts


def _image(block: Body) -> str:
    source = block.object("source")
    if source is None:
        raise block.bad(block.at("source"), "expected an object, got nothing")
    if source.one_of("type", ("base64", "url")) == "url":
        return source.needed("url")
    return f"data:{source.needed('media_type')};base64,{source.needed('data')}"


def _prefill(body: Body, messages: list[Message]) -> str:
    """The text of the assistant's last turn, when the conversation ends with one; an empty turn is taken out."""
    last = messages[-1]
    if last["role"] != "assistant":
        return ""
    path = f"messages[{len(body.list('messages')) - 1}]"
    if "tool_calls" in last:
        raise body.bad(path, "ends with a tool_use block; expected a user's turn with its tool_result")
    if not last["content"]:
        if "reasoning_content" in last:
            raise body.bad(path, "ends with a thinking block; expected text, which the output continues")
        if not any(message["role"] != "system" for message in messages[:-1]):
            raise body.bad("messages", "expected at least one message")
        messages.pop()
    return str(last["content"])
