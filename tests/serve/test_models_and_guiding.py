"""Tables for models, how forced calls are asked for, metrics, and spans."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

import httpx
from gateways import CHAT, HEATER, QWEN, ask, served

from gateway_args import FormatError, adapters
from gateway_args.serve import Model, SettingError, Settings
from gateway_args.serve.models import Models
from gateway_args.serve.upstreams import chat, completion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args.serve.upstreams import Ask

TEMPLATES = Path(__file__).parents[2] / "fixtures" / "templates"
NAMED = {"type": "function", "function": {"name": "set_heater"}}


def asked(settings: Settings, model: str = QWEN, prompt: str = "", **fields: Any) -> Ask:
    """What an engine is sent for this request."""
    known = Models(settings).find(model)
    said = {"model": model, "messages": ask("heater"), "tools": CHAT, "stream": True, **fields}
    request = adapters.request("chat", said, model_format=known.format)
    if prompt:
        return completion(settings, request, known, prompt, prompt)
    return chat(settings, request, known)


@pytest.mark.parametrize("guided", ["tag", "json", "off"])
@pytest.mark.parametrize("model", [QWEN, "MiniMaxAI/MiniMax-M2"])
def test_a_forced_call_however_it_is_asked_for(guided: str, model: str) -> None:
    with served(Settings(engine="vllm", guided=guided)) as running:
        said = {"model": model, "messages": ask("heater"), "tools": CHAT, "tool_choice": NAMED}
        answer = httpx.post(f"{running.url}/v1/chat/completions", json=said, trust_env=False, timeout=30).json()
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("set_heater", HEATER)


def test_each_engine_is_asked_in_its_own_words() -> None:
    prompt = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    vllm = asked(Settings(engine="vllm"), prompt=prompt, tool_choice=NAMED).body
    assert json.loads(vllm["structured_outputs"]["structural_tag"])["type"] == "structural_tag"
    assert vllm["skip_special_tokens"] is False
    json_way = asked(Settings(engine="vllm", guided="json"), prompt=prompt, tool_choice=NAMED)
    assert json_way.body["structured_outputs"]["json"]["required"] == ["room", "celsius"]
    off = asked(Settings(engine="vllm", guided="off"), prompt=prompt, tool_choice=NAMED)
    assert ("structured_outputs" not in off.body, len(off.notes)) == (True, 1)
    on_chat = asked(Settings(engine="vllm", route="chat")).body
    assert (on_chat["tool_choice"], len(on_chat["tools"])) == ("none", 2)
    sglang = asked(Settings(engine="sglang"), tool_choice=NAMED).body
    assert (sglang["response_format"]["type"], sglang["separate_reasoning"]) == ("structural_tag", False)
    assert "tool_choice" not in sglang
    structured = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    sglang = asked(Settings(engine="sglang"), tools=None, response_format=structured).body
    assert sglang["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "output", "schema": {"type": "object"}},
    }
    assert "json_schema" not in sglang
    llama = asked(Settings(engine="llama.cpp"), prompt=prompt, tool_choice=NAMED, max_tokens=9).body
    assert (llama["json_schema"]["required"], llama["n_predict"]) == (["room", "celsius"], 9)
    plain = asked(Settings(engine="plain"), tool_choice=NAMED).body
    assert plain.keys() == {"model", "messages", "tools", "stream", "stream_options"}


def test_a_thought_that_the_prompt_opened_is_no_thought_of_a_guided_document() -> None:
    prompt = "]~b]ai\n<think>\n"
    tag = asked(Settings(engine="vllm"), "MiniMaxAI/MiniMax-M2", prompt, tool_choice=NAMED)
    assert (tag.prompt, tag.format.name, tag.start) == (prompt, "minimax_m2", None)
    document = asked(Settings(engine="llama.cpp"), "MiniMaxAI/MiniMax-M2", prompt, tool_choice=NAMED)
    assert document.prompt == ""
    assert document.start == document.format.home


def test_the_model_map_wins_over_the_format_of_all_and_the_models_name() -> None:
    rows = {
        "ours": Model("ours", upstream="Qwen/Qwen3-8B"),
        "acme/*": Model("acme/*", format="kimi_k2", start="reasoning"),
    }
    models = Models(Settings(models=rows))
    assert models.find("ours").format.name == "qwen3"
    assert models.find("ours").upstream == "Qwen/Qwen3-8B"
    assert (models.find("acme/x").format.name, models.find("acme/x").start) == ("kimi_k2", "reasoning")
    assert models.find("zai-org/GLM-4.6").format.name == "glm45"
    assert Models(Settings(format="hermes")).find("anything").format.name == "hermes"
    with pytest.raises(FormatError, match="nobody/knows"):
        models.find("nobody/knows")


@pytest.mark.full
def test_a_table_is_learned_from_a_models_own_files(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the extra `learn` is not installed")
    shutil.copy(TEMPLATES / "object.jinja", tmp_path / "chat_template.jinja")
    found = Models(Settings(model_dir=str(tmp_path))).find("acme/unheard-of")
    assert any(state.calls for state in found.format.states.values())
    (tmp_path / "chat_template.jinja").write_text("{{ messages[0].content }}")
    with pytest.raises(SettingError, match="no table could be proved"):
        Models(Settings(model_dir=str(tmp_path)))


def test_metrics_count_what_happened() -> None:
    with (
        served(Settings(engine="vllm", stop_invalid=True)) as running,
        httpx.Client(trust_env=False, timeout=30) as http,
    ):
        for word in ("both", "wrong", "length", "error"):
            said = {"model": QWEN, "messages": ask(word), "tools": CHAT, "stream": True}
            assert http.post(f"{running.url}/v1/chat/completions", json=said).status_code == 200
        end = time.monotonic() + 10  # the last request is counted once it is over
        while 'status="200"} 4.0' not in (page := http.get(f"{running.url}/metrics").text):
            assert time.monotonic() < end, page
    by = f'format="qwen3",model="{QWEN}"'
    for line in (
        f'gateway_args_calls_total{{complete="true",{by}}} 2.0',
        f'gateway_args_refused_calls_total{{code="STREAM-GRAMMAR",{by}}} 1.0',
        'gateway_args_upstream_faults_total{kind="engine_error"} 1.0',
        'gateway_args_requests_total{api="chat",status="200"} 4.0',
        "gateway_args_streams 0.0",
    ):
        assert line in page
    assert 'gateway_args_added_seconds_count{format="qwen3"}' in page


def test_a_request_is_a_span_where_opentelemetry_is(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = pytest.importorskip("opentelemetry.trace", reason="pip install opentelemetry-api")
    seen: list[tuple[str, dict[str, Any]]] = []

    class Span:
        def __init__(self, name: str) -> None:
            self.attributes: dict[str, Any] = {}
            seen.append((name, self.attributes))

        def set_attribute(self, key: str, value: Any) -> None:
            self.attributes[key] = value

    class Tracer:
        @contextmanager
        def start_as_current_span(self, name: str, **_: Any) -> Iterator[Span]:
            yield Span(name)

    monkeypatch.setattr(trace, "get_tracer", lambda *_: Tracer())
    with served(Settings(engine="vllm")) as running:
        said = {"model": QWEN, "messages": ask("boats"), "tools": CHAT}
        httpx.post(f"{running.url}/v1/chat/completions", json=said, trust_env=False, timeout=30)
    (name, attributes), *_ = seen
    assert name == "gateway_args chat"
    assert (attributes["gateway_args.calls"], attributes["gateway_args.status"]) == (1, 200)
