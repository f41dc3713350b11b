"""The gateway's settings: where they come from, what wins, and one line for whatever is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import engines
from gateway_args.cli import main
from gateway_args.serve import Model, SettingError, Settings, load
from gateway_args.serve.models import Models
from gateway_args.serve.settings import ENGINE_KINDS, OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

NONE: dict[str, Any] = {option.name: None for option in OPTIONS}


def test_flags_win_over_the_environment_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(
        'upstream = "http://file:1"\nengine = "vllm"\nmax_streams = 7\nidle_timeout = 5\n'
        '[models."acme/*"]\nformat = "hermes"\nstart = "content"\n'
    )
    environ = {"GATEWAY_ARGS_SERVE_UPSTREAM": "http://environment:1", "GATEWAY_ARGS_SERVE_STRICT": "yes"}
    said = load({**NONE, "max_streams": "9"}, file=str(file), environ=environ)
    assert (said.upstream, said.engine, said.max_streams, said.idle_timeout) == ("http://environment:1", "vllm", 9, 5.0)
    assert said.strict is True
    assert said.models == {"acme/*": Model("acme/*", "hermes", None, "content")}
    assert Models(said).find("acme/one").format.name == "hermes"
    assert load(NONE, environ={"GATEWAY_ARGS_SERVE_CONFIG": str(file)}).max_streams == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_streams = 0", "max_streams: expected an integer of at least 1, got 0"),
        ("max_streams = true", "max_streams: expected an integer, got 'True'"),
        ('strict = "yes"', "strict: expected true or false, got 'yes'"),
        ('engine = "tgi"', "engine: expected one of vllm, sglang, llama.cpp, trtllm, plain, got 'tgi'"),
        ("idle_timeout = nan", "idle_timeout: expected a number of at least 0.001, got nan"),
        ("max_stream = 1", "unexpected key 'max_stream'; known: upstream, engine"),
        ("max_streams =", "no TOML"),
        ("models = 3", "models: expected tables"),
        ("[models.a]\nfromat = 'x'", "models.a: unexpected key 'fromat'; allowed: format, upstream, start, model_dir"),
        ("[models.a]\nformat = 3", "models.a.format: expected a string, got 3"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_line_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(text)
    with pytest.raises(SettingError) as caught:
        load(NONE, file=str(file), environ={})
    assert f"{file}: {message}" in str(caught.value)
    assert "\n" not in str(caught.value).strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--upstream: expected the engine's address (or --demo, to try without one)"),
        (["--upstream", "localhost:8000"], "upstream: expected http://HOST:PORT or https://…, got 'localhost:8000'"),
        (["--upstream", "ftp://me:pass@host"], "got '…@host'"),
        (["--demo", "--listen", "8000"], "listen: expected HOST:PORT, got '8000'"),
        (["--demo", "--max-body", "1k"], "--max-body: expected an integer, got '1k'"),
        (["--demo", "--guided", "no"], "--guided: expected one of tag, json, off, got 'no'"),
        (["--demo", "--format", "hermse"], "format: hermse: no format of that name; near names: hermes"),
        (["--demo", "--engine", "sglang", "--route", "render"], "route: sglang has no route 'render'; it has chat"),
        (["--demo", "--model-dir", "nowhere"], "model_dir: nowhere: no such file or directory"),
        (["--demo", "--config", "nowhere.toml"], "nowhere.toml: No such file or directory"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--check", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("gateway-args serve: ")
    assert message in said
    assert said.count("\n") == 1
    assert "pass" not in said


def test_check_says_what_it_would_do(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--upstream", "http://me:pass@engine:8000/v1", "--engine", "llama.cpp", "--listen", "0.0.0.0:80"]
    assert main(["serve", "--check", *options, "--max-streams", "5"]) == 0
    said = capsys.readouterr().out
    assert "http://engine:8000/v1 (llama.cpp)" in said
    assert "render: POST /apply-template, POST /completion" in said
    assert "max_streams      5  (set)" in said
    assert "put TLS and a login in front" in said
    assert "pass" not in said


def test_it_listens_on_loopback_alone_unless_it_is_told() -> None:
    assert Settings().address == ("127.0.0.1", 8790)
    assert Settings(listen="[::1]:80").address == ("::1", 80)


def test_the_kinds_of_engines_are_the_readers_kinds() -> None:
    assert tuple(engines.ENGINES) == ENGINE_KINDS


def test_a_start_that_the_table_has_not_is_told() -> None:
    with pytest.raises(SettingError, match=r"models\.m\.start: no state named 'thinking'; m has"):
        Models(Settings(models={"m": Model("m", format="qwen3", start="thinking")}))
