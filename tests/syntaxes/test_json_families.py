"""Calls generated at random and written as each family's template does are read back as they were meant."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_families import FAMILIES, NAMES, calls, cut, prose, steps

from gateway_args import Parser, Tools, fold, formats
from gateway_args.events import source_of

if TYPE_CHECKING:
    from json_families import Call, Family

    from gateway_args import Event

TOOLS = Tools.of([{"type": "function", "function": {"name": name, "parameters": {}}} for name in NAMES])


def said(
    table: str, pieces: list[str], tools: Tools | None = TOOLS, limits: dict[str, int] | None = None
) -> list[Event]:
    parser = Parser(formats.load(table), tools)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.finish("stop")


def assert_read_back(family: Family, meant: list[Call], before: str, after: str, pieces: list[str]) -> None:
    events = said(family.table, pieces)
    reading = fold(events)
    assert [(call.name, json.loads(call.arguments)) for call in reading.calls] == [
        (call.name, call.arguments) for call in meant
    ]
    assert all(call.complete for call in reading.calls)
    assert reading.content == before + after
    assert reading.malformed == []
    assert "".join(map(source_of, events)) == "".join(pieces)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.table}-{family.opener.strip()[:9]}")
@given(data=st.data())
def test_calls_are_read_back_whatever_the_chunking(family, data):
    meant = data.draw(st.lists(calls(), min_size=1, max_size=3))
    before = data.draw(prose) if family.narrates else ""
    after = data.draw(prose)
    text = before + family.write(meant) + after
    assert_read_back(family, meant, before, after, [text])
    assert_read_back(family, meant, before, after, list(text))
    assert_read_back(family, meant, before, after, cut(text, data.draw(steps)))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.table}-{family.opener.strip()[:9]}")
@given(data=st.data())
def test_an_output_cut_anywhere_keeps_its_whole_calls_and_says_no_other_complete(family, data):
    meant = data.draw(st.lists(calls(), min_size=1, max_size=3))
    text = family.write(meant)
    text = text[: data.draw(st.integers(min_value=0, max_value=len(text)))]
    events = said(family.table, cut(text, data.draw(steps)))
    reading = fold(events)
    assert "".join(map(source_of, events)) == text
    assert len(reading.calls) <= len(meant)
    for call, wanted in zip(reading.calls, meant, strict=False):
        assert call.name == wanted.name
        if call.complete:
            assert json.loads(call.arguments) == wanted.arguments
    assert all(call.complete for call in reading.calls[:-1])


@given(st.lists(calls(), min_size=1, max_size=2), steps)
def test_bare_objects_of_names_that_nobody_declares_are_text_to_the_letter(meant, sizes):
    text = "; ".join(call.text(arguments_key="parameters") for call in meant)
    reading = fold(
        said("llama3_json", cut(text, sizes), Tools.of([{"name": "other", "parameters": {}, "type": "function"}]))
    )
    assert (reading.calls, reading.content) == ([], text)


@given(
    st.dictionaries(
        st.text().filter(lambda key: key not in ("name", "parameters", "arguments", "type")), st.integers(), min_size=1
    ),
    steps,
)
def test_a_json_answer_that_is_no_call_is_text_to_the_letter(answer, sizes):
    text = json.dumps(answer, ensure_ascii=False)
    for table in ("llama3_json", "xlam", "json"):
        reading = fold(said(table, cut(text, sizes), None))
        assert (reading.calls, reading.content) == ([], text)
