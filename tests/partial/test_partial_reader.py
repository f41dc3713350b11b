"""Text that nobody looks at is read late, and whoever looks sees what he would have seen at once."""

from __future__ import annotations

import copy
import gc
import inspect
import json
import re
import sys
from collections import Counter
from contextlib import suppress
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
from gateway_args.partial.builder import Builder
from gateway_args.partial.reader import LONGEST, Reader

if TYPE_CHECKING:
    from collections.abc import Callable

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


@pytest.mark.parametrize("look", [False, True])
def test_a_fault_that_nobody_looks_at_is_noticed_within_the_bound(look: bool) -> None:
    stream = PartialStream(list[dict[str, int]])
    stream.feed('[{"a": 1, "a": 2}')
    answered = 0
    for _ in range(LONGEST):
        view = stream.feed(', {"b": 3}')
        answered += len(', {"b": 3}') * (view is not None)
        if view is not None and look:
            assert view.malformed is not None
            assert view.malformed.message == "duplicate key 'a'"
    assert answered <= (0 if look else LONGEST + 10)
    assert stream.partial.malformed is not None


def test_the_fault_is_said_by_a_view_that_was_handed_out() -> None:
    """A piece in a string is answered by None and may wait; that the text grew too long is said when it is noticed."""
    stream = PartialStream(Any, limits=Limits(max_arguments=40))
    views = [stream.feed(piece) for piece in ['{"a": "', *["word " * 4] * (LONGEST // 20 + 2)]]
    faults = [view.malformed for view in views if view is not None]
    assert [str(fault) for fault in faults] == ["None", "$.a: longer than 40 characters (Limits.max_arguments)"]


def test_text_behind_a_value_is_answered_by_nothing_where_any_may_stand_there() -> None:
    stream = PartialStream(Any, lenient_start=True)
    views = [stream.feed(piece) for piece in ['{"a": 1', ', "b": "c", "d": 2}', ' "so", "it", "is"', ' "d", "e", "f"']]
    assert [view is None for view in views] == [False, False, True, True]


@pytest.mark.parametrize("hold", [False, True])
def test_text_is_read_in_few_pieces_unless_its_views_are_held(hold: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    feed: Callable[[Builder, str], bool] = Builder.feed
    monkeypatch.setattr(Builder, "feed", lambda self, text: sizes.append(len(text)) or feed(self, text))
    text = json.dumps([{"name": f"n{number}", "share": number / 7, "on": True} for number in range(1000)])
    stream = PartialStream(Any)
    held = []
    for at in range(0, len(text), 50):
        view = stream.feed(text[at : at + 50])
        if hold:
            held.append(view)
    del view
    assert stream.finish() == json.loads(text)
    assert sum(sizes) == len(text)
    assert max(sizes) <= LONGEST
    if hold:
        assert len(sizes) >= len(text) / 50
    else:
        assert len(sizes) < len(text) / LONGEST * 3


def test_a_view_keeps_the_stream_only_until_it_was_looked_at() -> None:
    stream = PartialStream(Any)
    stream.feed("[")
    view = stream.feed('"a", "b", "c", "d", "e", "f", "g"')
    del stream
    gc.collect()
    assert view is not None
    assert any(isinstance(each, Reader) for each in gc.get_referents(view))
    assert view.snapshot == list("abcdefg")
    assert not any(isinstance(each, Reader) for each in gc.get_referents(view))
    with pytest.raises(AttributeError, match="no attribute 'sanpshot'"):
        view.sanpshot  # type: ignore[attr-defined]  # noqa: B018


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


def test_text_that_an_exception_cut_short_is_no_value() -> None:
    """A look at the end of the stack: either nothing was read yet, or the stream says that some of it was lost."""

    def at_depth(depth: int, look: Callable[[], object]) -> object:
        return look() if depth == 0 else at_depth(depth - 1, look)

    text, more, outcomes = '{"a": [1, 2', ", 33333333, 444444444, 55555555, 66666666", []
    for spare in range(3, 24):
        stream = PartialStream(Any)
        stream.feed(text)
        view = stream.feed(more)
        assert view is not None
        with suppress(RecursionError):
            at_depth(sys.getrecursionlimit() - len(inspect.stack(0)) - spare, lambda view=view: view.snapshot)
        stream.feed(", 7]}")
        try:
            outcomes.append(stream.finish() == json.loads(f"{text}{more}, 7]}}"))
            assert view.snapshot == json.loads(f"{text}{more}]}}")
        except DecodeError as error:
            outcomes.append("interrupted" in str(error))
            assert view.malformed is not None
    assert all(outcomes)


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


@pytest.mark.parametrize("where", ["a look", "a feed"])
def test_an_interrupt_loses_no_text_unsaid(where: str) -> None:
    stream = PartialStream(list[Annotated[int, AfterValidator(_Once())]])
    stream.feed("[1, ")
    view = stream.feed(" 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ")
    assert view is not None
    with pytest.raises(KeyboardInterrupt):
        _ = view.snapshot if where == "a look" else stream.feed("13")
    stream.feed("4]")
    if where == "a look":
        assert stream.finish() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 4]
        assert [str(error) for error in stream.partial.errors] == [
            "$[1]: its validation was interrupted by an exception"
        ]
    else:
        with pytest.raises(DecodeError, match="reading was interrupted"):
            stream.finish()


def test_text_whose_reading_did_not_begin_still_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Reader, held: object) -> None:
        raise KeyboardInterrupt

    stream = PartialStream(Any)
    stream.feed("[1")
    view = stream.feed(", 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")
    assert view is not None
    with monkeypatch.context() as patch:
        patch.setattr(Reader, "_read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _ = view.snapshot
    for number in range(14, 23):
        stream.feed(f", {number}")
    stream.feed("]")
    assert stream.finish() == list(range(1, 23))
    assert view.snapshot == list(range(1, 14))


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
