"""The parameters of a call as objects and lists in the making: which keys are given, and what the schema says of one.

Most families write one flat object; where values are nested in tags (MiniMax M3) each open element is a frame more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from .state import TEXT, TEXTS, Kind, State

if TYPE_CHECKING:
    from ..schema.value_types import ValueType
    from .region import Region


class Frame:
    """An object or a list in the making: the arguments, or one nested in them."""

    __slots__ = ("bracket", "keys", "name")

    def __init__(self, name: str, bracket: str, keys: list[str] | None = None) -> None:
        self.name: Final = name
        self.bracket: Final = bracket
        self.keys: Final = dict.fromkeys(keys or ())  # a list has its items' one key


def _load_frames(saved: object) -> list[Frame]:
    if not isinstance(saved, list) or not saved:
        raise ValueError("expected a list of frames")
    found = []
    for frame in saved:
        name, bracket, keys = frame
        if bracket not in ("{", "["):
            raise ValueError(f"expected a bracket, got {bracket!r}")
        found.append(Frame(TEXT.load(name), bracket, TEXTS.load(keys)))
    return found


_FRAMES: Final = Kind(
    lambda frames: [[frame.name, frame.bracket, list(frame.keys)] for frame in frames],
    _load_frames,
)


class Frames(State):
    """The frames that are open, and `key`, the parameter in the making in the innermost one."""

    __slots__ = ("_open", "kept", "key")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (("key", TEXT), ("_open", _FRAMES))

    def __init__(self) -> None:
        self._open = [Frame("", "{")]
        self.key = ""
        self.kept = 0  # characters of all the keys that are held

    def __len__(self) -> int:
        return len(self._open)

    @property
    def inner(self) -> Frame:
        return self._open[-1]

    def push(self, bracket: str) -> None:
        """The value of the parameter in the making is one of these itself."""
        self._open.append(Frame(self.key, bracket))

    def pop(self) -> Frame:
        frame = self._open.pop()
        self.kept -= sum(map(len, frame.keys))
        return frame

    def give(self) -> None:
        """The parameter in the making has a value now."""
        keys = self.inner.keys
        if self.key not in keys:
            keys[self.key] = None
            self.kept += len(self.key)

    def schema(self, region: Region) -> ValueType | None:
        """What the schema says of the parameter in the making."""
        type = self._inner_type(region)
        if type is None:
            return None
        return type.items if self.inner.bracket == "[" else type.property(self.key)

    def awaits(self, region: Region, key: str) -> bool:
        """Whether the schema declares this key in the innermost frame and it has not been given."""
        if key in self.inner.keys:
            return False
        type = self._inner_type(region)
        return type is not None and type.declares(key)

    def declares(self, region: Region, key: str) -> bool:
        """Whether the schema declares this key in the innermost frame, or says nothing of its keys."""
        type = self._inner_type(region)
        return type is None or not type.keys or key in type.keys

    def _inner_type(self, region: Region) -> ValueType | None:
        type = region.call.tool.type if region.call.tool is not None else None
        for outer, frame in zip(self._open, self._open[1:], strict=False):
            if type is not None:
                type = type.items if outer.bracket == "[" else type.property(frame.name)
        return type

    def load(self, saved: object) -> None:
        super().load(saved)
        self.kept = sum(len(key) for frame in self._open for key in frame.keys)
