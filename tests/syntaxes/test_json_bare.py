"""Bare calls (policy 12): what is held back and for how long, and that everything else streams on at once."""

from __future__ import annotations

import pytest

from gateway_args import CallArguments, CallEnd, CallStart, Content, Dropped, Limits, Malformed, Parser, Tools, formats
from gateway_args.events import IdKind, Why

TOOLS = Tools.of([{"type": "function", "function": {"name": name}} for name in ("add", "now")])


def parser_of(table: str, **options: object) -> Parser:
    return Parser(formats.load(table), TOOLS, **options)


def content_after_each(parser: Parser, text: str) -> list[str]:
    """The content said so far after each character."""
    so_far = ""
    found = []
    for char in text:
        events = parser.feed(char)
        assert all(isinstance(event, Content) for event in events), events
        so_far += "".join(event.text for event in events)
        found.append(so_far)
    return found


@pytest.mark.parametrize("table", ["llama3_json", "xlam", "phi4_mini"])
@pytest.mark.parametrize(
    "text",
    [
        "Use {} and { alone, f(x) { return [0]; } too.",
        "a [1, 2] b [ c ] and [{ no",
        "#include <functional>\nint a[] = {1};",
        "import functools; functools.cache; functools[0]",
        'Like {"a": 1} or [{"b": 2}].',
    ],
)
def test_prose_with_brackets_is_never_more_than_a_word_behind(table, text):
    """Held is at most a brace with its key, or a marker's word: what was said always ends near what was written."""
    behind = [n + 1 - len(said) for n, said in enumerate(content_after_each(parser_of(table), text))]
    assert max(behind) <= len("functools") + 1
    parser = parser_of(table)
    parser.feed(text + " x")
    assert parser.finish("stop")[:-1] == []  # nothing had waited for the end


def test_a_lone_brace_is_held_for_one_character():
    parser = parser_of("llama3_json")
    assert parser.feed("so {") == [Content("so ")]
    assert parser.feed("x") == [Content("{x")]


def test_an_answer_streams_from_its_first_foreign_key_on():
    parser = parser_of("llama3_json")
    assert parser.feed('{"answer') == []
    assert parser.feed('"') == [Content('{"answer"')]
    rest = ': {"deep": [1, 2, "x"]}, "name": "add", "parameters": 1}'
    assert content_after_each(parser, rest)[-1] == rest


def test_a_foreign_key_behind_known_ones_lets_all_that_was_held_go():
    parser = parser_of("xlam")
    assert parser.feed('[{"type": "function", "name": "add", "size') == []
    assert parser.feed('": 1') == [Content('[{"type": "function", "name": "add", "size": 1')]


def test_a_call_starts_where_its_arguments_do():
    parser = parser_of("llama3_json")
    assert parser.feed('{"name": "add", "parameters": ') == []
    assert parser.feed("{") == [
        CallStart(0, "call_0", "add", True, '{"name": "add", "parameters": ', id_kind=IdKind.DEFAULT),
        CallArguments(0, "{", "{"),
    ]
    assert parser.feed('"a"') == [CallArguments(0, '"a"', '"a"')]


def test_a_name_that_is_not_declared_lets_all_go_where_the_arguments_start():
    parser = parser_of("llama3_json")
    assert parser.feed('{"name": "sub", "parameters": ') == []
    assert parser.feed("{1")[:1] == [Content('{"name": "sub", "parameters": ')]


def test_arguments_that_come_first_wait_for_the_name_and_follow_with_no_source():
    parser = parser_of("llama3_json")
    assert parser.feed('{"parameters": {"a": 1}, "name": "add"') == []
    assert parser.feed("}") == [
        CallStart(0, "call_0", "add", True, '{"parameters": {"a": 1}, "name": "add"', id_kind=IdKind.DEFAULT),
        CallArguments(0, '{"a": 1}', ""),
        CallEnd(0, True, "}"),
    ]


def test_a_candidate_that_outgrows_what_may_be_held_is_text_at_once():
    parser = parser_of("llama3_json", limits=Limits(max_held=64))
    events = parser.feed('{"parameters": {"a": "' + "x" * 60)
    assert "".join(event.text for event in events) == '{"parameters": {"a": "' + "x" * 60
    assert parser.feed("y") == [Content("y")]


def test_a_separator_is_envelope_only_between_calls():
    parser = parser_of("llama3_json")
    parser.feed('{"name": "now"}')
    assert parser.feed("; ") == []
    assert parser.feed('{"name": "now", "parameters": {')[0] == Dropped("; ", Why.ENVELOPE)
    parser.feed("}}")
    assert parser.feed("; then") == [Content("; then")]


def test_a_broken_bare_call_ends_where_it_broke_and_the_next_one_is_read():
    parser = parser_of("llama3_json")
    events = parser.feed('{"name": "add", "parameters": {"a": no}} {"b": 1}; {"name": "now"} ok')
    kinds = [type(event) for event in events]
    assert kinds[:3] == [CallStart, CallArguments, CallEnd]
    assert events[2] == CallEnd(0, False, "")
    junk = "".join(event.text for event in events if isinstance(event, Malformed))
    assert junk == 'o}} {"b": 1}; '
    assert [event.name for event in events if isinstance(event, CallStart)] == ["add", "now"]
    assert events[-1] == Content(" ok")


def test_a_list_may_stand_only_where_the_reply_starts():
    parser = parser_of("xlam")
    assert parser.feed('x [{"name": "now"}]') == [Content('x [{"name": "now"}]')]


def test_a_fence_belongs_to_the_calls_in_it():
    parser = parser_of("xlam")
    events = parser.feed('```json\n[{"name": "now"}]\n```')
    assert events[0] == CallStart(0, "call_0", "now", True, '```json\n[{"name": "now"', id_kind=IdKind.DEFAULT)
    assert events[-1] == Dropped("]\n```", Why.ENVELOPE)
