"""`StreamLimits`: every bound of a stream decoder in one value, each checked before the byte past it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field

DEEPEST = 255
"""The deepest nesting that `max_depth` may allow: the whole-document decoder's own parsers are recursive beyond it."""


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Bounds on one document; lengths are bytes, None is no bound.

    The defaults are those of a small typed message. Arguments of tool calls carry whole files: `for_calls()`.
    """

    max_bytes: int = 65_536
    """Bytes of the document, which is also all that is ever buffered: past it `STREAM-BYTES`."""
    max_depth: int = 64
    """Nesting of objects and lists: past it `STREAM-DEPTH`."""
    max_strings: int | None = 8_192
    """String literals, keys included: past it `STREAM-TOKENS`."""
    max_work: int = field(default=0)
    """Grammar transitions, by default 64 for each byte of `max_bytes`: past it `STREAM-GRAMMAR`."""
    max_stack: int = field(default=0)
    """Values open at once and alternatives nested at each, by default 4 for each level: past it `STREAM-GRAMMAR`."""
    max_alternatives: int = 256
    """Demands tracked for one value; a value with more is not judged before the end, so nothing is refused for it."""

    def __post_init__(self) -> None:
        if self.max_work == 0:
            object.__setattr__(self, "max_work", 64 * self.max_bytes)
        if self.max_stack == 0:
            object.__setattr__(self, "max_stack", 4 * self.max_depth)
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None and name == "max_strings":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"StreamLimits.{name}: {value!r} is not a whole number above 0")
        if self.max_depth > DEEPEST:
            raise ValueError(f"StreamLimits.max_depth: {self.max_depth} is above {DEEPEST}")

    @classmethod
    def for_calls(cls) -> StreamLimits:
        """What a call's arguments get: 16 MiB, any number of strings, the parser's own depth."""
        return cls(max_bytes=16 << 20, max_depth=32, max_strings=None)
