"""An acceptor's state at every cut: readable, carried by JSON, restorable; a copy goes its own way."""

from __future__ import annotations

import json

import pytest
from acceptor_texts import texts

from gateway_args.strict_json.acceptor import Acceptor


def test_a_restored_acceptor_and_a_copy_go_on_as_the_original_at_every_cut() -> None:
    for text in texts(150, seed=5):
        whole = Acceptor()
        whole.feed(text)
        for cut in range(len(text) + 1):
            acceptor = Acceptor()
            acceptor.feed(text[:cut])
            before = acceptor.state
            restored = Acceptor.restore(json.loads(json.dumps(before)))
            copied = acceptor.copy()
            assert restored.state == copied.state == before
            for other in (restored, copied):
                other.feed(text[cut:])
                assert other.state == whole.state
                assert (other.complete, other.refused, other.depth) == (whole.complete, whole.refused, whole.depth)
            assert acceptor.state == before


def test_a_state_says_where_the_acceptor_is() -> None:
    acceptor = Acceptor(5)
    acceptor.feed('{"a": [{"b\\u00')
    assert acceptor.state == ("key \\u00", "{[{", 14, 5)
    assert repr(acceptor) == "<Acceptor valid=14 place='key \\\\u00' open='{[{'>"


def test_a_depth_that_the_state_carries_still_bounds() -> None:
    acceptor = Acceptor(2)
    acceptor.feed("[")
    assert Acceptor.restore(acceptor.state).feed("[[") == 1
    assert acceptor.copy().feed("[[") == 1


@pytest.mark.parametrize(
    "state",
    [
        (),
        ("value", "", 0),
        ("nowhere", "", 0, 32),
        ("value", "(", 1, 32),
        ("value", "[[", 2, 1),
        ("value", "[[", 1, 32),
        ("after member", "[", 1, 32),
        ("after item", "", 1, 32),
        ("key", "", 1, 32),
        ("whole", "[", 9, 32),
        ("value", "", -1, 32),
        ("value", "", 0, -1),
        (0, "", 0, 32),
        ("value", 0, 0, 32),
        ["value", "", "0", 32],
    ],
)
def test_a_state_that_no_acceptor_gave_is_refused_with_the_mend(state: list[str | int]) -> None:
    with pytest.raises(ValueError, match="give what `state` gave"):
        Acceptor.restore(state)


@pytest.mark.parametrize("text", ['": 1 x', '": 1}', '": 1} ', "\\q", '": [}'])
def test_feed_all_of_what_is_refused_or_ends_the_value_changes_nothing(text):
    acceptor = Acceptor()
    acceptor.feed('{"a')
    before = acceptor.state
    assert not acceptor.feed_all(text)
    assert acceptor.state == before
    assert acceptor.feed_all('": [1')
    assert acceptor.state[2] == before[2] + len('": [1')
