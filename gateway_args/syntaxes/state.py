"""State of readers as plain values: each class lists its fields once, one pair of methods saves and loads them all.

What is loaded comes from a stranger: a value of another type than the field has is a `ValueError`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..events import Why
from ..strict_json.acceptor import Acceptor

if TYPE_CHECKING:
    from collections.abc import Callable


class Kind:
    """How one kind of field is saved and loaded."""

    __slots__ = ("load", "save")

    def __init__(self, save: Callable[[Any], object], load: Callable[[Any], Any]) -> None:
        self.save: Final = save
        self.load: Final = load


def _exactly(kind: type) -> Callable[[Any], Any]:
    def load(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"expected {kind.__name__}, got {type(value).__name__}")
        return value

    return load


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"expected a count, got {value!r:.40}")
    return value


def _texts(value: Any) -> list[str]:
    return [TEXT.load(item) for item in _exactly(list)(value)]


def optional(kind: Kind) -> Kind:
    """The same, or None."""
    return Kind(
        lambda value: None if value is None else kind.save(value),
        lambda value: None if value is None else kind.load(value),
    )


def part(make: Callable[[], State]) -> Kind:
    """An object with a state of its own; `make` gives one to load it into."""

    def load(value: Any) -> State:
        made = make()
        made.load(value)
        return made

    return Kind(lambda value: value.save(), load)


def _same(value: Any) -> object:
    return value


FLAG: Final = Kind(_same, _exactly(bool))
COUNT: Final = Kind(_same, _count)
INTEGER: Final = Kind(_same, _exactly(int))
TEXT: Final = Kind(_same, _exactly(str))
TEXTS: Final = Kind(list, _texts)
JOINED: Final = Kind("".join, lambda value: [TEXT.load(value)] if value else [])  # a list of texts whose sum matters
QUEUE: Final = Kind(list, lambda value: deque(COUNT.load(item) for item in _exactly(list)(value)))
OFFSETS: Final = Kind(sorted, lambda value: {COUNT.load(item) for item in _exactly(list)(value)})
COUNTS: Final = Kind(list, lambda value: [COUNT.load(item) for item in _exactly(list)(value)])
NAMES: Final = Kind(sorted, lambda value: set(_texts(value)))
WHY: Final = Kind(str, lambda value: Why(TEXT.load(value)))
ACCEPTOR: Final = Kind(lambda value: list(value.state), Acceptor.restore)


def choice(*words: str) -> Kind:
    """One of these words, saved as its number."""

    def load(value: Any) -> str:
        number: int = COUNT.load(value)
        if not 0 <= number < len(words):
            raise ValueError(f"expected a number below {len(words)}, got {number}")
        return words[number]

    return Kind(words.index, load)


def parts(saved: object, number: int) -> list[Any]:
    """A saved list of this many parts."""
    found = _exactly(list)(saved)
    if len(found) != number:
        raise ValueError(f"expected {number} parts, got {len(found)}")
    return list(found)


class State:
    """An object whose state is the fields that its class lists in `FIELDS`."""

    __slots__ = ()
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = ()

    def save(self) -> list[object]:
        """The state as plain values that JSON can carry."""
        return [kind.save(getattr(self, name)) for name, kind in self.FIELDS]

    def load(self, saved: Any) -> None:
        """Take up a saved state; `ValueError` when it is none."""
        for (name, kind), value in zip(self.FIELDS, _exactly(list)(saved), strict=True):
            setattr(self, name, kind.load(value))
        if not self.sound():
            raise ValueError(f"{type(self).__name__}: fields that do not go together")

    def sound(self) -> bool:
        """Whether the fields, each of its own kind, go together."""
        return True
