"""Requests of the three APIs, most of them as the real clients send them, and what is asked of an engine for them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_args import CallStart, FormatError, adapters, formats
from gateway_args.adapters import BadRequest, Constraint, Options, Request, ToolChoice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")
each_kind = pytest.mark.parametrize("kind", KINDS)
QWEN = formats.load("qwen3")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
TIDE: Any = {"type": "function", "name": "get_tide"}
NOON: Any = {"type": "text", "text": "noon"}
THOUGHT: Any = {"type": "thinking", "thinking": "a", "signature": "b"}
ASK: list[Any] = [{"role": "user", "content": "When is high water?"}]


def tool(kind: str, name: str = "get_tide") -> dict[str, Any]:
    function = {"name": name, "description": "Tides.", "parameters": SCHEMA}
    match kind:
        case "chat":
            return {"type": "function", "function": function}
        case "responses":
            return {"type": "function", **function}
    return {"name": name, "description": "Tides.", "input_schema": SCHEMA}


def body(kind: str, **fields: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"model": "Qwen/Qwen3-8B"}
    base |= {"input": "When is high water?"} if kind == "responses" else {"messages": ASK}
    if kind == "messages":
        base["max_tokens"] = 64
    return {key: value for key, value in {**base, **fields}.items() if value is not ...}


@contextmanager
def clients(
    answer: Callable[[str, bytes], tuple[int, dict[str, Any]]],
) -> Iterator[tuple[openai.OpenAI, anthropic.Anthropic]]:
    """The real clients before a server that answers a path and a body with a status and a body."""

    def answered(request: httpx2.Request) -> httpx2.Response:
        status, said = answer(request.url.path, request.content)
        return httpx2.Response(status, json=said)

    with httpx2.Client(transport=httpx2.MockTransport(answered)) as http:
        yield (
            openai.OpenAI(api_key="none", base_url="http://test/v1", http_client=http, max_retries=0),
            anthropic.Anthropic(api_key="none", base_url="http://test", http_client=http, max_retries=0),
        )


def sent(call: Callable[[openai.OpenAI, anthropic.Anthropic], Any]) -> dict[str, Any]:
    """The body that a real client sends."""
    seen: list[dict[str, Any]] = []

    def answer(_path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        seen.append(json.loads(body))
        return 418, {"error": {"message": "no"}}

    with clients(answer) as both, pytest.raises((openai.APIStatusError, anthropic.APIStatusError)):
        call(*both)
    return seen[0]


# ------------------------------------------------------------------------------------ as clients send them


def test_a_chat_request_of_the_real_client() -> None:
    got = sent(
        lambda client, _: client.chat.completions.create(
            model="Qwen/Qwen3-8B",
            messages=ASK,
            tools=[tool("chat")],  # type: ignore[list-item]
            tool_choice="auto",
            parallel_tool_calls=False,
            n=2,
            stop=["END"],
            max_completion_tokens=100,
            temperature=0.5,
            seed=7,
            logprobs=True,
            top_logprobs=3,
            reasoning_effort="low",
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    request = adapters.request("chat", got)
    assert (request.kind, request.model, request.stream, request.choices) == ("chat", "Qwen/Qwen3-8B", True, 2)
    assert request.tools.names == ("get_tide",)
    assert request.template_tools == (tool("chat"),)
    assert (request.choice, request.parallel) == (ToolChoice(), False)
    assert request.format is request.model_format is formats.for_model("Qwen/Qwen3-8B")
    assert (request.stops, request.max_tokens, request.logprobs, request.usage) == (("END",), 100, 3, True)
    assert (request.effort, request.thinking) == ("low", None)
    assert request.sampling == {"temperature": 0.5, "seed": 7}
    assert list(request.messages) == ASK
    options = request.options(Options(malformed="hide"))
    assert (options.parallel, options.include_usage, options.malformed) == (False, True, "hide")
    assert options.tools is request.tools


def test_a_responses_request_of_the_real_client() -> None:
    got = sent(
        lambda client, _: client.responses.create(
            model="Qwen/Qwen3-8B",
            instructions="Be brief.",
            input=[
                {"role": "user", "content": [{"type": "input_text", "text": "Tide?"}]},
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [],
                    "content": [{"type": "reasoning_text", "text": "I look."}],
                },
                {"type": "function_call", "call_id": "c1", "name": "get_tide", "arguments": '{"port":"Cork"}'},
                {"type": "custom_tool_call", "call_id": "c2", "name": "note", "input": 'a "b"'},
                {"type": "function_call_output", "call_id": "c1", "output": "noon"},
                {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
                {"role": "assistant", "content": "At noon."},
                {"role": "user", "content": "Sure?"},
            ],
            tools=[
                tool("responses"),  # type: ignore[list-item]
                {"type": "custom", "name": "note"},
                {"type": "namespace", "name": "crm", "description": "d", "tools": [tool("responses", "find")]},
                {"type": "web_search"},
            ],
            tool_choice={
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "get_tide"}],
            },
            max_output_tokens=9,
            reasoning={"effort": "high", "summary": "auto"},
            include=["message.output_text.logprobs"],
            top_logprobs=2,
        )
    )
    request = adapters.request("responses", got)
    assert request.choice == ToolChoice("required", None, ("get_tide",))
    assert request.tools.names == ("get_tide",)
    assert request.format.name == "required"
    assert (request.max_tokens, request.effort, request.summary, request.logprobs) == (9, "high", True, 2)
    assert list(request.messages) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Tide?"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_tide", "arguments": '{"port":"Cork"}'}},
                {"id": "c2", "type": "function", "function": {"name": "note", "arguments": '{"input": "a \\"b\\""}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
        {"role": "tool", "tool_call_id": "c2", "content": "done"},
        {"role": "assistant", "content": "At noon."},
        {"role": "user", "content": "Sure?"},
    ]
    assert request.echo["instructions"] == "Be brief."
    assert request.echo["tools"] == got["tools"]
    assert request.envelope("resp_1", 7).extra == request.echo


def test_a_messages_request_of_the_real_client() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    got = sent(
        lambda _, client: client.messages.create(
            model="Qwen/Qwen3-8B",
            max_tokens=50,
            system=[{"type": "text", "text": "Be brief."}],
            messages=[
                {"role": "user", "content": [{"type": "text", "text": "What?"}, image]},  # type: ignore[list-item]
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "I look.", "signature": ""},
                        {"type": "text", "text": "Wait."},
                        {"type": "tool_use", "id": "toolu_1", "name": "get_tide", "input": {"port": "Cork"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_1",
                            "content": [{"type": "text", "text": "noon"}],
                        },
                        {"type": "text", "text": "Go on."},
                    ],
                },
                {"role": "assistant", "content": "The tide"},
            ],
            tools=[tool("messages")],  # type: ignore[list-item]
            tool_choice={"type": "auto", "disable_parallel_tool_use": True},
            stop_sequences=["END", "STOP"],
            thinking={"type": "enabled", "budget_tokens": 1024},
            output_config={"effort": "max"},
            stream=True,
        )
    )
    request = adapters.request("messages", got)
    assert (request.parallel, request.choice, request.max_tokens) == (False, ToolChoice(), 50)
    assert (request.prefill, request.stops) == ("The tide", ("END", "STOP"))
    assert (request.thinking, request.thinking_tokens, request.effort) == (True, 1024, "max")
    assert request.usage
    assert list(request.messages) == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        },
        {
            "role": "assistant",
            "content": "Wait.",
            "reasoning_content": "I look.",
            "tool_calls": [
                {"id": "toolu_1", "type": "function", "function": {"name": "get_tide", "arguments": '{"port": "Cork"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "toolu_1", "content": "noon"},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "The tide"},
    ]
    assert request.template()["continue_final_message"] is True
    assert request.template()["enable_thinking"] is True


def test_a_chat_template_gets_arguments_as_objects_and_no_role_that_it_does_not_know() -> None:
    def calls(arguments: Any) -> dict[str, Any]:
        function = {"name": "get_tide", "arguments": arguments}
        call = {"id": "c", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    messages = [{"role": "developer", "content": "d"}, calls('{"a": 1}'), calls(""), calls("{"), {"role": "user"}]
    request = adapters.request("chat", body("chat", messages=messages))
    shown = request.template()["messages"]
    assert shown == [{"role": "system", "content": "d"}, calls({"a": 1}), calls({}), calls("{"), {"role": "user"}]
    assert list(request.messages) == messages


def test_a_chat_conversation_is_one_that_templates_take() -> None:
    client = [
        {"role": "user", "content": [{"type": "text", "text": "When"}, {"type": "text", "text": "?"}]},
        {
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "No."}],
            "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "patch", "input": 'a "b"'}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "Done."}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "This?"}, {"type": "image_url", "image_url": {"url": "u"}}],
        },
    ]
    call = {"id": "c", "type": "function", "function": {"name": "patch", "arguments": {"input": 'a "b"'}}}
    assert adapters.request("chat", body("chat", messages=client)).template()["messages"] == [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "No.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Done."},
        client[3],
    ]


def test_a_messages_conversation_may_hold_a_system_turn() -> None:
    turn = {"role": "system", "content": [{"type": "text", "text": "Be brief."}]}
    request = adapters.request("messages", body("messages", messages=[*ASK, turn]))
    assert request.messages == (*ASK, {"role": "system", "content": "Be brief."})


def test_an_answer_is_a_turn_of_the_next_request_and_its_thought_stands_there_once() -> None:
    tools = [{"type": "custom", "name": "patch"}, {"type": "namespace", "name": "crm", "tools": [tool("responses")]}]
    first = adapters.request("responses", body("responses", tools=tools, reasoning={"summary": "auto"}))
    calls = ('{"name": "patch", "arguments": {"input": "x"}}', '{"name": "crm__get_tide", "arguments": {"port": "y"}}')
    output = "<think>\nA\n</think>\n\nHi" + "".join(f"\n<tool_call>\n{call}\n</tool_call>" for call in calls)
    parser = first.parser()
    events = parser.feed(output) + parser.finish("stop")
    answer = adapters.whole("responses", events, first.envelope("r", 0), first.options())
    (turn,) = adapters.request("responses", body("responses", tools=tools, input=answer["output"])).template()[
        "messages"
    ]
    assert (turn["reasoning_content"], turn["content"]) == ("A", "Hi")
    assert [call["function"] for call in turn["tool_calls"]] == [
        {"name": "patch", "arguments": {"input": "x"}},
        {"name": "crm__get_tide", "arguments": {"port": "y"}},
    ]


def test_all_thoughts_of_a_responses_turn_are_kept() -> None:
    def thought(text: str) -> dict[str, Any]:
        return {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text}]}

    said = {"role": "assistant", "content": "x"}
    items = [{"role": "user", "content": "q"}, thought("A"), thought("B"), said, thought("C")]
    request = adapters.request("responses", body("responses", input=items))
    assert request.messages[1:] == ({"role": "assistant", "content": "x", "reasoning_content": "A\nB\nC"},)


# ---------------------------------------------------------------------------------------------- tool choice

ALL = ("get_tide", "open_door")
AUTO, NONE, REQUIRED = ToolChoice(), ToolChoice("none"), ToolChoice("required")
ONE = ToolChoice("named", "get_tide")


@pytest.mark.parametrize(
    ("kind", "said", "choice", "parallel"),
    [
        *((kind, word, choice, True) for kind in ("chat", "responses") for word, choice in (
            ("none", NONE), ("auto", AUTO), ("required", REQUIRED), (..., AUTO), (None, AUTO),
        )),
        ("chat", {"type": "function", "function": {"name": "get_tide"}}, ONE, True),
        ("responses", {"type": "function", "name": "get_tide"}, ONE, True),
        (
            "chat",
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [tool("chat")]}},
            ToolChoice("auto", None, ("get_tide",)),
            True,
        ),
        (
            "responses",
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_tide"}]},
            ToolChoice("required", None, ("get_tide",)),
            True,
        ),
        (
            "responses",
            {"type": "allowed_tools", "mode": "auto", "tools": [
                {"type": "web_search_2025_08_26"}, {"type": "mcp", "server_label": "d"}, TIDE,
            ]},
            ToolChoice("auto", None, ("get_tide",)),
            True,
        ),
        ("messages", {"type": "none"}, NONE, True),
        ("messages", {"type": "auto"}, AUTO, True),
        ("messages", {"type": "any"}, REQUIRED, True),
        ("messages", {"type": "any", "disable_parallel_tool_use": True}, REQUIRED, False),
        ("messages", {"type": "tool", "name": "get_tide"}, ONE, True),
        ("messages", ..., AUTO, True),
    ],
)  # fmt: skip
def test_every_shape_of_a_tool_choice(kind: adapters.Kind, said: Any, choice: ToolChoice, parallel: bool) -> None:
    tools = [tool(kind, name) for name in ALL]
    request = adapters.request(kind, body(kind, tools=tools, tool_choice=said), model_format=QWEN)
    assert (request.choice, request.parallel) == (choice, parallel)
    wanted = {"none": (), "auto": ALL, "required": ALL, "named": ALL}[choice.mode]
    names = wanted if choice.allowed is None else choice.allowed
    assert request.tools.names == names
    assert [entry["function"]["name"] for entry in request.template_tools] == list(names)
    reads = {"none": "qwen3", "auto": "qwen3", "required": "required", "named": "forced:get_tide"}
    assert (request.format.name, request.model_format) == (reads[choice.mode], QWEN)


@each_kind
def test_an_output_that_a_tool_choice_constrains_is_read_as_such_where_the_engine_keeps_to_it(
    kind: adapters.Kind,
) -> None:
    named = {
        "chat": {"type": "function", "function": {"name": "get_tide"}},
        "responses": {"type": "function", "name": "get_tide"},
        "messages": {"type": "tool", "name": "get_tide"},
    }[kind]
    request = adapters.request(kind, body(kind, tools=[tool(kind)], tool_choice=named), model_format=QWEN)
    assert request.constraint == Constraint("tool_choice", SCHEMA)
    guided, plain = request.engine("vllm"), request.engine("plain")
    assert guided.fields["structured_outputs"] == {"json": SCHEMA}
    parser = request.parser(format=guided.format)
    events = parser.feed('{"port": "Cork"}') + parser.finish("stop")
    assert [event.name for event in events if isinstance(event, CallStart)] == ["get_tide"]
    assert plain.format is QWEN
    assert "structured_outputs" not in plain.fields


@each_kind
def test_a_required_call_is_a_list_whose_schema_only_the_tools_satisfy(kind: adapters.Kind) -> None:
    import jsonschema_rs

    said = {"type": "any"} if kind == "messages" else "required"
    request = adapters.request(kind, body(kind, tools=[tool(kind)], tool_choice=said), model_format=QWEN)
    assert request.constraint is not None
    schema = dict(request.constraint.schema or {})
    for value, valid in (
        ([{"name": "get_tide", "parameters": {"port": "Cork"}}], True),
        ([{"name": "get_tide", "parameters": {"port": 1}}], False),
        ([{"name": "other", "parameters": {"port": "Cork"}}], False),
        ([], False),
    ):
        assert jsonschema_rs.is_valid(schema, value) is valid


@each_kind
def test_a_required_call_keeps_the_definitions_of_each_tool_apart(kind: adapters.Kind) -> None:
    import jsonschema_rs

    def pointing(name: str, type: str) -> dict[str, Any]:
        declared = tool(kind, name)
        outer = declared["function"] if kind == "chat" else declared
        outer["input_schema" if kind == "messages" else "parameters"] = {
            "type": "object",
            "properties": {"at": {"$ref": "#/$defs/Place"}, "in": {"$ref": "#"}, "default": {"$ref": "#/$defs/Place"}},
            "additionalProperties": False,
            "$defs": {"Place": {"type": type, "examples": [{"$ref": "#/none"}]}},
        }
        return declared

    said = {"type": "any"} if kind == "messages" else "required"
    tools = [pointing("get_tide", "string"), tool(kind, "plain"), pointing("open_door", "integer")]
    request = adapters.request(kind, body(kind, tools=tools, tool_choice=said), model_format=QWEN)
    assert request.constraint is not None
    schema = dict(request.constraint.schema or {})
    for name, parameters, valid in (
        ("get_tide", {"at": "Cork", "in": {"at": "Cobh"}, "default": "x"}, True),
        ("get_tide", {"at": 1}, False),
        ("get_tide", {"in": {"at": 1}}, False),
        ("get_tide", {"default": 1}, False),
        ("open_door", {"at": 1, "in": {"at": 2}}, True),
        ("open_door", {"at": "Cork"}, False),
        ("plain", {"port": "Cork"}, True),
    ):
        assert jsonschema_rs.is_valid(schema, [{"name": name, "parameters": parameters}]) is valid


@pytest.mark.parametrize(
    ("kind", "fields", "schema"),
    [
        ("chat", {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}}, SCHEMA),
        ("chat", {"response_format": {"type": "json_object"}}, None),
        ("responses", {"text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}}, SCHEMA),
        ("messages", {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}, SCHEMA),
    ],
)
def test_a_structured_output_is_a_constraint_unless_the_model_may_call(
    kind: adapters.Kind, fields: dict[str, Any], schema: Any
) -> None:
    request = adapters.request(kind, body(kind, **fields), model_format=QWEN)
    assert request.constraint == Constraint("output", schema)
    assert request.format is QWEN
    assert request.engine("llama.cpp").fields["json_schema"] == (schema or {"type": "object"})
    assert json.loads(request.engine("sglang").fields["json_schema"]) == (schema or {"type": "object"})
    assert adapters.request(kind, body(kind, **fields, tools=[tool(kind)]), model_format=QWEN).constraint is None


# -------------------------------------------------------------------------------------------------- engines


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama.cpp", "trtllm", "plain"])
def test_an_engine_is_asked_for_all_that_the_request_wants_and_for_its_special_tokens(kind: str) -> None:
    request = adapters.request(
        "chat",
        body("chat", n=2, stop="END", max_tokens=9, stream=True, logprobs=True, top_logprobs=2, temperature=0.5),
        model_format=formats.load("harmony"),
    )
    engine = request.engine(kind)
    fields = engine.fields
    assert (fields["stream"], fields["n"], fields["stop"], fields["temperature"]) == (True, 2, ["END"], 0.5)
    assert fields["n_predict" if kind == "llama.cpp" else "max_tokens"] == 9
    assert fields["n_probs" if kind == "llama.cpp" else "logprobs"] == 2
    if kind in ("vllm", "sglang", "trtllm"):
        assert fields["skip_special_tokens"] is False
    if kind == "llama.cpp":
        assert "<|channel|>" in fields["preserved_tokens"]
    else:
        assert fields["stream_options"] == {"include_usage": True}
    assert engine.late_usage is (kind != "llama.cpp")
    assert engine.format.name == "harmony"


def test_an_unknown_engine_is_named_with_those_that_there_are() -> None:
    request = adapters.request("chat", body("chat"))
    with pytest.raises(ValueError, match=r"no engine of kind 'vLLM': one of vllm, sglang, llama\.cpp, trtllm, plain"):
        request.engine("vLLM")


# -------------------------------------------------------------------------------------------------- prefill


def test_a_prefill_is_read_as_the_models_own_and_said_once() -> None:
    text = '<tool_call>\n{"name": "get_tide", "arguments": {"po'
    messages = [*ASK, {"role": "assistant", "content": text}]
    request = adapters.request(
        "chat", body("chat", messages=messages, tools=[tool("chat")], continue_final_message=True), model_format=QWEN
    )
    assert request.prefill == text
    for prompt in (f"<|im_start|>assistant\n{text}", "<|im_start|>assistant\n", ""):
        parser = request.parser(prompt)
        events = parser.feed('rt": "Cork"}}\n</tool_call>') + parser.finish("stop")
        whole = adapters.whole("chat", events, request.envelope("c_1", 0), request.options())
        (call,) = whole["choices"][0]["message"]["tool_calls"]
        assert call["function"] == {"name": "get_tide", "arguments": '{"port": "Cork"}'}


def test_an_empty_last_turn_of_messages_leaves_the_answer_to_begin() -> None:
    request = adapters.request("messages", body("messages", messages=[*ASK, {"role": "assistant", "content": ""}]))
    assert request.prefill == ""
    assert request.template() == {"messages": ASK, "add_generation_prompt": True}


@pytest.mark.parametrize(
    ("kind", "fields", "param"),
    [
        ("chat", {"continue_final_message": True}, "messages[0]"),
        ("chat", {"continue_final_message": True, "add_generation_prompt": True}, "continue_final_message"),
        (
            "messages",
            {
                "messages": [
                    *ASK,
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]},
                ]
            },
            "messages[1]",
        ),
        ("messages", {"messages": [*ASK, {"role": "assistant", "content": [THOUGHT]}]}, "messages[1]"),
        (
            "messages",
            {
                "messages": [*ASK, {"role": "assistant", "content": "Sure"}],
                "tools": [tool("messages")],
                "tool_choice": {"type": "any"},
            },
            "messages[1]",
        ),
        (
            "messages",
            {
                "messages": [*ASK, {"role": "assistant", "content": "{"}],
                "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
            },
            "messages[1]",
        ),
        (
            "chat",
            {
                "messages": [*ASK, {"role": "assistant", "content": "Sure"}],
                "continue_final_message": True,
                "tools": [tool("chat")],
                "tool_choice": "required",
            },
            "continue_final_message",
        ),
    ],
)
def test_what_cannot_be_continued_is_refused(kind: adapters.Kind, fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        adapters.request(kind, body(kind, **fields), model_format=QWEN)
    assert caught.value.param == param


# --------------------------------------------------------------------------------------------- bad requests

BAD: list[tuple[Any, dict[str, Any], str, str]] = [
    (KINDS, {"model": ...}, "model", "model: expected a string, got nothing"),
    (KINDS, {"model": 3}, "model", "model: expected a string, got 3"),
    (KINDS, {"stream": "yes"}, "stream", "stream: expected true or false, got 'yes'"),
    (KINDS, {"tools": "x"}, "tools", "tools: a list of tools is expected here"),
    (KINDS, {"tools": [3]}, "tools[0]", "tools[0]: an object is expected here, not 3"),
    (("chat", "messages"), {"messages": ...}, "messages", "messages: expected at least one message"),
    (("chat", "messages"), {"messages": []}, "messages", "messages: expected at least one message"),
    (("chat", "messages"), {"messages": "hi"}, "messages", "messages: expected a list, got 'hi'"),
    (("chat", "messages"), {"messages": ["hi"]}, "messages[0]", "messages[0]: expected an object, got 'hi'"),
    (("chat",), {"messages": [{"role": "robot"}]}, "messages[0].role", "messages[0].role: expected one of developer"),
    (
        ("chat",),
        {"messages": [{"role": "user", "content": 5}]},
        "messages[0].content",
        "messages[0].content: expected a",
    ),
    (
        ("chat",),
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "c"}]}]},
        "messages[0].tool_calls[0].function",
        "messages[0].tool_calls[0].function: expected an object, got nothing",
    ),
    (
        ("chat",),
        {"messages": [{"role": "assistant", "function_call": {"name": "a", "arguments": ""}}]},
        "messages[0].function_call",
        "messages[0].function_call: is not supported; use tool_calls",
    ),
    (
        ("responses",),
        {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}, "tools": [tool("responses")]},
        "tool_choice",
        "tool_choice: a tool call is wanted, but no function is among the allowed tools",
    ),
    (("responses",), {"prompt": {"id": "p"}}, "prompt", "prompt: is not supported; this server keeps no responses"),
    (
        ("responses",),
        {"tool_choice": {"type": "programmatic_tool_calling"}},
        "tool_choice.type",
        "tool_choice.type: 'programmatic_tool_calling' cannot be forced; expected function, custom or allowed_tools",
    ),
    (("chat",), {"n": 0}, "n", "n: expected an integer of 1 to 128, got 0"),
    (("chat",), {"n": True}, "n", "n: expected an integer, got true"),
    (("chat",), {"max_tokens": -1}, "max_tokens", "max_tokens: expected an integer of at least 1, got -1"),
    (("chat",), {"stop": [1]}, "stop[0]", "stop[0]: expected a string, got 1"),
    (("chat", "responses"), {"tool_choice": "required"}, "tool_choice", "tool_choice: a tool call is wanted, but"),
    (("chat", "responses"), {"tool_choice": "any"}, "tool_choice", "tool_choice: expected one of none, auto, required"),
    (("chat",), {"functions": [{}]}, "functions", "functions: is not supported; use tools"),
    (("responses",), {"input": ...}, "input", "input: expected a string or a list of items, got nothing"),
    (("responses",), {"input": [{"type": "x"}]}, "input[0].type", "input[0].type: 'x' items are not supported"),
    (("responses",), {"previous_response_id": "r"}, "previous_response_id", "previous_response_id: is not supported"),
    (
        ("messages",),
        {"messages": [{"role": "assistant", "content": ""}]},
        "messages",
        "messages: expected at least one message",
    ),
    (("messages",), {"max_tokens": ...}, "max_tokens", "max_tokens: expected an integer of at least 1, got nothing"),
    (("messages",), {"tool_choice": {"type": "any"}}, "tool_choice", "tool_choice: a tool call is wanted, but"),
    (("messages",), {"tool_choice": "auto"}, "tool_choice", "tool_choice: expected an object, got 'auto'"),
]


@pytest.mark.parametrize(("kind", "fields", "param", "told"), [(kind, *rest) for kinds, *rest in BAD for kind in kinds])
def test_a_bad_request_is_answered_in_the_apis_own_words(
    kind: adapters.Kind, fields: dict[str, Any], param: str, told: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        adapters.request(kind, body(kind, **fields), model_format=QWEN)
    error = caught.value
    assert (error.status, error.param) == (400, param)
    said = error.body["error"]
    assert said["message"].startswith(told)
    assert said["type"] == "invalid_request_error"
    if kind == "messages":
        assert error.body.keys() == {"type", "error"}
    else:
        assert (said["param"], said["code"]) == (param, None)


@each_kind
@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_a_body_that_is_no_object_is_a_bad_request(kind: adapters.Kind, value: Any) -> None:
    with pytest.raises(BadRequest, match="the request's body: expected an object"):
        adapters.request(kind, value)


@each_kind
def test_a_tool_choice_that_names_no_tool_says_which_there_are(kind: adapters.Kind) -> None:
    choice = {"type": "tool", "name": "x"} if kind == "messages" else {"type": "function", "name": "x"}
    with pytest.raises(BadRequest, match="names 'x', which is not among tools: get_tide"):
        adapters.request(kind, body(kind, tools=[tool(kind)], tool_choice=choice), model_format=QWEN)


@each_kind
def test_a_model_of_no_known_format_is_not_found(kind: adapters.Kind) -> None:
    with pytest.raises(BadRequest, match="no table is known") as caught:
        adapters.request(kind, body(kind, model="acme/unheard-of"))
    assert caught.value.status == 404
    assert caught.value.body["error"]["type"] == "not_found_error"


def test_the_gateways_own_mistakes_are_no_bad_requests() -> None:
    with pytest.raises(ValueError, match="no adapter named 'completions': one of chat, responses, messages"):
        adapters.request("completions", {})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a Format, got 'hermes'"):
        adapters.request("chat", body("chat"), model_format="hermes")  # type: ignore[arg-type]
    with pytest.raises(FormatError):
        formats.load("unheard-of")


STATUSES = [400, 401, 403, 404, 413, 429, 500, 503, 529]


@pytest.mark.parametrize("status", STATUSES)
def test_real_clients_raise_what_they_raise_for_the_apis_own_errors(status: int) -> None:
    raised: list[Any] = []

    def answer(path: str, _body: bytes) -> tuple[int, dict[str, Any]]:
        error = adapters.error("messages" if path.endswith("messages") else "chat", "Not like this.", status=status)
        return error.status, error.body

    with clients(answer) as (one, two):
        for call in (
            lambda: one.chat.completions.create(model="m", messages=ASK),
            lambda: two.messages.create(model="m", max_tokens=1, messages=ASK),
        ):
            with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
                call()
            raised.append(caught.value)
    assert all("Not like this." in str(error) and error.status_code == status for error in raised)


@each_kind
def test_an_error_may_end_a_stream_that_has_begun(kind: adapters.Kind) -> None:
    data = adapters.error(kind, "The engine is gone.", status=502).frame
    assert data.endswith(b"\n\n")
    lines = data.decode().strip().split("\n")
    assert (lines[0] == "event: error") is (kind != "chat")
    assert "The engine is gone." in lines[-1]
    with pytest.raises(ValueError, match="an error's is 400 to 599"):
        adapters.error(kind, "", status=200)


def test_a_request_is_a_value_of_its_own() -> None:
    request = adapters.request("chat", body("chat"))
    assert isinstance(request, Request)
    with pytest.raises(AttributeError):
        request.model = "x"  # type: ignore[misc]


# ------------------------------------------------------------------------------------------- strangers' bodies

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
)
FULL: dict[str, dict[str, Any]] = {
    "chat": body(
        "chat",
        tools=[tool("chat"), {"type": "custom", "custom": {"name": "note"}}],
        tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [tool("chat")]}},
        response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
        messages=[*ASK, {"role": "assistant", "content": [{"type": "text", "text": "The"}], "tool_calls": []}],
        continue_final_message=True,
        stream=True,
        stream_options={"include_usage": True},
        stop=["a"],
        n=2,
        logprobs=True,
        top_logprobs=2,
        chat_template_kwargs={"enable_thinking": False},
    ),
    "responses": body(
        "responses",
        tools=[tool("responses"), {"type": "namespace", "name": "crm", "tools": [tool("responses", "find")]}],
        tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [TIDE]},
        text={"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}},
        reasoning={"effort": "low", "summary": "auto"},
        input=[
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "?"}, {"type": "input_image", "image_url": "u"}],
            },
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]},
            {"type": "function_call", "call_id": "c", "name": "find", "namespace": "crm", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "b"}]},
        ],
        include=["message.output_text.logprobs"],
    ),
    "messages": body(
        "messages",
        tools=[tool("messages")],
        tool_choice={"type": "tool", "name": "get_tide", "disable_parallel_tool_use": True},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        thinking={"type": "enabled", "budget_tokens": 1024},
        system=[NOON],
        messages=[
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {"c": [1]}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [NOON]}]},
            {"role": "assistant", "content": "T"},
        ],
        stop_sequences=["a"],
    ),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [path, *(place for key in keys for place in places(value[key], (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def answered(kind: adapters.Kind, said: Any) -> None:
    """A request that can be run, or one bad request with a place in the body."""
    try:
        request = adapters.request(kind, said, model_format=QWEN)
    except BadRequest as bad:
        json.dumps(bad.body)
        return
    request.template()
    request.parser()
    for engine in ("vllm", "sglang", "llama.cpp", "trtllm", "plain"):
        assert request.engine(engine).format is not None
    adapters.stream(kind, request.envelope("r", 0), request.options()).frames()


@each_kind
@settings(max_examples=150)
@given(data=st.data())
def test_whatever_stands_in_a_body_is_answered(kind: adapters.Kind, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(FULL[kind])))
    answered(kind, changed(FULL[kind], path, data.draw(JSON)))


@each_kind
@pytest.mark.parametrize("depth", [150, 950])
def test_whatever_is_nested_however_deep_is_answered(kind: adapters.Kind, depth: int) -> None:
    for path in places(FULL[kind]):
        for make in (lambda deep: [deep], lambda deep: {"a": deep}):
            deep: Any = 1
            for _ in range(depth):
                deep = make(deep)
            answered(kind, changed(FULL[kind], path, deep))
