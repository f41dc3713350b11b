"""`parse`: one output, from a file or standard input, as a table of events, a reading or JSON.

`--as chat|responses|messages` shows the server-sent events that a client of these APIs would receive.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from .batch import as_dict
from .common import UsageError, format_named, read_text, tools_in

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
    parser.add_argument("file", nargs="?", default="-", help="the output's text; standard input when left out")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--format", "-f", metavar="FORMAT", help="a name, an alias or a .toml file")
    which.add_argument("--model", metavar="ID", help="the format by the model's id")
    parser.add_argument("--tools", metavar="FILE", help="JSON: the request's tools, or a request that has them")
    parser.add_argument("--prompt", default="", metavar="TEXT", help="the end of the prompt")
    parser.add_argument("--prefill", default="", metavar="TEXT", help="what the model has said already in this turn")
    parser.add_argument("--start", metavar="STATE", help="the state to start in, such as reasoning")
    parser.add_argument("--finish", default="stop", metavar="REASON", help="the engine's reason (default: stop)")
    parser.add_argument(
        "--chunk", default="whole", metavar="whole|char|N|tokens", help="how the text is cut into deltas"
    )
    parser.add_argument("--as", dest="shape", default="events", choices=("events", "reading", "json", *_CLIENTS))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from .. import formats
    from ..parser import Parser
    from ..reading import fold

    fmt = format_named(args.format) if args.format is not None else formats.for_model(args.model)
    tools = None if args.tools is None else tools_in(args.tools)
    pieces, markers = _pieces(read_text(args.file), args.chunk, fmt)
    try:
        parser = Parser(fmt, tools, prompt=args.prompt, prefill=args.prefill, start=args.start, markers=markers)
    except ValueError as error:
        raise UsageError(str(error)) from None
    steps = [(piece if isinstance(piece, str) else piece.text, parser.feed(piece)) for piece in pieces]
    steps.append(("", parser.finish(args.finish)))
    events = [event for _, caused in steps for event in caused]
    if args.shape in _CLIENTS:
        from .. import adapters

        for frame in adapters.sse(
            args.shape, events, adapters.Envelope(id="local", model=fmt.name, created=int(time.time()))
        ):
            sys.stdout.buffer.write(frame)
    elif args.shape == "json":
        print(json.dumps(fold(events).as_dict(), indent=1))
    elif args.shape == "reading":
        _show_reading(fold(events))
    elif sys.stdout.isatty():
        _show_table(steps)
    else:
        for event in events:
            print(line_of(event))
    return 0


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
    for name, value in as_dict(event).items():
        if name != "kind" and value is not None and not (name == "tokens" and value == 0):
            yield name, str(value) if name == "why" else repr(value)


def line_of(event: Event) -> str:
    """The event on one line, for a pipe."""
    fields = " ".join(f"{name}={value}" for name, value in fields_of(event))
    return f"{as_dict(event)['kind']!s:<16}{fields}".rstrip()


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
            table.add_row(Text(shown[:40]), Text(str(as_dict(event)["kind"]), style="cyan"), fields)
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
