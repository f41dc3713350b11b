"""White space at `max_layout` exactly, and one character beyond it: the same reading for every cut, in every table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway_args import Format, Limits, Parser, Reading, Tools, contract, fold, formats
from gateway_args.contract import corpus, promises
from gateway_args.contract.subjects import Maker, maker_of

BOUND = 3
TOOLS = Tools.of([{"type": "function", "function": {"name": name}} for name in ("f", "find_ferry")])
CALL = '{"name": "f", "arguments": {}}'


def said(maker: Maker, case: contract.Case, text: str, size: int) -> list[Any]:
    parser = maker.new(case, None)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return promises.merge([*events, *parser.finish(case.finish)])


def check(table: str | Format, text: str, **options: Any) -> Reading:
    """The reading of this text, after every character alone said the same."""
    format = formats.load(table) if isinstance(table, str) else table
    found = []
    for size in (len(text), 1):
        parser = Parser(format, **options)
        events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        found.append([*events, *parser.finish("stop")])
    assert promises.merge(found[0]) == promises.merge(found[1])
    return fold(found[0])


def samples(name: str) -> list[contract.Case]:
    cases = [case for case in corpus.load(name).cases if 20 < len(case.text) < 200]
    chosen = [case for case in cases if case.canonical][:1] + [case for case in cases if not case.canonical][::9][:2]
    return [replace(case, limits=Limits(max_layout=BOUND)) for case in chosen]


@pytest.mark.every_table
@pytest.mark.parametrize("name", corpus.names())
def test_white_space_about_the_bound_reads_the_same_in_one_delta_and_by_character(name: str) -> None:
    maker = maker_of(name)
    for case in samples(name):
        text = case.text
        for at in range(len(text) + 1):
            if 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum():
                continue
            for run in (" " * BOUND, " " * BOUND + "\n", "\n" + " " * (BOUND + 1)):
                longer = text[:at] + run + text[at:]
                assert said(maker, case, longer, len(longer)) == said(maker, case, longer, 1), (case.name, longer)


@pytest.mark.parametrize("table", ["json", "xlam"])
def test_a_bare_call_may_stand_behind_as_much_white_space_as_layout_has_and_no_more(table: str) -> None:
    call = CALL if table == "json" else f"[{CALL}]"
    assert len(check(table, " " * 256 + call, tools=TOOLS).calls) == 1
    beyond = check(table, " " * 257 + call, tools=TOOLS)
    assert not beyond.calls
    assert beyond.content == " " * 257 + call


def test_white_space_behind_a_separator_is_bounded() -> None:
    first, second = '{"name": "f", "parameters": {}}', '{"name": "f", "parameters": {"a": 1}}'
    assert len(check("llama3_json", first + ";" + " " * 256 + second, tools=TOOLS).calls) == 2
    beyond = check("llama3_json", first + ";" + " " * 257 + "and", tools=TOOLS)
    assert beyond.content == ";" + " " * 257 + "and"


@pytest.mark.parametrize("table", ["glm45", "ling3"])
def test_the_line_break_that_ends_a_name_stands_within_the_bound(table: str) -> None:
    near = check(table, "<tool_call>find_ferry" + " " * 255 + "\n</tool_call>", tools=TOOLS)
    assert [call.name for call in near.calls] == ["find_ferry"]
    assert not check(table, "<tool_call>find_ferry" + " " * 257 + "\n</tool_call>", tools=TOOLS).calls


def test_white_space_in_a_list_of_calls_is_no_text_that_is_held() -> None:
    limits = Limits(max_held=40)
    reading = check(formats.required(), "[" + " " * 60 + CALL + "]", tools=TOOLS, limits=limits)
    assert [call.complete for call in reading.calls] == [True]
