"""Outputs from what was recorded: raw text, or an engine's log (server-sent events, JSON lines, one JSON document).

A log may hold several choices, interleaved, and several responses, one behind the other: each choice of each is an
`Output` with its deltas as they came, its token ids where the engine told them, and its own finish reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ..tokens import TokenDecoder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..engines import Fault, Step
    from ..tokens import Delta
    from ..tokens.detokenizer import Encoding

_STARTS: Final = (b"data:", b"event:", b"id:", b":", b"error:", b"{", b"[")


@dataclass(slots=True)
class Output:
    """One generated choice as it was recorded."""

    choice: int = 0
    deltas: list[tuple[str, tuple[int, ...] | None]] = field(default_factory=list)
    """Text and token ids, None where the engine told none."""
    prompt: tuple[int, ...] = ()
    """The prompt's token ids, where the engine returned them."""
    finish: str | None = None
    """The engine's finish reason; None when the log ends before one."""
    parsed: int = 0
    """Steps in which the engine's own parsers took reasoning or calls out of the text."""

    @property
    def text(self) -> str:
        """The output's text as the engine wrote it."""
        return "".join(text for text, _ in self.deltas)

    @property
    def has_ids(self) -> bool:
        """Whether every delta came with its token ids."""
        return any(ids for _, ids in self.deltas) and all(ids is not None for text, ids in self.deltas if text)

    def decoded(self, vocabulary: Encoding) -> tuple[list[Delta], TokenDecoder]:
        """The deltas made from the token ids, and the decoder, which knows the markers and the unknown ids."""
        decoder = TokenDecoder(vocabulary)
        deltas = [decoder.feed(ids) for _, ids in self.deltas if ids]
        return [*deltas, decoder.finish()], decoder

    def differs(self, vocabulary: Encoding) -> bool:
        """Whether the engine's text is not what the vocabulary makes of the ids, special tokens kept or skipped.

        An engine may hold back what comes last (a stop string), so a beginning of the text is enough.
        """
        given = self.text.strip()
        for skip in (False, True):
            decoder = TokenDecoder(vocabulary, skip_special=skip)
            made = [*(decoder.feed(ids).text for _, ids in self.deltas if ids), decoder.finish().text]
            if "".join(made).strip().startswith(given):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Recorded:
    """The outputs of a log, in the order in which they began, and what is wrong with the log."""

    outputs: Sequence[Output]
    faults: Sequence[Fault]


def recorded(data: bytes) -> Recorded | None:
    """The outputs in this engine log; None when it is none, and then it is an output's raw text.

    A log begins like server-sent events or like JSON, and its first object is one that an engine sends: an output that
    is itself JSON (a call without markers) is no log.
    """
    if not data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_STARTS):
        return None
    from .. import engines
    from ..engines import Fault, FaultKind

    given = engines.read(data)
    first = next((item for item in given if not isinstance(item, Fault) or item.kind is not FaultKind.NO_FINISH), None)
    if first is None or (isinstance(first, Fault) and first.kind is not FaultKind.ENGINE_ERROR):
        return None
    if isinstance(first, Fault) and not data.lstrip().startswith(_STARTS[:5]):
        return None  # `{"error": …}` alone may be what a model wrote
    steps = [item for item in given if not isinstance(item, Fault)]
    return Recorded(list(_outputs(steps)), [item for item in given if isinstance(item, Fault)])


def _outputs(steps: Sequence[Step]) -> Iterator[Output]:
    """A choice that says more after its finish reason is another response's."""
    found: list[Output] = []
    current: dict[int, Output] = {}
    for step in steps:
        if step.choice is None:
            continue
        output = current.get(step.choice)
        if output is None or (output.finish is not None and (step.text or step.finish is not None)):
            output = current[step.choice] = Output(step.choice)
            found.append(output)
        if step.text or step.tokens:
            output.deltas.append((step.text, step.tokens))
        output.prompt = output.prompt or step.prompt or ()
        output.finish = step.finish if step.finish is not None else output.finish
        output.parsed += bool(step.reasoning or step.calls)
    return iter(found)
