"""Streams for the clients that are talked to over HTTP: each shape that peers get wrong is there by name."""

from __future__ import annotations

from event_streams import call

from gateway_args.events import Content, Dropped, Event, Finish, Malformed, Reasoning, ReasoningEnd, ReasoningStart, Why

THOUGHT: list[Event] = [ReasoningStart(), Reasoning("Let me see… "), Reasoning("größe 漢 🌤"), ReasoningEnd()]
STREAMS: dict[str, list[Event]] = {
    "text": [Content("Hello, "), Content("größe 🌤\u2028\n"), Finish("stop", 0, None)],
    "nothing": [Dropped("\n\n", Why.LAYOUT), Finish("stop", 0, None)],
    "one call": [*call(0, "get_tide", '{"port":', ' "漢🌤"}'), Finish("tool_calls", 1, None)],
    "thought, text, call": [
        *THOUGHT,
        Content("I look it up."),
        *call(0, "get_tide", '{"port": "a\\ud83c\\udf24\\n"}'),
        Finish("tool_calls", 1, None),
    ],
    "parallel calls with text between": [
        *call(0, "add", '{"a": 9007199254740993}'),
        Content(" and "),
        *call(1, "add", "{", '"a"', ": [1, {}]}"),
        *call(2, "now", "{}"),
        Finish("tool_calls", 3, None),
    ],
    "a call from inside a thought": [*THOUGHT, *call(0, "now", "{}"), *THOUGHT, Finish("tool_calls", 1, None)],
    "cut by the token limit": [
        Content("Let me see. "),
        *call(0, "save_note", '{"path": "a', complete=False),
        Finish("length", 1, None),
    ],
    "broken, then sound": [
        *call(0, "add", '{"a": ', complete=False),
        Malformed("nope}", Why.ARGUMENTS),
        *call(1, "add", '{"a": 1}'),
        Finish("tool_calls", 2, None),
    ],
}
NAMES = sorted(STREAMS)
