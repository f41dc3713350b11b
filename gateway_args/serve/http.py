"""The client's side of a request, as ASGI has it: its origin, its body read within a bound, its answer sent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import anyio

from ..adapters import framing

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_JSON: Final = [(b"content-type", b"application/json")]
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
SSE: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]


class Client:
    """The client's side of one request."""

    def __init__(self, receive: Receive, send: Callable[[Message], Any]) -> None:
        self._receive = receive
        self._send = send
        self._started = False
        self._over = False
        self._last = time.monotonic()

    async def read(self, most: int) -> bytes | None:
        """The request's body; None when it has more than `most` bytes."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ConnectionAbortedError
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                return None
            parts.append(part)
            if not message.get("more_body"):
                return b"".join(parts)

    async def gone(self) -> bool:
        """Returns when the client has left: whether that was before its answer's end."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        return not self._over

    async def start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def body(self, data: bytes, *, last: bool = False) -> None:
        self._last = time.monotonic()
        self._over = self._over or last
        await self._send({"type": "http.response.body", "body": data, "more_body": not last})

    async def json(self, status: int, value: Any, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        if not self._started:
            data = framing.dumps(value)
            length = (b"content-length", str(len(data)).encode())
            await self.start(status, [*_JSON, length, *(headers or [])])
            await self.body(data, last=True)

    async def keep_alive(self, every: float) -> None:
        """Comments while nothing else is sent."""
        while not self._over:
            await anyio.sleep(max(self._last + every - time.monotonic(), every / 10))
            if not self._over and time.monotonic() - self._last >= every:
                await self.body(framing.KEEP_ALIVE)


class SameOrigin:
    """Refuses what a web page of another origin asks: a page must not use the gateway of whoever looks at it.

    Browsers send `Origin` with every POST, and it has to be this gateway's own address. On loopback the address has to
    be loopback's too, so that a name which its owner points here helps nobody. Clients that are no browsers send none.
    """

    def __init__(self, app: ASGIApp, loopback: bool) -> None:
        self._app = app
        self._loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            origin, host = headers.get(b"origin"), headers.get(b"host", b"").decode("latin-1")
            foreign = origin is not None and origin.decode("latin-1").partition("://")[2] != host
            name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
            if foreign or (self._loopback and origin is not None and name.strip("[]") not in LOOPBACK):
                data = framing.dumps(
                    {"error": {"message": "a page of another origin may not ask", "type": "forbidden"}}
                )
                await send({"type": "http.response.start", "status": 403, "headers": _JSON})
                await send({"type": "http.response.body", "body": data})
                return
        await self._app(scope, receive, send)
