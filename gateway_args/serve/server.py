"""Running the gateway: uvicorn on a socket of its own, a shutdown that lets streams end, and the demonstration."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from .gateway import app
from .settings import SettingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import FrameType

    from starlette.applications import Starlette

    from .settings import Settings

_BEFORE_THE_END: Final = 1.0
"""Seconds before the grace is over in which running streams are told their end."""


class Server(uvicorn.Server):
    """uvicorn, with the gateway told of a shutdown: streams run on until shortly before the grace is over."""

    def __init__(self, config: uvicorn.Config, gateway: Any = None, grace: float = 0.0) -> None:
        super().__init__(config)
        self.gateway = gateway
        self.grace = grace

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.drain()
        super().handle_exit(sig, frame)

    def drain(self) -> None:
        """No new requests count as healthy from now on, and what runs gets the grace."""
        if self.gateway is not None and self.gateway.draining is None:
            self.gateway.draining = time.monotonic() + max(self.grace - _BEFORE_THE_END, self.grace / 2)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; SettingError says why it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise SettingError(f"listen: {host}:{port}: {error.strerror or error}") from None
    return made


def server(served: Starlette, grace: float = 30.0) -> Server:
    """A server of this application; it logs no access lines, the gateway writes its own."""
    config = uvicorn.Config(
        served,
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=max(int(grace), 1),
        server_header=False,
        date_header=True,
        h11_max_incomplete_event_size=65_536,
    )
    return Server(config, getattr(served.state, "gateway", None), grace)


@asynccontextmanager
async def running(
    served: Starlette, *, host: str = "127.0.0.1", port: int = 0, grace: float = 1.0
) -> AsyncIterator[str]:
    """The application served in this event loop, while the context lasts; its address."""
    listening = bound(host, port)
    made = server(served, grace)
    task = asyncio.create_task(made._serve([listening]))  # `serve` would take the signals from whoever runs this
    try:
        while not made.started and not task.done():
            await asyncio.sleep(0.005)
        if task.done():
            await task
        yield f"http://{host}:{listening.getsockname()[1]}"
    finally:
        made.drain()
        made.should_exit = True
        await task
        listening.close()


async def serve(settings: Settings, *, demo: bool = False) -> None:
    """Serve until a signal ends it; with `demo` in front of the built-in upstream."""
    async with AsyncExitStack() as stack:
        if demo:
            from .demo import app as demo_app

            engine = "vllm" if settings.engine == "plain" else settings.engine
            upstream = await stack.enter_async_context(running(demo_app(engine, pace=0.02)))
            settings = replace(settings, upstream=upstream, engine=engine)
        listening = bound(*settings.address)
        stack.callback(listening.close)
        made = server(app(settings), settings.grace)
        host, port = listening.getsockname()[:2]
        print(f"gateway-args serve: http://{host}:{port} in front of {_shown(settings.upstream)} ({settings.engine})")
        if demo:
            _print_demo(f"http://{host}:{port}")
        await made.serve([listening])


def start(settings: Settings, *, demo: bool = False) -> None:
    """Serve until a signal ends it (the command's own entry)."""
    level = getattr(logging, settings.log_level.upper())
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    for name in ("httpx", "httpcore", "uvicorn"):
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    asyncio.run(serve(settings, demo=demo))


def _shown(address: str) -> str:
    """An address without its password."""
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _print_demo(address: str) -> None:
    from .demo import TOOLS, outputs

    print(f"\nA demonstration: no model runs, written outputs of {len(outputs())} models are replayed. The page to try")
    print(f"outputs on is {address}/ ; with curl:\n")
    print(f"  curl -N {address}/v1/chat/completions -H 'content-type: application/json' -d '{{")
    print('    "model": "Qwen/Qwen3-8B", "stream": true, "messages": [{"role": "user", "content": "Find boats"}],')
    print(
        '    "tools": [{"type": "function", "function": {"name": "find_boats", "parameters": {"type": "object"}}}]}\'\n'
    )
    print(f"Tools that the outputs call: {', '.join(TOOLS)}. The last word of the message picks the output:")
    print("boats, heater, both, wrong, hello; or a fault: broken, error, die, stall, endless, busy, length.")
