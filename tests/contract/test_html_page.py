"""The contract's page: what it holds, and what a browser makes of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import contract

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = """
format = "hermes"
[tools.add]
[[case]]
name = "Only text"
kinds = ["plain"]
output = "Hello."
expect.content = "Hello."
[[case]]
name = "One call"
kinds = ["single"]
output = '<tool_call>{"name": "add", "arguments": {"a": "x\\u0000"}}</tool_call>'
expect.calls = [{ name = "add", arguments = '{"a": "x\\u0000"}' }]
[[case]]
name = "Read otherwise than expected"
kinds = ["plain"]
output = "Bye \u0007."
expect.content = "Hello."
"""


@pytest.fixture(scope="module")
def page() -> str:
    # The bell is written as TOML writes it.
    corpus = contract.parse(CORPUS.replace('"Bye \u0007."', '"Bye \\u0007."'))
    return contract.page([contract.check("hermes", corpus, contract.QUICK)])


class Read(HTMLParser):
    """The tags of a page with their attributes, and the text of each case."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cases: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open += [tag] if tag not in ("meta", "input") else []
        if tag == "details":
            self.cases.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "details" in self.open:
            self.cases[-1] += data + "\n"


def test_every_case_has_its_output_its_events_and_its_cuts(page: str) -> None:
    read = Read()
    read.feed(page)
    assert read.open == []
    text, call, wrong = read.cases
    assert re.search(r"holds\n.*Only text.*plain\n.*Output\nHello\.\n.*Content\nHello\.\n", text, re.DOTALL)
    assert re.search(r"Finish\n.*stop, 0 calls", text, re.DOTALL)
    assert re.search(r"text: \d+ chunkings", text)
    for said in ("CallStart", "call 0: add", "CallArguments", "call 0: complete", "tool_calls, 1 calls"):
        assert said in call
    assert wrong.startswith("broken\n")
    assert "Bye ␇." in wrong
    assert "expected" in wrong


def test_a_page_asks_for_nothing_from_elsewhere(page: str) -> None:
    read = Read()
    read.feed(page)
    names = {tag for tag, _ in read.tags}
    assert not names & {"link", "img", "iframe", "object", "embed"}
    assert not any({"src", "href", "action"} & set(attributes) for _, attributes in read.tags)
    assert "url(" not in page
    assert "@import" not in page
    policy = next(each["content"] for tag, each in read.tags if tag == "meta" and "http-equiv" in each)
    assert str(policy).startswith("default-src 'none';")


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PROBE = """<script>
const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const name = summary => (summary.childNodes[1]?.textContent ?? "").trim();
const now = () => ({
  count: document.getElementById("count").textContent,
  names: [...document.querySelectorAll(".case:not([hidden]) summary")].map(name),
  focus: document.activeElement === document.body ? "" : document.activeElement.id || name(document.activeElement),
});
const type = text => { query.value = text; query.dispatchEvent(new Event("input")); };
const said = [now()];
press("/"); said.push(now());
type("CallStart add"); said.push(now());
press("Enter"); said.push(now());
press("Escape"); said.push(now());
press("j"); press("j"); said.push(now());
press("k"); said.push(now());
broken.click(); said.push(now());
const style = getComputedStyle(document.body);
said.push({ dark: matchMedia("(prefers-color-scheme: dark)").matches, ground: style.backgroundColor });
document.title = JSON.stringify(said);
</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="needs a browser: apt-get install chromium")
def test_a_browser_searches_it_and_walks_it_by_keyboard(page: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", PROBE), encoding="utf-8")
    said = probed(path, tmp_path)
    everything = ["Only text", "One call", "Read otherwise than expected"]
    assert said[0] == {"count": "3 of 3 cases", "names": everything, "focus": ""}
    assert said[1]["focus"] == "query"
    assert (said[2]["count"], said[2]["names"]) == ("1 of 3 cases", ["One call"])
    assert said[3]["focus"] == "One call"
    assert said[4]["names"] == everything
    assert [each["focus"] for each in said[5:7]] == ["Read otherwise than expected", "One call"]
    assert said[7]["names"] == ["Read otherwise than expected"]
    assert said[8] == {"dark": False, "ground": "rgb(255, 255, 255)"}
    dark = probed(path, tmp_path, "--blink-settings=preferredColorScheme=0")
    assert dark[8] == {"dark": True, "ground": "rgb(20, 23, 27)"}


def probed(path: Path, folder: Path, *options: str) -> list[dict[str, Any]]:
    """What the probe of that page wrote."""
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*command, *options, "--dump-dom", path.as_uri()], capture_output=True, text=True, check=True, timeout=90
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title
    said: list[dict[str, Any]] = json.loads(title[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    return said
