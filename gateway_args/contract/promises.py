"""The promises, as checks on what one run said.

A run's events are merged first: neighbours of one kind (one call, one `why`) are one entry, so that two chunkings of
one output have said the same exactly when their merged events are equal. Checks that look at single events (order of
life, empty texts) ride on the merging; the others look at the merged events, once for all runs that are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from ..events import (
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
from ..reading import Reading, fold
from . import oracle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .corpus import Expected


class Promise(StrEnum):
    """What a parser promises; the values are what a report calls them."""

    NO_EXCEPTION = "no exception"
    CONSERVATION = "conservation"
    INVARIANCE = "invariance"
    LIFECYCLE = "lifecycle"
    PREFIX = "strict prefix"
    COMPLETE = "complete"
    TOKENS = "tokens"
    READING = "reading"
    PROMPT = "the prompt is not the model"


@dataclass(frozen=True, slots=True)
class Fault:
    """A promise that did not hold, and how."""

    promise: Promise
    detail: str


def merge(events: Iterable[Event]) -> list[Event]:
    """The events with neighbours of one kind joined."""
    merged: list[Event] = []
    group: list[Event] = []
    for event in events:
        if group and not _joins(group[0], event):
            merged.append(_joined(group))
            group = []
        group.append(event)
    if group:
        merged.append(_joined(group))
    return merged


def _joins(first: Event, event: Event) -> bool:
    if type(first) is not type(event):
        return False
    match event:
        case Content() | Reasoning():
            return True
        case CallArguments():
            return isinstance(first, CallArguments) and first.index == event.index
        case Dropped() | Malformed():
            return isinstance(first, Dropped | Malformed) and first.why is event.why
    return False


def _joined(group: list[Event]) -> Event:
    if len(group) == 1:
        return group[0]
    counts = [event.tokens for event in group if not isinstance(event, ReasoningStart | ReasoningEnd | Finish)]
    tokens = None if None in counts else sum(count for count in counts if count is not None)
    match group[0]:
        case CallArguments(index=index):
            parts = [event for event in group if isinstance(event, CallArguments)]
            return CallArguments(
                index, "".join(part.json for part in parts), "".join(part.source for part in parts), tokens
            )
        case Content():
            return Content(_text(group), tokens)
        case Reasoning():
            return Reasoning(_text(group), tokens)
        case Dropped(why=why):
            return Dropped(_text(group), why, tokens)
        case Malformed(why=why):
            return Malformed(_text(group), why, tokens)
        case other:
            raise AssertionError(f"{type(other).__name__} never joins")


def _text(group: list[Event]) -> str:
    return "".join(event.text for event in group if isinstance(event, Content | Reasoning | Dropped | Malformed))


def lifecycle(fed: Iterable[Event], finished: Iterable[Event], tool_names: frozenset[str] | None) -> Iterator[Fault]:
    """What is out of order among the events of `feed` and those of `finish`."""
    fed, finished = list(fed), list(finished)

    def fault(what: str) -> Fault:
        return Fault(Promise.LIFECYCLE, what)

    if any(isinstance(event, Finish) for event in fed):
        yield fault("Finish came before the output was over")
    if not finished or not isinstance(finished[-1], Finish):
        yield fault("finish() did not end with Finish")
    elif sum(isinstance(event, Finish) for event in finished) > 1:
        yield fault("Finish came twice")
    in_reasoning, call, calls = False, None, 0
    for event in (*fed, *finished):
        name = type(event).__name__
        match event:
            case ReasoningStart() if in_reasoning or call is not None:
                yield fault(f"a thought began inside a {'thought' if in_reasoning else 'call'}")
            case ReasoningEnd() if not in_reasoning:
                yield fault("ReasoningEnd without a thought")
            case Reasoning() if not in_reasoning:
                yield fault("Reasoning outside a thought")
            case Content() if in_reasoning or call is not None:
                yield fault(f"Content inside a {'thought' if in_reasoning else 'call'}")
            case CallStart() if in_reasoning or call is not None:
                yield fault(f"a call began inside a {'thought' if in_reasoning else 'call'}")
            case CallStart() if event.index != calls:
                yield fault(f"call {calls} has the index {event.index}")
            case CallStart() if not event.id or not event.name:
                yield fault("a call without an id or a name")
            case CallStart() if event.declared is not (None if tool_names is None else event.name in tool_names):
                yield fault(f"the call of '{event.name}' says declared={event.declared}")
            case CallArguments() | CallEnd() if event.index != call:
                yield fault(f"{name} for the call {event.index} while {'none' if call is None else call} is open")
            case Finish() if in_reasoning or call is not None:
                yield fault(f"Finish while a {'thought' if in_reasoning else 'call'} is open")
            case Finish() if event.calls != calls:
                yield fault(f"Finish counts {event.calls} calls of {calls}")
        if empty := _empty(event):
            yield fault(empty)
        match event:
            case ReasoningStart():
                in_reasoning = True
            case ReasoningEnd():
                in_reasoning = False
            case CallStart():
                call, calls = event.index, calls + 1
            case CallEnd():
                call = None


def _empty(event: Event) -> str | None:
    """What an event without text has no right to be: only tokens of no width and implicit closes say nothing."""
    match event:
        case Dropped(text="", why=Why.IMPLICIT_CLOSE):
            return None
        case Content(text="") | Reasoning(text="") | Dropped(text="") | Malformed(text="") if not event.tokens:
            return f"{type(event).__name__} without text"
        case CallArguments(json="", source="") if not event.tokens:
            return "CallArguments without a fragment or a source"
    return None


def conservation(merged: Iterable[Event], output: str) -> Iterator[Fault]:
    """Texts and sources joined in order are the output."""
    shown = "".join(
        event.source
        if isinstance(event, CallStart | CallArguments | CallEnd)
        else "" if isinstance(event, ReasoningStart | ReasoningEnd | Finish) else event.text
        for event in merged
    )  # fmt: skip
    if shown != output:
        at = next(
            (i for i, (a, b) in enumerate(zip(shown, output, strict=False)) if a != b), min(len(shown), len(output))
        )
        yield Fault(
            Promise.CONSERVATION,
            f"from character {at} the events say {_shown(shown[at:])} where the output is {_shown(output[at:])}",
        )


def strictness(merged: Iterable[Event]) -> Iterator[Fault]:
    """Fragments are a prefix of some JSON value, and a call is complete exactly when they are a whole one."""
    fragments: dict[int, str] = {}
    for event in merged:
        match event:
            case CallStart():
                fragments[event.index] = ""
            case CallArguments():
                fragments[event.index] = fragments.get(event.index, "") + event.json
            case CallEnd():
                text = fragments.get(event.index, "")
                at = oracle.refused_at(text)
                if at is not None:
                    yield Fault(
                        Promise.PREFIX,
                        f"call {event.index}: no JSON value continues {_shown(text[max(0, at - 20) : at])} "
                        f"with {text[at : at + 1]!r} (character {at} of its fragments)",
                    )
                if event.complete != oracle.is_whole(text) and not oracle.is_bare_number(text):
                    yield Fault(
                        Promise.COMPLETE,
                        f"call {event.index} says complete={event.complete}, and its fragments are {_shown(text)}",
                    )


def tokens(merged: Iterable[Event], fed: int | None) -> Iterator[Fault]:
    """Every token is counted once; without token ids there is no count."""
    counts = [event.tokens for event in merged if not isinstance(event, ReasoningStart | ReasoningEnd | Finish)]
    if fed is None:
        if any(count is not None for count in counts):
            yield Fault(Promise.TOKENS, "tokens are counted in a stream without token ids")
    elif None in counts:
        yield Fault(Promise.TOKENS, "an event has no count of tokens")
    elif (total := sum(count or 0 for count in counts)) != fed:
        yield Fault(Promise.TOKENS, f"the events count {total} tokens of {fed}")


def reading(merged: Iterable[Event], expect: Expected) -> Iterator[Fault]:
    """The reading is the expected one."""
    for what, got, want in _compared(fold(merged), expect):
        if got != want:
            yield Fault(Promise.READING, f"{what} is {_shown(got)}, and {_shown(want)} was expected")


def _compared(shown: Reading, expect: Expected) -> Iterator[tuple[str, object, object]]:
    yield "content", shown.content, expect.content
    yield "reasoning", shown.reasoning, expect.reasoning
    yield "the calls' names", [call.name for call in shown.calls], [call.name for call in expect.calls]
    for number, (call, want) in enumerate(zip(shown.calls, expect.calls, strict=False)):
        yield f"arguments of call {number}", call.arguments, want.arguments
        yield f"complete of call {number}", call.complete, want.complete
        if want.id is not None:
            yield f"id of call {number}", call.id, want.id
        if want.declared is not None:
            yield f"declared of call {number}", call.declared, want.declared
    yield "the finish reason", shown.finish.reason if shown.finish else None, expect.finish
    yield "malformed", [(aside.text, str(aside.why)) for aside in shown.malformed], list(expect.malformed)
    if expect.dropped is not None:
        yield "dropped", [(aside.text, str(aside.why)) for aside in shown.dropped], list(expect.dropped)


def difference(one: list[Event], other: list[Event], where: str) -> str:
    """Where two runs of one output first say different things; `where` is where the first was heard."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return f"event {number} is {_shown(b)}, and {_shown(a)} {where}"
    longer, comes = (one, "comes only") if len(one) > len(other) else (other, "never comes")
    return f"{_shown(longer[min(len(one), len(other))])} {comes} {where}"


def without_tokens(merged: Iterable[Event]) -> list[Event]:
    """What these events would be in a stream without token ids: no counts, no tokens of no width."""
    shown: list[Event] = []
    for event in merged:
        match event:
            case Dropped(text="", why=Why.CONTROL) | Content(text=""):
                continue
            case Finish():
                shown.append(replace(event, reasoning_tokens=None))
            case ReasoningStart() | ReasoningEnd():
                shown.append(event)
            case _:
                shown.append(replace(event, tokens=None))
    return merge(shown)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:120]}…{text[-60:]} ({len(text)} characters)"
