"""Values, and the texts that models write for them in Python's and Gemma's literals: strategies and renderers.

Nothing here is taken from the package. What a Python text means is asked of Python (`ast.literal_eval`); Gemma's texts
are rendered as the vendors' templates do.
"""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from gateway_args import Parser, Reading, formats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway_args import Tools

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("'\"\\\n\t<>|{}[](),:=`é🌦"), max_size=12)
KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)


def nested(keys: st.SearchStrategy[str], scalars: st.SearchStrategy[Any] = SCALARS) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
    )


ARGUMENTS = st.dictionaries(KEYS, nested(TEXTS), max_size=4)
GEMMA_ARGUMENTS = st.dictionaries(KEYS, nested(KEYS), max_size=4)
SPACES = st.sampled_from(["", "", "", " ", "\n  ", "\t"])


@st.composite
def python_strings(draw: st.DrawFn, value: str) -> str:
    """One of the ways in which Python writes a string."""
    style = draw(st.sampled_from(["repr", "json", "triple", "raw", "joined", "escaped"]))
    if style == "json":
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    if style == "triple" and "\r" not in value and "\0" not in value:
        quote = draw(st.sampled_from(["'''", '"""']))
        return quote + value.replace("\\", "\\\\").replace(quote[0], "\\" + quote[0]) + quote
    if style == "raw" and not set(value) & set("\\'\n\r\0"):
        return draw(st.sampled_from(["r'", "R'"])) + value + "'"
    if style == "joined" and value:
        cut = draw(st.integers(0, len(value)))
        return f"{value[:cut]!r}{draw(SPACES) or ' '}{value[cut:]!r}"
    if style == "escaped":
        return "'" + "".join(escape(char, draw(st.integers(0, 3))) for char in value) + "'"
    return repr(value)


def escape(char: str, way: int) -> str:
    code = ord(char)
    if way == 0 and code < 0x100:
        return f"\\x{code:02x}"
    if way == 1 and code < 0x200:
        return f"\\{code:03o}"
    if way == 2 and code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


@st.composite
def python_texts(draw: st.DrawFn, value: Any) -> str:
    """A Python literal for a JSON value, with white space, trailing commas, tuples and brackets where they may be."""
    if isinstance(value, str):
        return draw(python_strings(value))
    if isinstance(value, dict):
        items = [f"{draw(python_strings(key))}{draw(SPACES)}:{draw(python_texts(item))}" for key, item in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list):
        items = [draw(python_texts(item)) for item in value]
        opening, closing = draw(st.sampled_from(["[]", "()"]))
    else:
        text = repr(value)
        return f"({text})" if draw(st.integers(0, 5)) == 0 else text
    comma = "," if items and (draw(st.booleans()) or (opening == "(" and len(items) == 1)) else ""
    gap = draw(SPACES)
    return opening + gap + f"{gap},{gap}".join(items) + comma + gap + closing


@st.composite
def python_calls(draw: st.DrawFn) -> tuple[str, str, dict[str, Any]]:
    """A call's text, its name, and its arguments as Python reads them."""
    name = draw(KEYS)
    parts = []
    said = {}
    for key, value in draw(ARGUMENTS).items():
        text = draw(python_texts(value))
        said[key] = plain(ast.literal_eval(f"({text}\n)"))
        parts.append(f"{key}{draw(SPACES)}={draw(SPACES)}{text}")
    return f"{name}({f',{draw(SPACES)}'.join(parts)}{draw(SPACES)})", name, said


def plain(value: Any) -> Any:
    """A Python value as JSON has it: tuples are lists, two escapes of a surrogate pair are one character."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    return value


def gemma(value: Any, delimiter: str = '<|"|>') -> str:
    """A value as Gemma 4's template writes it: keys sorted, strings between delimiters, nothing escaped."""
    match value:
        case None | bool() | int() | float():
            return json.dumps(value)
        case str():
            return delimiter + value + delimiter
        case list():
            return "[" + ",".join(gemma(item, delimiter) for item in value) + "]"
        case _:
            return "{" + ",".join(f"{key}:{gemma(value[key], delimiter)}" for key in sorted(value)) + "}"


def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """The text, cut anywhere."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def reading(table: str, parts: Iterable[str], tools: Tools | None = None) -> Reading:
    """What the pieces say; the parser is put away and restored between them."""
    format = formats.load(table)
    parser = Parser(format, tools)
    said = Reading()
    for part in parts:
        for event in parser.feed(part):
            said.add(event)
        parser = Parser.restore(parser.snapshot(), format, tools)
    for event in parser.finish("stop"):
        said.add(event)
    return said


def called(said: Reading) -> list[tuple[str, Any, bool]]:
    """Each call's name, what its arguments mean and whether they are whole."""
    return [(call.name, json.loads(call.arguments), call.complete) for call in said.calls]


def same(one: Any, other: Any) -> bool:
    """Equal as JSON values: True is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
