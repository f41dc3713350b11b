"""`demo`: what a model writes, and what a client receives for it, delta by delta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _data

if TYPE_CHECKING:
    import argparse
    from types import ModuleType

WHAT = ("chat", "events", "partial")


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("demo", help="see a stream become what clients receive", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        choices=WHAT,
        default="chat",
        help="the chunks of the Chat API (the default), the events token by token, or a typed value that fills in "
        "(needs the extra `typed`)",
    )
    parser.add_argument("--fast", action="store_true", help="at once, without a readable pace")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    load(args.what).show(fast=args.fast)
    return 0


def load(what: str) -> ModuleType:
    """The demonstration of that name, as it is shipped in `examples/`."""
    import importlib.util
    import sys

    path = _data.folder("examples") / f"demo_{what}.py"
    spec = importlib.util.spec_from_file_location(f"gateway_args_demo_{what}", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(2, "the demonstration is not installed", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its types are looked up there
    spec.loader.exec_module(module)
    return module
