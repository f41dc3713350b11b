"""What the three readers share: the choice of tools, and what follows from it for the output."""

from __future__ import annotations

import json
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
# Keywords of JSON Schema that hold schemas by name, and those that hold data.
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_DATA: Final = ("const", "enum", "default", "examples")


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
        if choice.mode == "required" and not tools.names:
            raise body.bad(path, "a tool call is wanted, but no function is among the allowed tools")
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
    calls: list[dict[str, Any]] = []
    definitions: dict[str, Any] = {}
    for number, tool in enumerate(tools):
        parameters: Any = dict(tool.parameters) or {"type": "object"}
        key = f"tool_{number}"
        moved = _moved(parameters, f"#/$defs/{key}")
        if moved != parameters:  # it refers to its own definitions, so it becomes one
            definitions[key], parameters = moved, {"$ref": f"#/$defs/{key}"}
        call = {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "parameters": parameters},
            "required": ["name", "parameters"],
            "additionalProperties": False,
        }
        calls.append(call)
    listed = {"type": "array", "minItems": 1, "items": {"anyOf": calls}}
    return {**listed, "$defs": definitions} if definitions else listed


def _moved(schema: Any, to: str) -> Any:
    """A schema that stands at the pointer `to` of another document: what it refers to in its own moves with it."""
    if not isinstance(schema, dict) or "$id" in schema:  # references below an `$id` are its own wherever it stands
        return schema
    moved: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            moved[key] = to + value[1:]
        elif key in _MAPS and isinstance(value, dict):
            moved[key] = {name: _moved(inner, to) for name, inner in value.items()}
        elif key in _DATA:
            moved[key] = value
        else:
            moved[key] = [_moved(inner, to) for inner in value] if isinstance(value, list) else _moved(value, to)
    return moved


def free_to_continue(body: Body, called: Calling, path: str) -> None:
    """Refuse to continue a text where the output has to be a document of its own."""
    if called.constraint is not None:
        other = "a tool_choice that forces a call" if called.constraint.source == "tool_choice" else "structured output"
        raise body.bad(path, f"a text that the output continues cannot be combined with {other}")


def custom_call(id: str, name: str, text: str) -> dict[str, Any]:
    """An earlier call of a tool that takes free text, as the call of a function that it is to the model."""
    arguments = json.dumps({"input": text}, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def schema_of(body: Body, key: str) -> Mapping[str, Any]:
    """A JSON Schema that has to be there."""
    found = body.object(key)
    if found is None:
        raise body.bad(body.at(key), "expected an object (a JSON Schema), got nothing")
    return found.value
