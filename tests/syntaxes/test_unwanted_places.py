"""`{any}` and `{attributes}`: unwanted text in a header or a tag, decided by the text alone, in bounded memory."""

from __future__ import annotations

import re

import pytest

from gateway_args import FormatError, Limits
from gateway_args.formats.build import build
from gateway_args.syntaxes.pattern import Pattern
from gateway_args.syntaxes.scanning import MORE, NO, YES

LIMITS = Limits(max_name=40)
EDGE = r"(?<!\w(?=\w))"
HEADERS = {
    "{name}{any}<|body|>": r"(?P<name>[\w.-]{1,40}+)(?![\w.-])(?s:.{0,40}?)<\|body\|>",
    '{attributes}name="{name}"{attributes}>': (
        rf"""{EDGE}[^<>]{{0,40}}?{EDGE}name="(?P<name>[\w.-]+)"[^<>]{{0,40}}?>"""
    ),
}
TEXTS = (
    "add<|body|>{}",
    "add <|kind|>json<|body|>{}",
    "add" + "x" * 41 + "<|body|>",
    "add" + " y" * 21 + "<|body|>",
    ' name="add">',
    'name="add">',
    ' kind="tool" name="add" x=1>',
    ' surname="add">',
    ' kind="a>b" name="add">',
    ' name="add"x>',
    " " * 41 + 'name="add">',
)


@pytest.mark.parametrize("pattern", HEADERS)
@pytest.mark.parametrize("text", TEXTS)
def test_a_place_holds_what_a_lazy_regex_would(pattern: str, text: str) -> None:
    """The opener's last letter stands before the text, as in `<run`."""
    verdict, found = Pattern(pattern).match("n" + text, 1, LIMITS, final=True)
    expected = re.compile(HEADERS[pattern]).match("n" + text, 1)
    assert (verdict == YES) == (expected is not None)
    if expected is not None:
        assert found is not None
        assert (found.name, found.end) == (expected["name"], expected.end())


@pytest.mark.parametrize("pattern", HEADERS)
@pytest.mark.parametrize("text", TEXTS)
def test_a_prefix_is_undecided_or_says_what_the_whole_says(pattern: str, text: str) -> None:
    whole, _ = Pattern(pattern).match("n" + text, 1, LIMITS, final=True)
    for cut in range(len(text)):
        verdict, _ = Pattern(pattern).match("n" + text[:cut], 1, LIMITS)
        assert verdict in (MORE, whole)


def test_a_place_that_nothing_ends_is_over_at_the_bound() -> None:
    for pattern in HEADERS:
        assert Pattern(pattern).match("n" + " " * 400, 1, LIMITS)[0] == NO


def test_a_place_needs_text_behind_it() -> None:
    table = {
        "summary": "x",
        "markers": {"c": {"text": "<c>"}},
        "states": {"s": {"kind": "content", "on": {"c": "k"}}, "k": {"kind": "call", "calls": ["f"], "then": "s"}},
        "calls": {"f": {"syntax": "framed", "header": ["{name}{any}"]}},
    }
    with pytest.raises(FormatError, match=r"calls.f.header\[0\]: a place needs text behind it"):
        build("x", table)
