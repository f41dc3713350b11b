"""The strict JSON prefix acceptor: how much of a text some JSON value (RFC 8259) could still continue.

A table machine over characters. It is fed text in pieces of any size, keeps its place and never reads a character
twice, so its answer is a function of the text alone and its work is linear. Offsets and counts are characters.

Decisions:
- A number at the end of the text is a prefix and never whole, since more digits may come; at the root the character
  that cannot continue it ends it and is not accepted ("12abc" is whole at 2). After a whole value nothing is accepted,
  white space neither.
- A raw control character inside a string is content, as the model wrote it; so is any other character but the quote
  and the backslash, a lone surrogate included. Escapes are RFC 8259's, with four hex digits after `\\u` and no check
  that surrogate escapes pair.
- The bracket that would nest deeper than `max_depth` is refused. A comma before a closing bracket makes the bracket
  refused. Open brackets are one bit each in an int, so a bracket costs the machine words that `max_depth` fills.

The grammar is written once, as the rows of the table; `expected()` reads it from there. No text is an error: a
character that nothing could continue is refused and ends the machine. `ValueError` is for a caller's bad `max_depth` or
state.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Flag, auto
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Sequence

# Places of the machine. The two string bodies come first and all places inside a string before all others.
_STRING: Final = 0
_KEY: Final = 1
_STRING_ESCAPE: Final = 2
_KEY_ESCAPE: Final = 7
_VALUE: Final = 12  # from here on: outside strings
_FIRST_ITEM: Final = 13
_AFTER_ITEM: Final = 14
_FIRST_KEY: Final = 15
_NEXT_KEY: Final = 16
_COLON: Final = 17
_AFTER_MEMBER: Final = 18
_WHOLE: Final = 37
_REFUSED: Final = 38
# What a character may do instead of leading to a place; `Acceptor.feed` carries these out.
_OPEN_STRING: Final = 39
_OPEN_KEY: Final = 40
_OPEN_OBJECT: Final = 41
_OPEN_ARRAY: Final = 42
_CLOSE: Final = 43
_END_VALUE: Final = 44
_END_NUMBER: Final = 45

# The names of the places as they stand in `Acceptor.state`, in the order of their numbers.
_PLACES: Final = (
    *("string", "key"),
    *("string \\", "string \\u", "string \\u0", "string \\u00", "string \\u000"),
    *("key \\", "key \\u", "key \\u0", "key \\u00", "key \\u000"),
    *("value", "first item", "after item", "first key", "next key", "colon", "after member"),
    *("-", "0", "1", "0.", "0.0", "0e", "0e+", "0e0"),
    *("t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul"),
    *("whole", "refused"),
)
_ACTIONS: Final = {
    "open object": _OPEN_OBJECT,
    "open array": _OPEN_ARRAY,
    "open string": _OPEN_STRING,
    "open key": _OPEN_KEY,
    "close": _CLOSE,
    "end": _END_VALUE,
}

_SPACE: Final = " \t\n\r"
_DIGITS: Final = "0123456789"
_HEX: Final = _DIGITS + "abcdefABCDEF"
_START: Final = dict(
    zip(
        ('"', "{", "[", "-", "0", "123456789", "t", "f", "n"),
        ("open string", "open object", "open array", "-", "0", "1", "t", "f", "n"),
        strict=True,
    )
)

# The places where a number may end.
_ENDING: Final = frozenset(map(_PLACES.index, ("0", "1", "0.0", "0e0")))

# One row a place: characters -> the place they lead to, or what they do. What a row leaves out is refused, in a number
# that is whole as it stands it ends the number.
_ROWS: Final[dict[str, dict[str, str]]] = {
    "value": {_SPACE: "value", **_START},
    "first item": {_SPACE: "first item", **_START, "]": "close"},
    "after item": {_SPACE: "after item", ",": "value", "]": "close"},
    "first key": {_SPACE: "first key", '"': "open key", "}": "close"},
    "next key": {_SPACE: "next key", '"': "open key"},
    "colon": {_SPACE: "colon", ":": "value"},
    "after member": {_SPACE: "after member", ",": "next key", "}": "close"},
    "string": {'"': "end", "\\": "string \\"},
    "key": {'"': "colon", "\\": "key \\"},
    **{
        f"{body} \\{digits}": {_HEX: f"{body} \\{digits}0" if len(digits) < 4 else body}
        for body in ("string", "key")
        for digits in ("u", "u0", "u00", "u000")
    },
    **{f"{body} \\": {'"\\/bfnrt': body, "u": f"{body} \\u"} for body in ("string", "key")},
    "-": {"0": "0", "123456789": "1"},
    "0": {".": "0.", "eE": "0e"},
    "1": {_DIGITS: "1", ".": "0.", "eE": "0e"},
    "0.": {_DIGITS: "0.0"},
    "0.0": {_DIGITS: "0.0", "eE": "0e"},
    "0e": {"+-": "0e+", _DIGITS: "0e0"},
    "0e+": {_DIGITS: "0e0"},
    "0e0": {_DIGITS: "0e0"},
    **{word[:n]: {word[n]: word[: n + 1]} for word in ("true", "false", "null") for n in range(1, len(word) - 1)},
    **{word[:-1]: {word[-1]: "end"} for word in ("true", "false", "null")},
}


def _build_table() -> tuple[bytes, ...]:
    """The rows by the numbers of the places, each indexed by an ASCII character's code."""
    targets = {**{name: number for number, name in enumerate(_PLACES)}, **_ACTIONS}
    table = []
    for number, name in enumerate(_PLACES):
        rest = number if number <= _KEY else _END_NUMBER if number in _ENDING else _REFUSED
        row = bytearray([rest]) * 128
        for characters, target in _ROWS.get(name, {}).items():
            for character in characters:
                row[ord(character)] = targets[target]
        table.append(bytes(row))
    return tuple(table)


