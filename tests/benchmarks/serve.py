"""The load on `serve`: what it adds to a delta, beside the engine itself and beside a proxy that only passes bytes on.

    python tests/benchmarks/serve.py --streams 500 --seconds 10

An engine of its own process writes the clock into every delta (`time.monotonic`, one clock for all processes), so a
client sees how old a delta is. Each target is loaded with the same streams, one after the other; printed are the
streams held at once, the age of deltas (median and 99th percentile), and the memory that a stream costs the target.
Everything is on loopback and ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette

EVERY = 0.1  # seconds between two deltas of a stream
BODY = json.dumps({"model": "Qwen/Qwen3-8B", "stream": True, "messages": [{"role": "user", "content": "Go"}]}).encode()
PATH = "/v1/chat/completions"


def engine(seconds: float) -> Starlette:
    """An engine that says the time."""
    from starlette.applications import Starlette
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    async def chunks() -> AsyncIterator[str]:
        head = {"id": "cmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for _ in range(int(seconds / EVERY)):
            await asyncio.sleep(EVERY)
            choice = {"index": 0, "delta": {"content": f"{time.monotonic():.6f} "}, "finish_reason": None}
            yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
        yield f"data: {json.dumps({**head, 'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}]})}\n\n"
        yield "data: [DONE]\n\n"

    async def chat(_: Any) -> StreamingResponse:
        return StreamingResponse(chunks(), media_type="text/event-stream")

    return Starlette(routes=[Route(PATH, chat, methods=["POST"])])


def proxy(upstream: str) -> Starlette:
    """A proxy that passes bytes on."""
    import httpx
    from starlette.applications import Starlette
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    client = httpx.AsyncClient(base_url=upstream, trust_env=False, limits=httpx.Limits(max_connections=None))

    async def chat(request: Any) -> StreamingResponse:
        response = await client.send(client.build_request("POST", PATH, content=await request.body()), stream=True)
        return StreamingResponse(response.aiter_raw(), media_type="text/event-stream")

    return Starlette(routes=[Route(PATH, chat, methods=["POST"])])


def serve(what: str, port: int, upstream: str, seconds: float) -> None:
    """One target, in a process of its own."""
    import uvicorn

    from gateway_args.serve import Settings, app

    made = {
        "engine": lambda: engine(seconds),
        "proxy": lambda: proxy(upstream),
        "gateway": lambda: app(Settings(upstream=upstream, engine="plain", max_streams=100_000)),
    }[what]()
    uvicorn.run(made, port=port, log_level="error", access_log=False, backlog=4096)


def started(what: str, upstream: str, seconds: float) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, __file__, "--serve", what, str(port), upstream, str(seconds)]
    process = subprocess.Popen(command)
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    process.kill()
    raise SystemExit(f"{what} did not start")


async def stream(port: int, ages: list[float], held: list[int]) -> None:
    """One client: the age of each delta when it is here."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST {PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(BODY)}\r\n\r\n".encode() + BODY)
    held[0] += 1
    held[1] = max(held)
    try:
        while True:
            line = await asyncio.wait_for(reader.readline(), 30)
            if not line or line.startswith(b"data: [DONE]"):
                break
            if line.startswith(b"data: {"):
                now = time.monotonic()
                for choice in json.loads(line[6:])["choices"]:
                    for word in choice["delta"].get("content", "").split():
                        ages.append(now - float(word))
    finally:
        held[0] -= 1
        writer.close()


def memory(process: subprocess.Popen[bytes], what: str) -> int:
    """A process's memory in KiB: `VmRSS` now, `VmHWM` at its peak."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        return 0
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(what))


async def load(port: int, streams: int) -> tuple[list[float], int]:
    ages: list[float] = []
    held = [0, 0]
    tasks = []
    for _ in range(streams):
        tasks.append(asyncio.create_task(stream(port, ages, held)))
        await asyncio.sleep(1.0 / streams)  # they begin within a second
    await asyncio.gather(*tasks)
    return ages, held[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        what, port, upstream, seconds = args.serve
        serve(what, int(port), upstream, float(seconds))
        return
    behind, port = started("engine", "-", args.seconds)
    print(f"{args.streams} streams of {1 / EVERY:.0f} deltas a second, {args.seconds:g} s, on {os.cpu_count()} cores")
    print(f"{'target':10}{'held':>6}{'deltas':>9}{'p50 ms':>9}{'p99 ms':>9}{'KiB/stream':>12}")
    try:
        for what in ("engine", "proxy", "gateway"):
            process, at = (
                (behind, port) if what == "engine" else started(what, f"http://127.0.0.1:{port}", args.seconds)
            )
            try:
                asyncio.run(load(at, 5))
                before = memory(process, "VmRSS")
                ages, held = asyncio.run(load(at, args.streams))
                ages.sort()
                cost = (memory(process, "VmHWM") - before) / args.streams
                p99 = ages[int(len(ages) * 0.99)]
                print(f"{what:10}{held:6}{len(ages):9}{median(ages) * 1e3:9.2f}{p99 * 1e3:9.2f}{cost:12.1f}")
            finally:
                if process is not behind:
                    process.terminate()
                    process.wait(10)
    finally:
        behind.terminate()
        behind.wait(10)


if __name__ == "__main__":
    main()
