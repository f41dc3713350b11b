"""What `gateway-args demo events` shows: streams as Qwen3's chat template writes them, from messages of our own.

Three acts: the stream cut at the tokens of the embedded vocabulary, each delta beside the events that it causes; the
same output cut otherwise, saying the same; a broken output, where the fragments stop and the malformed text begins. It
needs 80 columns, no network and no file.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from gateway_args import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Delta,
    Dropped,
    Event,
    Finish,
    Malformed,
    Parser,
    Reading,
    Reasoning,
    TokenDecoder,
    Tools,
    fold,
    formats,
    vocab,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console
    from rich.text import Text

WRITTEN = """\
<think>
Boats first, then the heater.
</think>

I will look up the boats.
<tool_call>
{"name": "find_boats", "arguments": {"from": "Quay 4", "seats": 2}}
</tool_call>
<tool_call>
{"name": "set_heater", "arguments": {"room": "cabin", "celsius": 19.5}}
</tool_call>"""
BROKEN = """\
<tool_call>
{"name": "find_boats", "arguments": {"from": "Quay 4", "seats": two}}
</tool_call>
<tool_call>
{"name": "set_heater", "arguments": {"room": "cabin", "celsius": 21}}
</tool_call>"""
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "find_boats",
            "parameters": {"type": "object", "properties": {"from": {"type": "string"}, "seats": {"type": "integer"}}},
        },
    },
    {
        "type": "function",
        "function": {
            "name": "set_heater",
            "parameters": {"type": "object", "properties": {"room": {"type": "string"}, "celsius": {"type": "number"}}},
        },
    },
]

_WIDTH = 80
_LEFT = 24  # columns of a delta
_PACE = 0.06  # seconds a delta
_READY, _NOT = "▸", " "


def show(*, fast: bool = False, console: Console | None = None) -> None:
    """Play the demonstration; `fast` without its pace."""
    from rich.console import Console as RichConsole

    if console is None:
        console = RichConsole(highlight=False, soft_wrap=True)
    pace = 0.0 if fast or not console.is_terminal else _PACE
    _heading(
        console,
        "1. A rendered Qwen3 stream, cut at the tokens of a vocabulary",
        "left: deltas, one token each    right: events; ▸ marks what a client may use",
    )
    reading = _play(console, WRITTEN, pace)
    _heading(console, "2. The same output, cut otherwise", "the result is a function of the text, not of its cuts")
    _compare(console, reading)
    _heading(console, "3. A broken output: `two` is no number", "nothing is repaired, nothing is lost")
    broken = _play(console, BROKEN, pace)
    _verdict(console, broken)


def _heading(console: Console, title: str, note: str) -> None:
    console.print()
    console.print(f"[bold]{title}[/]")
    console.print(f"[dim]{note}[/]")
    console.print()


def deltas(text: str) -> tuple[list[Delta], dict[str, int]]:
    """The text in tokens of the embedded vocabulary, one a delta, and its ids of the format's markers."""
    encoding = vocab.load("embedded")
    decoder = TokenDecoder(encoding)
    pieces = [decoder.feed(id) for id in encoding.encode(text, allowed_special="all")]
    return [piece for piece in [*pieces, decoder.finish()] if piece.tokens], decoder.markers(formats.load("qwen3"))


def _play(console: Console, text: str, pace: float) -> Reading:
    pieces, markers = deltas(text)
    parser = Parser(formats.load("qwen3"), Tools.of(TOOLS), markers=markers)
    reading = Reading()
    held: list[str] = []
    for piece in pieces:
        time.sleep(pace)
        events = parser.feed(piece)
        if not events:  # nothing is decided yet: such deltas share a row
            held.append(_visible(piece.text))
            continue
        _held(console, held)
        _rows(console, _visible(piece.text), events, reading)
    _held(console, held)
    _rows(console, "(end)", parser.finish("stop"), reading)
    return reading


