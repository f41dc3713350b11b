"""Coverage-guided fuzzing of the entry points that take a stranger's bytes: a hand run.

    pip install atheris
    python tests/fuzz/guided.py restore|table|acceptor|decoder [libFuzzer's options, e.g. -max_total_time=60]

`restore` takes a snapshot, `table` a format's TOML, `acceptor` any text, `decoder` a schema and what a model writes for
it. Each may raise what its docstring says and nothing else; the acceptor is compared with `json`. A crash is written to
a file that libFuzzer names.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["gateway_args"]):
    from gateway_args import Acceptor, FormatError, LifecycleError, Parser, StreamDecoder, Tools, formats

TOOLS = Tools.of(
    [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}}]
)


def snapshot(format: formats.Format, output: str) -> bytes:
    parser = Parser(format, TOOLS)
    parser.feed(output)
    return parser.snapshot()


HERMES, CODER = formats.load("hermes"), formats.load("qwen3_coder")
SNAPSHOTS = [
    (HERMES, snapshot(HERMES, '<tool_call>{"name": "f", "arguments": {"a"')),
    (CODER, snapshot(CODER, "<tool_call>\n<function=f>\n<parameter=a>\n1")),
]
TABLE = (Path(formats.__file__).parents[2] / "formats" / "hermes.toml").read_bytes()


def restore(data: bytes) -> None:
    """A snapshot with bytes changed gives a parser or a `LifecycleError`, and a parser reads on."""
    for format, snapshot in SNAPSHOTS:
        head, _, body = snapshot.partition(b"\n")
        changed = bytearray(body)
        for at, byte in zip(data[::2], data[1::2], strict=False):
            changed[at * len(changed) // 256] = byte
        checked = head.rpartition(b" ")[0] + b" " + hashlib.sha256(changed).hexdigest().encode()
        for forged in (checked + b"\n" + changed, head + b"\n" + data, data):
            try:
                parser = Parser.restore(forged, format, TOOLS)
            except LifecycleError:
                continue
            parser.feed('x</tool_call>1"}')
            parser.finish("stop")


def table(data: bytes) -> None:
    """A table is read or is a `FormatError`; one that is read reads an output."""
    at = data[0] * len(TABLE) // 256 if data else 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.toml")
        for text in (data, TABLE[:at] + data[1:] + TABLE[at + len(data) :]):
            path.write_bytes(text)
            try:
                format = formats.read(path)
            except FormatError:
                continue
            parser = Parser(format)
            parser.feed('<tool_call>{"name": "f", "arguments": {}}</tool_call>[f(a=1)]')
            parser.finish("stop")


def acceptor(data: bytes) -> None:
    """A text is taken to its end and whole exactly where `json` reads it."""
    text = data.decode("utf-8", "ignore")
    made = Acceptor(64)
    taken = made.feed(text)
    whole = taken == len(text.rstrip(" \t\n\r")) and (made.complete is not None or made.end_number())
    try:
        json.loads(text, strict=False, parse_constant=_refused)
    except (ValueError, RecursionError):
        assert not whole, text
    else:
        assert whole or _depth(text) > 64, text


def decoder(data: bytes) -> None:
    """A schema is compiled or refused; what is fed to it gives outcomes."""
    schema, _, text = data.decode("utf-8", "ignore").partition("\0")
    try:
        stream = StreamDecoder(json.loads(schema))
    except (ValueError, RecursionError, TypeError):
        return
    for at in range(0, len(text), 3):
        stream.push(text[at : at + 3])
    stream.finish()


def _refused(constant: str) -> None:
    raise ValueError(constant)


def _depth(text: str) -> int:
    return max(text.count("["), text.count("{"), text.count("[") + text.count("{"))


if __name__ == "__main__":
    work = {"restore": restore, "table": table, "acceptor": acceptor, "decoder": decoder}
    if len(sys.argv) < 2 or sys.argv[1] not in work:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(work)} [options of libFuzzer]")
    atheris.Setup([sys.argv[0], *sys.argv[2:]], work[sys.argv[1]])
    atheris.Fuzz()
