"""What engines send, read without touching a socket: bytes in, `Step`s and `Fault`s out.

`completions`, `chat` and `native` give a `Reader` for that endpoint of an engine; `read` reads a whole recorded
response, streamed or not, whichever engine wrote it. What to send to an engine is `adapters.request(…).engine(kind)`.
"""

from __future__ import annotations

from contextlib import suppress

import orjson

from .reader import ENGINES, Endpoint, Reader, Wire, wire
from .sse import MAX_LINE
from .steps import Fault, FaultKind, Step

__all__ = [
    "ENGINES",
    "MAX_LINE",
    "Endpoint",
    "Fault",
    "FaultKind",
    "Reader",
    "Step",
    "Wire",
    "chat",
    "completions",
    "native",
    "read",
    "wire",
]


def completions(engine: str = "plain", *, max_line: int = MAX_LINE) -> Reader:
    """A reader of `/v1/completions` of an engine of this kind (`ENGINES`)."""
    return Reader(wire(engine, "completions"), max_line=max_line)


def chat(engine: str = "plain", *, max_line: int = MAX_LINE) -> Reader:
    """A reader of `/v1/chat/completions`."""
    return Reader(wire(engine, "chat"), max_line=max_line)


def native(engine: str, *, cumulative: bool | None = None, max_line: int = MAX_LINE) -> Reader:
    """A reader of an engine's own endpoint: SGLang's `/generate`, llama.cpp's `/completion`, Triton's stream.

    `cumulative` says whether SGLang's text is all of it each time or the new part alone; None sees for itself.
    """
    return Reader(wire(engine, "native"), cumulative=cumulative, max_line=max_line)


def read(data: bytes, engine: str | None = None, endpoint: Endpoint = "completions") -> list[Step | Fault]:
    """All steps and faults of a recorded response: server-sent events, JSON lines, or one JSON document.

    Without `engine` the objects' own keys tell who wrote them.
    """
    reader = Reader(None if engine is None else wire(engine, endpoint), max_line=max(len(data), 1))
    if data.lstrip()[:1] in (b"{", b"["):
        with suppress(orjson.JSONDecodeError):  # a document over several lines is one line to the reader
            data = orjson.dumps(orjson.loads(data))
    return reader.feed(data) + reader.finish()
