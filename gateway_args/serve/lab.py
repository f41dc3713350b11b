"""The lab: one page, `GET /`, on which an output is read token by token, and what the page asks.

The page has no outside requests, and its policy forbids them. What it asks is bounded: an output of at most `MOST`
characters, read again for each question.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import adapters, formats
from ..errors import GatewayArgsError
from ..parser import Parser
from ..reading import event_as_dict, fold
from ..tokens import TokenDecoder, vocab
from ..tools import Tools

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from ..adapters import Chunk, Kind
    from ..events import Event

MOST: Final = 16_000
_MOST_BODY: Final = 262_144
_KINDS: Final[tuple[Kind, ...]] = ("chat", "responses", "messages")
_CASE: Final = ("prompt", "text", "finish", "tools")
_CHUNKINGS: Final = ("tokens", "characters", "words", "whole")


def routes() -> list[BaseRoute]:
    return [
        Route("/", _page),
        Route("/lab/formats", _formats),
        Route("/lab/read", _read, methods=["POST"]),
    ]


@cache
def page() -> tuple[bytes, str]:
    """The page, and the policy under which a browser runs it: its own script and style, and this server alone."""
    html = Path(__file__).with_name("lab.html").read_text(encoding="utf-8")
    hashes = {}
    for tag in ("script", "style"):
        found = re.search(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert found is not None
        hashes[tag] = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
    policy = (
        f"default-src 'none'; connect-src 'self'; img-src data:; script-src 'sha256-{hashes['script']}'; "
        f"style-src 'sha256-{hashes['style']}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return html.encode(), policy


async def _page(_: Request) -> Response:
    html, policy = page()
    headers = {"content-security-policy": policy, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
    return Response(html, media_type="text/html; charset=utf-8", headers=headers)


async def _formats(_: Request) -> Response:
    """The tables' names, and an output to begin with for those that the demonstration has."""
    from .demo import TOOLS, outputs

    tools = [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()]
    examples = {
        given.format: {"prompt": given.user.replace("{}", "Find boats, please.") + given.open, "text": given.both}
        for given in outputs().values()
        if not given.always_thinks
    }
    return JSONResponse({"formats": formats.names(), "examples": examples, "tools": tools, "most": MOST})


async def _read(http: Request) -> Response:
    """Read an output: the events of each delta, what clients hold after delta `at`, and other chunkings beside it."""
    body = b""
    async for part in http.stream():
        body += part
        if len(body) > _MOST_BODY:
            return _bad(f"the request has more than {_MOST_BODY} bytes")
    try:
        given = orjson.loads(body)
        if not isinstance(given, dict):
            return _bad("expected an object")
        return Response(adapters.framing.dumps(_answer(given)), media_type="application/json")
    except (ValueError, TypeError, GatewayArgsError) as error:
        return _bad(" ".join(str(error).split())[:500])


def _bad(message: str) -> Response:
    return JSONResponse({"error": message}, 400)


def _answer(given: dict[str, Any]) -> dict[str, Any]:
    text, finish, chunking = (
        _text(given, *entry) for entry in (("text", ""), ("finish", "stop"), ("chunking", "tokens"))
    )
    if len(text) > MOST:
        raise ValueError(f"text: {len(text)} characters; at most {MOST}")
    if chunking not in _CHUNKINGS:
        raise ValueError(f"chunking: expected one of {', '.join(_CHUNKINGS)}, got {chunking!r:.40}")
    name = _text(given, "format", "hermes")
    if name not in formats.names():
        raise ValueError(f"format: no format {name!r:.60}")
    fmt = formats.load(name)
    tools = None if given.get("tools") is None else Tools.of(given["tools"])
    prompt = _text(given, "prompt", "")

    def run(how: str) -> list[tuple[str, list[Event]]]:
        parser = Parser(fmt, tools, prompt=prompt)
        read = [(piece, parser.feed(piece)) for piece in cut(text, how)]
        return [*read, ("", parser.finish(finish))]

    steps = run(chunking)
    whole = fold(event for _, events in steps for event in events)
    at = given.get("at")
    at = at if isinstance(at, int) and 0 <= at < len(steps) else len(steps) - 1
    return {
        "deltas": [{"text": piece, "events": [event_as_dict(event) for event in events]} for piece, events in steps],
        "reading": whole.as_dict(),
        "same": {
            how: fold(event for _, events in run(how) for event in events) == whole
            for how in _CHUNKINGS
            if how != chunking
        },
        "at": at,
        "clients": {kind: _client(kind, fmt.name, tools, steps, at) for kind in _KINDS},
        "case": json.dumps({**{key: given[key] for key in _CASE if key in given}, "id": "shared", "format": name}),
    }


