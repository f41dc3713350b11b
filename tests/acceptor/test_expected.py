"""`expected()` says what may come next: exactly the characters that it allows are accepted."""

from __future__ import annotations

import pytest
from acceptor_texts import texts

from gateway_args.strict_json.acceptor import Acceptor, Expected

PROBES = [*map(chr, range(128)), "\x80", "\u00a0", "é", "\u2028", "世", "\ufeff", "\uff10", "\ud800", "🌤"]


def differ(acceptor: Acceptor) -> list[str]:
    """The probes on which what was announced and what happens are not the same."""
    expected = acceptor.expected()
    return [probe for probe in PROBES if expected.allows(probe) != (acceptor.copy().feed(probe) == 1)]


def test_exactly_the_characters_that_expected_allows_are_accepted_at_every_place() -> None:
    seen = set()
    for text in texts(1_500, seed=4):
        acceptor = Acceptor(3)  # shallow, so that the places where no bracket fits are among them
        for character in ("", *text):
            acceptor.feed(character)
            place, brackets, _, _ = acceptor.state
            key = (place, brackets[-1:], len(brackets))
            if key not in seen:
                seen.add(key)
                assert differ(acceptor) == [], (text, acceptor)
    assert {place for place, _, _ in seen} == set(EVERY_PLACE)


EVERY_PLACE = [
    *("value", "first item", "after item", "first key", "next key", "colon", "after member", "whole", "refused"),
    *("string", "string \\", "string \\u", "string \\u0", "string \\u00", "string \\u000"),
    *("key", "key \\", "key \\u", "key \\u0", "key \\u00", "key \\u000"),
    *("-", "0", "1", "0.", "0.0", "0e", "0e+", "0e0"),
    *("t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[1",
            Expected.ZERO
            | Expected.DIGIT
            | Expected.POINT
            | Expected.EXPONENT
            | Expected.WHITE_SPACE
            | Expected.COMMA
            | Expected.ARRAY_CLOSE,
        ),
        ("1", Expected.ZERO | Expected.DIGIT | Expected.POINT | Expected.EXPONENT),
        ("{", Expected.WHITE_SPACE | Expected.QUOTE | Expected.OBJECT_CLOSE),
        ('{"a": 1,', Expected.WHITE_SPACE | Expected.QUOTE),
        ('"', Expected.TEXT | Expected.QUOTE | Expected.BACKSLASH),
        ('"\\u00', Expected.HEX),
        ("tru", Expected.E),
        ("1e", Expected.SIGN | Expected.ZERO | Expected.DIGIT),
        ("true", Expected(0)),
        ("x", Expected(0)),
    ],
)
def test_expected_names_the_kinds_of_characters(text: str, expected: Expected) -> None:
    acceptor = Acceptor()
    acceptor.feed(text)
    assert acceptor.expected() == expected


def test_no_bracket_is_expected_where_none_fits() -> None:
    acceptor = Acceptor(1)
    acceptor.feed("[")
    brackets = Expected.OBJECT_OPEN | Expected.ARRAY_OPEN
    assert not acceptor.expected() & brackets
    acceptor.feed("]")
    assert Acceptor(1).expected() & brackets == brackets
