"""Work is linear on streams that are awkward for a format, counted in lines of the package that run, with no clock.

Each table meets eleven streams of its own markers, in one delta and by the character: twice the text may cost twice
the work and a little more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lines_run import HOME, lines_of

from gateway_args import Limits, Parser, formats
from gateway_args.contract import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args import Format

SIZE = 800
"""Characters of the shorter text."""
LIMITS = Limits(max_held=256, max_layout=32, max_name=32)
"""Bounds that the text passes many times over: past them the work is a character's, not a bound's."""


def streams(format: Format) -> Iterator[tuple[str, str, str]]:
    """What each is called, what it begins with, and what is said again and again behind that."""
    openers = [format.markers[name].text for name in format.opener_names] or [""]
    closers = [marker.text for marker in format.closers] or ["</x>"]
    ends = [marker.text for marker in format.turn_end] or ["<|x|>"]
    calls = [case.text for case in corpus.load(format.name).cases if case.canonical and case.expect.calls]
    call = min(calls, key=len) if calls else "x"
    yield "openers", "", "".join(openers)
    yield "halves of openers", "", openers[0][:-1] or "<"
    yield "closers", "", "".join(closers)
    yield "ends of the turn", "", "".join(ends) + " "
    yield "blanks", "", " \n"
    yield "openers and blanks", "", openers[-1] + "  \n"
    yield "calls", "", call
    yield "calls cut short", "", call[: len(call) * 2 // 3]
    yield "text in a call", call[: len(call) // 2], "x, "
    yield "quotes and backslashes in a call", call[: len(call) // 2], "\\\"'"
    yield "brackets in a call", call[: len(call) // 2], "[{("


def work(format: Format, start: str, again: str, size: int, whole: bool) -> int:
    output = (start + again * (size // max(1, len(again)) + 1))[: size + len(start)]
    parser = Parser(format, limits=LIMITS)

    def read() -> None:
        for piece in [output] if whole else output:
            parser.feed(piece)
        parser.finish("stop")

    return lines_of(read, HOME)


@pytest.mark.every_table
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "by character"])
@pytest.mark.parametrize("name", formats.names())
def test_twice_the_text_is_twice_the_work(name: str, whole: bool) -> None:
    format = formats.load(name)
    for called, start, again in streams(format):
        once, twice = (work(format, start, again, size, whole) for size in (SIZE, 2 * SIZE))
        assert twice <= 2.2 * once + 1000, f"{called}: {once} lines for {SIZE} characters, {twice} for twice as many"
