"""llguidance with RFC 8259 written out as a grammar, as an independent judge of prefixes."""

from __future__ import annotations

from acceptor_texts import texts
from llguidance import LLMatcher, LLTokenizer, grammar_from

from gateway_args.strict_json.acceptor import Acceptor, scan

GRAMMAR = r"""
start: WS? value
value: obj | arr | STR | NUM | "true" | "false" | "null"
obj: "{" WS? "}" | "{" WS? pair (WS? "," WS? pair)* WS? "}"
pair: STR WS? ":" WS? value
arr: "[" WS? "]" | "[" WS? value (WS? "," WS? value)* WS? "]"
STR: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUM: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
WS: /[ \t\n\r]+/
"""
TOKENIZER = LLTokenizer("byte")
COMPILED = grammar_from("lark", GRAMMAR)


def accepted(text: str) -> int:
    """How many characters of the text the grammar accepts before the first that it refuses."""
    matcher = LLMatcher(TOKENIZER, COMPILED)
    data = text.encode()
    return len(data[: matcher.try_consume_tokens(list(data))].decode("utf-8", "ignore"))


def test_the_oracle_itself_refuses_where_a_reader_of_the_rfc_would() -> None:
    table = {"truex": 4, "nope": 1, '{"a": nope}': 7, "[1 2]": 3, "01": 1, '{"a": 1,}': 8, '"a\n"': 2, '"é"x': 3}
    assert {text: accepted(text) for text in table} == table


def test_thousands_of_texts_are_refused_at_the_same_character(full: bool) -> None:
    compared = refused = 0
    count = 6_000 if full else 1_500
    for text in texts(count, seed=1):
        ours, theirs = scan(text).valid, accepted(text)
        if ours != theirs and text[theirs] < " ":
            # The one decided difference: a raw control character inside a string is content.
            inside = Acceptor()
            inside.feed(text, 0, theirs)
            assert inside.in_string, text
            continue
        assert ours == theirs, text
        compared += 1
        refused += theirs < len(text)
    assert compared > count * 5 // 6
    assert refused > count // 3


def test_what_the_acceptor_expects_next_is_what_the_grammar_allows_next() -> None:
    for text in texts(200, seed=2):
        stop = min(scan(text).valid, accepted(text))
        acceptor, matcher = Acceptor(), LLMatcher(TOKENIZER, COMPILED)
        for character in text[:stop]:
            acceptor.feed(character)
            assert matcher.consume_tokens(list(character.encode()))
            if matcher.is_stopped():  # a whole value; nothing may follow
                assert not acceptor.expected()
                continue
            mask = matcher.compute_bitmask()
            theirs = {code for code in range(128) if mask[code >> 3] >> (code & 7) & 1}
            ours = {code for code in range(128) if acceptor.expected().allows(chr(code))}
            if acceptor.in_string and not acceptor.in_escape:
                ours -= set(range(32))
            assert ours == theirs, text
