"""Snapshots as bytes: plain JSON behind one line that says whose state it is, in which version, and its SHA-256.

No pickle: a snapshot comes from a stranger. Any bytes give the state or one `LifecycleError`. What the state itself
says is checked by the reader that it belongs to, under `reading`.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .errors import LifecycleError

if TYPE_CHECKING:
    from collections.abc import Iterator


def seal(kind: str, version: int, state: dict[str, Any]) -> bytes:
    """The snapshot of a `kind` ("StreamDecoder"), whose state this is."""
    body = json.dumps(state, separators=(",", ":")).encode()
    return f"{kind} {version} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def unseal(kind: str, version: int, data: bytes) -> dict[str, Any]:
    """The state in a snapshot; `LifecycleError` for another kind or version, for damage, for what is none."""
    if not isinstance(data, bytes):
        raise LifecycleError(f"{kind}.restore: expected the bytes of a snapshot, got {type(data).__name__}")
    head, _, body = data.partition(b"\n")
    words = head.split(b" ")
    if len(words) != 3 or words[0] != kind.encode():
        raise LifecycleError(f"{kind}.restore: expected a snapshot of a {kind}, got {head[:40]!r}")
    if words[1] != b"%d" % version:
        raise LifecycleError(
            f"{kind}.restore: the snapshot has version {words[1][:20].decode(errors='replace')}; "
            f"this package reads version {version}"
        )
    if words[2] != hashlib.sha256(body).hexdigest().encode():
        raise LifecycleError(f"{kind}.restore: the snapshot is damaged: its checksum does not match")
    with reading(kind):
        state = json.loads(body)
        if isinstance(state, dict):
            return state
    raise LifecycleError(f"{kind}.restore: the snapshot is damaged: its state is no object")


@contextmanager
def reading(kind: str) -> Iterator[None]:
    """Whatever a forged state makes fail is one `LifecycleError`."""
    try:
        yield
    except LifecycleError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise LifecycleError(f"{kind}.restore: the snapshot is damaged: {error!r}") from error
