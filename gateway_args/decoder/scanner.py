"""The structural scanner: one pass over the bytes, resumable at any, that tells the grammar what begins and ends.

It alone decides what is no JSON (RFC 8259), no UTF-8 (RFC 3629), too deep or too much; what the schema allows is the
grammar's. Its whole state is in its fields, so where a chunk ends is nowhere to be seen. `canonical` framing differs in
two points: no white space outside strings, and one line feed, required, after the value.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Final

from ..schema import graph
from .outcomes import Refusal, StreamCode

if TYPE_CHECKING:
    from .bounds import StreamLimits
    from .grammar import Grammar


# States: what the next byte is read as.
VALUE: Final = 0  # a value's first byte
FIRST_ITEM: Final = 1  # the same, or the list's end
FIRST_KEY: Final = 2  # a key, or the object's end
KEY: Final = 3
COLON: Final = 4
AFTER: Final = 5  # a comma or a closing bracket
TEXT: Final = 6  # inside a key or string
ESCAPE: Final = 7  # after a backslash
HEX: Final = 8  # the four digits after \u
CONTINUATION: Final = 9  # inside a UTF-8 sequence
NUMBER: Final = 10
LITERAL: Final = 11
DONE: Final = 12  # after the value
CLOSED: Final = 13  # after the line feed of the canonical framing

# Forms of the open number: what stood last.
SIGN: Final = 0
ZERO: Final = 1
WHOLE: Final = 2
POINT: Final = 3
FRACTION: Final = 4
LETTER: Final = 5
EXPONENT_SIGN: Final = 6
EXPONENT: Final = 7
ENDS = (ZERO, WHOLE, FRACTION, EXPONENT)


def _steps(**targets: int) -> dict[int, int]:
    """A row of the number's table: digits (or only `nonzero`), the point, the exponent's letter, a sign."""
    spelled = {
        "digits": b"0123456789",
        "zero": b"0",
        "nonzero": b"123456789",
        "point": b".",
        "letter": b"eE",
        "sign": b"+-",
    }
    return {byte: target for name, target in targets.items() for byte in spelled[name]}


STEPS: list[dict[int, int]] = [
    _steps(zero=ZERO, nonzero=WHOLE),
    _steps(point=POINT, letter=LETTER),
    _steps(digits=WHOLE, point=POINT, letter=LETTER),
    _steps(digits=FRACTION),
    _steps(digits=FRACTION, letter=LETTER),
    _steps(digits=EXPONENT, sign=EXPONENT_SIGN),
    _steps(digits=EXPONENT),
    _steps(digits=EXPONENT),
]
FORM_OF_FIRST = {0x2D: SIGN, 0x30: ZERO} | dict.fromkeys(b"123456789", WHOLE)

KINDS: list[int] = [0] * 256
for _byte, _kind in {0x7B: graph.OBJECT, 0x5B: graph.ARRAY, 0x22: graph.STRING, 0x2D: graph.NUMBER}.items():
    KINDS[_byte] = _kind
for _byte in b"0123456789":
    KINDS[_byte] = graph.NUMBER
LITERALS = {0x74: (graph.TRUE, b"rue"), 0x66: (graph.FALSE, b"alse"), 0x6E: (graph.NULL, b"ull")}

QUOTE: Final = 0x22
BACKSLASH: Final = 0x5C
LINE_FEED: Final = 0x0A
SPACE_BYTES = b" \t\n\r"
ESCAPES = {0x22: b'"', 0x5C: b"\\", 0x2F: b"/", 0x62: b"\b", 0x66: b"\f", 0x6E: b"\n", 0x72: b"\r", 0x74: b"\t"}
HEX_DIGITS = {byte: int(chr(byte), 16) for byte in b"0123456789abcdefABCDEF"}

PLAIN = re.compile(rb'[^"\\\x00-\x1f\x80-\xff]*')
BEYOND_ASCII = re.compile(
    rb"(?:[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*+"
)
DIGITS = re.compile(rb"[0-9]*")
SPACE = re.compile(rb"[ \t\n\r]*")


def _sequence(lead: int) -> tuple[int, int, int]:
    """For a UTF-8 sequence's first byte: how many bytes follow, and the range of the first of them; 0 for none."""
    if lead < 0xC2 or lead > 0xF4:
        return 0, 0, 0
    if lead < 0xE0:
        return 1, 0x80, 0xBF
    if lead < 0xF0:
        return 2, 0xA0 if lead == 0xE0 else 0x80, 0x9F if lead == 0xED else 0xBF
    return 3, 0x90 if lead == 0xF0 else 0x80, 0x8F if lead == 0xF4 else 0xBF


