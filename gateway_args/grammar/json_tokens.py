"""Which tokens of a vocabulary some JSON value can still continue: the acceptor, walked with the vocabulary's trie.

The acceptor reads characters and takes what a parser must take; a constraint decides what is written, so it is strict:
no raw control character in a string, no lone surrogate escape, no number that a double cannot hold (at most 200 digits
before the point and two in the exponent), and bytes that are UTF-8. A token may end inside a character. States are
kept, each with the states that bytes lead to and with its mask; masks are shared by states that no token can tell
apart.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, final

from .trie import Trie, tokens_of

if TYPE_CHECKING:
    import tiktoken

    from ..strict_json.acceptor import Acceptor

# What of a `\u` escape was written, for surrogates: a high one must be followed by the escape of a low one.
_NO_ESCAPE: Final = 0
_NO_DIGIT: Final = 1
_D: Final = 2  # its first digit is a d
_HIGH: Final = 3  # it is a high surrogate's, its digits not all written
_OTHER: Final = 4
_PAIR: Final = 5  # to _PAIR + 3: the four characters that must follow a high one, a backslash first
_LOW: Final = 9

_MOST_DIGITS: Final = {"1": 200, "0e0": 2}
"""How many digits may stand in a number's integer part and exponent, by the acceptor's names of these places."""


@final
class JsonState:
    """Where a JSON text stands, to the byte; equal texts' states are one object."""

    __slots__ = ("_machine", "_next", "acceptor", "can_end", "digits", "escape", "mask", "pending")

    def __init__(
        self, machine: JsonTokens, acceptor: Acceptor, pending: tuple[int, int, int], escape: int, digits: int
    ) -> None:
        self._machine: Final = machine
        self._next: Final[dict[int, JsonState | None]] = {}
        self.acceptor: Final = acceptor
        self.pending: Final = pending
        """Bytes that the open character still needs, and the range of the next."""
        self.escape: Final = escape
        self.digits: Final = digits
        """How many more digits the part of a number may have that is being written."""
        ended = acceptor.copy()
        ended.feed(" ")  # ends a number at the root
        self.can_end: Final = ended.complete is not None
        self.mask: bytes | None = None

    def after(self, byte: int) -> JsonState | None:
        """The state behind this byte, None where no value has it."""
        try:
            return self._next[byte]
        except KeyError:
            found = self._next[byte] = self._machine.step(self, byte)
            return found


_WHOLE_CHARACTER: Final = (0, 0, 0)


