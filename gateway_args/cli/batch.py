"""`batch`: JSON lines in, JSON lines out, in the same order: the machine interface.

A line is `{"id", "format"?, "tools"?, "tool_choice"?, "prompt"?, "prefill"?, "start"?, "deltas": [..] | "text": "..",
"finish"?}`, and what is said of it is its reading, or with `--events` its events. A bad line gets `{"id", "error"}` in
its place; the run goes on and ends with status 1. One line is held at a time. Lone surrogate escapes are taken (policy
13).

An engine's log (server-sent events, JSON lines, a JSON answer) is read instead, with `--format`: one answer a choice,
whose number is the id (the answer's place where the log has several responses).

A `tool_choice` that forces a function or any call means the constrained formats where no format is given; a format that
is given is read as that format whatever forces the call. A choice of none is a request without tools.
"""

from __future__ import annotations

import difflib
import json
import sys
import time
from contextlib import ExitStack
from functools import lru_cache
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from ..errors import GatewayArgsError
from ..reading import event_as_dict
from . import outputs
from .common import UsageError, decode, format_named, parse_json, shown, standard_input, tools_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from ..formats import Format
    from ..tools import Tools

_KEYS = ("id", "format", "tools", "tool_choice", "prompt", "prefill", "start", "deltas", "text", "finish")
_ENGINES_KEYS = (b'"choices"', b'"meta_info"', b'"text_output"', b'"content"')
_EVERY = 0.2  # seconds between two progress lines


