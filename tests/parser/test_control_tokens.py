"""Tokens without text that are no markers: each is one event, in one place however the stream is cut."""

from __future__ import annotations

import json

import pytest
from parser_harness import events_of, merged

from gateway_args import CallEnd, Delta, Dropped, Parser, ReasoningStart, Token, fold, formats
from gateway_args.events import source_of

CALL = '{"name": "f", "arguments": {}}'


def delta(*pieces: tuple[str, int]) -> Delta:
    """Tokens with these texts and ids, as one delta."""
    tokens, at = [], 0
    for text, id in pieces:
        tokens.append(Token(id, at, at + len(text)))
        at += len(text)
    return Delta("".join(text for text, _ in pieces), tuple(tokens))


STREAMS = {
    "behind a thought's opener": ("qwen3", [("<think>", 1), ("", 9)]),
    "between a thought and its closer": ("qwen3", [("<think>", 1), ("x", 5), ("", 9), ("</think>", 2), ("", 9)]),
    "behind a call that nothing closes": ("hermes", [("<tool_call>", 1), (CALL, 5), ("", 9)]),
    "between a call and the end of the turn": ("hermes", [("<tool_call>", 1), (CALL, 5), ("", 9), ("<|im_end|>", 2)]),
    "inside a fragment": ("hermes", [("<tool_call>", 1), (CALL[:-2], 5), ("", 9), (CALL[-2:], 5)]),
    "inside a call's start": ("hermes", [("<tool_call>", 1), (CALL[:8], 5), ("", 9), (CALL[8:], 5)]),
    "behind a forced value": ("forced", [("{}", 5), ("", 9)]),
    "behind a forced number": ("forced", [("12", 5), ("", 9), (" ", 6)]),
    "alone": ("hermes", [("", 9)]),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_token_without_text_stands_in_one_place_however_the_stream_is_cut(name):
    table, pieces = STREAMS[name]
    format = formats.forced("f") if table == "forced" else formats.load(table)
    whole = events_of(format, [delta(*pieces)])
    assert merged(whole) == merged(events_of(format, [delta(piece) for piece in pieces]))
    assert sum(getattr(event, "tokens", 0) for event in whole) == len(pieces)
    controls = [event for event in whole if isinstance(event, Dropped) and not event.text]
    assert len(controls) == sum(not text for text, _ in pieces)


def test_a_token_without_text_is_said_after_the_events_that_the_text_before_it_causes():
    said = events_of("qwen3", [delta(("<think>", 1), ("", 9))])
    assert [type(event) for event in said[:3]] == [Dropped, ReasoningStart, Dropped]
    said = events_of(formats.forced("f"), [delta(("{}", 5), ("", 9))])
    assert isinstance(said[-3], CallEnd)
    assert isinstance(said[-2], Dropped)


def test_half_a_surrogate_pair_before_a_marker_keeps_its_place():
    said = events_of("hermes", [delta(("\ud83d", 5)), delta(("<|im_end|>", 2), ("x", 5))])
    assert "".join(map(source_of, said)) == "\ufffd<|im_end|>x"
    assert [event.tokens for event in said[:-1]] == [1, 1, 1]


def test_a_token_without_text_inside_a_literal_stands_behind_it():
    pieces = [("<|tool_call>", 1), ("call:f{a:n", 5), ("", 9), ("ull}", 5)]
    whole = events_of("gemma4", [delta(*pieces)])
    assert merged(whole) == merged(events_of("gemma4", [delta(piece) for piece in pieces]))


QUOTED = '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"x%sy\\"}"}</tool_call>'
STANDING = '<tool_call>{"name": "f", "arguments": {"a": "x%sy"}}</tool_call>'
IDS = {"<tool_call>": 1, "</tool_call>": 2, "<think>": 3, "</think>": 4}


@pytest.mark.parametrize("text", [QUOTED, STANDING])
@pytest.mark.parametrize("shown", ["</think>", ""])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_marker_by_id_that_means_nothing_in_a_string_is_its_text(text, shown, size):
    head, tail = text.removeprefix("<tool_call>").removesuffix("</tool_call>").split("%s")
    atoms = [("<tool_call>", 1), *((char, 9) for char in head), (shown, 4), *((char, 9) for char in tail)]
    atoms.append(("</tool_call>", 2))
    parser = Parser(formats.load("qwen3"), markers=IDS)
    events = []
    for n in range(0, len(atoms), size):
        events += parser.feed(delta(*atoms[n : n + size]))
    events += parser.finish("stop")
    reading = fold(events)
    assert json.loads(reading.calls[0].arguments) == {"a": f"x{shown}y"}
    assert reading.calls[0].complete
    assert "".join(map(source_of, events)) == text % shown
    assert sum(getattr(event, "tokens", None) or 0 for event in events) == len(atoms)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([("\ud83d", 1), ("\ude00", 7)], "\U0001f600"),
        ([("a\ud83d", 1), ("\ude00<tool_call>", 7)], "a\U0001f600<tool_call>"),
        ([("\ud83d", 1), ("\ude00b<tool_call>c", 7)], "\U0001f600b<tool_call>c"),
        ([("\ud83d", 1), ("<tool_call>", 7)], "\ufffd<tool_call>"),
        ([("\ud83d", 1), ("\ud83d\ude00<tool_call>", 7)], "\ufffd\U0001f600<tool_call>"),
        ([("<tool_call>\ud83d", 7), ("\ude00", 7)], "<tool_call>\U0001f600"),
    ],
)
@pytest.mark.parametrize("together", [False, True])
def test_a_pair_cut_before_a_marker_is_its_character(pieces, text, together):
    deltas = [delta(*pieces)] if together else [delta(piece) for piece in pieces]
    said = events_of("hermes", deltas, markers={"<tool_call>": 7})
    assert "".join(map(source_of, said)) == text
    assert sum(getattr(event, "tokens", 0) or 0 for event in said) == len(pieces)


def test_tokens_of_reasoning_are_those_of_its_text_and_the_tokens_without_text_in_it():
    parser = Parser(formats.load("qwen3"), start="reasoning")
    parser.feed(delta(("a", 5), ("", 9), ("b", 6), ("<think>", 1), ("c", 7)))
    parser.feed(delta(("<|im_end|>", 2)))
    assert parser.finish("stop")[-1].reasoning_tokens == 4  # a, the one without text, b, c; markers are not reasoning


def test_a_marker_without_text_behind_the_white_space_of_a_prefill_is_restored_as_none():
    parser = Parser(formats.load("hermes"), prefill="Hi\n", markers={"</tool_call>": 3})
    said = parser.feed(delta(("", 3), ("x", 5))) + parser.finish("stop")
    assert "".join(map(source_of, said)) == "x"
    assert fold(said).content == "x"


@pytest.mark.parametrize("pieces", [["x", "y"], ["xy"]])
def test_a_token_without_text_is_placed_behind_fragments_that_took_the_short_path(pieces):
    parser = Parser(formats.load("hermes"))
    said = parser.feed(delta(("<tool_call>", 1), ('{"name": "f", "arguments": {"a": "', 5)))
    for piece in pieces:
        said += parser.feed(delta((piece, 6)))
    said += parser.feed(delta(("z", 6), ("", 9), ('"}}', 7)))
    said += parser.finish("stop")
    texts = [source_of(event) for event in said]
    control = next(n for n, event in enumerate(said) if isinstance(event, Dropped) and not event.text)
    assert "".join(texts[:control]).endswith("xyz")
    assert sum(getattr(event, "tokens", 0) for event in said) == 5 + len(pieces)
