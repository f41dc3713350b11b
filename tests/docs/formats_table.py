"""The README's table of formats, made from the tables and the corpora: `python tests/docs/formats_table.py --write`."""

from __future__ import annotations

import sys
from pathlib import Path

from gateway_args import contract, formats
from gateway_args.syntaxes.registry import SYNTAXES

README = Path(__file__).parents[2] / "README.md"
OPEN = "<!-- formats:"
CLOSE = "<!-- end of formats -->"
WORDS = {kind: name for name, kind in SYNTAXES.items()}


def table() -> str:
    """One row a table: name, families, call syntaxes, aliases, size of its corpus."""
    aliases: dict[str, list[str]] = {}
    for alias, name in formats.aliases().items():
        aliases.setdefault(name, []).append(alias)
    rows = ["| table | what it reads | syntaxes | aliases | cases |", "|---|---|---|---|---|"]
    for name in formats.names():
        format = formats.load(name)
        syntaxes = ", ".join(dict.fromkeys(WORDS[type(call)] for call in format.calls.values())) or "none"
        notes = "" if format.verified else " (unverified)"
        notes += " (needs token ids or special tokens)" if format.needs_special_tokens else ""
        summary = format.summary.replace("|", "\\|").replace("<", "&lt;")
        also = ", ".join(sorted(aliases.get(name, [])))
        rows.append(f"| {name} | {summary}{notes} | {syntaxes} | {also} | {len(contract.load(name).cases)} |")
    return "\n".join(rows)


def filled(text: str) -> str:
    """This README with the table as it should be."""
    start = text.index("\n", text.index(OPEN)) + 1
    return text[:start] + table() + "\n" + text[text.index(CLOSE) :]


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    if "--write" in sys.argv:
        README.write_text(filled(text), encoding="utf-8")
    else:
        print(table())
