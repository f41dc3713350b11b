"""The command line `gateway-args`: one module a command, each with `add` (its options) and `run` (its work).

Exit status 0: done; 1: it ran and something in the input was wrong (a bad line of a batch, a broken promise); 2: it
could not run, with one line on standard error that says why. A traceback is a bug of ours. Nothing heavy is imported
before a command needs it.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from ..errors import GatewayArgsError
from . import batch, completion, contract, demo, detect, explain, formats, grammar, learn, parse, replay, serve
from .common import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = (parse, batch, explain, detect, contract, formats, grammar, learn, serve, demo, replay, completion)


class _Arguments(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


class _Version(argparse.Action):
    """Prints the installed version and ends; looked up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"gateway-args {version('gateway-args')}")
        parser.exit()


def arguments() -> argparse.ArgumentParser:
    """Every command with its options."""
    parser = _Arguments(prog="gateway-args", description="From what a model writes to tool-call events.")
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and gives its exit status."""
    try:
        args = arguments().parse_args(argv)
    except SystemExit:  # help, the version, a wrong option
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError:
            _abandon_output()
        raise
    except BrokenPipeError:  # the reader of the help or of the version went away
        _abandon_output()
        return 1
    if sys.stdout is None:
        print(f"gateway-args {args.command}: standard output is closed", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character is no crash
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except (UsageError, GatewayArgsError) as error:
        print(f"gateway-args {args.command}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:  # an extra that is not installed; the message names it
        print(f"gateway-args {args.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        _abandon_output()  # the reader went away
        return 1
    except OSError as error:
        _abandon_output()
        print(f"gateway-args {args.command}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return status


def _abandon_output() -> None:
    """What Python would flush at its own end has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
