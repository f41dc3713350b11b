"""The gateway as an ASGI application: three APIs in front of one engine.

A request is read within its bound, rendered or handed to the engine's chat endpoint, and answered while the engine
writes. Until the engine has begun to answer, what goes wrong is an HTTP status with the API's own error body; from then
on it is the API's own end of a stream. A client that leaves cancels the engine by closing its connection.
"""

from __future__ import annotations

import logging
import secrets
import time
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import anyio
import orjson
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import adapters
from ..engines import Fault, FaultKind
from ..errors import FormatError, GatewayArgsError
from . import lab
from .answers import Answer, streamed
from .client import Engine, UpstreamError, passed_on
from .http import LOOPBACK, SSE, Client, SameOrigin
from .metrics import Metrics
from .models import Models
from .spans import span
from .upstreams import chat, completion, route_of, template_body

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx
    from anyio.abc import TaskGroup
    from starlette.requests import Request as Http
    from starlette.types import Receive, Scope, Send

    from ..adapters import Chunk, Kind, Request
    from .models import Known
    from .settings import Settings
    from .upstreams import Ask

LOG: Final = logging.getLogger("gateway_args.serve")
PATHS: Final[dict[str, Kind]] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}
PLAIN: Final = (
    "engine=plain is not asked to keep special tokens: a model whose markers are such tokens (Mistral, Gemma, LFM2) is "
    "read as if it called nothing, and forced calls are not enforced; say what the engine is with --engine"
)
_ID: Final[dict[Kind, str]] = {"chat": "chatcmpl-", "responses": "resp_", "messages": "msg_"}


class Refusal(Exception):
    """An answer that is an error, before anything was streamed."""

    def __init__(self, error: adapters.ApiError, *, retry_after: str | None = None) -> None:
        super().__init__(error.status)
        self.error = error
        self.retry_after = retry_after


