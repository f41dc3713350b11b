"""The Vercel AI SDK over HTTP, with its openai-compatible provider: what it says of our stream is our `Reading`.

Optional: it needs `node` and `npm`, and installs the SDK into `tests/adapters/node` where it is not there yet.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from client_streams import NAMES, STREAMS
from loopback import serving

from gateway_args import adapters
from gateway_args.adapters import Envelope, Options
from gateway_args.reading import fold

HERE = Path(__file__).parent / "node"
REASONS = {"tool_calls": "tool-calls"}


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """Stream name -> what the SDK said of it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("the Vercel AI SDK test needs node and npm, and one of them is not on this machine")
    if not (HERE / "node_modules").is_dir():
        command = [npm, "ci", "--no-audit", "--no-fund"]
        try:
            install = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, timeout=90)
        except subprocess.TimeoutExpired:
            pytest.skip("npm did not install the Vercel AI SDK within 90 seconds")
        if install.returncode:
            pytest.skip(f"npm could not install the Vercel AI SDK: {install.stderr.strip()[-300:]}")
    tools = sorted({entry.name for events in STREAMS.values() for entry in fold(events).calls})
    with serving() as server:
        for name in NAMES:
            events = STREAMS[name]
            server.stream(
                name, b"".join(adapters.sse("chat", events, Envelope(name, name, 0), Options(include_usage=True)))
            )
        command = [node, "read.mjs", f"{server.url}/v1", json.dumps(NAMES), json.dumps(tools)]
        run = subprocess.run(command, cwd=HERE, capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    return dict(zip(NAMES, map(json.loads, run.stdout.split("\n")[:-1]), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_sdk_says_what_the_reading_says(said: dict[str, Any], name: str) -> None:
    got, reading = said[name], fold(STREAMS[name])
    assert got["error"] is None
    assert (got["text"], got["reasoning"]) == (reading.content, reading.reasoning)
    assert [tuple(entry) for entry in got["inputs"]] == [(entry.name, entry.arguments) for entry in reading.calls]
    whole = [[entry.name, json.loads(entry.arguments, parse_int=float)] for entry in reading.calls if entry.complete]
    assert got["calls"] == whole  # JavaScript's numbers are doubles
    assert reading.finish is not None
    assert got["finish"] == REASONS.get(reading.finish.reason, reading.finish.reason)
    assert got["usage"]["outputTokens"] == 0  # hand-made events have no token counts
