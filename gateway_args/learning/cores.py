"""Recognises in a rendering how a call itself is written, over all syntaxes: JSON objects and lists of them, a header
with raw JSON, Python calls and objects, Gemma's literals, names and values in tags.

A `Core` says where each call stands and what the syntax's parameters are; `dissect` says what stands around it.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .renderer import TemplateFault
from .texts import common_end, common_start, is_special, space_after, space_before, units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .conversation import MadeCall

_DECODER: Final = json.JSONDecoder()
_DIGITS: Final = re.compile(r"\d+")
PLACE: Final = "\x00"
"""Stands for a name in a literal that repeats it."""
ID: Final = "\x01"
"""Stands for a call's id."""


@dataclass(frozen=True, slots=True)
class Core:
    """The calls in a text: each one's span, one span for all of a list, and the table of their syntax."""

    spans: tuple[tuple[int, int], ...]
    table: Mapping[str, Any]
    listed: bool = False
    """The span holds all calls of a turn."""
    headed: bool = False
    """The syntax has a header, which begins behind the call's marker; what stands before the name belongs to it."""


def recognise(text: str, calls: Sequence[MadeCall], ids: Sequence[str], start: int = 0) -> Core:
    """How these calls are written in the text, from `start` on. Raises `TemplateFault` where no syntax of ours fits."""
    ids = ids[: len(calls)]
    for way in (_json_calls, _python_objects, _python_calls, _framed, _gemma, _tagged):
        found = way(text, calls, ids, start)
        if found is not None:
            return found
    raise TemplateFault("the calls are written in none of our syntaxes")


# ------------------------------------------------------------------------------------ JSON


def _values(text: str, start: int, wanted: str) -> list[tuple[int, int, Any]]:
    """The outermost JSON objects and lists in the text that hold this word."""
    found = []
    at = start
    while at < len(text):
        if text[at] in "{[":
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                at += 1
                continue
            if wanted in text[at:end]:
                found.append((at, end, value))
                at = end
                continue
        at += 1
    return found


def _json_calls(text: str, calls: Sequence[MadeCall], ids: Sequence[str], start: int) -> Core | None:
    spans: list[tuple[int, int]] = []
    table: dict[str, Any] | None = None
    for n, call in enumerate(calls):
        for at, end, value in _values(text, start, call.name):
            listed = isinstance(value, list)
            if listed and len(value) == len(calls):
                tables = [_object(item, made, id) for item, made, id in zip(value, calls, ids, strict=True)]
                if tables[0] is not None:
                    return Core(((at, end),), {"syntax": "json", "shape": "list", **tables[0]}, listed=True)
            found = None if listed else _object(value, call, ids[n])
            if found is not None and (not spans or at >= spans[-1][1]):
                table = table or {"syntax": "json", **found}
                spans.append((at, end))
                break
        else:
            return None
    return Core(tuple(spans), table) if table is not None else None


def _object(value: Any, call: MadeCall, id: str) -> dict[str, Any] | None:
    """The keys of a call that is this object, as a table says them."""
    if not isinstance(value, dict):
        return None
    if len(value) == 1 and _same(value.get(call.name), call.arguments):
        return {"keyed": True}
    names = [key for key, item in value.items() if item == call.name]
    arguments = [key for key, item in value.items() if _same(item, call.arguments)]
    if not names or not arguments:
        return None
    found: dict[str, Any] = {"name": names[:1], "arguments": arguments[:1]}
    if own := [key for key, item in value.items() if item == id]:
        found["id"] = own
    if others := [key for key in value if key not in (*names, *arguments, *own)]:
        found["envelope"] = others
    return found


def _same(item: Any, arguments: Mapping[str, Any]) -> bool:
    if isinstance(item, str):
        try:
            item = json.loads(item)
        except ValueError:
            return False
    return bool(item == arguments)


def _framed(text: str, calls: Sequence[MadeCall], ids: Sequence[str], start: int) -> Core | None:
    spans, heads = [], []
    at = start
    for call in calls:
        name = text.find(call.name, at)
        found = next(((b, e) for b, e, v in _values(text, max(name, 0), call.name[:0]) if v == call.arguments), None)
        if name < 0 or found is None:
            return None
        name = text.rfind(call.name, 0, found[0])
        spans.append((name, found[1]))
        heads.append(text[name + len(call.name) : found[0]])
        at = found[1]
    head = pattern(heads[0], ids[0], heads[-1])
    return Core(tuple(spans), {"syntax": "framed", "header": ["{name}" + head]}, headed=True)


def pattern(literal: str, id: str, other: str = "") -> str:
    """A literal as a header's pattern: white space, the id and numbers that differ between calls are places."""
    named = literal.replace(id, "{id}") if id else literal
    named = named.replace(ID, "{id}").replace(PLACE, "{skip}")
    if other and _DIGITS.search(literal) and _DIGITS.findall(literal) != _DIGITS.findall(other):
        named = "{id}".join(_DIGITS.sub("{skip}", part) for part in named.split("{id}"))
    return re.sub(r"\s+", "{ws}", named)


# ------------------------------------------------------------------------------------ Python and Gemma


