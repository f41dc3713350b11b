"""`parse`: one output, from a file or standard input, as a table of events, a reading or JSON.

`--as chat|responses|messages` shows the server-sent events that a client of these APIs would receive, `--as case`
writes a case for the format's corpus. An engine's log is read choice by choice, in its own deltas.
"""

from __future__ import annotations

import json
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..reading import event_as_dict
from . import outputs
from .common import UsageError, tools_value

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from ..events import Event
    from ..formats import Format
    from ..reading import Reading
    from ..tokens.detokenizer import Delta

_CLIENTS = ("chat", "responses", "messages")


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("parse", help="read one output", description=__doc__)
    outputs.add_options(parser)
    parser.add_argument(
        "--chunk", metavar="whole|char|N|tokens", help="how a text is cut into deltas (default: whole; a log's own)"
    )
    parser.add_argument(
        "--as",
        dest="shape",
        default="events",
        choices=("events", "reading", "json", "case", *_CLIENTS),
        help="what is written: events (the default), a short reading, JSON, a corpus case, or a client's stream",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from ..diagnosis import hint
    from ..reading import fold

    fmt, way = outputs.format_of(args), outputs.way_of(args)
    loaded = outputs.load(args)
    several = len(loaded.outputs) > 1
    if several and args.shape in _CLIENTS:
        raise UsageError(f"--as {args.shape} shows one choice of {len(loaded.outputs)}: name it with --choice")
    for output in loaded.outputs:
        if args.chunk is None and loaded.logged:
            pieces, markers = way.deltas(fmt, output)
        else:
            pieces, markers = _pieces(output.text, args.chunk or "whole", fmt)
        parser = way.parser(fmt, output, markers)
        steps = [(piece if isinstance(piece, str) else piece.text, parser.feed(piece)) for piece in pieces]
        reason = output.finish if way.finish is None else way.finish
        steps.append(("", parser.finish(reason)))
        events = [event for _, caused in steps for event in caused]
        reading = fold(events)
        if several and args.shape not in ("json", "case"):
            print(f"choice {output.choice}")
        if args.shape == "json":
            answer = {"choice": output.choice, **reading.as_dict()} if several else reading.as_dict()
            print(json.dumps(answer, indent=1))
        elif args.shape == "case":
            print(_case(args, way, fmt, output.text, reason, reading, several, output.choice), end="")
        else:
            _show(args.shape, fmt, steps, events, reading)
        hint_shown = hint(fmt, "".join(text for text, _ in steps), reading, way.tools)
        if hint_shown is not None:
            sys.stdout.flush()
            outputs.note(hint_shown)
    return 0 if loaded.sound else 1


def _show(
    shape: str, fmt: Format, steps: Sequence[tuple[str, Sequence[Event]]], events: list[Event], reading: Reading
) -> None:
    if shape in _CLIENTS:
        from .. import adapters

        envelope = adapters.Envelope(id="local", model=fmt.name, created=int(time.time()))
        for frame in adapters.sse(cast("adapters.Kind", shape), events, envelope):
            sys.stdout.buffer.write(frame)
    elif shape == "reading":
        _show_reading(reading)
    elif sys.stdout.isatty():
        _show_table(steps)
    else:
        for event in events:
            print(line_of(event))


def _case(
    args: argparse.Namespace,
    way: outputs.Way,
    fmt: Format,
    text: str,
    reason: str | None,
    reading: Reading,
    several: bool,
    choice: int,
) -> str:
    from ..diagnosis.case import case_text

    name = "An output" if args.file == "-" else Path(args.file).stem
    return case_text(
        f"{name}, choice {choice}" if several else name,
        fmt,
        text,
        reading,
        tools=None if args.tools is None else tools_value(args.tools),
        prompt=way.prompt,
        prefill=way.prefill,
        start=way.start,
        finish=reason,
    )


def _pieces(text: str, chunk: str, fmt: Format) -> tuple[Sequence[str | Delta], dict[str, int] | None]:
    """The deltas of the text, and what the parser needs to know of their token ids."""
    if chunk == "tokens":
        from ..tokens import vocab
        from ..tokens.detokenizer import TokenDecoder

        encoding = vocab.load("embedded")
        decoder = TokenDecoder(encoding)
        deltas = [decoder.feed(id) for id in encoding.encode(text, allowed_special="all")]
        return [*deltas, decoder.finish()], decoder.markers(fmt)
    if chunk == "whole":
        return [text], None
    size = 1 if chunk == "char" else int(chunk) if chunk.isascii() and chunk.isdecimal() and len(chunk) < 20 else 0
    if size < 1:
        raise UsageError(f"--chunk {chunk}: whole, char, a number above 0 or tokens is wanted")
    return [text[at : at + size] for at in range(0, len(text), size)], None


def fields_of(event: Event) -> Iterator[tuple[str, str]]:
    """The fields of an event that say something, as name and text."""
    for name, value in event_as_dict(event).items():
        if name != "kind" and value is not None and not (name == "tokens" and value == 0):
            yield name, str(value) if isinstance(value, StrEnum) else repr(value)


def line_of(event: Event) -> str:
    """The event on one line, for a pipe."""
    fields = " ".join(f"{name}={value}" for name, value in fields_of(event))
    return f"{event_as_dict(event)['kind']!s:<16}{fields}".rstrip()


def _show_table(steps: Sequence[tuple[str, Sequence[Event]]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("delta", "event", "fields", box=None, header_style="bold", pad_edge=False)
    for text, caused in steps:
        shown = repr(text) if text else ""
        for event in caused:
            fields = Text()
            for name, value in fields_of(event):
                fields.append(f"{name} ", style="dim").append(value + " ")
            table.add_row(Text(shown[:40]), Text(str(event_as_dict(event)["kind"]), style="cyan"), fields)
            shown = ""
        if shown:
            table.add_row(Text(shown[:40]), Text("(held)", style="dim"), "")
    Console(highlight=False).print(table)


def _show_reading(reading: Reading) -> None:
    if reading.reasoning:
        print(f"reasoning   {reading.reasoning}")
    if reading.content:
        print(f"content     {reading.content}")
    for call in reading.calls:
        print(f"call        {call.name}({call.arguments}){'' if call.complete else '  incomplete'}")
    for aside in reading.malformed:
        print(f"malformed   {aside.text!r} ({aside.why})")
    if reading.finish is not None:
        print(f"finish      {reading.finish.reason}")