_TABLE: Final = _build_table()

# Characters walked at once: a feed that ends early in a long text costs what it read.
_WINDOW: Final = 64
# A string's body with the escapes that it may hold.
_BODY: Final = re.compile(r'(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))++')
# When more than this is left to read in a string, searching for the end of its body is cheaper than walking to it.
_WALK: Final = 24


MAX_DEPTH: Final = 100_000
"""Brackets that may nest at most; every text nested deeper is refused at its bracket."""


class Expected(Flag):
    """What may come next, as a set of kinds of characters; empty when nothing may."""

    WHITE_SPACE = auto()
    OBJECT_OPEN = auto()
    OBJECT_CLOSE = auto()
    ARRAY_OPEN = auto()
    ARRAY_CLOSE = auto()
    COLON = auto()
    COMMA = auto()
    QUOTE = auto()
    BACKSLASH = auto()
    TEXT = auto()  # in a string, any character but the quote and the backslash
    ESCAPE = auto()  # after a backslash, one of "\\/bfnrt
    HEX = auto()
    MINUS = auto()
    SIGN = auto()  # of an exponent
    ZERO = auto()
    DIGIT = auto()  # 1 to 9
    POINT = auto()
    EXPONENT = auto()
    # The letters of true, false and null; `U` after a backslash too.
    A = auto()
    E = auto()
    F = auto()
    L = auto()
    N = auto()
    R = auto()
    S = auto()
    T = auto()
    U = auto()

    def allows(self, character: str) -> bool:
        """Whether this one character may come next."""
        if Expected.TEXT in self:
            return True  # the quote and the backslash may come wherever text may
        return any(character in characters and kinds in self for characters, kinds in _KINDS.items())


