"""The Vercel AI SDK over HTTP, with its providers for all three APIs: what it says of our stream is our `Reading`.

Optional: it needs `node` and `npm`, and installs the SDK into `tests/adapters/node` where it is not there yet.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from client_streams import NAMES, STREAMS
from loopback import serving

from gateway_args import adapters
from gateway_args.adapters import Envelope, Options, Usage
from gateway_args.reading import fold

HERE = Path(__file__).parent / "node"
KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")
MODES: dict[str, Options] = {
    "stream": Options(include_usage=True, reasoning_summary=True),
    "complete": Options(include_usage=True, reasoning_summary=True, calls="complete"),
}
each = pytest.mark.parametrize(("kind", "mode"), [(kind, mode) for kind in KINDS for mode in MODES])


@pytest.fixture(scope="module")
def node() -> str:
    """Where node is, once the SDK is installed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("the Vercel AI SDK test needs node and npm, and one of them is not on this machine")
    if not (HERE / "node_modules" / "@ai-sdk" / "anthropic").is_dir():
        command = [npm, "ci", "--no-audit", "--no-fund"]
        try:
            install = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, timeout=90)
        except subprocess.TimeoutExpired:
            pytest.skip("npm did not install the Vercel AI SDK within 90 seconds")
        if install.returncode:
            pytest.skip(f"npm could not install the Vercel AI SDK: {install.stderr.strip()[-300:]}")
    return node


@cache
def events_record(node: str, kind: adapters.Kind, mode: str) -> dict[str, Any]:
    """Stream name -> what the SDK said of it."""
    tools = sorted({entry.name for events in STREAMS.values() for entry in fold(events).calls})
    with serving() as server:
        for name in NAMES:
            envelope = Envelope(name, name, 0, Usage(completion_tokens=7))
            server.stream(name, b"".join(adapters.sse(kind, STREAMS[name], envelope, MODES[mode])))
        command = [node, "read.mjs", f"{server.url}/v1", kind, json.dumps(NAMES), json.dumps(tools)]
        run = subprocess.run(command, cwd=HERE, capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    return dict(zip(NAMES, map(json.loads, run.stdout.split("\n")[:-1]), strict=True))


@each
@pytest.mark.parametrize("name", NAMES)
def test_the_sdk_says_what_the_reading_says(node: str, kind: adapters.Kind, mode: str, name: str) -> None:
    got, reading = events_record(node, kind, mode)[name], fold(STREAMS[name])
    assert got["error"] is None
    assert (got["text"], got["reasoning"]) == (reading.content, reading.reasoning)
    sound = [entry for entry in reading.calls if entry.complete]
    shown = sound if mode == "complete" else reading.calls
    assert [tuple(entry) for entry in got["inputs"]] == [(entry.name, entry.arguments) for entry in shown]
    whole = [[entry.name, json.loads(entry.arguments, parse_int=float)] for entry in sound]
    assert got["calls"] == whole  # JavaScript's numbers are doubles
    assert reading.finish is not None
    assert got["finish"] == {"tool_calls": "tool-calls"}.get(reading.finish.reason, reading.finish.reason)
    assert got["usage"]["outputTokens"] == 7
