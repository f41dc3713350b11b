"""`learn`: a table from what a model's repository ships, proved against the model's own chat template.

Status 0: learned and proved; 1: not, the report says where; 2: there is nothing to read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common import UsageError

if TYPE_CHECKING:
    import argparse

    from ..learning import Learned


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("learn", help="a table from a model's chat template", description=__doc__)
    parser.add_argument(
        "path", metavar="DIR|FILE", help="a model's directory, its tokenizer_config.json, a .jinja or a .gguf file"
    )
    parser.add_argument("--out", metavar="DIR", help="write NAME.toml and NAME_corpus.toml there")
    parser.add_argument("--name", metavar="NAME", help="the table's name; the file's or the directory's when left out")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="a variable of the template (JSON, or a text)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from ..learning import Unreadable

    try:
        return _run(args)
    except Unreadable as error:
        raise UsageError(str(error)) from None


def _run(args: argparse.Namespace) -> int:
    from ..learning.learner import learn_shipped
    from ..learning.model_files import read_shipped

    path = Path(args.path)
    name = args.name or re.sub(r"\W+", "_", path.stem if path.is_file() else path.resolve().name).strip("_").lower()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise UsageError(f"{name!r} is no name for a table; give one with --name")
    learned = learn_shipped(read_shipped(path), name, _variables(args.set))
    print(learned.report)
    if learned.table and args.out is not None:
        _write(Path(args.out), learned)
    elif learned.table:
        print(f"\n{learned.table}", end="")
    return 0 if learned.proved else 1


def _write(folder: Path, learned: Learned) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{learned.name}.toml"
    table.write_text(learned.table, encoding="utf-8")
    print(f"written: {table}")
    if learned.corpus:
        corpus = folder / f"{learned.name}_corpus.toml"
        corpus.write_text(learned.corpus, encoding="utf-8")
        print(f"written: {corpus}")
        print(f"next: gateway-args contract {table} --corpus {corpus}")


def _variables(given: list[str]) -> dict[str, Any]:
    import json

    found: dict[str, Any] = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"--set {entry}: write KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found
