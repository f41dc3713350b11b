"""What JSON is, by others' word: llguidance says what may still become a value, `json.loads` what is one.

Our own acceptor is never asked here, since it is among what the contract checks. llguidance's built-in JSON mode is
looser than RFC 8259, so the grammar is written out. The language of prefixes is closed under taking prefixes: when
all of a call's fragments joined are a prefix of a value, so is every earlier state of them. One look at the whole
stands for a look after every fragment, and equal texts are looked at once.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

from ..errors import GatewayArgsError

if TYPE_CHECKING:
    from llguidance import LLTokenizer

_GRAMMAR = r"""
start: WS? value WS?
value: obj | arr | STR | NUM | "true" | "false" | "null"
obj: "{" WS? "}" | "{" WS? pair (WS? "," WS? pair)* WS? "}"
pair: STR WS? ":" WS? value
arr: "[" WS? "]" | "[" WS? value (WS? "," WS? value)* WS? "]"
STR: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUM: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
WS: /[ \t\n\r]+/
"""


class OracleMissing(GatewayArgsError, RuntimeError):
    """llguidance is not installed, so nobody independent can judge the prefixes."""


def require() -> None:
    """Raises `OracleMissing` when llguidance cannot be imported."""
    try:
        import llguidance  # noqa: F401
    except ImportError:
        raise OracleMissing(
            "the contract judges JSON prefixes by llguidance, which is not installed: "
            "pip install 'gateway-args[contract]'"
        ) from None


@functools.lru_cache(maxsize=4096)
def refused_at(text: str) -> int | None:
    """The offset (characters) of the first character that no JSON value could continue, None when there is none."""
    from llguidance import LLMatcher

    tokenizer, grammar = _grammar()
    data = text.encode("utf-8", "surrogatepass")
    taken = LLMatcher(tokenizer, grammar).try_consume_tokens(list(data))
    return None if taken == len(data) else len(data[:taken].decode("utf-8", "ignore"))


@functools.lru_cache(maxsize=4096)
def is_whole(text: str) -> bool:
    """Whether the text is one JSON value; digits are not converted, so no length of a number is too long."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str, parse_float=str)
    except ValueError:
        return False
    return True


def is_bare_number(text: str) -> bool:
    """Whether the text is a number at the root, which the end of the output alone does not make whole."""
    return is_whole(text) and text.strip(" \t\n\r")[:1] in "-0123456789"


def _refuse(constant: str) -> object:
    raise ValueError(constant)


@functools.cache
def _grammar() -> tuple[LLTokenizer, str]:
    require()
    from llguidance import LLMatcher, LLTokenizer

    return LLTokenizer("byte"), LLMatcher.grammar_from_lark(_GRAMMAR)