def _client(
    kind: Kind, name: str, tools: Tools | None, steps: list[tuple[str, list[Event]]], at: int
) -> dict[str, Any]:
    """What a client of this API received with delta `at`, and what it holds by then."""
    stream = adapters.stream(kind, adapters.Envelope("lab", name, 0), adapters.Options(tools=tools))
    before = stream.chunks()
    for _, events in steps[:at]:
        before += stream.chunks(events)
    now = stream.chunks(steps[at][1])
    return {"received": adapters.framing.frames(now).decode(), "held": held(kind, [*before, *now])}


def held(kind: Kind, chunks: list[Chunk]) -> list[dict[str, Any]]:
    """What a client has put together of these chunks: its parts in order, each with what has grown so far."""
    parts: dict[Any, dict[str, Any]] = {}

    def grow(key: Any, name: str, text: str, **first: Any) -> None:
        part = parts.setdefault(key, first)
        part[name] = part.get(name, "") + text

    for chunk in chunks:
        match chunk.get("type"):
            case None:
                for choice in chunk.get("choices", ()):
                    for field, value in choice["delta"].items():
                        if field != "tool_calls":
                            grow(field, field, value)
                        for call in value if field == "tool_calls" else ():
                            function = call["function"]
                            first = {"call": function["name"], "id": call["id"]} if "id" in call else {}
                            grow(call["index"], "arguments", function["arguments"], **first)
                    if choice["finish_reason"] is not None:
                        parts["finish"] = {"finish_reason": choice["finish_reason"]}
            case "response.output_item.added":
                item = chunk["item"]
                given = {key: item[key] for key in ("type", "name", "call_id") if key in item}
                parts[chunk["output_index"]] = given
            case "response.output_text.delta" | "response.reasoning_text.delta":
                grow(chunk["output_index"], "text", chunk["delta"])
            case "response.function_call_arguments.delta":
                grow(chunk["output_index"], "arguments", chunk["delta"])
            case "response.completed" | "response.incomplete" | "response.failed":
                parts["finish"] = {"status": chunk["response"]["status"]}
            case "content_block_start":
                block = chunk["content_block"]
                parts[chunk["index"]] = {key: block[key] for key in ("type", "name", "id") if key in block}
            case "content_block_delta":
                for name in ("text", "thinking", "partial_json"):
                    if name in chunk["delta"]:
                        grow(chunk["index"], "input" if name == "partial_json" else name, chunk["delta"][name])
            case "message_delta":
                parts["finish"] = {"stop_reason": chunk["delta"]["stop_reason"]}
    return list(parts.values())


def cut(text: str, how: str) -> list[str]:
    """The text in deltas: at the tokens of the embedded vocabulary, characters, words, or in one piece."""
    match how:
        case "tokens":
            encoding = vocab.load("embedded")
            decoder = TokenDecoder(encoding)
            pieces = [decoder.feed(id).text for id in encoding.encode(text, allowed_special="all")]
            return [piece for piece in (*pieces, decoder.finish().text) if piece]
        case "characters":
            return list(text)
        case "words":
            return re.findall(r"\s*\S+|\s+$", text)
        case _:
            return [text] if text else []


def _text(given: dict[str, Any], key: str, default: str) -> str:
    value = given.get(key, default)
    if not isinstance(value, str):
        raise ValueError(f"{key}: expected a string")
    return value
