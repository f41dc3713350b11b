"""The guide's examples say what they print; the demo shows the report."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console

from gateway_args.cli.demo import load

_GUIDE = Path(__file__).parents[2] / "docs" / "partial.md"


def test_every_example_of_the_guide_prints_what_stands_below_it() -> None:
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", _GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == _GUIDE.read_text("utf-8").count("```python")
    names: dict[str, Any] = {"__name__": __name__}
    for code, printed in blocks:
        said = io.StringIO()
        with redirect_stdout(said):
            exec(compile(code, str(_GUIDE), "exec", dont_inherit=True), names)
        assert said.getvalue() == printed


def _shown(terminal: bool) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal, color_system=None)
    load("partial").show(console=console, fast=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_demo_prints_each_part_once_in_order_when_it_is_piped() -> None:
    lines = _shown(terminal=False).splitlines()
    names = [line.split(":")[0] for line in lines if ": " in line]
    assert names == ["summary", "competitor 1", "competitor 2", "competitor 3", "competitor 4", "confidence"]
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)


def test_the_demo_ends_in_a_terminal_with_the_whole_report() -> None:
    last = _shown(terminal=True).rsplit("in flight", 1)[1]
    for part in ("Four makers", "Aster", "Dogwood", "patents", "confidence 80%", "done"):
        assert part in last
