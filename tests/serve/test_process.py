"""The command as a process: the demonstration, a shutdown that lets streams end, and transcripts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

import httpx
from gateways import CHAT, QWEN, ask

from gateway_args.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def demonstration(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-u", "-m", "gateway_args", "serve", "--demo", "--listen", "127.0.0.1:0", *options]
    environ = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found is not None
        with httpx.Client(trust_env=False, timeout=20) as client:
            for _ in range(200):
                try:
                    if client.get(f"{found[0]}/healthz").status_code == 200:
                        break
                except httpx.TransportError:
                    pass
        yield process, found[0]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def request(word: str) -> dict[str, object]:
    return {"model": QWEN, "stream": True, "messages": ask(word), "tools": CHAT}


def test_a_shutdown_lets_streams_end() -> None:
    with demonstration() as (process, url), httpx.Client(trust_env=False, timeout=30) as client:
        with client.stream("POST", f"{url}/v1/chat/completions", json=request("both")) as response:
            lines = response.iter_lines()
            assert next(lines).startswith("data: ")
            process.send_signal(signal.SIGTERM)
            rest = [line for line in lines if line]
        assert rest[-1] == "data: [DONE]"
        assert '"finish_reason":"tool_calls"' in rest[-2]
        assert process.wait(20) in (0, -signal.SIGTERM)


def test_a_stream_past_the_grace_is_told_its_end() -> None:
    with demonstration("--grace", "2") as (process, url), httpx.Client(trust_env=False, timeout=30) as client:
        with client.stream("POST", f"{url}/v1/chat/completions", json=request("endless")) as response:
            lines = response.iter_lines()
            assert next(lines).startswith("data: ")
            process.send_signal(signal.SIGTERM)
            rest = [line for line in lines if line]
        assert "error" in json.loads(rest[-2].removeprefix("data: "))
        assert rest[-1] == "data: [DONE]"
        process.wait(20)


def test_transcripts_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with demonstration("--record", str(tmp_path)) as (_, url), httpx.Client(trust_env=False, timeout=30) as client:
        text = client.post(f"{url}/v1/chat/completions", json=request("boats")).text
        assert '"finish_reason":"tool_calls"' in text
    (file,) = tmp_path.glob("*.jsonl")
    assert main(["replay", str(file)]) == 0
    assert "find_boats" in capsys.readouterr().out
