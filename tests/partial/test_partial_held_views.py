"""A view that is held shows what it showed, whenever and wherever it is looked at."""

from __future__ import annotations

import copy
import gc
import json
import re
import sys
from collections import Counter
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partial_documents import PLAIN, Typed, chunkings, documents, seen, types
from pydantic import AfterValidator, BaseModel

from gateway_args.errors import DecodeError
from gateway_args.limits import Limits
from gateway_args.partial import PartialStream

if TYPE_CHECKING:
    from gateway_args.partial import Partial


def _at_once(type_: Any, text: str) -> Partial[Any]:
    """The view of a text that came whole."""
    stream: PartialStream[Any] = PartialStream(type_)
    stream.feed(text)
    return stream.partial


@st.composite
def _damaged(draw: st.DrawFn, text: str) -> str:
    """The text, cut or with a character too many now and then."""
    at = draw(st.integers(0, len(text)))
    return draw(st.sampled_from([text, text, text[:at], text[:at] + draw(st.sampled_from('",]}{:x1\\')) + text[at:]]))


@given(typed=types(), data=st.data())
def test_a_view_shows_its_own_moment_whenever_it_is_looked_at(typed: Typed, data: st.DataObject) -> None:
    text = data.draw(_damaged(data.draw(documents(typed.values))[1]))
    stream: PartialStream[Any] = PartialStream(typed.type, emit=data.draw(st.sampled_from(["fields", "text"])))
    held, so_far = [], ""
    for piece in data.draw(chunkings(text)):
        so_far += piece
        view = stream.feed(piece)
        fate = data.draw(st.sampled_from(["look", "hold", "drop"]))
        if view is not None and fate == "look":
            assert seen(view) == seen(_at_once(typed.type, so_far))
        elif view is not None and fate == "hold":
            held.append((so_far, view))
        del view
    for then, view in data.draw(st.permutations(held)):
        assert seen(view) == seen(_at_once(typed.type, then))


@given(document=documents(PLAIN), emit=st.sampled_from(["fields", "text"]), data=st.data())
def test_views_come_at_the_same_pieces_whether_they_are_looked_at_or_not(
    document: tuple[Any, str], emit: Any, data: st.DataObject
) -> None:
    pieces = data.draw(chunkings(document[1]))
    looked, unread = (PartialStream(Any, emit=emit) for _ in range(2))
    for piece in pieces:
        seen(looked.partial)
        assert (looked.feed(piece) is None) is (unread.feed(piece) is None)
    assert seen(looked.partial) == seen(unread.partial)


def test_text_behind_a_value_is_answered_by_nothing_where_any_may_stand_there() -> None:
    stream = PartialStream(Any, lenient_start=True)
    views = [stream.feed(piece) for piece in ['{"a": 1', ', "b": "c", "d": 2}', ' "so", "it", "is"', ' "d", "e", "f"']]
    assert [view is None for view in views] == [False, False, True, True]


CHECKED: list[int] = []


def _checked(number: int) -> int:
    CHECKED.append(number)
    return number


class _Item(BaseModel):
    name: str
    number: Annotated[int, AfterValidator(_checked)]


class _Report(BaseModel):
    title: str
    items: list[_Item]


def test_views_may_be_looked_at_in_other_threads_while_the_stream_goes_on() -> None:
    items = [{"name": f"n{number}", "number": number} for number in range(400)]
    text = json.dumps({"title": "t", "items": items})
    views: Queue[tuple[int, Partial[Any]] | None] = Queue()
    wrong: list[object] = []
    CHECKED.clear()

    def look() -> None:
        while (entry := views.get()) is not None:
            length, view = entry
            complete = len(re.findall(r"}[,\]]", text[:length]))
            names = [item.name for item in view.fields.items or ()]
            if names != [f"n{number}" for number in range(complete)]:
                wrong.append((length, names))
            if complete and view.get(("items", complete - 1, "name")) != names[-1]:
                wrong.append(view.get(("items", complete - 1)))
            if view.snapshot.get("items", [])[:complete] != items[:complete]:
                wrong.append(view)
        views.put(None)

    stream = PartialStream(_Report)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for at in range(0, len(text) - 40, 40):
            view = stream.feed(text[at : at + 40])
            if view is not None:
                views.put((at + 40, view))
    finally:
        views.put(None)
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    assert not wrong
    assert list(range(len(stream.partial.fields.items))) == CHECKED


def test_the_copy_of_a_view_is_the_view() -> None:
    stream = PartialStream(Any)
    stream.feed("[")
    view = stream.feed('"a", "b", "c", "d", "e", "f", "g"')
    assert copy.deepcopy([view]) == [view] == [copy.copy(view)]


def test_a_validator_that_breaks_down_is_an_error_of_its_element() -> None:
    stream = PartialStream(list[Annotated[int, AfterValidator({1: 1, 3: 3, 4: 4}.__getitem__)]])
    stream.feed("[1, ")
    view = stream.feed("                             2, 3, 4,")
    assert view is not None
    assert (list(view.fields), [str(error) for error in view.errors]) == ([1, 3, 4], ["$[1]: KeyError: 2"])
    stream.feed("5]")
    assert list(view.fields) == [1, 3, 4]
    with pytest.raises(DecodeError, match="KeyError: 2") as raised:
        stream.finish()
    assert isinstance(raised.value.__cause__, KeyError)


