"""Literals: a whole text as one JSON value or one Python literal, and the JSON that a tag's raw text stands for.

Both readers are one loop over tokens with an explicit stack: no recursion, linear, nothing evaluated. They keep what
is written: integers keep every digit, floats their spelling where JSON has it (`1.` is `1.0`, `.5` is `0.5`), white
space between tokens, characters beyond ASCII. What differs:

- JSON is RFC 8259, except that a raw control character in a string is accepted and comes out escaped.
- Python is the literals that have a JSON value: strings in every quoting but bytes and f-strings, adjacent ones
  joined; numbers with underscores, in base 2, 8 and 16; `True`, `False`, `None` and JSON's three words; lists, tuples
  (as arrays, only in brackets: `1, 2` is text), dicts with string keys, trailing commas, brackets around a value.
  Refused: sets, other keys, complex numbers, `nan`, `inf`, operators, calls, names (`TRUE` too), comments. More lenient
  than Python in one thing: a raw line break is accepted in every string, as models write it. A lone surrogate escape
  becomes U+FFFD, as in the output's own text.

Depth counts every bracket; a value deeper than `max_depth` is not read further, and says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Literal, final

from ..surrogates import SURROGATE, joined
from .tokens import NUMBER, STRING

Kind = Literal["string", "integer", "number", "boolean", "null", "object", "array"]


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A text that was read: the type of the value and its JSON, None when it is nested deeper than allowed."""

    kind: Kind
    json: str | None


def json_string(text: str) -> str:
    """The text as a JSON string: quotes, backslashes and control characters escaped, everything else as it is."""
    quoted: str = encode_basestring(text)
    return quoted


def json_string_fragment(text: str) -> str:
    """A run of text as it stands inside a JSON string; fragments joined are the fragment of the joined text."""
    quoted: str = encode_basestring(text)
    return quoted[1:-1]


def read_json(text: str, max_depth: int) -> Value | None:
    """The JSON value that the whole text is, or None."""
    return _read(text, _JSON, max_depth)


def read_python(text: str, max_depth: int) -> Value | None:
    """The Python literal that the whole text is, or None."""
    return _read(text, _PYTHON, max_depth)


# Each alternative takes its characters once (possessive), so a string that never ends costs one pass.
_JSON = re.compile(
    rf"([ \t\n\r]*+)(?:(?P<string>{STRING})|(?P<number>{NUMBER})|(?P<word>true|false|null)"
    r"|(?P<mark>[][{},:])|(?P<end>\Z))"
)
_DIGITS = r"[0-9](?:_?[0-9])*+"
_PYTHON = re.compile(
    rf"""([ \t\n\r\f]*+)(?:
    (?P<string>[rRuU]?+(?:
        '''[^'\\]*+(?:(?:\\[\s\S]|'(?!''))[^'\\]*+)*+'''
        |\"""[^"\\]*+(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*+\"""
        |'(?!'')[^'\\]*+(?:\\[\s\S][^'\\]*+)*+'
        |"(?!"")[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"))
    |(?P<number>[+-]?+(?:
        0[xX](?:_?[0-9a-fA-F])++|0[oO](?:_?[0-7])++|0[bB](?:_?[01])++
        |(?:{_DIGITS}(?:\.(?:{_DIGITS})?+)?+|\.{_DIGITS})(?:[eE][+-]?+{_DIGITS})?+))
    |(?P<word>True|False|None|true|false|null)
    |(?P<mark>[][{{}}(),:])
    |(?P<end>\Z))""",
    re.VERBOSE,
)

# What may come next.
_VALUE, _VALUE_OR_CLOSE, _KEY, _KEY_OR_CLOSE, _COLON, _AFTER = range(6)
# The brackets that a closer may close; "(," is a bracket in which a comma came: a tuple, not a value in brackets.
_CLOSES = {"]": ("[",), "}": ("{",), ")": ("(", "(,")}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_CONTROL = re.compile(r"[\x00-\x1f]")


def _read(text: str, tokens: re.Pattern[str], max_depth: int) -> Value | None:
    python = tokens is _PYTHON
    out: list[str] = []
    stack: list[str] = []
    opened: list[int] = []  # where in `out` each bracket stands
    comma = -1  # where in `out` the comma stands that a closer right after it takes back
    string = -1  # where in `out` the string ends that an adjacent one is joined to
    position = 0
    expected = _VALUE
    while True:
        token = tokens.match(text, position)
        if token is None:
            return None
        position = token.end()
        layout: str = token[1]
        out.append(layout.replace("\f", " "))
        kind = token.lastgroup
        written: str = token[kind or 0]
        if kind == "string":
            escaped = _python_string(written) if python else _CONTROL.sub(_escape, written[1:-1])
            if escaped is None:
                return None
            if expected <= _VALUE_OR_CLOSE:
                expected = _AFTER
            elif expected in (_KEY, _KEY_OR_CLOSE):
                expected = _COLON
            elif string < 0 or (not stack and ("\n" in layout or "\r" in layout)):
                return None
            else:
                del out[string:]
                out.append(escaped)
                out.append('"')
                string = len(out) - 1
                continue
            out += ('"', escaped, '"')
            comma = -1
            string = len(out) - 1 if python else -1
            continue
        string = -1
        if kind in ("number", "word"):
            scalar = written if not python else _python_number(written) if kind == "number" else _word(written)
            if scalar is None or expected > _VALUE_OR_CLOSE:
                return None
            out.append(scalar)
            expected = _AFTER
        elif kind == "end":
            if expected != _AFTER or stack:
                return None
            found = "".join(out).strip(" \t\n\r")
            return Value(_kind(found), found)
        elif written in "[{(":
            if expected > _VALUE_OR_CLOSE:
                return None
            if len(stack) >= max_depth:
                return Value("object" if (stack or [written])[0] == "{" else "array", None)
            opened.append(len(out))
            stack.append(written)
            out.append("{" if written == "{" else "[")
            expected = _KEY_OR_CLOSE if written == "{" else _VALUE_OR_CLOSE
        elif written == ",":
            if expected != _AFTER or not stack:
                return None
            comma = len(out)
            out.append(",")
            if stack[-1] == "(":
                stack[-1] = "(,"
            if stack[-1] == "{":
                expected = _KEY_OR_CLOSE if python else _KEY
            else:
                expected = _VALUE_OR_CLOSE if python else _VALUE
            continue
        elif written == ":":
            if expected != _COLON:
                return None
            out.append(":")
            expected = _VALUE
        else:
            if expected not in (_AFTER, _VALUE_OR_CLOSE, _KEY_OR_CLOSE) or not stack:
                return None
            bracket, start = stack.pop(), opened.pop()
            if bracket not in _CLOSES[written]:
                return None
            if comma >= 0:
                out[comma] = ""
            if bracket == "(" and expected == _AFTER:
                out[start] = ""
            else:
                out.append("}" if written == "}" else "]")
            expected = _AFTER
        comma = -1


