"""The chunkings that are tried, how they shrink, the streams they cut, and the oracle's word on JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway_args import contract
from gateway_args.contract import oracle
from gateway_args.contract.chunkings import Chunking, Chunkings, shrink
from gateway_args.contract.streams import Stream, streams_of

MARKERS = ["<tool_call>", "</tool_call>"]


def pieces(chunking: Chunking, text: str) -> list[str]:
    return [text[start:end] for start, end in chunking.bounds(len(text))]


@pytest.mark.parametrize("length", [0, 1, 2, 3, 30, 500])
def test_every_chunking_cuts_all_of_the_text_and_nothing_else(length: int) -> None:
    text = "x" * length
    tried = list(Chunkings().of(text, "a case", restorable=True))
    for chunking in tried:
        assert "".join(pieces(chunking, text)) == text
        assert all(pieces(chunking, text))
    assert any(chunking.empties for chunking in tried)
    assert any(chunking.restores for chunking in tried)


def test_a_short_text_is_cut_in_two_everywhere_and_into_characters() -> None:
    tried = {chunking.cuts for chunking in Chunkings().of("abcdef", "a case", restorable=False)}
    assert {(), (1, 2, 3, 4, 5), (1,), (2,), (3,), (4,), (5,)} <= tried


def test_a_long_text_is_cut_in_two_at_a_bounded_number_of_places_near_its_structure_first() -> None:
    text = "a" * 3000 + "</tool_call>" + "b" * 3000
    cuts = {
        chunking.cuts[0] for chunking in Chunkings().of(text, "a case", restorable=False) if len(chunking.cuts) == 1
    }
    assert len(cuts) == Chunkings().long
    assert {3000, 3001, 3002, 3011, 3012} <= cuts


def test_the_plans_repeat_and_differ_by_case() -> None:
    def plans(name: str) -> list[tuple[int, ...]]:
        return [chunking.cuts for chunking in Chunkings(two_way=False).of("x" * 200, name, restorable=False)]

    assert plans("one") == plans("one")
    assert plans("one") != plans("two")


def test_shrinking_keeps_only_the_cuts_that_matter() -> None:
    runs: list[Chunking] = []

    def fails(chunking: Chunking) -> bool:
        runs.append(chunking)
        return {17, 40} <= set(chunking.cuts)

    least = shrink(Chunking(tuple(range(1, 100)), empties=True, restores=True), fails)
    assert least == Chunking((17, 40))
    assert len(runs) <= 303


def test_shrinking_keeps_a_restore_that_matters() -> None:
    least = shrink(Chunking((1, 2, 3), empties=True, restores=True), lambda chunking: chunking.restores)
    assert least == Chunking((), restores=True)


def case_of(output: str) -> contract.Case:
    corpus = contract.parse(f'format = "x"\n[[case]]\nname = "a"\nkinds = ["plain"]\noutput = {output}\n')
    return corpus.cases[0]


def streams(output: str) -> dict[str, Stream]:
    return {stream.label: stream for stream in streams_of(case_of(output), MARKERS)}


@pytest.mark.parametrize(
    "output",
    [
        "'a <tool_call>{}</tool_call> é✅😀'",
        "['x', { quote = '<tool_call>' }, '<tool_call>']",
        "[{ units = [0xD83D, 65] }]",
    ],
)
def test_every_stream_spells_the_output_and_its_tokens_cover_it(output: str) -> None:
    for stream in streams(output).values():
        assert contract.normalise("".join(stream.atoms)) == stream.output
        if stream.ids is None:
            continue
        piece = stream.piece(0, len(stream.atoms))
        assert not isinstance(piece, str)
        at = 0
        for token in piece.tokens:
            assert token.start == at
            at = token.end
        assert at == len(stream.output)
        assert len(piece.tokens) == stream.tokens


def test_markers_are_single_tokens_where_they_are_not_quoted() -> None:
    found = streams("['x', { quote = '<tool_call>' }, '<tool_call>']")
    tokens = found["tokens"]
    assert tokens.markers is not None
    marker = tokens.markers["<tool_call>"]
    assert tokens.ids is not None
    assert [atom for atom in tokens.ids if atom[0][0] == marker] == [((marker, 0, 11),)]
    assert tokens.atoms[-1] == "<tool_call>"
    by_id = found["tokens, quoted markers by id"]
    assert by_id.ids is not None
    assert len([atom for atom in by_id.ids if atom[0][0] == marker]) == 2
    assert not by_id.asserted
    spelled = found["tokens, markers spelled"]
    assert spelled.markers == {}
    assert "<tool_call>" not in spelled.atoms


def test_the_markers_of_a_canonical_case_may_have_no_text() -> None:
    case = replace(case_of("'a<tool_call>{}</tool_call>b'"), canonical=True)
    found = {stream.label: stream for stream in streams_of(case, MARKERS)}
    bare = found["tokens, markers without text"]
    assert bare.output == "".join(bare.atoms) == "a{}b"
    assert bare.tokens == found["tokens"].tokens
    assert bare.ids is not None
    assert bare.markers is not None
    assert {atom[0][0] for text, atom in zip(bare.atoms, bare.ids, strict=True) if not text} == set(
        bare.markers.values()
    )


def test_a_text_without_markers_has_no_more_streams_than_it_needs() -> None:
    assert set(streams("'plain text'")) == {"text", "tokens"}
    assert set(streams("''")) == {"text"}


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", None),
        ('{"a": 1', None),
        ('{"a": 1,}', 8),
        ("truex", 4),
        ('{"a": nope}', 7),
        ('{"é": "✅', None),
        ('{"é": "✅"x', 9),
        ('{"a": "\n', 7),
        ("NaN", 0),
        ('{"a": 1} ', None),
        ('{"a": 1} x', 9),
        ('"\\ud83d', None),
        ("\ufeff", 0),
    ],
)
def test_the_oracle_refuses_at_the_first_character_that_no_value_continues(text: str, at: int | None) -> None:
    assert oracle.refused_at(text) == at


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('{"a": 1}', True),
        ("[1,]", False),
        ("NaN", False),
        ("1" * 5000, True),
        ('"\\ud83d"', True),
        ("", False),
        ("{", False),
    ],
)
def test_the_oracle_knows_a_whole_value(text: str, whole: bool) -> None:
    assert oracle.is_whole(text) is whole


def test_a_bare_number_is_told_from_other_values() -> None:
    assert oracle.is_bare_number("-12 ")
    assert not oracle.is_bare_number('"12"')
    assert not oracle.is_bare_number("12a")
