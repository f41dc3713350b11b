"""The real clients over HTTP: what their own accumulators say is our `Reading`.

The streams are written by hand so that each shape which peers get wrong is there by name; they arrive a few bytes at
a time. (Every corpus goes through the same accumulators, without HTTP, in `test_adapters_corpora.py`.)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest
from client_streams import NAMES, STREAMS
from loopback import Server, serving

from gateway_args import adapters
from gateway_args.adapters import Envelope, Options, Usage, framing
from gateway_args.events import Content, Event, Finish
from gateway_args.reading import Reading, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

ASK: Any = [{"role": "user", "content": "?"}]
each_stream = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def chat_client(server: Server) -> Iterator[openai.OpenAI]:
    http = openai.DefaultHttpxClient(trust_env=False)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, http_client=http) as client:
        yield client


@pytest.fixture(scope="module")
def messages_client(server: Server) -> Iterator[anthropic.Anthropic]:
    http = anthropic.DefaultHttpxClient(trust_env=False)
    with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, http_client=http) as client:
        yield client


def served(server: Server, kind: adapters.Kind, name: str, options: Options | None = None) -> tuple[str, Reading]:
    """Lay the stream down; the model to ask for, and what its client is to read."""
    envelope = Envelope(f"{kind}_{NAMES.index(name)}", name, 1_700_000_000, Usage(prompt_tokens=4))
    events = STREAMS[name]
    return server.stream(name, b"".join(adapters.sse(kind, events, envelope, options))), fold(events)


def calls_of(reading: Reading) -> list[tuple[str, str]]:
    return [(entry.name, entry.arguments) for entry in reading.calls]


@each_stream
def test_openai_reads_the_raw_chat_stream(server: Server, chat_client: openai.OpenAI, name: str) -> None:
    model, reading = served(server, "chat", name)
    content, thought, finish, calls = "", "", None, {}
    with chat_client.chat.completions.create(model=model, messages=ASK, stream=True) as stream:
        for chunk in stream:
            (choice,) = chunk.choices
            content += choice.delta.content or ""
            thought += (choice.delta.model_extra or {}).get("reasoning_content", "")
            finish = choice.finish_reason or finish
            for piece in choice.delta.tool_calls or []:
                assert piece.function is not None
                if piece.index not in calls:
                    assert piece.id
                    calls[piece.index] = [piece.function.name, ""]
                calls[piece.index][1] += piece.function.arguments
    assert reading.finish is not None
    assert (content, thought, finish) == (reading.content, reading.reasoning, reading.finish.reason)
    assert [tuple(calls[index]) for index in sorted(calls)] == calls_of(reading)


@each_stream
def test_openais_chat_stream_helper_accumulates_the_reading(
    server: Server, chat_client: openai.OpenAI, name: str
) -> None:
    model, reading = served(server, "chat", name, Options(include_usage=True))
    done = []
    with chat_client.chat.completions.stream(model=model, messages=ASK) as stream:
        for event in stream:
            if event.type == "tool_calls.function.arguments.done":
                done.append((event.name, event.arguments))
        try:
            completion = stream.get_final_completion()
        except openai.LengthFinishReasonError as cut:  # how this helper hands over a completion that was cut
            assert name == "cut by the token limit"
            completion = cut.completion  # type: ignore[assignment]
    message = completion.choices[0].message
    assert (message.content or "") == reading.content
    assert done == calls_of(reading)
    assert [(c.function.name, c.function.arguments) for c in message.tool_calls or []] == calls_of(reading)
    assert completion.usage is not None
    assert completion.usage.prompt_tokens == 4


@each_stream
def test_openais_response_stream_accumulates_the_reading(server: Server, chat_client: openai.OpenAI, name: str) -> None:
    model, reading = served(server, "responses", name)
    grown: dict[int, str] = {}
    with chat_client.responses.stream(model=model, input="?") as stream:
        for event in stream:
            if event.type == "response.function_call_arguments.delta":
                grown[event.output_index] = event.snapshot
        assert reading.finish is not None
        whole = reading.finish.reason != "length"
        said = stream.get_final_response() if whole else event.response  # type: ignore[union-attr]
    assert said.status == ("completed" if whole else "incomplete")
    assert said.output_text == reading.content
    calls = [item for item in said.output if item.type == "function_call"]
    assert [(item.name, item.arguments) for item in calls] == calls_of(reading)
    assert [item.status == "completed" for item in calls] == [entry.complete for entry in reading.calls]
    assert list(grown.values()) == [item.arguments for item in calls]
    thoughts = [item.content for item in said.output if item.type == "reasoning"]
    assert "".join(part.text for parts in thoughts for part in parts or []) == reading.reasoning


@each_stream
def test_anthropics_message_stream_accumulates_the_reading(
    server: Server, messages_client: anthropic.Anthropic, name: str
) -> None:
    model, reading = served(server, "messages", name)
    pieces: dict[int, str] = {}
    thought, index = "", -1
    with messages_client.messages.stream(model=model, max_tokens=9, messages=ASK) as stream:
        for event in stream:
            match event.type:
                case "content_block_start":
                    index = event.index
                case "input_json":
                    pieces[index] = pieces.get(index, "") + event.partial_json
                case "thinking":
                    thought += event.thinking
        said = stream.get_final_message()
    text = "".join(block.text for block in said.content if block.type == "text")
    assert (text, thought) == (reading.content, reading.reasoning)
    uses = [block for block in said.content if block.type == "tool_use"]
    assert [(block.name, pieces[said.content.index(block)]) for block in uses] == calls_of(reading)
    for block, entry in zip(uses, reading.calls, strict=True):
        if entry.complete:
            assert block.input == json.loads(entry.arguments)
    assert reading.finish is not None
    reasons = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
    assert said.stop_reason == reasons[reading.finish.reason]
    assert said.usage.input_tokens == 4


@each_stream
def test_the_clients_read_the_whole_message_as_they_read_the_stream(
    server: Server, chat_client: openai.OpenAI, messages_client: anthropic.Anthropic, name: str
) -> None:
    reading, events = fold(STREAMS[name]), STREAMS[name]
    envelope = Envelope("whole_1", name, 0)

    server.whole(name, framing.dumps(adapters.whole("chat", events, envelope)))
    message = chat_client.chat.completions.create(model=name, messages=ASK).choices[0].message
    assert (message.content or "") == reading.content
    functions = [entry.function for entry in message.tool_calls or [] if entry.type == "function"]
    whole = [(entry.name, entry.arguments) for entry in reading.calls if entry.complete]
    assert [(function.name, function.arguments) for function in functions] == whole

    server.whole(name, framing.dumps(adapters.whole("responses", events, envelope)))
    response = chat_client.responses.create(model=name, input="?")
    assert response.output_text == reading.content
    items = [item for item in response.output if item.type == "function_call"]
    assert [(item.name, item.arguments) for item in items] == whole

    server.whole(name, framing.dumps(adapters.whole("messages", events, envelope)))
    said = messages_client.messages.create(model=name, max_tokens=9, messages=ASK)
    assert "".join(block.text for block in said.content if block.type == "text") == reading.content
    uses = [(block.name, block.input) for block in said.content if block.type == "tool_use"]
    assert uses == [(entry.name, json.loads(entry.arguments)) for entry in reading.calls if entry.complete]


def test_several_choices_reach_the_client_interleaved(server: Server, chat_client: openai.OpenAI) -> None:
    envelope = Envelope("chat_n", "several", 0)
    bodies = [STREAMS["text"], STREAMS["one call"], STREAMS["thought, text, call"]]
    choices = [adapters.chat.Stream(envelope, choice=index) for index in range(3)]
    data = b"".join(choice.frames() for choice in choices)
    for at in range(max(map(len, bodies))):
        for choice, body in zip(choices, bodies, strict=True):
            data += choice.frames(body[at : at + 1])
    server.stream("several", data + adapters.chat.end(choices))
    with chat_client.chat.completions.stream(model="several", messages=ASK, n=3) as stream:
        completion = stream.get_final_completion()
    for choice, body in zip(completion.choices, bodies, strict=True):
        reading = fold(body)
        assert (choice.message.content or "") == reading.content
        said = [(entry.function.name, entry.function.arguments) for entry in choice.message.tool_calls or []]
        assert said == calls_of(reading)
        assert reading.finish is not None
        assert choice.finish_reason == reading.finish.reason


def test_an_error_of_the_engine_is_the_clients_exception(
    server: Server, chat_client: openai.OpenAI, messages_client: anthropic.Anthropic
) -> None:
    events: list[Event] = [Content("hi"), Finish("error", 0, None)]
    envelope = Envelope("e", "error", 0)
    server.stream("error", b"".join(adapters.sse("chat", events, envelope)))
    with (
        pytest.raises(openai.APIError, match="the engine ended"),
        chat_client.chat.completions.create(model="error", messages=ASK, stream=True) as chunks,
    ):
        list(chunks)
    server.stream("error", b"".join(adapters.sse("responses", events, envelope)))
    with chat_client.responses.stream(model="error", input="?") as stream:
        last = list(stream)[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.code == "server_error"
    server.stream("error", b"".join(adapters.sse("messages", events, envelope)))
    with (
        pytest.raises(anthropic.APIStatusError, match="the engine ended"),
        messages_client.messages.stream(model="error", max_tokens=9, messages=ASK) as said,
    ):
        said.get_final_message()
