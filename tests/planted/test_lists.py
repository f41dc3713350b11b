"""The lists of planted faults fit the code: every edit finds its text. Whether each is noticed takes long: run.py."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import run

LISTS = sorted(Path(__file__).parent.glob("*.toml"))


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_each_fault_finds_its_text_and_is_looked_for_or_explained(path: Path) -> None:
    for fault in run.read(path):
        assert fault.what
        assert bool(fault.checks) != bool(fault.equivalent), fault.what


def test_there_are_faults_in_every_folder_that_reads_or_answers() -> None:
    folders = Counter(fault.file.split("/")[1] for path in LISTS for fault in run.read(path))
    wanted = {"engine", "syntaxes", "strict_json", "tokens", "formats", "schema", "decoder", "partial", "adapters"}
    assert folders.keys() >= wanted | {"engines", "contract", "grammar"}
    assert folders.total() >= 200
