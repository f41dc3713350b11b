"""What every adapter's stream has: the state of one choice, its snapshot, and the words that an API lends it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, ClassVar, Self

from . import around, record, state
from .values import Call, Chunk, Envelope, Options, Usage, checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..events import Event


class Choice(ABC):
    """One generated choice of a response, as far as it has come."""

    KIND: ClassVar[str]
    CALL_PREFIX: ClassVar[str] = "call_"
    WAITS: ClassVar[bool] = True  # whether the last chunk carries the usage, and so waits for it
    # What `snapshot` carries: attributes that are JSON values. Adapters add their own.
    STATE: ClassVar[Mapping[str, state.Check]] = {
        "_opened": state.boolean,
        "_finished": state.boolean,
        "_started": state.boolean,
        "_shown": state.count,
        "_tokens": state.count,
        "_reasoning_tokens": state.count_or_none,
        "_after_malformed": state.boolean,
        "_pending": state.texts,
        "_logprobs": state.objects,
        "_reason": state.text_or_none,
        "_verdicts": state.verdicts,
        "_around": around.is_state,
        "_record": record.is_state,
    }

    def __init__(self, envelope: Envelope, options: Options | None = None, *, choice: int = 0) -> None:
        self.options = checked(envelope, options)
        self.envelope = envelope
        self.choice = choice
        self._out: list[Chunk] = []
        self._opened = False
        self._finished = False
        self._started = False
        self._shown = 0
        self._tokens = 0
        self._reasoning_tokens: int | None = None
        self._record = record.Record()
        self._after_malformed = False
        self._pending: list[str] = []
        self._around = around.Around()
        self._queue: deque[Event] = deque()  # what came behind a call that waits for its outcome
        self._verdicts: dict[str, Chunk | None] = {}  # outcomes of calls in there: None, or the refusal
        self._logprobs: list[Chunk] = []
        self._reason: str | None = None  # the finish reason, while the last chunk waits for `end`
        self._call: Call | None = None

    @property
    def finished(self) -> bool:
        return self._finished

    def usage(self) -> Usage:
        """What was spent: the caller's numbers, else the events' (0 completion tokens when neither knows them)."""
        given = self.envelope.usage
        return Usage(
            given.prompt_tokens,
            given.cached_tokens,
            self._tokens if given.completion_tokens is None else given.completion_tokens,
            self._reasoning_tokens if given.reasoning_tokens is None else given.reasoning_tokens,
        )

    def snapshot(self) -> bytes:
        """The state between two events, without pickle; the envelope and the options are not in it.

        It is small in Chat and Messages; a Responses stream ends with all that it said, so it carries that.
        """
        values = {name: getattr(self, name) for name in self.STATE}
        values |= {name: value.save() for name, value in values.items() if hasattr(value, "save")}
        return state.save(self.KIND, self.choice, values, self._call, self._queue)

    @classmethod
    def restore(cls, data: bytes, envelope: Envelope, options: Options | None = None) -> Self:
        """The stream that `snapshot` was taken of; the envelope and the options are to be those it had.

        `LifecycleError`: bytes that are no snapshot of a stream of this API.
        """
        choice, values, call, queue = state.load(data, cls.KIND, cls.STATE)
        stream = cls(envelope, options, choice=choice)
        for name, value in values.items():
            there = getattr(stream, name)
            if hasattr(there, "load"):
                there.load(value)
            else:
                setattr(stream, name, value)
        stream._call = call
        stream._queue.extend(queue)
        return stream

    # What an adapter says. Each appends to `self._out`.

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _text(self, text: str, logprobs: list[Chunk]) -> None: ...

    @abstractmethod
    def _reasoning(self, text: str) -> None: ...

    @abstractmethod
    def _reasoning_over(self) -> None: ...

    @abstractmethod
    def _start(self, call: Call) -> None: ...

    @abstractmethod
    def _fragment(self, call: Call, fragment: str) -> None: ...

    def _escapes(self, fragment: str) -> str:
        """A fragment with escapes in it, as the API takes it."""
        return fragment

    @abstractmethod
    def _end(self, call: Call, whole: bool) -> bool:
        """Close the call; whether the client has a whole call of it."""

    @abstractmethod
    def _close(self, reason: str, extension: Chunk) -> None: ...
