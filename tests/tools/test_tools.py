"""The tools of a request: three shapes, what is no function, and what is malformed."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gateway_args import formats, read
from gateway_args.tools import Tools

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
CHAT = {"type": "function", "function": {"name": "forecast", "description": "d", "parameters": SCHEMA, "strict": True}}
RESPONSES = {"type": "function", "name": "forecast", "parameters": SCHEMA, "strict": False}
MESSAGES = {"name": "forecast", "description": "d", "input_schema": SCHEMA}


@pytest.mark.parametrize(
    "tool",
    [CHAT, RESPONSES, MESSAGES, {**MESSAGES, "type": "custom"}, {"function": CHAT["function"]}],
    ids=["chat", "responses", "messages", "messages_custom", "chat_without_type"],
)
def test_each_shape_declares_the_same_function(tool: dict[str, Any]) -> None:
    tools = Tools.of([tool])
    assert tools.names == ("forecast",)
    assert tools.ignored == ()
    assert "forecast" in tools
    found = tools.get("forecast")
    assert found is not None
    assert found.name == "forecast"
    assert found.parameters == SCHEMA
    city, days = found.parameter("city"), found.parameter("days")
    assert city is not None
    assert city.only_string
    assert days is not None
    assert days.admits("integer")
    assert tools == Tools.of([CHAT])
    assert hash(tools) == hash(Tools.of([CHAT]))


def test_the_shapes_may_be_mixed_and_keep_their_order() -> None:
    tools = Tools.of([MESSAGES, {"type": "function", "name": "b"}, {"type": "function", "function": {"name": "a"}}])
    assert tools.names == ("forecast", "b", "a")
    assert [tool.name for tool in tools] == ["forecast", "b", "a"]
    assert len(tools) == 3


@pytest.mark.parametrize("parameters", [{}, {"parameters": None}, {"parameters": {}}])
def test_a_function_without_parameters_says_nothing_about_any_key(parameters: dict[str, Any]) -> None:
    tool = Tools.of([{"type": "function", "function": {"name": "now", **parameters}}]).get("now")
    assert tool is not None
    assert tool.parameters == {}
    assert tool.parameter("x") is None
    assert not tool.declares("x")


def test_tools_that_are_no_functions_are_listed_by_their_type() -> None:
    tools = Tools.of(
        [
            {"type": "web_search"},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "mcp", "server_label": "x"},
            CHAT,
        ]
    )
    assert tools.ignored == ("web_search", "bash_20250124", "mcp")
    assert tools.names == ("forecast",)


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "custom", "name": "apply_patch", "description": "Edit files.", "format": {"type": "text"}},
        {"type": "custom", "custom": {"name": "apply_patch", "description": "Edit files."}},
    ],
    ids=["responses", "chat"],
)
def test_a_custom_tool_is_a_function_of_one_text(tool: dict[str, Any]) -> None:
    tools = Tools.of([tool])
    found = tools.get("apply_patch")
    assert found is not None
    assert (found.custom, found.description) == (True, "Edit files.")
    text = found.parameter("input")
    assert text is not None
    assert text.only_string
    assert found.parameters["required"] == ["input"]


def test_the_tools_of_a_namespace_are_functions_named_behind_it() -> None:
    namespace = {
        "type": "namespace",
        "name": "crm",
        "description": "d",
        "tools": [RESPONSES, {"type": "custom", "name": "note"}, {"type": "web_search"}],
    }
    tools = Tools.of([namespace, RESPONSES])
    assert tools.names == ("crm__forecast", "crm__note", "forecast")
    assert tools.ignored == ("web_search",)
    inner, plain = tools.get("crm__forecast"), tools.get("forecast")
    assert inner is not None
    assert plain is not None
    assert (inner.namespace, inner.local_name, inner.parameters) == ("crm", "forecast", SCHEMA)
    assert (plain.namespace, plain.local_name) == ("", "forecast")


@pytest.mark.parametrize(
    ("tools", "any"),
    [
        ([], False),
        (None, False),
        ([{"type": "web_search"}], True),
        ([CHAT], True),
        ([{"type": "namespace", "name": "crm", "tools": [RESPONSES]}], True),
    ],
)
def test_a_request_with_tools_of_any_kind_is_not_one_without_tools(tools: Any, any: bool) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert bool(Tools.of(tools)) is any
    assert len(read(formats.load("hermes"), [text], Tools.of(tools)).calls) == any


@pytest.mark.parametrize("place", ["tool", "name", "schema", "type", "tools"])
def test_a_value_nested_beyond_wording_is_an_error_with_its_path(place: str) -> None:
    deep: Any = {}
    for _ in range(200_000):
        deep = [deep]
    request: Any = {
        "tool": [deep],
        "name": [{"type": "function", "function": {"name": deep}}],
        "schema": [{"type": "function", "function": {"name": "a", "parameters": deep}}],
        "type": [{"type": deep}],
        "tools": [{"type": "namespace", "name": "a", "tools": {"a": deep}}],
    }
    try:
        with pytest.raises(ValueError, match=r"^tools\[0\].*not a deeply nested value$"):
            Tools.of(request[place])
    finally:
        request.clear()
        while deep:  # freed level by level: the interpreter frees a chain this long recursively
            deep = deep.pop()


def test_no_tools_and_none_declare_nothing() -> None:
    for tools in (Tools.of([]), Tools.of(None)):
        assert tools.names == ()
        assert tools.get("forecast") is None
        assert tools == Tools.of([])


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("add", "tools: a list of tools is expected"),
        ({"name": "add"}, "tools: a list of tools is expected"),
        ([CHAT, "add"], "tools[1]: an object is expected"),
        ([CHAT, RESPONSES | {"name": "b"}, {"type": "function", "function": {}}], "tools[2].function.name: a name"),
        ([{"type": "function", "function": {"name": ""}}], "tools[0].function.name: a name"),
        ([{"type": "function", "function": {"name": 3}}], "tools[0].function.name: a name is expected here, not 3"),
        ([{"type": "function", "function": None}], "tools[0].function: an object"),
        ([{"type": "function"}], 'tools[0]: a function needs "function"'),
        ([{"type": "function", "name": None}], "tools[0].name: a name"),
        ([{"type": "custom"}], 'tools[0]: a custom tool needs "custom"'),
        ([{"type": "namespace", "name": "a", "tools": [3]}], "tools[0].tools[0]: an object"),
        ([{"type": "namespace", "tools": []}], "tools[0].name: a name"),
        ([{"type": ["function"], "name": "a"}], "tools[0].type: a string"),
        ([{"name": "a"}], "tools[0].input_schema: an object"),
        ([{"input_schema": {}}], "tools[0].name: a name"),
        (
            [{"type": "function", "function": {"name": "a", "parameters": []}}],
            "tools[0].function.parameters: an object",
        ),
        ([{"type": "function", "name": "a", "parameters": "{}"}], "tools[0].parameters: an object"),
        ([{"name": "a", "input_schema": {"enum": [{1, 2}]}}], "tools[0].input_schema: not JSON"),
        ([{"name": "a", "input_schema": {"const": float("nan")}}], "tools[0].input_schema: not JSON"),
        ([CHAT, MESSAGES], "tools[1].name: 'forecast' is declared twice"),
    ],
)
def test_a_malformed_tool_is_an_error_with_its_path(tools: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Tools.of(tools)
    assert str(caught.value).startswith(message)


def test_a_schema_nested_beyond_reading_is_an_error_with_its_path() -> None:
    schema: dict[str, Any] = {}
    for _ in range(200_000):
        schema = {"items": schema}
    try:
        with pytest.raises(ValueError, match=r"^tools\[0\]\.input_schema: nested too deeply"):
            Tools.of([{"name": "a", "input_schema": schema}])
    finally:
        while schema:  # freed level by level: the interpreter frees a chain this long recursively
            schema = schema.pop("items")


def test_changing_the_request_afterwards_changes_nothing() -> None:
    request = [copy.deepcopy(CHAT)]
    tools = Tools.of(request)
    request[0]["function"]["parameters"]["properties"]["city"] = {"type": "integer"}  # type: ignore[index]
    tool = tools.get("forecast")
    assert tool is not None
    assert tool.parameters == SCHEMA


def test_the_digest_follows_names_schemas_and_order_alone() -> None:
    other = {**MESSAGES, "name": "other"}
    assert Tools.of([CHAT]).digest == Tools.of([{**MESSAGES, "description": "another"}]).digest
    digests = {
        Tools.of(tools).digest
        for tools in ([], [MESSAGES], [other], [MESSAGES, other], [other, MESSAGES], [{**MESSAGES, "input_schema": {}}])
    }
    assert len(digests) == 6
    assert Tools.of([CHAT]) != "forecast"


def test_threads_that_share_tools_see_the_same_types() -> None:
    tools = Tools.of([{"name": f"f{i}", "input_schema": SCHEMA} for i in range(50)])

    def look(_: int) -> list[tuple[bool, bool]]:
        seen = []
        for name in tools.names:
            tool = tools.get(name)
            assert tool is not None
            city = tool.parameter("city")
            seen.append((tool.declares("city"), city is not None and city.only_string))
        return seen

    with ThreadPoolExecutor(8) as pool:
        assert all(seen == [(True, True)] * 50 for seen in pool.map(look, range(16)))
