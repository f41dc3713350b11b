"""`Reader` turns the bytes of an engine's response, as they come, into steps and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from ..errors import LifecycleError
from .shapes import (
    MAX_CHOICES,
    Memory,
    Shape,
    ShapeError,
    error_of,
    llama_completion,
    openai_chat,
    openai_completions,
    sglang_generate,
    shape_of,
    triton_generate,
)
from .sse import DONE, MAX_LINE, Data, Events
from .steps import Fault, FaultKind, Step

Endpoint = Literal["completions", "chat", "native"]


@dataclass(frozen=True, slots=True)
class Wire:
    """How one endpoint of an engine speaks: its path, and the shape of its objects.

    `tells_finish`: whether its stream has finish reasons; without them the end of the bytes is the end of the output.
    """

    path: str
    shape: Shape
    tells_finish: bool = True


_COMPLETIONS: Final = Wire("/v1/completions", openai_completions)
_CHAT: Final = Wire("/v1/chat/completions", openai_chat)
_OPENAI: Final = {"completions": _COMPLETIONS, "chat": _CHAT}
ENGINES: Final[Mapping[str, Mapping[str, Wire]]] = {
    "vllm": _OPENAI,
    "sglang": {**_OPENAI, "native": Wire("/generate", sglang_generate)},
    "llama.cpp": {**_OPENAI, "native": Wire("/completion", llama_completion)},
    "trtllm": {**_OPENAI, "native": Wire("/v2/models/ensemble/generate_stream", triton_generate, tells_finish=False)},
    "plain": _OPENAI,
}
"""Engine kind -> endpoint -> how it speaks."""


def wire(engine: str, endpoint: str) -> Wire:
    """ValueError names what there is."""
    if engine not in ENGINES:
        raise ValueError(f"no engine of kind {engine!r}: one of {', '.join(ENGINES)}")
    if endpoint not in ENGINES[engine]:
        has = ", ".join(ENGINES[engine])
        known = "" if endpoint in get_args(Endpoint) else f" (one of {', '.join(get_args(Endpoint))})"
        raise ValueError(f"{engine} has no endpoint {endpoint!r}{known}; it has {has}")
    return ENGINES[engine][endpoint]


class Reader:
    """Reads one response: server-sent events, or one JSON object (a response that was not streamed).

    Nothing that an engine sends is an exception: what cannot be read is a `Fault`, and reading goes on with the next
    event. Whoever answers a client stops at the first fault, for text may be missing. Held is one line at most
    (`max_line` bytes), and of cumulative text the length and the end.
    """

    def __init__(self, wire: Wire | None, *, cumulative: bool | None = None, max_line: int = MAX_LINE) -> None:
        self._wire = wire
        self._events = Events(max_line)
        self._memory = Memory(cumulative)
        self._open: dict[int, bool] = {}  # choice -> whether it still has no finish reason
        self._over = False
        self._done = False
        self._failed = False

    @property
    def done(self) -> bool:
        """Whether the engine said that the response is over (`[DONE]`)."""
        return self._done

    def feed(self, data: bytes) -> list[Step | Fault]:
        """The steps in these bytes."""
        if self._over:
            raise LifecycleError("Reader.feed: the stream is over; make another reader for another response")
        return self._read(self._events.feed(data))

    def finish(self, *, cut: bool = False) -> list[Step | Fault]:
        """The bytes are over; `cut` when the transport said that they ended too early.

        A choice without a finish reason is a fault, unless this endpoint tells none: then it ended by `stop`.
        """
        if self._over:
            raise LifecycleError("Reader.finish: the stream is over already")
        found = self._read(self._events.finish())
        self._over = True
        if self._failed:
            return found
        missing = [choice for choice, still in self._open.items() if still]
        if cut:
            found.append(Fault(FaultKind.CUT, self._events.line, "the connection ended before the response did"))
        elif self._wire is not None and not self._wire.tells_finish:
            found += [Step(choice=choice, finish="stop") for choice in missing]
        elif missing or not self._open:
            which = f"choice {missing[0]}" if missing else "any choice"
            found.append(Fault(FaultKind.NO_FINISH, self._events.line, f"no finish reason came for {which}"))
        return found

    def _read(self, events: list[Data | Fault]) -> list[Step | Fault]:
        found: list[Step | Fault] = []
        for event in events:
            if isinstance(event, Fault):
                found.append(event)
            elif event.value == DONE:
                self._done = True
            elif isinstance(event.value, list) and event.value and all(isinstance(x, Mapping) for x in event.value):
                for value in event.value:  # SGLang's whole answer for several choices
                    self._object(value, event.line, found)
            elif isinstance(event.value, Mapping):
                self._object(event.value, event.line, found)
            else:
                found.append(Fault(FaultKind.SHAPE, event.line, "expected an object"))
        return found

    def _object(self, body: Mapping[str, Any], line: int, found: list[Step | Fault]) -> None:
        error = error_of(body)
        if error is not None:
            self._failed = True
            message, status = error
            found.append(Fault(FaultKind.ENGINE_ERROR, line, message, status))
            return
        try:
            for step in self._shape(body)(body, self._memory):
                self._track(step)
                found.append(step)
        except ShapeError as fault:
            found.append(Fault(FaultKind.SHAPE, line, str(fault)))

    def _shape(self, body: Mapping[str, Any]) -> Shape:
        if self._wire is not None:
            return self._wire.shape
        known = shape_of(body)
        if known is not None:
            endpoint, shape = known
            self._wire = Wire(endpoint, shape, tells_finish=shape is not triton_generate)
            return shape
        if isinstance(body.get("choices"), list):  # a chunk of usage alone: both endpoints have it
            return openai_completions
        raise ShapeError("an object that no known engine sends")

    def _track(self, step: Step) -> None:
        if step.choice is not None and len(self._open) <= MAX_CHOICES:
            self._open[step.choice] = self._open.get(step.choice, True) and step.finish is None
