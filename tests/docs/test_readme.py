"""What the README says is true: its example prints what it shows, its table is the tables'."""

from __future__ import annotations

import re
from pathlib import Path

import formats_table
import pytest

README = formats_table.README.read_text(encoding="utf-8")


def test_the_table_of_formats_is_made_from_the_tables_and_the_corpora():
    assert formats_table.filled(README) == README, "run: python tests/docs/formats_table.py --write"


def test_the_example_prints_what_the_readme_shows(capsys):
    blocks = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL)
    assert blocks
    for code, shown in blocks:
        exec(compile(code, "README.md", "exec", dont_inherit=True), {"__name__": "readme"})
        assert capsys.readouterr().out == shown


def test_every_link_leads_to_a_file():
    root = Path(formats_table.README).parent
    for text in (root / "README.md", *(root / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)\)", text.read_text(encoding="utf-8")):
            assert (text.parent / link).exists(), f"{text.name}: {link}"


def test_every_command_that_the_readme_shows_is_one(capsys):
    from gateway_args.cli import main

    for command in sorted(set(re.findall(r"^gateway-args (\w+)", README, re.MULTILINE))):
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        assert command in capsys.readouterr().out
