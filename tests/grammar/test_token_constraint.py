"""Token by token: masks are exact, walks end in JSON, and steps are taken back."""

from __future__ import annotations

import itertools
import random
import re

import jsonschema_rs
import orjson
import pytest
from llguidance import LLMatcher, LLTokenizer

from gateway_args import Acceptor, Tools, formats, grammar
from gateway_args.grammar import TokenConstraint
from gateway_args.tokens import vocab

ENCODING = vocab.load("embedded")
BYTES = {id: data for data, id in ENCODING._mergeable_ranks.items()}
CLOSERS = (b'"', b"}", b"]", b"0", b":", b"rue", b"alse", b"ull", b"r", b"u", b"e", b"l")

# RFC 8259 written out, strictly: escapes of surrogates in pairs, numbers that a double holds, no white space behind.
STRICT = r"""
start: WS? value
value: obj | arr | STR | NUM | "true" | "false" | "null"
obj: "{" WS? "}" | "{" WS? pair (WS? "," WS? pair)* WS? "}"
pair: STR WS? ":" WS? value
arr: "[" WS? "]" | "[" WS? value (WS? "," WS? value)* WS? "]"
STR: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|u[dD][0-7][0-9a-fA-F]{2}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*"/
NUM: /-?(0|[1-9][0-9]{0,199})(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?/
WS: /[ \t\n\r]+/
"""  # noqa: E501

# The widest walks need a text in which every place of a JSON value occurs.
PLACES = (
    r'{"a": -12.5e+30, "b\n\u00e9\ud83d\ude00é😀": [true, false, null, "", {}, [[]], 0, 10.25, 7E-1], "": {"c": "x"}}'
)


def walk(constraint: TokenConstraint, rng: random.Random, steps: int) -> bytes:
    data = b""
    for step in itertools.count():
        if constraint.is_complete and (step >= steps or not constraint.allowed()):
            return data
        allowed = constraint.allowed()
        assert allowed, f"a dead end after {data!r}"
        closing = [id for id in allowed if BYTES[id] in CLOSERS]
        id = rng.choice(closing if step >= steps and closing else allowed)
        constraint.advance(id)
        data += BYTES[id]
        assert step < steps + 400, f"no end was found: {data!r}"
    raise AssertionError


def test_walks_of_the_acceptor_end_in_json() -> None:
    rng = random.Random(5)
    for _ in range(150):
        data = walk(TokenConstraint(ENCODING, Acceptor()), rng, rng.randrange(1, 80))
        orjson.loads(data)


@pytest.mark.parametrize("at", range(0, len(PLACES.encode()), 2))
def test_a_mask_holds_every_token_that_json_can_go_on_with_and_no_other(at: int) -> None:
    before = PLACES.encode()[:at]
    constraint = TokenConstraint(ENCODING, Acceptor())
    oracle = LLMatcher(LLTokenizer("byte"), STRICT)
    for byte in before:
        constraint.advance(ENCODING.encode_single_token(bytes([byte])))
    assert oracle.try_consume_tokens(list(before)) == len(before)
    allowed = set(constraint.allowed())
    for id, data in BYTES.items():
        assert (id in allowed) == (oracle.validate_tokens(list(data)) == len(data)), (before, data)
    assert not oracle.is_error()


def test_a_mask_is_the_acceptors_where_it_is_as_strict() -> None:
    """What the mask allows the acceptor takes; what it does not the acceptor refuses, where both are as strict."""
    rng = random.Random(9)
    lenient = re.compile(rb"[\x00-\x1f]|\\u|[0-9]{3}|[\x80-\xff]")
    for _ in range(25):
        constraint, acceptor, data = TokenConstraint(ENCODING, Acceptor()), Acceptor(), b""
        for _ in range(rng.randrange(30)):
            allowed = [id for id in constraint.allowed() if max(BYTES[id]) < 0x80]
            if not allowed:
                break
            id = rng.choice(allowed)
            constraint.advance(id)
            data += BYTES[id]
            assert acceptor.feed(BYTES[id].decode()) == len(BYTES[id]), data
        inside = set(constraint.allowed())
        for id, token in BYTES.items():
            if id not in inside and not lenient.search(token) and not lenient.search(data[-8:]):
                assert acceptor.copy().feed(token.decode()) < len(token), (data, token)


