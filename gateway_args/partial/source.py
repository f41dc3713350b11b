"""The text of a value in flight, kept so that a complete part of it can be checked as it was written."""

from __future__ import annotations

from io import StringIO
from typing import final


@final
class Source:
    """The text so far, of which any stretch can be read at the cost of its length.

    Offsets count the characters of the stream; `start` is where the value's text begins in it.
    """

    __slots__ = ("_io", "_size", "start")

    def __init__(self) -> None:
        self._io = StringIO(newline="")
        self._size = 0
        self.start = 0

    def add(self, text: str) -> None:
        self._size += self._io.write(text)

    def read(self, start: int, end: int | None = None) -> str:
        """The text between these offsets of the stream."""
        self._io.seek(start - self.start)
        text = self._io.read((self._size if end is None else end - self.start) - (start - self.start))
        self._io.seek(self._size)
        return text
