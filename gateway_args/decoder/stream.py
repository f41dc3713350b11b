"""`StreamDecoder`: one document, decoded as its bytes arrive.

The machine refuses early what no valid document goes on like; it never accepts. Only `finish`, by handing the exact
bytes to the whole-document decoder, can. So a defect in the machine cannot authorise a value.
"""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import LifecycleError
from ..sealing import reading, seal, unseal
from .bounds import StreamLimits
from .compiled import CompiledSchema, Framing, compile_schema
from .expected import ExpectedNext, expected_next
from .grammar import Grammar
from .outcomes import LONGEST_MESSAGE, Accepted, CallCode, Incomplete, Outcome, Refusal, Refused, StreamCode
from .scanner import Scanner
from .validation import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .transcript import Transcript

T_co = TypeVar("T_co", covariant=True)
INCOMPLETE = Incomplete()
SNAPSHOT = 1
"""The version of a decoder's snapshot."""


class StreamDecoder(Generic[T_co]):
    """Decodes one stream; the outcome is a function of the bytes, not of how they were cut.

    `push` says `Incomplete` or `Refused`, `finish` `Accepted` or `Refused`; both and `cancel` repeat a final outcome
    for ever. A `str` is pushed as its UTF-8 bytes, and every offset counts bytes. `strict` (by default True) is
    `compile_schema`'s, where the schema is not compiled yet. A `transcript` (of a `DocumentSetting`) records it all.
    """

    def __init__(
        self,
        schema: CompiledSchema[T_co] | Any,
        *,
        limits: StreamLimits | None = None,
        framing: Framing = "json",
        strict: bool | None = None,
        transcript: Transcript | None = None,
    ) -> None:
        if framing not in ("json", "canonical"):
            raise ValueError(f"framing: expected 'json' or 'canonical', got {framing!r}")
        if limits is not None and not isinstance(limits, StreamLimits):
            raise TypeError(f"limits: expected StreamLimits, got {type(limits).__name__}")
        if isinstance(schema, CompiledSchema):
            if strict is not None and strict != schema.strict:
                raise ValueError(f"strict: {strict!r}, but the schema was compiled with {schema.strict!r}")
            self.schema: CompiledSchema[T_co] = schema
        else:
            self.schema = compile_schema(schema, strict=strict is not False)
        self.limits = limits if limits is not None else StreamLimits()
        self.framing: Framing = framing
        canonical = framing == "canonical"
        self._grammar = Grammar(self.schema.root, self.limits, ordered=canonical)
        self._scanner = Scanner(self._grammar, self.limits, canonical=canonical)
        self._buffer = bytearray()
        self._room = self.limits.max_bytes
        self._outcome: Accepted[T_co] | Refused | None = None
        self._transcript = transcript
        self._validated: Accepted[T_co] | None = None  # what `finish` will say if nothing follows

    def push(self, data: bytes | str) -> Outcome[T_co]:
        """Takes the next bytes; what a refused one brings is not kept."""
        if self._outcome is not None:
            return self._outcome
        if not isinstance(data, bytes | str):
            raise TypeError(f"StreamDecoder.push: expected bytes or str, got {type(data).__name__}")
        outcome = self._push(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
        if self._transcript is not None:
            self._transcript.pushed(data, outcome)
        return outcome

    def _push(self, data: bytes) -> Outcome[T_co]:
        if not data:
            return INCOMPLETE
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
        """No more bytes are coming: the whole-document decoder decides on those that came."""
        if self._outcome is not None:
            return self._outcome
        return self._decided("finish", None, self._finish())

    def _finish(self) -> Accepted[T_co] | Refused:
        try:
            if not self._scanner.finish():
                return self._refuse(StreamCode.TRUNCATED, "the stream ended before the document was complete")
        except Refusal as refusal:
            return self._refuse(refusal.code, refusal.message)
        self.validate()
        self._outcome = self._outcome or self._validated
        assert self._outcome is not None
        return self._outcome

    def validate(self) -> Outcome[T_co]:
        """The whole-document decoder on a document that is `complete`: a refusal is final, an acceptance waits.

        `finish` does this anyway; before it, it tells early what a prefix cannot (a `pattern`, a `not`).
        """
        if self._outcome is not None:
            return self._outcome
        if not self.complete or self._validated is not None:
            return INCOMPLETE
        try:
            value = self.schema.decode(bytes(self._buffer), self.framing)
        except DocumentError as error:
            return self._refuse(StreamCode.SEMANTIC, f"{error.path}: {error}", error.rule, error.path)
        self._validated = Accepted(value)
        return INCOMPLETE

    def cancel(self, reason: str) -> Outcome[T_co]:
        """Gives the stream up; an outcome that is final already stays."""
        return self._outcome or self._decided("cancel", reason, self._refuse(StreamCode.CANCELLED, reason))

    def truncate(self, reason: str) -> Outcome[T_co]:
        """The stream stopped without its sender's end: however whole the bytes look, more may have been meant."""
        return self._outcome or self._decided("truncate", reason, self._refuse(StreamCode.TRUNCATED, reason))

    def _decided(self, how: str, why: str | None, outcome: Accepted[T_co] | Refused) -> Accepted[T_co] | Refused:
        if self._transcript is not None:
            self._transcript.decided(how, why, outcome)
        return outcome

    def refuse(self, refused: Refused) -> Accepted[T_co] | Refused:
        """Gives the stream up for a reason of the caller's own; an outcome that is final already stays."""
        if self._outcome is None:
            self._outcome = refused
            self._buffer.clear()
        return self._outcome

    # ------------------------------------------------------------------------------- the state

    def snapshot(self) -> bytes:
        """The whole state between two pushes: the bytes so far, which decide it. The schema is given again."""
        state = self.state()
        if self._transcript is not None:
            state["transcript"] = self._transcript.state()
        return seal("StreamDecoder", SNAPSHOT, state)

    def state(self) -> dict[str, Any]:
        """The same as plain JSON values, for a snapshot that holds this decoder."""
        outcome: list[Any] | None = None
        if isinstance(self._outcome, Accepted):
            outcome = ["accepted"]
        elif self._outcome is not None:
            refused = self._outcome
            told = [refused.message, refused.at_byte, refused.rule, refused.path]
            outcome = [str(refused.code), *told, self._scanner.offset, self._grammar.work]
        return {
            "schema": self.schema.identity,
            "limits": asdict(self.limits),
            "framing": self.framing,
            "document": base64.b64encode(self._buffer).decode(),
            "outcome": outcome,
        }

    @classmethod
    def restore(
        cls, data: bytes, schema: CompiledSchema[T_co] | Any, *, write: Callable[[str], object] | None = None
    ) -> StreamDecoder[T_co]:
        """The decoder that gave this snapshot, in time linear in the bytes it had taken.

        Its transcript, if it had one, goes on in `write`.

        A schema that is not compiled yet is compiled as strict. `LifecycleError`: another schema or version, or no
        snapshot at all.
        """
        state = unseal("StreamDecoder", SNAPSHOT, data)
        self = cls.from_state(state, schema)
        if "transcript" in state:
            if write is None:
                raise LifecycleError("StreamDecoder.restore: it writes a transcript; give write= to go on with it")
            from .transcript import Transcript

            with reading("StreamDecoder"):
                self._transcript = Transcript.from_state(state["transcript"], write)
        return self

    @classmethod
    def from_state(cls, state: dict[str, Any], schema: CompiledSchema[T_co] | Any) -> StreamDecoder[T_co]:
        """The decoder with this state; `LifecycleError` where it is none."""
        with reading("StreamDecoder"):
            compiled: CompiledSchema[T_co] = schema if isinstance(schema, CompiledSchema) else compile_schema(schema)
            if state["schema"] != compiled.identity:
                raise LifecycleError("StreamDecoder.restore: the snapshot was made with another schema than this one")
            self = cls(compiled, limits=StreamLimits(**state["limits"]), framing=state["framing"])
            document = base64.b64decode(state["document"], validate=True)
            if isinstance(self.push(document), Refused) or document != self._buffer:
                raise ValueError("the bytes in it are refused")
            match state["outcome"]:
                case None:
                    pass
                case ["accepted"]:
                    if not isinstance(self.finish(), Accepted):
                        raise ValueError("the document in it is not valid")
                case [str(code), str(message), int(at_byte), str(rule), str(path), int(offset), int(work)]:
                    self.refuse(Refused(_code(code), message, at_byte, rule, path))
                    self._scanner.offset = offset
                    self._grammar.work = work
                case outcome:
                    raise ValueError(f"no outcome: {outcome!r}")
        return self

    def copy(self) -> StreamDecoder[T_co]:
        """A decoder in the same state that goes its own way, and writes no transcript."""
        other: StreamDecoder[T_co] = StreamDecoder(self.schema, limits=self.limits, framing=self.framing)
        other._grammar = self._grammar.copy()
        other._scanner = self._scanner.copy(other._grammar)
        other._buffer = self._buffer.copy()
        other._room = self._room
        other._outcome = self._outcome
        other._validated = self._validated
        return other

    def _refuse(self, code: StreamCode, message: str, rule: str = "", path: str = "") -> Refused:
        if len(message) > LONGEST_MESSAGE:  # names and texts of the document stand in it
            message = message[:LONGEST_MESSAGE] + "…"
        refused = Refused(code, message, self._scanner.offset, rule, path)
        self.refuse(refused)
        return refused

    @property
    def outcome(self) -> Outcome[T_co]:
        """The outcome so far."""
        return self._outcome or INCOMPLETE

    @property
    def complete(self) -> bool:
        """Whether the bytes so far are a whole document; a number at the root is one only once `finish` says so."""
        return self._scanner.complete and not isinstance(self._outcome, Refused)

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


def _code(code: str) -> StreamCode | CallCode:
    return CallCode(code) if code in set(CallCode) else StreamCode(code)
