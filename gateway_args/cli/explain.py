"""`explain`: where an output breaks, what was expected there, and the policy that decided.

Status 0: nothing is wrong; 1: something is, each place with its line, column and a caret; 2: it could not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import outputs

if TYPE_CHECKING:
    import argparse


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("explain", help="where an output breaks, and why", description=__doc__)
    outputs.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from ..diagnosis import explain, hint
    from ..reading import fold

    format, way = outputs.format_of(args), outputs.way_of(args)
    loaded = outputs.load(args)
    broken = not loaded.sound
    for output in loaded.outputs:
        events = outputs.events_of(way, format, output)
        text = "".join(getattr(event, "text", getattr(event, "source", "")) for event in events)
        found = explain(format, events)
        name = "standard input" if args.file == "-" else args.file
        where = name if len(loaded.outputs) == 1 else f"{name}, choice {output.choice}"
        for one in found:
            line, column = one.position(text)
            print(f"{where}:{line}:{column}: {one.what}")
            for shown in one.shown(text):
                print(f"  {shown}")
            if one.expected:
                print(f"  expected: {one.expected}")
            print(f"  {one.policy}")
        reading = fold(events)
        if not found:
            calls = f"{len(reading.calls)} call{'' if len(reading.calls) == 1 else 's'}"
            print(f"{where}: nothing is malformed ({calls})")
        advice = hint(format, text, reading, way.tools)
        if advice is not None:
            outputs.note(advice)
        broken = broken or bool(found)
    return 1 if broken else 0