def _python_calls(text: str, calls: Sequence[MadeCall], ids: Sequence[str], start: int) -> Core | None:
    spans = []
    at = start
    for call in calls:
        found = re.compile(re.escape(call.name) + r"\s*\(").search(text, at)
        if found is None:
            return None
        end = _closing(text, found.end())
        if end < 0 or any(key + "=" not in text[found.end() : end] for key in call.arguments):
            return None
        spans.append((found.start(), end + 1))
        at = end + 1
    before, after = text[: spans[0][0]].rstrip(), text[spans[-1][1] :].lstrip()
    if before.endswith("[") and after.startswith("]"):
        end = text.index("]", spans[-1][1]) + 1
        return Core(((len(before) - 1, end),), {"syntax": "python"}, listed=True)
    return Core(tuple(spans), {"syntax": "python", "shape": "lines"})


def _closing(text: str, at: int) -> int:
    """Where the parenthesis that is open before `at` closes, strings apart; -1 for nowhere."""
    depth, quote = 1, ""
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if not depth:
                return at
        at += 1
    return -1


def _python_objects(text: str, calls: Sequence[MadeCall], ids: Sequence[str], start: int) -> Core | None:
    if f"'{calls[0].name}'" not in text[start:]:
        return None
    for at in (n for n in range(start, len(text)) if text[n] in "[{"):
        end = _closing(text, at + 1)
        if end < 0 or calls[-1].name not in text[at:end]:
            continue
        try:
            value = ast.literal_eval(text[at : end + 1])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        items = value if isinstance(value, list) else [value]
        found = _object(items[0], calls[0], ids[0]) if items else None
        if found is not None and len(items) == len(calls) and "name" in found:
            table = {"syntax": "python_objects", "name": found["name"], "arguments": found["arguments"]}
            return Core(((at, end + 1),), table, listed=True)
    return None


def _gemma(text: str, calls: Sequence[MadeCall], ids: Sequence[str], start: int) -> Core | None:
    spans = []
    at = start
    delimiter = prefix = ""
    for call in calls:
        key, value = next(iter(call.arguments.items()), ("", ""))
        found = re.compile(
            r"([\w:]*?)" + re.escape(call.name) + r"\{" + re.escape(key) + r":\s*(\S*?)" + re.escape(str(value))
        ).search(text, at)
        if found is None or not found[2]:
            return None
        prefix, delimiter = found[1], found[2]
        end = text.find("}", found.end())
        if end < 0:
            return None
        spans.append((found.start(), end + 1))
        at = end
    return Core(tuple(spans), {"syntax": "gemma", "delimiter": delimiter, "prefix": prefix})


# ------------------------------------------------------------------------------------ tags


def _tagged(text: str, calls: Sequence[MadeCall], ids: Sequence[str], start: int) -> Core | None:
    """Names and values in tags; needs two arguments to see what stands between them."""
    spans, heads = [], []
    at = start
    table: dict[str, Any] = {}
    for n, call in enumerate(calls):
        (key, value), (key2, value2) = list(call.arguments.items())[:2]
        positions = []
        name = text.find(call.name, at)
        first_key = text.find(key, max(name, 0))
        if name < 0 or first_key < 0:
            return None
        name = text.rfind(call.name, 0, first_key)  # the last one before the first key
        position = name + len(call.name)
        for word in (key, value, key2, value2):
            found = text.find(str(word), position)
            if found < 0:
                return None
            positions.append(found)
            position = found + len(str(word))
        rest = text[position:]
        lead = text[name + len(call.name) : positions[0]]
        link = text[positions[0] + len(key) : positions[1]]
        gap = text[positions[1] + len(str(value)) : positions[2]].replace(key, PLACE)
        after = rest.replace(key2, PLACE)
        close = common_start([gap, after])
        opener = common_end(lead, gap[len(close) :] if close else gap).lstrip()
        if not close.strip() or not opener:
            return None
        spans.append((name, position + len(space_before(rest)) + len(close.strip().replace(PLACE, key2))))
        heads.append(lead[: len(lead) - len(opener)])
        if n == 0:
            table = _tags(opener, link, close, gap)
        at = position
    head = pattern(heads[0].rstrip(), ids[0], heads[-1].rstrip())
    return Core(tuple(spans), {"syntax": "tagged", "header": ["{name}" + head], **table}, headed=True)


def _tags(opener: str, link: str, close: str, gap: str) -> dict[str, Any]:
    """The parameters of tags: the text before a key, between key and value, behind a value, between two parameters."""
    found: dict[str, Any] = {}
    parts = units(link.strip())
    if len(parts) > 1 and parts[0].startswith("</") and is_special(parts[-1]):
        found["parameter"] = [opener + "{name}" + parts[0]]
        found["value_open"] = parts[-1]
    else:
        found["parameter"] = [opener + "{name}" + link.strip()]
    around = space_after(link)
    if around and space_before(close) == around:
        found["around"] = around
    found["value_close"] = close.strip().replace(PLACE, "{name}")
    between = space_before(gap[len(close.rstrip()) :])
    if between:
        found["between"] = between
    return found
