"""What the README and the pages say is true: examples print what they show, the table of formats is the tables'."""

from __future__ import annotations

import re
import shlex

import cli_reference
import formats_table
import parser_names
import pytest

ROOT = formats_table.ROOT
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_the_table_of_formats_is_made_from_the_tables_and_the_corpora():
    page = formats_table.PAGE.read_text(encoding="utf-8")
    assert formats_table.filled(page) == page, "run: python tests/docs/formats_table.py --write"


def test_the_parser_names_of_others_lead_to_the_tables_that_the_page_says():
    page = parser_names.PAGE.read_text(encoding="utf-8")
    assert parser_names.filled(page) == page, "run: python tests/docs/parser_names.py --write"
    assert len(re.findall(r"`[^`]+`", parser_names.table())) > len(parser_names.VLLM + parser_names.SGLANG)


def test_the_reference_of_commands_is_made_from_their_options():
    page = cli_reference.PAGE.read_text(encoding="utf-8")
    assert cli_reference.filled(page) == page, "run: python tests/docs/cli_reference.py --write"


@pytest.mark.parametrize("page", ["README.md", "docs/events.md", "docs/coming-from.md", "docs/policies.md"])
def test_the_examples_print_what_the_page_shows(page, capsys):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert blocks
    for code, shown in blocks:
        exec(compile(code, page, "exec", dont_inherit=True), {"__name__": "readme"})
        assert capsys.readouterr().out == shown


def test_the_stream_decoders_guide_is_one_program_that_prints_what_it_shows(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # it writes a file
    text = (ROOT / "docs" / "stream-decoder.md").read_text(encoding="utf-8")
    names = {"__name__": "guide"}
    for code, shown in re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL):
        exec(compile(code, "stream-decoder.md", "exec", dont_inherit=True), names)
        assert capsys.readouterr().out == shown


def test_every_public_name_stands_in_a_guide():
    import gateway_args

    pages = [README, *(page.read_text(encoding="utf-8") for page in PAGES)]
    words = set(re.findall(r"\w+", "\n".join(pages)))
    assert set(gateway_args.__all__) - words == set()


def test_every_link_leads_to_a_file():
    for text in (ROOT / "README.md", *PAGES):
        for link in re.findall(r"\]\(([^)#:]+)\)", text.read_text(encoding="utf-8")):
            assert (text.parent / link).exists(), f"{text.name}: {link}"


def test_every_command_that_the_pages_show_can_be_given():
    from gateway_args.cli import arguments

    for page in (ROOT / "README.md", *PAGES):
        for command in re.findall(r"^gateway-args (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            words = shlex.split(re.sub(r" [<>] \S+", "", command), comments=True)
            arguments().parse_args(words)  # SystemExit when an option is none
