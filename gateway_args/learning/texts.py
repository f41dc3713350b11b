"""Texts in units that are never cut: tags, special tokens, words, stretches of white space.

Comparing two renderings character by character would find `<tool_` in common; markers are compared unit by unit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNITS: Final = re.compile(
    r"""
    \]<\][^<>\[\]]+\[>\[(?:<[^<>\n]*(?:>|\Z))?   # MiniMax's prefix, with its tag
    | <\|[^|<>\n]*\|> | <[^<>\n]+> | <[^<>\n]*\Z   # a tag, or one that a slot cuts
    | \[\|[^\[\]|\n]*\|\] | \[/?[A-Z][A-Z_ ]+\]    # [|endofturn|], [TOOL_CALLS]
    | \[[^\s<>\[\]"',]{1,12}\[ | \][^\s<>\[\]"',]{1,12}\]   # MiniMax's [e~[ and ]~b]
    | \s+ | [^\s<\[\]]+ | .
    """,
    re.VERBOSE,
)


def units(text: str) -> list[str]:
    """The units of a text; joined they are the text."""
    return _UNITS.findall(text)


def alike(texts: Sequence[str]) -> str:
    """The longest beginning that all texts share, character by character."""
    shortest, longest = min(texts), max(texts)
    same = next((n for n, pair in enumerate(zip(shortest, longest, strict=False)) if pair[0] != pair[1]), None)
    return shortest[:same] if same is not None else shortest


def is_special(unit: str) -> bool:
    """Whether a unit looks like a marker, not like a word."""
    return len(unit) > 2 and unit[0] in "<[]"


def common_start(texts: Sequence[str]) -> str:
    """The longest beginning that all texts share, in whole units; white space may be cut."""
    common = ""
    for column in zip(*(units(text) for text in texts), strict=False):
        if len(set(column)) == 1:
            common += column[0]
            continue
        if not "".join(column).strip():
            common += alike(list(column))
        break
    return common


def common_end(one: str, other: str) -> str:
    """The longest end that two texts share, in whole units."""
    common = ""
    for left, right in zip(reversed(units(one)), reversed(units(other)), strict=False):
        if left != right:
            if not (left + right).strip():
                common = alike([left[::-1], right[::-1]])[::-1] + common
            break
        common = left + common
    return common


def last_marker(text: str) -> str:
    """The last unit of a text that is more than white space, with what follows it."""
    parts = units(text)
    while parts and not parts[-1].strip():
        parts.pop()
    return text[text.rindex(parts[-1]) :] if parts else ""


def first_marker(text: str) -> str:
    """The first unit of a text that is more than white space; a word between two special tokens binds them together."""
    parts = units(text)
    while parts and not parts[0].strip():
        parts.pop(0)
    if len(parts) > 2 and is_special(parts[0]) and parts[1].isalpha() and is_special(parts[2]):
        return "".join(parts[:3])
    return parts[0] if parts else ""


def space_before(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def space_after(text: str) -> str:
    return text[len(text.rstrip()) :]
