"""What `StreamDecoder.push` costs, beside llguidance and (where installed) xgrammar on the same schema and bytes.

Run by hand: `python tests/benchmarks/decoder.py`; it exits 1 past a target. The others are asked for what a guard
needs of them: to advance by these bytes and to say whether they may stand. None computes a mask.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from units import unit, units

from gateway_args.decoder import Accepted, StreamDecoder, StreamLimits, compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable

ROW = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "name": {"type": "string", "maxLength": 40},
        "kind": {"enum": ["alpha", "beta", "gamma"]},
        "ok": {"type": "boolean"},
        "score": {"type": "number"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["id", "name", "kind", "ok", "score", "note"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "content": {"type": "string"},
        "rows": {"type": "array", "items": ROW},
    },
    "required": ["path"],
    "additionalProperties": False,
}
ROWS = [
    {"id": n, "name": f"row {n}", "kind": ("alpha", "beta", "gamma")[n % 3], "ok": True, "score": n / 8, "note": None}
    for n in range(800)
]
CODE = 'def area(width: float, height: float) -> float:\n    """The area."""\n    return width * height\n\n'


def _document(value: Any) -> bytes:
    """64 KB of it, closed where it happens to stand."""
    return json.dumps(value).encode()


DOCUMENTS = {
    "a file's text": _document({"path": "a.py", "content": CODE * 610}),
    "rows": _document({"path": "a", "rows": ROWS[:722]}),
}
MOST = 4.0  # units a 4-byte push


def ours(data: bytes, size: int) -> Callable[[], object]:
    compiled = compile_schema(SCHEMA)
    limits = StreamLimits.for_calls()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]

    def run() -> None:
        push = StreamDecoder(compiled, limits=limits).push
        for piece in pieces:
            push(piece)

    check = StreamDecoder(compiled, limits=limits)
    check.push(data)
    assert isinstance(check.finish(), Accepted)
    return run


def llguidance(data: bytes, size: int) -> Callable[[], object]:
    import llguidance as library

    tokenizer = library.LLTokenizer("byte")
    grammar = library.LLMatcher.grammar_from_json_schema(json.dumps(SCHEMA), defaults={"whitespace_flexible": True})
    pieces = [list(data[at : at + size]) for at in range(0, len(data), size)]
    first = library.LLMatcher(tokenizer, grammar)

    def run() -> None:
        matcher = first.deep_copy()
        for piece in pieces:
            if not matcher.consume_tokens(piece):
                raise AssertionError(f"llguidance refuses {bytes(piece)!r}: {matcher.get_error()}")

    return run


def xgrammar(data: bytes, size: int) -> Callable[[], object]:
    import xgrammar as library

    vocabulary = [bytes([byte]) for byte in range(256)]
    info = library.TokenizerInfo(vocabulary, library.VocabType.RAW, stop_token_ids=[0])
    compiled = library.GrammarCompiler(info).compile_json_schema(json.dumps(SCHEMA), any_whitespace=True)
    pieces = [data[at : at + size].decode() for at in range(0, len(data), size)]

    def run() -> None:
        matcher = library.GrammarMatcher(compiled)
        for piece in pieces:
            if not matcher.accept_string(piece):
                raise AssertionError(f"xgrammar refuses {piece!r}")

    return run


def main() -> int:
    status = 0
    for name, data in DOCUMENTS.items():
        for size in (4, 100):
            for who in (ours, llguidance, xgrammar):
                count = -(-len(data) // size)
                try:
                    spent = units(who(data, size), count, rounds=9)
                except ImportError:
                    print(f"{name:14} {size:4} bytes  {who.__name__:11} not installed, not measured")
                    continue
                slow = who is ours and size == 4 and spent > MOST
                status |= slow
                note = f"(at most {MOST:.0f})" if who is ours and size == 4 else ""
                micro = spent * min(unit() for _ in range(5)) * 1e6
                print(
                    f"{name:14} {size:4} bytes  {who.__name__:11} {spent:6.3f} units, {micro:6.2f} µs a push",
                    note,
                    "TOO SLOW" if slow else "",
                )
    for name in DOCUMENTS:
        costs = []
        for share in (4, 2, 1):
            data = _shorter(name, share)
            costs.append(f"{len(data)}: {units(ours(data, 4), len(data), 9) * 1000:.0f}")
        print(f"{name:14} milli-units a byte, by bytes in the document: {', '.join(costs)}")
    return status


def _shorter(name: str, share: int) -> bytes:
    if name == "rows":
        return _document({"path": "a", "rows": ROWS[: 722 // share]})
    return _document({"path": "a.py", "content": CODE * (610 // share)})


if __name__ == "__main__":
    sys.exit(main())
