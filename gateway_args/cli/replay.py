"""`replay`: a recorded transcript again, without the engine: is its chain unbroken, and does it say what it said."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .common import UsageError, format_named

if TYPE_CHECKING:
    import argparse


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("replay", help="verify a transcript and read it again", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="a transcript: JSON lines, as `Transcript` writes them")
    parser.add_argument("-f", "--format", metavar="FORMAT", help="the table, where its name alone does not find it")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from ..decoder import replay

    format = None if args.format is None else format_named(args.format)
    try:
        report = replay(args.file, format=format)
    except OSError as error:
        raise UsageError(f"{args.file}: {error.strerror}") from None
    for problem in report.problems:
        print(f"{args.file}: {problem}", file=sys.stderr)
    for call in report.outcomes:
        print(f"call {call.index} {call.name}: {call.outcome}")
    for note in report.notes:
        print(f"note: {note}")
    verdict = "the same events and outcomes" if report.ok else "not what was recorded"
    print(f"{report.deltas} deltas, {report.events} events, ended by {report.end}: {verdict}")
    if report.chain:
        print(f"chain {report.chain}")
    return 0 if report.ok else 1
