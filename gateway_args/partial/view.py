"""A `Partial` is the typed view of a value at one moment of its stream, and never changes later.

It holds the spine as it was and how long the text was; everything it refers to only grows, so a later feed does not
alter it. Complete values are shared, not copied: treat what it hands out as read-only. Reading costs what is read;
everything else is constant, or a bisection. A view whose text still waits (`reader`) is filled when it is looked at.

Types: `get` and `narrow` take a picker, `lambda report: report.summary`, and mypy and pyright then know exactly what
comes back (`str | None`). Python has no mapped types, so `fields` is typed as `T` itself: names and types are checked,
but that a field may still be None, and that a collection is a read-only view, is not visible there.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, final, overload

from .frame import NOTHING, UNSEEN, Digits, Frame, Text
from .grown import Elements, Members
from .path import Attribute, Fault, Path, Step, Where, steps_of
from .shape import ANY, Invalid, Kind, Shape, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .builder import Builder
    from .cursor import Cursor
    from .reader import Reader
    from .track import Track

T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")
_ABSENT: Final = object()
_FILLED: Final = ("_cursor", "_done", "_frames", "_leaf", "_malformed", "_offset", "_pieces", "_step")


@final
class Partial(Generic[T_co]):
    """A value of type `T` as far as it has come."""

    __slots__ = (*_FILLED, "_reader", "__weakref__")
    _reader: Reader | None
    _cursor: Cursor
    _frames: tuple[Frame, ...]
    _offset: int
    _step: Step | None
    _leaf: Any
    _pieces: int
    _done: bool
    _malformed: Fault | None

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    if not TYPE_CHECKING:  # a class that has it would have every attribute

        def __getattr__(self, name: str) -> Any:
            """What `fill` and `settle` set, asked for while the view's text still waits."""
            if name not in _FILLED:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            reader = self._reader
            if reader is not None:  # another thread may have filled it by now
                reader.read()
            return object.__getattribute__(self, name)

    def __repr__(self) -> str:
        return f"<Partial of {self._cursor.shape.title}: {self.snapshot!r}>"

    def __copy__(self) -> Partial[T_co]:
        return self

    def __deepcopy__(self, memo: object) -> Partial[T_co]:
        """Itself: nothing of it changes. `snapshot` is what can be copied."""
        return self

    @property
    def is_done(self) -> bool:
        """Whether the value closed: nothing of it can change."""
        return self._done

    @property
    def malformed(self) -> Fault | None:
        """Where and why the text stopped being the value, when it did; nothing is read after it."""
        return self._malformed

    @property
    def errors(self) -> Sequence[Fault]:
        """The complete parts that broke the rules of their types, in the order of the text."""
        return self._cursor.errors(self._offset)

    @property
    def incomplete(self) -> tuple[Path, ...]:
        """The spine, from the root to the value that the last token belongs to: all that can change."""
        if self._done or not (self._frames or self._leaf is not NOTHING):
            return ()
        steps = [frame.step for frame in self._frames[1:]]
        if self._frames and self._leaf is not NOTHING:
            steps.append(self._step)
        path = cast("Path", tuple(steps))
        return tuple(path[:length] for length in range(len(path) + 1))

    @property
    def snapshot(self) -> Any:
        """The plain value so far: strings and numbers in flight as far as they are, None when nothing is there.

        Containers on the spine are fresh, complete values in them are shared.
        """
        value = self._leaf_value()
        step = self._step
        for frame in reversed(self._frames):
            count = frame.count(self._offset)
            items: Any
            if isinstance(frame.items, list):
                items = frame.items[:count]
                if value is not _ABSENT:
                    items.append(value)
            else:
                items = dict(islice(frame.items.items(), count))
                if value is not _ABSENT:
                    items[step] = value
            value, step = items, frame.step
        return None if value is _ABSENT else value

    @property
    def value(self) -> T_co | None:
        """The whole value by the strict decode, once it is done and when it is valid."""
        outcome = self._outcome()
        return None if isinstance(outcome, Invalid) else outcome

    @property
    def fields(self) -> T_co:
        """The value's fields by name, or the value itself where it is a collection.

        A field is None until it is complete and valid; a collection holds its complete, valid elements from the start
        and is None only when null was written. Fields of a TypedDict are read by key.
        """
        kind = self._cursor.shape.kind
        if kind is Kind.ELEMENTS or kind is Kind.MEMBERS:
            return cast("T_co", self._grown(self._cursor.track, kind))
        return cast("T_co", Fields(self))

    def is_complete(self, where: Step | Sequence[Step] | Callable[[T_co], Any]) -> bool:
        """Whether a value is there that can no longer change."""
        return self._find(self._path(where))[1]

    @overload
    def get(self, where: Callable[[T_co], V]) -> V | None: ...
    @overload
    def get(self, where: Step | Sequence[Step] | Callable[[T_co], Any], type: type[V]) -> V | None: ...
    @overload
    def get(self, where: Step | Sequence[Step], type: Any = None) -> Any: ...
    def get(self, where: Any, type: Any = None) -> Any:
        """The value there if it is complete and valid, None if not.

        It is decoded as `type`, by default as the type declared there; where none is declared it is the plain value.
        """
        path = self._path(where)
        value, complete = self._find(path)
        if not complete:
            return None
        verdict = self._declared(path, value) if type is None else self._cursor.verdict(path, shape_of(type), value)
        return None if isinstance(verdict, Invalid) else verdict

    @overload
    def narrow(self, where: Callable[[T_co], V]) -> Partial[V] | None: ...
    @overload
    def narrow(self, where: Step | Sequence[Step] | Callable[[T_co], Any], type: type[V]) -> Partial[V] | None: ...
    @overload
    def narrow(self, where: Step | Sequence[Step], type: Any = None) -> Partial[Any] | None: ...
    def narrow(self, where: Any, type: Any = None) -> Any:
        """The value there, in flight or complete, as a `Partial` of its own; None when none is there.

        Paths in it start at its root. The type is by default the one declared there.
        """
        path = self._path(where)
        value, complete = self._find(path)
        if value is _ABSENT:
            return None
        shape = shape_of(type) if type is not None else self._shape_at(path) or ANY
        cursor = self._cursor.narrowed(path, shape)
        frames: tuple[Frame, ...] = ()
        leaf, done = value, complete
        if isinstance(value, Frame):
            frames, leaf = self._frames[len(path) :], self._leaf
            if value.kids is None:
                value.kids = {}
                if len(frames) > 1 and frames[1].step is not None:
                    value.kids[frames[1].step] = frames[1]
                elif self._step is not None and _is_container(leaf):
                    value.kids[self._step] = Frame.whole(leaf, self._step, self._offset, self._offset)
            cursor.follow(value)
        elif _is_container(value):
            cursor.follow(cursor.track.frame if cursor.track else Frame.whole(value, None, self._offset, self._offset))
        malformed = self._malformed
        if malformed is not None:
            inside = malformed.path[: len(path)] == path
            malformed = Fault(malformed.path[len(path) :], malformed.message, malformed.offset) if inside else None
        narrow: Partial[Any] = object.__new__(Partial)
        narrow._cursor, narrow._offset, narrow._step, narrow._pieces = cursor, self._offset, self._step, self._pieces
        narrow._frames, narrow._leaf, narrow._done, narrow._malformed = frames, leaf, done, malformed
        return narrow

    def text(self, where: Step | Sequence[Step] | Callable[[T_co], Any], start: int = 0) -> str | None:
        """What has arrived of the string there, from this character on; None when there is no string.

        Escapes are decoded, and a surrogate pair is shown whole or not yet.
        """
        value = self._find(self._path(where))[0]
        if isinstance(value, Text):
            return value.read(self._pieces, start)
        return value[start:] if isinstance(value, str) else None

    def _outcome(self) -> Any:
        """The strict decode's value, None before the end, or the `Invalid`."""
        return self._cursor.whole(self._leaf, self._offset) if self._done else None

    def _leaf_value(self) -> Any:
        leaf = self._leaf
        if isinstance(leaf, Text):
            return leaf.read(self._pieces)
        if isinstance(leaf, Digits):
            leaf = leaf.value()
        return _ABSENT if leaf is NOTHING or leaf is UNSEEN else leaf

    def _path(self, where: Where) -> Path:
        """The path that is meant: names that a picker took by attribute become their JSON keys."""
        path: list[Step] = []
        shape: Shape | None = self._cursor.shape
        for step in steps_of(where):
            if isinstance(step, Attribute):
                keys = shape.names.get(step.name) if shape is not None else None
                path.append(keys[0] if keys else step.name)
            else:
                path.append(step)
            shape = shape.child(path[-1]) if shape is not None else None
        return tuple(path)

    def _find(self, path: Path) -> tuple[Any, bool]:
        """The value at this path and whether it is complete.

        On the spine it is the frame, the `Text`, or what stands there of a leaf; `_ABSENT` when nothing does.
        """
        frames = self._frames
        for level, step in enumerate(path):
            if level >= len(frames):
                break
            if level + 1 < len(frames):
                if step == frames[level + 1].step:
                    continue
            elif self._leaf is not NOTHING and step == self._step:
                continue
            frame = frames[level]
            index = frame.index(step)
            if not 0 <= index < frame.count(self._offset):
                return _ABSENT, False
            value = _inside(frame.items[step], path[level + 1 :])  # type: ignore[index]
            return value, value is not _ABSENT
        if len(path) < len(frames):
            return frames[len(path)], False
        if isinstance(self._leaf, Text):
            return (self._leaf if len(path) == len(frames) else _ABSENT), False
        value = _inside(self._leaf_value(), path[len(frames) :])
        return value, value is not _ABSENT and (self._done or len(path) > len(frames))

    def _shape_at(self, path: Path) -> Shape | None:
        shape: Shape | None = self._cursor.shape
        for step in path:
            shape = shape.child(step) if shape is not None else None
        return shape

    def _declared(self, path: Path, value: Any) -> Any:
        """This complete value as its declared type has it: what the track validated, or a verdict of its own."""
        track = self._cursor.track
        steps = path
        try:
            if track is not None and len(steps) == 2 and track.shape.kind is Kind.FIELDS:
                track, steps = track.sub(steps[0]), steps[1:]
            if track is not None and len(steps) == 1 and track.shape.child(steps[0]) is not None:
                return track.value(track.frame.index(steps[0]))
        except KeyError:
            return None
        shape = self._shape_at(path)
        return value if shape is None else self._cursor.verdict(path, shape, value)

    def _grown(self, track: Track | None, kind: Kind) -> Elements[Any] | Members[Any]:
        if track is not None:
            return track.grown(self._offset)
        return Elements([], 0) if kind is Kind.ELEMENTS else Members({}, {}, 0)

    def _field(self, name: str) -> Any:
        """The field of this Python name; `KeyError` when the type has none."""
        shape, track = self._cursor.shape, self._cursor.track
        if shape is ANY:
            return self.get((name,))
        keys: Sequence[Step] = shape.names[name]
        if track is not None and track.frame.closer == "]":
            keys = [list(shape.names).index(name)]
        for key in keys:
            slot = shape.slot(key)
            index = track.frame.index(key) if track is not None else -1
            complete = track is not None and 0 <= index < track.frame.count(self._offset)
            if track is not None and slot is not None and slot.shape.kind in (Kind.ELEMENTS, Kind.MEMBERS):
                sub = track.sub(key)
                if sub is not None and sub.frame.marks[0] <= self._offset:
                    return self._grown(sub, slot.shape.kind)
            if complete and track is not None:
                if key in track.values or not self._done:
                    return track.values.get(key)
                break
        if self._done:
            value: Any = self.value
            return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        kind = shape.slots[shape.names[name][0]].shape.kind if shape.names[name] else Kind.WHOLE
        return self._grown(None, kind) if kind in (Kind.ELEMENTS, Kind.MEMBERS) else None


