"""`Transcript`: the evidence of one stream, line by line; `replay` checks it without the engine.

A transcript is JSON lines, UTF-8, ended by LF. The first line opens it: the setting (see `Setting`), which is the
dispatched request, the format's and the schemas' identities, the limits, and the version of this package. Then one line
for each delta, and one for the end, each with the digest of the events it brought and the outcomes it decided: an
accepted value by its digest, a refusal with its code, message, byte, rule and path. With an adapter's stream as
`output` each line also has the digest of the bytes that the client is sent. The last line says how the engine was
settled. Every line carries a SHA-256 over the line before it and its own content, so a changed byte, a swapped or a
dropped line shows, and the last one (`ReplayReport.chain`), kept elsewhere, stands for the whole.

Call ids are the caller's own and no part of the events' digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import LifecycleError
from ..surrogates import SURROGATE
from ..tokens.detokenizer import Delta, Token
from .calls import CallOutcome
from .outcomes import Accepted, Incomplete, Refused
from .settings import digest, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..events import Event
    from .outcomes import Outcome
    from .settings import DocumentSetting, Setting

Piece = str | bytes | Delta
_HALVES = re.compile(r"(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


class Output(Protocol):
    """What a transcript asks of an adapter's stream."""

    def frames(self, events: Iterable[Event | CallOutcome] = (), /) -> bytes: ...
    def snapshot(self) -> bytes: ...


class Transcript:
    """Writes the evidence of one stream, line by line, to `write` (a text file's own `write`, say).

    `output` is an adapter's stream of the evidence's own: it is fed what the guard says.
    """

    def __init__(
        self, setting: Setting | DocumentSetting, write: Callable[[str], object], *, output: Output | None = None
    ) -> None:
        self._write = write
        self._output = output
        self._count = 0
        self._ended = False
        self.chain = ""
        opening = setting.opening()
        self._line(opening if output is None else {**opening, "output": type(output).__module__.rpartition(".")[2]})

    def delta(self, piece: Piece, emitted: list[Event | CallOutcome]) -> None:
        """A delta and what it brought."""
        if self._ended:
            raise LifecycleError("Transcript.delta: the transcript is ended")
        self._count += 1
        self._line({"n": self._count, "delta": written_piece(piece), **events_record(emitted, self._output)})

    def end(
        self,
        how: str,
        why: str | None,
        emitted: list[Event | CallOutcome],
        engine: str = "ended",
        error: Exception | None = None,
    ) -> None:
        """The stream's end: `finish` with the engine's reason, or `cancel` with the caller's; and its settlement.

        `engine` is what became of the engine: it ended, stopped or failed by itself, or was cancelled; `error` is what
        it, or cancelling it, raised.
        """
        if self._ended:
            raise LifecycleError("Transcript.end: the transcript is ended")
        self._count += 1
        self._ended = True
        decision = {"engine": engine, "error": None if error is None else type(error).__name__}
        content = {"n": self._count, "end": [how, why], "settlement": decision}
        self._line({**content, **events_record(emitted, self._output)})

    def pushed(self, data: bytes | str, outcome: Outcome[Any]) -> None:
        """Bytes of a bare document and what they came to; a refusal ends it."""
        if isinstance(data, str) and SURROGATE.search(data) is not None:  # the halves of a pair are bytes of their own
            data = data.encode("utf-8", "surrogatepass")
        self.delta(data, document_events(outcome))
        if isinstance(outcome, Refused):
            self.end("refused", None, [], "cancelled")

    def decided(self, how: str, why: str | None, outcome: Outcome[Any]) -> None:
        """The end of a bare document: `finish`, `cancel` or `truncate`."""
        engine = {"finish": "ended", "truncate": "stopped"}.get(how, "cancelled")
        self.end(how, why, document_events(outcome), engine)

    def state(self) -> list[Any]:
        """Where the transcript stands, for a snapshot."""
        output = None if self._output is None else base64.b64encode(self._output.snapshot()).decode()
        return [self._count, self._ended, self.chain, output]

    @classmethod
    def from_state(
        cls, state: Any, write: Callable[[str], object], output: Callable[[bytes], Output] | None = None
    ) -> Transcript:
        """The transcript that stood there, going on in `write`; `output` restores its adapter's stream."""
        self = cls.__new__(cls)
        self._write = write
        self._output = None
        match state:
            case [int(count), bool(ended), str(chain), None | str() as stored]:
                self._count, self._ended, self.chain = count, ended, chain
            case _:
                raise ValueError("no state of a transcript")
        if stored is not None:
            if output is None:
                raise LifecycleError("restore: this transcript follows an adapter's stream; give output= to restore it")
            self._output = output(base64.b64decode(stored, validate=True))
        return self

    def _line(self, content: dict[str, Any]) -> None:
        self.chain = link(self.chain, content)
        self._write(written({**content, "chain": self.chain}) + "\n")


def document_events(outcome: Outcome[Any]) -> list[Event | CallOutcome]:
    """The outcome of a bare document, in the form of a call's."""
    return [] if isinstance(outcome, Incomplete) else [CallOutcome(0, "", outcome)]


def written(line: dict[str, Any]) -> str:
    """A line as it is written, its line feed aside: what it says has this one spelling."""
    return json.dumps(line)


def link(chain: str, content: dict[str, Any]) -> str:
    """The chain's next link."""
    return sha256(chain + json.dumps(content, sort_keys=True, separators=(",", ":")))


def written_piece(piece: Piece) -> Any:
    """A delta as JSON."""
    if isinstance(piece, str):
        return piece
    if isinstance(piece, bytes):
        return {"bytes": base64.b64encode(piece).decode()}
    # JSON reads two halves of a surrogate pair as one character, and the tokens count both: they are parted there.
    parts = _HALVES.split(piece.text)
    text = parts[0] if len(parts) == 1 else parts
    return {"text": text, "tokens": [[token.id, token.start, token.end] for token in piece.tokens]}


def read_piece(piece: Any) -> Any:
    """The delta that was written so."""
    if isinstance(piece, str):
        return piece
    if "bytes" in piece:
        return base64.b64decode(piece["bytes"], validate=True)
    return Delta("".join(piece["text"]), [Token(*token) for token in piece["tokens"]])


def events_record(emitted: list[Event | CallOutcome], output: Output | None) -> dict[str, Any]:
    """The digest of the events, and the outcomes themselves; an accepted value is named by its digest."""
    events = [[type(event).__name__, *_fields(event)] for event in emitted if not isinstance(event, CallOutcome)]
    outcomes: list[list[Any]] = []
    for event in emitted:
        if isinstance(event, CallOutcome):
            outcome = event.outcome
            if isinstance(outcome, Accepted):
                outcomes.append([event.index, event.name, "accepted", _digest(outcome.value)])
            else:
                told = [str(outcome.code), outcome.message, outcome.at_byte, outcome.rule, outcome.path]
                outcomes.append([event.index, event.name, "refused", *told])
    line = {"events": digest(events), "outcomes": outcomes}
    return line if output is None else {**line, "sent": hashlib.sha256(output.frames(emitted)).hexdigest()}


def _digest(value: Any) -> str:
    """The digest of an accepted value; that of a type is digested as pydantic writes it."""
    try:
        return digest(value)
    except TypeError:
        from pydantic_core import to_json

        return hashlib.sha256(to_json(value)).hexdigest()


def _fields(event: Event) -> list[Any]:
    return [getattr(event, field.name) for field in fields(event) if field.name not in ("id", "id_kind")]