def _kind(json: str) -> Kind:
    match json[0]:
        case "{":
            return "object"
        case "[":
            return "array"
        case '"':
            return "string"
        case "t" | "f":
            return "boolean"
        case "n":
            return "null"
        case _:
            return "integer" if _is_integral(json) else "number"


def _is_integral(number: str) -> bool:
    """Whether a JSON number has no fraction (`1.0`, `1e2` and `10e-1` have none), told by its digits alone."""
    mantissa, _, exponent = number.lower().partition("e")
    integral, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = fraction.rstrip("0")
    if not exponent or not (integral + fraction).strip("0"):
        return not fraction
    power = exponent.lstrip("+-").lstrip("0")
    # A power of ten longer than this is larger than any text has digits.
    shift = int(power or "0") if len(power) < 16 else 10**16
    if exponent[0] == "-":
        return not fraction and len(integral) - len(integral.rstrip("0")) >= shift
    return shift >= len(fraction)


def _word(written: str) -> str:
    return _WORDS.get(written, written)


# Converting another base to decimal is not linear; this is twice the digits of any integer in use.
_MAX_BASED = 256


def _python_number(written: str) -> str | None:
    """A Python number as JSON, or None for what Python does not read as one (`007`)."""
    digits = written.lstrip("+-").replace("_", "")
    sign = "-" if written[0] == "-" else ""
    if digits[1:2] in ("x", "X", "o", "O", "b", "B"):
        return None if len(digits) > _MAX_BASED else f"{sign}{int(digits, 0)}"
    if digits.isdigit():
        shortest = digits.lstrip("0")
        return None if shortest and shortest != digits else sign + (shortest or "0")
    mantissa, mark, exponent = digits.replace("E", "e").partition("e")
    integral, dot, fraction = mantissa.partition(".")
    fraction = f".{fraction or '0'}" if dot else ""
    return f"{sign}{integral.lstrip('0') or '0'}{fraction}{mark}{exponent}"


PYTHON_ESCAPE = re.compile(
    r"\\(?:(?P<hex>x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(?P<octal>[0-7]{1,3})"
    r"|N\{(?P<name>[^{}\ud800-\udfff]{1,256})\}|(?P<line>\r\n)|(?P<one>[\s\S]))"
)
_ONE = {"\n": "", "\r": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r"}
_ONE |= {"t": "\t", "v": "\v"}


def _python_string(written: str) -> str | None:
    """A Python string as a JSON string's inside, or None when an escape in it is one that Python refuses."""
    raw = written[0] in "rR"
    body = written.lstrip("rRuU")
    body = body[3:-3] if body[:3] in ("'''", '"""') else body[1:-1]
    if raw or "\\" not in body:
        return json_string_fragment(body)
    pieces: list[str] = []
    position = 0
    for escape in PYTHON_ESCAPE.finditer(body):
        pieces.append(body[position : escape.start()])
        position = escape.end()
        character = python_escape(escape)
        if character is None:
            return None
        pieces.append(character)
    text = "".join(pieces) + body[position:]
    if SURROGATE.search(text):
        text = joined(text)
    return json_string_fragment(text)


def python_escape(escape: re.Match[str]) -> str | None:
    """What this match of `PYTHON_ESCAPE` stands for (a lone surrogate too), or None when Python refuses it."""
    match escape.lastgroup:
        case "hex":
            code = int(escape["hex"][1:], 16)
            return chr(code) if code < 0x110000 else None
        case "octal":
            return chr(int(escape["octal"], 8))
        case "name":
            import unicodedata

            try:
                character = unicodedata.lookup(escape["name"])
            except KeyError:
                return None
            # The look-up knows named sequences, which string literals do not.
            return character if len(character) == 1 else None
        case "line":
            return ""
        case _:
            one = escape["one"]
            if one in "xuUN":
                return None
            # An unknown escape keeps its backslash.
            return _ONE.get(one, "\\" + one)


def _escape(control: re.Match[str]) -> str:
    return json_string_fragment(control[0])
