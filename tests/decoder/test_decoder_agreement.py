"""The stream agrees with the whole-document decoder: on generated schemas, hostile documents, every cut.

The oracle is `CompiledSchema.decode`, which shares nothing with the machine: a strict parse and jsonschema-rs or
pydantic. The planted faults show that this file would notice a machine that refuses too much, and that one that admits
too much still authorises nothing.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from decoder_documents import same_for_every_cut, spellings
from decoder_schemas import BYTE_MUTATIONS, VALUE_MUTATIONS, schemas, value_for
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_args.decoder import Accepted, AdmissionError, CompiledSchema, Refused, StreamCode, compile_schema
from gateway_args.decoder.grammar import Grammar
from gateway_args.decoder.outcomes import Refusal

if TYPE_CHECKING:
    import random


def agree(schema: CompiledSchema[Any], document: bytes, framing: Any = "json") -> str:
    """Checks that the stream says what the whole decoder says; gives the code, or "accepted"."""
    said = same_for_every_cut(schema, document, every_split=len(document) <= 100, framing=framing)
    try:
        value = schema.decode(document, framing)
    except AdmissionError:
        assert isinstance(said, Refused), (document, "the whole decoder refuses it")
        return said.code
    assert isinstance(said, Accepted), (document, said, "the whole decoder accepts it")
    assert said.value == value
    return "accepted"


def check(raw: Any, schema: CompiledSchema[Any], rnd: random.Random, counts: dict[str, int]) -> None:
    value = value_for(raw, raw, rnd)
    for change_value in VALUE_MUTATIONS:
        changed = copy.deepcopy(value)
        change_value(changed, rnd)
        for document in rnd.sample(list(spellings(changed)), 2):
            for change_bytes in (BYTE_MUTATIONS[0], rnd.choice(BYTE_MUTATIONS[1:])):
                said = agree(schema, change_bytes(document, rnd))
                counts[said] = counts.get(said, 0) + 1


def test_streamed_and_whole_agree_on_generated_schemas_and_hostile_documents() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=100)
    @given(schemas, st.randoms(use_true_random=False))
    def agree_on_all(raw: Any, rnd: random.Random) -> None:
        check(raw, compile_schema(raw), rnd, counts)

    agree_on_all()
    # The generated documents were of every kind.
    assert counts["accepted"] > 200
    assert counts[StreamCode.GRAMMAR] > 200
    assert counts[StreamCode.SEMANTIC] > 20
    wanted = {StreamCode.TRAILING, StreamCode.TRUNCATED, StreamCode.UTF8, StreamCode.STRING, StreamCode.START}
    assert wanted <= counts.keys()


@given(schemas, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_streamed_and_whole_agree_in_canonical_framing(raw: Any, rnd: random.Random) -> None:
    schema = compile_schema(raw)
    value = value_for(raw, raw, rnd)
    for change_value in VALUE_MUTATIONS:
        changed = copy.deepcopy(value)
        change_value(changed, rnd)
        compact = json.dumps(changed, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        agree(schema, compact, "canonical")
        agree(schema, json.dumps(changed).encode() + b"\n", "canonical")
        agree(schema, rnd.choice(BYTE_MUTATIONS)(compact, rnd), "canonical")


RECORD = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["alpha", "beta"]},
        "size": {"type": "integer", "minimum": 0, "maximum": 9},
        "name": {"type": "string", "maxLength": 4},
    },
    "required": ["kind", "size"],
    "additionalProperties": False,
}
VALID = b'{"kind":"alpha","size":3,"name":"abcd"}'
HOSTILE = {
    "unknown field": b'{"kind":"alpha","size":3,"other":1}',
    "missing field": b'{"kind":"alpha"}',
    "duplicate field": b'{"kind":"alpha","size":3,"size":3}',
    "wrong scalar type": b'{"kind":"alpha","size":"3"}',
    "out of range": b'{"kind":"alpha","size":10}',
    "oversized text": b'{"kind":"alpha","size":3,"name":"abcde"}',
    "trailing data": VALID + b"{}",
    "unknown variant": b'{"kind":"gamma","size":3}',
    "corrupted UTF-8": b'{"kind":"alpha","size":3,"name":"\xc3("}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_hostile_mutation_is_refused_before_the_end(name: str) -> None:
    schema = compile_schema(RECORD)
    assert agree(schema, VALID) == "accepted"
    assert agree(schema, HOSTILE[name]) not in ("accepted", StreamCode.SEMANTIC)


# Planted faults: each is put in place of one method of the grammar.


def _kills_nothing(self: Grammar, branch: Any, why: str, ahead: int = 0) -> None:
    """Admits everything."""


def _kills_the_document(self: Grammar, branch: Any, why: str, ahead: int = 0) -> None:
    """Refuses a document when a single alternative of it fails."""
    raise Refusal(StreamCode.GRAMMAR, why)


def _forgets_escapes(self: Grammar, run: bytes, *, escaped: bool = False) -> None:
    """Spells escaped characters as nothing, so keys and texts come out shorter."""
    if not escaped:
        ORIGINAL_SPELL(self, run)


def _counts_bytes(self: Grammar, run: bytes, *, escaped: bool = False) -> None:
    """Measures a string in bytes."""
    self.chars += len(run) - len(run.decode("utf-8", "ignore"))
    ORIGINAL_SPELL(self, run, escaped=escaped)


ORIGINAL_SPELL = Grammar.spell
plantable = pytest.mark.skipif(
    isinstance(Grammar.kill, type(list.append)), reason="the methods of a compiled class cannot be replaced"
)
UNION = compile_schema({"anyOf": [{"properties": {"é": {"maxLength": 2}}, "required": ["é"]}, RECORD]})
UNION_DOCUMENTS = [VALID, '{"é":"éé"}'.encode(), b'{"\\u00e9":"\\u00e9\\ud83d\\ude00"}', *HOSTILE.values()]


@plantable
def test_a_grammar_that_admits_too_much_authorises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = [agree(UNION, document) for document in UNION_DOCUMENTS]
    monkeypatch.setattr(Grammar, "kill", _kills_nothing)
    faulty = [agree(UNION, document) for document in UNION_DOCUMENTS]
    assert [said == "accepted" for said in faulty] == [said == "accepted" for said in sound]
    assert faulty.count(StreamCode.SEMANTIC) > sound.count(StreamCode.SEMANTIC), "the fault did nothing"


@plantable
@pytest.mark.parametrize(
    ("method", "fault"),
    [("kill", _kills_the_document), ("spell", _forgets_escapes), ("spell", _counts_bytes)],
)
def test_a_grammar_that_refuses_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch, method: str, fault: Any) -> None:
    _agree_on_all(UNION_DOCUMENTS)
    monkeypatch.setattr(Grammar, method, fault)
    with pytest.raises(AssertionError, match=r"the whole decoder accepts it|the outcome depends on the cuts"):
        _agree_on_all(UNION_DOCUMENTS)


def _agree_on_all(documents: list[bytes]) -> None:
    for document in documents:
        agree(UNION, document)
