"""The options of a stream of partials: one set for `PartialStream`, `stream` and `partials`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict, final

from ..limits import Limits

Emit = Literal["fields", "text"]
Refuse = Literal["end", "early"]


class Options(TypedDict, total=False):
    """The keywords that `PartialStream` takes, as type checkers see them; `Settings` says what each means."""

    emit: Emit
    strict: bool
    refuse: Refuse
    lenient_start: bool
    limits: Limits | None


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """The options with their defaults."""

    emit: Emit = "fields"
    """`fields`: a view when the open path or the set of complete values changed; `text`: also when a string grew."""
    strict: bool = True
    """The stream decoder's: no value of another type is taken for one of the declared type, and JSON is RFC 8259's."""
    refuse: Refuse = "end"
    """`early`: the text is malformed from the character on that no valid value has, as the stream decoder says."""
    lenient_start: bool = False
    """The value starts at the first bracket that the type can start with; text behind it is left alone."""
    limits: Limits | None = None

    @property
    def bounds(self) -> Limits:
        """`max_depth` and `max_arguments` bound the value."""
        return self.limits or Limits()

    def __post_init__(self) -> None:
        if self.emit not in ("fields", "text"):
            raise ValueError(f"PartialStream: expected emit 'fields' or 'text', got {self.emit!r}")
        if self.refuse not in ("end", "early"):
            raise ValueError(f"PartialStream: expected refuse 'end' or 'early', got {self.refuse!r}")
        for name, value in (("strict", self.strict), ("lenient_start", self.lenient_start)):
            if not isinstance(value, bool):
                raise TypeError(f"PartialStream: expected {name} True or False, got {value!r}")
        if not isinstance(self.limits, Limits | None):
            raise TypeError(f"PartialStream: expected limits as Limits, got {self.limits!r}")
