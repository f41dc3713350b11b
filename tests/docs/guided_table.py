"""The guide's table of what can be guided, asked of the code: `python tests/docs/guided_table.py --write`."""

from __future__ import annotations

import sys
from pathlib import Path

from gateway_args import Format, Tools, formats, grammar

PAGE = Path(__file__).parents[2] / "docs" / "guided-decoding.md"
OPEN = "<!-- guided:"
CLOSE = "<!-- end of guided -->"
TOOLS = Tools.of(
    [
        {
            "type": "function",
            "function": {
                "name": "find_ferry",
                "parameters": {
                    "type": "object",
                    "properties": {"pier": {"type": "string"}, "day": {"type": "integer"}, "via": {"type": "array"}},
                    "required": ["pier"],
                    "additionalProperties": False,
                },
            },
        },
        {"type": "function", "function": {"name": "list_piers"}},
    ]
)


def targets(format: Format, choice: str) -> str:
    """Which targets say this choice exactly."""
    found = []
    for name, make in (("tag", grammar.structural_tag), ("Lark", grammar.lark)):
        try:
            make(format, TOOLS, choice=choice)
        except grammar.GrammarError:
            continue
        found.append(name)
    return ", ".join(found) or "no"


def none(format: Format) -> str:
    try:
        made = grammar.suppress(format)
    except grammar.GrammarError:
        return "no"
    return "in part" if made.unenforced else "tag"


def table() -> str:
    """One row a table: automatic, required and forced calls, no calls, and thoughts."""
    rows = ["| format | auto | required | a function | none | thoughts |", "|---|---|---|---|---|---|"]
    for name in formats.names():
        format = formats.load(name)
        cells = [targets(format, choice) for choice in ("auto", "required", "find_ferry")]
        thoughts = "yes" if "reasoning" in format.states else "no"
        rows.append(f"| {name} | {' | '.join(cells)} | {none(format)} | {thoughts} |")
    return "\n".join(rows)


def filled(text: str) -> str:
    """This page with the table as it should be."""
    start = text.index("\n", text.index(OPEN)) + 1
    return text[:start] + table() + "\n" + text[text.index(CLOSE) :]


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in sys.argv:
        PAGE.write_text(filled(text), encoding="utf-8")
    else:
        print(table())
