"""Outputs that no grammar may allow, made from the corpora and the tables alone.

Of what a template writes one character of the markup is taken out: of a marker, of a tag, or a bracket, quote, colon or
comma of the envelope. Into a text, a value in tags, or between calls a text is put that would end it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import test_canonical

from gateway_args import Parser, Tools
from gateway_args.contract import corpus, oracle
from gateway_args.events import CallEnd, CallStart, Content, Dropped, Reasoning
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
                case CallStart() | CallEnd() | Dropped(why="marker" | "envelope") if not content:
                    yield from _shorter(text, tools, start, end)
                case Content() | Reasoning():
                    yield from _put_in(format, text, tools, (start + end) // 2, isinstance(event, Content))
        yield from _values(format, text, tools)


def _shorter(text: str, tools: Tools, start: int, end: int) -> Iterator[Refused]:
    for at in range(start, end):
        if text[at] in _MARKUP and text[at : at + 1] != text[at + 1 : at + 2]:
            yield Refused(text[:at] + text[at + 1 :], tools, f"without {text[at]!r} at {at}")


def _put_in(format: Format, text: str, tools: Tools, at: int, content: bool) -> Iterator[Refused]:
    """Texts that end the text they stand in, and no call behind them."""
    found = {marker.text for marker in format.closers} if content else set()
    found |= {marker.text for marker in format.turn_end if not (format.prompt_end and marker.after)}
    for marker in found:
        yield Refused(text[:at] + marker + text[at:], tools, f"with {marker!r} at {at}", "auto")


def _values(format: Format, text: str, tools: Tools) -> Iterator[Refused]:
    """Into a value in tags, all that its own syntax could end it with."""
    for syntax in format.calls.values():
        if not isinstance(syntax, Tagged):
            continue
        ends = {syntax.value_close, *(pattern.partition("{")[0] for pattern in syntax.parameter), *syntax.reserved}
        ends |= {marker.text for marker in (*format.closers, *format.turn_end)}
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
                    yield Refused(text[:middle] + end + text[middle:], tools, f"with {end!r} in a value", "auto")


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
