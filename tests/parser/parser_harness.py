"""One way to run a parser in tests: what is said, and that nothing is lost and no chunking says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway_args import Event, Format, Parser, Reading, fold, formats
from gateway_args.events import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def normal(text: str) -> str:
    """The output that a text is: surrogate pairs joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def events_of(format: Format | str, deltas: Iterable[Any], finish: str | None = "stop", **options: Any) -> list[Event]:
    """Everything a parser says of these deltas."""
    parser = Parser(formats.load(format) if isinstance(format, str) else format, **options)
    events = [event for delta in deltas for event in parser.feed(delta)]
    return events + parser.finish(finish)


def merged(events: Iterable[Event]) -> list[tuple[object, ...]]:
    """The events with neighbours of one kind joined: what must not depend on the chunking."""
    found: list[list[Any]] = []
    for event in events:
        kind = type(event).__name__
        key = (kind, getattr(event, "why", None), getattr(event, "index", None))
        said = [getattr(event, "json", None) or "", source_of(event), getattr(event, "tokens", None) or 0]
        if found and found[-1][0] == key and kind in ("Content", "Reasoning", "Dropped", "Malformed", "CallArguments"):
            for n in range(3):
                found[-1][1][n] += said[n]
        else:
            rest = (getattr(event, "name", None), getattr(event, "id", None), getattr(event, "complete", None))
            found.append([key, said, rest])
    return [(key, *said, rest) for key, said, rest in found]


def check(format: Format | str, text: str, finish: str | None = "stop", **options: Any) -> Reading:
    """The reading of this text, after every cut in two and every character alone said the same and lost nothing."""
    whole = events_of(format, [text], finish, **options)
    assert "".join(map(source_of, whole)) == normal(text)
    expected = merged(whole)
    assert merged(events_of(format, list(text), finish, **options)) == expected
    for cut in range(1, len(text)):
        assert merged(events_of(format, [text[:cut], text[cut:]], finish, **options)) == expected, cut
    return fold(whole)
