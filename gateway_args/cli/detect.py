"""`detect`: which formats read an output with calls and without malformed text, the best first, and why.

Status 0: at least one does; 1: none does, or only by the look of an object whose special tokens seem to be missing.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from . import outputs
from .common import UsageError

if TYPE_CHECKING:
    import argparse

    from ..diagnosis import Detection

_MOST = 5


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("detect", help="which formats read an output", description=__doc__)
    outputs.add_options(parser, format_required=False)
    parser.add_argument("--json", action="store_true", help="write JSON, one line an output")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from .. import formats

    if args.format is not None or args.model is not None:
        raise UsageError("detect finds the format itself; `explain` and `parse` take --format")
    way = outputs.way_of(args)
    loaded = outputs.load(args)
    status = 0
    for output in loaded.outputs:
        text = output.text
        if way.vocabulary is not None and output.has_ids:
            text = "".join(delta.text for delta in output.decoded(way.vocabulary)[0])
        found = formats.detect(text, prompt=way.prompt, tools=way.tools)
        if not found.matches or found.skipped:
            status = 1
        if args.json:
            sys.stdout.write(json.dumps(_as_dict(output.choice, found)) + "\n")
            continue
        if len(loaded.outputs) > 1:
            print(f"choice {output.choice}")
        _show(found)
    return status


def _show(found: Detection) -> None:
    for skipped in found.skipped[:_MOST]:
        print(skipped)
    for number, match in enumerate(found.matches[:_MOST], start=1):
        print(f"{number}. {', '.join(match.formats)}: {match.reason}")
    if not found.matches and not found.skipped:
        for name, why in found.broken[:_MOST]:
            print(f"{name} reads calls in it, but {why}")
        if not found.broken:
            print("no format reads a call in this output, and none reads a broken one")


def _as_dict(choice: int, found: Detection) -> dict[str, object]:
    return {
        "choice": choice,
        "matches": [
            {"formats": match.formats, "reason": match.reason, "calls": [call.name for call in match.reading.calls]}
            for match in found.matches
        ],
        "skipped": [{"formats": one.formats, "found": one.found, "missing": one.missing} for one in found.skipped],
        "broken": [{"format": name, "why": why} for name, why in found.broken],
    }
