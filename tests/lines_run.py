"""Counts work: the lines of the package that run, so that a claim about work needs no clock."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import gateway_args

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway_args import Parser

HOME = Path(gateway_args.__file__).parent


def lines_of(work: Callable[[], object], home: Path = HOME) -> int:
    """How many lines of the package, or of this folder of it, the work executes."""
    if gateway_args.__compiled__:
        pytest.skip("compiled code runs no lines that could be counted")
    count, folder = 0, str(home)

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal count
        if event == "call" and not frame.f_code.co_filename.startswith(folder):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def lines_run(parser: Parser, pieces: list[str]) -> int:
    """Lines of the package that run while the parser reads these deltas to their end."""

    def read() -> None:
        for piece in pieces:
            parser.feed(piece)
        parser.finish("stop")

    return lines_of(read)
