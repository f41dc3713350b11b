"""A report that fills in while a model writes it: what `gateway-args demo partial` shows."""

from __future__ import annotations

from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gateway_args.partial import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from gateway_args.partial import Partial

_WRITTEN = """{"summary": "Four makers share the market for quiet pumps. Aster leads on price, \
Birch on service; Cedar grows fastest \\u2014 the one to watch.",
 "competitors": [
  {"name": "Aster", "share": 41.5, "strengths": ["price", "reach"]},
  {"name": "Birch", "share": 33, "strengths": ["service, day and night"]},
  {"name": "Cedar", "share": 16, "strengths": ["growth", "a new plant"]},
  {"name": "Dogwood", "share": 9.5, "strengths": ["patents"]}],
 "confidence": 0.8}"""


@dataclass
class Competitor:
    name: str
    share: float
    strengths: list[str]


@dataclass
class Report:
    summary: str
    competitors: list[Competitor]
    confidence: float


def show(*, fast: bool = False, console: Console | None = None) -> None:
    """Stream the report: live in a terminal, line by line as parts become complete when piped."""
    if console is None:
        console = Console(highlight=False)
    pieces = _pieces(0 if fast else 0.04)
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            for partial in stream(Report, pieces, emit="text"):
                live.update(_screen(partial), refresh=True)
    else:
        _print(console, stream(Report, pieces))


def _pieces(pause: float) -> Iterator[str]:
    for at in range(0, len(_WRITTEN), 5):
        sleep(pause)
        yield _WRITTEN[at : at + 5]


def _screen(partial: Partial[Report]) -> RenderableType:
    """The view as it stands; what is still in flight is dim."""
    style = "" if partial.is_complete("summary") else "dim"
    table = Table("competitor", "share", "strengths", expand=True)
    for competitor in partial.fields.competitors:
        table.add_row(competitor.name, f"{competitor.share:g} %", ", ".join(competitor.strengths))
    flying = partial.narrow(lambda report: report.competitors[len(partial.fields.competitors)])
    if flying is not None and isinstance(flying.snapshot, dict):
        share = flying.fields.share
        cells = [flying.text("name") or "", "" if share is None else f"{share:g} %", ", ".join(flying.fields.strengths)]
        table.add_row(*cells, style="dim")
    place = "" if partial.is_done else ".".join(map(str, partial.incomplete[-1]))
    waiting = "done" if partial.is_done else f"in flight: {place}"
    confidence = partial.fields.confidence
    return Group(
        Text(partial.text("summary") or "", style=style),
        table,
        Text(f"confidence {'…' if confidence is None else f'{confidence:.0%}'}   {waiting}", style="cyan"),
    )


def _print(console: Console, partials: Iterator[Partial[Report]]) -> None:
    """One line for each part, when it becomes complete."""
    told = set()
    for partial in partials:
        fields = partial.fields
        lines = {"summary": fields.summary, "confidence": fields.confidence}
        lines |= {f"competitor {number}": each for number, each in enumerate(fields.competitors, 1)}
        for name, value in lines.items():
            if value is not None and name not in told:
                told.add(name)
                words = f"{value.name}, {value.share:g} %" if isinstance(value, Competitor) else str(value)
                console.print(f"{name}: {words}", highlight=False, markup=False)
