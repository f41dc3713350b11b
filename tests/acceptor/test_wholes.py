"""json.loads, with its constants refused, as an independent judge of whole values, in both directions."""

from __future__ import annotations

import json

from acceptor_texts import texts
from hypothesis import given
from hypothesis import strategies as st

from gateway_args.strict_json.acceptor import scan

SPACE = " \t\n\r"


def refuse(constant: str) -> object:
    """`parse_constant` for json.loads: NaN and the infinities are no JSON."""
    raise ValueError(constant)


def loads(text: str) -> bool:
    """Whether the text is one JSON value; raw control characters in strings are taken, as the acceptor takes them."""
    try:
        json.loads(text, strict=False, parse_constant=refuse)
    except ValueError:
        return False
    return True


def agree(text: str) -> None:
    result = scan(text)
    if result.complete is not None:
        assert loads(text[: result.complete]), text
    bare = text.rstrip(SPACE)
    number = bare.lstrip(SPACE)[:1] in {*"-0123456789"}
    if number:
        # A number at the root is whole by what follows it.
        result = scan(bare + " ")
    assert loads(text) == (result.complete == len(bare) > 0), text


def test_a_text_is_whole_exactly_when_json_loads_takes_it() -> None:
    made = texts(6_000, seed=3)
    for text in made:
        agree(text)
    assert sum(map(loads, made)) > 1_500


@given(st.text(st.sampled_from('{}[]",:\\ \n-+.0123eEtrufalsn/bxé\x01')))
def test_texts_of_the_grammars_own_characters_are_whole_for_both_or_for_neither(text: str) -> None:
    agree(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    ),
    st.booleans(),
    st.sampled_from([None, 0, 2]),
)
def test_what_json_dumps_writes_is_whole_and_no_shorter_prefix_is(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps([value], ensure_ascii=ascii_only, indent=indent)
    assert scan(text).complete == len(text)
    for cut in range(len(text)):
        assert scan(text[:cut]).valid == cut
        assert scan(text[:cut]).complete is None
