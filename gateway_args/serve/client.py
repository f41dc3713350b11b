"""The engine behind the gateway, over HTTP: prompts rendered, responses opened and read into steps.

Every response is streamed, also for a client that wants it whole: so silence is noticed, and a client that leaves
cancels the engine by closing the connection.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx
import orjson

from ..engines import Fault, FaultKind, Reader, wire
from .upstreams import UPSTREAMS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from ..engines import Step
    from .settings import Settings
    from .upstreams import Ask

_MOST_JSON: Final = 16 << 20
"""Bytes of an answer that is not streamed: a prompt's token ids."""
_MOST_ERROR: Final = 65_536
_PASSED: Final = (400, 401, 403, 404, 408, 409, 413, 422, 429)
"""Statuses of the engine's that are the client's own doing and reach it as they are."""


class UpstreamError(Exception):
    """The engine did not begin to answer: `status` is what the client is told."""

    def __init__(self, status: int, message: str, *, kind: str, retry_after: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after


def passed_on(headers: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The headers that the engine gets: the client's key as a bearer token, and its trace."""
    found = {"accept-encoding": "identity"}
    key = headers.get("x-api-key")
    if settings.upstream_key:
        found["authorization"] = f"Bearer {settings.upstream_key}"
    elif authorization := headers.get("authorization"):
        found["authorization"] = authorization
    elif key:
        found["authorization"] = f"Bearer {key}"
    for name in ("traceparent", "tracestate", "x-request-id"):
        if value := headers.get(name):
            found[name] = value
    return found


class Engine:
    """The connections to one engine. `close` ends them."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.settings = settings
        self.table = UPSTREAMS[settings.engine]
        timeout = httpx.Timeout(settings.idle_timeout, connect=settings.connect_timeout)
        self._http = httpx.AsyncClient(
            base_url=settings.upstream.rstrip("/").removesuffix("/v1"),
            timeout=timeout,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            trust_env=False,
            transport=transport,
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def render(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[str, str | list[int]]:
        """The prompt of these messages as text, and as the engine takes it."""
        answer = await self.json("POST", self.table.render, body, headers)
        prompt = answer.get(self.table.rendered)
        if self.table.rendered == "prompt":
            if not isinstance(prompt, str):
                raise UpstreamError(502, "the engine rendered no prompt", kind="render")
            return prompt, prompt
        if not isinstance(prompt, list) or not all(isinstance(id, int) for id in prompt):
            raise UpstreamError(502, "the engine rendered no prompt", kind="render")
        back = await self.json("POST", self.table.text_path, {"model": body["model"], "tokens": prompt}, headers)
        text = back.get("prompt")
        if not isinstance(text, str):
            raise UpstreamError(502, "the engine gave no text of its prompt", kind="render")
        return text, prompt

    async def count(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> int | None:
        """How many tokens this prompt has; None where this kind of engine cannot say."""
        if not self.table.count:
            return None
        if self.table.rendered == "prompt":
            prompt = (await self.json("POST", self.table.render, body, headers)).get("prompt")
            body = {"content": prompt, "add_special": True}
        answer = await self.json("POST", self.table.count, body, headers)
        tokens = answer.get("tokens")
        if not isinstance(tokens, list):
            raise UpstreamError(502, "the engine counted no tokens", kind="render")
        return len(tokens)

    async def json(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> dict[str, Any]:
        """A whole JSON object from the engine."""
        async with self._sent(method, path, body, headers) as response:
            data = await _some(response, _MOST_JSON)
        try:
            answer = orjson.loads(data)
        except orjson.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict):
            raise UpstreamError(502, f"the engine's answer to {path} is no JSON object", kind="not_json")
        return answer

    @asynccontextmanager
    async def open(self, ask: Ask, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[list[Step | Fault]]]:
        """The steps of this request's response, some at a time. Leaving the context cancels the engine."""
        spoken = wire(self.settings.engine, ask.endpoint)
        async with self._sent("POST", spoken.path, ask.body, headers) as response:
            yield self._steps(response, Reader(spoken, max_line=self.settings.max_line))

    async def _steps(self, response: httpx.Response, reader: Reader) -> AsyncIterator[list[Step | Fault]]:
        cut: Fault | None = None
        try:
            async for data in response.aiter_bytes():
                if found := reader.feed(data):
                    yield found
        except httpx.TimeoutException:
            cut = Fault(FaultKind.CUT, 0, f"the engine said nothing for {self.settings.idle_timeout:g} seconds")
        except httpx.HTTPError as error:
            cut = Fault(FaultKind.CUT, 0, f"the engine's connection broke ({type(error).__name__})")
        if cut is not None:
            yield [cut]
        else:
            yield reader.finish()

    @asynccontextmanager
    async def _sent(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """The response to this request, its status checked."""
        content = None if body is None else orjson.dumps(body)
        answer = {**headers, "content-type": "application/json"} if content is not None else dict(headers)
        request = self._http.build_request(method, path, content=content, headers=answer)
        try:
            response = await self._http.send(request, stream=True)
        except httpx.ConnectTimeout:
            raise UpstreamError(504, "the engine could not be reached in time", kind="timeout") from None
        except httpx.TimeoutException:
            raise UpstreamError(504, "the engine did not answer in time", kind="timeout") from None
        except httpx.HTTPError as error:
            raise UpstreamError(
                502, f"the engine could not be reached ({type(error).__name__})", kind="connect"
            ) from None
        try:
            if response.status_code != 200:
                raise await _refusal(response)
            yield response
        finally:
            await response.aclose()


async def _some(response: httpx.Response, most: int) -> bytes:
    """A whole body within a bound."""
    parts: list[bytes] = []
    size = 0
    try:
        async for data in response.aiter_bytes():
            size += len(data)
            if size > most:
                raise UpstreamError(502, f"the engine's answer has more than {most} bytes", kind="too_long")
            parts.append(data)
    except httpx.HTTPError as error:
        raise UpstreamError(502, f"the engine's answer broke off ({type(error).__name__})", kind="cut") from None
    return b"".join(parts)


async def _refusal(response: httpx.Response) -> UpstreamError:
    """The engine's own error, in its words where it has some."""
    try:
        answer = orjson.loads(await _some(response, _MOST_ERROR))
    except (UpstreamError, orjson.JSONDecodeError):
        answer = None
    told: Any = answer.get("error", answer) if isinstance(answer, dict) else None
    message = told.get("message") if isinstance(told, dict) else told
    if not isinstance(message, str) or not message:
        message = f"the engine answered with status {response.status_code}"
    status = response.status_code
    passed = status if status in _PASSED else 503 if status == 503 else 502
    return UpstreamError(
        passed, message[:1000], kind=f"status_{status}", retry_after=response.headers.get("retry-after")
    )