def _held(console: Console, deltas: list[str]) -> None:
    """Rows of the deltas that caused no event, as many in a row as it takes."""
    while deltas:
        row = deltas.pop(0)
        while deltas and len(row) + 1 + len(deltas[0]) <= _LEFT:
            row += "|" + deltas.pop(0)
        console.print(_row(row, _NOT, "", "(held)", "dim"))


def _rows(console: Console, left: str, events: Iterable[Event], reading: Reading) -> None:
    """One delta on the left, the events that it causes on the right, a row each."""
    for event in events:
        reading.add(event)
        for ready, kind, what, style in _said(event):
            console.print(_row(left, ready, kind, what, style))
            left = ""


def _row(left: str, ready: str, kind: str, what: str, style: str) -> Text:
    from rich.text import Text

    row = Text(f"{left:<{_LEFT}}"[:_LEFT])
    row.append(f" {ready} ", style="bold green").append(f"{kind:<12}", style=style)
    row.append(what[: _WIDTH - _LEFT - 15], style=style)
    row.rstrip()
    return row


def _said(event: Event) -> Iterator[tuple[str, str, str, str]]:
    """The mark, the kind, the text and the style of an event's row."""
    match event:
        case Content():
            yield _READY, "content", _visible(event.text), "green"
        case Reasoning():
            yield _READY, "reasoning", _visible(event.text), "cyan"
        case CallStart():
            yield _READY, f"call {event.index}", event.name, "bold yellow"
        case CallArguments():
            yield _READY, "arguments", _visible(event.json), "yellow"
        case CallEnd():
            yield _READY, "call end", "complete" if event.complete else "not complete", "bold yellow"
        case Dropped():
            yield _NOT, "dropped", f"{_visible(event.text)} ({event.why})", "dim"
        case Malformed():
            yield _NOT, "malformed", f"{_visible(event.text)} ({event.why})", "bold red"
        case Finish():
            yield _READY, "finish", event.reason, "bold"
        case _:
            return


def _compare(console: Console, reading: Reading) -> None:
    """Other chunkings of the same text, with what they call and whether all they say is the same."""
    fmt, tools = formats.load("qwen3"), Tools.of(TOOLS)
    for name, pieces in cuts(WRITTEN):
        parser = Parser(fmt, tools)
        events = [event for piece in pieces for event in parser.feed(piece)]
        other = fold([*events, *parser.finish("stop")])
        same = "the same" if _without_tokens(other) == _without_tokens(reading) else "DIFFERENT"
        console.print(f"{name:<22} {len(pieces):>4} deltas {len(events):>4} events   [bold]{same}[/]")
    console.print()
    for call in reading.calls:
        console.print(f"  [bold yellow]{call.name}[/]  {call.arguments}", markup=True)


def cuts(text: str) -> list[tuple[str, Sequence[str]]]:
    """Some ways to cut the text."""
    lines = text.splitlines(keepends=True)
    return [
        ("in one delta", [text]),
        ("character by character", text),
        ("seven by seven", [text[at : at + 7] for at in range(0, len(text), 7)]),
        ("in the closer of a call", [text[:-14], text[-14:-5], text[-5:]]),
        ("line by line", lines),
    ]


def _without_tokens(reading: Reading) -> dict[str, object]:
    said = reading.as_dict()
    assert reading.finish is not None
    finish = replace(reading.finish, reasoning_tokens=None)
    return {**said, "finish": (finish.reason, finish.calls)}


def _verdict(console: Console, reading: Reading) -> None:
    console.print()
    for call in reading.calls:
        state = "[bold green]complete, may run[/]" if call.complete else "[bold red]not complete, must not run[/]"
        console.print(f"  [bold yellow]{call.name}[/]  {call.arguments}")
        console.print(f"    {state}")
    for aside in reading.malformed:
        console.print(f"  malformed   {_visible(aside.text)}")
    console.print()


def _visible(text: str) -> str:
    """The text on one line, with the white space at its ends in sight."""
    body = text.strip(" ")
    before = len(text) - len(text.lstrip(" "))
    after = len(text) - before - len(body)
    return "␣" * before + body.replace("\n", "⏎") + "␣" * after
