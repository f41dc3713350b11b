"""The Starlette example, run as a reader would and talked to by the real clients."""

from __future__ import annotations

import ast
import math
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic
import httpx
import openai
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = "Qwen/Qwen3-8B"
SCHEMA = {
    "type": "object",
    "properties": {"port": {"type": "string"}, "day": {"type": "integer"}},
    "required": ["port"],
    "additionalProperties": False,
}
CHAT: list[Any] = [{"type": "function", "function": {"name": "get_tide", "parameters": SCHEMA}}]
RESPONSES: list[Any] = [{"type": "function", "name": "get_tide", "parameters": SCHEMA}]
MESSAGES: list[Any] = [{"name": "get_tide", "input_schema": SCHEMA}]


def ask(word: str) -> list[Any]:
    return [{"role": "user", "content": f"Please say {word}"}]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    uvicorn = pytest.importorskip("uvicorn", reason="the Starlette example needs starlette and uvicorn")
    pytest.importorskip("starlette", reason="the Starlette example needs starlette and uvicorn")
    sys.path.insert(0, str(EXAMPLES))
    try:
        import starlette_gateway
    finally:
        sys.path.remove(str(EXAMPLES))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(starlette_gateway.app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture(scope="module")
def gpt(url: str) -> Iterator[openai.OpenAI]:
    http = openai.DefaultHttpxClient(trust_env=False)
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, http_client=http) as client:
        yield client


@pytest.fixture(scope="module")
def claude(url: str) -> Iterator[anthropic.Anthropic]:
    http = anthropic.DefaultHttpxClient(trust_env=False)
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, http_client=http) as client:
        yield client


def completion(gpt: openai.OpenAI, word: str, *, stream: bool, **fields: Any) -> Any:
    """The completion, whole or as the client accumulates it."""
    said: dict[str, Any] = {"model": MODEL, "messages": ask(word), "tools": CHAT, **fields}
    if not stream:
        return gpt.chat.completions.create(**said)
    with gpt.chat.completions.stream(**said, stream_options={"include_usage": True}) as events:
        return events.get_final_completion()


def response(gpt: openai.OpenAI, word: str, *, stream: bool, **fields: Any) -> Any:
    said: dict[str, Any] = {"model": MODEL, "input": ask(word), "tools": RESPONSES, **fields}
    if not stream:
        return gpt.responses.create(**said)
    (*_, last) = gpt.responses.create(**said, stream=True)
    return last.response


def message(claude: anthropic.Anthropic, word: str, *, stream: bool, **fields: Any) -> Any:
    said: dict[str, Any] = {"model": MODEL, "max_tokens": 99, "messages": ask(word), "tools": MESSAGES, **fields}
    if not stream:
        return claude.messages.create(**said)
    with claude.messages.stream(**said) as events:
        return events.get_final_message()


streamed_and_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@streamed_and_whole
def test_text_and_usage(gpt: openai.OpenAI, claude: anthropic.Anthropic, stream: bool) -> None:
    text = "Hello! How can I help?"
    chat = completion(gpt, "hello", stream=stream)
    assert (chat.choices[0].message.content, chat.choices[0].finish_reason) == (text, "stop")
    assert chat.usage.completion_tokens == 4
    assert chat.usage.prompt_tokens > 10
    said = response(gpt, "hello", stream=stream)
    assert (said.output_text, said.status, said.usage.output_tokens) == (text, "completed", 4)
    told = message(claude, "hello", stream=stream)
    assert (told.content[0].text, told.stop_reason, told.usage.output_tokens) == (text, "end_turn", 4)


@streamed_and_whole
def test_a_call_and_two_at_once(gpt: openai.OpenAI, claude: anthropic.Anthropic, stream: bool) -> None:
    wanted = '{"port": "Cork", "day": 3}'
    choice = completion(gpt, "tide", stream=stream).choices[0]
    assert [call.function.arguments for call in choice.message.tool_calls] == [wanted]
    assert choice.finish_reason == "tool_calls"
    said = response(gpt, "tide", stream=stream)
    assert [item.arguments for item in said.output if item.type == "function_call"] == [wanted]
    told = message(claude, "tide", stream=stream)
    assert [block.input for block in told.content if block.type == "tool_use"] == [{"port": "Cork", "day": 3}]
    assert told.stop_reason == "tool_use"
    both = message(claude, "both", stream=stream)
    assert [block.input["port"] for block in both.content] == ["Cork", "Kiel"]
    one = message(claude, "both", stream=stream, tool_choice={"type": "auto", "disable_parallel_tool_use": True})
    assert [block.input["port"] for block in one.content] == ["Cork"]


@streamed_and_whole
def test_two_choices(gpt: openai.OpenAI, stream: bool) -> None:
    chat = completion(gpt, "tide", stream=stream, n=2)
    assert [choice.finish_reason for choice in chat.choices] == ["tool_calls", "stop"]
    assert chat.choices[1].message.content == "The tide turns at noon."
    ids = [call.id for choice in chat.choices for call in choice.message.tool_calls or []]
    assert len(set(ids)) == 1
    texts = ['Let me look. <tool_call>\n{"name": "get_tide", "arguments": {"port": "Cork", "day": 3}}\n</tool_call>']
    texts.append("The tide turns at noon.")
    assert chat.usage.completion_tokens == sum(math.ceil(len(text) / 7) for text in texts)


