"""`ToolDecoders`: a stream decoder for every call, fed by a parser's events.

The arguments of a call are checked against the parameters of its tool as they stream; in a request whose tools are
unknown, as JSON alone. A call that can no longer become complete and valid is refused by the event that shows it: the
fragment that the schema or JSON excludes, the text that the parser could not read, the end that came too early, the
name that the request does not declare. An acceptance waits for the engine's own end, because until then the output,
and so the call, may be cut.
"""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, final

from ..errors import LifecycleError
from ..events import CallArguments, CallEnd, CallStart, Finish, Malformed, ReasoningEnd, Why
from ..sealing import reading, seal, unseal
from ..tools import Tools
from .bounds import StreamLimits
from .compiled import CompiledSchema, compile_schema
from .expected import ExpectedNext
from .outcomes import Accepted, CallCode, Incomplete, Refused, StreamCode
from .stream import StreamDecoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..events import Event
    from .compiled import Framing
    from .outcomes import Outcome

SNAPSHOT = 1
"""The version of the decoders' snapshot."""
ENDED_EARLY = "the call ended before its arguments were complete"


T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What became of a call's arguments: an event beside the parser's own, one for each call, and final."""

    index: int
    name: str
    outcome: Accepted[Any] | Refused


@lru_cache(maxsize=64)
def compile_tools(tools: Tools) -> Mapping[str, CompiledSchema[Any]]:
    """The compiled parameters of each tool, by name; `ValueError` names the tool whose schema is none."""
    compiled = {}
    for tool in tools:
        try:
            compiled[tool.name] = compile_schema(tool.parameters)
        except ValueError as error:
            raise ValueError(f"tool {tool.name!r}: {error}") from None
    return MappingProxyType(compiled)


@dataclass(slots=True)
class _Call:
    """One call: its decoder, and what is known of its end. `broken` is a refusal that only its end decides on."""

    name: str
    decoder: StreamDecoder[Any]
    told: bool = False
    cut: bool = False
    broken: Refused | None = None


class ToolDecoders:
    """The decoders of one output's calls. Feed every event in order, then say how the output ended.

    With the canonical `framing`, the line feed that ends a document is supplied where the call's arguments end.
    """

    def __init__(self, tools: Tools | None, *, limits: StreamLimits | None = None, framing: Framing = "json") -> None:
        if tools is not None and not isinstance(tools, Tools):
            raise TypeError(f"expected Tools or None, got {type(tools).__name__}; make them with Tools.of(...)")
        self._schemas = None if tools is None else compile_tools(tools)
        self._limits = limits if limits is not None else StreamLimits.for_calls()
        self._framing: Framing = framing
        self._calls: list[_Call] = []
        self._open: int | None = None  # the call that malformed text belongs to
        self._ended = False  # whether that call ended incomplete, and only the next event tells why
        self._due: deque[CallOutcome] = deque()

    def __getitem__(self, index: int) -> StreamDecoder[Any]:
        """The decoder of a call that started."""
        return self._calls[index].decoder

    def __len__(self) -> int:
        return len(self._calls)

    def feed(self, event: Event) -> CallOutcome | None:
        """Takes one event; the refusal of a call, when this event brought it.

        Text that no JSON goes on with never reaches the client as arguments; the call is refused at its first
        character all the same. Behind a complete value it breaks nothing.
        """
        if self._ended and not isinstance(event, Finish | ReasoningEnd):  # which tell nothing of a call
            self._explain(event)
        if isinstance(event, CallStart):
            self._start(event.name)
        elif isinstance(event, CallArguments):
            self._push(event.index, event.json)
        elif isinstance(event, CallEnd):
            self._end(event)
        elif isinstance(event, Malformed) and self._open is not None:
            self._break(self._open, event)
        return self._due.popleft() if self._due else None

    def _start(self, name: str) -> None:
        schema = self._schema(name)
        index = self._open = len(self._calls)
        decoder: StreamDecoder[Any] = StreamDecoder(schema or _any_json(), limits=self._limits, framing=self._framing)
        self._calls.append(_Call(name, decoder))
        if schema is None:
            known = ", ".join(self._schemas or ()) or "none"
            self._refuse(index, CallCode.UNDECLARED, f"no tool is named {name!r}; declared: {known}")

    def _schema(self, name: str) -> CompiledSchema[Any] | None:
        """What a call of this name is checked against; None for a function that the request does not declare."""
        return _any_json() if self._schemas is None else self._schemas.get(name)

    def _push(self, index: int, text: str) -> None:
        call = self._calls[index]
        if not call.told:
            outcome = call.decoder.push(text)
            if call.decoder.complete:
                outcome = self._complete(call)
            if isinstance(outcome, Refused):
                self._tell(index, outcome)

    def _complete(self, call: _Call) -> Outcome[Any]:
        """The arguments are complete: what the whole document is refused for need not wait for the output's end."""
        if self._framing == "canonical":
            call.decoder.push("\n")
        return call.decoder.validate()

    def _end(self, event: CallEnd) -> None:
        index = event.index
        call = self._calls[index]
        if index == self._open:
            self._open = None
        if call.told:
            return
        if event.complete:
            outcome = call.decoder.outcome if call.decoder.complete else self._complete(call)
            if isinstance(outcome, Refused):
                self._tell(index, outcome)
            return
        call.cut = True
        if call.broken is not None:
            self._tell(index, call.broken)
        elif event.source:
            self._refuse(index, StreamCode.TRUNCATED, ENDED_EARLY)
        else:  # nothing closed it: the parser ended it where it broke, and says next what broke it
            self._open = index
            self._ended = True

    def _explain(self, event: Event) -> None:
        """The first event behind a call that ended with no closer: text that broke it, or anything else."""
        index, self._open = self._open, None
        self._ended = False
        assert index is not None
        if isinstance(event, Malformed):
            self._break(index, event)
        if not self._calls[index].told:
            self._refuse(index, StreamCode.TRUNCATED, ENDED_EARLY)

    def _break(self, index: int, event: Malformed) -> None:
        """Text that the parser could not read stands in the call. What it is refused for is in its first character."""
        call = self._calls[index]
        if call.told or call.broken is not None or event.why not in _BREAKING:
            return
        expected = call.decoder.expected_next
        code, message = _BREAKING[event.why]
        refused = Refused(code, message.format(event.text[:1]), call.decoder.offset)
        if expected & _OVER and not call.cut:  # the value is complete, or a number that may be: the call's end tells
            call.broken = refused
            return
        if event.why is Why.ARGUMENTS:
            outcome = call.decoder.push(event.text[:1])
            if isinstance(outcome, Refused):
                refused = outcome
        self._tell(index, refused)

    def finish(self) -> list[CallOutcome]:
        """The engine ended the output: every call that was not refused yet is decided by its whole document.

        One that the parser saw cut has none, however whole it looks: 12 may have been on its way to 125.
        """
        for call in self._calls:
            if call.cut:
                call.decoder.truncate(ENDED_EARLY)
        return self._end_all(lambda decoder: decoder.finish())

    def truncate(self, reason: str) -> list[CallOutcome]:
        """The output just stopped: no call in it can be trusted to be whole."""
        return self._end_all(lambda decoder: decoder.truncate(reason))

    def cancel(self, reason: str) -> list[CallOutcome]:
        """The caller gave the output up."""
        return self._end_all(lambda decoder: decoder.cancel(reason))

    # ------------------------------------------------------------------------------- the state

    def snapshot(self) -> bytes:
        """The whole state between two events. The tools are given again."""
        return seal("ToolDecoders", SNAPSHOT, self.state())

    def state(self) -> dict[str, Any]:
        """The same as plain JSON values, for a snapshot that holds these decoders."""
        return {
            "limits": asdict(self._limits),
            "framing": self._framing,
            "tools": self._schemas is not None,
            "calls": [
                [call.name, call.decoder.state(), call.told, call.cut, call.broken and _told(call.broken)]
                for call in self._calls
            ],
            "open": self._open,
            "ended": self._ended,
            "due": [outcome.index for outcome in self._due],
        }

    @classmethod
    def restore(cls, data: bytes, tools: Tools | None) -> ToolDecoders:
        """The decoders that gave this snapshot. `LifecycleError`: other tools or version, or no snapshot at all."""
        return cls.from_state(unseal("ToolDecoders", SNAPSHOT, data), tools)

    @classmethod
    def from_state(cls, state: dict[str, Any], tools: Tools | None) -> ToolDecoders:
        """The decoders with this state; `LifecycleError` where it is none."""
        with reading("ToolDecoders"):
            if state["tools"] != (tools is not None):
                known = "with tools" if state["tools"] else "for unknown tools"
                raise LifecycleError(f"ToolDecoders.restore: the snapshot was made {known}")
            self = cls(tools, limits=StreamLimits(**state["limits"]), framing=state["framing"])
            for name, decoder, told, cut, broken in state["calls"]:
                schema = self._schema(name)
                call = _Call(_of(str, name), StreamDecoder.from_state(decoder, schema or _any_json()))
                call.told, call.cut = _of(bool, told), _of(bool, cut)
                if (call.decoder.framing, call.decoder.limits) != (self._framing, self._limits):
                    raise ValueError("a decoder in it has other limits or another framing")
                if call.told and call.decoder.outcome == Incomplete():
                    raise ValueError("a call in it has an outcome that its decoder lacks")
                if broken is not None:
                    code, message, at_byte = broken
                    call.broken = Refused(CallCode(code), _of(str, message), _of(int, at_byte))
                self._calls.append(call)
            if state["open"] is not None:
                self._open = _of(int, state["open"])
                self._calls[self._open]
            self._ended = _of(bool, state["ended"]) and self._open is not None
            for index in state["due"]:
                outcome = self._calls[_of(int, index)].decoder.outcome
                if not isinstance(outcome, Refused):
                    raise ValueError("an outcome that is due in it is no refusal")
                self._due.append(CallOutcome(index, self._calls[index].name, outcome))
        return self

    def copy(self) -> ToolDecoders:
        """Decoders in the same state that go their own way."""
        other = copy.copy(self)
        other._calls = [replace(call, decoder=call.decoder.copy()) for call in self._calls]
        other._due = self._due.copy()
        return other

    def _end_all(self, end: Callable[[StreamDecoder[Any]], Outcome[Any]]) -> list[CallOutcome]:
        for index, call in enumerate(self._calls):
            if not call.told:
                outcome = end(call.decoder)
                assert isinstance(outcome, Accepted | Refused)
                self._tell(index, outcome)
        out = list(self._due)
        self._due.clear()
        return out

    def _refuse(self, index: int, code: StreamCode | CallCode, message: str) -> None:
        self._tell(index, Refused(code, message, self._calls[index].decoder.offset))

    def _tell(self, index: int, outcome: Accepted[Any] | Refused) -> None:
        call = self._calls[index]
        call.told = True
        if isinstance(outcome, Refused):
            outcome = call.decoder.refuse(outcome)
        self._due.append(CallOutcome(index, call.name, outcome))


_OVER = frozenset((ExpectedNext.NOTHING, ExpectedNext.LINE_FEED))
_BREAKING = {
    Why.ARGUMENTS: (CallCode.SHAPE, "unexpected {!r} in the call's arguments"),
    Why.SHAPE: (CallCode.SHAPE, "unexpected {!r}: the call's syntax cannot be read"),
    Why.LIMIT: (CallCode.LIMIT, "a limit of the parser was reached at {!r}"),
}


@lru_cache(maxsize=1)
def _any_json() -> CompiledSchema[Any]:
    return compile_schema(True)


def _told(refused: Refused) -> list[Any]:
    return [str(refused.code), refused.message, refused.at_byte]


def _of(kind: type[T], value: Any) -> T:
    """The value, when it is of this very type."""
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {value!r}")
    return value
