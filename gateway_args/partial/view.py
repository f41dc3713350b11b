"""A `Partial` is the typed view of a value at one moment of its stream, and never changes later.

Complete values are shared, not copied: treat what it hands out as read-only. Reading costs what is read; everything
else is constant, or a bisection. Where its text still waits (`reader`), it is read when the view is looked at.

Types: `get` and `narrow` take a picker, `lambda report: report.summary`, and mypy and pyright then know exactly what
comes back (`str | None`). Python has no mapped types, so `fields` is typed as `T` itself: names and types are checked,
but that a field may still be None, and that a collection is a read-only view, is not visible there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, final, overload

from ..schema.type_view import ANY, COLLECTIONS, Invalid, Kind, Shape, shape_of
from .grown import Elements, Members
from .moment import ABSENT, Moment
from .picker import Attribute, Where, steps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..schema.path import Path, Step
    from .cursor import Cursor
    from .problem import Problem
    from .reader import Reader
    from .track import Track

T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")


@final
class Partial(Generic[T_co]):
    """A value of type `T` as far as it has come."""

    __slots__ = ("__weakref__", "_at", "_cursor", "_reader")

    def __init__(self, cursor: Cursor, at: Moment | None, reader: Reader | None = None) -> None:
        self._cursor = cursor
        self._at = at
        self._reader = reader  # that has its text, as long as there is no moment

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
        return (self._at or self._look()).done

    @property
    def malformed(self) -> Problem | None:
        """Where and why the text stopped being the value, when it did; nothing is read after it."""
        return (self._at or self._look()).malformed

    @property
    def errors(self) -> Sequence[Problem]:
        """The complete parts that broke the rules of their types, in the order of the text."""
        return self._cursor.errors((self._at or self._look()).offset)

    @property
    def incomplete(self) -> tuple[Path, ...]:
        """The spine, from the root to the value that the last token belongs to: all that can change."""
        return (self._at or self._look()).incomplete()

    @property
    def snapshot(self) -> Any:
        """The plain value so far: strings and numbers in flight as far as they are, None when nothing is there.

        Containers on the spine are fresh, complete values in them are shared.
        """
        return (self._at or self._look()).snapshot()

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
        if kind in COLLECTIONS:
            at = self._at or self._look()  # before its track is asked for
            return cast("T_co", _grown(self._cursor.track, kind, at))
        return cast("T_co", Fields(self))

    def is_complete(self, where: Step | Sequence[Step] | Callable[[T_co], Any]) -> bool:
        """Whether a value is there that can no longer change."""
        return (self._at or self._look()).find(self._path(where))[1]

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
        at = self._at or self._look()
        value, complete = at.find(path)
        if not complete:
            return None
        verdict = self._declared(path, value, at) if type is None else self._cursor.verdict(path, shape_of(type), value)
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
        at = self._at or self._look()
        value, complete = at.find(path)
        if value is ABSENT:
            return None
        shape = shape_of(type) if type is not None else self._shape_at(path) or ANY
        narrow = at.narrow(path, value, complete)
        return Partial(self._cursor.narrow(path, shape, value, narrow.last(), at.offset), narrow)

    def text(self, where: Step | Sequence[Step] | Callable[[T_co], Any], start: int = 0) -> str | None:
        """What has arrived of the string there, from this character on; None when there is no string.

        Escapes are decoded, and a surrogate pair is shown whole or not yet.
        """
        return (self._at or self._look()).text(self._path(where), start)

    def _look(self) -> Moment:
        """Have the text read that waits: the moment of this view."""
        reader = self._reader
        if reader is not None:  # another thread may have had it read by now
            reader.look()
            if self._at is None:
                show(self, reader.now())
        assert self._at is not None
        return self._at

    def _outcome(self) -> Any:
        """The strict decode's value, None before the end, or the `Invalid`."""
        at = self._at or self._look()
        return self._cursor.whole(at.leaf, at.offset) if at.done else None

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

    def _shape_at(self, path: Path) -> Shape | None:
        shape: Shape | None = self._cursor.shape
        for step in path:
            shape = shape.child(step) if shape is not None else None
        return shape

    def _declared(self, path: Path, value: Any, at: Moment) -> Any:
        """This complete value as its declared type has it: what the track validated, or a verdict of its own."""
        track = self._cursor.track
        steps = path
        try:
            if track is not None and len(steps) == 2 and track.shape.kind is Kind.FIELDS:
                track, steps = track.sub(steps[0], at.offset), steps[1:]
            if track is not None and len(steps) == 1 and track.shape.child(steps[0]) is not None:
                return track.value(track.frame.index(steps[0]))
        except KeyError:
            return None
        shape = self._shape_at(path)
        return value if shape is None else self._cursor.verdict(path, shape, value)

    def _field(self, name: str) -> Any:
        """The field of this Python name; `KeyError` when the type has none."""
        at = self._at or self._look()  # before its track is asked for
        shape, track = self._cursor.shape, self._cursor.track
        if shape is ANY:
            return self.get((name,))
        keys: Sequence[Step] = shape.names[name]
        if track is not None:
            if track.frame.closer == "]":
                keys = [list(shape.names).index(name)]
            for key in keys:
                slot = shape.slot(key)
                if slot is not None and slot.shape.kind in COLLECTIONS:
                    sub = track.sub(key, at.offset)
                    if sub is not None and sub.frame.marks[0] <= at.offset:
                        return _grown(sub, slot.shape.kind, at)
                if 0 <= track.frame.index(key) < track.frame.count(at.offset):
                    if key in track.values or not at.done:
                        return track.values.get(key)
                    break
        if at.done:
            value: Any = self.value
            return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        kind = shape.slots[shape.names[name][0]].shape.kind if shape.names[name] else Kind.WHOLE
        return _grown(None, kind, at) if kind in COLLECTIONS else None


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


def show(view: Partial[Any], at: Moment) -> None:
    """Give the view its moment, whose text was read."""
    view._at = at
    view._reader = None


def _grown(track: Track | None, kind: Kind, at: Moment) -> Elements[Any] | Members[Any]:
    if track is not None:
        return track.grown(at.offset)
    return Elements([], 0) if kind is Kind.ELEMENTS else Members({}, [], {}, 0)
