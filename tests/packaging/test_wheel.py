"""The wheel holds one top-level name, the data and the types; its extras stay light."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from email.parser import Parser as Headers
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(built(folder, "0")) as archive:
        yield archive


def built(folder, choice, timeout=100):
    """The wheel that a build with this choice makes."""
    environment = {**os.environ, "GATEWAY_ARGS_COMPILE": choice}
    ran = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=timeout,
        env=environment,
    )
    return folder / ran.stdout.strip().splitlines()[-1]


def test_the_wheel_installs_one_top_level_name(wheel):
    names = {name.split("/")[0] for name in wheel.namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"gateway_args"}


def test_tables_corpora_vocabulary_and_types_are_in_the_wheel(wheel):
    names = set(wheel.namelist())
    for folder in ("formats", "contract"):
        shipped = {f"gateway_args/_data/{folder}/{file.name}" for file in (ROOT / folder).glob("*.toml")}
        assert shipped
        assert shipped <= names
    demos = {
        f"gateway_args/_data/examples/{file.name}"
        for file in (ROOT / "examples").glob("demo_*.py")
        if file.stem != "demo_engine"
    }
    assert "gateway_args/_data/examples/demo_chat.py" in demos
    assert demos <= names
    assert "gateway_args/py.typed" in names
    assert "gateway_args/tokens/vocabularies/embedded.tiktoken" in names


def test_the_test_extra_brings_nothing_heavy(wheel):
    metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
    needs = Headers().parsestr(wheel.read(metadata).decode()).get_all("Requires-Dist") or []
    base = [need for need in needs if "extra ==" not in need]
    assert {need.split(">")[0].split("<")[0].strip() for need in base} == {"orjson", "tiktoken", "rich"}
    assert not any(
        heavy in need for need in needs if "oracles" not in need for heavy in ("torch", "nvidia", "xgrammar")
    )


def test_the_command_is_an_entry_point(wheel):
    entries = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "gateway-args = gateway_args.cli:main" in wheel.read(entries).decode()


def test_a_pure_wheel_serves_every_python(wheel):
    tag = next(name for name in wheel.namelist() if name.endswith("/WHEEL"))
    assert "Tag: py3-none-any" in wheel.read(tag).decode()
    assert not [name for name in wheel.namelist() if name.endswith((".so", ".pyd"))]


def test_another_choice_is_refused(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        built(tmp_path, "yes")
    assert "GATEWAY_ARGS_COMPILE is 'yes'" in caught.value.stderr


def test_without_a_compiler_auto_is_pure_and_one_fails(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert built(tmp_path, "auto").name.endswith("-py3-none-any.whl")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        built(tmp_path, "1")
    assert "there is no C compiler" in caught.value.stderr


READ = """
import gateway_args, sys
from gateway_args import Parser, formats
parser = Parser(formats.load("hermes"))
text = '<tool_call>\\n{"name": "f", "arguments": {"a": [1, "b"]}}\\n</tool_call>'
said = [event for at in range(0, len(text), 3) for event in parser.feed(text[at : at + 3])] + parser.finish("stop")
print(gateway_args.__compiled__, said)
"""


@pytest.mark.full
@pytest.mark.timeout(0)
def test_both_builds_say_the_same_and_leave_nothing_behind(tmp_path):
    pytest.importorskip("mypyc")
    said = {}
    for choice in ("0", "1"):
        (tmp_path / choice).mkdir()
        file = built(tmp_path / choice, choice, timeout=1500)
        with zipfile.ZipFile(file) as archive:
            archive.extractall(tmp_path / choice / "installed")
            tops = {name.split("/")[0] for name in archive.namelist()}
        assert {name for name in tops if not name.endswith(".dist-info")} == {"gateway_args"}
        if choice == "1":
            assert f"-cp{sys.version_info[0]}{sys.version_info[1]}-" in file.name
            assert file.name.endswith(f"{sysconfig.get_platform().replace('-', '_').replace('.', '_')}.whl")
        ran = subprocess.run(
            [sys.executable, "-c", READ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / choice / "installed")},
            capture_output=True,
            text=True,
            check=True,
        )
        compiled, said[choice] = ran.stdout.split(" ", 1)
        assert compiled == str(choice == "1")
    assert said["0"] == said["1"]
    assert not [*(ROOT / "gateway_args").rglob("*.so"), *(ROOT / "gateway_args").rglob("*.c")]


def test_the_version_is_the_metadatas_and_the_projects():
    import gateway_args

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert gateway_args.__version__ == version("gateway-args") == project["version"]
