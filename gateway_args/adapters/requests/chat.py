"""Chat Completions requests, and fields of engines' own servers that clients send (`continue_final_message`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .common import SAMPLING, Calling, allowed, calling, custom_call, free_to_continue, schema_of
from .values import Constraint, Message, Request, ToolChoice

if TYPE_CHECKING:
    from ...formats import Format
    from .body import Body

_ROLES = ("developer", "system", "user", "assistant", "tool")


def read(body: Body, model_format: Format | None) -> Request:
    """What this body asks for."""
    body.refuse({"functions": "use tools", "function_call": "use tool_choice", "audio": "ask for text"})
    model = body.needed("model")
    stream = body.flag("stream")
    tools = body.tools()
    called: Calling = calling(body, tools, _choice(body), model_format, _output(body))
    messages = tuple(_messages(body))
    prefill = ""
    if body.flag("continue_final_message"):
        if body.flag("add_generation_prompt"):
            raise body.bad("continue_final_message", "cannot be set together with add_generation_prompt")
        prefill = _last_words(body, messages)
        free_to_continue(body, called, "continue_final_message")
    options = body.object("stream_options")
    effort = body.text("reasoning_effort")
    return Request(
        kind="chat",
        model=model,
        stream=stream,
        messages=messages,
        tools=called.tools,
        template_tools=called.template_tools,
        choice=called.choice,
        format=called.format,
        model_format=called.model_format,
        choices=body.integer("n", 1, 128) or 1,
        parallel=body.flag("parallel_tool_calls", True),
        prefill=prefill,
        stops=body.texts("stop"),
        max_tokens=body.integer("max_completion_tokens", 1) or body.integer("max_tokens", 1),
        effort=None if effort == "none" else effort,
        thinking=_thinking(body, effort),
        logprobs=(body.integer("top_logprobs", 0, 20) or 0) if body.flag("logprobs") else None,
        constraint=called.constraint,
        sampling=body.some(SAMPLING),
        usage=not stream or (options is not None and options.flag("include_usage")),
    )


def _choice(body: Body) -> ToolChoice:
    given = body.value.get("tool_choice")
    if given is None:
        return ToolChoice()
    if isinstance(given, str):
        match body.one_of("tool_choice", ("none", "auto", "required")):
            case "none":
                return ToolChoice("none")
            case "required":
                return ToolChoice("required")
            case _:
                return ToolChoice()
    choice = body.object("tool_choice")
    assert choice is not None
    kind = choice.one_of("type", ("function", "custom", "allowed_tools"))
    if kind == "allowed_tools":
        inner = choice.object("allowed_tools") or choice
        required = inner.one_of("mode", ("auto", "required")) == "required"
        return allowed(ToolChoice(), tuple(_named(tool) for tool in inner.objects("tools")), required)
    return ToolChoice("named", _named(choice))


def _named(tool: Body) -> str:
    """The name of a tool as a choice gives it: under its kind, or beside it."""
    for kind in ("function", "custom"):
        inner = tool.object(kind)
        if inner is not None:
            return inner.needed("name")
    return tool.needed("name")


def _output(body: Body) -> Constraint | None:
    wanted = body.object("response_format")
    if wanted is None:
        return None
    match wanted.one_of("type", ("text", "json_object", "json_schema")):
        case "json_object":
            return Constraint("output", None)
        case "json_schema":
            inner = wanted.object("json_schema")
            if inner is None:
                raise wanted.bad(wanted.at("json_schema"), "expected an object, got nothing")
            return Constraint("output", schema_of(inner, "schema"))
        case _:
            return None


def _messages(body: Body) -> list[Message]:
    found: list[Message] = []
    for message in body.objects("messages"):
        if message.one_of("role", _ROLES) is None:
            raise message.bad(message.at("role"), f"expected one of {', '.join(_ROLES)}, got nothing")
        message.refuse({"function_call": "use tool_calls", "audio": "send its text as content"})
        taken = dict(message.value)
        if "content" in message:
            taken["content"] = _content(message)
        if "tool_calls" in message:
            taken["tool_calls"] = [_called(call) for call in message.objects("tool_calls")]
        found.append(taken)
    if not found:
        raise body.bad("messages", "expected at least one message")
    return found


def _content(message: Body) -> Any:
    """A text, or its parts as the client wrote them; parts of text alone are one text."""
    given = message.value["content"]
    if isinstance(given, str):
        return given
    texts: list[str] = []
    parts: list[dict[str, Any]] = []
    for part in message.objects("content"):
        kind = part.needed("type")
        if kind in ("text", "refusal"):
            texts.append(part.text(kind) or "")
            parts.append({"type": "text", "text": texts[-1]})
        else:
            parts.append(dict(part.value))
    return parts if len(parts) > len(texts) else "".join(texts)


def _called(call: Body) -> dict[str, Any]:
    """An earlier call; one of a custom tool as the call of a function that it is to the model."""
    custom = call.object("custom")
    if custom is not None:
        return custom_call(call.needed("id"), custom.needed("name"), custom.text("input") or "")
    function = call.object("function")
    if function is None:
        raise call.bad(call.at("function"), "expected an object, got nothing")
    function.needed("name")
    return dict(call.value)


def _last_words(body: Body, messages: tuple[Message, ...]) -> str:
    """The text of the assistant's last message, which the output continues."""
    last = messages[-1]
    path = f"messages[{len(messages) - 1}]"
    if last["role"] != "assistant":
        raise body.bad(path, "continue_final_message continues an assistant's message, and the last one is not")
    if last.get("tool_calls"):
        raise body.bad(path, "a message with tool_calls cannot be continued")
    content = last.get("content")
    if isinstance(content, str):
        return content
    raise body.bad(f"{path}.content", "expected text, which the output continues")


def _thinking(body: Body, effort: str | None) -> bool | None:
    """Whether reasoning is asked for: by the template's own switch, or by an effort of none."""
    template = body.object("chat_template_kwargs")
    if template is not None:
        for key in ("enable_thinking", "thinking"):
            if key in template:
                return template.flag(key)
    return False if effort == "none" else None
