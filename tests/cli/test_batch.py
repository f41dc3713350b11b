"""`gateway-args batch`: one answer a line, in order, whatever the line."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import cli, formats
from gateway_args.cli.batch import Batch
from gateway_args.events import Content, Finish, Malformed, ReasoningStart, Why
from gateway_args.reading import event_as_dict

if TYPE_CHECKING:
    from pathlib import Path

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]


def answer(row: dict[str, Any], **options: Any) -> dict[str, Any]:
    return Batch(**options).answer(json.dumps(row).encode(), 1)


def run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], data: bytes, *argv: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    status = cli.main(["batch", *argv])
    said = capfd.readouterr()
    return status, said.out, said.err


def test_a_line_is_answered_with_its_reading() -> None:
    said = answer({"id": "x", "format": "hermes", "tools": TOOLS, "deltas": ["Hi.\n", CALL[:20], CALL[20:]]})
    assert {key: said[key] for key in ("id", "content", "reasoning", "calls", "malformed", "finish")} == {
        "id": "x",
        "content": "Hi.",
        "reasoning": "",
        "calls": [
            {"index": 0, "id": "call_0", "name": "add", "declared": True, "arguments": '{"a": 2}', "complete": True}
        ],
        "malformed": [],
        "finish": {"reason": "tool_calls", "calls": 1, "reasoning_tokens": None},
    }
    assert {"text": "\n", "why": "layout"} in said["dropped"]


def test_text_is_one_delta_and_no_delta_is_an_empty_output() -> None:
    assert answer({"format": "hermes", "text": "Hi."})["content"] == "Hi."
    assert answer({"format": "hermes", "deltas": []})["finish"]["reason"] == "stop"


def test_events_are_written_with_their_kind_and_fields() -> None:
    said = answer({"id": 3, "format": "hermes", "text": "Hi.", "finish": "length"}, events=True)
    assert said == {
        "id": 3,
        "events": [
            {"kind": "content", "text": "Hi.", "tokens": None},
            {"kind": "finish", "reason": "length", "calls": 0, "reasoning_tokens": None},
        ],
    }


def test_texts_and_sources_of_the_events_are_the_output() -> None:
    events = answer({"format": "hermes", "deltas": ["Hi.\n" + CALL, " x"]}, events=True)["events"]
    assert "".join(event.get("text") or event.get("source") or "" for event in events) == "Hi.\n" + CALL + " x"
    assert [event["kind"] for event in events][-1] == "finish"
    assert "call_arguments" in {event["kind"] for event in events}


def test_an_event_as_a_dict_has_a_snake_case_kind() -> None:
    assert event_as_dict(ReasoningStart()) == {"kind": "reasoning_start"}
    assert event_as_dict(Malformed("x", Why.STRAY, 1)) == {
        "kind": "malformed",
        "text": "x",
        "why": "stray",
        "tokens": 1,
    }
    assert event_as_dict(Content("a")) == {"kind": "content", "text": "a", "tokens": None}
    assert event_as_dict(Finish("stop", 0, 2)) == {
        "kind": "finish",
        "reason": "stop",
        "calls": 0,
        "reasoning_tokens": 2,
    }


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "function": {"name": "add"}},
        {"type": "function", "name": "add"},
        {"type": "tool", "name": "add"},
    ],
)
def test_a_forced_function_without_a_format_is_its_arguments(choice: object) -> None:
    said = answer({"tool_choice": choice, "text": '{"a": 2}'})
    assert [(call["name"], call["arguments"]) for call in said["calls"]] == [("add", '{"a": 2}')]


@pytest.mark.parametrize(
    "choice",
    [
        "required",
        {"type": "any"},
        {"type": "allowed_tools", "mode": "required", "tools": []},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}},
    ],
)
def test_a_required_call_without_a_format_is_a_list(choice: object) -> None:
    said = answer({"tool_choice": choice, "text": '[{"name": "add", "parameters": {"a": 2}}]'})
    assert [(call["name"], call["arguments"]) for call in said["calls"]] == [("add", '{"a": 2}')]


def test_a_format_that_is_given_is_read_whatever_forces_the_call() -> None:
    row = {"tool_choice": "required", "text": CALL}
    for said in (answer({**row, "format": "hermes"}), answer(row, format="hermes")):
        assert [call["name"] for call in said["calls"]] == ["add"]


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_no_tool_choice_reads_as_a_request_without_tools(choice: object) -> None:
    said = answer({"format": "hermes", "tools": TOOLS, "tool_choice": choice, "text": CALL})
    assert said["calls"] == []
    assert said["content"] == CALL


@pytest.mark.parametrize("choice", [None, "auto", {"type": "auto"}, {"type": "allowed_tools", "mode": "auto"}])
def test_an_open_choice_reads_the_format(choice: object) -> None:
    assert len(answer({"format": "hermes", "tool_choice": choice, "text": CALL})["calls"]) == 1


def test_prompt_and_start_are_handed_on() -> None:
    row = {"format": "qwen3", "text": "hm\n</think>\n\nHi."}
    for more in ({"start": "reasoning"}, {"prompt": "<|im_start|>assistant\n<think>\n"}):
        said = answer({**row, **more})
        assert (said["reasoning"], said["content"]) == ("hm", "Hi.")


def test_lone_surrogate_escapes_are_taken() -> None:
    line = rb'{"id": "\ud83d", "format": "hermes", "deltas": ["a\ud83d", "\ude00b\ude00"]}'
    said = Batch().answer(line, 1)
    assert said["content"] == "a😀b\ufffd"
    assert said["id"] == "\ud83d"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "line 7: no JSON"),
        (b'{"id": NaN, "format": "plain", "text": ""}', "line 7: no JSON: NaN"),
        (b"[" * 100_000, "line 7: no JSON"),
        (b"[1]", "line 7: an object is wanted, not list"),
        (b'{"format": "hermes", "text": "\xff"}', "line 7: byte 30 is not UTF-8"),
        (b'{"format": "hermes"}', "expected text or deltas, got neither"),
        (b'{"format": "hermes", "text": "", "deltas": []}', "expected text or deltas, got both"),
        (b'{"format": "hermes", "deltas": ["a", 1]}', "deltas is a list of strings"),
        (b'{"format": "hermes", "text": 1}', "text is a string"),
        (b'{"text": "a"}', "format is missing"),
        (b'{"format": "hermse", "text": "a"}', "hermse"),
        (b'{"format": 1, "text": "a"}', "format is a string, not int"),
        (b'{"format": "hermes", "txt": "a"}', "unexpected key 'txt' (did you mean 'text'?); allowed: id, format,"),
        (b'{"format": "hermes", "text": "a", "tools": {}}', "tools: tools is a list, not dict"),
        (b'{"format": "hermes", "text": "a", "tools": [1]}', "tools: "),
        (b'{"format": "hermes", "text": "a", "tool_choice": "some"}', 'tool_choice "some"'),
        (b'{"tool_choice": {"type": "function", "name": ""}, "text": "a"}', "name is empty"),
        (b'{"format": "hermes", "text": "a", "start": "nowhere"}', "nowhere"),
        (b'{"format": "hermes", "text": "a", "finish": 1}', "finish is a string, not int"),
    ],
)
def test_a_bad_line_is_answered_with_its_error(line: bytes, said: str) -> None:
    got = Batch().answer(line, 7)
    assert set(got) == {"id", "error"}
    assert said in str(got["error"])
    assert "\n" not in str(got["error"])


def test_a_bad_line_keeps_its_id() -> None:
    assert answer({"id": [1], "format": "hermes"})["id"] == [1]


def test_the_run_goes_on_behind_a_bad_line_and_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    data = b'{"id": 1, "text": "a"}\nnonsense\n\n{"id": 3, "text": "c\\u2028"}'
    status, out, err = run(monkeypatch, capfd, data, "--format", "plain")
    lines = [json.loads(line) for line in out.split("\n") if line]
    assert status == 1
    assert [line["id"] for line in lines] == [1, None, 3]
    assert lines[1]["error"].startswith("line 2: ")
    assert lines[2]["content"] == "c\u2028"
    assert err == ""


def test_a_sound_run_ends_with_status_0(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(monkeypatch, capfd, b'{"text": "a"}\n', "--format", "plain", "--events")
    assert status == 0
    assert json.loads(out)["events"][0]["kind"] == "content"


def test_an_unknown_default_format_is_the_runs_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(monkeypatch, capfd, b"", "--format", "nowhere")
    assert (status, out) == (2, "")
    assert err.startswith("gateway-args batch: nowhere")
    assert err.count("\n") == 1


def test_a_missing_file_is_one_line_and_status_2(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["batch", str(tmp_path / "none")]) == 2
    assert capfd.readouterr().err == f"gateway-args batch: {tmp_path / 'none'}: No such file or directory\n"


def test_the_lines_may_come_from_a_file(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b'{"id": 1, "format": "plain", "text": "a"}\r\n')
    assert cli.main(["batch", str(tmp_path / "lines")]) == 0
    assert json.loads(capfd.readouterr().out)["content"] == "a"


def test_every_answer_comes_before_the_next_line_is_read() -> None:
    """A client may wait for an answer before it writes its next line."""
    with subprocess.Popen(
        [sys.executable, "-m", "gateway_args", "batch", "--format", "plain"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        for text in ("a", "b"):
            batch.stdin.write(json.dumps({"text": text}).encode() + b"\n")
            batch.stdin.flush()
            assert json.loads(batch.stdout.readline())["content"] == text
        batch.stdin.close()
        assert batch.wait(20) == 0


def test_the_same_tools_are_read_once() -> None:
    batch = Batch()
    for name in ("add", "add", "sub"):
        tools = [{"type": "function", "function": {"name": name, "parameters": {}}}]
        batch.answer(json.dumps({"format": "hermes", "tools": tools, "text": ""}).encode(), 1)
        first = batch._tools
        batch.answer(json.dumps({"format": "hermes", "tools": tools, "text": ""}).encode(), 2)
        assert batch._tools is first
    assert first is not None
    assert first.names == ("sub",)


def test_every_format_can_be_named_in_a_line() -> None:
    for name in formats.names():
        assert "error" not in answer({"format": name, "text": "Hi."})


def test_a_terminal_sees_how_far_a_batch_is(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    status, out, err = run(monkeypatch, capfd, b'{"text": "a"}\n' * 3, "--format", "plain")
    assert status == 0
    assert out.count("\n") == 3
    assert err == "\r3 lines\n"
