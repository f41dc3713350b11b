"""`grammar`: the constraint for an engine under which a model of a format calls these tools."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .common import UsageError, format_named, tools_in

if TYPE_CHECKING:
    import argparse


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("grammar", help="print the guided decoding constraint of a format and its tools")
    parser.add_argument("format", metavar="FORMAT", help="a format's name, alias or .toml file")
    parser.add_argument("--tools", metavar="FILE", help="JSON: a list of tools, or a request that has them; - is stdin")
    parser.add_argument(
        "--choice", default="auto", metavar="CHOICE", help="auto, required, none or a function's name (default: auto)"
    )
    parser.add_argument("--as", dest="target", choices=("structural-tag", "lark"), default="structural-tag")
    parser.add_argument("--no-parallel", action="store_true", help="at most one call")
    parser.add_argument("--strict", action="store_true", help="fail where a schema cannot be enforced")
    parser.add_argument(
        "--reasoning",
        choices=("none", "optional", "open"),
        default="none",
        help="whether the output may hold a thought, or the prompt has opened one (default: none)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from .. import grammar

    format = format_named(args.format)
    if args.choice == "none":
        if args.target == "lark":
            raise UsageError("--choice none: the tag is a structural tag; leave out --as lark")
        made: grammar.StructuralTag | grammar.LarkGrammar = grammar.suppress(format)
    else:
        if args.tools is None:
            raise UsageError("--tools: name the file of the request's tools")
        make = grammar.lark if args.target == "lark" else grammar.structural_tag
        made = make(
            format,
            tools_in(args.tools),
            choice=args.choice,
            parallel=not args.no_parallel,
            strict=args.strict,
            reasoning=args.reasoning,
        )
    print(str(made).rstrip("\n"))
    for kind, notes in (("not enforced", made.unenforced), ("narrower than the schema", made.narrowed)):
        for note in notes:
            print(f"gateway-args grammar: {kind}: {note}", file=sys.stderr)
    return 0