@streamed_and_whole
def test_a_named_function(gpt: openai.OpenAI, claude: anthropic.Anthropic, stream: bool) -> None:
    named = {"type": "function", "function": {"name": "get_tide"}}
    choice = completion(gpt, "forced", stream=stream, tool_choice=named).choices[0]
    assert [call.function.arguments for call in choice.message.tool_calls] == ['{"port": "Cork"}']
    said = response(gpt, "forced", stream=stream, tool_choice={"type": "function", "name": "get_tide"})
    assert [item.name for item in said.output] == ["get_tide"]
    told = message(claude, "forced", stream=stream, tool_choice={"type": "tool", "name": "get_tide"})
    assert [block.input for block in told.content] == [{"port": "Cork"}]


@streamed_and_whole
def test_no_tools_are_called_where_none_may_be(gpt: openai.OpenAI, stream: bool) -> None:
    choice = completion(gpt, "tide", stream=stream, tool_choice="none").choices[0]
    assert not choice.message.tool_calls
    assert "<tool_call>" in choice.message.content


@streamed_and_whole
def test_a_call_that_the_schema_refuses_is_no_call(
    gpt: openai.OpenAI, claude: anthropic.Anthropic, stream: bool
) -> None:
    if stream:  # openai's stream helper raises for what did not end by itself
        with pytest.raises(openai.LengthFinishReasonError):
            completion(gpt, "wrong", stream=True)
    else:
        choice = completion(gpt, "wrong", stream=False).choices[0]
        (refused,) = choice.model_extra["refused_calls"]
        assert (refused["name"], refused["code"]) == ("get_tide", "STREAM-GRAMMAR")
        assert (choice.finish_reason, choice.message.tool_calls) == ("length", None)
    said = response(gpt, "wrong", stream=stream)
    assert not [item for item in said.output if item.type == "function_call" and item.status == "completed"]
    assert said.status == "incomplete"
    told = message(claude, "wrong", stream=stream)
    assert told.stop_reason == "max_tokens"
    if not stream:
        assert [block.type for block in told.content] == ["text"]


@streamed_and_whole
def test_an_output_that_was_cut(gpt: openai.OpenAI, claude: anthropic.Anthropic, stream: bool) -> None:
    completed = response(gpt, "cut", stream=stream)
    assert (completed.status, completed.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert message(claude, "cut", stream=stream).stop_reason == "max_tokens"
    if not stream:  # openai's stream helper raises for a length of its own accord
        choice = completion(gpt, "cut", stream=False).choices[0]
        assert (choice.finish_reason, choice.message.tool_calls) == ("length", None)


@streamed_and_whole
def test_reasoning(claude: anthropic.Anthropic, stream: bool) -> None:
    told = message(claude, "think", stream=stream)
    assert [block.type for block in told.content] == ["thinking", "text"]
    assert told.content[0].thinking == "The moon, I suppose."


def test_a_prefill_is_continued(claude: anthropic.Anthropic) -> None:
    messages = [*ask("tide"), {"role": "assistant", "content": "Well. "}]
    told = claude.messages.create(model=MODEL, max_tokens=9, messages=messages, tools=MESSAGES)
    assert told.content[0].type == "text"
    assert told.content[0].text == "Let me look. "


def test_bad_requests(gpt: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    with pytest.raises(openai.BadRequestError, match="n: expected an integer of 1 to 128") as caught:
        completion(gpt, "hello", stream=False, n=1000)
    assert caught.value.param == "n"
    with pytest.raises(openai.NotFoundError, match="no table is known"):
        gpt.responses.create(model="acme/unheard-of", input="?")
    with pytest.raises(anthropic.BadRequestError, match="names 'get_wind', which is not among tools"):
        message(claude, "hello", stream=False, tool_choice={"type": "tool", "name": "get_wind"})


def test_a_schema_that_is_none_and_a_body_that_is_no_json(url: str, gpt: openai.OpenAI) -> None:
    tools: list[Any] = [{"type": "function", "function": {"name": "a", "parameters": {"type": "objekt"}}}]
    for stream in (True, False):
        with pytest.raises(openai.BadRequestError, match="tool 'a'"):
            completion(gpt, "hello", stream=stream, tools=tools)
    answer = httpx.post(f"{url}/v1/responses", content=b"{", trust_env=False)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_an_engine_that_went_away(gpt: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    with pytest.raises(openai.InternalServerError):
        completion(gpt, "crash", stream=False)
    with pytest.raises(anthropic.InternalServerError):
        message(claude, "crash", stream=False)
    with pytest.raises(openai.APIError):
        completion(gpt, "crash", stream=True)
    with pytest.raises(anthropic.APIStatusError):
        message(claude, "crash", stream=True)
    assert response(gpt, "crash", stream=True).status == "failed"


def test_the_readers_own_code_is_no_more_than_sixty_lines() -> None:
    source = (EXAMPLES / "starlette_gateway.py").read_text(encoding="utf-8")
    words: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            words |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = [line.strip() for number, line in enumerate(source.split("\n"), 1) if number not in words]
    assert len([line for line in lines if line and not line.startswith("#")]) <= 60
