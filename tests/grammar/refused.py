"""Outputs that no grammar may allow, made from the corpora and the tables alone.

Of what a template writes one character of the markup is taken out: of a marker, of a tag, or a bracket, quote, colon or
comma of the envelope. Into a text, a value in tags, or between calls a text is put that would end it.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import test_canonical

from gateway_args import Parser, Tools
from gateway_args.contract import corpus, oracle
from gateway_args.events import CallArguments, CallEnd, CallStart, Content, Dropped, Reasoning
from gateway_args.syntaxes.tagged import Tagged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args import Format

_MARKUP = frozenset('{}[]():,"<>=|/`')


@dataclass(frozen=True)
class Refused:
    """A text, the tools of its request, and what was done to it."""

    text: str
    tools: Tools
    why: str
    choice: str = "required"
    whole: str = ""
    """The output that a part was taken out of: a table may have a way to write it without, read alike."""


def outputs(format: Format, most: int) -> Iterator[tuple[str, Tools]]:
    """Canonical outputs with calls, the shortest first, those with values of every kind among them."""
    cases = [
        case
        for case in corpus.load(format.name).cases
        if case.canonical
        and case.expect.calls
        and not case.prompt
        and not case.start
        and (format.name, case.name) not in test_canonical.BEYOND
    ]
    cases.sort(key=lambda case: len(case.text))
    chosen = cases[: most // 2] + [case for case in cases[most // 2 :] if "\n" in case.text or "nested" in case.kinds]
    for case in chosen[:most]:
        tools = test_canonical.tools_of(case)
        if test_canonical.is_valid(case, tools):
            yield [*test_canonical.outputs_of(format, case)][-1], tools


def events(format: Format, tools: Tools, text: str) -> list[tuple[object, int, int]]:
    """The parser's events with where their texts stand."""
    parser = Parser(format, tools)
    found, at = [], 0
    for event in [*parser.feed(text), *parser.finish("stop")]:
        size = len(getattr(event, "source", getattr(event, "text", "")))
        found.append((event, at, at + size))
        at += size
    return found


