"""The text of a value in flight, kept so that a complete part of it can be checked as it was written."""

from __future__ import annotations

from io import StringIO
from threading import Lock
from typing import final


@final
class Source:
    """The text so far, of which any stretch can be read at the cost of its length.

    Offsets count from the first text kept; `start` is where that stands in the whole stream.
    """

    __slots__ = ("_at_end", "_io", "_lock", "_size", "start")

    def __init__(self) -> None:
        self._io = StringIO(newline="")
        self._lock = Lock()  # for a seek and what follows: parts may be looked at in any thread
        self._at_end = True
        self._size = 0
        self.start = 0

    def add(self, text: str) -> None:
        with self._lock:
            if not self._at_end:
                self._io.seek(self._size)
                self._at_end = True
            self._size += self._io.write(text)

    def read(self, start: int, end: int | None = None) -> str:
        """The text between these offsets of the stream."""
        with self._lock:
            self._at_end = False
            self._io.seek(start - self.start)
            return self._io.read((self._size if end is None else end - self.start) - (start - self.start))
