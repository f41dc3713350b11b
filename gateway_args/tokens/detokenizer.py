"""Deltas with their tokens, and the decoder that makes them from token ids.

Offsets are characters of the delta's own text. A character belongs to the token that brought its first byte; a token
that brought the first byte of no character is zero-width, where it stands. Every id fed is a token of exactly one
delta, in order, and the tokens' spans cover the text with no gap and no overlap.

Decisions of the decoder:
- A token that ends in the middle of a UTF-8 sequence is held back, with those that go on in that sequence, until it is
  whole or broken. Held are at most one token and the rest of one sequence.
- Broken bytes become U+FFFD as `bytes.decode(errors="replace")` writes them, so the joined text is that of the joined
  bytes. Where an added token, an unknown id or the end stands, the bytes before it are decoded on their own.
- An added token's text is exactly its own token's span. With `skip_special` it is zero-width instead, as an engine with
  `skip_special_tokens` writes it; the ids are still there for a parser that knows the `markers`.
- An id that the vocabulary does not know is a zero-width token, counted in `unknown`; the first one is kept in
  `first_unknown`.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Sequence  # noqa: TC003 - a compiled dataclass looks its fields' types up at run time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
@dataclass(slots=True, init=False)
class Token:
    """One token of a delta: its id and the characters `start` to `end` that belong to it."""

    id: int
    start: int
    end: int

    def __init__(self, id: int, start: int, end: int) -> None:
        self.id = id
        self.start = start
        self.end = end


@final
@dataclass(slots=True, init=False)
class Delta:
    """A piece of a model's output, with its tokens when their ids are known."""

    text: str
    tokens: Sequence[Token]

    def __init__(self, text: str, tokens: Sequence[Token] = ()) -> None:
        self.text = text
        self.tokens = tokens


class Encoding(Protocol):
    """What the decoder asks of a vocabulary: these methods of `tiktoken.Encoding`."""

    def decode_single_token_bytes(self, token: int, /) -> bytes: ...
    def encode_single_token(self, text_or_bytes: str, /) -> int: ...
    def is_special_token(self, token: int, /) -> bool: ...


class MarkerTexts(Protocol):
    """What `TokenDecoder.markers` asks of a format."""

    def marker_texts(self) -> Iterable[str]: ...


@final
class TokenDecoder:
    """Token ids of one output to deltas, in any grouping of the ids."""

    __slots__ = ("_encoding", "_held", "_skip_special", "_waiting", "first_unknown", "unknown")

    def __init__(self, encoding: Encoding, *, skip_special: bool = False) -> None:
        self._encoding = encoding
        self._skip_special = skip_special
        # The bytes of a sequence that is not whole yet, and the tokens held for it: the first brought its first byte,
        # and has the text before it; the others have none.
        self._held = b""
        self._waiting: list[tuple[int, str]] = []
        self.unknown: int = 0
        self.first_unknown: int | None = None

    def feed(self, ids: int | Sequence[int]) -> Delta:
        """The next id or ids as a delta; its text ends before a sequence that is not whole yet."""
        ready: list[tuple[int, str]] = []
        for id in (ids,) if isinstance(ids, int) else ids:
            try:
                data = self._encoding.decode_single_token_bytes(id)
            except (KeyError, OverflowError):
                if not self.unknown:
                    self.first_unknown = id
                self.unknown += 1
                self._flush(ready)
                ready.append((id, ""))
                continue
            if self._encoding.is_special_token(id):
                self._flush(ready)
                ready.append((id, "" if self._skip_special else data.decode("utf-8", "replace")))
            else:
                self._take(id, data, ready)
        return _delta(ready)

    def finish(self) -> Delta:
        """What is still held, at the end of the output; the decoder is then as new."""
        ready: list[tuple[int, str]] = []
        self._flush(ready)
        return _delta(ready)

    def markers(self, format: MarkerTexts) -> dict[str, int]:
        """The format's markers that this vocabulary has as one token each: text -> id, for `Parser(markers=...)`."""
        found = {}
        for text in format.marker_texts():
            try:
                found[text] = self._encoding.encode_single_token(text)
            except KeyError:
                continue
        return found

    def _take(self, id: int, data: bytes, ready: list[tuple[int, str]]) -> None:
        """Read an ordinary token's bytes."""
        if self._held:
            data = self._held + data
        text, read = utf_8_decode(data, "replace", False)
        held = data[read:]
        if len(held) == 2 and held[0] == 0xED and held[1] >= 0xA0:
            # The codec waits for the third byte of an encoded surrogate, although no third byte makes it a character.
            text += "\ufffd\ufffd"
            held = b""
        if self._held and text:
            # The held sequence is decided: its character, or the U+FFFD for it, goes to the token that began it.
            first, before = self._waiting[0]
            self._waiting[0] = (first, before + text[0])
            ready += self._waiting
            self._waiting = []
            text = text[1:]
        self._held = held
        if held:
            self._waiting.append((id, text))
        else:
            ready.append((id, text))

    def _flush(self, ready: list[tuple[int, str]]) -> None:
        """Give up the held sequence: nothing that could complete it comes."""
        if self._held:
            first, before = self._waiting[0]
            self._waiting[0] = (first, before + "\ufffd")
            ready += self._waiting
            self._waiting = []
            self._held = b""


def _delta(ready: list[tuple[int, str]]) -> Delta:
    """Tokens with their texts as one delta."""
    tokens = []
    at = 0
    for id, text in ready:
        tokens.append(Token(id, at, at + len(text)))
        at += len(text)
    return Delta("".join([text for _, text in ready]), tokens)
