"""The parameters of a call as objects and lists in the making: which keys are given, and what the schema says of one.

Most families write one flat object; where values are nested in tags (MiniMax M3) each open element is a frame more.
"""

from __future__ import annotations

from json import loads
from typing import TYPE_CHECKING, ClassVar, Final

from ..schema.kinds import SCALARS, scalar
from ..strict_json.literals import read_json
from .state import TEXT, TEXTS, Kind, State

if TYPE_CHECKING:
    from ..schema.kinds import JsonType, Scalar
    from ..schema.value_types import Tags, ValueType
    from .region import Region


class Frame:
    """An object or a list in the making: the arguments, or one nested in them."""

    __slots__ = ("bracket", "keys", "name", "tags")

    def __init__(self, name: str, bracket: str, keys: list[str] | None = None, tags: Tags = frozenset()) -> None:
        self.name: Final = name
        self.bracket: Final = bracket
        self.keys: Final = dict.fromkeys(keys or ())  # a list has its items' one key
        self.tags = tags  # members that tell the alternatives of its type apart


def _saved_frame(frame: Frame) -> list[object]:
    tags = [[key, kind, str(value).lower() if kind == "boolean" else str(value)] for key, kind, value in frame.tags]
    return [frame.name, frame.bracket, list(frame.keys), *([sorted(tags)] if tags else [])]


def _load_tag(saved: object) -> tuple[str, JsonType, Scalar]:
    key, kind, text = TEXTS.load(saved)
    for known in SCALARS:
        if kind == known:
            return key, known, scalar(known, text)
    raise ValueError(f"expected the type of a scalar, got {kind!r}")


def _load_frames(saved: object) -> list[Frame]:
    if not isinstance(saved, list) or not saved:
        raise ValueError("expected a list of frames")
    found = []
    for frame in saved:
        name, bracket, keys, *tags = frame
        if bracket not in ("{", "["):
            raise ValueError(f"expected a bracket, got {bracket!r}")
        if len(tags) > 1:
            raise ValueError("expected a frame of three or four parts")
        told = frozenset(map(_load_tag, tags[0])) if tags else frozenset()
        found.append(Frame(TEXT.load(name), bracket, TEXTS.load(keys), told))
    return found


_FRAMES: Final = Kind(lambda frames: list(map(_saved_frame, frames)), _load_frames)


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

    def tells(self, region: Region) -> bool:
        """Whether the parameter in the making may tell alternatives of the object that it is in apart."""
        type = self._inner_type(region) if self.inner.bracket == "{" else None
        return type is not None and type.tells(self.key)

    def tell(self, region: Region, json: str) -> None:
        """The parameter in the making has this value: alternatives that rule it out are left out from here on."""
        value = read_json(json, 1) if json and self.tells(region) else None
        for kind in SCALARS:
            type = self._inner_type(region) if value is not None and value.kind == kind else None
            if type is not None:
                self.inner.tags |= type.tag(self.key, kind, loads(json) if kind == "string" else json)

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
        for n, frame in enumerate(self._open):
            if type is not None and n:
                type = type.items if self._open[n - 1].bracket == "[" else type.property(frame.name)
            if type is not None and frame.tags:
                type = type.settled(frame.tags)
        return type

    def load(self, saved: object) -> None:
        super().load(saved)
        self.kept = sum(len(key) for frame in self._open for key in frame.keys)
