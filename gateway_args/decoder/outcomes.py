"""The three outcomes of a stream, and the closed list of codes that refuse one.

`Incomplete` carries no code and no text, so that no inspection can take it for a refusal. `Accepted` comes only from
`finish`: until then a later byte could still be trailing data. Accepted and refused are final.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar, final

LONGEST_MESSAGE = 400
"""Characters of a message; names and texts of the document stand in it."""

T_co = TypeVar("T_co", covariant=True)


class StreamCode(StrEnum):
    """Why a document was refused."""

    START = "STREAM-START"  # a first byte with which no valid value starts
    WHITESPACE = "STREAM-WHITESPACE"  # a raw control byte (canonical: or white space) where none may stand
    STRING = "STREAM-STRING"  # in a string: a raw control byte, an unknown escape, a bad \u digit
    BRACKET = "STREAM-BRACKET"  # a closing bracket with no matching open one
    UTF8 = "STREAM-UTF8"  # bytes that are not UTF-8
    DEPTH = "STREAM-DEPTH"  # nesting past max_depth
    TOKENS = "STREAM-TOKENS"  # string literals past max_strings
    BYTES = "STREAM-BYTES"  # bytes past max_bytes
    GRAMMAR = "STREAM-GRAMMAR"  # no valid document goes on like this, or max_work, or max_stack
    TRAILING = "STREAM-TRAILING"  # something after the document
    TRUNCATED = "STREAM-TRUNCATED"  # finished before the document was whole
    CANCELLED = "STREAM-CANCELLED"  # the caller gave up
    SEMANTIC = "STREAM-SEMANTIC"  # the whole-document decoder refuses the complete document


class CallCode(StrEnum):
    """Why a call was refused whose arguments, as far as they came, were a sound document: what the parser broke."""

    SHAPE = "CALL-SHAPE"  # text that the call's syntax cannot read
    LIMIT = "CALL-LIMIT"  # text past one of the parser's `Limits`
    UNDECLARED = "CALL-UNDECLARED"  # a function that the request does not declare


@final
@dataclass(frozen=True, slots=True)
class Incomplete:
    """Sound so far, more bytes are needed."""


@final
@dataclass(frozen=True, slots=True)
class Accepted(Generic[T_co]):
    """The whole-document decoder's value for exactly the bytes pushed."""

    value: T_co


@final
@dataclass(frozen=True, slots=True)
class Refused:
    """No document that starts with these bytes is valid; `at_byte` is the offset of the first one that cannot be.

    For `STREAM-SEMANTIC`, `rule` is the whole-document decoder's own code (a schema keyword, pydantic's error type) and
    `path` the place in the value; they are empty otherwise.
    """

    code: StreamCode | CallCode
    message: str
    at_byte: int
    rule: str = ""
    path: str = ""


Outcome = Incomplete | Accepted[T_co] | Refused


class Refusal(Exception):
    """How the machine stops its own loop; never seen by a caller. `ahead` counts bytes from where the scanner stood."""

    def __init__(self, code: StreamCode, message: str, ahead: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.ahead = ahead
