"""What a delta costs in `Parser.feed`, in units; run by hand: `python tests/benchmarks/parser.py`.

The unit is in `units.py`: it holds on any machine. Targets stand beside the figures; nothing here is asserted in CI.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
from statistics import median
from time import perf_counter

from units import deltas, unit

from gateway_args import Limits, Parser, formats

HERMES = formats.load("hermes")
WORDS = "word and word, "


def body(size: int) -> str:
    return (WORDS * (size // len(WORDS) + 1))[:size]


def write_file(size: int) -> str:
    return (
        '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "content": "'
        + body(size)
        + '"}}\n</tool_call>'
    )


def cost(text: str, rounds: int = 7, size: int = 4) -> float:
    """Units a delta of `size` characters, construction and finish included."""
    pieces = deltas(text, size)
    ratios = []
    for _ in range(rounds):
        before = unit()
        start = perf_counter()
        parser = Parser(HERMES)
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        parser.finish("stop")
        spent = (perf_counter() - start) / len(pieces)
        ratios.append(spent / ((before + unit()) / 2))
    return median(ratios)


def calls_in_one_feed(count: int) -> float:
    """Seconds a call, for that many calls in one delta."""
    text = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n' * count
    best = []
    for _ in range(7):
        parser = Parser(HERMES, limits=Limits(max_calls=count))
        start = perf_counter()
        parser.feed(text)
        best.append((perf_counter() - start) / count)
    return median(best)


def peak_of_a_long_call() -> int:
    """Bytes held at most while 1 MB of arguments stream by."""
    pieces = deltas(write_file(1 << 20), 4)
    Parser(HERMES).feed("x")
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    parser = Parser(HERMES)
    for piece in pieces:
        parser.feed(piece)
    peak = tracemalloc.get_traced_memory()[1] - base
    tracemalloc.stop()
    return peak


def size_of_a_parser(text: str) -> float:
    """Bytes a parser holds after this text, averaged over many."""
    Parser(HERMES).feed(text)
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    parsers = [Parser(HERMES) for _ in range(500)]
    for parser in parsers:
        parser.feed(text)
    held = tracemalloc.get_traced_memory()[0] - base
    tracemalloc.stop()
    return held / len(parsers)


def import_time() -> tuple[float, bool]:
    """Milliseconds that `import gateway_args` adds to a bare interpreter, and whether it loads tiktoken or orjson.

    With compiled bytecode, as an installed package has it.
    """
    ran = []
    heavy = False
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp()
    warm = [sys.executable, "-c", "import gateway_args"]
    subprocess.run(warm, env=environment, check=True)
    for _ in range(9):
        code = (
            "import time,sys;t=time.perf_counter();import gateway_args;"
            "print(time.perf_counter()-t,'tiktoken' in sys.modules or 'orjson' in sys.modules)"
        )
        ran_once = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        said = ran_once.stdout.split()
        ran.append(float(said[0]) * 1000)
        heavy = heavy or said[1] == "True"
    return median(ran), heavy


def main() -> None:
    figures = {}
    for size, rounds in ((200, 40), (4096, 15), (65536, 7), (1 << 20, 3)):
        figures[size] = cost(write_file(size), rounds)
        print(f"a string argument, {size:>8} characters   {figures[size]:.2f} units a delta   (target 0.8)")
    print(
        f"1 MB against 4 KB                       {figures[1 << 20] / figures[4096]:.2f}                 (target 1.2)"
    )
    structure = json.dumps([{"a": n, "b": [n, True, None]} for n in range(1500)])
    text = '<tool_call>\n{"name": "f", "arguments": ' + structure + "}\n</tool_call>"
    print(f"structure                               {cost(text):.2f} units a delta   (target 1.0)")
    print(f"content                                 {cost(body(65536)):.2f} units a delta   (target 0.8)")
    html = "<p>some <b>html</b> text</p> " * 2000
    print(f"content, HTML                           {cost(html):.2f} units a delta   (target 0.8)")
    for size in (4096, 65536, 1 << 20):
        text = '<tool_call>\n{"arguments": {"content": "' + body(size - 200) + '"}, "name": "write_file"}\n</tool_call>'
        print(f"arguments before the name, {size:>8}     {cost(text, 5):.2f} units a delta   (target 0.8)")
    few, many = calls_in_one_feed(400), calls_in_one_feed(6400)
    print(f"6,400 calls in one feed against 400     {many / few:.2f} a call            (target 1.3)")
    print(f"peak while 1 MB of arguments stream     {peak_of_a_long_call() / 1024:.1f} KiB            (target 64)")
    for what, text in (("idle", "x"), ("in a call", write_file(200)[:120])):
        print(f"a parser {what:<10}                     {size_of_a_parser(text):.0f} bytes           (target 2048)")
    spent, heavy = import_time()
    print(
        f"import gateway_args                     {spent:.0f} ms, {'with' if heavy else 'without'} tiktoken (target 60)"
    )


if __name__ == "__main__":
    main()
