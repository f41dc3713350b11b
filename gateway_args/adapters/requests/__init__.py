"""Requests of the three APIs as one `Request`: what to render, what to ask the engine for, and how to read its output.

`request` takes the body that a client sent and checks what this package needs of it; what it does not need goes to the
engine as it is (`Request.sampling`). A body that cannot be answered is a `BadRequest`, which carries the status and the
body that the API's own servers answer with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...formats import Format
from ..errors import BadRequest
from . import chat, messages, responses
from .body import Body
from .engines import Engine
from .values import Constraint, Request, ToolChoice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["BadRequest", "Constraint", "Engine", "Request", "ToolChoice", "request"]

_READERS: Mapping[str, Callable[[Body, Format | None], Request]] = {
    "chat": chat.read,
    "responses": responses.read,
    "messages": messages.read,
}


def request(kind: str, body: Mapping[str, Any], *, model_format: Format | None = None) -> Request:
    """What this body asks for. `model_format` is the model's format; without it `formats.for_model(body["model"])`.

    Raises `BadRequest` (status, body) for a body that cannot be answered, one that names a model whose format is not
    known included.
    """
    if kind not in _READERS:
        raise ValueError(f"no adapter named {kind!r}: one of {', '.join(_READERS)}")
    if model_format is not None and not isinstance(model_format, Format):
        raise TypeError(f"expected a Format, got {model_format!r:.80}: formats.load('hermes')")
    return _READERS[kind](Body(kind, body), model_format)
