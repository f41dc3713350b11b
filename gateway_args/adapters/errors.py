"""The three APIs' own errors: what a client is answered when there is no message to answer with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..errors import GatewayArgsError
from .framing import frame

if TYPE_CHECKING:
    from .values import Chunk

_INVALID: Final = "invalid_request_error"
# Status -> the error's type, as the APIs document them.
_OPENAI: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_ANTHROPIC: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class ApiError:
    """An answer that is an error: the HTTP `status`, the JSON `body`, and `frame`, the same in a stream that has begun.

    A stream that ended because the engine failed needs none of this: `frames(parser.finish("error"))` says it.
    """

    kind: str
    status: int
    body: Chunk

    @property
    def frame(self) -> bytes:
        """The server-sent event that tells of it."""
        if self.kind == "responses":
            told = self.body["error"]
            return frame(
                {"type": "error", **{key: told[key] for key in ("code", "message", "param")}, "sequence_number": 0}
            )
        return frame(self.body)


class BadRequest(GatewayArgsError, ValueError):
    """A request that cannot be answered.

    `status` and `body` are the answer as the API gives it, `param` is the place in the request's body.
    """

    def __init__(
        self, kind: str, message: str, *, param: str | None = None, status: int = 400, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.error = error(kind, message, status=status, param=param, code=code)
        self.param = param

    @property
    def status(self) -> int:
        return self.error.status

    @property
    def body(self) -> Chunk:
        return self.error.body


def error(kind: str, message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> ApiError:
    """The error of this API with this HTTP status. `param` and `code` are fields that Messages does not have."""
    if not 400 <= status <= 599:
        raise ValueError(f"status is {status}: an error's is 400 to 599")
    server = status >= 500
    match kind:
        case "chat" | "responses":
            type = _OPENAI.get(status, "server_error" if server else _INVALID)
            return ApiError(kind, status, {"error": {"message": message, "type": type, "param": param, "code": code}})
        case "messages":
            type = _ANTHROPIC.get(status, "api_error" if server else _INVALID)
            return ApiError(kind, status, {"type": "error", "error": {"type": type, "message": message}})
    raise ValueError(f"no adapter named {kind!r}: one of chat, responses, messages")
