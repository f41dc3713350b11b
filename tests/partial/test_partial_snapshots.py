"""A stream of partials is stored, restored and copied between any two deltas."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_documents import Typed, chunkings, documents, seen, types
from pydantic import BaseModel

from gateway_args.errors import DecodeError, LifecycleError
from gateway_args.limits import Limits
from gateway_args.partial import PartialStream


class Add(BaseModel):
    op: Literal["add"]
    terms: list[int]


class Say(BaseModel):
    op: Literal["say"]
    text: str


@dataclass
class Report:
    title: str
    steps: list[Add | Say]


TEXT = '{"title": "Two \\ud83d\\ude00", "steps": [{"op": "add", "terms": [1, 25]}, {"op": "say", "text": "x"}]}'
OPTIONS: list[dict[str, Any]] = [
    {},
    {"emit": "text", "strict": False, "limits": Limits(max_depth=7, max_arguments=500)},
    {"refuse": "early"},
    {"lenient_start": True},
]


def _outcome(stream: PartialStream[Any]) -> str:
    try:
        return repr(stream.finish())
    except DecodeError as error:
        return repr((str(error), error.path, error.offset))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    "text", [TEXT, TEXT.replace("25", "2x"), TEXT.replace('"x"', "5"), TEXT + " more", "see " + TEXT]
)
def test_a_stream_that_moved_between_any_two_deltas_goes_on_as_one_that_did_not(options: Any, text: str) -> None:
    text = text.replace("x", "\ud83d\ude00")
    stayed: PartialStream[Any] = PartialStream(Report, **options)
    moved: PartialStream[Any] = PartialStream(Report, **options)
    for character in text:
        one, other = stayed.feed(character), moved.feed(character)
        assert (one is None) is (other is None)
        data = moved.snapshot()
        moved = PartialStream.restore(data, Report)
        assert moved.snapshot() == data
        assert seen(moved.partial) == seen(stayed.partial)
    assert _outcome(moved.copy()) == _outcome(stayed) == _outcome(moved)
    ended = PartialStream.restore(moved.snapshot(), Report)
    assert seen(ended.partial) == seen(stayed.partial)
    with pytest.raises(LifecycleError):
        ended.finish()


def test_a_copy_goes_its_own_way() -> None:
    stream: PartialStream[list[int]] = PartialStream(list[int])
    stream.feed("[1, 2")
    other = stream.copy()
    other.feed("5, 3]")
    stream.feed("]")
    assert (stream.finish(), other.finish()) == ([1, 2], [1, 25, 3])


@settings(max_examples=60)
@given(typed=types(), data=st.data())
def test_generated_streams_move_at_a_generated_place(typed: Typed, data: st.DataObject) -> None:
    _, text = data.draw(documents(typed.values))
    pieces = data.draw(chunkings(text[: data.draw(st.integers(0, len(text)))]))
    at = data.draw(st.integers(0, len(pieces)))
    whole: PartialStream[Any] = PartialStream(typed.type)
    stream: PartialStream[Any] = PartialStream(typed.type)
    for number, piece in enumerate(pieces):
        if number == at:
            stream = PartialStream.restore(stream.snapshot(), typed.type)
        whole.feed(piece)
        stream.feed(piece)
    assert seen(stream.partial) == seen(whole.partial)
    assert _outcome(stream) == _outcome(whole)


def test_another_type_version_or_kind_is_a_lifecycle_error() -> None:
    data = PartialStream(Report).snapshot()
    for type_ in (Add, Any, {"type": "object"}, list[Report]):
        with pytest.raises(LifecycleError, match="another type"):
            PartialStream.restore(data, type_)
    with pytest.raises(LifecycleError, match="version"):
        PartialStream.restore(data.replace(b"PartialStream 1 ", b"PartialStream 2 "), Report)
    with pytest.raises(LifecycleError):
        PartialStream.restore(data.replace(b"PartialStream", b"StreamDecoder"), Report)
    with pytest.raises(LifecycleError, match="expected the bytes"):
        PartialStream.restore("text", Report)  # type: ignore[arg-type]


@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_lifecycle_error(data: bytes) -> None:
    with pytest.raises(LifecycleError):
        PartialStream.restore(data, Report)


@given(data=st.data())
def test_a_damaged_snapshot_is_a_lifecycle_error(data: st.DataObject) -> None:
    stream = PartialStream(Report)
    stream.feed(TEXT[:60])
    snapshot = bytearray(stream.snapshot())
    at = data.draw(st.integers(0, len(snapshot) - 1))
    snapshot[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(LifecycleError):
        PartialStream.restore(bytes(snapshot), Report)


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(st.integers(), max_size=3)
KEYS = ["type", "options", "skipped", "opened", "text", "pending", "offset", "problem", "said", "finished"]


@given(
    key=st.sampled_from(KEYS), value=VALUES | st.just(10**30) | st.dictionaries(st.text(max_size=3), VALUES, max_size=2)
)
def test_a_forged_state_restores_or_is_a_lifecycle_error(key: str, value: Any) -> None:
    from gateway_args.sealing import seal

    stream = PartialStream(Report)
    stream.feed(TEXT[:60])
    state = json.loads(stream.snapshot().partition(b"\n")[2])
    state[key] = value
    try:
        restored = PartialStream.restore(seal("PartialStream", 1, state), Report)
    except LifecycleError:
        return
    _ = seen(restored.partial)
    if not state["finished"]:
        restored.feed(TEXT[60:])
        _outcome(restored)


GOLDEN = json.loads((Path(__file__).parent / "golden_snapshots.json").read_text("utf-8"))


@pytest.mark.parametrize("golden", GOLDEN, ids=[golden["name"] for golden in GOLDEN])
def test_a_snapshot_of_an_earlier_version_restores_to_what_it_held(golden: dict[str, Any]) -> None:
    type_ = Any if golden["type"] is None else golden["type"]
    stream = PartialStream.restore(golden["snapshot"].encode(), type_)
    assert stream.partial.snapshot == golden["shown"]
    assert stream.snapshot() == golden["snapshot"].encode()
    for piece in golden["rest"]:
        stream.feed(piece)
    assert _outcome(stream) == golden["outcome"]
