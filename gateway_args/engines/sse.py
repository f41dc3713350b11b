"""Server-sent events from bytes, as they come: the data of each event, with its line, within a bound.

Lines end with LF, CR LF or CR. Comments and fields that no engine needs are skipped; llama.cpp's old `error:` field is
data. A line that begins like JSON is data too, so recorded JSON lines read alike. Engines write an event's data in one
line and it is handed out with that line; data that goes over several is joined, as the standard says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

import orjson

from .steps import Fault, FaultKind

MAX_LINE: Final = 4 << 20
"""Bytes of an event that are held at most: a long prompt's token ids come in one line."""
DONE: Final = "[DONE]"
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Data:
    """The JSON value of an event, or `DONE`, and the line where it ended."""

    value: object
    line: int


@dataclass(slots=True)
class Events:
    """Bytes in, data and faults out. Work is linear in the bytes, whatever their pieces."""

    max_line: int = MAX_LINE
    line: int = 0
    _held: list[bytes] = field(default_factory=list)
    _size: int = 0
    _skipping: bool = False
    _after_cr: bool = False
    _joined: list[bytes] = field(default_factory=list)
    _joined_size: int = 0

    def feed(self, piece: bytes) -> list[Data | Fault]:
        found: list[Data | Fault] = []
        if self._after_cr and piece:
            self._after_cr = False
            piece = piece.removeprefix(b"\n")
        if b"\r" in piece:
            self._after_cr = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = piece.split(b"\n")
        for end in lines:
            self._hold(end, found)
            line, skipped = b"".join(self._held), self._skipping
            self._held, self._size, self._skipping = [], 0, False
            self.line += 1
            if not skipped:
                self._line(line, found)
        self._hold(rest, found)
        return found

    def finish(self) -> list[Data | Fault]:
        """What is left at the end of the bytes: a last line without its line break is read if it is whole."""
        found: list[Data | Fault] = []
        line = b"".join(self._held)
        self._held = []
        if line and not self._skipping:
            self.line += 1
            self._line(line, found, last=True)
        if self._joined:
            self._flush(found, FaultKind.CUT)
        return found

    def _hold(self, part: bytes, found: list[Data | Fault]) -> None:
        if not part or self._skipping:
            return
        self._size += len(part)
        if self._size > self.max_line:
            self._held, self._skipping = [], True
            message = f"a line of more than {self.max_line} bytes was skipped"
            found.append(Fault(FaultKind.LINE_TOO_LONG, self.line + 1, message))
        else:
            self._held.append(part)

    def _line(self, line: bytes, found: list[Data | Fault], *, last: bool = False) -> None:
        if self.line == 1:
            line = line.removeprefix(_BOM)
        if not line.strip():
            if self._joined:
                self._flush(found, FaultKind.NOT_JSON)
            return
        if line.startswith((b"data:", b"error:")):
            data = line.partition(b":")[2].removeprefix(b" ")
        elif line.lstrip()[:1] in (b"{", b"["):
            data = line
        else:
            if last and (b"data:".startswith(line) or b"error:".startswith(line)):
                found.append(Fault(FaultKind.CUT, self.line, "the stream ended inside a line"))
            return
        value = _parsed(data)
        if value is not None:
            if self._joined:
                self._flush(found, FaultKind.NOT_JSON, self.line - 1)
            found.append(Data(value, self.line))
            return
        self._joined_size += len(data) + 1
        if self._joined_size > self.max_line:
            self._joined, self._joined_size = [], 0
            message = f"an event of more than {self.max_line} bytes was skipped"
            found.append(Fault(FaultKind.LINE_TOO_LONG, self.line, message))
        else:
            self._joined.append(data)

    def _flush(self, found: list[Data | Fault], kind: FaultKind, line: int | None = None) -> None:
        """The lines of data that were no JSON by themselves, as one event."""
        several = len(self._joined) > 1
        value = _parsed(b"\n".join(self._joined)) if several else None
        self._joined, self._joined_size = [], 0
        if value is not None:
            found.append(Data(value, line or self.line))
        else:
            message = "the stream ended inside an event" if kind is FaultKind.CUT else "an event's data is no JSON"
            found.append(Fault(kind, line or self.line, message))


def _parsed(data: bytes) -> object | None:
    """The value, None when it is no JSON (or `null`, which no engine sends)."""
    if data.strip() == b"[DONE]":
        return DONE
    try:
        value: object = orjson.loads(data)
        return value
    except orjson.JSONDecodeError:
        pass
    try:  # lone surrogates and NaN, as Python's own servers write them
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value
