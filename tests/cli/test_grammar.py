"""The command `grammar`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gateway_args.cli import main

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "add",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}},
                "required": ["a"],
            },
        },
    }
]


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(path)


def test_the_structural_tag_is_the_default(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "hermes", "--tools", tools, "--choice", "required"]) == 0
    out, err = capsys.readouterr()
    tag = json.loads(out)
    assert tag["type"] == "structural_tag"
    assert "<tool_call>" in out
    assert err == "gateway-args grammar: not enforced: add.a: uniqueItems\n"


def test_lark(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "hermes", "--tools", tools, "--choice", "add", "--as", "lark"]) == 0
    assert capsys.readouterr().out.startswith("%llguidance {}\nstart: ")


def test_no_call_is_another_tag(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "hermes", "--choice", "none"]) == 0
    tag = json.loads(capsys.readouterr().out)
    assert tag["format"] == {"type": "any_text", "excludes": ["<tool_call>"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hermes"], "--tools: name the file of the request's tools"),
        (["hermes", "--tools", "TOOLS", "--choice", "sub"], "choice: no tool named 'sub'; there are add"),
        (["hermes", "--tools", "TOOLS", "--strict"], "hermes: strict: the target does not enforce add.a: uniqueItems"),
        (["plain", "--tools", "TOOLS"], "plain: the format has no calls"),
        (["pythonic", "--tools", "TOOLS"], "choose required or a function's name, or write Lark"),
        (["hermes", "--choice", "none", "--as", "lark"], "leave out --as lark"),
    ],
)
def test_what_cannot_be_said_is_one_line(
    arguments: list[str], said: str, tools: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grammar", *(tools if word == "TOOLS" else word for word in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
