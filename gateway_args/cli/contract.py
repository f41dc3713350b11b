"""`contract`: whether formats keep their promises for every case of their corpora, under every chunking.

Status 1 with each broken promise and a minimal chunking that shows it; 2 when it cannot run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..contract import Case, Corpus, Report


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("contract", help="check formats against their corpora", description=__doc__)
    parser.add_argument(
        "format", nargs="*", metavar="FORMAT", help="a name, an alias or a .toml file; all when left out"
    )
    parser.add_argument(
        "--corpus",
        metavar="FILE",
        help="the cases, for one format; its own corpus, or the one beside its file, when left out",
    )
    parser.add_argument("--report", choices=("json", "html"), help="write a report instead of text")
    parser.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="formats checked at once; as many as there are cores when left out"
    )
    parser.add_argument("--quick", action="store_true", help="try few chunkings")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from .. import contract

    reports = []
    for report in _reports(args):
        reports.append(report)
        if args.report is None:
            print(report, flush=True)
    if args.report == "json":
        print(json.dumps([report.as_dict() for report in reports], indent=1))
    elif args.report == "html":
        print(contract.page(reports))
    return 0 if all(report.ok for report in reports) else 1


def _reports(args: argparse.Namespace) -> Iterator[Report]:
    from .. import contract

    chunkings = contract.QUICK if args.quick else contract.STANDARD
    pairs = list(_pairs(args.format, args.corpus))
    jobs = min(len(pairs), args.jobs or os.cpu_count() or 1)
    if jobs > 1:
        from concurrent.futures import ProcessPoolExecutor

        contract.oracle.require()
        told = _Progress("contract")
        with ProcessPoolExecutor(jobs) as workers:
            told.show(f"0/{len(pairs)} formats checked, {jobs} at once")
            checked = workers.map(contract.check, *zip(*pairs, strict=True), [chunkings] * len(pairs))
            for number, report in enumerate(checked, start=1):
                told.clear()
                yield report
                told.show(f"{number}/{len(pairs)} formats checked, {jobs} at once")
        told.clear()
        return
    for name, corpus in pairs:
        progress = _Progress(corpus.format)
        try:
            yield contract.check(name, corpus, chunkings, progress=progress)
        finally:
            progress.clear()


def _pairs(names: list[str], path: str | None) -> Iterator[tuple[str, Corpus]]:
    """The formats with their corpora."""
    from .. import contract, formats

    if path is not None:
        if len(names) > 1:
            raise UsageError("--corpus goes with one format")
        yield _pair(names[0] if names else None, path)
        return
    for name in names or contract.names():
        if name.endswith(".toml"):
            own = contract.beside(name)
            if own is None:
                raise UsageError(
                    f"{name}: a table of your own needs --corpus FILE, or its corpus beside it: "
                    f"{Path(name).stem}_corpus.toml"
                )
            yield _pair(name, str(own))
        else:
            yield name, contract.load(name if name in contract.names() else formats.load(name).name)


def _pair(name: str | None, path: str) -> tuple[str, Corpus]:
    """This format with the corpus in this file, which must be the format's."""
    from .. import contract, formats

    corpus = contract.read(path)
    if name is None:
        return corpus.format, corpus
    table = name if name == corpus.format else formats.load(name).name
    if table != corpus.format:
        raise UsageError(
            f"{path}: a corpus of the format {corpus.format!r}, not of {table!r}; write format = {table!r}"
        )
    return name, corpus


class _Progress:
    """One line on standard error, where that is a terminal."""

    def __init__(self, format: str) -> None:
        self._format = format
        self._on = sys.stderr.isatty()

    def __call__(self, case: Case, number: int, total: int) -> None:
        self.show(f"{number + 1}/{total} {case.name}")

    def show(self, text: str) -> None:
        if self._on:
            line = f"{self._format} {text}"
            print(f"\r\x1b[K{line[:78]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
