"""What a view shows of a report in flight: fields, paths, cursors, strings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from gateway_args.partial import Partial, PartialStream
from gateway_args.schema.path import show


@dataclass
class Competitor:
    name: str
    founded: date
    tags: list[str]


@dataclass
class Report:
    summary: str
    competitors: list[Competitor]
    shares: dict[str, float]
    lead: Competitor | None = None


TEXT = (
    '{"summary": "Two \\ud83d\\ude00 rivals", "competitors": ['
    '{"name": "Aster", "founded": "1999-01-02", "tags": ["old", "big"]}, '
    '{"name": "Birch", "founded": "2004-05-06", "tags": ["new"]}], '
    '"shares": {"Aster": 12.5, "Birch": 7}, "lead": {"name": "Aster", "founded": "1999-01-02", "tags": []}}'
)


def _at(until: str, type_: Any = Report) -> Partial[Any]:
    """The view when the text had come as far as the end of this stretch of it."""
    stream: PartialStream[Any] = PartialStream(type_)
    stream.feed(TEXT[: TEXT.index(until) + len(until)])
    return stream.partial


def test_a_scalar_is_none_until_it_is_complete_and_a_collection_grows_by_complete_elements() -> None:
    assert _at("Two").fields.summary is None
    assert _at('rivals"').fields.summary is None
    assert _at('rivals",').fields.summary == "Two 😀 rivals"
    assert _at("Two").fields.competitors == []
    assert _at('"big"]}').fields.competitors == []
    assert _at('"big"]},').fields.competitors == [Competitor("Aster", date(1999, 1, 2), ["old", "big"])]
    assert len(_at('["new"]}]').fields.competitors) == 2
    assert dict(_at('"Birch": 7').fields.shares) == {"Aster": 12.5}
    assert dict(_at('"Birch": 7}').fields.shares) == {"Aster": 12.5, "Birch": 7.0}
    assert _at("[]}").fields.lead is None
    assert _at("[]}}").fields.lead == Competitor("Aster", date(1999, 1, 2), [])


def test_fields_name_what_the_type_has_and_nothing_else() -> None:
    fields = _at("Two").fields
    assert dir(fields) == ["competitors", "lead", "shares", "summary"]
    with pytest.raises(AttributeError, match="Report has no field 'sumary'"):
        _ = fields.sumary
    assert repr(fields) == "Fields(summary=None, competitors=[], shares={}, lead=None)"


def test_the_spine_runs_from_the_root_to_the_value_of_the_last_token() -> None:
    assert _at("{").incomplete == ((),)
    assert _at('"summary"').incomplete == ((),)
    assert _at("Two").incomplete == ((), ("summary",))
    assert _at('rivals",').incomplete == ((),)
    assert _at('"name": "Bi').incomplete == ((), ("competitors",), ("competitors", 1), ("competitors", 1, "name"))
    assert _at('"new"]}]').incomplete == ((), ("competitors",))
    assert _at("[]}}").incomplete == ()


def test_the_snapshot_is_the_plain_value_so_far() -> None:
    assert PartialStream(Report).partial.snapshot is None
    assert _at("Two \\ud83d").snapshot == {"summary": "Two "}
    assert _at("Two \\ud83d\\ude00").snapshot == {"summary": "Two 😀"}
    assert _at('"old", "bi').snapshot["competitors"] == [
        {"name": "Aster", "founded": "1999-01-02", "tags": ["old", "bi"]}
    ]
    assert _at("12.").snapshot["shares"] == {"Aster": 12}
    assert _at('"lead": ').snapshot["shares"] == {"Aster": 12.5, "Birch": 7}


def test_get_decodes_a_complete_value_as_its_declared_type_or_as_the_one_asked_for() -> None:
    partial = _at('"name": "Bi')
    assert partial.get("summary") == "Two 😀 rivals"
    assert partial.get(("competitors", 0, "founded")) == date(1999, 1, 2)
    assert partial.get(lambda report: report.competitors[0].founded) == date(1999, 1, 2)
    assert partial.get(("competitors", 0, "founded"), str) == "1999-01-02"
    assert partial.get(("competitors", 0, "founded"), int) is None
    assert partial.get(("competitors", 0, "name")) == "Aster"
    assert partial.get("competitors") is None
    assert partial.get(("competitors", 1, "name")) is None
    assert partial.get(("competitors", 7)) is None
    assert partial.get(("summary", "deeper")) is None
    assert _at('"lead"').get("competitors")[1] == Competitor("Birch", date(2004, 5, 6), ["new"])


def test_narrow_is_a_cursor_into_the_part_in_flight_with_the_spine_rebased() -> None:
    partial = _at('"2004-05-06", "tags": ["ne')
    rival = partial.narrow(lambda report: report.competitors[1])
    assert rival is not None
    assert (rival.fields.name, rival.fields.founded, rival.fields.tags) == ("Birch", date(2004, 5, 6), [])
    assert rival.incomplete == ((), ("tags",), ("tags", 0))
    assert rival.text(("tags", 0)) == "ne"
    assert not rival.is_done
    first = partial.narrow(("competitors", 0), Competitor)
    assert first is not None
    assert first.is_done
    assert first.value == Competitor("Aster", date(1999, 1, 2), ["old", "big"])
    assert first.fields.tags == ["old", "big"]
    assert partial.narrow("lead") is None
    assert partial.narrow(("competitors", 2)) is None


def test_narrow_takes_another_type_and_reports_its_errors_from_its_own_root() -> None:
    @dataclass
    class Coded:
        name: int

    rival = _at('"name": "Birch",').narrow(("competitors", 1), Coded)
    assert rival is not None
    assert rival.fields.name is None
    assert [show(fault.path) for fault in rival.errors] == ["$.name"]


def test_text_shows_a_string_in_flight_with_its_escapes_decoded_and_no_half_pair() -> None:
    assert _at("Two").text("summary") == "Two"
    assert _at("Two \\ud83d").text("summary") == "Two "
    assert _at("Two \\ud83d\\ude").text("summary") == "Two "
    assert _at("Two \\ud83d\\ude00 ri").text("summary") == "Two 😀 ri"
    assert _at("Two \\ud83d\\ude00 ri").text("summary", start=5) == " ri"
    assert _at("Two \\ud83d\\ude00 ri").text("summary", start=99) == ""
    assert _at('rivals",').text(lambda report: report.summary) == "Two 😀 rivals"
    assert _at("Two").text("competitors") is None
    assert _at("12.").text(("shares", "Aster")) is None


def test_text_from_a_start_is_what_came_since_at_every_piece() -> None:
    stream = PartialStream(Report, emit="text")
    shown = ""
    for character in TEXT[: TEXT.index("rivals") + 6]:
        partial = stream.feed(character)
        if partial is not None and (more := partial.text("summary", start=len(shown))):
            shown += more
    assert shown == "Two 😀 rivals"


def test_a_path_is_a_key_an_index_a_sequence_of_them_or_a_picker() -> None:
    partial = _at("[]}}")
    assert partial.get(["competitors", 0, "tags", 1]) == "big"
    assert partial.get(()) == partial.value
    assert _at("[]}}", Any).get(lambda report: report["shares"]["Aster"]) == 12.5
    for wrong in (-1, True, 1.5, ("competitors", None), lambda report: "summary"):
        with pytest.raises(TypeError):
            partial.get(wrong)  # type: ignore[call-overload]


def test_without_a_type_every_complete_field_is_its_plain_value() -> None:
    partial = _at('"shares": {"Aster": 12.5,', Any)
    assert partial.fields.summary == "Two 😀 rivals"
    assert partial.fields.shares is None
    assert partial.fields.competitors[0]["name"] == "Aster"


def test_a_root_list_or_dict_is_its_own_fields() -> None:
    numbers = PartialStream(list[int])
    partial = numbers.feed("[1, 2, 3")
    assert partial is not None
    assert partial.fields == [1, 2]
    by_name = PartialStream(dict[str, int]).feed('{"a": 1, "b": 2')
    assert by_name is not None
    assert by_name.fields == {"a": 1}


def test_grown_views_are_read_only_sequences_and_mappings() -> None:
    elements = _at('"lead"').fields.competitors
    assert [each.name for each in elements] == ["Aster", "Birch"]
    assert elements[-1].name == "Birch"
    assert [each.name for each in elements[::-1]] == ["Birch", "Aster"]
    assert elements != [1]
    assert elements != "no list"
    with pytest.raises(IndexError):
        _ = elements[2]
    members = _at('"Birch": 7').fields.shares
    assert ("Aster" in members, "Birch" in members, list(members), len(members)) == (True, False, ["Aster"], 1)
    with pytest.raises(KeyError):
        _ = members["Birch"]


def test_a_path_is_written_as_errors_write_it() -> None:
    assert show(()) == "$"
    assert show(("a", 0, "b c", 'q"')) == '$.a[0]["b c"]["q\\""]'


def test_a_narrowed_collection_reports_its_own_errors_from_its_own_root_then_and_later() -> None:
    text = '{"other": 1, "summary": 5, "shares": {"A": "x", "B": 1, "C": "y", "D": 2}, "lead": null}'
    stream: PartialStream[Any] = PartialStream(Report, emit="text")
    held = []
    for character in text:
        view = stream.feed(character)
        part = None if view is None else view.narrow("shares")
        if part is not None:
            held.append((part, [show(error.path) for error in part.errors]))
    assert next(errors for _, errors in held if errors) == ["$.A"]
    assert held[-1][1] == ["$.A", "$.C"]
    assert [[show(error.path) for error in part.errors] for part, _ in held] == [errors for _, errors in held]
    assert [show(error.path) for error in stream.partial.errors] == ["$.summary", "$.shares.A", "$.shares.C"]
