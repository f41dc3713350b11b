"""The client's side of a request, as ASGI has it: its body read within a bound, its answer sent, its leaving seen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import anyio

from ..adapters import framing

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Message, Receive

_JSON: Final = [(b"content-type", b"application/json")]
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
