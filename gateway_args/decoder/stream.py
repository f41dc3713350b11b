"""`StreamDecoder`: one document, decoded as its bytes arrive.

The machine refuses early what no valid document goes on like; it never admits. Only `finish`, by handing the exact
bytes to the whole-document decoder, can. So a defect in the machine cannot authorise a value.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from .bounds import StreamLimits
from .compiled import CompiledSchema, Framing, compile_schema
from .expected import ExpectedNext, expected_next
from .grammar import Grammar
from .outcomes import Accepted, Incomplete, Outcome, Refusal, Refused, StreamCode
from .scanner import Scanner
from .validation import DocumentError

T_co = TypeVar("T_co", covariant=True)
INCOMPLETE = Incomplete()
LONGEST_MESSAGE = 400


class StreamDecoder(Generic[T_co]):
    """Decodes one stream; the outcome is a function of the bytes, not of how they were cut.

    `push` says `Incomplete` or `Refused`, `finish` `Accepted` or `Refused`; both and `cancel` repeat a final outcome
    for ever. A `str` is pushed as its UTF-8 bytes, and every offset counts bytes.
    """

    def __init__(
        self,
        schema: CompiledSchema[T_co] | Any,
        *,
        limits: StreamLimits | None = None,
        framing: Framing = "json",
    ) -> None:
        if framing not in ("json", "canonical"):
            raise ValueError(f"framing: {framing!r} is neither 'json' nor 'canonical'")
        self.schema: CompiledSchema[T_co] = schema if isinstance(schema, CompiledSchema) else compile_schema(schema)
        self.limits = limits if limits is not None else StreamLimits()
        self.framing: Framing = framing
        canonical = framing == "canonical"
        self._grammar = Grammar(self.schema.root, self.limits, ordered=canonical)
        self._scanner = Scanner(self._grammar, self.limits, canonical=canonical)
        self._buffer = bytearray()
        self._room = self.limits.max_bytes
        self._outcome: Accepted[T_co] | Refused | None = None

    def push(self, data: bytes | str) -> Outcome[T_co]:
        """Takes the next bytes; what a refused one brings is not kept."""
        if self._outcome is not None:
            return self._outcome
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogatepass")
        room = self._room
        try:
            if len(data) > room:
                self._scanner.feed(data[:room])
                raise Refusal(StreamCode.BYTES, f"more than {self.limits.max_bytes} bytes (max_bytes)")
            self._scanner.feed(data)
        except Refusal as refusal:
            return self._refuse(refusal.code, refusal.message)
        self._buffer += data
        self._room = room - len(data)
        return INCOMPLETE

    def finish(self) -> Outcome[T_co]:
        """No more bytes are coming: the whole-document decoder judges those that came."""
        if self._outcome is not None:
            return self._outcome
        try:
            if not self._scanner.finish():
                return self._refuse(StreamCode.TRUNCATED, "the stream ended before the document was whole")
            value = self.schema.decode(bytes(self._buffer), self.framing)
        except Refusal as refusal:
            return self._refuse(refusal.code, refusal.message)
        except DocumentError as error:
            return self._refuse(StreamCode.SEMANTIC, f"{error.path}: {error}", error.rule, error.path)
        self._outcome = Accepted(value)
        self._buffer.clear()
        return self._outcome

    def cancel(self, reason: str) -> Outcome[T_co]:
        """Gives the stream up; an outcome that is final already stays."""
        return self._outcome or self._refuse(StreamCode.CANCELLED, reason)

    def truncate(self, reason: str) -> Outcome[T_co]:
        """The stream stopped without its sender's end: however whole the bytes look, more may have been meant."""
        return self._outcome or self._refuse(StreamCode.TRUNCATED, reason)

    def _refuse(self, code: StreamCode, message: str, rule: str = "", path: str = "") -> Refused:
        if len(message) > LONGEST_MESSAGE:  # names and texts of the document stand in it
            message = message[:LONGEST_MESSAGE] + "…"
        self._outcome = refused = Refused(code, message, self._scanner.offset, rule, path)
        self._buffer.clear()
        return refused

    @property
    def outcome(self) -> Outcome[T_co]:
        """The outcome so far."""
        return self._outcome or INCOMPLETE

    @property
    def expected_next(self) -> frozenset[ExpectedNext]:
        """What the next byte may begin or continue; empty once the outcome is final."""
        return frozenset() if self._outcome is not None else expected_next(self._scanner)

    @property
    def grammar_work(self) -> int:
        """The grammar transitions charged so far."""
        return self._grammar.work

    @property
    def offset(self) -> int:
        """The bytes taken so far."""
        return self._scanner.offset
