"""The tokens of JSON as the builder reads them: expressions for what lies whole in a piece, tables for what does not.

The grammar is the acceptor's: RFC 8259, raw control characters allowed in strings. Every repetition is possessive, so
that no expression looks at a character more than twice.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_NUMBER: Final = min(4300, sys.get_int_max_str_digits() or 4300)
"""Characters of a number: the bound that Python puts on reading one, whose cost is not linear."""

_WS = r"[ \t\n\r]*+"
_PLAIN = r'[^"\\]*+'
_STRING_BODY = rf'{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*+'
_FRACTION = r"\.[0-9]++(?:[eE][-+]?[0-9]++)?|[eE][-+]?[0-9]++"
_NUMBER = f"-?(?:0|[1-9][0-9]*+)(?:{_FRACTION})?"
# The run of a string's body that can be decoded now: the escape of a high surrogate waits for what follows it.
_RUN = (
    rf'{_PLAIN}(?:\\(?:["\\/bfnrt]|u(?![dD][89abAB])[0-9a-fA-F]{{4}}'
    rf"|u[dD][89abAB][0-9a-fA-F]{{2}}(?=[^\\]|\\[^u]|\\u[0-9a-fA-F]{{4}})){_PLAIN})*+"
)

# What comes whole is found by its brackets, quotes and commas alone: `whole` is as strict as need be.
DEPTH: Final = 3
"""How deep a value nests at most that is read at once."""
_QUOTED = rf'"{_PLAIN}(?:"|(?:\\[^\n]{_PLAIN})++")'
_NESTED = "(?!)"
for _ in range(DEPTH):
    _NESTED = rf'[\[{{](?:[^"\[\]{{}}]++|{_QUOTED}|{_NESTED})*+[\]}}]'
# A string that its piece or an escape cuts is what stands before, without the quote; a number counts as read only when
# what ends it is there.
_ENDS = r"[ \t\n\r,\]}]"
_OTHER = (
    rf"[1-9][0-9]*+(?:(?={_ENDS})|(?:{_FRACTION})(?={_ENDS}))|(?:0|-(?:0|[1-9][0-9]*+))(?:{_FRACTION})?(?={_ENDS})"
    r"|true|false|null"
)
_VALUE = rf'(?:(?:"({_PLAIN})("?+)|({_OTHER}))([,\]}}]?+)|([\[{{]))'

element = re.compile(f"(?:((?!))|{_WS}){_VALUE}").match
"""None for a key; a string up to its quote or an escape, that quote, another scalar, a separator, or an opener."""
member = re.compile(rf'{_WS}"({_PLAIN})":{_WS}{_VALUE}').match
"""A key without escapes, and the same."""
nested = re.compile(rf"({_NESTED})([,\]}}]?+)").match
"""A whole container, and a separator."""
elements = re.compile(rf'(?:{_WS}(?:{_QUOTED}|{_NESTED}|[^"\[\]{{}},]++){_WS}(?:,|(?=\])))*+').match
"""As many whole elements as come, up to the last one's comma or to the closer; empty when none does."""
members = re.compile(
    rf'(?:{_WS}"{_PLAIN}":[^"\[\]{{}},]*+(?:,|(?=\}})|(?:{_QUOTED}|{_NESTED}){_WS}(?:,|(?=\}}))))*+'
).match
rest_of_string = re.compile(rf'({_RUN})("?+)([,\]}}]?+)').match
separator = re.compile(rf"{_WS}([,\]}}])(?:{_WS}([\[{{]))?").match
"""The separator, and an opener behind it."""
rest_of_number = re.compile(r"([-+.eE0-9]*+)([,\]}]?+)").match
space = re.compile(_WS).match
key = re.compile(rf'{_WS}(?:"({_RUN})(?:("){_WS}(:)?)?)?').match
"""A key as far as the piece has it, its quote and the colon if they are there."""
run = re.compile(_RUN).match
number_so_far = re.compile(_NUMBER).match
whole_number = re.compile(_NUMBER).fullmatch
escape = re.compile(
    r"\\(?:u(?:[dD](?:[89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3}+)?)?|[0-9a-fA-F]{0,2}+)|[0-9a-fA-F]{0,3}+)?)?"
).match
"""An escape as far as it is sound, where `run` stopped: cut by the piece if this reaches its end, else broken."""
long_number = re.compile(rf"[-+.eE0-9]{{{LONGEST_NUMBER + 1}}}").search

LITERALS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
WORDS: Final = {word[0]: word for word in LITERALS}


def _number_places() -> dict[tuple[str, str], str]:
    """(Place in a number, character) -> place: - 0 1(int) .(point) f(raction) e s(ign) x(exponent)."""
    digits = "0123456789"
    rows = [("-", "0", "0"), ("-", digits[1:], "1"), ("1", digits, "1"), (".", digits, "f"), ("f", digits, "f")]
    rows += [(place, ".", ".") for place in "01"] + [(place, "eE", "e") for place in "01f"]
    rows += [("e", "+-", "s")] + [(place, digits, "x") for place in "esx"]
    return {(place, character): after for place, characters, after in rows for character in characters}


NUMBER_PLACES: Final = _number_places()
NUMBER_OPEN: Final = frozenset("-.es")
"""The places where a number may not end."""

raw_decode = json.JSONDecoder(strict=False).raw_decode


def unescape(body: str) -> str:
    """The text of a string's body, a lone surrogate escape as it is."""
    text: str = raw_decode(f'"{body}"')[0]
    return text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("duplicate key")
    return read


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _scanner(**options: Any) -> Callable[[str, int], tuple[Any, int]]:
    decoder: Any = json.JSONDecoder(strict=False, parse_constant=_no_constant, **options)
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once  # `raw_decode` without a call of Python's
    return scan


_plain = _scanner()
_careful = _scanner(object_pairs_hook=_object)


def whole(text: str) -> Any:
    """The container that this text is; `ValueError` when it is none, has a duplicate key or too long a number."""
    if len(text) > LONGEST_NUMBER and long_number(text):
        raise ValueError("a number too long to read")
    try:
        if text.rfind("{") <= 0:
            value = _plain(text, 0)[0]
            # Every member has a colon of its own: if these are as many as the keys, no key is there twice.
            if text[0] == "[" or len(value) == text.count(":"):
                return value
        return _careful(text, 0)[0]
    except StopIteration:
        raise ValueError("no value of JSON") from None


def number(token: str) -> int | float:
    return float(token) if "." in token or "e" in token or "E" in token else int(token)
