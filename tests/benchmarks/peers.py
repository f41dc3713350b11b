"""Ours beside each installed peer, in one run: `python tests/benchmarks/peers.py [--json FILE] [--svg FILE]`.

One call streams in 4-character deltas, its arguments plain or code, of 200 characters to 1 MB; a short one comes in one
delta. Figures are processor time a delta in units (`units.py`), the median of rounds in which all readers of a case
take turns. Every reader's value is compared with what was written, after the clock has stopped. Growth is the last
figure over the one of a sixteenth of the text: 1 is linear, 16 is quadratic. A size that would take a reader more than
`PATIENCE` seconds, by what it took and how that grew, is left out; a peer that is not here is named. vLLM's and
SGLang's parsers run from their distributions' sources, in the folders `vllm` and `sglang` of the public material that
GATEWAY_ARGS_TEST_MATERIAL names.

What re-parses (jiter, pydantic, partial-json-parser, json_repair) or reads events (ijson) gets the arguments alone,
without the call's markup: that is how clients use it. "to JSON" writes chat chunks.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import platform
import sys
from html import escape
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import engine_parsers
from units import CHUNK, deltas

import gateway_args
from gateway_args import Acceptor, CallArguments, Parser, TokenDecoder, Tools, formats, vocab
from gateway_args.adapters import Envelope, stream

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (200, 4_096, 65_536, 1_048_576)
PATIENCE = 4.0
ROUNDS = {200: 15, 4_096: 9, 65_536: 5, 1_048_576: 2}
PLAIN = "word and word, "
CODE = 'def total(rows):\n    """Sum "net"."""\n    return {row["key"]: int(row["net"] * 100) % 7 for row in rows}\n\n'
PARAMETERS = {"type": "object", "properties": {"body": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "save", "parameters": PARAMETERS}}]
DSML = (
    '\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="save">\n<｜DSML｜parameter name="body" string="true">',
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
)


class Peer(NamedTuple):
    """A reader: its text for a body, what is timed, and what it then says the body is."""

    name: str
    text: Callable[[str], str]
    read: Callable[[list[str]], Any]
    value: Callable[[Any], object] = lambda said: said


def arguments(body: str) -> str:
    return json.dumps({"body": body})


def hermes(body: str) -> str:
    return f'<tool_call>\n{{"name": "save", "arguments": {arguments(body)}}}\n</tool_call>'


def dsml(body: str) -> str:
    return DSML[0] + body + DSML[1]


def ours(table: str) -> Callable[[list[str]], object]:
    format, tools = formats.load(table), Tools.of(TOOLS)

    def read(pieces: list[str]) -> object:
        parser = Parser(format, tools)
        feed = parser.feed
        said = [event for piece in pieces for event in feed(piece)]
        said += parser.finish("stop")
        return said

    return read


def joined(said: list[Any]) -> object:
    try:
        return json.loads("".join(event.json for event in said if isinstance(event, CallArguments)))["body"]
    except ValueError:  # no call was read: a wrong value
        return None


def of_chunks(chunks: list[str | bytes]) -> object:
    """The body in chat chunks, as JSON."""
    body = ""
    for chunk in chunks:
        for choice in json.loads(chunk)["choices"]:
            for call in choice["delta"].get("tool_calls") or ():
                body += call["function"].get("arguments") or ""
    return json.loads(body)["body"]


def of_frames(frames: list[bytes]) -> object:
    lines = b"".join(frames).split(b"\n\n")
    return of_chunks([line[6:] for line in lines if line.startswith(b"data: {")])


def ours_to_bytes(pieces: list[str]) -> list[bytes]:
    parser = Parser(formats.load("deepseek_v4"), Tools.of(TOOLS))
    out = stream("chat", Envelope("chatcmpl-1", "m", 1))
    sent = [out.frames(parser.feed(piece)) for piece in pieces]
    sent.append(out.frames(parser.finish("stop")))
    return sent


def acceptor(pieces: list[str]) -> object:
    """Reads no value: that all was accepted is its answer."""
    machine = Acceptor()
    for piece in pieces:
        machine.feed(piece)
    return None if machine.complete is None else ...


def reparsed(parse: Callable[[str], Any]) -> Callable[[list[str]], object]:
    def read(pieces: list[str]) -> object:
        text, value = "", None
        for piece in pieces:
            text += piece
            value = parse(text)
        return value["body"] if value else None

    return read


def coder(body: str) -> str:
    return f"<tool_call>\n<function=save>\n<parameter=body>\n{body}\n</parameter>\n</function>\n</tool_call>"


def body_of(said: str) -> object:
    try:
        return json.loads(said)["body"]
    except ValueError:  # no arguments have come
        return None


def vllm() -> Peer:
    return Peer("vLLM (hermes)", hermes, engine_parsers.vllm_hermes(sources("vllm")), body_of)


def sglang() -> Peer:
    read = engine_parsers.sglang(sources("sglang"), "qwen25_detector", "Qwen25Detector")
    return Peer("SGLang (hermes)", hermes, read, body_of)


def sglang_coder() -> Peer:
    read = engine_parsers.sglang(sources("sglang"), "qwen3_coder_detector", "Qwen3CoderDetector")
    return Peer("SGLang (qwen3_coder)", coder, read, body_of)


def sources(engine: str) -> Path | None:
    """The folder in the public material that has the engine's sources (tests/README.md)."""
    folder = os.environ.get("GATEWAY_ARGS_TEST_MATERIAL")
    return Path(folder) / engine if folder else None