class Gateway:
    """The gateway's state, shared by all requests: settings, models, the engine's connections, metrics."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.settings = settings
        self.route = route_of(settings)
        self.models = Models(settings)
        self.engine = Engine(settings, transport)
        self.metrics = Metrics()
        self.running = 0
        self.draining: float | None = None
        """When what still runs is ended, on the monotonic clock; None while nobody asked for a shutdown."""
        self.noted: set[str] = set()
        if settings.engine == "plain":
            LOG.warning("%s", PLAIN)

    # ---- one request

    async def answer(self, kind: Kind, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of this API."""
        client = Client(receive, send)
        started = time.monotonic()
        facts: dict[str, Any] = {"api": kind}
        with span(f"gateway_args {kind}", facts):
            if self.running >= self.settings.max_streams:
                self.metrics.limits.labels("max_streams").inc()
                error = adapters.error(kind, "too many requests are being answered; come back", status=_BUSY[kind])
                await client.json(error.status, error.body, [(b"retry-after", b"1")])
                facts["status"] = error.status
            else:
                self.running += 1
                self.metrics.streams.inc()
                try:
                    await self._answered(kind, scope, client, facts)
                finally:
                    self.running -= 1
                    self.metrics.streams.dec()
        self.metrics.requests.labels(kind, str(facts.get("status", "left"))).inc()
        facts["seconds"] = round(time.monotonic() - started, 3)
        LOG.info("%s", " ".join(f"{key}={_word(value)}" for key, value in facts.items()))

    async def _answered(self, kind: Kind, scope: Scope, client: Client, facts: dict[str, Any]) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        bound = self.settings.total_timeout + self.settings.idle_timeout + self.settings.connect_timeout
        left = False
        try:
            with anyio.move_on_after(bound) as clock:
                body = await self._body(kind, client)
                async with anyio.create_task_group() as tasks:

                    async def watch() -> None:
                        nonlocal left
                        if await client.gone():
                            left = True
                            tasks.cancel_scope.cancel()

                    tasks.start_soon(watch)
                    await self._run(kind, body, headers, client, tasks, facts)
                    tasks.cancel_scope.cancel()
            if clock.cancelled_caught:
                self.metrics.limits.labels("total_timeout").inc()
                facts["fault"] = "the client did not read its answer in time"
        except* Refusal as group:
            refusal = _first(group)
            facts |= {"status": refusal.error.status, "fault": _message(refusal.error)}
            more = [] if refusal.retry_after is None else [(b"retry-after", refusal.retry_after.encode("latin-1"))]
            await client.json(refusal.error.status, refusal.error.body, more)
        except* ConnectionError:
            left = True
        if left:
            self.metrics.left.inc()
            facts["left"] = True

    async def _run(
        self,
        kind: Kind,
        body: dict[str, Any],
        headers: dict[str, str],
        client: Client,
        tasks: TaskGroup,
        facts: dict[str, Any],
    ) -> None:
        request, model = self._request(kind, body)
        facts |= {"model": model.name, "format": model.format.name, "stream": request.stream}
        id = _ID[kind] + secrets.token_hex(12)
        facts["id"] = id
        passed = passed_on(headers, self.settings)
        if self.settings.log_text:
            LOG.info("id=%s request=%s", id, orjson.dumps(body).decode())
        try:
            ask = await self._ask(streamed(request), model, passed)
            self._note(ask, model)
            with self._record(id) as file:
                write = None if file is None else file.write
                try:
                    answer = Answer(self.settings, request, model, ask, id, self.metrics, write, lambda: self.draining)
                except (GatewayArgsError, ValueError) as error:  # a schema that no decoder takes
                    raise adapters.BadRequest(kind, str(error), param="tools") from None
                async with self.engine.open(ask, passed) as steps, aclosing(answer.chunks(steps)) as chunks:
                    await self._send(kind, request, answer, chunks, client, tasks, facts)
        except adapters.BadRequest as bad:
            raise Refusal(bad.error) from None
        except UpstreamError as error:
            self.metrics.faults.labels(error.kind).inc()
            facts["upstream"] = error.kind
            told = adapters.error(kind, str(error), status=error.status)
            raise Refusal(told, retry_after=error.retry_after) from None
        for fault in answer.faults:
            self.metrics.faults.labels(str(fault.kind)).inc()
        facts |= {"finish": ",".join(answer.finishes), "calls": answer.calls}
        if answer.faults:
            facts["fault"] = told_of(answer.faults[0])

    async def _send(
        self,
        kind: Kind,
        request: Request,
        answer: Answer,
        chunks: AsyncIterator[list[Chunk]],
        client: Client,
        tasks: TaskGroup,
        facts: dict[str, Any],
    ) -> None:
        """Send the answer as it comes, or whole."""
        facts["status"] = 200
        if request.stream:
            await client.start(200, SSE)
            tasks.start_soon(client.keep_alive, self.settings.keep_alive)
            async for some in chunks:
                if data := adapters.framing.frames(some):
                    await client.body(data)
            await client.body(adapters.framing.DONE if kind == "chat" else b"", last=True)
            return
        whole = adapters.fold(kind, [chunk async for some in chunks for chunk in some])
        if answer.faults and (whole.get("error") or whole.get("status") == "failed"):
            facts["status"] = 502
        await client.json(facts["status"], whole)

    async def _body(self, kind: Kind, client: Client) -> dict[str, Any]:
        data = await client.read(self.settings.max_body)
        if data is None:
            self.metrics.limits.labels("max_body").inc()
            raise Refusal(adapters.error(kind, f"the body has more than {self.settings.max_body} bytes", status=413))
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise Refusal(adapters.error(kind, f"the body is no JSON: {error}")) from None
        if not isinstance(body, dict):
            raise Refusal(adapters.error(kind, "the body: expected an object"))
        return body

    def _request(self, kind: Kind, body: dict[str, Any]) -> tuple[Request, Known]:
        name = body.get("model")
        if not isinstance(name, str) or not name:
            raise Refusal(adapters.error(kind, f"model: expected a string, got {name!r:.60}", param="model"))
        try:
            model = self.models.find(name)
            return adapters.request(kind, body, model_format=model.format), model
        except FormatError as error:
            told = f"model: {error} (say which table reads it: --format, or [models.{name!r:.80}] in the model map)"
            raise Refusal(adapters.error(kind, told, status=404, param="model", code="model_not_found")) from None
        except adapters.BadRequest as bad:
            raise Refusal(bad.error) from None

    async def _ask(self, request: Request, model: Known, headers: dict[str, str]) -> Ask:
        if self.route == "chat":
            return chat(self.settings, request, model)
        prompt, sent = await self.engine.render(template_body(self.settings, request, model), headers)
        return completion(self.settings, request, model, prompt, sent)

    def _note(self, ask: Ask, model: Known) -> None:
        """Log once a model that a constraint does not enforce all of the tools' schemas."""
        if ask.notes and model.name not in self.noted and len(self.noted) < 256:
            self.noted.add(model.name)
            LOG.warning(
                "model=%s guided decoding leaves out %d rules of tools' schemas", _word(model.name), len(ask.notes)
            )

    def _record(self, id: str) -> AbstractContextManager[IO[str] | None]:
        """The file of this response's transcript; a line is written before its chunk is sent."""
        if not self.settings.record:
            return nullcontext()
        return (Path(self.settings.record) / f"{id}.jsonl").open("x", buffering=1, encoding="utf-8", newline="\n")

    # ---- the other endpoints

    async def count_tokens(self, http: Http) -> Response:
        """Messages' `count_tokens`, where the engine can render and count."""
        client = Client(http.receive, lambda message: anyio.lowlevel.checkpoint())
        try:
            body = await self._body("messages", client)
            request, model = self._request("messages", {"max_tokens": 1, **body})
            headers = passed_on(http.headers, self.settings)
            counted = await self.engine.count(template_body(self.settings, request, model), headers)
        except Refusal as refusal:
            return JSONResponse(refusal.error.body, refusal.error.status)
        except adapters.BadRequest as bad:
            return JSONResponse(bad.body, bad.status)
        except UpstreamError as error:
            return JSONResponse(adapters.error("messages", str(error), status=error.status).body, error.status)
        if counted is None:
            told = adapters.error("messages", f"a {self.settings.engine} engine counts no tokens", status=501)
            return JSONResponse(told.body, told.status)
        return JSONResponse({"input_tokens": counted})

    async def list_models(self, http: Http) -> Response:
        """The engine's models and those of the model map, in both APIs' words."""
        try:
            listing = await self.engine.json("GET", "/v1/models", None, passed_on(http.headers, self.settings))
        except UpstreamError as error:
            return JSONResponse(adapters.error("chat", str(error), status=error.status).body, error.status)
        rows = listing.get("data")
        names = (
            [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row] if isinstance(rows, list) else []
        )
        listed = [
            {
                "id": name,
                "object": "model",
                "type": "model",
                "display_name": name,
                "created": 0,
                "created_at": "1970-01-01T00:00:00Z",
                "owned_by": "gateway_args",
            }
            for name in dict.fromkeys((*self.models.names, *names))
        ]
        ends = {"first_id": listed[0]["id"], "last_id": listed[-1]["id"]} if listed else {}
        return JSONResponse({"object": "list", "data": listed, "has_more": False, **ends})

    async def health(self, http: Http) -> Response:
        if self.draining is not None:
            return JSONResponse({"status": "draining", "streams": self.running}, 503)
        return JSONResponse({"status": "ok", "streams": self.running})

    async def page(self, http: Http) -> Response:
        return Response(self.metrics.page(), media_type="text/plain; version=0.0.4")


