"""The cost of one step under a constraint that allows any JSON value: the mask of allowed tokens, then one token taken.

`python tests/benchmarks/token_constraint.py [VOCABULARY…]`; llguidance and xgrammar are measured where they are
installed, on the same walks: llguidance with RFC 8259 as a grammar, xgrammar with its own JSON. "cold" is the first
time that a vocabulary's masks are asked for, "warm" the walks after it. Times are the thread's own.
"""

from __future__ import annotations

import random
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from gateway_args import Acceptor
from gateway_args.grammar import TokenConstraint
from gateway_args.grammar.constraint import _tokenizer
from gateway_args.tokens import vocab

if TYPE_CHECKING:
    from collections.abc import Callable

    import tiktoken

WALKS = 40
LARK = r"""
start: WS? value
value: obj | arr | STR | NUM | "true" | "false" | "null"
obj: "{" WS? "}" | "{" WS? pair (WS? "," WS? pair)* WS? "}"
pair: STR WS? ":" WS? value
arr: "[" WS? "]" | "[" WS? value (WS? "," WS? value)* WS? "]"
STR: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUM: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
WS: /[ \t\n\r]+/
"""
CLOSERS = (b'"', b"}", b"]", b"0", b":")


def walks(encoding: tiktoken.Encoding) -> list[list[int]]:
    """Token ids of random JSON values."""
    rng = random.Random(3)
    found = []
    for _ in range(WALKS):
        constraint = TokenConstraint(encoding, Acceptor())
        ids: list[int] = []
        while len(ids) < 120 and not (constraint.is_complete and len(ids) > 30):
            allowed = constraint.allowed()
            if not allowed:
                break
            closing = [id for id in allowed if len(ids) > 60 and encoding.decode_single_token_bytes(id) in CLOSERS]
            ids.append(rng.choice(closing or allowed))
            constraint.advance(ids[-1])
        found.append(ids)
    return found


def measure(start: Callable[[], tuple[Callable[[], object], Callable[[int], object]]], ids: list[list[int]]) -> str:
    times = []
    for walk in ids:
        mask, take = start()
        for id in walk:
            began = time.thread_time_ns()
            mask()
            taken = take(id)
            times.append(time.thread_time_ns() - began)
            if taken is False:
                break
    times.sort()
    mean = sum(times) / len(times) / 1e3
    return f"mean {mean:8.1f} µs, 99 % {times[len(times) * 99 // 100] / 1e3:8.1f} µs, worst {times[-1] / 1e3:9.1f} µs"


def ours(encoding: tiktoken.Encoding) -> tuple[Callable[[], object], Callable[[int], object]]:
    constraint = TokenConstraint(encoding, Acceptor())
    return constraint.mask, constraint.advance


def llguidance(encoding: tiktoken.Encoding) -> Callable[[], tuple[Callable[[], object], Callable[[int], object]]]:
    from llguidance import LLMatcher

    grammar = LLMatcher.grammar_from_lark(LARK)
    tokenizer = _tokenizer(encoding)

    def start() -> tuple[Callable[[], object], Callable[[int], object]]:
        matcher = LLMatcher(tokenizer, grammar)
        return matcher.compute_bitmask, matcher.consume_token

    return start


def xgrammar(encoding: tiktoken.Encoding) -> Callable[[], tuple[Callable[[], object], Callable[[int], object]]]:
    import numpy
    import xgrammar as engine

    tokens: list[Any] = [b""] * encoding.n_vocab
    for data, id in encoding._mergeable_ranks.items():
        tokens[id] = data
    info = engine.TokenizerInfo(tokens, engine.VocabType.RAW)
    compiled = engine.GrammarCompiler(
        info, max_threads=1
    ).compile_builtin_json_grammar()  # its fast path; a walk ends where it is stricter
    mask = numpy.zeros((1, (encoding.n_vocab + 31) // 32), dtype=numpy.int32)

    def start() -> tuple[Callable[[], object], Callable[[int], object]]:
        matcher = engine.GrammarMatcher(compiled, terminate_without_stop_token=True)
        return lambda: matcher.fill_next_token_bitmask(mask), matcher.accept_token

    return start


def main() -> None:
    for name in sys.argv[1:] or ["embedded", "qwen3"]:
        encoding = vocab.load(name)
        print(f"{name}: {encoding.n_vocab} tokens")
        began = time.perf_counter()
        ours(encoding)
        print(f"  ours: made in {time.perf_counter() - began:.2f} s")
        ids = walks(vocab.load(name))
        from gateway_args.grammar import json_tokens

        json_tokens.json_tokens.cache_clear()
        ours(encoding)
        own = partial(ours, encoding)
        print("  ours, cold:  ", measure(own, ids))
        print("  ours, warm:  ", measure(own, ids))
        for engine in (llguidance, xgrammar):
            try:
                began = time.perf_counter()
                start = engine(encoding)
            except ImportError as error:
                print(f"  {engine.__name__}: {error}")
                continue
            print(f"  {engine.__name__}: made in {time.perf_counter() - began:.2f} s")
            print(f"  {engine.__name__}:  ", measure(start, ids))


if __name__ == "__main__":
    main()
