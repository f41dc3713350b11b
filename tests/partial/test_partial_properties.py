"""The guarantees of a `Partial`, over generated types, documents and chunkings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_documents import PLAIN, SHORT, Typed, chunkings, documents, paths, records, seen, types, value_spans
from pydantic import TypeAdapter

from gateway_args.partial import Partial, PartialStream, decode


@settings(max_examples=220)
@given(document=documents(SHORT))
def test_every_path_reported_complete_at_any_prefix_already_has_its_final_value(document: tuple[Any, str]) -> None:
    value, text = document
    final = dict(paths(value))
    stream = PartialStream(Any)
    for character in text:
        stream.feed(character)
        partial = stream.partial
        for path, now in paths(partial.snapshot):
            on_spine = path in partial.incomplete
            assert partial.is_complete(path) is not on_spine
            if not on_spine:
                assert repr(now) == repr(final[path])
                assert repr(partial.get(path)) == repr(final[path])
    assert stream.partial.is_done
    assert stream.partial.incomplete == ()


@given(document=documents(SHORT))
def test_a_value_is_complete_from_the_first_token_behind_it_and_not_before(document: tuple[Any, str]) -> None:
    text = document[1]
    spans = dict(value_spans(text))
    stream = PartialStream(Any)
    for length in range(1, len(text) + 1):
        stream.feed(text[length - 1])
        for path, (start, end) in spans.items():
            behind = end + len(text[end:]) - len(text[end:].lstrip())
            complete = length >= end if path == () else length > behind
            assert stream.partial.is_complete(path) is complete
            assert (path in stream.partial.incomplete) is (start < length and not complete)


@given(typed=types(), data=st.data())
def test_the_final_element_is_the_strict_decode_of_the_whole_text(typed: Typed, data: st.DataObject) -> None:
    _, text = data.draw(documents(typed.values))
    stream: PartialStream[Any] = PartialStream(typed.type)
    for piece in data.draw(chunkings(text)):
        stream.feed(piece)
    value = stream.finish()
    assert repr(value) == repr(TypeAdapter(typed.type).validate_json(text)) == repr(decode(typed.type, text))
    assert repr(stream.partial.value) == repr(value)


@given(typed=types(), data=st.data())
def test_a_typed_value_said_complete_equals_the_same_part_of_the_final_value(typed: Typed, data: st.DataObject) -> None:
    plain, text = data.draw(documents(typed.values))
    final: PartialStream[Any] = PartialStream(typed.type)
    final.feed(text)
    final.finish()
    stream: PartialStream[Any] = PartialStream(typed.type)
    for piece in data.draw(chunkings(text)):
        partial = stream.feed(piece)
        if partial is None:
            continue
        assert not partial.errors
        for path, _ in paths(plain):
            if partial.is_complete(path):
                assert repr(partial.get(path)) == repr(final.partial.get(path))
            elif not partial.is_done:
                assert partial.get(path) is None


@given(typed=records(), data=st.data())
def test_collections_never_shrink_and_fields_once_there_stay(typed: Typed, data: st.DataObject) -> None:
    _, text = data.draw(documents(typed.values))
    stream: PartialStream[Any] = PartialStream(typed.type, emit="text")
    before: dict[str, Any] = {}
    names = dir(stream.partial.fields)
    for piece in data.draw(chunkings(text)):
        partial = stream.feed(piece)
        if partial is None:
            continue
        for name in names:
            now = getattr(partial.fields, name)
            if isinstance(now, Mapping) and isinstance(before.get(name), Mapping):
                assert dict(now).items() >= dict(before[name]).items()
            elif isinstance(now, Sequence) and not isinstance(now, str) and before.get(name) is not None:
                assert list(now[: len(before[name])]) == list(before[name])
            elif before.get(name) is not None:
                assert now == before[name]
            before[name] = now


@given(typed=types(), data=st.data())
def test_a_held_view_never_changes(typed: Typed, data: st.DataObject) -> None:
    plain, text = data.draw(documents(typed.values))
    everywhere = tuple(path for path, _ in paths(plain))
    stream: PartialStream[Any] = PartialStream(typed.type, emit="text")
    held: list[tuple[Partial[Any], dict[str, Any]]] = []
    pieces = data.draw(chunkings(text))
    for piece in pieces:
        partial = stream.feed(piece)
        if partial is not None:
            narrowed = [partial.narrow(path) for path in partial.incomplete[1:]]
            held += [(each, seen(each, everywhere)) for each in (partial, *narrowed) if each is not None]
    stream.finish()
    for partial, then in held:
        assert seen(partial, everywhere) == then


@given(typed=types(), data=st.data())
def test_the_view_is_a_function_of_the_text_and_not_of_its_cuts(typed: Typed, data: st.DataObject) -> None:
    _, text = data.draw(documents(typed.values))
    text = text[: data.draw(st.integers(0, len(text)))]
    views = []
    for pieces in ([text], list(text), data.draw(chunkings(text))):
        stream: PartialStream[Any] = PartialStream(typed.type)
        for piece in pieces:
            stream.feed(piece)
        views.append(seen(stream.partial))
    assert views[0] == views[1] == views[2]


def _state(partial: Partial[Any]) -> tuple[Any, ...]:
    complete = [path for path, _ in paths(partial.snapshot) if partial.is_complete(path)]
    return set(partial.incomplete), complete, partial.is_done


@given(document=documents(PLAIN), data=st.data())
def test_a_view_is_emitted_exactly_when_the_spine_or_the_complete_values_changed(
    document: tuple[Any, str], data: st.DataObject
) -> None:
    text = document[1]
    stream = PartialStream(Any)
    before = _state(stream.partial)
    for piece in data.draw(chunkings(text)):
        emitted = stream.feed(piece)
        now = _state(stream.partial)
        assert (emitted is not None) is (now != before)
        before = now


@pytest.mark.parametrize("text", ["[[]]", '{"a": {}}', "[[1], {}]", '[{"a": "b"}]', '["a"]', '{"a": [[], ""]}'])
@pytest.mark.parametrize("space", ["", "    ", pytest.param(" " * 40, marks=pytest.mark.full)])
def test_a_bracket_changes_what_it_completes(text: str, space: str) -> None:
    """An empty container that closes changes nothing yet: its path was on the spine and stays there."""
    text = space.join(["", *text, ""]) if '"' not in text else text.replace(" ", space).replace("]", space + "]")
    for first in range(1, len(text)):
        for second in range(first, len(text)):
            stream = PartialStream(Any)
            before = _state(stream.partial)
            for piece in (text[:first], text[first:second], text[second:]):
                emitted = stream.feed(piece)
                now = _state(stream.partial)
                assert (emitted is not None) is (now != before), (first, second)
                before = now


def test_a_long_text_in_small_pieces_emits_far_fewer_views_than_pieces() -> None:
    text = json.dumps({"summary": "word " * 400, "items": [{"name": "long enough a name " * 4}] * 20})
    stream = PartialStream(Any)
    views = sum(stream.feed(text[at : at + 4]) is not None for at in range(0, len(text), 4))
    assert views < len(text) / 4 / 5