def texts(format: Format, most: int) -> Iterator[Refused]:
    for text, tools in outputs(format, most):
        found = events(format, tools, text)
        content = any(isinstance(event, Content) for event, _, _ in found)
        for event, start, end in found:
            match event:
                case Dropped(text=quote) if quote in _quotes(format):
                    pass
                case CallStart() | CallEnd() | Dropped(why="marker" | "envelope") if not content:
                    yield from _shorter(format, text, tools, start, end, isinstance(event, Dropped))
                case Content() | Reasoning():
                    yield from _put_in(format, text, tools, (start + end) // 2, isinstance(event, Content))
        yield from _values(format, text, tools, "auto")
        if not content:
            yield from _values(format, text, tools, "required")
            yield from _parts_left_out(format, text, tools, found)


def _quotes(format: Format) -> frozenset[str]:
    """What stands around a value in tags; without it the text is another value."""
    return frozenset(quote for syntax in format.calls.values() if isinstance(syntax, Tagged) for quote in syntax.quotes)


def _shorter(format: Format, text: str, tools: Tools, start: int, end: int, other: bool) -> Iterator[Refused]:
    """Without one character; where no call's own, or another marker is left, there is `other` markup that does it."""
    for at in range(start, end):
        if text[at] in _MARKUP and text[at : at + 1] != text[at + 1 : at + 2]:
            left = text[:at] + text[at + 1 :]
            whole = text if other or any(m.text in left and m.text not in text for m in format.markers.values()) else ""
            yield Refused(left, tools, f"without {text[at]!r} at {at}", whole=whole)


def _put_in(format: Format, text: str, tools: Tools, at: int, content: bool) -> Iterator[Refused]:
    """Texts that end the text they stand in, and no call or thought behind them."""
    texts_of_it = [state for state in format.states.values() if state.kind == "content" and not format.prompt_end]
    names = {
        name
        for state in texts_of_it
        for name, target in state.on.items()
        if format.states[target].kind != "content" and all(name in other.on for other in texts_of_it)
    }
    found = (
        {marker.text for marker in (*format.closers, *(format.markers[name] for name in names))} if content else set()
    )
    found |= {marker.text for marker in format.turn_end if not (format.prompt_end and marker.after)}
    for marker in found - {marker for marker in found if _closed_behind(format, marker, text[at:])}:
        yield Refused(text[:at] + marker + text[at:], tools, f"with {marker!r} at {at}", "auto")


def _closed_behind(format: Format, opener: str, rest: str) -> bool:
    """Whether this begins a thought and the rest of the output has a marker that ends it: another output then."""
    thoughts = {
        target
        for state in format.states.values()
        for name, target in state.on.items()
        if format.markers[name].text == opener and format.states[target].kind == "reasoning"
    }
    ends = {
        format.markers[name].text
        for thought in thoughts
        for name, target in format.states[thought].on.items()
        if format.states[target].kind == "content"
    }
    return any(end in rest for end in ends)


def _parts_left_out(format: Format, text: str, tools: Tools, found: list[tuple[object, int, int]]) -> Iterator[Refused]:
    """Without what stands between two places where something begins or ends; and cut anywhere."""
    places = {place for _, *both in found for place in both}
    for marker in format.markers.values():
        at = text.find(marker.text)
        while at >= 0:
            places |= {at, at + len(marker.text)}
            at = text.find(marker.text, at + 1)
    row = sorted(places)
    closing = max((end for event, _, end in found if isinstance(event, CallEnd)), default=0)
    inside = [(s, e) for event, s, e in found if isinstance(event, CallArguments | Reasoning | CallStart)]
    for start, end in itertools.pairwise(row):
        if (
            text[start:end].strip()
            and text[start:end] not in _quotes(format)
            and not any(s <= start and end <= e for s, e in inside)
        ):
            yield Refused(text[:start] + text[end:], tools, f"without {text[start:end]!r}", whole=text)
    last = max((start for event, start, _ in found if isinstance(event, CallStart)), default=len(text))
    regions = [state for state in format.states.values() if state.kind == "call"]
    if all(any(format.markers[name] in format.closers for name in state.on) for state in regions):
        for at in range(last + 1, closing):
            if text[at - 1] in _MARKUP and text[at:].strip():
                yield Refused(text[:at], tools, f"cut at {at}")


def _values(format: Format, text: str, tools: Tools, choice: str) -> Iterator[Refused]:
    """Into a value in tags, all that its own syntax could end it with."""
    for syntax in format.calls.values():
        if not isinstance(syntax, Tagged):
            continue
        ends = {syntax.value_close, *(pattern.partition("{")[0] for pattern in syntax.parameter), *syntax.reserved}
        ends |= {marker.text for marker in (*format.closers, *format.turn_end)}
        ends |= {format.markers[name].text for name in format.opener_names}
        for value in _strings(format, tools, text):
            at = text.find(value)
            if len(value) < 3 or text.count(value) != 1 or any(other in value for other in ends):
                continue
            close = syntax.value_close.partition("{")[0]
            if not text[at + len(value) :].lstrip().startswith(close):
                continue  # another syntax's value, or one inside JSON
            middle = at + len(value) // 2
            for end in ends:
                if "{" not in end:
                    yield Refused(text[:middle] + end + text[middle:], tools, f"with {end!r} in a value", choice)


def _strings(format: Format, tools: Tools, text: str) -> list[str]:
    parser = Parser(format, tools)
    calls: dict[int, str] = {}
    for event in [*parser.feed(text), *parser.finish("stop")]:
        if (said := getattr(event, "json", None)) is not None:
            calls[event.index] = calls.get(event.index, "") + said
    found: list[str] = []
    todo: list[object] = [json.loads(arguments) for arguments in calls.values() if oracle.is_whole(arguments)]
    while todo:
        match todo.pop():
            case str(value):
                found.append(value)
            case list(values):
                todo += values
            case dict(members):
                todo += members.values()
    return found
