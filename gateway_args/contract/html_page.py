"""A report as one HTML page: every case with its output, its events and how it was cut.

The page holds all it needs and asks for nothing from elsewhere. It is searched in the browser, read by keyboard, light
or dark as the reader's system is.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from .corpus import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .report import CaseRun, Failure, Report

_MOST = 20_000
"""Characters of an output or an event that are shown; the page says how many it left out."""
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: "␡"}


def page(reports: Iterable[Report]) -> str:
    """The reports as one HTML page that needs no other file."""
    reports = list(reports)
    template = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    broken = sum(report.broken_cases for report in reports)
    cases, runs = sum(report.cases for report in reports), sum(report.runs for report in reports)
    verdict = "every promise holds" if not broken else f"{broken} of {cases} cases are broken"
    heading = f"{_counted(len(reports), 'format')}, {_counted(cases, 'case')}, {_counted(runs, 'run')}: {verdict}"
    body = "".join(part for report in reports for part in _section(report))
    return (
        template.replace("{{heading}}", heading)
        .replace("{{state}}", "no" if broken else "ok")
        .replace("{{body}}", body)
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _section(report: Report) -> Iterator[str]:
    failures: dict[str, list[Failure]] = {}
    for failure in report.failures:
        failures.setdefault(failure.case, []).append(failure)
    yield f"<section><h2>{_text(report.format)}</h2><p class=sum>{_text(report.summary)}</p>"
    for tried in report.tried:
        yield _case(report.format, tried, failures.pop(tried.name, []))
    for name, left in failures.items():  # a report made without its cases
        yield f"<details class='case no' open><summary>{_text(name)}</summary>{''.join(map(_failure, left))}</details>"
    yield "</section>"


def _case(format: str, tried: CaseRun, failures: list[Failure]) -> str:
    state, word = ("no", "broken") if failures else ("ok", "holds")
    rows = "".join(
        f"<tr><th scope=row>{_text(row.kind)}</th><td><code>{_text(row.text)}</code></td>"
        f"<td>{_text(row.detail)}</td></tr>"
        for row in tried.events
    )
    cuts = "; ".join(f"{_text(label)}: {_counted(number, 'chunking')}" for label, number in tried.streams)
    return (
        f"<details class='case {state}'{' open' if failures else ''}>"
        f"<summary><b class=state>{word}</b> {_text(tried.name)} "
        f"<small>{_text(', '.join(tried.kinds))}</small></summary>"
        f"{''.join(map(_failure, failures))}"
        f"<h3>Output</h3><pre>{_text(tried.output)}</pre>"
        f"<h3>Events</h3><table><thead><tr><th>event</th><th>text</th><th>says</th></tr></thead><tbody>{rows}</tbody></table>"
        f"<h3>Cuts</h3><p>{cuts}; the engine's reason: {_text(tried.finish)}; format: {_text(format)}</p></details>"
    )


def _failure(failure: Failure) -> str:
    pieces = " ".join(f"<code>{_text(piece)}</code>" for piece in failure.pieces[:200])
    notes = " empty deltas between" * failure.empties + " restored after each" * failure.restores
    return (
        f"<div class=failure><p><b>{_text(failure.promise)}</b> ({_text(failure.stream)}): {_text(failure.detail)}</p>"
        f"<p class=deltas>{pieces}{notes}</p></div>"
    )


def _text(text: str) -> str:
    """The text as HTML shows it: escaped, control characters as their pictures, very long ones in part."""
    shown = normalise(text[:_MOST]).translate(_PICTURES)
    more = f" … {len(text) - _MOST:,} more characters" if len(text) > _MOST else ""
    return html.escape(shown) + more
