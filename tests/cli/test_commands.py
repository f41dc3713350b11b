"""The other commands: what they print, to a pipe and to a terminal, and their one-line errors."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from gateway_args import cli
from gateway_args.cli import demo

if TYPE_CHECKING:
    from pathlib import Path

CALL = 'Hi.\n<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
BROKEN_TABLE = """
summary = "x"
[markers]
call = { text = "<call>" }
[states.content]
kind = "content"
on = { call = "nowhere" }
"""
CORPUS = """
format = "plain"
[[case]]
name = "Text is content"
kinds = ["plain"]
output = "Hi."
expect.content = "{content}"
"""


@pytest.fixture
def output(tmp_path: Path) -> str:
    path = tmp_path / "output.txt"
    path.write_text(CALL, encoding="utf-8")
    return str(path)


def parse(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert cli.main(["parse", *argv]) == 0
    return capsys.readouterr().out


def test_parse_writes_one_event_a_line_to_a_pipe(capsys: pytest.CaptureFixture[str], output: str) -> None:
    lines = parse(capsys, output, "--format", "hermes").splitlines()
    assert lines[0] == "content         text='Hi.'"
    assert lines[-1] == "finish          reason='tool_calls' calls=1"
    assert any(line.startswith("call_start      index=0 id='call_0' name='add'") for line in lines)


@pytest.mark.parametrize("chunk", ["whole", "char", "1", "7", "tokens"])
def test_parse_reads_the_same_however_it_cuts(capsys: pytest.CaptureFixture[str], output: str, chunk: str) -> None:
    said = json.loads(parse(capsys, output, "--format", "hermes", "--chunk", chunk, "--as", "json"))
    assert said["content"] == "Hi."
    assert [call["arguments"] for call in said["calls"]] == ['{"a": 2}']


def test_parse_shows_a_table_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    said = re.sub(r"\x1b\[[0-9;]*m", "", parse(capsys, output, "--format", "hermes", "--chunk", "12"))
    lines = [line.rstrip() for line in said.splitlines()]
    assert max(map(len, lines)) <= 80
    assert re.match(r"delta +event +fields$", lines[0])
    assert re.match(r"'Hi\.\\n<tool_ca' +content +text 'Hi\.'$", lines[1])
    assert re.match(r"'ll>\\n\{\"name\":' +dropped ", lines[2])
    assert "(held)" not in said
    assert "'<'" in parse(capsys, output, "--format", "hermes", "--chunk", "char").split("(held)")[1]


def test_parse_shows_a_reading(capsys: pytest.CaptureFixture[str], output: str) -> None:
    said = parse(capsys, output, "--model", "Qwen/Qwen3-8B", "--as", "reading")
    assert 'call        add({"a": 2})\n' in said
    assert "finish      tool_calls" in said


def test_parse_takes_tools_prompt_start_and_finish(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('{"tools": []}')
    (tmp_path / "text").write_text("hm\n</think>\n\n<tool_call>{}</tool_call>")
    options = ["--format", "qwen3", "--tools", str(tmp_path / "tools.json"), "--finish", "length", "--as", "json"]
    for where in (["--start", "reasoning"], ["--prompt", "<|im_start|>assistant\n<think>\n"]):
        said = json.loads(parse(capsys, str(tmp_path / "text"), *options, *where))
        assert said["reasoning"] == "hm"
        assert said["content"] == "<tool_call>{}</tool_call>"
        assert said["finish"]["reason"] == "length"


def test_parse_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("é".encode())))
    assert "text='é'" in parse(capsys, "--format", "plain")


@pytest.mark.parametrize(
    ("shape", "sign"), [("chat", "[DONE]"), ("responses", "response.completed"), ("messages", "message_stop")]
)
def test_parse_shows_what_a_client_would_receive(
    capfd: pytest.CaptureFixture[str], output: str, shape: str, sign: str
) -> None:
    assert cli.main(["parse", output, "--format", "hermes", "--as", shape]) == 0
    said = capfd.readouterr().out
    assert said.startswith(("data: ", "event: "))
    assert sign in said


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["parse"], "one of the arguments --format/-f --model is required"),
        (["parse", "-f", "hermes", "--as", "xml"], "invalid choice: 'xml'"),
        (["parse", "--format", "hermes", "--nope"], "unrecognized arguments: --nope"),
        (["nope"], "invalid choice: 'nope'"),
        ([], "required: COMMAND"),
    ],
)
def test_a_wrong_option_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], argv: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(argv)
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_what_cannot_be_run_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"ab\xff")
    (tmp_path / "text").write_text("Hi.")
    (tmp_path / "table.toml").write_text(BROKEN_TABLE)
    (tmp_path / "corpus.toml").write_text("format = ")
    text = str(tmp_path / "text")
    for argv, said in (
        (["parse", "--format", "hermse", text], "hermes"),
        (["parse", "--model", "acme/none", text], "acme/none"),
        (["parse", "--format", "plain", str(tmp_path / "none")], "No such file"),
        (["parse", "--format", "plain", str(tmp_path)], "Is a directory"),
        (["parse", "--format", "plain", str(tmp_path / "bytes")], "byte 2 is not UTF-8"),
        (["parse", "--format", "plain", "--chunk", "0", text], "--chunk 0"),
        (["parse", "--format", "plain", "--chunk", "some", text], "--chunk some"),
        (["parse", "--format", "plain", "--start", "nowhere", text], "nowhere"),
        (["parse", "--format", "plain", "--tools", text, text], "no JSON"),
        (["parse", "--format", str(tmp_path / "table.toml"), text], "states.content.on.call"),
        (["formats", "show", "nowhere"], "nowhere"),
        (["formats", "check", str(tmp_path / "table.toml")], "states.content.on.call"),
        (["formats", "check", str(tmp_path / "none.toml")], "no such file"),
        (["contract", "nowhere"], "nowhere"),
        (["contract", "--corpus", str(tmp_path / "corpus.toml")], "corpus.toml"),
        (["contract", "a", "b", "--corpus", text], "one format"),
        (["contract", str(tmp_path / "table.toml")], "--corpus FILE"),
    ):
        assert cli.main(argv) == 2, argv
        captured = capsys.readouterr()
        assert said in captured.err, argv
        assert captured.err.startswith(f"gateway-args {argv[0]}: ")
        assert captured.err.count("\n") == 1
        assert captured.out == ""


def test_formats_lists_shows_and_checks(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in (["formats"], ["formats", "list"]):
        assert cli.main(argv) == 0
        lines = capsys.readouterr().out.splitlines()
        assert any(line.startswith("hermes\t") and "qwen25" in line for line in lines)
    assert cli.main(["formats", "show", "qwen25"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("hermes: ")
    assert "marker call: <tool_call>  (one token" in said
    assert "state content (content): call -> call" in said
    assert "call syntax object: json" in said
    assert "keyed" not in said, "what a table leaves out is not shown"
    assert cli.main(["formats", "check", "hermes", "json"]) == 0
    assert capsys.readouterr().out.count(": sound (") == 2


def test_the_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"gateway-args {version('gateway-args')}\n"


def test_contract_passes_with_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["contract", "plain", "--quick"]) == 0
    assert re.fullmatch(r"plain: (\d+) of \1 cases hold, \d+ runs\n", capsys.readouterr().out)


def test_contract_takes_an_alias(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from gateway_args.cli import contract as command

    pairs = list(command._pairs(["qwen25"], None))
    assert [(name, corpus.format) for name, corpus in pairs] == [("qwen25", "hermes")]


def test_contract_fails_with_a_minimal_chunking_and_writes_reports(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "corpus.toml"
    path.write_text(CORPUS.replace("{content}", "Ho."))
    assert cli.main(["contract", "--corpus", str(path)]) == 1
    said = capsys.readouterr().out
    assert "reading: content is 'Hi.', and 'Ho.' was expected" in said
    assert "deltas: 'Hi.'\n" in said
    assert cli.main(["contract", "plain", "--corpus", str(path), "--report", "json"]) == 1
    (report,) = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["failures"][0]["pieces"] == ["Hi."]
    assert cli.main(["contract", "plain", "--corpus", str(path), "--report", "html"]) == 1
    assert "<h2>plain</h2>" in capsys.readouterr().out


def test_contract_runs_a_table_of_ones_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('summary = "x"\n[states.content]\nkind = "content"\n')
    own = CORPUS.replace("{content}", "Hi.").replace("plain", "mine", 1)
    (tmp_path / "corpus.toml").write_text(own)
    assert cli.main(["contract", str(tmp_path / "mine.toml"), "--corpus", str(tmp_path / "corpus.toml")]) == 0
    assert "1 of 1 cases hold" in capsys.readouterr().out
    (tmp_path / "mine_corpus.toml").write_text(own)
    assert cli.main(["contract", str(tmp_path / "mine.toml")]) == 0
    assert "1 of 1 cases hold" in capsys.readouterr().out


def test_a_corpus_of_another_format_is_no_evidence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('summary = "x"\n[states.content]\nkind = "content"\n')
    path = tmp_path / "corpus.toml"
    path.write_text(CORPUS.replace("{content}", "Hi."))
    assert cli.main(["contract", str(tmp_path / "mine.toml"), "--corpus", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "a corpus of the format 'plain', not of 'mine'; write format = 'mine'" in said


def test_corpora_in_the_operators_folder_are_found(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gateway_args import contract

    for name in ("mine", "yours"):
        (tmp_path / f"{name}.toml").write_text('summary = "x"\n[states.content]\nkind = "content"\n')
    (tmp_path / "contract").mkdir()
    text = CORPUS.replace("{content}", "Hi.")
    (tmp_path / "mine_corpus.toml").write_text(text.replace("plain", "mine", 1))
    (tmp_path / "contract" / "yours.toml").write_text(text.replace("plain", "yours", 1))
    monkeypatch.setenv("GATEWAY_ARGS_FORMATS", str(tmp_path))
    assert {"mine", "yours", "hermes"} <= set(contract.names())
    assert cli.main(["contract", "mine", "yours", "-j", "1"]) == 0
    assert capsys.readouterr().out.count("1 of 1 cases hold") == 2


def test_a_table_with_many_mistakes_is_told_all_of_them_with_their_lines(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        """sumary = "x"
turn_end = ["<end>", "<end>"]

