"""The commands that show the other two systems: a transcript replayed, a value that fills in."""

from __future__ import annotations

import pytest

from gateway_args import Tools, formats
from gateway_args.cli import main
from gateway_args.decoder import EngineEnd, Setting, Transcript, guard

TOOLS = Tools.of(
    [{"name": "add", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}]
)


@pytest.fixture
def transcript(tmp_path):
    file = tmp_path / "stream.jsonl"
    setting = Setting(formats.load("hermes"), TOOLS)
    text = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
    with file.open("w", encoding="utf-8") as lines:
        record = Transcript(setting, lines.write)
        engine = [*(text[n : n + 5] for n in range(0, len(text), 5)), EngineEnd("stop")]
        list(guard(iter(engine), setting.parser(), TOOLS, cancel=lambda: None, transcript=record))
    return file


def test_a_transcript_replays_without_the_engine(transcript, capsys):
    assert main(["replay", str(transcript)]) == 0
    said = capsys.readouterr().out
    assert "call 0 add" in said
    assert "the same events and outcomes" in said


def test_a_changed_byte_is_named_and_the_status_is_1(transcript, capsys):
    text = transcript.read_text(encoding="utf-8")
    transcript.write_text(text.replace('\\"a\\"', '\\"b\\"', 1), encoding="utf-8")
    assert main(["replay", str(transcript)]) == 1
    assert "delta" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_one_line_and_status_2(capsys):
    assert main(["replay", "no/such/file.jsonl"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_partial_demo_fills_in_within_80_columns(capsys):
    assert main(["demo", "partial", "--fast"]) == 0
    said = capsys.readouterr().out
    assert "Aster" in said
    assert max(map(len, said.splitlines())) <= 80
