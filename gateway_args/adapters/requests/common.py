"""What the three readers share: the choice of tools, and what follows from it for the output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ... import formats
from ...errors import FormatError
from ...tools import Tools
from ..errors import BadRequest
from .values import Constraint, ToolChoice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...formats import Format
    from ...tools import Tool
    from .body import Body

SAMPLING: Final = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
)


@dataclass(frozen=True, slots=True)
class Calling:
    """What follows from a request's tools and tool choice."""

    tools: Tools
    choice: ToolChoice
    format: Format
    model_format: Format
    constraint: Constraint | None
    template_tools: tuple[dict[str, Any], ...]


def calling(
    body: Body, tools: Tools, choice: ToolChoice, model_format: Format | None, output: Constraint | None
) -> Calling:
    """Check the choice against the tools and settle which format is read.

    A structured output (`output`) is asked of the engine only where the model may not call: guided to a document, it
    could not.
    """
    model = model_format or _format_of(body)
    path = body.at("tool_choice")
    if choice.mode in ("required", "named") and not tools.names:
        raise body.bad(path, "a tool call is wanted, but the request declares no functions in tools")
    for name in (choice.name, *(choice.allowed or ())):
        if name is not None and name not in tools:
            raise body.bad(path, f"names {name!r}, which is not among tools: {', '.join(tools.names) or 'none'}")
    if choice.mode == "none":
        return Calling(Tools.of([]), choice, model, model, output, ())
    if choice.allowed is not None:
        tools = tools.only(choice.allowed)
    shown = tuple(_shown(tool) for tool in tools)
    match choice.mode:
        case "named":
            assert choice.name is not None
            tool = tools.get(choice.name)
            assert tool is not None
            wanted = Constraint("tool_choice", tool.parameters or {"type": "object"})
            return Calling(tools, choice, formats.forced(choice.name, model), model, wanted, shown)
        case "required":
            wanted = Constraint("tool_choice", _list_of_calls(tools))
            return Calling(tools, choice, formats.required(model), model, wanted, shown)
        case _:
            return Calling(tools, choice, model, model, None if tools.names else output, shown)


def _format_of(body: Body) -> Format:
    name = body.needed("model")
    try:
        return formats.for_model(name)
    except FormatError as error:
        raise BadRequest(body.kind, str(error), param="model", status=404, code="model_not_found") from None


def allowed(choice: ToolChoice, names: tuple[str, ...], required: bool) -> ToolChoice:
    """A choice restricted to these names."""
    return replace(choice, mode="required" if required else "auto", allowed=names)


def _shown(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _list_of_calls(tools: Tools) -> dict[str, Any]:
    """The schema of the list of calls that `formats.required` reads."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "parameters": dict(tool.parameters) or {"type": "object"}},
            "required": ["name", "parameters"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {"type": "array", "minItems": 1, "items": {"anyOf": calls}}


def schema_of(body: Body, key: str) -> Mapping[str, Any]:
    """A JSON Schema that has to be there."""
    found = body.object(key)
    if found is None:
        raise body.bad(body.at(key), "expected an object (a JSON Schema), got nothing")
    return found.value