[markers]
call = { text = "<call>", bfore = "\\n", token = "yes" }
call_end = { text = "" }

[states.content]
kind = "content"
on = { call = "cal" }

[states.call]
kind = "call"
calls = ["objekt"]

[calls.object]
syntax = "jsn"
"""
    )
    assert cli.main(["formats", "check", str(path), "hermes"]) == 2
    captured = capsys.readouterr()
    assert captured.out.startswith("hermes: sound (")
    assert [
        line.removeprefix("gateway-args formats: mine.toml:").split(": ")[:2] for line in captured.err.splitlines()
    ] == [
        ["1", "sumary"],
        ["2", "turn_end[1]"],
        ["5", "markers.call.bfore"],
        ["5", "markers.call.token"],
        ["6", "markers.call_end.text"],
        ["10", "states.content.on.call"],
        ["12", "states.call.on"],
        ["14", "states.call.calls[0]"],
        ["17", "calls.object.syntax"],
        [" summary", "missing; one sentence that says whose format it is"],
    ]


def test_contract_without_llguidance_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llguidance", None)
    assert cli.main(["contract", "plain"]) == 2
    err = capsys.readouterr().err
    assert "llguidance, which is not installed: pip install 'gateway-args[contract]'" in err
    assert err.count("\n") == 1


def test_the_partial_demo_without_pydantic_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert cli.main(["demo", "partial", "--fast"]) == 2
    err = capsys.readouterr().err
    assert "needs pydantic: pip install 'gateway-args[typed]'" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("what", demo.WHAT)
def test_a_demo_is_plain_and_80_columns_wide_when_piped(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", what, "--fast"]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert "\x1b" not in said


def test_the_demo_fits_24_rows_and_shows_what_a_client_joins(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "--fast"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) < 24
    assert [line.split()[0] for line in said[:4]] == ["delta", "data:", "(held)", "malformed"]
    deltas = "".join(line[7:] for line in said[4:] if line.startswith("delta "))
    assert deltas.replace("⏎", "\n") == "".join(demo.load("chat").DELTAS) + "(the end)"
    data = [line[8:] for line in said if line.startswith("  data: ")]
    calls = [json.loads(line)["tool_calls"][0] for line in data if line.startswith('{"tool_calls"')]
    assert calls[0]["function"]["name"] == "find_boats"
    arguments = "".join(call["function"]["arguments"] for call in calls[1:])
    assert json.loads(arguments) == {"from": "Quay 4", "seats": 2}
    assert '{"content":"I will look."}' in data
    assert data[-2:] == ['{} … "finish_reason":"tool_calls"', "[DONE]"]
    size = len("".join(demo.load("chat").DELTAS))
    assert f"{size} of {size} other ways to cut this text read the same" in "\n".join(said)
    assert said[-1] == "  malformed  wo}}⏎  and the call is not complete, must not run"


def test_the_demo_of_events_shows_where_fragments_stop_and_malformed_text_begins() -> None:
    events = demo.load("events")
    out = io.StringIO()
    events.show(fast=True, console=Console(file=out, width=80, highlight=False))
    said, broken = out.getvalue().split("3. A broken output")
    assert said.count("the same") == len(events.cuts(events.WRITTEN))
    assert "DIFFERENT" not in said
    assert re.search(r"␣two +▸ arguments +␣t\n +malformed +wo \(arguments\)\n", broken)
    assert 'find_boats  {"from": "Quay 4", "seats": t\n    not complete, must not run' in broken
    assert 'set_heater  {"room": "cabin", "celsius": 21}\n    complete, may run' in broken


@pytest.mark.parametrize(("what", "colour"), [("chat", "\x1b[32m"), ("events", "\x1b[1;33m")])
def test_a_demo_is_in_colour_on_a_terminal(what: str, colour: str) -> None:
    out = io.StringIO()
    demo.load(what).show(
        fast=True, console=Console(file=out, width=80, highlight=False, force_terminal=True, color_system="standard")
    )
    assert colour in out.getvalue()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert max(map(len, plain.splitlines())) <= 80


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    code = f"{sys.executable} -m gateway_args demo --fast | head -1"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_narrow_encoding_is_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gateway_args", "demo", "--fast"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == b""


def test_starting_a_batch_imports_nothing_heavy() -> None:
    code = "import sys; from gateway_args import cli; cli.arguments(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"rich", "tiktoken", "llguidance", "pydantic", "orjson"} & set(done.stdout.split())


def test_a_terminal_sees_which_case_is_tried(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.main(["contract", "plain", "--quick"]) == 0
    said = capsys.readouterr()
    assert "plain 1/13 Text is content" in said.err
    assert said.err.endswith("\r\x1b[K")
    assert "\x1b" not in said.out


@pytest.mark.parametrize("closed", ["<&-", ">&-", ">/dev/full"])
@pytest.mark.parametrize("command", ["parse --format plain", "batch --format plain"])
def test_a_stream_that_cannot_be_used_is_one_line(command: str, closed: str) -> None:
    feed = "" if closed == "<&-" else 'echo \'{"text": "x"}\' | '
    code = f"{feed}{sys.executable} -m gateway_args {command} {closed}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.fullmatch(r"gateway-args \w+: .+\n", done.stderr)


def test_a_chunk_of_any_length_of_digits_is_one_line(capsys: pytest.CaptureFixture[str], output: str) -> None:
    assert cli.main(["parse", output, "--format", "plain", "--chunk", "9" * 5000]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("command", [["formats", "check"], ["contract", "plain", "--corpus"]])
def test_a_file_nested_too_deep_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]
) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("x = " + "[" * 5000 + "]" * 5000, encoding="utf-8")
    assert cli.main([*command, str(path)]) == 2
    assert re.fullmatch(r"gateway-args \w+: .*nested too deep\n", capsys.readouterr().err)
