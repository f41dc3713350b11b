"""What the commands share: files, formats and tools as arguments, and one-line errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from ..errors import GatewayArgsError

if TYPE_CHECKING:
    from ..formats import Format
    from ..tools import Tools


class UsageError(Exception):
    """A command cannot run as asked; the message is the one line that the user sees."""


def read_text(path: str) -> str:
    """The text of a file, or of standard input where the path is `-`; `UsageError` names what is wrong with it."""
    return decode(read_bytes(path), "standard input" if path == "-" else path)


def read_bytes(path: str) -> bytes:
    if path == "-":
        return standard_input().read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def standard_input() -> BinaryIO:
    if sys.stdin is None:  # a service that closed it
        raise UsageError("standard input is closed; name a file")
    return sys.stdin.buffer


def decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{where}: byte {error.start} is not UTF-8") from None


def format_named(name: str) -> Format:
    """The format of that name, alias or file."""
    from .. import formats

    try:
        return formats.load(name)
    except OSError as error:
        raise UsageError(f"{shown(name)}: {error.strerror}") from None
    except ValueError as error:  # a NUL in a path
        if isinstance(error, GatewayArgsError):
            raise
        raise UsageError(f"{shown(name)}: {error}") from None


def shown(text: str) -> str:
    """A text from the input, short enough for one line."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def tools_in(path: str) -> Tools:
    """The tools in a JSON file: a list of them, or a request that has them under `tools`."""
    return tools_of(tools_value(path), path)


def tools_value(path: str) -> object:
    """The tools in a JSON file as they stand there."""
    value = parse_json(read_text(path), path)
    if not isinstance(value, dict):
        return value
    if "tools" not in value:
        keys = ", ".join(repr(key[:32]) for key in [*value][:4]) or "nothing"
        raise UsageError(f"{path}: expected a list of tools, or a request with `tools`; this object has {keys}")
    return [] if value["tools"] is None else value["tools"]


def tools_of(value: object, where: str) -> Tools:
    from ..tools import Tools

    if not isinstance(value, list):
        raise UsageError(f"{where}: tools is a list, not {type(value).__name__}")
    try:
        return Tools.of(value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{where}: {error}") from None


def parse_json(text: str, where: str) -> object:
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except ValueError as error:
        raise UsageError(f"{where}: no JSON: {error}") from None
    except RecursionError:
        raise UsageError(f"{where}: no JSON: nested too deep") from None


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:32]} is past what a number can be here")
    return value


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no value of JSON")