_BUSY: Final[dict[Kind, int]] = {"chat": 429, "responses": 429, "messages": 529}


class _Api:
    """One API's endpoint, as ASGI has it: it listens for the client's end while it answers."""

    def __init__(self, gateway: Gateway, kind: Kind) -> None:
        self.gateway = gateway
        self.kind: Kind = kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.gateway.answer(self.kind, scope, receive, send)


def app(settings: Settings, *, transport: httpx.AsyncBaseTransport | None = None) -> Starlette:
    """The application; its `state.gateway` is the `Gateway`."""
    gateway = Gateway(settings, transport)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await gateway.engine.close()

    made = Starlette(
        routes=[
            *(Route(path, _Api(gateway, kind), methods=["POST"]) for path, kind in PATHS.items()),
            Route("/v1/messages/count_tokens", gateway.count_tokens, methods=["POST"]),
            Route("/v1/models", gateway.list_models),
            Route("/healthz", gateway.health),
            Route("/metrics", gateway.page),
            *([] if settings.no_lab else lab.routes()),
        ],
        lifespan=lifespan,
        middleware=[Middleware(SameOrigin, loopback=settings.address[0] in LOOPBACK)],
    )
    made.state.gateway = gateway
    return made


def told_of(fault: Fault) -> str:
    """What a log says of a fault: an engine's own words may quote a request, so they are left out."""
    return str(fault.kind) if fault.kind is FaultKind.ENGINE_ERROR else f"{fault.kind}: {fault.message}"


def _first(group: BaseExceptionGroup[Refusal]) -> Refusal:
    found: Any = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, Refusal)
    return found


def _message(error: adapters.ApiError) -> str:
    """What a log says of an error: its kind, and no word of the request."""
    return str(error.body["error"].get("code") or error.body["error"]["type"])


def _word(value: Any) -> str:
    """A value of a log line: one word, whatever a stranger put in it."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return (
        orjson.dumps(text[:300]).decode() if not text.isascii() or set(text) & set(' "=\n\r\t\\') or not text else text
    )
