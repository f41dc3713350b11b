"""Server-sent events: a chunk as the bytes that go to the client.

A chunk that has a `type` (Responses, Messages) names it in an `event:` line, as those APIs do. Text is UTF-8 as it is,
never escaped; JSON escapes every line break, so a frame holds none but its own.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


def dumps(value: dict[str, Any]) -> bytes:
    """JSON as UTF-8. A lone surrogate, which UTF-8 cannot carry, becomes U+FFFD; halves of a pair are joined."""
    try:
        data: bytes = orjson.dumps(value)
    except orjson.JSONEncodeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    return data


def frame(chunk: dict[str, Any]) -> bytes:
    """One event: `data:` and, where the chunk has a type, `event:` before it."""
    if "type" in chunk:
        return b"event: " + chunk["type"].encode() + b"\ndata: " + dumps(chunk) + b"\n\n"
    return b"data: " + dumps(chunk) + b"\n\n"
