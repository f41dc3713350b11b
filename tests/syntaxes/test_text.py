"""Calls with one text: what the corpus of `cwm` does not say of the grammar, the work, and what is refused."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
from lines_run import lines_run

from gateway_args import FormatError, Parser, Tools, formats, grammar

sys.path.insert(0, str(Path(__file__).parents[1] / "grammar"))

import walks

CWM = formats.load("cwm")
PARAMETERS: dict[str, dict[str, Any]] = {
    "bash": {"properties": {"command": {"type": "string"}}, "required": ["command"]},
    "create": {
        "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}, "content": {"type": "string"}},
        "required": ["path"],
    },
    "submit": {"properties": {}},
    "pick": {"properties": {"of": {"enum": ["a b", "c"]}, "more": {"type": "array", "items": {"type": "integer"}}}},
}
TOOLS = Tools.of(
    [
        {"type": "function", "function": {"name": name, "parameters": {"additionalProperties": False, **schema}}}
        for name, schema in PARAMETERS.items()
    ]
)


def test_what_the_grammar_allows_is_read() -> None:
    rng = random.Random(5)
    calls = 0
    for choice in ("required", "auto", "create", "pick"):
        made = grammar.lark(CWM, TOOLS, choice=choice)
        assert not made.unenforced
        walker = walks.Walker(made.text, CWM, (*PARAMETERS, "c"), {})
        for _ in range(50):
            reading = walks.reading_of(CWM, TOOLS, walker.walk(rng, 40), start=None, by_id=False)
            assert not walks.faults(reading, TOOLS, choice=choice)
            calls += len(reading.calls)
    assert calls > 150


@pytest.mark.parametrize(
    "text",
    [
        "<tool: bash>\nls -l\n</tool>",
        "<tool: bash>\ncat <<E\n\na\nE\n</tool>\n<tool: submit>\n</tool>",
        "<tool: create>\n/a b\n7\nfirst\n\nlast\n</tool>",
        "<tool: create>\n/a b\n</tool>",
        "<tool: pick>\na b\n[1, 2]\n</tool>",
    ],
)
def test_the_grammar_allows_what_the_guide_writes(text: str) -> None:
    assert walks.allows(grammar.lark(CWM, TOOLS, choice="required").text, text)


@pytest.mark.parametrize(
    "text",
    [
        "<tool: bash>\nls -l</tool>",
        "<tool: bash>\nls </tool> -l\n</tool>",
        "<tool: create>\n/a b\nseven\n</tool>",
        "<tool: pick>\na\n</tool>",
        "<tool: pick>\nc\n[1,\n2]\n</tool>",
        "<tool: bash>\nls -l\n",
    ],
)
def test_and_nothing_else(text: str) -> None:
    assert not walks.allows(grammar.lark(CWM, TOOLS, choice="required").text, text)


@pytest.mark.parametrize("piece", ["</tool> x", "<tool: bash> ", "\n </tool", "<", "\n", "  \t"])
def test_the_work_is_linear(piece: str) -> None:
    def work(times: int) -> int:
        return lines_run(Parser(CWM, TOOLS), [*("<tool: bash>\n" + piece * times)])

    assert work(400) < 2.3 * work(200)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('header = ["{name}>"]\nline = ""', "calls.text.line: missing"),
        ('header = ["{name}>"]\nargument = ""', "calls.text.argument: missing"),
        ("", "calls.text.header"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    table = (Path(__file__).parents[2] / "formats" / "cwm.toml").read_text(encoding="utf-8")
    path.write_text(table.replace('header = ["{name}>"]', line), encoding="utf-8")
    with pytest.raises(FormatError, match=said):
        formats.read(path)
