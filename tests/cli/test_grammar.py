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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ("[1, 2", "no JSON: "),
        ("", "no JSON: "),
        ('{"a": 1}', "expected a list of tools, or a request with `tools`; this object has 'a'"),
        ("{}", "this object has nothing"),
        ('{"tools": {"add": {}}}', "tools is a list, not dict"),
        ("3", "tools is a list, not int"),
        ("[3]", "[0]"),
        ('[{"type": "function"}]', "[0]"),
        ('[{"type": "function", "function": {"name": "", "parameters": {}}}]', "name"),
        ('[{"type": "function", "function": {"name": "f", "parameters": []}}]', "parameters"),
        ("[]", "choice: a call is required and there is no tool"),
        ("[" * 100_000, "nested too deep"),
        ('[{"type": "function", "function": {"name": "f", "parameters": {"n": NaN}}}]', "NaN is no value of JSON"),
    ],
)
def test_a_bad_tools_file_is_one_line_that_names_it(
    text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert main(["grammar", "hermes", "--tools", str(path), "--choice", "required"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert text == "[]" or str(path) in err
    assert err.count("\n") == 1
    assert len(err) < 400


def test_a_directory_bytes_that_are_no_text_and_an_unknown_format(
    tools: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_bytes(b"\xff\xfe[]")
    for arguments, said in (
        (["hermes", "--tools", str(tmp_path)], str(tmp_path)),
        (["hermes", "--tools", str(broken)], str(broken)),
        (["hermez", "--tools", tools], "hermez: no format of that name"),
    ):
        assert main(["grammar", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
        assert err.count("\n") == 1


def test_schemas_of_strangers_are_one_line_or_a_grammar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deep: dict[str, object] = {"type": "string"}
    for _ in range(400):
        deep = {"type": "array", "items": deep}
    for schema in (
        {"type": "strnig"},
        {"type": 3},
        {"enum": "abc"},
        {"enum": []},
        {"pattern": "(" * 50},
        {"$ref": "#/properties/n"},
        {"$ref": 7},
        {"anyOf": []},
        {"properties": [1]},
        {"required": "n"},
        {"minimum": "x"},
        {"maxLength": -1},
        deep,
    ):
        parameters = {"type": "object", "properties": {"n": schema}}
        path = tmp_path / "tools.json"
        path.write_text(json.dumps([{"type": "function", "function": {"name": "f", "parameters": parameters}}]))
        for format in ("hermes", "qwen3_coder", "pythonic"):
            for target in ("lark", "structural-tag"):
                status = main(["grammar", format, "--tools", str(path), "--choice", "required", "--as", target])
                out, err = capsys.readouterr()
                assert (status, bool(out)) in ((0, True), (2, False)), (schema, format, target)
                assert status == 0 or (err.count("\n") == 1 and len(err) < 1000), err
