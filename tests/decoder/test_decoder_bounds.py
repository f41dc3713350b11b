"""Every bound of the decoder at its exact limit, and one past it."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from decoder_documents import outcome, same_for_every_cut

from gateway_args.decoder import Accepted, Incomplete, Refused, StreamCode, StreamDecoder, StreamLimits, compile_schema

ANY = compile_schema(True)


def _refused(said: Any, code: StreamCode, at_byte: int) -> None:
    assert isinstance(said, Refused), said
    assert (said.code, said.at_byte) == (code, at_byte)


def test_bytes_up_to_the_bound_are_taken_and_the_next_is_refused_before_it_is_kept() -> None:
    limits = StreamLimits()
    document = b'"' + b"x" * (limits.max_bytes - 2) + b'"'
    assert isinstance(outcome(ANY, [document]), Accepted)
    said = outcome(ANY, [document + b" "])
    _refused(said, StreamCode.BYTES, limits.max_bytes)
    for size in (1, 100, 4096):
        spaced = document + b" " * 10
        pieces = [spaced[at : at + size] for at in range(0, len(spaced), size)]
        assert outcome(ANY, pieces) == said


def test_what_is_wrong_before_the_bound_is_said_before_the_bound() -> None:
    _refused(same_for_every_cut(ANY, b'["a",}] ', limits=StreamLimits(max_bytes=7)), StreamCode.BRACKET, 5)
    _refused(same_for_every_cut(ANY, b'["a","b"]', limits=StreamLimits(max_bytes=7)), StreamCode.BYTES, 7)


def test_nothing_past_the_bound_is_ever_buffered() -> None:
    decoder = StreamDecoder(ANY)
    chunk = b'"' + b"x" * (8 << 20)
    tracemalloc.start()
    try:
        said = decoder.push(chunk)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    _refused(said, StreamCode.BYTES, 65_536)
    assert peak < 3 * 65_536


def test_nesting_up_to_the_bound_is_taken() -> None:
    limits = StreamLimits()
    for opener, closer in ((b"[", b"]"), (b'{"k":', b"}")):
        inner = b"[]" if opener == b"[" else b"{}"
        fits = opener * 63 + inner + closer * 63
        assert isinstance(outcome(ANY, [fits]), Accepted)
        too_deep = opener * 64 + inner + closer * 64
        _refused(outcome(ANY, [too_deep]), StreamCode.DEPTH, 64 * len(opener))
    assert limits.max_depth == 64
    _refused(same_for_every_cut(ANY, b'[{"a":[1]}]', limits=StreamLimits(max_depth=2)), StreamCode.DEPTH, 6)


def test_the_deepest_bound_is_within_what_the_whole_document_decoder_reads() -> None:
    limits = StreamLimits(max_depth=255)
    recursive = compile_schema({"type": "array", "items": {"$ref": "#"}})
    document = b"[" * 255 + b"]" * 255
    assert isinstance(outcome(recursive, [document], limits=limits), Accepted)
    _refused(outcome(recursive, [b"[" + document + b"]"], limits=limits), StreamCode.DEPTH, 255)


def test_string_literals_up_to_the_bound_are_taken_keys_included() -> None:
    document = json.dumps(["x"] * 8_192).encode()
    assert isinstance(outcome(ANY, [document]), Accepted)
    longer = json.dumps(["x"] * 8_193).encode()
    _refused(outcome(ANY, [longer]), StreamCode.TOKENS, longer.rindex(b'"x"'))
    small = StreamLimits(max_strings=2)
    assert isinstance(outcome(ANY, [b'{"a":"b"}'], limits=small), Accepted)
    _refused(same_for_every_cut(ANY, b'{"a":"b","c":1}', limits=small), StreamCode.TOKENS, 9)


WORKED = compile_schema(
    {
        "properties": {"kind": {"anyOf": [{"enum": ["a", "ab"]}, {"enum": ["b"]}]}, "n": {"type": "array"}},
        "additionalProperties": False,
    }
)


def test_grammar_work_is_the_same_for_every_cut_and_bounded_at_the_byte() -> None:
    document = b'{"kind":"\\u0061b","n":[1,[],{"x":"y"}]}'
    integral = StreamDecoder(WORKED)
    steps = []
    for at in range(len(document)):
        integral.push(document[at : at + 1])
        steps.append(integral.grammar_work)
    assert isinstance(integral.finish(), Accepted)
    at_once = StreamDecoder(WORKED)
    at_once.push(document)
    assert at_once.grammar_work == integral.grammar_work == steps[-1] > 0
    assert isinstance(outcome(WORKED, [document], limits=StreamLimits(max_work=steps[-1])), Accepted)
    for bound in range(1, steps[-1]):
        first_past = next(at for at, work in enumerate(steps) if work > bound)
        said = same_for_every_cut(WORKED, document, every_split=False, limits=StreamLimits(max_work=bound))
        _refused(said, StreamCode.GRAMMAR, first_past)
        assert "max_work" in said.message  # type: ignore[union-attr]


def test_the_grammars_stack_counts_open_values_and_nested_alternatives() -> None:
    # Two nested choices that a `{` does not settle, at every level: each open value takes three places.
    schema = compile_schema(
        {
            "$defs": {
                "n": {
                    "anyOf": [
                        {"required": ["x"]},
                        {"anyOf": [{"required": ["y"]}, {"properties": {"k": {"$ref": "#/$defs/n"}}}]},
                    ]
                }
            },
            "$ref": "#/$defs/n",
        }
    )
    document = b'{"k":{"k":{}}}'
    for bound in range(1, 9):
        said = same_for_every_cut(schema, document, limits=StreamLimits(max_stack=bound))
        _refused(said, StreamCode.GRAMMAR, (0, 0, 0, 5, 5, 5, 10, 10, 10)[bound])
        assert "max_stack" in said.message  # type: ignore[union-attr]
    assert isinstance(same_for_every_cut(schema, document, limits=StreamLimits(max_stack=9)), Accepted)


def test_more_alternatives_than_are_tracked_refuse_nothing_early() -> None:
    many = [{"properties": {"k": {"const": number}}, "required": ["k"]} for number in range(20)]
    schema = compile_schema({"anyOf": many})
    tracked = outcome(schema, [b'{"k":20}'])
    _refused(tracked, StreamCode.GRAMMAR, 7)
    untracked = outcome(schema, [b'{"k":20}'], limits=StreamLimits(max_alternatives=10))
    assert isinstance(untracked, Refused)
    assert untracked.code is StreamCode.SEMANTIC
    assert isinstance(outcome(schema, [b'{"k":19}'], limits=StreamLimits(max_alternatives=10)), Accepted)


def test_alternatives_that_double_at_every_step_cost_no_more_than_the_bound() -> None:
    doubling: dict[str, Any] = {"$defs": {"d30": {"required": ["x"]}}, "items": {"$ref": "#/$defs/d0"}}
    for level in range(30):
        inner = {"$ref": f"#/$defs/d{level + 1}"}
        doubling["$defs"][f"d{level}"] = {"anyOf": [inner, {**inner, "minProperties": 1}]}
    decoder = StreamDecoder(compile_schema(doubling))
    assert isinstance(decoder.push(b"[" + b"{}," * 1000 + b"{}"), Incomplete)
    assert decoder.grammar_work < 100_000


def test_a_megabyte_of_file_passes_for_a_call() -> None:
    schema = compile_schema(
        {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string", "maxLength": 2_000_000}},
            "required": ["path", "content"],
            "additionalProperties": False,
        }
    )
    content = 'def f(x):\n    return "é" + x\n' * 36_000
    document = json.dumps({"path": "a.py", "content": content}, ensure_ascii=False).encode()
    assert len(document) > 1_000_000
    limits = StreamLimits.for_calls()
    said = outcome(schema, (document[at : at + 1000] for at in range(0, len(document), 1000)), limits=limits)
    assert isinstance(said, Accepted)
    assert said.value["content"] == content
    many = json.dumps({"path": "a", "content": "", "x": ["s"] * 50_000}).encode()
    assert isinstance(outcome(compile_schema(True), [many], limits=limits), Accepted)
    _refused(outcome(ANY, [b"[" * 33], limits=limits), StreamCode.DEPTH, 32)


HOSTILE = [b'{"k":"' + b"\\ud800" * 9000, b"[" + b"1," * 30_000, b"9" * 60_000, b'{"' + b"x" * 60_000 + b'":[}']


@pytest.mark.parametrize("document", HOSTILE)
def test_hostile_text_leaves_no_exception(document: bytes) -> None:
    schema = compile_schema({"properties": {"k": {"maxLength": 3}}, "items": {"maximum": 5}, "maximum": 5})
    for pieces in ([document], [document[at : at + 7] for at in range(0, len(document), 7)]):
        said = outcome(schema, pieces)
        assert isinstance(said, Refused)
        assert len(said.message) < 500
