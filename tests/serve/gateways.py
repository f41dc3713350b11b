"""Gateways and the demonstration's engine on loopback, in a thread of their own, and what the tests ask them."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anthropic
import openai

from gateway_args.serve import Settings, app
from gateway_args.serve.demo import TOOLS
from gateway_args.serve.demo import app as demo_app
from gateway_args.serve.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.applications import Starlette

CHAT: list[Any] = [
    {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in TOOLS.items()
]
RESPONSES: list[Any] = [{"type": "function", "name": name, "parameters": schema} for name, schema in TOOLS.items()]
MESSAGES: list[Any] = [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()]
BOATS = {"pier": "Quay 4", "seats": 2}
HEATER = {"room": "cabin", "celsius": 19.5, "on": True}
QWEN = "Qwen/Qwen3-8B"


class Running:
    """A gateway in front of an engine, both served."""

    def __init__(self, url: str, upstream: str, gateway: Any, engine: Any) -> None:
        self.url = url
        self.upstream = upstream
        self.gateway = gateway
        self.engine = engine

    @contextmanager
    def clients(self, key: str = "none") -> Iterator[tuple[openai.OpenAI, anthropic.Anthropic]]:
        one = openai.DefaultHttpxClient(trust_env=False)
        two = anthropic.DefaultHttpxClient(trust_env=False)
        with (
            openai.OpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0, http_client=one, timeout=30) as gpt,
            anthropic.Anthropic(base_url=self.url, api_key=key, max_retries=0, http_client=two, timeout=30) as claude,
        ):
            yield gpt, claude


@contextmanager
def served(
    settings: Settings | None = None, *, engine: Starlette | None = None, kind: str = "vllm", **demo: Any
) -> Iterator[Running]:
    """A gateway with these settings in front of this engine, by default the demonstration's."""
    upstream = engine or demo_app(kind, **demo)
    ready, stop = threading.Event(), threading.Event()
    found: list[Any] = []

    async def run() -> None:
        async with AsyncExitStack() as stack:
            behind = await stack.enter_async_context(running(upstream))
            made = app(replace(settings or Settings(), upstream=behind, engine=(settings or Settings()).engine))
            url = await stack.enter_async_context(running(made))
            found.extend((url, behind, made.state.gateway))
            ready.set()
            while not stop.is_set():
                await asyncio.sleep(0.02)

    errors: list[BaseException] = []

    def main() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            errors.append(error)
            ready.set()

    thread = threading.Thread(target=main)
    thread.start()
    ready.wait(20)
    if errors:
        raise errors[0]
    try:
        yield Running(*found, getattr(upstream.state, "engine", None))
    finally:
        stop.set()
        thread.join(20)
        assert not thread.is_alive()


def ask(word: str) -> list[Any]:
    return [{"role": "user", "content": f"Please say {word}"}]
