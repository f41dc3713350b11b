"""Every bound of a parser in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MOST: Final = (1 << 53) - 1
"""No bound is higher: positions in a text, and added bounds, stay numbers that every machine counts with."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what a parser reads and holds; lengths are characters, None is no bound.

    A bound reached is `Malformed(limit)`, never an exception: a call in flight ends with `complete=False` and the
    parser reads on for the next opener.
    """

    max_depth: int = 32
    """Nesting of the arguments value; the bracket that would go deeper is refused."""
    max_name: int = 256
    """Length of a function's or a parameter's name."""
    max_layout: int = 256
    """White space held while it is undecided whether it is layout."""
    max_held: int = 1 << 20
    """Text held back while a value or a call is undecided."""
    max_arguments: int | None = None
    """Length of one call's joined fragments."""
    max_calls: int = 1024
    """Calls in one output."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None and name == "max_arguments":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"Limits.{name}: {value!r} is not a whole number above 0")
            if value > MOST:
                raise ValueError(f"Limits.{name}: {value} is more than {MOST}, longer than any text")
        if self.max_depth > 100_000:
            raise ValueError(f"Limits.max_depth: {self.max_depth} is more than 100000, deeper than any reader goes")
