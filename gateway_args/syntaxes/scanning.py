"""Scanning: what stands at a place in text that is still arriving, as one verdict of three.

`layout` and `literal`, here, the patterns of `pattern` and a region's markers (`Region.marker`) all answer alike: YES,
NO, or MORE while the text ends before that is known. They hold the bounds, so that no reader compares an offset with a
limit or judges a half-arrived text itself: what is decided is a function of the text, however it was cut.

Markers that are matched by token id stand in the text as one private character each (a lone surrogate, which normalised
text never holds), so that every part reads one string and none asks how a marker arrived.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["no", "yes", "more"]
"""What stands at a place: not that, that, or too little text to say."""
NO: Final = "no"
YES: Final = "yes"
MORE: Final = "more"

SPACE: Final = " \t\n\r"
"""White space, everywhere in this package: JSON's four characters."""
FIRST_PRIVATE: Final = 0xD800
"""The private characters are the surrogates from here on, one a marker."""
PRIVATE: Final = re.compile(r"[\ud800-\udfff]")


def skip_space(text: str, at: int, end: int = -1) -> int:
    """The first character from `at` on that is no white space, or `end`: the end of the text when left out."""
    if end < 0:
        end = len(text)
    while at < end and text[at] in SPACE:
        at += 1
    return at


def is_private(char: str) -> bool:
    """Whether this character stands for a marker that was matched by its id."""
    return 0xD800 <= ord(char) < 0xE000


def layout(text: str, at: int, bound: int) -> tuple[Verdict, int]:
    """White space at `at`, at most `bound` characters of it, and where it ends.

    YES: something else stands behind it. MORE: the text ends in it. NO: there is more of it than `bound`.
    """
    end = skip_space(text, at)
    if end - at > bound:
        return NO, at + bound
    return (YES if end < len(text) else MORE), end


def literal(text: str, at: int, word: str, final: bool = False) -> Verdict:
    """Whether this word stands at `at`; with `final` no more text comes."""
    if text.startswith(word, at):
        return YES
    rest = len(text) - at
    return MORE if not final and rest < len(word) and text.startswith(word[:rest], at) else NO


class Words:
    """A set of texts to find in another: the earliest, of those the longest, and one half-arrived at the end."""

    __slots__ = ("_firsts", "_full", "_growing", "_longer", "words")

    def __init__(self, words: Iterable[str]) -> None:
        self.words: Final = frozenset(words)
        ordered = sorted(self.words, key=lambda word: (-len(word), word))
        self._firsts = frozenset(word[0] for word in ordered)
        self._full = re.compile("|".join(map(re.escape, ordered)) or r"(?!)")
        self._growing = re.compile(_growing(ordered) if ordered else r"(?!)")
        self._longer = frozenset(
            word for word in ordered if any(other != word and other.startswith(word) for other in ordered)
        )

    def find(self, text: str, start: int, final: bool) -> tuple[Verdict, int, int]:
        """The next word and where it begins and ends: YES, or MORE for one that may still be arriving.

        With `final` no more text comes. Nothing found is (NO, len(text), len(text)).
        """
        match = (self._full if final else self._growing).search(text, start)
        if match is None:
            return NO, len(text), len(text)
        begin, end = match.span()
        return (YES if final or end < len(text) or self._is_last(match.group()) else MORE), begin, end

    def at(self, text: str, start: int, final: bool) -> tuple[Verdict, int]:
        """Whether a word begins exactly at `start`, and where it ends."""
        if start >= len(text) or text[start] not in self._firsts:
            return NO, len(text)
        match = (self._full if final else self._growing).match(text, start)
        if match is None:
            return NO, len(text)
        end = match.end()
        return (YES if final or end < len(text) or self._is_last(match.group()) else MORE), end

    def _is_last(self, word: str) -> bool:
        """Whether this text, at the end of what has come, is a word that no longer one can follow from."""
        return word in self.words and word not in self._longer

    @property
    def firsts(self) -> str:
        """The characters with which a word can begin."""
        return "".join(sorted(self._firsts))


def _growing(words: list[str]) -> str:
    """A pattern that matches a word, or the beginning of one that reaches the end of the text; longest first."""
    branches: dict[str, list[str]] = {}
    terminal = False
    for word in words:
        if word:
            branches.setdefault(word[0], []).append(word[1:])
        else:
            terminal = True
    options = []
    for first, rests in branches.items():
        if rests == [""]:
            options.append(re.escape(first))
        else:
            options.append(re.escape(first) + "(?:" + _rest(rests) + ")")
    if terminal:
        options.append("")
    return "|".join(options)


def _rest(rests: list[str]) -> str:
    """The pattern for what follows a first character: more of a word, the end of the text, or nothing."""
    more = [rest for rest in rests if rest]
    pattern = _growing(more) + r"|\Z" if more else ""
    return pattern + "|" if "" in rests else pattern


def either(*verdicts: Verdict) -> Verdict:
    """YES when one of them is, else MORE when one of them is."""
    return YES if YES in verdicts else MORE if MORE in verdicts else NO
