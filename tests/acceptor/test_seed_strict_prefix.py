"""The examples of "a strict JSON prefix acceptor keeps the fragment promise", paragraph by paragraph."""

from __future__ import annotations

import pytest

from gateway_args import Acceptor, CallArguments, Malformed, Parser, formats, scan

# "What changes for a client": the fragment that is kept and what is malformed, the same under every cut.
CLIENT = [
    ('{"a": nope}', '{"a": n', "ope}"),
    ('{"a": 1, nope}', '{"a": 1, ', "nope}"),
    ("truex", "true", "x"),
    ('{"a": 1,}', '{"a": 1,', "}"),
]


@pytest.mark.parametrize(("text", "kept", "malformed"), CLIENT)
def test_the_fragments_are_what_some_value_continues_and_the_rest_is_malformed(
    text: str, kept: str, malformed: str
) -> None:
    for cut in range(len(text) + 1):
        parser = Parser(formats.forced("f"))
        events = [*parser.feed(text[:cut]), *parser.feed(text[cut:]), *parser.finish("stop")]
        assert "".join(event.json for event in events if isinstance(event, CallArguments)) == kept
        assert "".join(event.text for event in events if isinstance(event, Malformed)) == malformed
    assert scan(text).valid == len(kept)


# "Solution": how many characters some value continues, and where a whole value ends.


@pytest.mark.parametrize(
    "text",
    ['{"a": [1, -2.5e3, true, false, null, "x\\u00e9\\n"]}', "[]", '"\\ud83d"', "null", " { } ", "[[[]]]"],
)
def test_every_prefix_of_a_whole_value_is_valid_and_only_the_whole_is_complete(text: str) -> None:
    end = len(text.rstrip())
    for size in range(len(text) + 1):
        found = scan(text[:size])
        assert found.valid == min(size, end)
        assert found.complete == (end if size >= end else None)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("[1}", 2),
        ('{"a": 1]', 7),
        ("[1,]", 3),
        ('{"a": 1,}', 8),
        ("01", 1),
        ("-a", 1),
        ("1.e", 2),
        ('"\\x"', 2),
        ('"\\u12g4"', 5),
        ("{a", 1),
        ('{"a" 1', 5),
        ("trux", 3),
        ("falsex", 5),
        ("nope", 1),
        ("[1 2", 3),
        ("{,", 1),
        ("]", 0),
        ("'a'", 0),
        ("\u00a0[", 0),
        ("+1", 0),
    ],
)
def test_the_first_character_that_no_value_continues_ends_the_valid_prefix(text: str, valid: int) -> None:
    assert scan(text).valid == valid
    acceptor = Acceptor()
    assert sum(acceptor.feed(char) for char in text[: valid + 1]) == valid


def test_two_readings_are_deliberate() -> None:
    assert scan("12") == scan("12"), "a number at the end is a prefix"
    assert (scan("12").valid, scan("12").complete) == (2, None), "and never whole, since more digits may come"
    assert (scan("12 ").valid, scan("12 ").complete) == (2, 2)
    assert scan('"a\nb"').complete == 5, "a raw control character is content, as the model wrote it"


def test_nesting_beyond_the_bound_is_refused() -> None:
    assert scan("[" * 32).valid == 32
    assert scan("[" * 33).valid == 32


def test_the_valid_prefix_of_every_cut_agrees_with_the_whole_texts() -> None:
    for text, _, _ in CLIENT:
        for cut in range(len(text) + 1):
            acceptor = Acceptor()
            taken = acceptor.feed(text[:cut])
            if taken == cut:
                acceptor.feed(text[cut:])
            assert acceptor.valid == scan(text).valid