@final
class JsonTokens:
    """The masks of one vocabulary."""

    __slots__ = ("_deepest", "_longest", "_masks", "_others", "_plain", "_size", "_states", "_trie", "bytes_of")

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.bytes_of: Final = tokens_of(encoding)
        plain = {id for id, data in self.bytes_of.items() if _is_plain(data)}
        self._size: Final = (encoding.n_vocab + 31) // 32 * 4
        self._trie: Final = Trie((data, id) for id, data in self.bytes_of.items())
        self._others: Final = Trie((data, id) for id, data in self.bytes_of.items() if id not in plain)
        mask = bytearray(self._size)
        for id in plain:
            mask[id >> 3] |= 1 << (id & 7)
        self._plain: Final = bytes(mask)
        brackets = [data.count(b"]") + data.count(b"}") for data in self.bytes_of.values()]
        opened = [data.count(b"[") + data.count(b"{") for data in self.bytes_of.values()]
        self._longest: Final = max(map(len, self.bytes_of.values()), default=0)
        self._deepest: Final = (max(brackets, default=0) + 1, max(opened, default=0) + 1)
        self._states: Final[dict[tuple[object, ...], JsonState]] = {}
        self._masks: Final[dict[tuple[object, ...], bytes]] = {}

    def start(self, acceptor: Acceptor) -> JsonState:
        """The state of a text that this acceptor has read."""
        escape = _NO_DIGIT if acceptor.in_escape else _NO_ESCAPE
        return self._state(acceptor.copy(), _WHOLE_CHARACTER, escape, _MOST_DIGITS.get(acceptor.state[0], 0))

    def _state(self, acceptor: Acceptor, pending: tuple[int, int, int], escape: int, digits: int = 0) -> JsonState:
        position, brackets, _, depth = acceptor.state
        key = (position, brackets, depth, pending, escape, digits)
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = JsonState(self, acceptor, pending, escape, digits)
        return found

    def step(self, state: JsonState, byte: int) -> JsonState | None:
        acceptor = state.acceptor
        needed, low, high = state.pending
        if needed:
            if not low <= byte <= high:
                return None
            if needed > 1:
                return self._state(acceptor, (needed - 1, 0x80, 0xBF), state.escape)
            character = "\N{REPLACEMENT CHARACTER}"
        elif byte >= 0x80:
            begun = _lead(byte)
            inside = acceptor.in_string and not acceptor.in_escape and state.escape < _PAIR
            return self._state(acceptor, begun, state.escape) if begun[0] and inside else None
        else:
            if byte < 0x20 and acceptor.in_string:
                return None
            character = chr(byte)
        escape = self._escape(state, byte) if acceptor.in_string else _NO_ESCAPE
        if escape is None:
            return None
        onward = acceptor.copy()
        if onward.feed(character) == 0:
            return None
        if not onward.in_escape and escape in (_NO_DIGIT, _D, _OTHER, _LOW):
            escape = _NO_ESCAPE
        elif not onward.in_escape and escape == _HIGH:
            escape = _PAIR
        position = onward.state[0]
        digits = _MOST_DIGITS.get(position, 0)
        if digits:
            digits = (state.digits if position == acceptor.state[0] else digits) - 1
            if digits < 0:
                return None
        return self._state(onward, _WHOLE_CHARACTER, escape, digits)

    def _escape(self, state: JsonState, byte: int) -> int | None:
        """What of an escape is written behind this byte, None where a surrogate would be alone."""
        escape = state.escape
        if escape == _NO_ESCAPE:
            return _NO_DIGIT if state.acceptor.in_escape and byte == 0x75 else _NO_ESCAPE  # a u
        if escape == _NO_DIGIT:
            return _D if byte in b"dD" else _OTHER
        if escape == _D:
            return _HIGH if byte in b"89abAB" else None if byte in b"cdefCDEF" else _OTHER
        if escape >= _PAIR and escape < _LOW:
            wanted = (b"\\", b"u", b"dD", b"cdefCDEF")[escape - _PAIR]
            return escape + 1 if byte in wanted else None
        return escape

    # --------------------------------------------------------------------------------------------- masks

    def mask(self, state: JsonState) -> bytes:
        """One bit a token, the first in the lowest bit of the first byte: whether it may come next."""
        if state.mask is None:
            closing, opening = self._deepest
            position, brackets, _, depth = state.acceptor.state
            room = min(depth - len(brackets), opening)
            key = (position, brackets[-closing:], room, state.pending, state.escape, min(state.digits, self._longest))
            found = self._masks.get(key)
            if found is None:
                found = self._masks[key] = self._walked(state)
            state.mask = found
        return state.mask

    def _walked(self, state: JsonState) -> bytes:
        acceptor = state.acceptor
        body = acceptor.in_string and not acceptor.in_escape and not state.pending[0] and state.escape == _NO_ESCAPE
        trie = self._others if body else self._trie
        mask = bytearray(self._plain if body else bytes(self._size))
        path: list[JsonState] = [state] * 512
        byte, depth, token, after, twins = trie.byte, trie.depth, trie.token, trie.after, trie.twins
        at, end = 0, len(trie)
        while at < end:
            level = depth[at]
            onward = path[level].after(byte[at])
            if onward is None:
                at = after[at]
                continue
            if level + 1 >= len(path):
                path += [state] * len(path)
            path[level + 1] = onward
            id = token[at]
            if id >= 0:
                mask[id >> 3] |= 1 << (id & 7)
                for twin in twins.get(id, ()):
                    mask[twin >> 3] |= 1 << (twin & 7)
            at += 1
        return bytes(mask)


@lru_cache(maxsize=8)
def json_tokens(encoding: tiktoken.Encoding) -> JsonTokens:
    """The masks of this vocabulary, made once."""
    return JsonTokens(encoding)


def _lead(byte: int) -> tuple[int, int, int]:
    """What must follow the first byte of a character of several: how many bytes, and the range of the next."""
    if 0xC2 <= byte <= 0xDF:
        return 1, 0x80, 0xBF
    if 0xE0 <= byte <= 0xEF:
        return 2, 0xA0 if byte == 0xE0 else 0x80, 0x9F if byte == 0xED else 0xBF
    if 0xF0 <= byte <= 0xF4:
        return 3, 0x90 if byte == 0xF0 else 0x80, 0x8F if byte == 0xF4 else 0xBF
    return _WHOLE_CHARACTER


def _is_plain(data: bytes) -> bool:
    """Whether the token is whole characters of a string's body."""
    if b'"' in data or b"\\" in data or any(byte < 0x20 for byte in data):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
