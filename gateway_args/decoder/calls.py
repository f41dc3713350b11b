"""`ToolDecoders`: a stream decoder for every call, fed by a parser's events.

The arguments of a call are checked against the parameters of its tool as they stream; a call to an undeclared function,
or in a request whose tools are unknown, is checked as JSON alone. An acceptance waits for the engine's own end, because
until then the output, and so the call, may be cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

from ..events import CallArguments, CallEnd, CallStart, Malformed, Why
from .bounds import StreamLimits
from .compiled import CompiledSchema, compile_schema
from .expected import ExpectedNext
from .outcomes import Accepted, Refused
from .stream import StreamDecoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..events import Event
    from ..tools import Tools


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


class ToolDecoders:
    """The decoders of one output's calls. Feed every event in order, then say how the output ended."""

    def __init__(self, tools: Tools | None, *, limits: StreamLimits | None = None) -> None:
        self._schemas = {} if tools is None else compile_tools(tools)
        self._limits = limits if limits is not None else StreamLimits.for_calls()
        self._names: list[str] = []
        self._decoders: list[StreamDecoder[Any]] = []
        self._told: set[int] = set()
        self._cut: set[int] = set()
        self._open: int | None = None

    def __getitem__(self, index: int) -> StreamDecoder[Any]:
        """The decoder of a call that started."""
        return self._decoders[index]

    def __len__(self) -> int:
        return len(self._decoders)

    def feed(self, event: Event) -> CallOutcome | None:
        """Takes one event; the refusal of its call, when this event brought it.

        Text that no JSON goes on with never reaches the client as arguments; it is pushed to the call that it broke all
        the same, so that the call is refused there. Behind a whole value it breaks nothing.
        """
        if isinstance(event, CallStart):
            schema = self._schemas.get(event.name) or _any_json()
            self._names.append(event.name)
            self._decoders.append(StreamDecoder(schema, limits=self._limits))
            self._open = len(self._decoders) - 1
        elif isinstance(event, CallArguments):
            return self._push(event.index, event.json)
        elif isinstance(event, CallEnd):
            self._open = None
            if not event.complete:
                self._cut.add(event.index)
        elif isinstance(event, Malformed) and event.why is Why.ARGUMENTS and self._open is not None:
            if self._decoders[self._open].expected_next != {ExpectedNext.NOTHING}:
                return self._push(self._open, event.text)
        return None

    def _push(self, index: int, text: str) -> CallOutcome | None:
        if index not in self._told:
            outcome = self._decoders[index].push(text)
            if isinstance(outcome, Refused):
                return self._tell(index, outcome)
        return None

    def finish(self) -> list[CallOutcome]:
        """The engine ended the output: every call that was not refused yet is decided by its whole document.

        One that the parser saw cut has none, however whole it looks: 12 may have been on its way to 125.
        """
        for index in self._cut:
            self._decoders[index].truncate("the call ended before its arguments were whole")
        return self._settle(lambda decoder: decoder.finish())

    def truncate(self, reason: str) -> list[CallOutcome]:
        """The output just stopped: no call in it can be trusted to be whole."""
        return self._settle(lambda decoder: decoder.truncate(reason))

    def cancel(self, reason: str) -> list[CallOutcome]:
        """The caller gave the output up."""
        return self._settle(lambda decoder: decoder.cancel(reason))

    def _settle(self, end: Any) -> list[CallOutcome]:
        open_calls = [index for index in range(len(self._decoders)) if index not in self._told]
        return [self._tell(index, end(self._decoders[index])) for index in open_calls]

    def _tell(self, index: int, outcome: Accepted[Any] | Refused) -> CallOutcome:
        self._told.add(index)
        return CallOutcome(index, self._names[index], outcome)


@lru_cache(maxsize=1)
def _any_json() -> CompiledSchema[Any]:
    return compile_schema(True)