# The character sets that the rows are written in, as kinds.
_KINDS: Final = {
    _SPACE: Expected.WHITE_SPACE,
    "{": Expected.OBJECT_OPEN,
    "}": Expected.OBJECT_CLOSE,
    "[": Expected.ARRAY_OPEN,
    "]": Expected.ARRAY_CLOSE,
    ":": Expected.COLON,
    ",": Expected.COMMA,
    '"': Expected.QUOTE,
    "\\": Expected.BACKSLASH,
    '"\\/bfnrt': Expected.ESCAPE,
    _HEX: Expected.HEX,
    "-": Expected.MINUS,
    "+-": Expected.SIGN,
    "0": Expected.ZERO,
    "123456789": Expected.DIGIT,
    _DIGITS: Expected.ZERO | Expected.DIGIT,
    ".": Expected.POINT,
    "eE": Expected.EXPONENT,
    **{kind.name.lower(): kind for kind in Expected if kind.name and len(kind.name) == 1},
}
# The bracket that must be innermost at a place, where not any may be.
_INSIDE: Final = {
    **dict.fromkeys(("first item", "after item"), ("[",)),
    **dict.fromkeys(("first key", "next key", "colon", "after member"), ("{",)),
    **{position: ("{",) for position in _PLACES if position.startswith("key")},
    "whole": ("",),
}

State = tuple[str, str, int, int]
"""An acceptor's place, its open brackets as text, `valid` and `max_depth`: nothing that JSON cannot carry."""


