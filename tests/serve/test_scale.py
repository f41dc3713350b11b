"""Several gateways behind one address: a rolling restart in the middle of streams loses none of them."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import signal
import sys
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

from gateways import CHAT, QWEN, ask

from gateway_args.serve.demo import app as demo_app
from gateway_args.serve.server import running

pytestmark = pytest.mark.full
BODY = json.dumps({"model": QWEN, "stream": True, "messages": ask("both"), "tools": CHAT}).encode()
HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(BODY)}\r\n\r\n"


class Balancer:
    """A load balancer: each connection goes to the next gateway that takes it, bytes are passed on."""

    def __init__(self) -> None:
        self.behind: list[int] = []
        self._turn = itertools.count()

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(4):
            port = self.behind[next(self._turn) % len(self.behind)]
            with suppress(OSError):
                inside, outside = await asyncio.open_connection("127.0.0.1", port)
                break
        else:
            writer.close()
            return

        async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
            target.write_eof()

        with suppress(OSError):
            await asyncio.gather(pump(reader, outside), pump(inside, writer))
        writer.close()
        outside.close()


async def gateway(upstream: str) -> tuple[asyncio.subprocess.Process, int]:
    """A gateway in a process of its own."""
    options = ["--upstream", upstream, "--engine", "vllm", "--listen", "127.0.0.1:0", "--grace", "20"]
    environ = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-u", "-m", "gateway_args", "serve", *options, stdout=-1, stderr=asyncio.subprocess.DEVNULL,
        env=environ,
    )  # fmt: skip
    assert process.stdout is not None
    found = re.search(rb"http://127\.0\.0\.1:(\d+)", await process.stdout.readline())
    assert found is not None
    for _ in range(400):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", int(found[1]))
            writer.close()
            break
        await asyncio.sleep(0.05)
    return process, int(found[1])


async def client(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HEAD.encode() + BODY)
    data = await reader.read()
    writer.close()
    return data


async def run() -> tuple[list[bytes], list[Any]]:
    async with running(demo_app("vllm", pace=0.05)) as upstream:
        old = [await gateway(upstream) for _ in range(2)]
        balancer = Balancer()
        balancer.behind = [port for _, port in old]
        front = await asyncio.start_server(balancer.connection, "127.0.0.1", 0)
        port = front.sockets[0].getsockname()[1]
        streams: list[asyncio.Task[bytes]] = []
        codes = []
        made = []
        for process, at in old:  # each in turn: a new one first, then the old one is asked to end
            streams += [asyncio.create_task(client(port)) for _ in range(6)]
            await asyncio.sleep(0.6)
            fresh, new = await gateway(upstream)
            made.append(fresh)
            balancer.behind.append(new)
            balancer.behind.remove(at)
            process.send_signal(signal.SIGTERM)
            streams += [asyncio.create_task(client(port)) for _ in range(2)]
            codes.append(await asyncio.wait_for(process.wait(), 60))
        answers = await asyncio.gather(*streams)
        for process in made:
            process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(process.wait(), 60)
        front.close()
        return list(answers), codes


def test_a_rolling_restart_in_the_middle_of_streams() -> None:
    answers, codes = asyncio.run(run())
    assert len(answers) == 16
    for answer in answers:
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"finish_reason":"tool_calls"' in answer
        assert b"data: [DONE]" in answer
    assert set(codes) <= {0, -signal.SIGTERM}
