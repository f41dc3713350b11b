"""The whole-document decoder: the one authority on what a document is worth, and the last word on every stream.

A strict JSON parse first (RFC 8259; no key twice, no NaN, no number beyond a double or of thousands of digits, no lone
surrogate), then the validator of the values: `jsonschema-rs` for a JSON Schema, pydantic with `strict=True` for a type.
In canonical framing the document must also be, byte for byte, what its value is written as.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Protocol

from ..errors import DecodeError
from .bounds import DEEPEST
from .grammar import MAX_DIGITS

SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
TOO_DEEP = f"nesting deeper than {DEEPEST}"
SURROGATE = re.compile("[\ud800-\udfff]")


class DocumentError(DecodeError):
    """A document that is not valid; `rule` is the validator's own code: a schema keyword, pydantic's error type."""

    def __init__(self, rule: str, message: str, *, path: str = "$") -> None:
        super().__init__(message, path=path)
        self.rule = rule


AdmissionError = DocumentError
"""Deprecated: the old name of `DocumentError`."""


class Validator(Protocol):
    """What says whether a parsed document is valid, and what it is as a value."""

    def validate(self, value: Any, document: bytes) -> Any:
        """The decoded value; `DocumentError` when it is not valid."""
        ...

    def canonical(self, value: Any, validated: Any) -> bytes:
        """What this value is written as, its line feed aside; `DocumentError` when its fields are out of order."""
        ...


def decode(document: bytes, validator: Validator, *, canonical: bool) -> Any:
    """The value of a whole document; `DocumentError` otherwise."""
    value = parse(document)
    validated = validator.validate(value, document)
    if canonical and validator.canonical(value, validated) + b"\n" != document:
        raise DocumentError("canonical", "the document is not written in its canonical form")
    return validated


def parse(document: bytes) -> Any:
    """The JSON value of a document, strictly."""
    try:
        text = document.decode()
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except UnicodeDecodeError as error:
        raise DocumentError("utf8", f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise DocumentError("json", f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise DocumentError("depth", TOO_DEEP) from None
    if text.count("[") + text.count("{") > DEEPEST:
        _refuse_depth(value)
    if SURROGATE_ESCAPE.search(text):
        _refuse_surrogates(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DocumentError("duplicate", f"the key {twice!r} stands twice")
    return value


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise DocumentError("number", f"a number of more than {MAX_DIGITS} characters")
    return int(text)


def _float(text: str) -> float:
    value = float(text) if len(text) <= MAX_DIGITS else math.inf
    if math.isinf(value):
        raise DocumentError("number", "a number beyond a double's range")
    return value


def _constant(text: str) -> Any:
    raise DocumentError("json", f"not JSON: {text}")


def _refuse_depth(value: Any) -> None:
    """Refuses what is nested deeper than the recursive validators behind this can go."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [part for part in level if isinstance(part, dict | list)]
        if not level:
            return
        level = [inner for part in level for inner in (part.values() if isinstance(part, dict) else part)]
    raise DocumentError("depth", TOO_DEEP)


def _refuse_surrogates(value: Any) -> None:
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            stack += part
            stack += part.values()
        elif isinstance(part, list):
            stack += part
        elif isinstance(part, str) and SURROGATE.search(part):
            raise DocumentError("surrogate", "an escape spells half a surrogate pair")


def written(value: Any) -> bytes:
    """The canonical spelling of a plain JSON value: no white space, shortest escapes, keys as they stand."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