@final
class Acceptor:
    """A resumable acceptor of one JSON value.

    `valid` is the number of characters accepted in all. The machine is in one of three conditions, each a function of
    the text alone: more may come, the value is whole (`complete` is where it ended), or a character was `refused`.
    """

    __slots__ = ("_full", "_position", "_stack", "valid")

    def __init__(self, max_depth: int = 32) -> None:
        if not 0 <= max_depth <= MAX_DEPTH:
            raise ValueError(
                f"Acceptor: max_depth is {max_depth}; give the number of brackets that may nest, from 0 to {MAX_DEPTH}"
            )
        self.valid: int = 0
        self._position: int = _VALUE
        # The open brackets, innermost last, 1 for an object and 0 for an array, below a leading 1.
        self._stack: int = 1
        self._full: int = 1 << max_depth

    def feed(self, text: str, start: int = 0, end: int | None = None) -> int:
        """Read `text[start:end]` and say how many of its characters were accepted; the first refused one ends it."""
        stop = len(text) if end is None or end > len(text) else end
        position = self._position
        if position <= _KEY:
            # The commonest feed by far: a piece of a string's body.
            if start == 0 and stop == len(text):
                body = '"' not in text and "\\" not in text
            else:
                body = text.find('"', start, stop) < 0 and text.find("\\", start, stop) < 0
            if body:
                self.valid += stop - start
                return stop - start
        elif position >= _WHOLE:
            return 0
        stack = self._stack
        at = start
        while at < stop and position < _WHOLE:
            if position <= _KEY and stop - at > _WALK:
                run = _BODY.match(text, at, stop)
                if run is not None:
                    at = run.end()
            # Every character outside ASCII becomes one "?": content in a string and refused elsewhere, as they are.
            window = text[at:stop] if stop - at <= _WINDOW else text[at : at + _WINDOW]
            for byte in window.encode("ascii", "replace"):
                after = _TABLE[position][byte]
                if after < _WHOLE:
                    position = after
                    at += 1
                    continue
                if after == _END_NUMBER:
                    if stack == 1:
                        position = _WHOLE
                        break
                    after = _TABLE[_AFTER_MEMBER if stack & 1 else _AFTER_ITEM][byte]
                if after >= _CLOSE:
                    if after == _CLOSE:
                        stack >>= 1
                    if stack == 1:
                        position = _WHOLE
                        at += 1
                        break
                    after = _AFTER_MEMBER if stack & 1 else _AFTER_ITEM
                elif after >= _OPEN_OBJECT:
                    if stack >= self._full:
                        position = _REFUSED
                        break
                    if after == _OPEN_OBJECT:
                        stack = stack << 1 | 1
                        after = _FIRST_KEY
                    else:
                        stack <<= 1
                        after = _FIRST_ITEM
                elif after >= _OPEN_STRING:
                    position = _STRING if after == _OPEN_STRING else _KEY
                    at += 1
                    if stop - at > _WALK:
                        break
                    continue
                elif after == _REFUSED:
                    position = _REFUSED
                    break
                position = after
                at += 1
        self._position = position
        self._stack = stack
        self.valid += at - start
        return at - start

    def feed_all(self, text: str) -> bool:
        """Read all of the text; False, and nothing is read, where a character is refused or the value ends in it."""
        position = self._position
        if position <= _KEY and '"' not in text and "\\" not in text:
            self.valid += len(text)
            return True
        stack, valid = self._stack, self.valid
        if self.feed(text) == len(text) and self._position < _WHOLE:
            return True
        self._position, self._stack, self.valid = position, stack, valid
        return False

    def end_number(self) -> bool:
        """Something that is no JSON stands here: a number at the root is whole with that. False: none is."""
        if self._stack > 1 or self._position not in _ENDING:
            return False
        self._position = _WHOLE
        return True

    @property
    def complete(self) -> int | None:
        """The offset where the whole value ended, or None."""
        return self.valid if self._position == _WHOLE else None

    @property
    def refused(self) -> bool:
        """Whether a character came that no value could continue."""
        return self._position == _REFUSED

    @property
    def in_string(self) -> bool:
        """Whether the place is inside a string, a key's or a value's, between its quotes; inside an escape too."""
        return self._position < _VALUE

    @property
    def in_escape(self) -> bool:
        """Whether the place is inside an escape, after its backslash and before its last character."""
        return _KEY < self._position < _VALUE

    @property
    def depth(self) -> int:
        """How many brackets are open."""
        return self._stack.bit_length() - 1

    def expected(self) -> Expected:
        """What may come next: exactly the characters that the result allows would be accepted."""
        rows = [_ROWS.get(_PLACES[self._position], {})]
        if self._stack > 1 and self._position in _ENDING:
            rows.append(_ROWS["after member" if self._stack & 1 else "after item"])
        kinds = Expected.TEXT if self._position <= _KEY else Expected(0)
        for row in rows:
            for characters in row:
                kinds |= _KINDS[characters]
        if self._stack >= self._full:
            kinds &= ~(Expected.OBJECT_OPEN | Expected.ARRAY_OPEN)
        return kinds

    @property
    def state(self) -> State:
        """The whole machine as a small value for `restore`."""
        brackets = "".join("{" if bit == "1" else "[" for bit in f"{self._stack:b}"[1:])
        return _PLACES[self._position], brackets, self.valid, self._full.bit_length() - 1

    @classmethod
    def restore(cls, state: State | Sequence[str | int]) -> Acceptor:
        """The machine that had this `state`; a list, as JSON makes of it, will do."""
        match state:
            case [str(position), str(brackets), int(valid), int(max_depth)] if (
                position in _PLACES
                and not brackets.strip("{[")
                and len(brackets) <= max_depth <= MAX_DEPTH
                and valid >= 0
                and len(brackets) <= valid
                and brackets[-1:] in _INSIDE.get(position, ("", "{", "["))
            ):
                acceptor = cls(max_depth)
                acceptor.valid = valid
                acceptor._position = _PLACES.index(position)
                acceptor._stack = int("1" + brackets.replace("{", "1").replace("[", "0"), 2)
                return acceptor
        raise ValueError(f"Acceptor.restore: {state!r} is no acceptor's state; give what `state` gave, unchanged")

    def copy(self) -> Acceptor:
        """An acceptor at the same place that goes its own way."""
        other = Acceptor(0)
        other.valid = self.valid
        other._position = self._position
        other._stack = self._stack
        other._full = self._full
        return other

    def __repr__(self) -> str:
        position, brackets, valid, _ = self.state
        return f"<Acceptor valid={valid} place={position!r} open={brackets!r}>"


@dataclass(frozen=True, slots=True)
class Scan:
    """What `scan` says of a text: characters accepted, and where the whole value ended, or None."""

    valid: int
    complete: int | None


def scan(text: str, max_depth: int = 32) -> Scan:
    """How much of this text some JSON value could still continue."""
    acceptor = Acceptor(max_depth)
    acceptor.feed(text)
    return Scan(acceptor.valid, acceptor.complete)
