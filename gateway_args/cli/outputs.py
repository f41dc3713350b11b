"""What `parse`, `explain` and `detect` share: outputs from a file, and the options that say how they are read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .common import UsageError, decode, format_named, read_bytes, read_text, tools_in

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..diagnosis import Output
    from ..events import Event
    from ..formats import Format
    from ..parser import Parser
    from ..tokens import Delta
    from ..tokens.detokenizer import Encoding
    from ..tools import Tools

_NAMED = ("embedded", "bytes")


def add_options(parser: argparse.ArgumentParser, *, format_required: bool = True) -> None:
    """The file and how it is read."""
    parser.add_argument(
        "file",
        nargs="?",
        default="-",
        help="the text of an output, or an engine's log (server-sent events, JSON lines, a JSON answer); "
        "standard input when left out",
    )
    which = parser.add_mutually_exclusive_group(required=format_required)
    which.add_argument("--format", "-f", metavar="FORMAT", help="a name, an alias or a .toml file")
    which.add_argument("--model", metavar="ID", help="the format by the model's id")
    parser.add_argument("--tools", metavar="FILE", help="JSON: the request's tools, or a request that has them")
    prompt = parser.add_mutually_exclusive_group()
    prompt.add_argument("--prompt", default="", metavar="TEXT", help="the end of the prompt")
    prompt.add_argument("--prompt-file", metavar="FILE", help="a file with the prompt, or its end")
    parser.add_argument("--prefill", default="", metavar="TEXT", help="what the model has said already in this turn")
    parser.add_argument("--start", metavar="STATE", help="the state to start in, such as reasoning")
    parser.add_argument("--finish", metavar="REASON", help="the engine's reason (default: the log's; stop for text)")
    parser.add_argument("--raw", action="store_true", help="the file is an output's text, whatever it looks like")
    parser.add_argument("--choice", type=int, metavar="N", help="only this choice of a log")
    parser.add_argument(
        "--vocabulary",
        metavar="FILE",
        help="the model's tokenizer.json: read the log's token ids instead of its text",
    )


@dataclass(frozen=True, slots=True)
class Way:
    """How outputs are read."""

    tools: Tools | None = None
    prompt: str = ""
    prefill: str = ""
    start: str | None = None
    finish: str | None = None
    """The engine's finish reason, where another than the output's own is to be read."""
    vocabulary: Encoding | None = None

    def parser(self, format: Format, output: Output, markers: dict[str, int] | None) -> Parser:
        from ..parser import Parser

        prompt = self.prompt
        if not prompt and output.prompt and self.vocabulary is not None:
            from ..tokens import TokenDecoder

            decoder = TokenDecoder(self.vocabulary)
            prompt = decoder.feed(output.prompt).text + decoder.finish().text
        try:
            return Parser(format, self.tools, prompt=prompt, prefill=self.prefill, start=self.start, markers=markers)
        except ValueError as error:
            raise UsageError(str(error)) from None

    def deltas(self, format: Format, output: Output) -> tuple[Sequence[str | Delta], dict[str, int] | None]:
        """The output's deltas, and what the parser needs to know of their token ids."""
        if self.vocabulary is None or not output.has_ids:
            if self.vocabulary is not None:
                note("the log has no token ids for every delta; its text is read (vLLM: return_token_ids)")
            return [text for text, _ in output.deltas], None
        from ..tokens import vocab

        deltas, decoder = output.decoded(self.vocabulary)
        for doubt in vocab.doubts(decoder, format):
            note(doubt)
        if output.text and output.differs(self.vocabulary):
            note("the vocabulary makes another text of the ids than the engine did: is it this model's tokenizer?")
        return deltas, decoder.markers(format)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The outputs of a file; `sound` is whether the log had no fault."""

    outputs: Sequence[Output]
    logged: bool
    sound: bool


def note(hint: str) -> None:
    """A hint on standard error."""
    print(f"hint: {' '.join(hint.split())}", file=sys.stderr)


def format_of(args: argparse.Namespace) -> Format:
    from .. import formats

    return format_named(args.format) if args.format is not None else formats.for_model(args.model)


def way_of(args: argparse.Namespace) -> Way:
    return Way(
        None if args.tools is None else tools_in(args.tools),
        args.prompt if args.prompt_file is None else read_text(args.prompt_file),
        args.prefill,
        args.start,
        args.finish,
        None if args.vocabulary is None else vocabulary_in(args.vocabulary),
    )


def vocabulary_in(path: str) -> Encoding:
    """The vocabulary of this `tokenizer.json`, or one of those that ship."""
    from ..tokens import vocab

    if path in _NAMED:
        return vocab.load(path)
    try:
        return vocab.from_tokenizer(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None


def load(args: argparse.Namespace) -> Loaded:
    """The outputs in the file; what is wrong with a log is said on standard error."""
    from ..diagnosis import Output, recorded

    if args.file == "-" and sys.stdin is not None and sys.stdin.isatty():
        print("reading an output from the terminal; end it with Ctrl-D", file=sys.stderr, flush=True)
    data = read_bytes(args.file)
    where = "standard input" if args.file == "-" else args.file
    log = None if args.raw else recorded(data)
    if log is None:
        if args.vocabulary is not None:
            raise UsageError(f"{where}: --vocabulary goes with a log that has token ids; this is text")
        return Loaded([Output(deltas=[(decode(data, where), None)], finish=args.finish or "stop")], False, True)
    for fault in log.faults:
        print(f"{where}: line {fault.line}: {fault.message}", file=sys.stderr)
    outputs = [output for output in log.outputs if args.choice in (None, output.choice)]
    if not outputs:
        there = ", ".join(str(output.choice) for output in log.outputs)
        raise UsageError(
            f"{where}: no choice {args.choice}; there are {there}" if there else f"{where}: no output in it"
        )
    for output in outputs:
        if output.parsed:
            note(
                "the engine's own parser took reasoning or calls out of this text; record it without one "
                "(vLLM: no --tool-call-parser, no --reasoning-parser), or with completions"
            )
            break
    return Loaded(outputs, True, not log.faults)


def events_of(way: Way, format: Format, output: Output) -> list[Event]:
    """Every event of the output."""
    deltas, markers = way.deltas(format, output)
    parser = way.parser(format, output, markers)
    events = [event for delta in deltas for event in parser.feed(delta)]
    return [*events, *parser.finish(way.finish if way.finish is not None else output.finish)]