class Scanner:
    """The state of one document's scan. `offset` counts the bytes scanned."""

    def __init__(self, grammar: Grammar, limits: StreamLimits, *, canonical: bool) -> None:
        self.grammar = grammar
        self.canonical = canonical
        self.max_depth = limits.max_depth
        self.max_strings = limits.max_strings
        self.offset = 0
        self.state = VALUE
        self.brackets = bytearray()  # the closing bracket of each open object and list
        self.strings = 0
        self.form = SIGN
        self.literal = b""
        self.in_key = False
        self.hex_digits = 0
        self.unit = 0  # the UTF-16 unit that \u spells
        self.high = 0  # a high surrogate that waits for its low one
        self.missing = 0  # bytes of the open UTF-8 sequence, and the range of the next one
        self.lowest = 0
        self.highest = 0

    def copy(self, grammar: Grammar) -> Scanner:
        """A scanner in the same state, for a copy of its grammar."""
        other = copy.copy(self)
        other.grammar = grammar
        other.brackets = self.brackets.copy()
        return other

    def feed(self, data: bytes) -> None:
        """Scans the next bytes; raises `Refusal` at the first that cannot stand where it does, `offset` being there."""
        grammar = self.grammar
        size = len(data)
        at = 0
        try:
            while at < size:
                state = self.state
                if state == TEXT:
                    at = self._text(data, at)
                elif state == NUMBER:
                    at = self._number(data, at)
                elif state > TEXT and state < DONE:
                    self._inside(data[at])
                    at += 1
                else:
                    byte = data[at]
                    if byte <= 0x20 and byte in SPACE_BYTES and not self.canonical:
                        at += 1
                        if at < size and data[at] <= 0x20:
                            found = SPACE.match(data, at)
                            assert found is not None
                            at = found.end()
                        continue
                    if state == AFTER:
                        if byte == 0x2C:
                            if self.brackets[-1] == 0x7D:
                                grammar.comma()
                                self.state = KEY
                            else:
                                grammar.item()
                                self.state = VALUE
                        else:
                            self._close(byte)
                    elif state == COLON:
                        if byte != 0x3A:
                            raise self._unexpected(byte)
                        self.state = VALUE
                    elif state in (KEY, FIRST_KEY):
                        if byte == QUOTE:
                            self._count_string()
                            grammar.begin_key()
                            self.in_key = True
                            self.state = TEXT
                        elif state == FIRST_KEY:
                            self._close(byte)
                        else:
                            raise self._unexpected(byte)
                    elif state >= DONE:
                        if state == CLOSED or not self.canonical or byte != LINE_FEED:
                            raise Refusal(StreamCode.TRAILING, f"unexpected {_shown(byte)} after the document")
                        self.state = CLOSED
                    elif state == FIRST_ITEM and byte == 0x5D:
                        self._close(byte)
                    else:
                        self._value(byte)
                    at += 1
        except Refusal as refusal:
            self.offset += at + refusal.ahead
            raise
        self.offset += size

    def finish(self) -> bool:
        """Whether the document is whole, now that nothing follows; only here a number at the root is over."""
        if self.state == NUMBER and not self.brackets and not self.canonical and self.form in ENDS:
            self.grammar.end_number()
            self.state = DONE
        return self.complete

    @property
    def complete(self) -> bool:
        """Whether the document is whole."""
        return self.state == (CLOSED if self.canonical else DONE)

    # Structure

    def _value(self, byte: int) -> None:
        """A value's first byte."""
        grammar = self.grammar
        kind = KINDS[byte]
        if byte in LITERALS:
            kind, self.literal = LITERALS[byte]
            state = LITERAL
        elif not kind:
            raise self._unexpected(byte)
        elif kind == graph.STRING:
            self._count_string()
            self.in_key = False
            state = TEXT
        elif kind == graph.NUMBER:
            self.form = FORM_OF_FIRST[byte]
            state = NUMBER
        else:
            state = FIRST_KEY if kind == graph.OBJECT else FIRST_ITEM
            if len(self.brackets) >= self.max_depth:
                raise Refusal(StreamCode.DEPTH, f"nesting deeper than {self.max_depth} (max_depth)")
        if self.state == FIRST_ITEM:
            grammar.item()
        grammar.begin(kind, byte)
        if state == FIRST_KEY:
            self.brackets.append(0x7D)
        elif state == FIRST_ITEM:
            self.brackets.append(0x5D)
        self.state = state

    def _close(self, byte: int) -> None:
        if byte != self.brackets[-1]:
            raise self._unexpected(byte)
        self.grammar.close()
        self.brackets.pop()
        self.state = AFTER if self.brackets else DONE

    def _count_string(self) -> None:
        self.strings += 1
        if self.max_strings is not None and self.strings > self.max_strings:
            raise Refusal(StreamCode.TOKENS, f"more than {self.max_strings} string literals (max_strings)")

    def _unexpected(self, byte: int) -> Refusal:
        """The refusal of a byte that cannot stand between tokens."""
        if not self.grammar.started:
            return Refusal(StreamCode.START, f"unexpected {_shown(byte)} at the start; expected a value")
        if byte < 0x20 and (self.canonical or byte not in SPACE_BYTES):
            return Refusal(StreamCode.WHITESPACE, f"unexpected {_shown(byte)} outside a string")
        if byte == 0x20 and self.canonical:
            return Refusal(StreamCode.WHITESPACE, "unexpected white space outside a string")
        if byte in (0x5D, 0x7D) and (not self.brackets or byte != self.brackets[-1]):
            return Refusal(StreamCode.BRACKET, f"unexpected {_shown(byte)}: nothing that it closes is open")
        if byte >= 0x80 and not _sequence(byte)[0]:
            return Refusal(StreamCode.UTF8, f"{_shown(byte)} starts no UTF-8 sequence")
        return Refusal(
            StreamCode.GRAMMAR, f"{self.grammar.path()}: unexpected {_shown(byte)}; expected {self._expected()}"
        )

    def _expected(self) -> str:
        """What may stand where the scanner is."""
        if self.state == LITERAL:
            return f"{chr(self.literal[0])!r}"
        if self.state in (VALUE, FIRST_ITEM, NUMBER):
            return "a digit" if self.state == NUMBER else "a value"
        if self.state in (KEY, FIRST_KEY):
            return "a property name in quotes"
        return "':'" if self.state == COLON else f"',' or {chr(self.brackets[-1])!r}"

    # Tokens

    def _number(self, data: bytes, at: int) -> int:
        """Reads on in the open number; the byte that ends it is left for the next state."""
        grammar = self.grammar
        form = self.form
        if form in (WHOLE, FRACTION, EXPONENT):
            found = DIGITS.match(data, at)
            assert found is not None
            end = found.end()
            if end > at:
                if grammar.numbers:
                    grammar.digits(data[at:end])
                return end
        byte = data[at]
        step = STEPS[form].get(byte)
        if step is not None:
            if grammar.numbers:
                if step in (POINT, LETTER, EXPONENT_SIGN):
                    grammar.fraction(byte)
                else:
                    grammar.digits(data[at : at + 1])
            self.form = step
            return at + 1
        if form not in ENDS:
            raise self._unexpected(byte)
        if grammar.numbers:
            grammar.end_number()
        self.state = AFTER if self.brackets else DONE
        return at

    def _text(self, data: bytes, at: int) -> int:
        """Reads on in the open key or string: a run of plain characters and its quote, or one byte of another kind."""
        grammar = self.grammar
        found = PLAIN.match(data, at)
        assert found is not None
        end = found.end()
        if end < len(data) and data[end] >= 0x80:
            found = BEYOND_ASCII.match(data, end)
            assert found is not None
            end = found.end()
        if end > at:
            if grammar.watching:
                if self.high:
                    self._lone()
                grammar.spell(data[at:end])
            if end == len(data) or data[end] not in (QUOTE, BACKSLASH):
                return end
        byte = data[end]
        if byte == QUOTE:
            try:
                self._unquote()
            except Refusal as refusal:
                refusal.ahead += end - at
                raise
        elif byte == BACKSLASH:
            self.state = ESCAPE
        elif byte < 0x20:
            raise Refusal(StreamCode.STRING, f"unexpected {_shown(byte)} inside a string")
        else:
            self.missing, self.lowest, self.highest = _sequence(byte)
            if not self.missing:
                raise Refusal(StreamCode.UTF8, f"{_shown(byte)} starts no UTF-8 sequence")
            self._spell_byte(byte)
            self.state = CONTINUATION
        return end + 1

    def _unquote(self) -> None:
        """The closing quote of the open key or string."""
        grammar = self.grammar
        if grammar.watching:
            if self.high:
                self._lone()
            if self.in_key:
                grammar.end_key()
                self.state = COLON
                return
            grammar.end_text()
        self.state = AFTER if self.brackets else DONE

    def _inside(self, byte: int) -> None:
        """One byte of an escape, of a UTF-8 sequence or of a literal."""
        state = self.state
        if state == ESCAPE:
            if byte == 0x75:
                self.hex_digits = 4
                self.unit = 0
                self.state = HEX
            elif byte in ESCAPES:
                self.state = TEXT
                if self.grammar.watching:
                    if self.high:
                        self._lone()
                    self.grammar.spell(ESCAPES[byte], escaped=True)
            else:
                raise Refusal(StreamCode.STRING, f"unexpected {_shown(byte)} after a backslash")
        elif state == HEX:
            if byte not in HEX_DIGITS:
                raise Refusal(StreamCode.STRING, f"unexpected {_shown(byte)}; expected a hexadecimal digit")
            self.unit = self.unit << 4 | HEX_DIGITS[byte]
            self.hex_digits -= 1
            if not self.hex_digits:
                self.state = TEXT
                if self.grammar.watching:
                    self._unit()
        elif state == CONTINUATION:
            if not self.lowest <= byte <= self.highest:
                raise Refusal(StreamCode.UTF8, f"{_shown(byte)} does not continue its UTF-8 sequence")
            self.lowest, self.highest = 0x80, 0xBF
            self._spell_byte(byte)
            self.missing -= 1
            if not self.missing:
                self.state = TEXT
        else:
            if byte != self.literal[0]:
                raise self._unexpected(byte)
            self.literal = self.literal[1:]
            if not self.literal:
                self.state = AFTER if self.brackets else DONE

    def _spell_byte(self, byte: int) -> None:
        if self.grammar.watching:
            if self.high:
                self._lone()
            self.grammar.spell(bytes((byte,)))

    def _unit(self) -> None:
        """A whole \\u escape: a character, or half of one."""
        unit = self.unit
        if 0xDC00 <= unit < 0xE000 and self.high:
            unit = 0x10000 + ((self.high - 0xD800) << 10) + (unit - 0xDC00)
            self.high = 0
        elif self.high:
            self._lone()
        if 0xD800 <= unit < 0xDC00:
            self.high = unit
        else:
            self.grammar.spell(graph.encode(chr(unit)), escaped=True)

    def _lone(self) -> None:
        """The high surrogate that waited stands alone."""
        high, self.high = self.high, 0
        self.grammar.spell(graph.encode(chr(high)), escaped=True)


def _shown(byte: int) -> str:
    return repr(chr(byte)) if 0x20 <= byte < 0x7F else f"byte {byte:02x}"