def transformers() -> Peer:
    """Their reader of response templates, with ours of the format: it reads whole outputs, so all is read again."""
    chat_parsing: Any = importlib.import_module("transformers.utils.chat_parsing")
    template = formats.to_response_template(formats.load("hermes"))

    def read(pieces: list[str]) -> object:
        text, message = "", {}
        for piece in pieces:
            text += piece
            try:
                message = chat_parsing.parse_response(text, template, prefix="", tools=TOOLS)
            except ValueError:  # the call's JSON is not whole
                continue
        return message["tool_calls"][0]["function"]["arguments"]["body"]

    return Peer("transformers (hermes, parsed again)", hermes, read)


def deepseek_recipe() -> Peer:
    recipe: Any = importlib.import_module("deepseek_recipe")
    request = {"model": "DeepSeek-V4-Pro", "messages": [{"role": "user", "content": "x"}], "tools": TOOLS}

    def read(pieces: list[str]) -> object:
        asked = recipe.ChatCompletionRequest(json.dumps(request)).convert(recipe.ConversionOptions())
        generator = recipe.ChatCompletionRequest.chunk_generator(asked, "id", "m")
        processor = recipe.StreamProcessor(generator, recipe.ParsingOptions())
        chunk, push = recipe.InferenceChunk.text, processor.push
        processor.push(recipe.InferenceChunk.ready())
        said = [event for piece in pieces for event in push(chunk(piece))]
        said += processor.push(recipe.InferenceChunk.finish(recipe.InferenceFinishReason.Stop))
        said += processor.finish()
        return [event.to_json() for event in said]

    return Peer("deepseek-recipe (deepseek_v4, to JSON)", dsml, read, of_chunks)


def jiter() -> Peer:
    parse = importlib.import_module("jiter").from_json
    return Peer("jiter", arguments, reparsed(lambda text: parse(text.encode(), partial_mode="trailing-strings")))


def pydantic() -> Peer:
    parse = importlib.import_module("pydantic_core").from_json
    return Peer("pydantic", arguments, reparsed(lambda text: parse(text, allow_partial="trailing-strings")))


def partial_json_parser() -> Peer:
    parse = importlib.import_module("partial_json_parser").loads
    return Peer("partial-json-parser", arguments, reparsed(parse))


def json_repair() -> Peer:
    return Peer("json_repair", arguments, reparsed(importlib.import_module("json_repair").loads))


