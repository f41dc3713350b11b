"""The wheel holds one top-level name, the data and the types; its extras stay light."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import Parser as Headers
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    ran = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=100
    )
    with zipfile.ZipFile(folder / ran.stdout.strip().splitlines()[-1]) as archive:
        yield archive


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
