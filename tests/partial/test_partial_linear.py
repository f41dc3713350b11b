"""Work is linear: executed lines, looked-at characters and validations are counted, not time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from lines_run import HOME, lines_of
from pydantic import AfterValidator, BaseModel

from gateway_args.limits import Limits
from gateway_args.partial import PartialStream

if TYPE_CHECKING:
    from collections.abc import Callable


def _lines(work: Callable[[], object]) -> int:
    """How many lines of `gateway_args.partial` the work executes."""
    return lines_of(work, HOME / "partial")


def _stream(text: str, size: int, type_: Any = Any, read: Callable[[Any], object] | None = None) -> None:
    stream: PartialStream[Any] = PartialStream(type_, emit="text")
    for at in range(0, len(text), size):
        partial = stream.feed(text[at : at + size])
        if partial is not None and read is not None:
            read(partial)
    stream.finish()


def _nested(count: int) -> str:
    return "[" + ", ".join(["[" * 20 + "1" + "]" * 20] * count) + "]"


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize(
    "document",
    [
        lambda count: json.dumps([{"name": f"n{number}", "share": number / 7, "on": True} for number in range(count)]),
        lambda count: json.dumps("word " * count * 4),
        lambda count: json.dumps("é\n😀" * count * 2),
        lambda count: json.dumps({f"key {number} " * 5: number for number in range(count)}),
        lambda count: json.dumps({f"é\n{number}": None for number in range(count)}),
        lambda count: " " * count * 20 + "{}",
        lambda count: json.dumps({"k" * count * 20: 1}),
        _nested,
    ],
)
def test_twice_the_text_takes_at_most_twice_the_lines(document: Callable[[int], str], size: int) -> None:
    short, long = document(40), document(80)
    lines = _lines(lambda: _stream(short, size))
    assert lines < 100 * len(short)
    assert _lines(lambda: _stream(long, size)) < lines * 1.1 * len(long) / len(short) + 200


class _Item(BaseModel):
    name: str
    tags: list[str]


class _Items(BaseModel):
    title: str
    items: list[_Item]
    notes: dict[str, str]


def _items(count: int) -> str:
    items = [{"name": f"n{number}", "tags": ["a", "b"]} for number in range(count)]
    return json.dumps({"title": "t", "items": items, "notes": {f"k{number}": "v" for number in range(count)}})


def test_reading_everything_but_the_snapshot_at_every_piece_stays_linear() -> None:
    def read(partial: Any) -> None:
        items = partial.fields.items
        _ = partial.fields.title, len(items), items and items[-1], len(partial.fields.notes), len(partial.errors)
        _ = partial.incomplete, partial.is_complete(("items", 3)), partial.get("title"), partial.get(("items", 2))
        last = partial.narrow(partial.incomplete[-1]) if partial.incomplete else None
        _ = last is not None and (last.fields if isinstance(last.snapshot, dict) else last.text(()))

    short, long = _items(30), _items(60)
    lines = _lines(lambda: _stream(short, 4, _Items, read))
    assert _lines(lambda: _stream(long, 4, _Items, read)) < lines * 2.2


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("type_", [Any, _Items])
def test_looking_at_held_views_in_either_order_takes_lines_that_grow_with_the_text(type_: Any, order: int) -> None:
    def work(text: str) -> None:
        stream = PartialStream(type_)
        views = [stream.feed(text[at : at + 40]) for at in range(0, len(text), 40)]
        for view in views[::order]:
            if view is not None:
                _ = view.incomplete, view.narrow("items", list[_Item]), view.narrow((), _Items), view.fields
        stream.finish()

    short, long = _items(60), _items(120)
    assert _lines(lambda: work(long)) < _lines(lambda: work(short)) * 2.2


def test_held_text_is_bounded_whatever_the_cut() -> None:
    """What is read twice is at most what is held: pieces of one character meet no growing rest."""
    from gateway_args.partial.builder import Builder
    from gateway_args.partial.source import Source

    for text in ("{" + '"' + "k" * 500, '["' + "\\ud83d" * 80, "{" + " " * 300, '{"a"' + " " * 300, "[1" + "0" * 300):
        builder = Builder(Limits(), Source())
        for character in text:
            builder.feed(character)
            assert len(builder._held) <= 11


def test_a_stream_validates_each_part_once_however_long_it_grows() -> None:
    seen = []
    counted = Annotated[int, AfterValidator(lambda value: seen.append(value) or value)]
    for count in (50, 100):
        seen.clear()
        stream: PartialStream[Any] = PartialStream(list[counted])  # type: ignore[valid-type]
        for character in json.dumps(list(range(count))):
            stream.feed(character)
        assert stream.partial.is_done
        assert seen == list(range(count))
