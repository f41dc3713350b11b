"""Counts work: the lines of the package that run, so that a claim about work needs no clock."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import gateway_args

if TYPE_CHECKING:
    from gateway_args import Parser

HOME = str(Path(gateway_args.__file__).parent)


def lines_run(parser: Parser, pieces: list[str]) -> int:
    """Lines of the package that run while the parser reads these deltas to their end."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if event == "call" and not frame.f_code.co_filename.startswith(HOME):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for piece in pieces:
            parser.feed(piece)
        parser.finish("stop")
    finally:
        sys.settrace(before)
    return count
