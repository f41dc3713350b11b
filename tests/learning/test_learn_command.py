"""`gateway-args learn`: what it reads, what it writes, its exit status."""

from __future__ import annotations

import json
import shutil
import struct

import pytest

pytest.importorskip("jinja2", reason="the extra `learn` is not installed")

from typing import TYPE_CHECKING

from hand_rendered import TEMPLATES

from gateway_args import contract, formats
from gateway_args.cli import main

if TYPE_CHECKING:
    from pathlib import Path

OBJECT = (TEMPLATES / "object.jinja").read_text(encoding="utf-8")


def test_a_template_is_learned_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["learn", str(TEMPLATES / "object.jinja"), "--out", str(out), "--name", "harbour"]) == 0
    said = capsys.readouterr().out
    assert "harbour: proved: 240 conversations" in said
    assert f"gateway-args contract {out / 'harbour.toml'} --corpus {out / 'harbour_corpus.toml'}" in said
    assert formats.read(out / "harbour.toml").turn_openers == ("<|bot|>\n",)
    assert contract.read(out / "harbour_corpus.toml").format == "harbour"


def test_without_out_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", str(TEMPLATES / "list.jinja")]) == 0
    assert '[calls.call]\nsyntax = "json"\nshape = "list"' in capsys.readouterr().out


def test_a_template_without_calls_has_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plain.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}", encoding="utf-8")
    assert main(["learn", str(tmp_path / "plain.jinja")]) == 1
    assert "not proved: the template writes no calls" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.jinja", None, "no such file"),
        ("broken.jinja", b"{% if %}", "cannot be compiled"),
        ("latin.jinja", b"\xff\xfe", "not UTF-8"),
        ("tokenizer_config.json", b"[]", "no JSON object"),
        ("config.json", b"{}", "neither a chat_template"),
        ("torn.json", b'{"chat_template": ', "no JSON"),
        ("model.gguf", b"GGML....", "no GGUF"),
        ("short.gguf", b"GGUF\x03\x00", "ends inside its header"),
        ("greedy.gguf", b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 40), "are the most"),
    ],
)
def test_what_cannot_be_read_has_status_2_and_one_line(
    name: str, content: bytes | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["learn", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_directory_gives_its_special_tokens_and_its_tool_template(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = [{"name": "default", "template": "{{ messages[0].content }}"}, {"name": "tool_use", "template": OBJECT}]
    config = {"chat_template": listed, "eos_token": {"content": "<|end|>"}, "bos_token": "<s>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    added = {"added_tokens": [{"id": 7, "content": "<call>", "special": False}]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(added), encoding="utf-8")
    assert main(["learn", str(tmp_path), "--name", "pier"]) == 0
    assert 'call = { text = "<call>", token = true, before = "\\n" }' in capsys.readouterr().out


def test_a_template_beside_the_config_comes_first(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ 1 }}"}), encoding="utf-8")
    shutil.copy(TEMPLATES / "object.jinja", tmp_path / "chat_template.jinja")
    assert main(["learn", str(tmp_path), "--name", "pier"]) == 0


def test_a_gguf_file_gives_its_template_and_its_control_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def text(value: str) -> bytes:
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw

    tokens = ["a", "<call>", "</call>", "<|end|>"]
    pairs = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("tokenizer.chat_template") + struct.pack("<I", 8) + text(OBJECT),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, len(tokens)) + b"".join(map(text, tokens)),
        text("tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, 4) + struct.pack("<4i", 1, 4, 1, 3),
        text("tokenizer.ggml.eos_token_id") + struct.pack("<II", 4, 3),
    ]
    header = b"GGUF" + struct.pack("<IQQ", 3, 999, len(pairs)) + b"".join(pairs)
    (tmp_path / "model.gguf").write_bytes(header + b"\x00tensors that nobody reads")
    assert main(["learn", str(tmp_path / "model.gguf")]) == 0
    said = capsys.readouterr().out
    assert 'call = { text = "<call>", token = true' in said
    assert 'call_end = { text = "</call>" }' in said
    assert 'turn_end = [{ text = "<|end|>", token = true' in said


def test_a_variable_of_the_template_can_be_set(tmp_path: Path) -> None:
    guarded = "{% if voice != 'calm' %}{{ raise_exception('set voice') }}{% endif %}" + OBJECT
    (tmp_path / "guarded.jinja").write_text(guarded, encoding="utf-8")
    assert main(["learn", str(tmp_path / "guarded.jinja")]) == 2
    assert main(["learn", str(tmp_path / "guarded.jinja"), "--set", "voice=calm"]) == 0


RESPONSE = {
    "start_anchor": "<|bot|>\n",
    "fields": {
        "thinking": {"open": "<mind>", "close": "</mind>"},
        "tool_calls": {
            "open": "<call>",
            "close": "</call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": ["<|end|>"]},
    },
}


def shipped(folder: Path, response: object, template: str = OBJECT) -> str:
    added = {"7": {"content": "<call>", "special": False}}
    config = {"chat_template": template, "response_template": response, "added_tokens_decoder": added}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(folder)


def test_a_response_template_comes_first_and_is_proved_by_the_chat_template(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", shipped(tmp_path, RESPONSE), "--name", "pier"]) == 0
    said = capsys.readouterr().out
    assert "the table is the response template's" in said
    assert 'source = "the model\'s response template"' in said
    assert 'text = "<call>", before = "\\n\\n\\n", token = true' in said


def test_a_response_template_that_is_wrong_is_said_and_the_chat_template_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = json.loads(json.dumps(RESPONSE).replace("<call>", "<job>"))
    assert main(["learn", shipped(tmp_path, wrong), "--name", "pier"]) == 0
    said = capsys.readouterr().out
    assert "the response template's table does not read what the chat template writes" in said
    assert 'call = { text = "<call>"' in said


def test_a_response_template_that_no_table_can_say_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = json.loads(json.dumps(RESPONSE))
    odd["fields"]["tool_calls"]["content"] = "float"
    assert main(["learn", shipped(tmp_path, odd), "--name", "pier"]) == 0
    assert "no table from the response template: pier: fields.tool_calls.content: float" in capsys.readouterr().out


def test_a_response_template_alone_is_not_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", shipped(tmp_path, RESPONSE, ""), "--name", "pier"]) == 1
    assert "no chat template is here to prove it by" in capsys.readouterr().out
