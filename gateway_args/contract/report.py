"""A report: how many cases and runs a contract had, and each failure with its minimal chunking."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .promises import Promise


@dataclass(frozen=True, slots=True)
class Failure:
    """A promise that a case broke; `pieces` are the deltas of a minimal chunking that shows it."""

    case: str
    stream: str
    promise: Promise
    detail: str
    pieces: tuple[str, ...]
    empties: bool = False
    restores: bool = False

    @property
    def chunking(self) -> str:
        """The deltas on one line, long ones in part."""
        shown = " | ".join(_shown(piece) for piece in self.pieces[:12])
        more = f" | … {len(self.pieces) - 12} more" if len(self.pieces) > 12 else ""
        notes = [
            note for note, on in (("empty deltas between", self.empties), ("restored after each", self.restores)) if on
        ]
        return (shown + more or "(no delta)") + (f" ({', '.join(notes)})" if notes else "")

    def __str__(self) -> str:
        return f"{self.case} [{self.stream}]\n  {self.promise}: {self.detail}\n  deltas: {self.chunking}"

    def as_dict(self) -> dict[str, object]:
        return {
            "case": self.case,
            "stream": self.stream,
            "promise": str(self.promise),
            "detail": self.detail,
            "pieces": list(self.pieces),
            "empties": self.empties,
            "restores": self.restores,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome for one format; `missing_kinds` are the kinds with neither a case nor a reason."""

    format: str
    cases: int
    runs: int
    failures: tuple[Failure, ...]
    missing_kinds: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def broken_cases(self) -> int:
        return len({failure.case for failure in self.failures})

    @property
    def summary(self) -> str:
        said = f"{self.format}: {self.cases - self.broken_cases} of {self.cases} cases hold, {self.runs} runs"
        return said + (f"; kinds missing: {', '.join(self.missing_kinds)}" if self.missing_kinds else "")

    def __str__(self) -> str:
        return "\n".join([*(str(failure) for failure in self.failures), self.summary])

    def as_dict(self) -> dict[str, object]:
        return {
            "format": self.format,
            "ok": self.ok,
            "cases": self.cases,
            "runs": self.runs,
            "missing_kinds": list(self.missing_kinds),
            "failures": [failure.as_dict() for failure in self.failures],
        }


def page(reports: Iterable[Report]) -> str:
    """The reports as one HTML page that needs no other file."""
    reports = list(reports)
    rows = "".join(
        f"<tr class={'ok' if report.ok else 'no'}><td>{html.escape(report.format)}<td>{report.cases}"
        f"<td>{report.runs}<td>{report.broken_cases}<td>{html.escape(', '.join(report.missing_kinds))}"
        for report in reports
    )
    failures = "".join(
        f"<h2>{html.escape(report.format)}: {html.escape(failure.case)}</h2>"
        f"<p><b>{html.escape(failure.promise)}</b>, {html.escape(failure.stream)}: {html.escape(failure.detail)}"
        f"<p class=deltas>{_deltas(failure)}"
        for report in reports
        for failure in report.failures
    )
    return _PAGE.format(rows=rows, failures=failures or "<p>Every promise holds.")


def _deltas(failure: Failure) -> str:
    pieces = "".join(f"<code>{html.escape(_shown(piece))}</code> " for piece in failure.pieces[:200])
    notes = " empty deltas between" * failure.empties + " restored after each" * failure.restores
    return pieces + html.escape(notes)


def _shown(piece: str) -> str:
    text = repr(piece)
    return text if len(text) <= 60 else f"{text[:36]}…{text[-16:]}"


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Contract</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em }}
table {{ border-collapse: collapse }} td, th {{ padding: .2em .8em; text-align: left; border-bottom: 1px solid #ccc }}
.no td:first-child {{ color: #b00020; font-weight: bold }} .ok td:first-child {{ color: #18722f }}
code {{ background: #eef; padding: .1em .3em; white-space: pre-wrap; overflow-wrap: anywhere }}
h2 {{ font-size: 1.1em }}
</style>
<h1>Contract</h1>
<table><tr><th>format<th>cases<th>runs<th>broken cases<th>kinds missing{rows}</table>
{failures}
</html>
"""
