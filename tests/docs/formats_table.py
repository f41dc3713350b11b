"""The page of formats, made from the tables and the corpora: `python tests/docs/formats_table.py --write`."""

from __future__ import annotations

import sys
from pathlib import Path

from gateway_args import contract, formats
from gateway_args.syntaxes.registry import SYNTAXES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "formats.md"
OPEN = "<!-- formats:"
CLOSE = "<!-- end of formats -->"
WORDS = {kind: name for name, kind in SYNTAXES.items()}


def table() -> str:
    """A line that counts, then one row a table: name, families, call syntaxes, aliases, size of its corpus."""
    aliases: dict[str, list[str]] = {}
    for alias, name in formats.aliases().items():
        aliases.setdefault(name, []).append(alias)
    rows, cases = [], 0
    for name in formats.names():
        format = formats.load(name)
        syntaxes = ", ".join(dict.fromkeys(WORDS[type(call)] for call in format.calls.values())) or "none"
        notes = "" if format.verified else " (unverified)"
        notes += " (needs token ids or special tokens)" if format.needs_special_tokens else ""
        summary = format.summary.replace("|", "\\|").replace("<", "&lt;")
        also = ", ".join(sorted(aliases.get(name, [])))
        size = len(contract.load(name).cases)
        cases += size
        rows.append(f"| {name} | {summary}{notes} | {syntaxes} | {also} | {size} |")
    count = f"{len(rows)} tables, {len(formats.aliases())} aliases, {cases:,} cases."
    return "\n".join(
        [count, "", "| table | what it reads | syntaxes | aliases | cases |", "|---|---|---|---|---|", *rows]
    )


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