def add(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser("batch", help="read outputs from JSON lines", description=__doc__)
    parser.add_argument(
        "file", nargs="?", default="-", help="JSON lines, or an engine's log; standard input when left out"
    )
    parser.add_argument("--format", "-f", metavar="FORMAT", help="the format of lines that name none")
    parser.add_argument("--events", action="store_true", help="write events instead of readings")
    parser.add_argument(
        "--vocabulary", metavar="FILE", help="the model's tokenizer.json: read a log's token ids instead of its text"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.format is not None:
        format_named(args.format)  # a wrong name is the run's error, not each line's
    batch = Batch(args.format, events=args.events)
    bad = 0
    out = sys.stdout.buffer
    with ExitStack() as stack:
        lines: IO[bytes] = standard_input() if args.file == "-" else stack.enter_context(_open(args.file))
        first = next((line for line in lines if line.strip()), b"")
        if _is_log(first):
            return _log(args, first + lines.read())
        if args.vocabulary is not None:
            raise UsageError("--vocabulary goes with a log that has token ids; these are JSON lines")
        for number, line in enumerate(_progress(chain([first], lines)), start=1):
            if not line.strip():
                continue
            answer = batch.answer(line, number)
            bad += "error" in answer
            out.write(_encoded(answer))
            out.flush()
    return 1 if bad else 0


def _is_log(first: bytes) -> bool:
    """Whether a file whose first line this is, is an engine's log: no JSON line of a batch begins so."""
    line = first.removeprefix(b"\xef\xbb\xbf").strip()
    if line.startswith((b"data:", b"event:", b"id:", b":", b"error:")) or line in (b"{", b"["):
        return True
    if not any(key in line for key in _ENGINES_KEYS):
        return False
    from ..diagnosis import recorded

    return recorded(first) is not None


def _log(args: argparse.Namespace, data: bytes) -> int:
    """Answers each choice of a log."""
    from ..diagnosis import recorded
    from ..reading import fold

    where = "standard input" if args.file == "-" else args.file
    log = recorded(data)
    if log is None:
        raise UsageError(f"{where}: neither JSON lines of a batch nor an engine's log")
    if args.format is None:
        raise UsageError(f"{where}: an engine's log names no format: give it with --format")
    fmt = format_named(args.format)
    way = outputs.Way(vocabulary=None if args.vocabulary is None else outputs.vocabulary_in(args.vocabulary))
    for fault in log.faults:
        print(f"{where}: line {fault.line}: {fault.message}", file=sys.stderr)
    several = len({output.choice for output in log.outputs}) < len(log.outputs)
    for index, output in enumerate(log.outputs):
        listed = outputs.events_of(way, fmt, output)
        answer = {"events": [event_as_dict(event) for event in listed]} if args.events else fold(listed).as_dict()
        sys.stdout.buffer.write(_encoded({"id": index if several else output.choice, **answer}))
    return 1 if log.faults else 0


def _open(path: str) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _progress(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines, counted on a terminal."""
    if not sys.stderr.isatty():
        yield from lines
        return
    shown = time.monotonic()
    number = 0
    for number, line in enumerate(lines, start=1):
        if time.monotonic() - shown > _EVERY:
            shown = time.monotonic()
            print(f"\r{number:,} lines", end="", file=sys.stderr, flush=True)
        yield line
    print(f"\r{number:,} lines", file=sys.stderr)


class Batch:
    """Answers lines one by one; keeps the last request's tools, which the next line often has too."""

    def __init__(self, format: str | None = None, *, events: bool = False) -> None:
        self._format = format
        self._events = events
        self._raw_tools: object = None
        self._tools: Tools | None = None

    def answer(self, line: bytes, number: int) -> dict[str, object]:
        """What is said of this line: a reading, events or an error."""
        id: object = None
        try:
            row = _row(line, number)
            id = row.get("id")
            return {"id": id, **self._answer(row)}
        except (UsageError, GatewayArgsError, ValueError) as error:
            return {"id": id, "error": " ".join(str(error).split())}

    def _answer(self, row: dict[str, object]) -> dict[str, object]:
        from ..parser import Parser
        from ..reading import Reading

        choice, forced = _choice(row.get("tool_choice"))
        tools = self._tools_of([] if choice == "none" else row.get("tools"))
        fmt = self._format_of(_string(row, "format"), choice, forced)
        prompt, prefill = (_string(row, key) or "" for key in ("prompt", "prefill"))
        parser = Parser(fmt, tools, prompt=prompt, prefill=prefill, start=_string(row, "start"))
        deltas = _deltas(row)
        reason = _string(row, "finish") if "finish" in row else "stop"
        if self._events:
            listed = [event_as_dict(event) for delta in deltas for event in parser.feed(delta)]
            return {"events": listed + [event_as_dict(event) for event in parser.finish(reason)]}
        reading = Reading()
        for delta in deltas:
            for event in parser.feed(delta):
                reading.add(event)
        for event in parser.finish(reason):
            reading.add(event)
        return reading.as_dict()

    def _tools_of(self, raw: object) -> Tools | None:
        if raw is None:
            return None
        if self._tools is None or raw != self._raw_tools:
            self._tools = tools_of(raw, "tools")
            self._raw_tools = raw
        return self._tools

    def _format_of(self, name: str | None, choice: str, forced: str) -> Format:
        name = name if name is not None else self._format
        if name is not None:
            return format_named(name)
        if choice in ("forced", "required"):
            return _constrained(forced if choice == "forced" else None)
        raise UsageError("format is missing: name one in the line or with --format")


@lru_cache(maxsize=256)
def _constrained(function: str | None) -> Format:
    from .. import formats

    return formats.required() if function is None else formats.forced(function)


def _row(line: bytes, number: int) -> dict[str, object]:
    where = f"line {number}"
    row = parse_json(decode(line, where), where)
    if not isinstance(row, dict):
        raise UsageError(f"{where}: an object is wanted, not {type(row).__name__}")
    return row


def _string(row: dict[str, object], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{key} is a string, not {type(value).__name__}")
    return value


def _deltas(row: dict[str, object]) -> list[str]:
    for key in row:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            raise UsageError(
                f"unexpected key '{shown(key)}'"
                + (f" (did you mean '{near[0]}'?)" if near else "")
                + f"; allowed: {', '.join(_KEYS)}"
            )
    text, deltas = row.get("text"), row.get("deltas")
    if text is not None and deltas is not None:
        raise UsageError("expected text or deltas, got both; deltas joined are the text")
    if text is None and deltas is None:
        raise UsageError("expected text or deltas, got neither")
    if isinstance(text, str):
        return [text]
    if isinstance(deltas, list) and all(isinstance(delta, str) for delta in deltas):
        return deltas
    raise UsageError("text is a string" if deltas is None else "deltas is a list of strings")


def _choice(value: object) -> tuple[str, str]:
    """What a request's tool choice asks for: "none", "auto", "required" or "forced", and then the function's name.

    The three APIs' shapes: a word, `{"type": "function"}` with the name in it or under `function`, `{"type": "tool"}`,
    and lists of allowed tools with a mode.
    """
    match value:
        case None | "auto" | {"type": "auto"}:
            return "auto", ""
        case "none" | {"type": "none"}:
            return "none", ""
        case "required" | "any" | {"type": "required"} | {"type": "any"}:
            return "required", ""
        case {"type": "function", "function": {"name": str(name)}} | {"type": "function" | "tool", "name": str(name)}:
            return "forced", name
        case {"type": "allowed_tools", "allowed_tools": {"mode": mode}} | {"type": "allowed_tools", "mode": mode}:
            if mode in ("auto", "required"):
                return mode, ""
    raise UsageError(f"tool_choice {json.dumps(value)[:80]} is no shape of Chat, Responses or Messages")


def _encoded(answer: dict[str, object]) -> bytes:
    try:
        return json.dumps(answer, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # an id, or a name from an escape, that holds a lone surrogate
        return json.dumps(answer).encode() + b"\n"
