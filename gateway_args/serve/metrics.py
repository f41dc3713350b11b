"""What `/metrics` tells, in a registry of the gateway's own. Labels are bounded: a name that no engine answered to is
`other`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ..decoder.calls import CallOutcome
from ..decoder.outcomes import Refused
from ..events import CallEnd, Malformed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..adapters import StreamEvent

_MOST_MODELS: Final = 64


class Metrics:
    """Counters of one gateway."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        by = ["format", "model"]

        def counter(name: str, text: str, labels: list[str]) -> Counter:
            return Counter(name, text, labels, namespace="gateway_args", registry=registry)

        self.requests = counter("requests", "requests answered, by status", ["api", "status"])
        self.calls = counter("calls", "calls that models made", [*by, "complete"])
        self.malformed = counter("malformed_characters", "characters of malformed text", [*by, "why"])
        self.refused = counter("refused_calls", "calls refused by their schema", [*by, "code"])
        self.faults = counter("upstream_faults", "what was wrong with an engine's answer", ["kind"])
        self.finished = counter("choices", "choices that ended, by finish reason", [*by, "reason"])
        self.limits = counter("limits", "bounds of the gateway that were reached", ["limit"])
        self.left = counter("clients_left", "clients that left before their answer's end", [])
        self.streams = Gauge("streams", "requests being answered", namespace="gateway_args", registry=registry)
        self.added = Histogram(
            "added_seconds",
            "time that reading a delta and writing its chunks took",
            ["format"],
            buckets=(1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 5e-3, 2e-2, 1e-1),
            namespace="gateway_args",
            registry=registry,
        )
        self._models: set[str] = set()

    def model(self, name: str) -> str:
        """The label of a model that an engine has answered to."""
        if name in self._models or len(self._models) < _MOST_MODELS:
            self._models.add(name)
            return name
        return "other"

    def saw(self, emitted: Iterable[StreamEvent], format: str, model: str) -> None:
        """Count what these events tell."""
        for event in emitted:
            if isinstance(event, CallEnd):
                self.calls.labels(format, model, str(event.complete).lower()).inc()
            elif isinstance(event, Malformed):
                self.malformed.labels(format, model, str(event.why)).inc(len(event.text))
            elif isinstance(event, CallOutcome) and isinstance(event.outcome, Refused):
                self.refused.labels(format, model, str(event.outcome.code)).inc()

    def page(self) -> bytes:
        return generate_latest(self.registry)
