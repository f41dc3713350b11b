"""Typed views over a parser's events."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway_args.events import CallArguments, CallEnd, CallStart, Content, Event, Finish
from gateway_args.partial import PartialStream, partials

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class WriteFile:
    path: str
    content: str


EVENTS: list[Event] = [
    Content("Writing. "),
    CallStart(0, "call_0", "write_file", True, "<tool_call>"),
    CallArguments(0, '{"path": "a', '{"path": "a'),
    CallArguments(0, '.py", "content": "x', '.py", "content": "x'),
    CallArguments(0, '"}', '"}'),
    CallEnd(0, True, "</tool_call>"),
    CallStart(1, "call_1", "unknown", False, ""),
    CallArguments(1, "{}", "{}"),
    CallEnd(1, True, ""),
    CallStart(2, "call_2", "write_file", True, ""),
    CallArguments(2, '{"path": 5', '{"path": 5'),
    CallEnd(2, False, ""),
    Finish("tool_calls", 3, None),
]


def test_each_call_of_a_known_function_has_its_views_and_ends_with_its_value_or_its_error() -> None:
    views = list(partials(EVENTS, {"write_file": WriteFile}))
    assert [(view.index, view.id, view.name) for view in views if view.index != 0] == [(2, "call_2", "write_file")] * 2
    first = [view for view in views if view.index == 0]
    assert [view.partial.fields.path for view in first] == [None, "a.py", "a.py", "a.py"]
    assert first[-1].partial.value == WriteFile("a.py", "x")
    assert first[-1].error is None
    last = views[-1]
    assert last.partial.value is None
    assert last.error is not None
    assert (last.error.path, last.error.offset) == ("$.path", 10)


def test_an_async_source_of_events_gives_the_same_views() -> None:
    async def events() -> AsyncIterator[Event]:
        for event in EVENTS:
            yield event

    async def collected() -> list[object]:
        return [view.partial.snapshot async for view in partials(events(), {"write_file": WriteFile}, emit="text")]

    assert asyncio.run(collected()) == [
        view.partial.snapshot for view in partials(EVENTS, {"write_file": WriteFile}, emit="text")
    ]


def test_a_calls_stream_is_let_go_at_its_end() -> None:
    def streams() -> int:
        return sum(isinstance(each, PartialStream) for each in gc.get_objects())

    before = streams()
    views = partials(EVENTS[:7], {"write_file": WriteFile})
    for _ in range(4):
        next(views)
    assert streams() == before
    events = [*EVENTS[1:6], CallArguments(0, "{}", "")]
    assert [view.error for view in partials(events, {"write_file": WriteFile})] == [None] * 4
