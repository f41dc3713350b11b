"""What a reader of an engine's stream says: steps of the output, and faults of the stream."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..adapters.values import Logprob, Usage


@dataclass(frozen=True, slots=True)
class Step:
    """What an engine said at a time.

    `choice` is the choice it belongs to, None where it is the whole response's (usage that comes last). `text` is new
    text, never text that came before. `tokens` are the ids of this step's tokens, None where the engine told none; the
    text of a token may come a step later than its id, since engines hold back half a character. `logprobs` are in
    Chat's shape, as `adapters` take them. `finish` is the engine's own finish reason, as it spells it; `stopped_by` the
    stop string or token id that it names. `reasoning` and `calls` are what the engine's own parsers took out of the
    text: a reader of raw output expects none. `prompt` is the prompt's token ids, where the engine returns them.
    """

    choice: int | None = 0
    text: str = ""
    tokens: tuple[int, ...] | None = None
    logprobs: tuple[Logprob, ...] = ()
    finish: str | None = None
    stopped_by: str | int | None = None
    usage: Usage | None = None
    reasoning: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    prompt: tuple[int, ...] | None = None


class FaultKind(StrEnum):
    """What is wrong with a stream."""

    NOT_JSON = "not_json"
    """An event whose data is no JSON."""
    SHAPE = "shape"
    """JSON that is not what this endpoint sends."""
    LINE_TOO_LONG = "line_too_long"
    """An event past the reader's bound; it was skipped."""
    CUT = "cut"
    """The bytes ended inside an event."""
    NO_FINISH = "no_finish"
    """The bytes ended and a choice had no finish reason."""
    ENGINE_ERROR = "engine_error"
    """The engine's own error, told in the stream."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a stream that is no step: text may be missing from here on.

    `line` counts from 1. `message` says what was there; it quotes nothing of the output. `status` is the engine's own
    status of an engine's error, where it gives one.
    """

    kind: FaultKind
    line: int
    message: str
    status: int | None = None