def test_the_acceptors_own_depth_and_place_are_kept() -> None:
    acceptor = Acceptor(max_depth=2)
    acceptor.feed('{"a": [')
    constraint = TokenConstraint(ENCODING, acceptor)
    assert ENCODING.encode_single_token(b"[") not in constraint.allowed()
    assert ENCODING.encode_single_token(b"]") in constraint.allowed()
    for data in (b"]", b"}"):
        constraint.advance(ENCODING.encode_single_token(data))
    assert constraint.is_complete
    assert constraint.allowed() == []
    assert acceptor.valid == 7  # the caller's is not moved


def test_steps_are_taken_back() -> None:
    constraint = TokenConstraint(ENCODING, Acceptor())
    first = constraint.mask()
    masks = []
    for id in ENCODING.encode_ordinary('{"query": "tide", "n": [1, 2]'):
        masks.append(constraint.mask())
        constraint.advance(id)
    constraint.rollback(3)
    assert constraint.mask() == masks[-3]
    constraint.rollback(len(masks) - 3)
    assert constraint.mask() == first
    with pytest.raises(ValueError, match="rollback: 1 tokens, but 0 were taken"):
        constraint.rollback(1)


def test_a_token_that_may_not_come_changes_nothing() -> None:
    constraint = TokenConstraint(ENCODING, Acceptor())
    before = constraint.mask()
    with pytest.raises(ValueError, match="may not come here"):
        constraint.advance(ENCODING.encode_single_token(b"}"))
    with pytest.raises(ValueError, match="may not come here"):
        constraint.advance(10**9)
    assert constraint.mask() == before


def test_the_end_is_allowed_where_the_value_is_complete() -> None:
    end = max(ENCODING._special_tokens.values())
    for constraint in (
        TokenConstraint(ENCODING, Acceptor(), eos=end),
        TokenConstraint(ENCODING, {"type": "integer"}, eos=end),
    ):
        assert end not in constraint.allowed()
        constraint.advance(ENCODING.encode_single_token(b"7"))
        assert constraint.is_complete
        assert end in constraint.allowed()
        constraint.advance(end)


SCHEMA = {
    "type": "object",
    "properties": {"port": {"enum": ["Kiel", "Bari"]}, "day": {"type": "integer", "minimum": 1, "maximum": 31}},
    "required": ["port", "day"],
    "additionalProperties": False,
}


def test_walks_of_a_schema_are_valid() -> None:
    rng = random.Random(2)
    constraint = TokenConstraint(ENCODING, SCHEMA)
    assert constraint.unenforced == ()
    for _ in range(30):
        data = walk(TokenConstraint(ENCODING, SCHEMA), rng, rng.randrange(1, 30))
        assert jsonschema_rs.is_valid(SCHEMA, orjson.loads(data))


def test_a_schema_says_what_is_not_enforced() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    assert TokenConstraint(ENCODING, schema).unenforced == ("schema: uniqueItems",)


def test_a_grammar_guides_a_call() -> None:
    tools = Tools.of([{"type": "function", "function": {"name": "add", "parameters": SCHEMA}}])
    constraint = TokenConstraint(ENCODING, grammar.lark(formats.load("hermes"), tools, choice="required"))
    for id in ENCODING.encode_ordinary('<tool_call>\n{"name": "add", "arguments": {"port": "Kiel", "day": 3}}\n'):
        assert not constraint.is_complete
        constraint.advance(id)
    allowed = {BYTES[id] for id in constraint.allowed()}
    assert b"<" in allowed
    assert b"{" not in allowed
    for id in ENCODING.encode_ordinary("</tool_call>"):
        constraint.advance(id)
    assert constraint.is_complete
    constraint.rollback(1)
    assert not constraint.is_complete


def test_what_is_no_constraint_is_refused() -> None:
    with pytest.raises(TypeError, match="expected an Acceptor, a JSON Schema or a LarkGrammar, got 'json'"):
        TokenConstraint(ENCODING, "json")  # type: ignore[arg-type]
    with pytest.raises(grammar.GrammarError, match="llguidance does not take the grammar"):
        TokenConstraint(ENCODING, grammar.LarkGrammar("start: ("))
