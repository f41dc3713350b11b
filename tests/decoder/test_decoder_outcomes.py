"""The three outcomes and the thirteen codes: what each is said for, where, and that it stays."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from decoder_documents import outcome, same_for_every_cut

from gateway_args.decoder import (
    Accepted,
    Expected,
    Incomplete,
    Refused,
    StreamCode,
    StreamDecoder,
    StreamLimits,
    compile_schema,
)

SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["alpha", "beta"]}, "n": {"type": "integer"}, "s": {"type": "string"}},
    "required": ["kind"],
}
COMPILED = compile_schema(SCHEMA)
VALID = '{"kind": "alpha", "n": -12, "s": "é\\ud83d\\ude00 \\n\\"😀"}'.encode()

# Code, framing, document, the byte that cannot be. The documents are as short as the code allows.
TABLE: list[tuple[StreamCode, str, bytes, int]] = [
    (StreamCode.START, "json", b" [", 1),
    (StreamCode.START, "json", b"x", 0),
    (StreamCode.START, "json", b"\xef\xbb\xbf{", 0),
    (StreamCode.START, "canonical", b" {", 0),
    (StreamCode.WHITESPACE, "json", b'{"kind"\x01', 7),
    (StreamCode.WHITESPACE, "json", b'{"n":1\x0b', 6),
    (StreamCode.WHITESPACE, "canonical", b'{"kind": ', 8),
    (StreamCode.WHITESPACE, "canonical", b'{"kind":"beta"\n', 14),
    (StreamCode.STRING, "json", b'{"s":"a\n', 7),
    (StreamCode.STRING, "json", b'{"s":"\\x', 7),
    (StreamCode.STRING, "json", b'{"s":"\\u12g', 10),
    (StreamCode.STRING, "json", b"{\"\\'", 3),
    (StreamCode.BRACKET, "json", b'{"kind":"beta"]', 14),
    (StreamCode.BRACKET, "json", b'{"kind":"beta","x":[1}', 21),
    (StreamCode.UTF8, "json", b'{"s":"\xff', 6),
    (StreamCode.UTF8, "json", b'{"s":"\xc0\xaf', 6),
    (StreamCode.UTF8, "json", b'{"s":"\xe2\x82"', 8),
    (StreamCode.UTF8, "json", b'{"s":"\xed\xa0\x80"', 7),
    (StreamCode.UTF8, "json", b'{"n":\xff', 5),
    (StreamCode.GRAMMAR, "json", b'{"n":"', 5),
    (StreamCode.GRAMMAR, "json", b'{"n":01', 6),
    (StreamCode.GRAMMAR, "json", b'{"n":1.}', 7),
    (StreamCode.GRAMMAR, "json", b'{"n":1,}', 7),
    (StreamCode.GRAMMAR, "json", b'{"x":tru ', 8),
    (StreamCode.GRAMMAR, "json", b'{"x" 1', 5),
    (StreamCode.TRAILING, "json", b'{"kind":"beta"} \n,', 17),
    (StreamCode.TRAILING, "json", b'{"kind":"beta"}\x00', 15),
    (StreamCode.TRAILING, "canonical", b'{"kind":"beta"} ', 15),
    (StreamCode.TRAILING, "canonical", b'{"kind":"beta"}\n\n', 16),
    (StreamCode.TRUNCATED, "json", b'{"kind":"beta"', 14),
    (StreamCode.TRUNCATED, "json", b"", 0),
    (StreamCode.TRUNCATED, "canonical", b'{"kind":"beta"}', 15),
    (StreamCode.SEMANTIC, "canonical", b'{"kind":"b\\u0065ta"}\n', 21),
]


@pytest.mark.parametrize(("code", "framing", "document", "at_byte"), TABLE)
def test_each_refusal_has_its_code_and_names_its_byte_under_every_cut(
    code: StreamCode, framing: Any, document: bytes, at_byte: int
) -> None:
    said = same_for_every_cut(COMPILED, document, framing=framing)
    assert isinstance(said, Refused)
    assert (said.code, said.at_byte) == (code, at_byte)
    assert said.message


def test_the_codes_are_the_thirteen_and_none_can_be_taken_for_incomplete() -> None:
    assert sorted(StreamCode) == sorted(
        f"STREAM-{name}"
        for name in [
            "START",
            "WHITESPACE",
            "STRING",
            "BRACKET",
            "UTF8",
            "DEPTH",
            "TOKENS",
            "BYTES",
            "GRAMMAR",
            "TRAILING",
            "TRUNCATED",
            "CANCELLED",
            "SEMANTIC",
        ]
    )
    assert not any("incomplete" in code.lower() for code in StreamCode)
    assert fields(Incomplete) == ()
    bounded = {StreamCode.DEPTH, StreamCode.TOKENS, StreamCode.BYTES, StreamCode.CANCELLED}
    assert {row[0] for row in TABLE} | bounded == set(StreamCode)


@pytest.mark.parametrize("framing", ["json", "canonical"])
def test_every_strict_prefix_of_a_valid_document_is_incomplete_and_only_finish_accepts(framing: Any) -> None:
    document = VALID if framing == "json" else '{"kind":"alpha","n":-12,"s":"é😀 \\n\\"","z":[1.5,{}]}\n'.encode()
    for end in range(len(document)):
        decoder = StreamDecoder(COMPILED, framing=framing)
        assert isinstance(decoder.push(document[:end]), Incomplete)
        assert isinstance(decoder.push(document[end:]), Incomplete)
        assert isinstance(decoder.finish(), Accepted)
        cut = outcome(COMPILED, [document[:end]], framing=framing)
        assert isinstance(cut, Refused)
        assert (cut.code, cut.at_byte) == (StreamCode.TRUNCATED, end)


def test_a_refusal_stays_and_keeps_nothing_that_comes_after() -> None:
    decoder = StreamDecoder(COMPILED)
    refused = decoder.push(b'{"n":"x')
    assert isinstance(refused, Refused)
    assert decoder.push(b"1}") is refused
    assert decoder.cancel("late") is refused
    assert decoder.truncate("late") is refused
    assert decoder.finish() is refused
    assert decoder.expected_next == frozenset()


def test_cancelling_takes_no_acceptance_back_and_closes_what_is_open() -> None:
    decoder = StreamDecoder(COMPILED)
    decoder.push(VALID)
    accepted = decoder.finish()
    assert isinstance(accepted, Accepted)
    assert decoder.cancel("too late") is accepted
    assert decoder.push(b"more") is accepted
    other = StreamDecoder(COMPILED)
    other.push(VALID)
    cancelled = other.cancel("the client left")
    assert cancelled == Refused(StreamCode.CANCELLED, "the client left", len(VALID))
    assert other.finish() is cancelled


def test_a_stream_that_just_stopped_is_truncated_however_whole_it_looks() -> None:
    decoder = StreamDecoder(COMPILED)
    decoder.push(VALID)
    said = decoder.truncate("no end came")
    assert isinstance(said, Refused)
    assert said.code is StreamCode.TRUNCATED
    assert decoder.finish() is said


def test_a_semantic_refusal_carries_the_whole_document_decoders_rule_and_path() -> None:
    schema = compile_schema({"properties": {"a": {"items": {"multipleOf": 3}}}})
    said = outcome(schema, [b'{"a":[3,4]}'])
    assert isinstance(said, Refused)
    assert (said.code, said.rule, said.path) == (StreamCode.SEMANTIC, "multipleOf", "$.a[1]")
    half = outcome(schema, [b'"\\ud800"'])
    assert isinstance(half, Refused)
    assert half.rule == "surrogate"
    wide = outcome(schema, [b"1e400"])
    assert isinstance(wide, Refused)
    assert wide.rule == "number"
    long = outcome(schema, [b"1" * 5000])
    assert isinstance(long, Refused)
    assert long.rule == "number"


def test_text_is_pushed_as_its_utf_8_bytes_and_half_a_pair_is_none() -> None:
    decoder = StreamDecoder(COMPILED)
    text = VALID.decode()
    for character in text:
        assert isinstance(decoder.push(character), Incomplete)
    assert decoder.offset == len(VALID)
    assert isinstance(decoder.finish(), Accepted)
    said = StreamDecoder(COMPILED).push('{"s":"\ud83d')
    assert isinstance(said, Refused)
    assert said.code is StreamCode.UTF8


def test_the_root_may_be_a_scalar_where_the_schema_admits_one() -> None:
    schema = compile_schema({"type": ["number", "null"]})
    for document, value in ((b" 12 ", 12), (b"-0.5e1", -5.0), (b"null", None)):
        said = same_for_every_cut(schema, document)
        assert isinstance(said, Accepted)
        assert said.value == value
    assert isinstance(outcome(schema, [b"12\n"], framing="canonical"), Accepted)
    open_number = outcome(schema, [b"1."])
    assert isinstance(open_number, Refused)
    assert open_number.code is StreamCode.TRUNCATED


def test_what_may_come_next_names_every_byte_of_a_valid_document() -> None:
    kinds = {
        **dict.fromkeys(b"-0123456789", Expected.NUMBER),
        ord("{"): Expected.OBJECT,
        ord("["): Expected.ARRAY,
        ord('"'): Expected.STRING,
        ord("t"): Expected.TRUE,
        ord("f"): Expected.FALSE,
        ord("n"): Expected.NULL,
        ord(":"): Expected.COLON,
        ord(","): Expected.COMMA,
        ord("}"): Expected.OBJECT_END,
        ord("]"): Expected.ARRAY_END,
        ord("\n"): Expected.LINE_FEED,
    }
    inside = {Expected.TEXT, Expected.DIGITS, Expected.LITERAL}
    schema = compile_schema(
        {
            "properties": {
                "l": {"type": "array", "maxItems": 2, "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}},
                "o": {"type": "object", "maxProperties": 0},
            },
            "required": ["l"],
            "additionalProperties": False,
        }
    )
    decoder = StreamDecoder(schema, framing="canonical")
    seen = []
    for byte in b'{"l":[-1.5,null],"o":{}}\n':
        expected = decoder.expected_next
        category = Expected.KEY if byte == ord('"') and Expected.KEY in expected else kinds.get(byte)
        assert expected & inside or category in expected, (bytes([byte]), expected)
        seen.append(expected)
        assert isinstance(decoder.push(bytes([byte])), Incomplete)
    assert {Expected.OBJECT, Expected.STRING, Expected.NULL} <= seen[0], "the schema names no type"
    assert seen[5] == {Expected.ARRAY}
    assert seen[6] == {Expected.NUMBER, Expected.NULL, Expected.ARRAY_END}
    assert seen[10] == {Expected.DIGITS, Expected.COMMA, Expected.ARRAY_END}
    assert seen[15] == {Expected.ARRAY_END}, "the list is full"
    assert seen[16] == {Expected.COMMA, Expected.OBJECT_END}
    assert seen[22] == {Expected.OBJECT_END}, "no key is admitted"
    assert seen[23] == {Expected.OBJECT_END}, "both properties are there"
    assert seen[24] == {Expected.LINE_FEED}
    assert decoder.expected_next == {Expected.NOTHING}


def test_what_may_come_next_is_what_some_alternative_admits() -> None:
    schema = compile_schema(
        {
            "anyOf": [
                {"properties": {"kind": {"const": "a"}, "v": {"type": "array"}}, "required": ["kind", "v"]},
                {"properties": {"kind": {"const": "b"}, "v": {"type": "null"}}, "required": ["kind"]},
            ],
            "type": "object",
        }
    )
    decoder = StreamDecoder(schema)
    assert decoder.expected_next == {Expected.OBJECT}
    decoder.push(b'{"v":')
    assert decoder.expected_next == {Expected.ARRAY, Expected.NULL}
    other = StreamDecoder(schema)
    other.push(b'{"kind":"a"')
    assert other.expected_next == {Expected.COMMA}, "the first alternative still needs v, the second is dead"
    other.push(b',"v":')
    assert other.expected_next == {Expected.ARRAY}
    open_number = StreamDecoder(compile_schema({"type": "number"}))
    open_number.push(b"-")
    assert open_number.expected_next == {Expected.DIGITS}
    open_number.push(b"1")
    assert open_number.expected_next == {Expected.DIGITS, Expected.NOTHING}


@pytest.mark.parametrize("most", [1, 2, 9])
@pytest.mark.parametrize("text", ["\\ud83dx", "\\ud83d\\n", "\\ud83d\\ud83d", "\\ud83d\u00e9", "\\udc00\\ud83d"])
def test_half_a_surrogate_pair_is_one_character_until_the_end_refuses_it(text: str, most: int) -> None:
    schema = compile_schema({"items": {"maxLength": most}, "additionalProperties": {"maxLength": 0}})
    said = same_for_every_cut(schema, f'["{text}"]'.encode())
    assert isinstance(said, Refused)
    assert said.code is (StreamCode.GRAMMAR if most < 2 else StreamCode.SEMANTIC)
    key = same_for_every_cut(schema, f'{{"{text}":""}}'.encode())
    assert isinstance(key, Refused)
    assert key.rule == "surrogate"


def test_looking_at_what_may_come_next_changes_nothing() -> None:
    looked = StreamDecoder(COMPILED)
    for byte in VALID:
        assert looked.expected_next
        looked.push(bytes([byte]))
    plain = StreamDecoder(COMPILED)
    plain.push(VALID)
    assert looked.grammar_work == plain.grammar_work
    assert looked.finish() == plain.finish()


def test_the_codes_in_the_docs_are_these() -> None:
    text = (Path(__file__).parents[2] / "docs" / "stream-decoder.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(STREAM-\w+)` \|", text, re.MULTILINE) == list(StreamCode)


def test_what_one_stream_saw_changes_nothing_for_the_next() -> None:
    # Each definition stands in the other's place: where such a cycle is cut must not depend on what came first.
    raw = {
        "$defs": {
            "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"required": ["x"]}]},
            "b": {"allOf": [{"$ref": "#/$defs/a"}, {"maxProperties": 1}]},
        },
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}},
    }
    documents = [b'{"a":{"y":1,"z":1}}', b'{"b":{"y":1,"z":1}}', b'{"a":{},"b":{}}', b'{"b":[],"a":{"x":1}}']
    fresh = [repr(outcome(compile_schema(raw), [document])) for document in documents]
    for order in (documents, documents[::-1]):
        shared = compile_schema(raw)
        said = {document: repr(outcome(shared, [document])) for document in order}
        assert [said[document] for document in documents] == fresh


def test_a_framing_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="framing"):
        StreamDecoder(COMPILED, framing="xml")  # type: ignore[arg-type]


def test_limits_are_whole_numbers_and_the_defaults_are_the_seeds() -> None:
    limits = StreamLimits()
    assert (limits.max_bytes, limits.max_depth, limits.max_strings) == (65_536, 64, 8_192)
    assert (limits.max_work, limits.max_stack) == (65_536 * 64, 256)
    assert StreamLimits.for_calls().max_bytes == 16 << 20
    for wrong in ({"max_bytes": -1}, {"max_depth": True}, {"max_depth": 256}, {"max_strings": 1.5}):
        with pytest.raises(ValueError, match="StreamLimits"):
            StreamLimits(**wrong)  # type: ignore[arg-type]
