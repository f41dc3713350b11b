"""Calls in lines: a table and a corpus of our own under the contract, its grammar, and what is refused."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway_args import FormatError, Tools, contract, formats, grammar, read

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "lines"
LINES = formats.read(FOLDER / "lines.toml")


def test_the_contract_holds() -> None:
    report = contract.check(LINES, contract.read(FOLDER / "lines_corpus.toml"))
    assert report.ok, report
    assert report.runs > 1000


def tools(properties: dict[str, Any]) -> Tools:
    schema = {"type": "object", "properties": properties, "required": ["q"], "additionalProperties": False}
    return Tools.of([{"type": "function", "function": {"name": "find", "parameters": schema}}])


def test_what_the_grammar_allows_is_read() -> None:
    sys.path.insert(0, str(ROOT / "tests" / "grammar"))
    import walks

    declared = tools(
        {
            "q": {"type": "string"},
            "n": {"type": "integer"},
            "b": {"type": "boolean"},
            "m": {"enum": ["a b", "c"]},
            "u": {"type": ["string", "null"]},
            "x": {"type": ["integer", "string"]},
        }
    )
    rng = random.Random(3)
    calls = 0
    for choice in ("required", "auto", "find"):
        made = grammar.lark(LINES, declared, choice=choice)
        assert not made.unenforced
        walker = walks.Walker(made.text, LINES, ("find", *"qnbmux"), {})
        for _ in range(60):
            reading = walks.reading_of(LINES, declared, walker.walk(rng, 40), start=None, by_id=False)
            assert not walks.faults(reading, declared, choice=choice)
            calls += len(reading.calls)
    assert calls > 120
    assert walks.allows(made.text, "<do find>\nq= a b\nn=5\nm=c\n</do>")


def test_a_list_stands_on_one_line_of_a_grammar() -> None:
    sys.path.insert(0, str(ROOT / "tests" / "grammar"))
    import walks

    made = grammar.lark(LINES, tools({"q": {"type": "array", "items": {"type": "integer"}}}), choice="required")
    assert walks.allows(made.text, "<do find>\nq=[1, 2]\n</do>")
    assert not walks.allows(made.text, "<do find>\nq=[1,\n2]\n</do>")


def test_a_key_that_holds_the_separator_has_no_line() -> None:
    with pytest.raises(grammar.GrammarError, match=r"lines: find.q=: no line of the format can be told to hold this"):
        grammar.lark(LINES, tools({"q": {}, "q=": {}}), choice="required")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("header", ["x"], r"header\[0\]: without \{name\}"),
        ("separator", " ", "separator: missing, or white space alone"),
        ("line", "", "line: missing"),
    ],
)
def test_a_table_that_says_no_lines_is_refused(key: str, value: object, problem: str, tmp_path: Path) -> None:
    text = (FOLDER / "lines.toml").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith(f"{key} =")]
    path = tmp_path / "bad.toml"
    path.write_text("\n".join([*kept, f"{key} = {value!r}"]), encoding="utf-8")
    with pytest.raises(FormatError, match=problem):
        formats.read(path)


def test_lines_may_be_parted_by_another_text(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text((FOLDER / "lines.toml").read_text(encoding="utf-8") + 'line = "; "\n', encoding="utf-8")
    output = "<do find>q = a\nb; n = 5</do>"
    for pieces in ([output], list(output)):
        reading = read(formats.read(path), pieces, finish="stop")
        assert [call.arguments for call in reading.calls] == ['{"q": "a\\nb", "n": 5}']
