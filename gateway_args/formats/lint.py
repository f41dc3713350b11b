"""What is wrong with a table, all of it at once and with its lines: what it is refused for, and what it can never do.

A table may be read without a complaint and still hold rows that nothing leads to: a state out of reach, a marker that
no state has a row for, a call syntax that stands in no state. Such a table is no danger, so it loads; it is no table
that its author meant, so `gateway-args formats check` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from ..errors import FormatError
from .build import Problem, build, problems
from .catalogue import toml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .table import Format

_SECTION: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY: Final = re.compile(r"""\s*([\w.\-"' ]+?)\s*=""")


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake in a table's file; `line` counts from 1 and is None where nothing in the file stands for the place."""

    line: int | None
    problem: Problem


def check(path: Path) -> list[Finding]:
    """All mistakes in this table; `FormatError` when it is no TOML."""
    if not path.is_file():
        raise FormatError(f"{path}: no such file")
    table = toml(path)
    found = problems(table) or list(unreachable(build(path.stem, table)))
    lines = _Lines(path.read_text(encoding="utf-8"))
    return sorted(
        (Finding(lines.of(problem.path), problem) for problem in found), key=lambda f: (f.line is None, f.line or 0)
    )


def unreachable(fmt: Format) -> Iterator[Problem]:
    """What no output can make this table do."""
    reached = _reached(fmt)
    for state in fmt.states.values():
        if state.name not in reached:
            yield Problem(f"states.{state.name}", "no marker, `then` or start leads here")
    rows = {name for state in fmt.states.values() for name in state.on}
    words = list(_texts(fmt))
    for name, marker in fmt.markers.items():
        longer = (other.text for other in fmt.markers.values() if other is not marker)
        if name not in rows and not any(marker.text in word for word in (*words, *longer)):
            yield Problem(f"markers.{name}", "no state has a row for it, and no call is written with it")
    used = {call for state in fmt.states.values() if state.name in reached for call in state.calls}
    for name in fmt.calls:
        if name not in used:
            yield Problem(f"calls.{name}", "no state that can be reached reads calls of this syntax")
    led = {header for state in fmt.states.values() if state.name in reached for header in state.headers}
    for name in fmt.headers:
        if name not in led:
            yield Problem(f"headers.{name}", "no state that can be reached begins messages with this header")
    for name, syntax in fmt.calls.items():
        for key in ("header", "parameter"):
            patterns = getattr(syntax, key, ())
            for n, pattern in enumerate(patterns):
                if pattern in patterns[:n]:
                    yield Problem(f"calls.{name}.{key}[{n}]", "the same pattern as one before it, which counts first")
    ends = {marker.text: marker.name for marker in fmt.turn_end}
    for name, marker in fmt.markers.items():
        if marker.text in ends and name in rows:
            states = [state.name for state in fmt.states.values() if name in state.on]
            if len(states) == len(fmt.states):
                yield Problem(
                    ends[marker.text], f"never read: markers.{name} is the same text with a row in every state"
                )
        if marker.certain and name not in fmt.opener_names:
            yield Problem(f"markers.{name}.certain", "it opens no call and no wrapper, so nothing needs confirming")
    for state in fmt.states.values():
        if state.kind == "wrapper" and state.name in reached and not state.on:
            yield Problem(f"states.{state.name}.on", "no call can begin in this wrapper and nothing ends it")


def _reached(fmt: Format) -> set[str]:
    """States that an output can come to: from the start, from a thought that a prompt opened, by rows and `then`."""
    near = [
        fmt.start,
        *(name for name, state in fmt.states.items() if state.kind == "reasoning" and name == "reasoning"),
    ]
    reached = set(near)
    while near:
        state = fmt.states[near.pop()]
        headers = (fmt.headers[name].state for name in state.headers)
        for target in (*state.on.values(), *headers, *filter(None, (state.then, state.text))):
            if target not in reached:
                reached.add(target)
                near.append(target)
    return reached


def _texts(fmt: Format) -> Iterator[str]:
    """All texts that the table holds but its markers': what the call syntaxes look for, and what a turn begins with."""
    yield from fmt.turn_openers
    for header in fmt.headers.values():
        yield from header.patterns
    for syntax in fmt.calls.values():
        for field in fields(syntax):  # type: ignore[arg-type]
            value = getattr(syntax, field.name)
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str):
                    yield text


class _Lines:
    """Where the keys of a TOML text stand: the line of each section's head and of each key in it."""

    def __init__(self, text: str) -> None:
        self._lines: dict[tuple[str, ...], int] = {}
        section: tuple[str, ...] = ()
        quoted = ""
        for number, line in enumerate(text.split("\n"), start=1):
            if quoted:
                quoted = "" if quoted in line else quoted
                continue
            head = _SECTION.match(line)
            key = _KEY.match(line)
            if head is not None and key is None:
                section = _words(head.group(1))
                self._lines.setdefault(section, number)
            elif key is not None:
                self._lines.setdefault((*section, *_words(key.group(1))), number)
                for quote in ('"""', "'''"):
                    if line.count(quote) % 2:
                        quoted = quote

    def of(self, path: str) -> int | None:
        """The line of the longest part of this path that has one."""
        words = _words(re.sub(r"\[\d+\]", "", path))
        while words:
            if words in self._lines:
                return self._lines[words]
            words = words[:-1]
        return None


def _words(path: str) -> tuple[str, ...]:
    return tuple(word.strip(" \t\"'") for word in path.split("."))
