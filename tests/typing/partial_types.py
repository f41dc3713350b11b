"""What mypy and pyright know of `Partial`: both check this file, and every `assert_type` in it must be exact.

Where the types end: `fields` is `T`, so a field's None is not visible there; with a JSON Schema all is `Any`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, assert_type

from pydantic import BaseModel

from gateway_args.partial import CallPartial, Partial, PartialStream, decode, partials, stream

if TYPE_CHECKING:
    from gateway_args.events import Event


@dataclass
class Competitor:
    name: str
    share: float


@dataclass
class Report:
    summary: str
    competitors: list[Competitor]
    shares: dict[str, float]


class Described(TypedDict):
    name: str


class Point(NamedTuple):
    x: int


class Model(BaseModel):
    count: int


def picked(partial: Partial[Report]) -> None:
    assert_type(partial.get(lambda report: report.summary), str | None)
    assert_type(partial.get(lambda report: report.competitors), list[Competitor] | None)
    assert_type(partial.get(lambda report: report.competitors[0].share), float | None)
    assert_type(partial.get(lambda report: report.shares["a"]), float | None)
    assert_type(partial.narrow(lambda report: report.competitors[1]), Partial[Competitor] | None)
    assert_type(partial.text(lambda report: report.summary), str | None)
    assert_type(partial.is_complete(lambda report: report.summary), bool)
    partial.get(lambda report: report.sumary)  # type: ignore[attr-defined]


def named(partial: Partial[Report]) -> None:
    assert_type(partial.get("summary", str), str | None)
    assert_type(partial.get(("competitors", 0), Competitor), Competitor | None)
    assert_type(partial.narrow(("competitors", 0), Competitor), Partial[Competitor] | None)
    assert_type(partial.get("summary"), Any)


def whole(partial: Partial[Report]) -> None:
    assert_type(partial.value, Report | None)
    assert_type(partial.fields, Report)
    assert_type(partial.fields.summary, str)
    assert_type(partial.fields.competitors, list[Competitor])
    partial.fields.sumary  # type: ignore[attr-defined]  # noqa: B018


def streams(pieces: Iterator[str], later: AsyncIterator[str], events: list[Event]) -> None:
    assert_type(PartialStream(Report), PartialStream[Report])
    assert_type(PartialStream(Report).feed(""), Partial[Report] | None)
    assert_type(PartialStream(Report).finish(), Report)
    assert_type(PartialStream(list[Competitor]).finish(), list[Competitor])
    assert_type(PartialStream(dict[str, int]).finish(), dict[str, int])
    assert_type(PartialStream(Described).finish(), Described)
    assert_type(PartialStream(Point).finish(), Point)
    assert_type(PartialStream(Model).finish(), Model)
    assert_type(PartialStream({"type": "object"}), PartialStream[Any])
    assert_type(stream(Report, pieces), Iterator[Partial[Report]])
    assert_type(stream(Report, later), AsyncIterator[Partial[Report]])
    assert_type(decode(Report, "{}"), Report)
    assert_type(partials(events, {"write_file": Report}), Iterator[CallPartial])