def test_members_can_be_walked_while_the_stream_goes_on() -> None:
    stream = PartialStream(dict[str, int])
    first = stream.feed('{"aaaaaaaaaa": 1, "bbbbbbbbbb": 2, "cccccccccc": 3, ')
    second = stream.feed('"dddddddddd": 4, "eeeeeeeeee": 5, "ffffffffff": 6, ')
    assert first is not None
    assert second is not None
    walked = []
    for key in first.fields:
        walked.append((key, second.fields[key]))
        stream.feed(f'"{key}2": 7, ')
    assert walked == [("aaaaaaaaaa", 1), ("bbbbbbbbbb", 2), ("cccccccccc", 3)]
    assert list(second.fields) == [*first.fields, "dddddddddd", "eeeeeeeeee", "ffffffffff"]


class _Box(BaseModel):
    name: str
    tags: list[str]
    sizes: dict[str, int]


@given(size=st.sampled_from([1, 3, 7, 40]), typed=st.booleans(), data=st.data())
def test_views_are_narrowed_in_any_order(size: int, typed: bool, data: st.DataObject) -> None:
    box = {"name": "n", "tags": ["a", "b", "c"], "more": [[1]], "sizes": {"x": 1, "y": 2}}
    text = json.dumps({"first": box, "second": dict(reversed(box.items()))})
    stream: PartialStream[Any] = PartialStream(dict[str, _Box] if typed else Any)
    ends = range(size, len(text) + size, size)
    views = [(text[:end], stream.feed(text[end - size : end])) for end in ends]
    for so_far, view in data.draw(st.permutations(views)):
        for key in ("first", "second"):
            part = None if view is None else view.narrow(key, _Box)
            then = None if view is None else _at_once(dict[str, _Box] if typed else Any, so_far).narrow(key, _Box)
            assert (part is None) is (then is None)
            if part is not None and then is not None:
                assert seen(part) == seen(then)


class _Once:
    """Validates by raising an interrupt at the first 2."""

    def __init__(self) -> None:
        self.raised = False

    def __call__(self, value: int) -> int:
        if value == 2 and not self.raised:
            self.raised = True
            raise KeyboardInterrupt
        return value


@pytest.mark.parametrize("order", [1, -1])
def test_narrowing_held_views_validates_each_part_at_most_twice(order: int) -> None:
    CHECKED.clear()
    text = json.dumps({"items": [{"name": "n", "number": number} for number in range(100)]})
    stream = PartialStream(Any)
    views = [stream.feed(text[at : at + 40]) for at in range(0, len(text), 40)]
    for view in views[::order]:
        assert view is not None
        part = view.narrow("items", list[_Item])
        assert part is None or len(part.fields) == len(part.snapshot) - (
            0 if view.is_done else part.incomplete != ((),)
        )
    assert set(Counter(CHECKED).values()) <= ({1} if order > 0 else {1, 2})


def test_a_fault_is_told_by_the_view_of_its_delta_and_by_no_other() -> None:
    stream = PartialStream(Any, limits=Limits(max_arguments=40))
    views = [stream.feed(piece) for piece in ['{"a": "', *["word " * 4] * 50]]
    told = [view.malformed for view in views if view is not None]
    assert [str(problem) for problem in told] == ["None", "$.a: longer than 40 characters (Limits.max_arguments)"]


@pytest.mark.parametrize("text", ['[{"a": 1, "a": 2}', '[{"a": 1}}'])
def test_nothing_is_answered_behind_a_fault(text: str) -> None:
    stream = PartialStream(list[dict[str, int]])
    stream.feed(text)
    assert [stream.feed(', {"b": 3}') for _ in range(300)] == [None] * 300
    assert stream.partial.malformed is not None
    assert stream.partial.value is None


def test_an_interrupt_while_a_part_is_validated_loses_no_text_unsaid() -> None:
    stream = PartialStream(list[Annotated[int, AfterValidator(_Once())]])
    stream.feed("[1, ")
    with pytest.raises(KeyboardInterrupt):
        stream.feed(" 2, 3, 4, ")
    stream.feed("5]")
    assert [str(error) for error in stream.partial.errors] == ["$[1]: its validation was interrupted by an exception"]
    with pytest.raises(DecodeError, match="reading was interrupted"):
        stream.finish()


def test_a_stream_and_its_views_are_freed_without_the_cyclic_collector() -> None:
    def alive() -> int:
        return sum(str(type(each).__module__).startswith("gateway_args.partial") for each in gc.get_objects())

    def used(type_: Any) -> None:
        stream = PartialStream(type_)
        for piece in ('{"title": "t", "items": [{"name": "n"', ', "number": 1}, {'):
            view = stream.feed(piece)
            _ = view and (view.fields, view.narrow("items"), view.snapshot, list(view.errors))
        assert alive() > before

    gc.collect()
    gc.disable()
    try:
        before = alive()
        for type_ in (Any, _Report, list[int]):
            used(type_)
        assert alive() == before
    finally:
        gc.enable()
