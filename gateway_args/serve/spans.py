"""OpenTelemetry spans, where `opentelemetry` is installed: one a request, with what the log line says."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def span(name: str, facts: dict[str, Any]) -> Iterator[None]:
    """A span around a request; the facts are its attributes when it ends."""
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        yield
        return
    with trace.get_tracer("gateway_args.serve").start_as_current_span(name, record_exception=False) as current:
        try:
            yield
        finally:
            for key, value in facts.items():
                current.set_attribute(f"gateway_args.{key}", value)
