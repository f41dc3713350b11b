"""Reads the header of a GGUF file: its key-value pairs, never its tensors.

The layout is public: the magic `GGUF`, a version, two counts, then pairs of a key, a type and a value, little-endian.
What is read is bounded, for the file may be anybody's.
"""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING, Any, Final

from .renderer import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

_FORMATS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING: Final = 8
_ARRAY: Final = 9
_MOST_PAIRS: Final = 4096
_MOST_TEXT: Final = 1 << 24
_MOST_ITEMS: Final = 1 << 22
_MOST_BYTES: Final = 1 << 28


def read_header(path: Path, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The pairs whose key begins with one of these words. Raises `Unreadable` for a file that is no GGUF."""
    with path.open("rb") as file:
        reader = _Reader(file, str(path))
        if reader.bytes(4) != b"GGUF":
            raise Unreadable(f"{path}: no GGUF file (it does not begin with GGUF)")
        version = reader.number("I")
        if version not in (2, 3):
            raise Unreadable(f"{path}: GGUF version {version}; versions 2 and 3 are read")
        reader.number("Q")  # tensors
        pairs = reader.number("Q")
        if pairs > _MOST_PAIRS:
            raise Unreadable(f"{path}: {pairs} key-value pairs; {_MOST_PAIRS} are the most")
        found = {}
        for _ in range(pairs):
            key = reader.text()
            value = reader.value(reader.number("I"))
            if key.startswith(wanted):
                found[key] = value
        return found


class _Reader:
    """Reads values one after the other; a file that ends too soon is `Unreadable`."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file = file
        self._where = where
        self._left = _MOST_BYTES

    def bytes(self, count: int) -> bytes:
        self._left -= count
        if self._left < 0:
            raise Unreadable(f"{self._where}: a header of more than {_MOST_BYTES} bytes")
        data = self._file.read(count)
        if len(data) < count:
            raise Unreadable(f"{self._where}: the file ends inside its header")
        return data

    def number(self, code: str) -> Any:
        return struct.unpack("<" + code, self.bytes(struct.calcsize(code)))[0]

    def text(self) -> str:
        length = self.number("Q")
        if length > _MOST_TEXT:
            raise Unreadable(f"{self._where}: a text of {length} bytes in the header")
        return self.bytes(length).decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind in _FORMATS:
            return self.number(_FORMATS[kind])
        if kind != _ARRAY:
            raise Unreadable(f"{self._where}: a value of the unknown type {kind} in the header")
        inner, count = self.number("I"), self.number("Q")
        if count > _MOST_ITEMS or inner == _ARRAY:
            raise Unreadable(f"{self._where}: a list in the header that no model has ({count} items)")
        if inner in _FORMATS:
            code = _FORMATS[inner]
            return list(struct.unpack(f"<{count}{code}", self.bytes(count * struct.calcsize("<" + code))))
        return [self.value(inner) for _ in range(count)]
