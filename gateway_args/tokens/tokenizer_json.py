"""`FastVocabulary`: ids to text as a Hugging Face fast tokenizer (`tokenizer.json`) decodes them, one id at a time.

Read are the vocabulary, the added tokens and the decoder, which says how tokens become text: bytes spelled as
characters (ByteLevel), or SentencePiece's pieces (`▁` for a space, `<0x0A>` for a byte without a piece). The file
is data: nothing in it is run, and merges, normalizers and pre-tokenizers are not looked at.

Decisions:
- An output goes on behind a prompt, so a piece keeps its leading space; what a decoder strips at the beginning of a
  text (`Strip`, Metaspace's first space) is not stripped.
- A special token is its own text, whatever the decoder would make of it; any other added token is decoded as the
  pieces are (Gemma's `▁▁` is two spaces).
- Bytes that are no UTF-8 become U+FFFD as `TokenDecoder` says, where `ByteFallback` writes one for each byte.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    Piece = Callable[[str], bytes]

MOST: Final = 1 << 28
"""Bytes of a `tokenizer.json` that are read at most."""


def byte_characters() -> list[str]:
    """The character that stands for each byte in a byte-level BPE's file: itself if printable, else one above 255."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


class FastVocabulary:
    """What `TokenDecoder` asks of a vocabulary, from a `tokenizer.json`; immutable and shared by threads."""

    def __init__(self, where: str, data: Mapping[str, Any]) -> None:
        self.name: Final = where
        model = _entry(where, data, "model", dict)
        decoder = data.get("decoder")
        if decoder is None:
            _refuse(where, "decoder", "there is none; a tokenizer without one joins its tokens with spaces")
        piece = _piece(where, decoder)
        self._bytes: dict[int, bytes] = {id: piece(text) for text, id in _vocabulary(where, model).items()}
        self._special: dict[int, str] = {}
        self._added: dict[str, int] = {}
        listed = _entry(where, data, "added_tokens", list) if data.get("added_tokens") is not None else []
        for number, token in enumerate(listed):
            match token:
                case {"content": str(text), "id": int(id)}:
                    self._added[text] = id
                    if token.get("special"):
                        self._special[id] = text
                    self._bytes[id] = _utf8(text) if token.get("special") else piece(text)
                case _:
                    _refuse(where, f"added_tokens[{number}]", "expected an object with content and id")

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return max(self._bytes, default=-1) + 1

    def decode_single_token_bytes(self, token: int, /) -> bytes:
        return self._bytes[token]

    def is_special_token(self, token: int, /) -> bool:
        return token in self._special

    def encode_single_token(self, text_or_bytes: str | bytes, /) -> int:
        """The one token that is this text; an added one before others. `KeyError` when there is none."""
        if isinstance(text_or_bytes, str):
            if text_or_bytes in self._added:
                return self._added[text_or_bytes]
            text_or_bytes = _utf8(text_or_bytes)
        return self._ids[text_or_bytes]

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for id, data in self._bytes.items():
            found.setdefault(data, id)
        return found

    def __repr__(self) -> str:
        return f"FastVocabulary({self.name!r}, {len(self._bytes)} tokens)"


def read(path: str | os.PathLike[str]) -> FastVocabulary:
    """The vocabulary of this `tokenizer.json`, or of the one in this folder.

    `OSError` when it cannot be read; `ValueError` names the place in the file and what was expected there.
    """
    import orjson

    file = Path(path)
    if file.is_dir():
        file /= "tokenizer.json"
    where = str(file)
    if file.stat().st_size > MOST:
        raise ValueError(f"{where}: more than {MOST} bytes")
    try:
        data = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise ValueError(f"{where}: no JSON: {error}; expected the tokenizer.json of a fast tokenizer") from None
    if not isinstance(data, dict) or "model" not in data:
        raise ValueError(f"{where}: no model in it; expected the tokenizer.json of a fast tokenizer")
    return FastVocabulary(where, data)


def _vocabulary(where: str, model: Mapping[str, Any]) -> dict[str, int]:
    """The model's tokens: an object of text -> id, or Unigram's list of text and score."""
    vocab = model.get("vocab")
    if isinstance(vocab, dict):
        for text, id in vocab.items():
            if type(id) is not int or id < 0:
                _refuse(where, f"model.vocab[{text!r}]", f"expected an id, got {id!r}")
        return vocab
    if not isinstance(vocab, list):
        _refuse(where, "model.vocab", "expected an object of tokens and ids, or Unigram's list")
    found: dict[str, int] = {}
    for id, entry in enumerate(vocab):
        if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
            _refuse(where, f"model.vocab[{id}]", "expected a list of a text and its score")
        found.setdefault(entry[0], id)
    return found


def _piece(where: str, decoder: object) -> Piece:
    """How one token's spelling becomes bytes."""
    steps = [("decoder", decoder)]
    if isinstance(decoder, dict) and decoder.get("type") == "Sequence":
        inner = _entry(where, decoder, "decoders", list, "decoder.decoders")
        steps = [(f"decoder.decoders[{number}]", step) for number, step in enumerate(inner)]
    replaced: list[tuple[str, str]] = []
    fallback = False
    for at, step in steps:
        match step:
            case {"type": "ByteLevel"}:
                return _byte_level
            case {"type": "Metaspace", "replacement": str(mark)} if mark:
                replaced.append((mark, " "))
            case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if old:
                replaced.append((old, new))
            case {"type": "ByteFallback"}:
                fallback = True
            case {"type": "Fuse"} | {"type": "Strip", "stop": 0}:
                pass
            case _:
                given = step.get("type") if isinstance(step, dict) else step
                _refuse(where, at, f"{given!r} is no decoder of single tokens; known are ByteLevel and SentencePiece's")

    def sentence_piece(text: str) -> bytes:
        if fallback and len(text) == 6 and text.startswith("<0x") and text[5] == ">":
            try:
                return bytes([int(text[3:5], 16)])
            except ValueError:
                pass
        for old, new in replaced:
            text = text.replace(old, new)
        return _utf8(text)

    return sentence_piece


_BYTE_OF: Final = {character: byte for byte, character in enumerate(byte_characters())}


def _byte_level(text: str) -> bytes:
    """The bytes that the characters stand for; the text itself where one stands for none."""
    try:
        return bytes([_BYTE_OF[character] for character in text])
    except KeyError:
        return _utf8(text)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _entry(where: str, data: Mapping[str, Any], key: str, kind: type, path: str = "") -> Any:
    value = data.get(key)
    if not isinstance(value, kind):
        _refuse(where, path or key, f"expected {'an object' if kind is dict else 'a list'}, got {type(value).__name__}")
    return value


def _refuse(where: str, path: str, given: str) -> NoReturn:
    raise ValueError(f"{where}: {path}: {given}")
