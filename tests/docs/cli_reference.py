"""docs/cli.md, made from the commands' own options: `python tests/docs/cli_reference.py --write`."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from gateway_args.cli import arguments

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
OPEN = "<!-- commands: made by tests/docs/cli_reference.py -->\n"
CLOSE = "<!-- end of commands -->\n"


def reference() -> str:
    """A section for each command."""
    commands = next(a for a in arguments()._actions if isinstance(a, argparse._SubParsersAction))
    about = {action.dest: action.help or "" for action in commands._get_subactions()}
    parts = []
    for name, parser in commands.choices.items():
        parts += [f"## {name}", "", f"{_sentence(about[name])}", "", *_described(parser), *_rows(parser)]
        for inner in (a for a in parser._actions if isinstance(a, argparse._SubParsersAction)):
            said = {action.dest: action.help or "" for action in inner._get_subactions()}
            for word, below in inner.choices.items():
                parts += [f"### {name} {word}", "", _sentence(said.get(word, "")), "", *_rows(below)]
    return "\n".join(parts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _described(parser: argparse.ArgumentParser) -> list[str]:
    """The command's own description, less what its first line says of the name."""
    text = re.sub(r"\A`\w+`: ", "", (parser.description or "").strip())
    return [text[:1].upper() + text[1:], ""] if text else []


def _rows(parser: argparse.ArgumentParser) -> list[str]:
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
        value = "" if action.nargs == 0 else str(value)
        name = ", ".join(f"{flag} {value}".strip() for flag in action.option_strings) or value
        rows.append(f"| `{_cell(name)}` | {_cell((action.help or '').replace('%%', '%'))} |")
    return ["| argument | what it says |", "|---|---|", *rows, ""] if rows else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def filled(text: str) -> str:
    """This page with the sections as they should be."""
    start = text.index(OPEN) + len(OPEN)
    return f"{text[:start]}\n{reference()}\n{text[text.index(CLOSE) :]}"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    if "--write" in sys.argv:
        PAGE.write_text(filled(page), encoding="utf-8")
    else:
        print(reference())
