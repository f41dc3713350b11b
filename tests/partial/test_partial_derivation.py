"""The examples of the document that partial values are built to, paragraph by paragraph.

The document is "A10 SPIKE: Partial[A] derivation"; each test names the paragraph whose words it holds. Its JSON tree
`Js` is a plain value here, `Set[JsonPath]` a tuple of paths, `Option` a value or None, `LlmSchema` a Python type.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from partial_documents import paths

from gateway_args.errors import DecodeError
from gateway_args.partial import Partial, PartialStream, decode, stream


@dataclass
class Competitor:
    name: str
    share: float


@dataclass
class MarketReport:
    summary: str
    competitors: list[Competitor]
    note: str | None = None


TEXT = """{
  "summary": "Two rivals, one \\"market\\" \\u2014 stable.",
  "competitors": [
    {"name": "Aster", "share": 25},
    {"name": "Birch", "share": 2.5e1}
  ],
  "note": null
}"""


def _partial(text: str, type_: Any = MarketReport) -> Partial[Any]:
    partials: PartialStream[Any] = PartialStream(type_)
    partials.feed(text)
    return partials.partial


def _until(part: str) -> str:
    return TEXT[: TEXT.index(part) + len(part)]


def test_opening_example_5_summary_fills_in_competitors_appear_one_by_one() -> None:
    """The target: "summary fills in, competitors appear one by one", and the last element is the validated report."""
    shown: list[Any] = []
    for partial in stream(MarketReport, (TEXT[at : at + 3] for at in range(0, len(TEXT), 3))):
        state = (partial.fields.summary, [competitor.name for competitor in partial.fields.competitors])
        if not shown or shown[-1] != state:
            shown.append(state)
    summary = 'Two rivals, one "market" — stable.'
    assert shown == [(None, []), (summary, []), (summary, ["Aster"]), (summary, ["Aster", "Birch"])]
    assert partial.value == MarketReport(summary, [Competitor("Aster", 25), Competitor("Birch", 25)])


def test_1a_collections_grow_by_complete_validated_elements_and_never_by_half_built_ones() -> None:
    partial = _partial(_until('"Birch"'))
    assert partial.fields.competitors == [Competitor("Aster", 25.0)]
    assert [type(each) for each in partial.fields.competitors] == [Competitor]


def test_1b_a_path_based_getter_is_some_exactly_when_the_path_is_complete_and_decodes() -> None:
    partial = _partial(_until('"name": "Birch"'))
    assert partial.get(("competitors", 0, "share"), float) == 25.0
    assert partial.get(("competitors", 0, "name"), int) is None
    assert partial.get(("competitors", 1, "name"), str) is None


def test_1c_incomplete_is_the_rightmost_spine_and_everything_off_it_is_final() -> None:
    partial = _partial(_until('{"name": "Bi'))
    assert partial.incomplete == ((), ("competitors",), ("competitors", 1), ("competitors", 1, "name"))
    assert partial.is_complete(("competitors", 0))
    assert partial.is_complete("summary")


def test_1c_fields_mirror_the_type_one_level_deep() -> None:
    partial = _partial(_until('"name": "Bi'))
    assert dir(partial.fields) == ["competitors", "note", "summary"]
    assert isinstance(partial.fields.summary, str)
    assert isinstance(partial.fields.competitors, Sequence)
    assert partial.fields.note is None


def test_1c_narrow_looks_inside_the_competitor_in_flight() -> None:
    """`p.narrow[Competitor](root / "competitors" at 1).get.fields.name`."""
    rival = _partial(_until('"name": "Birch",')).narrow(("competitors", 1), Competitor)
    assert rival is not None
    assert (rival.fields.name, rival.fields.share) == ("Birch", None)
    assert rival.incomplete == ((),)


def test_1c_value_is_some_only_once_the_document_closed() -> None:
    assert _partial(TEXT[:-1]).value is None
    assert _partial(TEXT).value == decode(MarketReport, TEXT)
    assert _partial(TEXT + " and more").value is None


@pytest.mark.parametrize("cut", ["tr", "fals", "nul"])
def test_2_a_prefix_that_ends_inside_true_false_or_null_is_no_error(cut: str) -> None:
    partials = PartialStream(Any)
    view = partials.feed(f'{{"a": 1, "b": {cut}')
    assert view is not None
    assert view.malformed is None
    assert view.snapshot == {"a": 1}


def test_2_the_final_text_goes_through_the_full_strict_decode_regardless() -> None:
    """Engine rule 2: what a skipped emission would have shown cannot be lost."""
    for size in (1, 7, len(TEXT)):
        partials: PartialStream[MarketReport] = PartialStream(MarketReport)
        for at in range(0, len(TEXT), size):
            partials.feed(TEXT[at : at + size])
        assert partials.finish() == decode(MarketReport, TEXT)


def test_3_a_path_is_complete_iff_a_value_exists_there_and_it_is_not_on_the_spine() -> None:
    for end in range(len(TEXT) + 1):
        partial = _partial(TEXT[:end], Any)
        for path, _ in paths(partial.snapshot):
            if path != () or partial.snapshot is not None:
                assert partial.is_complete(path) is (path not in partial.incomplete)
        assert not partial.is_complete("nowhere")


@pytest.mark.parametrize(
    ("text", "path", "behind"),
    [
        ('{"share": 2', ("share",), "5,"),  # a number at the end: 2 of an eventual 25
        ('{"name": "As', ("name",), 'ter",'),  # an unterminated string
        ('[{"name": "Aster"}', (0,), ","),  # a closed but last array element
        ('{"a": true', ("a",), ","),
    ],
)
def test_3_what_may_still_change_waits_for_the_token_behind_it(text: str, path: Any, behind: str) -> None:
    assert not _partial(text, Any).is_complete(path)
    assert _partial(text + behind, Any).is_complete(path)


def test_3_prefix_stability_every_leaf_reported_complete_has_its_final_value() -> None:
    final = dict(paths(json.loads(TEXT)))
    checks = 0
    partials = PartialStream(Any)
    for character in TEXT:
        partials.feed(character)
        for path, value in paths(partials.partial.snapshot):
            if partials.partial.is_complete(path):
                assert value == final[path]
                checks += 1
    assert checks > 300


def test_3_a_part_that_is_complete_is_validated_and_the_whole_only_at_the_end() -> None:
    partial = _partial('{"summary": 5, "competitors": [{"name": "Aster"}, {"name": "Birch", "share": 1},')
    assert [error.path for error in partial.errors] == [("summary",), ("competitors", 0, "share")]
    assert partial.fields.summary is None
    assert partial.fields.competitors == [Competitor("Birch", 1)]


def test_4_a_view_is_emitted_only_when_the_observable_state_changed() -> None:
    pieces = [TEXT[at : at + 2] for at in range(0, len(TEXT), 2)]
    partials = PartialStream(MarketReport)
    sizes = []
    for piece in pieces:
        view = partials.feed(piece)
        if view is not None:
            sizes.append(len(view.fields.competitors))
    assert 0 < len(sizes) < len(pieces)
    assert sizes == sorted(sizes)
    assert sizes[-1] == 2


def test_4_the_final_element_is_the_strict_decode_or_a_typed_failure() -> None:
    *_, last = stream(MarketReport, [TEXT[:40], TEXT[40:]])
    assert last.value == decode(MarketReport, TEXT)
    for broken in (TEXT[:-1], TEXT.replace("25}", "25,}"), TEXT.replace('"Aster"', "7")):
        with pytest.raises(DecodeError) as raised:
            list(stream(MarketReport, [broken[:40], broken[40:]]))
        assert raised.value.offset is not None


@pytest.mark.parametrize("before", ["Here is the report:\n", "```json\n", "Sure [as asked]! "])
def test_3_and_5_parsing_is_anchored_at_the_first_structural_opener(before: str) -> None:
    """With `lenient_start`; a fence that nothing closes streams to its end."""
    partials: PartialStream[MarketReport] = PartialStream(MarketReport, lenient_start=True)
    partials.feed(before + TEXT[:60])
    assert partials.partial.fields.summary == 'Two rivals, one "market" — stable.'
    partials.feed(TEXT[60:] + "\n```")
    assert partials.finish() == decode(MarketReport, TEXT)


def test_5_every_name_of_the_recommended_surface_is_there() -> None:
    partial = _partial(TEXT)
    assert partial.is_done
    assert partial.incomplete == ()
    assert partial.is_complete(("competitors", 1))
    assert partial.get(lambda report: report.competitors[1].name) == "Birch"
    assert partial.narrow(lambda report: report.competitors[0]) is not None
    assert partial.fields.competitors == partial.get("competitors")
    assert partial.snapshot == json.loads(TEXT)
