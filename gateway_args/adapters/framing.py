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
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # a lone surrogate, or an integer past 64 bits
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def frame(chunk: dict[str, Any]) -> bytes:
    """One event: `data:` and, where the chunk has a type, `event:` before it."""
    if "type" in chunk:
        return b"event: %b\ndata: %b\n\n" % (chunk["type"].encode(), dumps(chunk))
    return b"data: %b\n\n" % dumps(chunk)


def frames(chunks: list[dict[str, Any]]) -> bytes:
    """Several events; most deltas cause one."""
    if len(chunks) == 1:
        return frame(chunks[0])
    return b"".join([frame(chunk) for chunk in chunks])