def ijson() -> Peer:
    library: Any = importlib.import_module("ijson")

    def read(pieces: list[str]) -> object:
        events = library.sendable_list()
        coroutine = library.items_coro(events, "body")
        for piece in pieces:
            coroutine.send(piece.encode())
        coroutine.close()
        return events[0]

    return Peer("ijson (values at their end)", arguments, read)


def llguidance() -> Peer:
    library: Any = importlib.import_module("llguidance")
    tokenizer = library.LLTokenizer("byte")
    grammar = library.LLMatcher.grammar_from_json_schema('{"type": "object"}')

    def read(pieces: list[str]) -> object:
        matcher = library.LLMatcher(tokenizer, grammar)
        for piece in pieces:
            if not matcher.consume_tokens(list(piece.encode())):
                return None
        return ... if matcher.is_accepting() else None

    return Peer("llguidance (accepts, no value)", arguments, read)


def xgrammar() -> Peer:
    library: Any = importlib.import_module("xgrammar")
    compiled = library.GrammarCompiler(library.TokenizerInfo([])).compile_json_schema('{"type": "object"}')

    def read(pieces: list[str]) -> object:
        matcher = library.GrammarMatcher(compiled, terminate_without_stop_token=True)
        accept = matcher.accept_string
        for piece in pieces:
            if not accept(piece):
                return None
        return ... if matcher.is_terminated() else None

    return Peer("xgrammar (accepts, no value)", arguments, read)


PEERS = (
    *(vllm, sglang, sglang_coder, transformers, deepseek_recipe, jiter),
    *(pydantic, partial_json_parser, json_repair, ijson, llguidance, xgrammar),
)
NOT_RUN = {"openai-harmony": "reads token ids, of a vocabulary that it downloads"}


def tokens_of(text: str) -> list[str]:
    """The text in tokens of the embedded vocabulary, as an engine sends it."""
    encoding = vocab.load("embedded")
    decoder = TokenDecoder(encoding)  # a character that several tokens spell comes with the last of them
    pieces = [decoder.feed(id).text for id in encoding.encode_ordinary(text)]
    return [piece for piece in (*pieces, decoder.finish().text) if piece]


def seconds(row: list[float], size: int) -> float:
    """What a text of this size would take a reader with these figures, if its cost goes on growing as it did."""
    if not row:
        return 0.0
    grown = max(1.0, row[-1] / row[-2]) if len(row) > 1 else 1.0
    return row[-1] * grown * size / 4 * 4e-6


def contestants() -> tuple[list[Peer], dict[str, str]]:
    found = [
        Peer("gateway_args (hermes)", hermes, ours("hermes"), joined),
        Peer("gateway_args (qwen3_coder)", coder, ours("qwen3_coder"), joined),
        Peer("gateway_args (deepseek_v4)", dsml, ours("deepseek_v4"), joined),
        Peer("gateway_args (deepseek_v4, to JSON)", dsml, ours_to_bytes, of_frames),
        Peer("gateway_args (accepts, no value)", arguments, acceptor),
    ]
    missing = dict(NOT_RUN)
    for make in PEERS:
        try:
            found.append(make())
        except ImportError:
            missing[make.__name__.replace("_", "-")] = "not here"
    return found, missing


def unit() -> float:
    start = process_time()
    for _ in range(300):
        json.loads(CHUNK)
    return (process_time() - start) / 300


