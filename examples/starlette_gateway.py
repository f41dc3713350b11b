"""A gateway for the OpenAI and Anthropic APIs on Starlette, in front of one engine.

All of Chat Completions, Responses and Messages, streamed and whole, with several choices, usage, tool choice, guarded
calls and errors. What is the reader's own is here; `demo_engine` stands for an engine and its chat template.

Run it with `uvicorn starlette_gateway:app` from this folder.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress

import demo_engine as engine
from starlette.applications import Starlette
from starlette.requests import Request as Http
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gateway_args import Guard, adapters

PATHS: dict[str, adapters.Kind] = {"chat/completions": "chat", "responses": "responses", "messages": "messages"}
Chunks = AsyncIterator[list[adapters.Chunk]]
OPERATOR = adapters.Options(late_usage=True)  # this engine tells the usage last


async def answer(http: Http) -> Response:
    kind = PATHS[http.url.path.removeprefix("/v1/")]
    try:
        request = adapters.request(kind, await http.json())
        prompt, asked = engine.render(request.template()), request.engine("vllm")
        guards = [Guard(request.parser(prompt, format=asked.format), request.tools) for _ in range(request.choices)]
    except adapters.BadRequest as bad:
        return JSONResponse(bad.body, bad.status)
    except ValueError as error:  # the body is no JSON, or a tool's schema is none
        return JSONResponse(adapters.error(kind, str(error)).body, 400)
    chunks = respond(request, guards, engine.generate(prompt, asked.fields))
    if request.stream:
        return StreamingResponse(framed(kind, chunks), media_type="text/event-stream")
    whole = adapters.fold(kind, [chunk async for some in chunks for chunk in some])
    return JSONResponse(whole, 502 if whole.get("error") else 200)


async def respond(request: adapters.Request, guards: list[Guard], steps: engine.Steps) -> Chunks:
    """The chunks of the response, some at a time."""
    envelope = request.envelope(f"{request.kind}-{uuid.uuid4().hex}", int(time.time()))
    options = request.options(OPERATOR)
    streams = [adapters.stream(request.kind, envelope, options, choice=number) for number in range(request.choices)]
    for stream in streams:  # every choice is announced before any goes on
        yield stream.chunks()
    with suppress(ConnectionError):  # the engine went away: the client is told below, in its API's own words
        async with aclosing(steps):  # closing it cancels the generation
            async for step in steps:
                stream, guard = streams[step.choice], guards[step.choice]
                envelope.usage = step.usage or envelope.usage
                if stream.finished:
                    continue
                said = guard.feed(step.text)
                if guard.refused:
                    said += guard.cancel("a call was refused")
                elif step.finish is not None:
                    said += guard.finish(step.finish)
                yield stream.chunks(said)
                if guard.refused and all(other.finished for other in streams):
                    break  # nobody waits for more
    for stream, guard in zip(streams, guards, strict=True):
        if not stream.finished:
            yield stream.chunks(guard.finish(None))
    yield adapters.last(request.kind, streams)


async def framed(kind: adapters.Kind, chunks: Chunks) -> AsyncIterator[bytes]:
    async for some in chunks:
        yield adapters.framing.frames(some)
    if kind == "chat":
        yield adapters.framing.DONE


app = Starlette(routes=[Route(f"/v1/{path}", answer, methods=["POST"]) for path in PATHS])
