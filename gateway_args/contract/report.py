"""A report: how many cases and runs a contract had, and each failure with its minimal chunking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
class Row:
    """One event of a case's reading, for a page: its kind, its text, and what else it says."""

    kind: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A case as it was tried: its output, what the text in one delta says, and how it was cut.

    `streams` names each stream (text, token ids, …) with the number of chunkings that were tried.
    """

    name: str
    kinds: tuple[str, ...]
    output: str
    finish: str
    events: tuple[Row, ...]
    streams: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome for one format; `missing_kinds` are the kinds with neither a case nor a reason."""

    format: str
    cases: int
    runs: int
    failures: tuple[Failure, ...]
    missing_kinds: tuple[str, ...] = ()
    tried: tuple[CaseRun, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def broken_cases(self) -> int:
        return len({failure.case for failure in self.failures})

    @property
    def summary(self) -> str:
        line = f"{self.format}: {self.cases - self.broken_cases} of {self.cases} cases hold, {self.runs} runs"
        return line + (f"; kinds missing: {', '.join(self.missing_kinds)}" if self.missing_kinds else "")

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


def _shown(piece: str) -> str:
    text = repr(piece)
    return text if len(text) <= 60 else f"{text[:36]}…{text[-16:]}"