def measure(kind: str, size: int, peers: list[Peer], cut: int) -> dict[str, float | str]:
    """Units a delta by peer; a text says why there is no figure. `cut` is a delta's characters, 0 a token each."""
    body = ((PLAIN if kind == "plain" else CODE) * (size // 15 + 1))[:size]
    cutter = functools.partial(deltas, size=cut) if cut else tokens_of
    work = {peer.name: (peer, cutter(peer.text(body))) for peer in peers}
    said: dict[str, float | str] = {}
    ratios: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(ROUNDS[size]):
        for name, (peer, pieces) in work.items():
            if name in said:
                continue
            before = unit()
            start = process_time()
            raw = peer.read(pieces)
            spent = process_time() - start
            value = peer.value(raw)
            if value is not ... and value != body:
                said[name] = "no value" if value is None else "wrong value"
            elif spent > PATIENCE and not turn:
                said[name] = spent / len(pieces) / before
            ratios[name].append(spent / len(pieces) / ((before + unit()) / 2))
    return {name: said.get(name, median(ratios[name])) for name in work}


def run() -> dict[str, Any]:
    peers, missing = contestants()
    figures: dict[str, dict[str, float | str]] = {}
    growth: dict[str, dict[str, float]] = {}
    for kind in ("plain", "code"):
        rows: dict[str, list[float]] = {peer.name: [] for peer in peers}  # the figures of each reader, size by size
        for size in SIZES:
            able = [peer for peer in peers if seconds(rows[peer.name], size) <= PATIENCE]
            found = measure(kind, size, able, 4)
            for name, figure in found.items():
                if isinstance(figure, float):
                    rows[name].append(figure)
            figures[f"{kind}, {size}"] = {peer.name: found.get(peer.name, "left out: slow") for peer in peers}
            print(f"{kind}, {size} characters, 4 a delta: units a delta")
            for name, figure in figures[f"{kind}, {size}"].items():
                print(f"  {name:40} {figure if isinstance(figure, str) else f'{figure:.2f}'}", flush=True)
        growth[kind] = {name: row[-1] / row[-2] for name, row in rows.items() if len(row) > 1}
        print(f"{kind}: growth from the last size but one to the last that was timed, sixteen times the text")
        for name, ratio in growth[kind].items():
            print(f"  {name:40} {ratio:.1f}")
    figures["code, 65536, in tokens"] = measure(
        "code", 65_536, [p for p in peers if seconds(rows[p.name], 65_536) <= PATIENCE], 0
    )
    print("code, 65536 characters, a token a delta: units a delta")
    for name, figure in figures["code, 65536, in tokens"].items():
        print(f"  {name:40} {figure if isinstance(figure, str) else f'{figure:.2f}'}")
    whole = measure("plain", 200, peers, 1 << 30)
    figures["a call of 200 characters in one delta"] = whole
    print("a call of 200 characters in one delta: units")
    for name, figure in whole.items():
        print(f"  {name:40} {figure if isinstance(figure, str) else f'{figure:.2f}'}")
    for name, why in missing.items():
        print(f"not run: {name} ({why})")
    return {
        "python": platform.python_version(),
        "compiled": gateway_args.__compiled__,
        "figures": figures,
        "growth": growth,
        "missing": missing,
    }


def chart(result: dict[str, Any]) -> str:
    """Units a delta at 4 KB of code, which every peer reads in time, on a scale of powers of ten."""
    import math

    figures = result["figures"]["code, 4096"]
    rows = sorted((figure, name) for name, figure in figures.items() if isinstance(figure, float))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{40 + 24 * len(rows)}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>'
        '<text x="8" y="18">Units a 4-character delta, 4 KB of code in one call (each grid line: ten times)</text>'
    ]
    for power in range(-2, 6):
        x = 290 + (power + 2) * 50
        parts.append(f'<line x1="{x}" x2="{x}" y1="26" y2="{30 + 24 * len(rows)}" stroke="#ddd"/>')
    for n, (figure, name) in enumerate(rows):
        width = max(2.0, (math.log10(max(figure, 0.01)) + 2) * 50)
        colour = "#2a6" if name.startswith("gateway_args") else "#89a"
        y = 32 + 24 * n
        parts.append(f'<text x="282" y="{y + 12}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="290" y="{y}" width="{width:.0f}" height="16" fill="{colour}"/>')
        parts.append(f'<text x="{296 + width:.0f}" y="{y + 12}">{figure:.2f}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(description="Ours beside each installed peer.")
    options.add_argument("--json", type=Path)
    options.add_argument("--svg", type=Path)
    given = options.parse_args()
    result = run()
    if given.json:
        given.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    if given.svg:
        given.svg.write_text(chart(result))
    wrong = [
        name
        for case in result["figures"].values()
        for name, figure in case.items()
        if figure in ("wrong value", "no value")
    ]
    return 1 if any(name.startswith("gateway_args") for name in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
