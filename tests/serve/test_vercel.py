"""The Vercel AI SDK against the gateway, with its providers for all three APIs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

from gateways import BOATS, served

from gateway_args.serve import Settings
from gateway_args.serve.demo import TOOLS, outputs

NODE = Path(__file__).parents[1] / "adapters" / "node"
pytestmark = pytest.mark.full


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
def test_the_sdk_calls_the_tool_of_every_model(kind: str) -> None:
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules" / "@ai-sdk" / "anthropic").is_dir():
        pytest.skip("needs node and the Vercel AI SDK: run tests/adapters/test_vercel_ai_sdk.py, which installs it")
    models = list(outputs())
    with served(Settings(engine="vllm")) as running:
        command = [node, "read.mjs", f"{running.url}/v1", kind, json.dumps(models), json.dumps(list(TOOLS))]
        ran = subprocess.run(command, cwd=NODE, capture_output=True, encoding="utf-8", check=False, timeout=100)
    assert ran.returncode == 0, ran.stderr
    said = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(said) == len(models)
    for found in said:
        assert found["error"] is None
        assert found["calls"] == [["find_boats", BOATS]]
        assert found["finish"] == "tool-calls"
