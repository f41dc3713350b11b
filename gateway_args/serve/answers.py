"""One response: an engine's steps through a parser a choice into the chunks of the client's API."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .. import adapters
from ..decoder import Guard, Setting, Transcript
from ..decoder.guarding import refusal_in
from ..engines import Fault, FaultKind
from ..events import Finish, Reasoning, ReasoningEnd, ReasoningStart
from ..limits import Limits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from ..adapters import Chunk, Request, Stream, StreamEvent
    from ..engines import Step
    from ..parser import Parser
    from .metrics import Metrics
    from .models import Known
    from .settings import Settings
    from .upstreams import Ask


@dataclass(slots=True)
class Choice:
    """One generated choice; `thinking` while the engine's own parser is telling a thought."""

    parser: Parser | Guard
    stream: Stream
    thinking: bool = False


@dataclass
class Answer:
    """The answer to one request. `chunks` runs it; afterwards the fields say how it went.

    `deadline` and `drained` are times of the monotonic clock after which it ends as an error.
    """

    settings: Settings
    request: Request
    model: Known
    ask: Ask
    id: str
    metrics: Metrics
    record: Callable[[str], Any] | None = None
    drained: Callable[[], float | None] = lambda: None
    faults: list[Fault] = field(default_factory=list)
    finishes: list[str] = field(default_factory=list)
    calls: int = 0
    characters: int = 0

    def __post_init__(self) -> None:
        operator = adapters.Options(
            late_usage=True, calls="complete" if self.settings.calls == "complete" else "stream"
        )
        envelope = self.request.envelope(self.id, int(time.time()))
        options = self.request.options(operator)
        self._envelope = envelope
        self._choices = [
            Choice(self._parser(), adapters.stream(self.request.kind, envelope, options, choice=number))
            for number in range(self.request.choices)
        ]
        self._deadline = time.monotonic() + self.settings.total_timeout
        self._added = self.metrics.added.labels(self.ask.format.name)
        self._label = self.metrics.model(self.model.name)

    def _parser(self) -> Parser | Guard:
        prefill = self.request.prefill
        setting = Setting(
            self.ask.format,
            self.request.tools,
            tool_choice=self.request.choice.name or self.request.choice.mode,
            prompt=self.ask.prompt.removesuffix(prefill) if prefill else self.ask.prompt,
            prefill=prefill,
            start=None if self.ask.prompt or prefill else self.ask.start,
            undeclared="malformed" if self.settings.strict else "call",
            limits=Limits(max_held=self.settings.max_held),
            sampling=dict(self.request.sampling),
            response_id=self.id,
        )
        if self.record is not None:
            return setting.guard(Transcript(setting, self.record))
        return setting.guard() if self.settings.stop_invalid else setting.parser()

    async def chunks(self, steps: AsyncIterator[list[Step | Fault]]) -> AsyncGenerator[list[Chunk], None]:
        """The chunks of the response, some at a time. Whatever the engine does, its end is well formed."""
        for choice in self._choices:  # every choice is announced before any goes on
            yield choice.stream.chunks()
        async for found in steps:
            out: list[Chunk] = []
            for entry in found:
                if isinstance(entry, Fault):
                    self.faults.append(entry)
                    break
                out += self._take(entry)
            if out:
                yield out
            if self.faults or self._late() or self._too_long() or self._refused():
                break
        for choice in self._choices:
            if not choice.stream.finished:
                yield choice.stream.chunks(self._saw(choice, self._over(choice, None)))
        yield adapters.last(self.request.kind, [choice.stream for choice in self._choices])

    def _take(self, step: Step) -> list[Chunk]:
        if step.usage is not None:
            self._envelope.usage = step.usage
        if step.choice is None:
            return []
        if step.choice >= len(self._choices):
            self.faults.append(Fault(FaultKind.SHAPE, 0, "the engine sent a choice that nobody asked for"))
            return []
        choice = self._choices[step.choice]
        if choice.stream.finished:
            return []
        started = time.perf_counter()
        self.characters += len(step.text)
        out = self._own(choice, step)
        if step.text:
            out += choice.parser.feed(step.text)
        guard = choice.parser if isinstance(choice.parser, Guard) else None
        if guard is not None and guard.refused:
            out += guard.cancel(refusal_in(out))
        elif step.finish is not None:
            if isinstance(step.stopped_by, str) and step.stopped_by in self.request.stops:
                self._envelope.stop_sequence = step.stopped_by
            out += self._over(choice, step.finish)
        chunks = choice.stream.chunks(self._saw(choice, out), logprobs=step.logprobs)
        self._added.observe(time.perf_counter() - started)
        return chunks

    def _own(self, choice: Choice, step: Step) -> list[StreamEvent]:
        """What the engine's own parsers took out of the text: thoughts are passed on, calls are a fault."""
        out: list[StreamEvent] = []
        if step.calls:
            told = "the engine's own tool parser is on: start it without (--tool-call-parser), or take another route"
            self.faults.append(Fault(FaultKind.SHAPE, 0, told))
        if step.reasoning:
            self.characters += len(step.reasoning)
            if not choice.thinking:
                out.append(ReasoningStart())
            choice.thinking = True
            out.append(Reasoning(step.reasoning, None))
        if choice.thinking and (step.text or step.finish is not None):
            choice.thinking = False
            out.append(ReasoningEnd())
        return out

    def _over(self, choice: Choice, reason: str | None) -> list[StreamEvent]:
        out: list[StreamEvent] = [ReasoningEnd()] if choice.thinking else []
        choice.thinking = False
        return [*out, *choice.parser.finish(reason)]

    def _saw(self, choice: Choice, out: list[StreamEvent]) -> list[StreamEvent]:
        self.metrics.saw(out, self.ask.format.name, self._label)
        for event in out:
            if isinstance(event, Finish):
                self.finishes.append(event.reason)
                self.calls += event.calls
                self.metrics.finished.labels(self.ask.format.name, self._label, event.reason).inc()
        return out

    def _late(self) -> bool:
        now, drained = time.monotonic(), self.drained()
        if now < self._deadline and (drained is None or now < drained):
            return False
        which = "total_timeout" if now >= self._deadline else "grace"
        self.metrics.limits.labels(which).inc()
        self.faults.append(Fault(FaultKind.CUT, 0, f"the response took longer than {which} allows"))
        return True

    def _too_long(self) -> bool:
        if self.characters <= self.settings.max_output:
            return False
        self.metrics.limits.labels("max_output").inc()
        self.faults.append(
            Fault(FaultKind.CUT, 0, f"the response has more than {self.settings.max_output} characters (max_output)")
        )
        return True

    def _refused(self) -> bool:
        """Whether a call was refused and nobody waits for more: the engine is not worth its tokens."""
        return any(isinstance(choice.parser, Guard) and choice.parser.refused for choice in self._choices) and all(
            choice.stream.finished for choice in self._choices
        )


def streamed(request: Request) -> Request:
    """The request as the engine is asked: always for a stream."""
    return replace(request, stream=True)
