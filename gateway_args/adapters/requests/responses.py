"""Responses requests: items become messages in Chat's shape, as a chat template takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .common import SAMPLING, Calling, allowed, calling, custom_call, schema_of
from .values import Constraint, Message, Request, ToolChoice

if TYPE_CHECKING:
    from ...formats import Format
    from .body import Body

_ECHO = (
    "instructions", "metadata", "max_output_tokens", "previous_response_id", "reasoning", "service_tier", "store",
    "temperature", "text", "tool_choice", "tools", "top_p", "truncation", "user",
)  # fmt: skip


def read(body: Body, model_format: Format | None) -> Request:
    """What this body asks for."""
    send_all = "this server keeps no responses: send the whole input"
    body.refuse(
        {
            "previous_response_id": send_all,
            "conversation": send_all,
            "background": "ask for a stream",
            "prompt": send_all,
        }
    )
    model = body.needed("model")
    tools = body.tools()
    called: Calling = calling(body, tools, _choice(body), model_format, _output(body))
    reasoning = body.object("reasoning")
    effort = reasoning.text("effort") if reasoning is not None else None
    include = body.texts("include")
    return Request(
        kind="responses",
        model=model,
        stream=body.flag("stream"),
        messages=tuple(_messages(body)),
        tools=called.tools,
        template_tools=called.template_tools,
        choice=called.choice,
        format=called.format,
        model_format=called.model_format,
        parallel=body.flag("parallel_tool_calls", True),
        stops=body.texts("stop"),
        max_tokens=body.integer("max_output_tokens", 1),
        effort=None if effort == "none" else effort,
        thinking=False if effort == "none" else None,
        logprobs=(body.integer("top_logprobs", 0, 20) or 0) if "message.output_text.logprobs" in include else None,
        constraint=called.constraint,
        sampling=body.some(SAMPLING),
        summary=reasoning is not None and ("summary" in reasoning or "generate_summary" in reasoning),
        echo={**body.some(_ECHO), "parallel_tool_calls": body.flag("parallel_tool_calls", True)},
    )


def _choice(body: Body) -> ToolChoice:
    given = body.value.get("tool_choice")
    if given is None or isinstance(given, str):
        match body.one_of("tool_choice", ("none", "auto", "required")):
            case "none":
                return ToolChoice("none")
            case "required":
                return ToolChoice("required")
            case _:
                return ToolChoice()
    choice = body.object("tool_choice")
    assert choice is not None
    kind = choice.needed("type")
    if kind == "allowed_tools":
        required = choice.one_of("mode", ("auto", "required")) == "required"
        listed = choice.objects("tools")  # with tools that the provider runs, which the model here does not have
        names = tuple(_name(tool) for tool in listed if tool.text("type") in (None, "function", "custom", "namespace"))
        return allowed(ToolChoice(), names, required)
    if kind in ("function", "custom"):
        return ToolChoice("named", _name(choice))
    raise choice.bad(choice.at("type"), f"{kind!r} cannot be forced; expected function, custom or allowed_tools")


def _name(tool: Body) -> str:
    """The name that the model knows: a tool of a namespace stands behind it."""
    namespace = tool.text("namespace")
    return f"{namespace}__{tool.needed('name')}" if namespace else tool.needed("name")


def _output(body: Body) -> Constraint | None:
    text = body.object("text")
    wanted = text.object("format") if text is not None else None
    if wanted is None:
        return None
    match wanted.one_of("type", ("text", "json_object", "json_schema")):
        case "json_object":
            return Constraint("output", None)
        case "json_schema":
            return Constraint("output", schema_of(wanted, "schema"))
        case _:
            return None


def _messages(body: Body) -> list[Message]:
    found: list[Message] = []
    instructions = body.text("instructions")
    if instructions:
        found.append({"role": "system", "content": instructions})
    given = body.value.get("input")
    if isinstance(given, str):
        return [*found, {"role": "user", "content": given}]
    for item in body.objects("input", "a string or a list of items"):
        _take(item, found)
    if not any(message["role"] != "system" for message in found) and not body.list("input"):
        raise body.bad("input", "expected a string or a list of items, got nothing")
    return found


def _take(item: Body, found: list[Message]) -> None:
    """Put an item behind the messages: what an assistant says and calls in a row is one message."""
    kind = item.text("type") or ("message" if "role" in item else None)
    match kind:
        case "message":
            role = item.one_of("role", ("user", "assistant", "system", "developer"))
            content = _content(item, "content")
            if role == "assistant":
                _assistant(found)["content"] = _joined(_assistant(found).get("content"), content)
            else:
                found.append({"role": role or "user", "content": content})
        case "function_call" | "custom_tool_call":
            id, name = item.needed("call_id"), _name(item)
            if kind == "custom_tool_call":
                call = custom_call(id, name, item.text("input") or "")
            else:
                function = {"name": name, "arguments": item.text("arguments") or ""}
                call = {"id": id, "type": "function", "function": function}
            _assistant(found).setdefault("tool_calls", []).append(call)
        case "function_call_output" | "custom_tool_call_output":
            found.append({"role": "tool", "tool_call_id": item.needed("call_id"), "content": _content(item, "output")})
        case "reasoning":
            key = "content" if item.list("content") else "summary"  # a summary tells the same again
            texts = [part.text("text") or "" for part in item.objects(key)]
            if texts:
                turn = _assistant(found, new=True)
                before = [turn["reasoning_content"]] if "reasoning_content" in turn else []
                turn["reasoning_content"] = "\n".join([*before, *texts])
        case None:
            raise item.bad(item.at("type"), "expected the type of an item, got nothing")
        case _:
            raise item.bad(item.at("type"), f"{kind!r} items are not supported")


def _assistant(found: list[Message], *, new: bool = False) -> Message:
    """The assistant's message that is open at the end."""
    if not found or found[-1]["role"] != "assistant" or (new and "tool_calls" in found[-1]):
        found.append({"role": "assistant", "content": None})
    return found[-1]


def _joined(before: Any, content: Any) -> Any:
    if before is None:
        return content
    return before + content if isinstance(before, str) and isinstance(content, str) else content


def _content(item: Body, key: str) -> Any:
    """A text, or its parts in Chat's shape; parts of text alone are one text."""
    given = item.value.get(key)
    if given is None or isinstance(given, str):
        return given or ""
    parts: list[dict[str, Any]] = []
    for part in item.objects(key):
        match part.one_of("type", ("input_text", "output_text", "text", "refusal", "input_image")):
            case "input_image":
                parts.append({"type": "image_url", "image_url": {"url": part.needed("image_url")}})
            case "refusal":
                parts.append({"type": "text", "text": part.text("refusal") or ""})
            case _:
                parts.append({"type": "text", "text": part.text("text") or ""})
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return parts
