"""The text of a value in flight, kept so that a complete part of it can be checked as it was written."""

from __future__ import annotations

from io import SEEK_END, StringIO
from typing import final


@final
class Source:
    """The text so far, of which any stretch can be read at the cost of its length.

    Offsets count the characters of the stream; `start` is where the value's text begins in it.
    """

    __slots__ = ("_io", "add", "start")

    def __init__(self) -> None:
        self._io = StringIO(newline="")
        self.add = self._io.write
        self.start = 0

    def read(self, start: int, end: int | None = None) -> str:
        """The text between these offsets of the stream."""
        self._io.seek(start - self.start)
        text = self._io.read(-1 if end is None else end - start)
        self._io.seek(0, SEEK_END)
        return text
