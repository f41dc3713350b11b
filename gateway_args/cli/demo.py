"""`demo`: a rendered stream, token by token, with the events that each delta causes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("demo", help="see a stream become events", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        choices=("calls", "partial"),
        default="calls",
        help="tool calls (the default), or a typed value that fills in (needs the extra `typed`)",
    )
    parser.add_argument("--fast", action="store_true", help="at once, without a readable pace")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.what == "partial":
        from rich.console import Console

        from ..partial import demo as partial

        partial.show(Console(highlight=False), fast=args.fast)
        return 0
    from .. import demo

    demo.show(fast=args.fast)
    return 0
