"""What goes wrong between a client and an engine: each fault has an honest, well-formed end."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

import httpx
from gateways import BOATS, CHAT, MESSAGES, QWEN, RESPONSES, Running, ask, served
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

from gateway_args.serve import Settings, app
from gateway_args.serve.demo import outputs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

QUICKLY = Settings(engine="vllm", idle_timeout=1.0, total_timeout=3.0, keep_alive=0.1)
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
every_api = pytest.mark.parametrize("api", PATHS)


def body(api: str, word: str, *, stream: bool = True, **fields: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"model": QWEN, "stream": stream, **fields}
    match api:
        case "chat":
            return {"messages": ask(word), "tools": CHAT, **said}
        case "responses":
            return {"input": ask(word), "tools": RESPONSES, **said}
        case _:
            return {"messages": ask(word), "tools": MESSAGES, "max_tokens": 99, **said}


def post(running: Running, api: str, word: str, **fields: Any) -> httpx.Response:
    with httpx.Client(trust_env=False, timeout=30) as client:
        return client.post(running.url + PATHS[api], json=body(api, word, **fields))


def events(response: httpx.Response) -> list[Any]:
    """The objects of an event stream; every line of it has to be one that a client knows."""
    found = []
    for block in response.text.split("\n\n"):
        for line in block.split("\n"):
            if line.startswith("data: "):
                found.append(line[6:] if line == "data: [DONE]" else json.loads(line[6:]))
            else:
                assert not line or line.startswith((":", "event: ")), line
    return found


def failed(api: str, response: httpx.Response) -> bool:
    """Whether this stream ends as its API says that a response failed, and as a whole stream."""
    said = events(response)
    match api:
        case "chat":
            return "error" in said[-2] and said[-1] == "[DONE]"
        case "responses":
            return bool(said[-1]["type"] == "response.failed" and said[-1]["response"]["error"])
        case _:
            return bool(said[-1]["type"] == "error")


def whole_calls(api: str, response: httpx.Response) -> list[str]:
    """The arguments of the calls that a client would run."""
    said = [event for event in events(response) if isinstance(event, dict)]
    match api:
        case "chat":
            reasons = [choice.get("finish_reason") for event in said for choice in event.get("choices", ())]
            return ["a call"] if "tool_calls" in reasons else []
        case "responses":
            return [event["arguments"] for event in said if event["type"] == "response.function_call_arguments.done"]
        case _:
            stops = [event["delta"].get("stop_reason") for event in said if event["type"] == "message_delta"]
            return ["a call"] if "tool_use" in stops else []


@pytest.fixture(scope="module")
def gateway() -> Iterator[Running]:
    with served(QUICKLY) as running:
        yield running


@every_api
@pytest.mark.parametrize("word", ["broken", "error", "die", "stall", "endless", "nofinish"])
def test_a_stream_that_goes_wrong_ends_as_failed_and_calls_nothing(gateway: Running, api: str, word: str) -> None:
    response = post(gateway, api, word)
    assert response.status_code == 200
    assert failed(api, response)
    if word != "nofinish":  # there the call was whole before the stream ended
        assert whole_calls(api, response) == []


@every_api
@pytest.mark.parametrize("word", ["broken", "error", "die", "stall"])
def test_a_whole_answer_that_went_wrong_is_a_bad_gateway(gateway: Running, api: str, word: str) -> None:
    response = post(gateway, api, word, stream=False)
    assert response.status_code == 502
    said = response.json()
    assert said["error"]["message"]


@every_api
@pytest.mark.parametrize(("word", "status"), [("busy", 503), ("refuse", 400)])
@pytest.mark.parametrize("stream", [True, False])
def test_an_engine_that_refuses_is_a_status(gateway: Running, api: str, word: str, status: int, stream: bool) -> None:
    response = post(gateway, api, word, stream=stream)
    assert response.status_code == status
    said = response.json()
    assert said["error"]["message"] in ("no capacity", "this prompt is refused")
    if api == "messages":
        assert said["type"] == "error"


@pytest.fixture(scope="module")
def patient() -> Iterator[Running]:
    """A gateway whose times a busy machine does not run into."""
    with served(Settings(engine="vllm")) as running:
        yield running


@every_api
def test_one_byte_at_a_time_says_the_same(patient: Running, api: str) -> None:
    def said(word: str) -> Any:
        found = post(patient, api, word, stream=False).json()
        text = json.dumps(found.get("choices") or found.get("output") or found.get("content"))
        for id in {part for part in text.split('"') if part.startswith(("call_", "toolu_", "fc_", "msg_"))}:
            text = text.replace(id, "ID")
        return text

    assert said("bytes") == said("boats")
    assert json.dumps(BOATS["pier"]) in said("bytes").replace("\\", "")


@every_api
def test_a_cut_output_is_told_as_cut_and_its_call_is_none(patient: Running, api: str) -> None:
    response = post(patient, api, "length")
    assert not failed(api, response)
    assert whole_calls(api, response) == []
    reasons = json.dumps(events(response)[-3:])
    assert {"chat": '"length"', "responses": "max_output_tokens", "messages": '"max_tokens"'}[api] in reasons


def test_an_engine_that_is_not_there(gateway: Running) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
        response = asked_alone(Settings(upstream=nobody, engine="vllm"), body("chat", "boats"))
    assert response.status_code == 502
    assert "could not be reached" in response.json()["error"]["message"]


def asked_alone(settings: Settings, said: Any, *, transport: Any = None, path: str = PATHS["chat"]) -> httpx.Response:
    """One request to an application that no server runs."""

    async def run() -> httpx.Response:
        inside = httpx.ASGITransport(app(settings, transport=transport))
        async with httpx.AsyncClient(transport=inside, base_url="http://gateway", timeout=30) as client:
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
            return await client.post(path, content=content)

    return anyio.run(run)


def test_the_client_is_told_that_the_stream_lives(gateway: Running) -> None:
    assert ": keep-alive" in post(gateway, "chat", "stall").text


@every_api
def test_a_client_that_leaves_cancels_the_engine(api: str) -> None:
    with served(Settings(engine="vllm")) as gateway, httpx.Client(trust_env=False, timeout=10) as client:
        for stream in (True, False):
            before = gateway.engine.cancelled
            if stream:
                with client.stream("POST", gateway.url + PATHS[api], json=body(api, "endless")) as response:
                    pieces = response.iter_raw()
                    assert next(pieces)
            else:
                with pytest.raises(httpx.ReadTimeout):
                    client.post(gateway.url + PATHS[api], json=body(api, "endless", stream=False), timeout=0.7)
            until(lambda before=before: gateway.engine.cancelled > before and not gateway.engine.running)
            until(lambda: gateway.gateway.running == 0)


def until(holds: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_call_that_never_ends_is_ended_by_its_size() -> None:
    with served(Settings(engine="vllm", max_output=2000)) as gateway:
        response = post(gateway, "chat", "endless")
        assert failed("chat", response)
        until(lambda: gateway.engine.running == 0)
        page = httpx.get(f"{gateway.url}/metrics", trust_env=False).text
        assert 'gateway_args_limits_total{limit="max_output"} 1.0' in page


def test_a_call_that_cannot_be_valid_any_more_stops_the_engine() -> None:
    with served(Settings(engine="vllm", stop_invalid=True), pace=0.005) as gateway:
        response = post(gateway, "chat", "wrong", stream=False)
        (choice,) = response.json()["choices"]
        assert [(call["name"], call["code"]) for call in choice["refused_calls"]] == [("find_boats", "STREAM-GRAMMAR")]
        assert not choice["message"].get("tool_calls")
        until(lambda: gateway.engine.cancelled == 1)
        assert whole_calls("messages", post(gateway, "messages", "wrong")) == []
        assert whole_calls("messages", post(gateway, "messages", "boats")) == ["a call"]


def test_complete_calls_alone_reach_the_client() -> None:
    with served(Settings(engine="vllm", calls="complete")) as gateway:
        assert "tool_calls" not in post(gateway, "chat", "length").text.replace("incomplete", "")
        assert whole_calls("chat", post(gateway, "chat", "boats")) == ["a call"]


def test_undeclared_functions_are_refused_where_asked() -> None:
    only: list[Any] = [tool for tool in CHAT if tool["function"]["name"] == "set_heater"]
    for strict in (True, False):
        with served(Settings(engine="vllm", strict=strict)) as gateway:
            (choice,) = post(gateway, "chat", "boats", stream=False, tools=only).json()["choices"]
            assert bool(choice["message"].get("tool_calls")) is not strict


# ---- bounds


def test_a_body_past_its_bound_is_413_before_it_is_read() -> None:
    for api, path in PATHS.items():
        said = json.dumps(body(api, "boats", metadata={"x": "y" * 5000})).encode()
        response = asked_alone(Settings(upstream="http://127.0.0.1:9", max_body=4000), said, path=path)
        assert response.status_code == 413
        assert "more than 4000 bytes" in response.json()["error"]["message"]


@pytest.mark.parametrize("said", [b"{", b"[1]", b"\xff", b"", b'{"model": 3}', b'{"model": "?"}', b"[" * 100_000])
def test_bad_bodies_have_one_clear_answer(said: bytes) -> None:
    for path in PATHS.values():
        response = asked_alone(Settings(upstream="http://127.0.0.1:9"), said, path=path)
        assert response.status_code in (400, 404)
        assert response.json()["error"]["message"]


def test_more_requests_than_allowed_are_told_to_come_back() -> None:
    with (
        served(Settings(engine="vllm", max_streams=1)) as gateway,
        httpx.Client(trust_env=False, timeout=10) as client,
        client.stream("POST", gateway.url + PATHS["chat"], json=body("chat", "endless")) as first,
    ):
        pieces = first.iter_raw()
        assert next(pieces)
        for api, status in (("chat", 429), ("responses", 429), ("messages", 529)):
            again = post(gateway, api, "boats")
            assert (again.status_code, again.headers["retry-after"]) == (status, "1")


def test_a_line_past_its_bound_ends_the_stream() -> None:
    async def long(_: Any) -> StreamingResponse:
        return StreamingResponse(iter([b"data: " + b"x" * 5000 + b"\n\n"]), media_type="text/event-stream")

    engine = Starlette(routes=[Route("/v1/chat/completions", long, methods=["POST"])])
    with served(Settings(engine="plain", max_line=2000), engine=engine) as gateway:
        assert failed("chat", post(gateway, "chat", "boats"))


def test_a_slow_client_holds_the_engine_back() -> None:
    """Nothing is read ahead: while the client takes nothing, the engine is asked for nothing more."""
    sent, taken = [], 0

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal taken
            while taken < 10_000:
                taken += 1
                await anyio.lowlevel.checkpoint()
                choice = {"index": 0, "delta": {"content": "word "}, "finish_reason": None}
                yield f"data: {json.dumps({'choices': [choice]})}\n\n".encode()

    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Endless()))
    made = app(
        Settings(upstream="http://engine", engine="plain", total_timeout=0.5, idle_timeout=0.5), transport=transport
    )
    content = json.dumps(body("chat", "boats")).encode()

    async def run() -> None:
        parts = [{"type": "http.request", "body": content, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if parts:
                return parts.pop()
            await anyio.sleep_forever()
            return {}

        async def send(message: Any) -> None:
            sent.append(message)
            if len(sent) > 5:
                await anyio.sleep_forever()

        scope = {"type": "http", "method": "POST", "path": PATHS["chat"], "headers": [], "query_string": b""}
        with anyio.move_on_after(1.0):
            await made(scope, receive, send)

    anyio.run(run)
    assert len(sent) == 6
    assert taken <= 10


# ---- keys and logs


def test_keys_are_passed_on_and_nothing_private_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    with served(Settings(engine="vllm"), key="sk-secret-1") as gateway:
        with gateway.clients("sk-secret-1") as (gpt, claude):
            said: Any = {"model": QWEN, "messages": [{"role": "user", "content": "my private question boats"}]}
            assert gpt.chat.completions.create(**said, tools=CHAT).choices[0].message.tool_calls
            assert claude.messages.create(**said, tools=MESSAGES, max_tokens=99).stop_reason == "tool_use"
            assert len(list(gpt.models.list())) == len(outputs())
        with gateway.clients("sk-secret-2") as (gpt, _), pytest.raises(Exception, match="Unauthorized") as caught:
            gpt.chat.completions.create(model=QWEN, messages=ask("boats"))
        assert getattr(caught.value, "status_code", None) == 401
        post(gateway, "chat", "error", stream=True)
    ours = [
        record.getMessage() for record in caplog.records if record.name.startswith(("gateway_args", "uvicorn", "httpx"))
    ]
    assert any("status=200" in line and "calls=1" in line for line in ours)
    for private in ("secret", "private question", "Quay", "find_boats", "out of memory"):
        assert not [line for line in ours if private in line]


def test_a_key_of_the_gateways_own_takes_the_clients_place() -> None:
    with served(Settings(engine="vllm", upstream_key="sk-own"), key="sk-own") as gateway:
        assert post(gateway, "chat", "boats", stream=False).status_code == 200


def test_a_page_of_another_origin_is_refused(gateway: Running) -> None:
    said = json.dumps(body("chat", "hello", stream=False))
    for origin, host, status in (
        (gateway.url, None, 200),
        ("https://example.org", None, 403),
        ("null", None, 403),
        ("http://rebound.example:80", "rebound.example:80", 403),
    ):
        headers = {"origin": origin, "content-type": "text/plain", **({"host": host} if host else {})}
        response = httpx.post(gateway.url + PATHS["chat"], content=said, headers=headers, trust_env=False, timeout=30)
        assert response.status_code == status
        assert "access-control-allow-origin" not in response.headers


def test_the_engines_own_parser_is_told() -> None:
    call = {"index": 0, "id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}

    async def parsed(_: Any) -> StreamingResponse:
        return StreamingResponse(iter([f"data: {json.dumps(chunk)}\n\n".encode()]), media_type="text/event-stream")

    engine = Starlette(routes=[Route("/v1/chat/completions", parsed, methods=["POST"])])
    with served(Settings(engine="plain"), engine=engine) as gateway:
        assert failed("chat", post(gateway, "chat", "boats"))


# ---- many at once


@pytest.mark.full
def test_five_hundred_streams_at_once_within_bounded_memory() -> None:
    content = json.dumps(body("chat", "both")).encode()
    head = f"POST {PATHS['chat']} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(content)}\r\n\r\n"
    peak = 0

    async def one(host: str, port: int, answers: list[bytes]) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(head.encode() + content)
        answers.append(await reader.read())
        writer.close()

    async def run(gateway: Running) -> list[bytes]:
        nonlocal peak
        host, port = gateway.url.removeprefix("http://").split(":")
        answers: list[bytes] = []
        tasks = [asyncio.create_task(one(host, int(port), answers)) for _ in range(500)]
        while not all(task.done() for task in tasks):
            peak = max(peak, gateway.gateway.running)
            await asyncio.sleep(0.02)
        await asyncio.gather(*tasks)
        return answers

    with served(Settings(engine="vllm"), pace=0.1) as gateway:
        post(gateway, "chat", "boats")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answers = asyncio.run(run(gateway))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(answers) == 500
    assert all(answer.startswith(b"HTTP/1.1 200") and b'"tool_calls"}' in answer for answer in answers)
    assert peak == 500
    assert after - before < 300_000  # KiB: the clients, the gateway and the engine of 500 streams