@final
class Fields:
    """A record's fields at one moment, by attribute or by key; see `Partial.fields`."""

    __slots__ = ("_partial",)

    def __init__(self, partial: Partial[Any]) -> None:
        self._partial = partial

    def __getattr__(self, name: str) -> Any:
        try:
            return self._partial._field(name)
        except KeyError:
            raise AttributeError(f"{self._partial._cursor.shape.title} has no field {name!r}") from None

    def __getitem__(self, name: str) -> Any:
        return self._partial._field(name)

    def __dir__(self) -> Iterable[str]:
        return list(self._partial._cursor.shape.names)

    def __repr__(self) -> str:
        return f"Fields({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__dir__())})"


def fill(view: Partial[Any], builder: Builder) -> None:
    """Let the view stand for the value as the builder has it now."""
    leaf = builder.leaf
    view._frames = tuple(builder.frames)
    view._offset = builder.offset
    view._step = builder.step
    view._leaf = leaf
    view._pieces = len(leaf) if type(leaf) is Text else 0
    view._done = builder.done
    view._malformed = builder.fault


def settle(view: Partial[Any], cursor: Cursor) -> None:
    """Give the filled view its typed side, which has followed by now."""
    view._cursor = cursor
    view._reader = None


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list) and not isinstance(value, Text)


def _inside(value: Any, path: Path) -> Any:
    """The value at this path inside a plain value."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, _ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return _ABSENT
    return value
