"""The lab: what its page asks, its bounds and its policy, and the page in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

import httpx
from gateways import served

from gateway_args.cli import main
from gateway_args.serve import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALL = 'Look. <tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(Settings(engine="vllm")) as running:
        yield running.url


def read(url: str, **said: Any) -> Any:
    response = httpx.post(f"{url}/lab/read", json=said, trust_env=False)
    return response.json() if response.status_code == 200 else response


def test_an_output_is_read_delta_by_delta(url: str) -> None:
    found = read(url, format="hermes", text=CALL)
    assert "".join(delta["text"] for delta in found["deltas"]) == CALL
    kinds = [event["kind"] for delta in found["deltas"] for event in delta["events"]]
    assert (kinds.count("call_start"), kinds.count("call_end"), kinds[-1]) == (1, 1, "finish")
    assert found["reading"]["calls"][0]["arguments"] == '{"a": 2}'
    assert found["same"] == {"characters": True, "words": True, "whole": True}


def test_what_each_client_holds_grows_with_the_step(url: str) -> None:
    last = len(CALL)
    for api, key in (("chat", "arguments"), ("responses", "arguments"), ("messages", "input")):
        grown = ""
        for at in (0, CALL.index("{") + 30, last - 20, last):
            held = read(url, format="hermes", text=CALL, chunking="characters", at=at)["clients"][api]["held"]
            now = "".join(part.get(key, "") for part in held)
            assert now.startswith(grown)
            grown = now
        assert json.loads(grown) == {"a": 2}


def test_what_is_wrong_is_one_line(url: str) -> None:
    for said in (
        {"format": "hermse", "text": ""},
        {"text": "x" * 16_001},
        {"text": 3},
        {"text": "", "chunking": "thirds"},
        {"text": "", "tools": "none"},
        {"text": "y" * 300_000},
    ):
        response = read(url, **said)
        assert response.status_code == 400
        assert "\n" not in response.json()["error"]
    assert httpx.post(f"{url}/lab/read", content=b"[" * 9999, trust_env=False).status_code == 400


def test_a_shared_case_is_read_by_batch(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "case.jsonl"
    file.write_text(read(url, format="hermes", text=CALL, prompt="", finish="stop")["case"] + "\n")
    assert main(["batch", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["calls"][0]["name"] == "add"


def test_the_page_asks_nobody_else_and_its_policy_says_so(url: str) -> None:
    response = httpx.get(url, trust_env=False)
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//""", response.text)
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy


def test_it_can_be_left_out() -> None:
    with served(Settings(engine="vllm", no_lab=True)) as running:
        assert httpx.get(running.url, trust_env=False).status_code == 404


@pytest.mark.full
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_in_a_browser_by_keyboard(url: str, scheme: Any, width: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    sync = pytest.importorskip("playwright.sync_api", reason="pip install playwright, to see the page in a browser")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    problems: list[str] = []
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--no-proxy-server"])
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on(
            "request", lambda request: None if request.url.startswith((url, "data:")) else problems.append(request.url)
        )
        page.goto(url)
        page.wait_for_selector("#deltas tr")
        page.select_option("#format", "hermes")
        page.fill("#text", CALL)
        page.focus("#text")
        page.keyboard.press("Tab")  # tools
        page.fill("#tools", "")
        page.keyboard.press("Tab")  # the prompt's summary
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Read it"
        page.keyboard.press("Enter")
        page.locator("#verdict", has_text="add").wait_for()
        assert "The same reading cut into" in page.inner_text("#verdict")
        page.focus("#step")
        page.keyboard.press("Home")
        page.locator("#where", has_text=re.compile("^1 of")).wait_for()
        assert '"content": "Look."' not in page.inner_text("#held")
        page.keyboard.press("End")
        page.locator("#held", has_text="tool_calls").wait_for()
        page.click("#ask")
        page.locator("#stream", has_text="[DONE]").wait_for()
        unnamed = page.evaluate(
            "[...document.querySelectorAll('select,textarea,input')].filter(e => !e.labels || !e.labels.length).length"
        )
        assert unnamed == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        folder = tmp_path_factory.getbasetemp() / "screenshots"
        folder.mkdir(exist_ok=True)
        page.screenshot(path=folder / f"lab-{scheme}-{width}.png", full_page=True)
        browser.close()
    assert problems == []
