"""`parse`, `batch`, `explain` and `detect` on engines' logs and on outputs that are not what the format expects."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import cli, contract
from gateway_args.tokens import vocab

if TYPE_CHECKING:
    from pathlib import Path

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
HARMONY = 'analysisAdd.assistantcommentary to=functions.add json{"a": 2}'
KIMI = 'Sure.functions.add:0{"a": 2}'


def sse(*objects: Any) -> str:
    return "".join(f"data: {json.dumps(said)}\n\n" for said in objects) + "data: [DONE]\n\n"


def chunk(text: str, finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": "cmpl-1", "choices": [{"index": index, "text": text, "finish_reason": finish, **more}]}


def chat(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str | bytes, name: str = "log.txt") -> str:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    return write


def run(capfd: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    status = cli.main(list(argv))
    said = capfd.readouterr()
    return status, said.out, said.err


LOGS = {
    "vllm": sse(chunk(CALL[:9]), chunk(CALL[9:], "stop"), {"choices": [], "usage": {"prompt_tokens": 1}}),
    "openai": sse(chat(CALL[:9]), chat(CALL[9:], "stop")),
    "sglang": sse(
        {"text": CALL[:9], "meta_info": {"finish_reason": None}},
        {"text": CALL, "meta_info": {"finish_reason": {"type": "stop"}}},
    ),
    "llama.cpp": sse({"content": CALL[:9], "stop": False}, {"content": CALL[9:], "stop": True, "stop_type": "eos"}),
    "answer": json.dumps(chunk(CALL, "stop"), indent=1),
    "lines": json.dumps(chunk(CALL[:9])) + "\n" + json.dumps(chunk(CALL[9:], "stop")) + "\n",
}


@pytest.mark.parametrize("name", LOGS)
def test_every_command_reads_every_log(capfd: pytest.CaptureFixture[str], file: Any, name: str) -> None:
    path = file(LOGS[name])
    status, out, err = run(capfd, "parse", path, "-f", "hermes", "--as", "json")
    assert (status, err) == (0, "")
    assert json.loads(out)["calls"][0]["arguments"] == '{"a": 2}'
    assert json.loads(out)["finish"]["reason"] == "tool_calls"
    status, out, err = run(capfd, "batch", path, "-f", "hermes")
    assert (status, err) == (0, "")
    assert json.loads(out)["id"] == 0
    assert json.loads(out)["calls"][0]["arguments"] == '{"a": 2}'
    status, out, err = run(capfd, "explain", path, "-f", "hermes")
    assert (status, err) == (0, "")
    assert out.endswith(": nothing is malformed (1 call)\n")
    status, out, err = run(capfd, "detect", path)
    assert (status, err) == (0, "")
    assert out.startswith("1. hermes, ")


def test_choices_are_read_one_by_one(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    path = file(sse(chunk("a", index=1), chunk(CALL, "stop"), chunk("b", "length", index=1)))
    _, out, _ = run(capfd, "parse", path, "-f", "hermes", "--as", "reading")
    assert out.startswith("choice 1\ncontent     ab\nfinish      length\nchoice 0\ncall        add(")
    _, out, _ = run(capfd, "parse", path, "-f", "hermes", "--as", "reading", "--choice", "1")
    assert out == "content     ab\nfinish      length\n"
    assert run(capfd, "parse", path, "-f", "hermes", "--as", "chat")[0] == 2
    assert "there are 1, 0" in run(capfd, "parse", path, "-f", "hermes", "--choice", "7")[2]
    _, out, _ = run(capfd, "batch", path, "-f", "hermes")
    assert [(row["id"], row["content"]) for row in map(json.loads, out.splitlines())] == [(1, "ab"), (0, "")]


def test_a_log_that_is_cut_is_said_and_status_1(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    path = file(f"data: {json.dumps(chunk(CALL[:-20]))}\n\ndata: {{")
    for command in ("parse", "batch", "explain"):
        status, out, err = run(capfd, command, path, "-f", "hermes")
        assert status == 1, command
        assert out, command
        assert "no finish reason came for choice 0" in err, command


def test_raw_reads_a_log_as_text(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    status, out, _ = run(capfd, "parse", file(LOGS["vllm"]), "-f", "plain", "--raw", "--as", "json")
    assert status == 0
    assert json.loads(out)["content"] == LOGS["vllm"].rstrip("\n") + "\n\n"


def test_token_ids_are_read_with_a_vocabulary(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    """An engine that skipped special tokens: the text holds no call, the ids do."""
    fmt = vocab.load("embedded")
    ids = fmt.encode(CALL, allowed_special="all")
    left = CALL.replace("<tool_call>", "").replace("</tool_call>", "")
    path = file(sse(chunk(left, token_ids=ids), chunk("", "stop")))
    assert json.loads(run(capfd, "parse", path, "-f", "hermes", "--as", "json")[1])["calls"] == []
    status, out, err = run(capfd, "parse", path, "-f", "hermes", "--as", "json", "--vocabulary", "embedded")
    assert (status, err) == (0, "")
    assert json.loads(out)["calls"][0]["arguments"] == '{"a": 2}'
    status, out, _ = run(capfd, "batch", path, "-f", "hermes", "--vocabulary", "embedded")
    assert json.loads(out)["calls"][0]["arguments"] == '{"a": 2}'
    assert run(capfd, "detect", path, "--vocabulary", "embedded")[1].startswith("1. hermes")


def test_a_wrong_vocabulary_is_said(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    path = file(sse(chunk("Hi", "stop", token_ids=[999_999_999])))
    _, _, err = run(capfd, "parse", path, "-f", "hermes", "--vocabulary", "embedded")
    assert "does not know 1 of the ids (first: 999999999)" in err
    path = file(sse(chunk("Hi", "stop", token_ids=vocab.load("embedded").encode("no"))))
    _, _, err = run(capfd, "parse", path, "-f", "hermes", "--vocabulary", "embedded")
    assert "another text of the ids than the engine did" in err
    for what, said in (("none.json", "No such file"), (file("{}", "t.json"), "no model in it")):
        status, _, err = run(capfd, "parse", path, "-f", "hermes", "--vocabulary", what)
        assert status == 2
        assert said in err


def test_what_the_engine_parsed_itself_is_said(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    delta = {"tool_calls": [{"index": 0, "function": {"name": "add", "arguments": "{}"}}]}
    path = file(sse({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}))
    assert "the engine's own parser took" in run(capfd, "parse", path, "-f", "hermes")[2]


@pytest.mark.parametrize(
    ("format", "text", "hint"),
    [
        ("harmony", HARMONY, "special tokens were skipped: 'assistantcommentary'"),
        ("kimi_k2", KIMI, "special tokens were skipped: 'functions.add:0'"),
        ("hermes", HARMONY, "special tokens were skipped: 'assistantcommentary'"),
        ("llama3_json", CALL.replace("name", "nom"), None),
        ("kimi_k2", CALL, "kimi_k2 reads no call here, hermes, "),
        ("hermes", "It is 3 < 4, [sic] {indeed}.", None),
        ("hermes", CALL, None),
        ("harmony", "analysis of the data follows", None),
    ],
)
def test_a_wrong_format_or_skipped_tokens_are_hinted_at(
    capfd: pytest.CaptureFixture[str], file: Any, format: str, text: str, hint: str | None
) -> None:
    for command in ("parse", "explain"):
        _, _, err = run(capfd, command, file(text), "-f", format)
        assert (err == "") == (hint is None), err
        assert hint is None or err.startswith(f"hint: {hint}")


def test_explain_shows_the_place_with_a_caret(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    text = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": tru}}\n</tool_call>'
    path = file(text)
    status, out, _ = run(capfd, "explain", path, "-f", "hermes")
    assert status == 1
    assert out.splitlines() == [
        f"{path}:3:37: the arguments are no JSON from here on in the call f",
        '  {"name": "f", "arguments": {"a": tru}}',
        "                                      ^",
        '  expected: "e"',
        "  policy 15 (Control characters): There are no other repairs: what no JSON value continues is malformed.",
    ]


def test_detect_says_what_is_missing_and_what_is_broken(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    status, out, _ = run(capfd, "detect", file(KIMI))
    assert status == 1
    assert "special tokens were skipped: 'functions.add:0' is what kimi_k2 leaves" in out
    assert "skip_special_tokens" in out
    status, out, _ = run(capfd, "detect", file(CALL.replace("2}", "2,}")))
    assert status == 1
    assert "reads calls in it, but malformed (arguments)" in out
    status, out, _ = run(capfd, "detect", file("Hello."))
    assert (status, out) == (1, "no format reads a call in this output, and none reads a broken one\n")
    status, out, _ = run(capfd, "detect", file(CALL), "--json")
    assert json.loads(out)["matches"][0]["calls"] == ["add"]
    assert run(capfd, "detect", file(CALL), "-f", "hermes")[0] == 2


@pytest.mark.parametrize(
    "text",
    [
        "Hi.",
        CALL,
        f"Hi.\n{CALL}\n{CALL}",
        CALL[:-25],
        CALL.replace("2}", "2,}"),
        "<tool_call>\n{}",
        "",
        '"\\\x00\x7f\ud7ff',
    ],
)
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_parse_makes_a_case_that_the_contract_checks(
    capfd: pytest.CaptureFixture[str], file: Any, text: str, finish: str
) -> None:
    tools = file(json.dumps([{"type": "function", "function": {"name": "add", "parameters": {}}}]), "tools.json")
    options = ["--as", "case", "--tools", tools, "--finish", finish, "--prompt", "<|im_start|>assistant\n"]
    status, out, _ = run(capfd, "parse", file(text), "-f", "hermes", *options)
    assert status == 0
    assert tomllib.loads(out)["case"][0]["output"] == text
    corpus = contract.corpus.parse('format = "hermes"\n' + out)
    report = contract.check("hermes", corpus, contract.QUICK)
    assert report.failures == ()


def test_the_prompt_may_stand_in_a_file(capfd: pytest.CaptureFixture[str], file: Any) -> None:
    prompt = file("<|im_start|>assistant\n<think>\n", "prompt.txt")
    _, out, _ = run(capfd, "parse", file("hm</think>Hi"), "-f", "qwen3", "--prompt-file", prompt, "--as", "json")
    assert json.loads(out)["reasoning"] == "hm"
    with pytest.raises(SystemExit):
        cli.main(["parse", "-f", "qwen3", "--prompt", "a", "--prompt-file", prompt])


def test_parse_on_a_terminal_says_that_it_waits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = io.TextIOWrapper(io.BytesIO(b"Hi."))
    monkeypatch.setattr(typed, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", typed)
    assert cli.main(["parse", "-f", "plain"]) == 0
    assert capsys.readouterr().err == "reading an output from the terminal; end it with Ctrl-D\n"


@pytest.mark.parametrize("name", ["a" * 256 + ".toml", "a" * 5000 + ".toml", "a\x00.toml", "\ud800.toml", "/.toml"])
def test_a_path_that_no_file_has_is_one_error_line(capfd: pytest.CaptureFixture[str], file: Any, name: str) -> None:
    path = file(json.dumps({"id": 1, "format": name, "text": "a"}) + '\n{"id": 2, "format": "plain", "text": "b"}\n')
    status, out, err = run(capfd, "batch", path)
    first, second = map(json.loads, out.splitlines())
    assert (status, err) == (1, "")
    assert set(first) == {"id", "error"}
    assert second["content"] == "b"
    if "\x00" not in name:
        assert run(capfd, "parse", path, "-f", name)[0] == 2


@pytest.mark.parametrize("number", ["1e999", "-1e999", "[1e400]", '{"a": 1E+5000}'])
def test_no_answer_holds_a_number_that_json_has_not(capfd: pytest.CaptureFixture[str], file: Any, number: str) -> None:
    status, out, _ = run(capfd, "batch", file(f'{{"id": {number}, "format": "plain", "text": "a"}}\n'))
    assert status == 1
    said = json.loads(out, parse_constant=pytest.fail)
    assert "past what a number can be" in said["error"]


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_a_reader_that_went_away_is_no_traceback(option: str) -> None:
    command = (
        f"{sys.executable} -m gateway_args {option} | {sys.executable} -c 'import sys; sys.stdin.close()'; sleep 1"
    )
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command_and_option(capfd: pytest.CaptureFixture[str], shell: str) -> None:
    status, out, _ = run(capfd, "completion", shell)
    assert status == 0
    for command in ("parse", "batch", "explain", "detect", "contract", "completion"):
        assert f" {command}" in out or f"{command})" in out
    assert "prompt-file" in out
    assert "show" in out


def test_bash_completes(capfd: pytest.CaptureFixture[str]) -> None:
    _, script, _ = run(capfd, "completion", "bash")
    ask = (
        'COMP_WORDS=(gateway-args parse --pro); COMP_CWORD=2; _gateway_args; echo "${COMPREPLY[@]}"\n'
        'COMP_WORDS=(gateway-args exp); COMP_CWORD=1; _gateway_args; echo "${COMPREPLY[@]}"\n'
    )
    said = subprocess.run(["bash", "-c", script + "\n" + ask], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.splitlines() == ["--prompt --prompt-file", "explain"]


def test_formats_show_tells_openers_results_and_prompt_ends(capfd: pytest.CaptureFixture[str]) -> None:
    assert "turn openers: '<|im_start|>assistant\\n'" in run(capfd, "formats", "show", "qwen3")[1]
    assert "tool results: '<｜tool▁outputs▁begin｜>' to" in run(capfd, "formats", "show", "deepseek_v3")[1]
