"""The acceptor's work is linear: characters looked at, counted by a `str` that counts, not timed."""

from __future__ import annotations

import pytest

from gateway_args.strict_json.acceptor import Acceptor


class Counted(str):
    """A text that counts the characters which searches and slices look at."""

    __slots__ = ()
    looked: int = 0

    def find(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        stop = len(self) if end is None else end
        found = super().find(sub, start, stop)
        Counted.looked += (stop if found < 0 else found + 1) - start
        return found

    def __contains__(self, sub: str) -> bool:  # type: ignore[override]
        self.find(sub)
        return super().__contains__(sub)

    def __getitem__(self, key: slice) -> str:  # type: ignore[override]
        part = super().__getitem__(key)
        Counted.looked += len(part)
        return part

    def encode(self, *args: str) -> bytes:
        Counted.looked += len(self)
        return super().encode(*args)


SHAPES = {
    "one long string": ('"', "plain text and more of it "),
    "a string of escapes": ('"', "\\n"),
    "a string of escaped quotes": ('"', '\\"'),
    "a string of few escapes": ('"', "x" * 100 + "\\u00e9"),
    "short strings": ("[", '"ab", '),
    "middling strings": ("[", '"' + "m" * 40 + '", '),
    "numbers": ("[", "12345, "),
    "white space": ("", " "),
    "one long number": ("1", "0"),
    "objects": ("[", '{"a": {"b": [null]}}, '),
}


@pytest.mark.parametrize("piece", [1, 4, 100, 10**9])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_longer_text_costs_no_more_a_character(shape: str, piece: int) -> None:
    head, body = SHAPES[shape]
    looked = []
    for size in (8_000, 80_000):
        text = head + body * (size // len(body))
        acceptor = Acceptor()
        Counted.looked = 0
        for start in range(0, len(text), piece):
            acceptor.feed(Counted(text[start : start + piece]))
        assert acceptor.valid == len(text)
        looked.append(Counted.looked / len(text))
    assert looked[1] <= 1.1 * looked[0]
    assert looked[1] <= 40


@pytest.mark.parametrize(
    "body", ['{"a": "b"}', '{"a": "\\n and a longer string, to search in"}', '{"a": "\\x', "[1}", "7x"]
)
def test_many_values_in_one_text_cost_what_each_of_them_read(body: str) -> None:
    looked = []
    for count in (400, 6_400):
        text = Counted((body + "\n") * count)
        Counted.looked = 0
        for start in range(0, len(text), len(body) + 1):
            acceptor = Acceptor()
            acceptor.feed(text, start, len(text))
            assert acceptor.complete is not None or acceptor.refused
        looked.append(Counted.looked / count)
    assert looked[1] <= 1.1 * looked[0]


@pytest.mark.parametrize("body", ["x", "\\n", '\\"'])
def test_small_windows_into_a_long_text_cost_what_is_in_them(body: str) -> None:
    text = Counted(body * 5_000)
    acceptor = Acceptor()
    acceptor.feed('"')
    Counted.looked = 0
    for start in range(0, len(text), 4):
        acceptor.feed(text, start, min(start + 4, len(text)))
    assert acceptor.valid == len(text) + 1
    assert Counted.looked <= 5 * len(text)


def test_a_feed_after_the_end_looks_at_nothing() -> None:
    for ended in ("true", "nope"):
        acceptor = Acceptor()
        acceptor.feed(ended)
        Counted.looked = 0
        acceptor.feed(Counted("x" * 1_000))
        assert Counted.looked == 0
