"""Event streams as a parser may say them: a strategy that respects the lifecycle, and a few written by hand.

A body is a list of parts (text, a thought, a call, what was dropped or malformed), each cut into events; `Finish` has
the reason that policy 9 gives. Arguments are whole JSON, or JSON cut anywhere, which is what a broken call is.
"""

from __future__ import annotations

import itertools
import json

from hypothesis import strategies as st

from gateway_args.events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)

TEXT = st.text(st.sampled_from('ab {}[]"\\\n\té漢🌤\u2028\u0000<'), min_size=1, max_size=12)
NAMES = st.sampled_from(["add", "get_tide", "save-note", "größe", "a.b"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=3)


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """The text, cut anywhere into pieces that are not empty."""
    cuts = draw(st.lists(st.integers(1, max(1, len(text) - 1)), unique=True, max_size=4)) if len(text) > 1 else []
    ends = [0, *sorted(cuts), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(ends) if a < b]


@st.composite
def bodies(draw: st.DrawFn, *, objects_only: bool = False) -> list[Event]:
    """The events before the finish. `objects_only`: whole arguments are objects, as an API with typed input needs."""
    counted = draw(st.booleans())
    tokens = st.integers(0, 3) if counted else st.none()
    events: list[Event] = []
    index = 0
    whys = st.sampled_from([Why.STRAY, Why.SHAPE, Why.ARGUMENTS])
    for kind in draw(
        st.lists(st.sampled_from(["text", "thought", "call", "call", "dropped", "malformed"]), max_size=7)
    ):
        match kind:
            case "text":
                events += [Content(piece, draw(tokens)) for piece in draw(pieces(draw(TEXT)))]
            case "thought":
                text = draw(st.one_of(st.just(""), TEXT))
                events.append(ReasoningStart())
                events += [Reasoning(piece, draw(tokens)) for piece in draw(pieces(text))]
                events.append(ReasoningEnd())
            case "dropped":
                text, why = draw(st.sampled_from([("", Why.CONTROL), ("\n", Why.LAYOUT), ("<|end|>", Why.MARKER)]))
                events.append(Dropped(text, why, draw(tokens)))
            case "malformed":
                why = draw(whys)
                events += [Malformed(piece, why, draw(tokens)) for piece in draw(pieces(draw(TEXT)))]
            case _:
                value = draw(OBJECTS if objects_only else st.one_of(OBJECTS, VALUES))
                text = json.dumps(value, ensure_ascii=draw(st.booleans()))
                whole = draw(st.booleans())
                if not whole:
                    text = text[: draw(st.integers(0, len(text) - 1))]
                events.append(CallStart(index, f"call_{index}", draw(NAMES), None, "<call>", draw(tokens)))
                events += [CallArguments(index, piece, piece, draw(tokens)) for piece in draw(pieces(text))]
                if not whole and draw(st.booleans()):
                    events.append(Malformed(draw(TEXT), Why.ARGUMENTS, draw(tokens)))
                events.append(CallEnd(index, whole, "</call>", draw(tokens)))
                index += 1
    return events


@st.composite
def streams(
    draw: st.DrawFn, *, objects_only: bool = False, reasons: tuple[str, ...] = ("stop", "length", "content_filter")
) -> list[Event]:
    body = draw(bodies(objects_only=objects_only))
    reason = draw(st.sampled_from(reasons))
    calls = [event for event in body if isinstance(event, CallEnd)]
    if reason == "stop" and any(call.complete for call in calls):
        reason = "tool_calls"
    counted = all(event.tokens is not None for event in body if not isinstance(event, ReasoningStart | ReasoningEnd))
    thought = sum(event.tokens or 0 for event in body if isinstance(event, Reasoning))
    return [*body, Finish(reason, len(calls), thought if counted and body else None)]


def call(index: int, name: str, *fragments: str, complete: bool = True, id: str | None = None) -> list[Event]:
    """One call, a fragment an event."""
    return [
        CallStart(index, f"call_{index}" if id is None else id, name, None, ""),
        *(CallArguments(index, fragment, fragment) for fragment in fragments),
        CallEnd(index, complete, ""),
    ]
