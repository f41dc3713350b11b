"""Short strings, keys and names, that are read at once: at most `max_name` characters, held until they are complete."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from ..events import Why
from ..strict_json.literals import read_python
from ..surrogates import joined
from .region import GO, MARKER, WAIT, Progress
from .scanning import MORE, NO, PRIVATE
from .values.escapes import escaped

if TYPE_CHECKING:
    from .region import Region

_JSON: Final = re.compile(r'"(?:[^"\\]|\\[^\ud800-\udfff])*"')
_HALF_JSON: Final = re.compile(r'"(?:[^"\\]|\\[^\ud800-\udfff])*\\?\Z')
_PYTHON: Final = re.compile(r"'(?:[^'\\\n]|\\[^\n\ud800-\udfff])*'|\"(?:[^\"\\\n]|\\[^\n\ud800-\udfff])*\"")
_HALF_PYTHON: Final = re.compile(r"(?:'(?:[^'\\\n]|\\[^\n\ud800-\udfff])*|\"(?:[^\"\\\n]|\\[^\n\ud800-\udfff])*)\\?\Z")


def short_string(region: Region, at: int, *, python: bool) -> tuple[Progress, str, int]:
    """The string at `at`: (GO, its text, its end), WAIT, MARKER where one that counts stands in it, or BROKE."""
    text = region.text
    limit = region.limits.max_name
    bound = at + 6 * limit + 2
    match = (_PYTHON if python else _JSON).match(text, at, bound)
    if match is None:
        half = (_HALF_PYTHON if python else _HALF_JSON).match(text, at, bound)
        if half is not None:
            code, _ = _written(region, at, half.end())
            if code != GO:
                return code, "", at
            return (WAIT if half.end() < bound else region.fail(Why.LIMIT)), "", at
        return region.fail(Why.SHAPE), "", at
    code, written = _written(region, at, match.end())
    if code != GO:
        return code, "", at
    value = _python(written) if python else _json(written)
    if value is None:
        return region.fail(Why.SHAPE), "", at
    if len(value) > limit:
        return region.fail(Why.LIMIT), "", at
    return GO, joined(value), match.end()


def _written(region: Region, start: int, end: int) -> tuple[Progress, str]:
    """The text of a string, with the markers by id in it that are data as the text of their tokens."""
    text = region.text[start:end]
    if text.isascii() or PRIVATE.search(text) is None:
        return GO, text
    for found in PRIVATE.finditer(text):
        verdict = region.marker(start + found.start())
        if verdict != NO:
            return (WAIT if verdict == MORE else MARKER), ""
    return GO, PRIVATE.sub(lambda m: escaped(region.data(start + m.start(), start + m.end())), text)


def _json(written: str) -> str | None:
    if "\\" not in written:
        return written[1:-1]
    try:
        return str(json.loads(written, strict=False))  # a raw control character is content
    except ValueError:
        return None


def _python(written: str) -> str | None:
    value = read_python(written, 1)
    return None if value is None or value.json is None else str(json.loads(value.json))
