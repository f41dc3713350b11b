"""`formats`: which formats there are, what one says, and whether a table of your own is sound."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .common import format_named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..formats import Format
    from ..syntaxes.base import Syntax


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("formats", help="list, show and check formats", description=__doc__)
    parser.set_defaults(run=_list)
    actions = parser.add_subparsers(dest="action", metavar="list|show|check")
    actions.add_parser("list", help="every format with its aliases (the default)").set_defaults(run=_list)
    show = actions.add_parser("show", help="one format: markers, states, calls, models")
    show.add_argument("format", metavar="FORMAT", help="a name, an alias or a .toml file")
    show.set_defaults(run=_show)
    check = actions.add_parser("check", help="whether tables are sound; status 2 with every mistake and its line")
    check.add_argument("format", nargs="+", metavar="FORMAT")
    check.set_defaults(run=_check)


def _list(_: argparse.Namespace) -> int:
    from .. import formats

    aliases = _inverted(formats.aliases())
    models = _inverted(formats.models())
    rows = []
    for name in formats.names():
        fmt = formats.load(name)
        rows.append(
            (
                name,
                fmt.summary + _notes(fmt),
                ", ".join(dict.fromkeys(_word(call) for call in fmt.calls.values())),
                ", ".join(aliases.get(name, ())),
                ", ".join(models.get(name, ())),
            )
        )
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        # A narrow terminal has room for two columns; syntaxes and models are what `show` and a pipe say.
        table = Table("format", "what it is", box=None, header_style="bold", pad_edge=False)
        for name, summary, _syntaxes, also, _models in rows:
            cell = Text(summary)
            if also:
                cell.append(f"\nalso {also}", style="dim")
            table.add_row(Text(name), cell)
        Console(highlight=False).print(table)
    else:
        for row in rows:
            print("\t".join(row).rstrip("\t"))
    return 0


def _show(args: argparse.Namespace) -> int:
    from .. import formats

    fmt = format_named(args.format)
    print(f"{fmt.name}: {fmt.summary}{_notes(fmt)}")
    aliases = _inverted(formats.aliases()).get(fmt.name, ())
    globs = _inverted(formats.models()).get(fmt.name, ())
    for title, words in (("aliases", aliases), ("models", globs), ("turn ends", [m.text for m in fmt.turn_end])):
        if words:
            print(f"{title}: {', '.join(words)}")
    openers = [repr(text) for text in fmt.turn_openers]
    results = [f"{opener!r} to {closer!r}" for opener, closer in fmt.results]
    ends = [repr(fmt.prompt_end)] if fmt.prompt_end else []
    for title, words in (("turn openers", openers), ("tool results", results), ("the prompt ends with", ends)):
        if words:
            print(f"{title}: {', '.join(words)}")
    if fmt.source:
        print(f"source: {fmt.source}")
    for marker in fmt.markers.values():
        notes = [note for note, on in (("one token", marker.token), ("certain", marker.certain)) if on]
        notes += [
            f"{side} {layout!r}" for side, layout in (("before", marker.before), ("after", marker.after)) if layout
        ]
        print(f"marker {marker.name}: {marker.text}" + (f"  ({', '.join(notes)})" if notes else ""))
    for state in fmt.states.values():
        rows = ", ".join(f"{marker} -> {target}" for marker, target in state.on.items())
        calls = f"  calls: {', '.join(state.calls)}" if state.calls else ""
        print(f"state {state.name} ({state.kind}): {rows or 'no markers'}{calls}")
    for name, syntax in fmt.calls.items():
        cell = ", ".join(f"{key} = {value!r}" for key, value in _set(syntax))
        print(f"call syntax {name}: {_word(syntax)}" + (f"  ({cell})" if cell else ""))
    return 0


def _word(syntax: Syntax) -> str:
    """What a table calls this syntax."""
    from ..syntaxes.registry import SYNTAXES

    return next(word for word, kind in SYNTAXES.items() if kind is type(syntax))


def _set(syntax: Syntax) -> Iterator[tuple[str, object]]:
    """The parameters that differ from what they are when a table leaves them out."""
    from dataclasses import fields

    for field in fields(syntax):  # type: ignore[arg-type]
        value = getattr(syntax, field.name)
        if value != field.default:
            yield field.name, list(value) if isinstance(value, tuple) else value


def _notes(fmt: Format) -> str:
    """What an operator must know of a table before using it."""
    notes = "" if fmt.verified else " (unverified: no vendor's source was found)"
    return notes + (" (needs token ids, or an engine that keeps special tokens)" if fmt.needs_special_tokens else "")


def _check(args: argparse.Namespace) -> int:
    from pathlib import Path

    from ..formats import catalogue, lint

    status = 0
    for name in args.format:
        path = Path(name) if name.endswith(".toml") else catalogue.current().file(name)
        found = lint.check(path)
        for finding in found:
            where = path.name if finding.line is None else f"{path.name}:{finding.line}"
            print(f"gateway-args formats: {where}: {finding.problem}", file=sys.stderr)
        if found:
            status = 2
            continue
        fmt = format_named(name)
        print(f"{name}: sound ({len(fmt.markers)} markers, {len(fmt.states)} states, {len(fmt.calls)} call syntaxes)")
    return status


def _inverted(pairs: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word, table in pairs.items():
        found.setdefault(table, []).append(word)
    return found
