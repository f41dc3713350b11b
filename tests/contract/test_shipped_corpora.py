"""The corpora that ship: every table has one, each covers every kind, and each holds."""

from __future__ import annotations

import pytest

from gateway_args import contract, formats


def test_every_table_has_a_corpus_and_every_corpus_a_table() -> None:
    assert set(contract.names()) == {*formats.names(), "forced", "required"}


@pytest.mark.parametrize("name", contract.names())
def test_a_corpus_covers_every_kind_or_says_why_not(name: str) -> None:
    corpus = contract.load(name)
    assert corpus.format == name
    assert corpus.missing_kinds() == []


@pytest.mark.every_table
@pytest.mark.parametrize("name", contract.names())
def test_a_corpus_holds(name: str, chunkings: contract.Chunkings) -> None:
    report = contract.check(name, chunkings=chunkings)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("name", "least"), [("hermes", 45), ("qwen3", 45), ("forced", 25), ("required", 25), ("json", 25)]
)
def test_the_first_corpora_are_large(name: str, least: int) -> None:
    assert len(contract.load(name).cases) >= least


@pytest.mark.parametrize("name", contract.names())
def test_a_corpus_has_sound_and_broken_cases(name: str) -> None:
    cases = contract.load(name).cases
    assert any(case.canonical for case in cases)
    calls = {call.complete for case in cases for call in case.expect.calls}
    assert calls == ({True, False} if name != "plain" else set())
