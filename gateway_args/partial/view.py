"""A `Partial` is the typed view of a value at one point of its stream, and never changes later.

Complete values are shared, not copied: treat what it hands out as read-only. Reading costs what is read; everything
else is constant, or a bisection.

Types: `get` and `narrow` take a picker, `lambda report: report.summary`, and mypy and pyright then know exactly what
comes back (`str | None`). Python has no mapped types, so `fields` is typed as `T` itself: names and types are checked,
but that a field may still be None, and that a collection is a read-only view, is not visible there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, final, overload

from ..schema.type_view import ANY, COLLECTIONS, Invalid, Kind, TypeView, resolved, view_of
from .frame import Frame
from .grown import Elements, Members
from .picker import Attribute, Where, steps_of
from .snapshot import ABSENT, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..schema.path import Path, Step
    from .children import Children
    from .problem import Problem
    from .shared import Shared

T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")


@final
class Partial(Generic[T_co]):
    """A value of type `T` as far as it has come."""

    __slots__ = ("_at", "_base", "_children", "_shared", "_view")

    def __init__(
        self, shared: Shared, view: TypeView, at: Snapshot, children: Children | None, base: Path = ()
    ) -> None:
        self._shared = shared
        self._view = view
        self._at = at
        self._children = children
        self._base = base  # where its root stands in the stream's value

    def __repr__(self) -> str:
        return f"<Partial of {self._view.title}: {self.snapshot!r}>"

    def __copy__(self) -> Partial[T_co]:
        return self

    def __deepcopy__(self, memo: object) -> Partial[T_co]:
        """Itself: nothing of it changes. `snapshot` is what can be copied."""
        return self

    @property
    def is_done(self) -> bool:
        """Whether the value closed: nothing of it can change."""
        return self._at.done

    @property
    def malformed(self) -> Problem | None:
        """Where and why the text stopped being the value, when it did; nothing is read after it."""
        return self._at.problem

    @property
    def errors(self) -> Sequence[Problem]:
        """The complete parts that broke the rules of their types, in the order of the text."""
        children = self._children
        return Elements([], 0) if children is None else children.problems.at(self._at.position)

    @property
    def incomplete(self) -> tuple[Path, ...]:
        """The open path, from the root to the value that the last token belongs to: all that can change."""
        return self._at.incomplete()

    @property
    def snapshot(self) -> Any:
        """The plain value so far: strings and numbers in flight as far as they are, None when nothing is there.

        Containers on the open path are fresh, complete values in them are shared.
        """
        return self._at.plain()

    @property
    def value(self) -> T_co | None:
        """The decoded value, once it is done, when it is valid and nothing is known to be wrong with its text."""
        if not self._at.done or self._at.problem is not None:
            return None
        value = self._at.in_flight
        verdict = (
            self._shared.verdict(self._base, self._view, value) if self._base else self._shared.validate_whole(value)
        )
        return None if isinstance(verdict, Invalid) else verdict

    @property
    def fields(self) -> T_co:
        """The value's fields by name, or the value itself where it is a collection.

        A field is None until it is complete and valid; a collection holds its complete, valid elements from the start
        and is None only when null was written. Fields of a TypedDict are read by key.
        """
        view = self._seen_as()
        if view.kind in COLLECTIONS:
            return cast("T_co", self._grown(self._children, view.kind))
        return cast("T_co", Fields(self))

    def is_complete(self, where: Step | Sequence[Step] | Callable[[T_co], Any]) -> bool:
        """Whether a value is there that can no longer change."""
        return self._at.find(self._path(where))[1]

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
        value, complete = self._at.find(path)
        if not complete:
            return None
        if type is None:
            verdict = self._declared(path, value)
        else:
            verdict = self._shared.verdict((*self._base, *path), view_of(type), value)
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
        value, complete = self._at.find(path)
        if value is ABSENT:
            return None
        view = view_of(type) if type is not None else self._view_at(path) or ANY
        at, base = self._at.narrow(path, value, complete), (*self._base, *path)
        return Partial(self._shared, view, at, self._shared.narrow(base, view, value, at.last()), base)

    def text(self, where: Step | Sequence[Step] | Callable[[T_co], Any], start: int = 0) -> str | None:
        """What has arrived of the string there, from this character on; None when there is no string.

        Escapes are decoded, and a surrogate pair is shown whole or not yet.
        """
        return self._at.text(self._path(where), start)

    # ------------------------------------------------------------------------------- types of what is inside

    def _seen_as(self) -> TypeView:
        """The type, or the alternative of a union as soon as it is known."""
        children = self._children
        if self._view.kind is Kind.UNION and children is not None and children.shown(self._at.position[0]):
            return children.view
        return self._view

    def _path(self, where: Where) -> Path:
        """The path that is meant: names that a picker took by attribute become their JSON keys."""
        path: list[Step] = []
        for step in steps_of(where):
            if isinstance(step, Attribute):
                view = self._view_at(tuple(path))
                keys = view.names.get(step.name) if view is not None else None
                path.append(keys[0] if keys else step.name)
            else:
                path.append(step)
        return tuple(path)

    def _view_at(self, path: Path) -> TypeView | None:
        """The declared type of what stands at this path; of a union in it the alternative, if that is known."""
        view: TypeView | None = self._seen_as()
        for depth, step in enumerate(path):
            view = view.child(step) if view is not None else None
            if view is not None and view.kind is Kind.UNION and depth + 1 < len(path):
                view = self._resolved(view, path[: depth + 1])
        return view

    def _resolved(self, view: TypeView, path: Path) -> TypeView:
        """The alternative of the union that stands at this path, if it is known."""
        value, _ = self._at.find(path)
        if isinstance(value, Frame):
            value = value.first(self._at.counts[len(path)])
        return resolved(view, value)

    def _declared(self, path: Path, value: Any) -> Any:
        """This complete value as its declared type has it: what was validated when it came, or a verdict of its own."""
        children, steps = self._children, path
        if children is not None and children.shown(self._at.position[0]):
            try:
                if len(steps) == 2 and children.view.kind is Kind.FIELDS:
                    children, steps = children.subs.get(steps[0]), steps[1:]
                if children is not None and len(steps) == 1 and children.view.child(steps[0]) is not None:
                    return children.value(children.frame.index(steps[0]))
            except KeyError:
                return None
        if not path:
            return self.value
        view = self._view_at(path)
        return value if view is None else self._shared.verdict((*self._base, *path), view, value)

    def _field(self, name: str) -> Any:
        """The field of this Python name; `KeyError` when the type has none."""
        view, children, at = self._seen_as(), self._children, self._at
        if view is ANY:
            return self.get((name,))
        keys: Sequence[Step] = view.names[name]
        count, within = at.position
        if children is not None and view.kind is Kind.FIELDS:
            if children.frame.closer == "]":
                keys = [list(view.names).index(name)]
            for key in keys:
                index = children.frame.index(key)
                complete = 0 <= index < count
                sub = children.subs.get(key)
                if sub is not None and (complete or key == self._open_step()):
                    return sub.grown(len(sub.frame) if complete else within)
                if complete:
                    if key in children.values or not at.done:
                        return children.values.get(key)
                    break
        if at.done:
            value: Any = self.value
            return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        slot = view.slot(view.names[name][0]) if view.names[name] else None
        kind = slot.view.kind if slot is not None else Kind.WHOLE
        return _nothing_of(kind) if kind in COLLECTIONS else None

    def _open_step(self) -> Step | None:
        """The key or index of the child in flight."""
        at = self._at
        return at.frames[1].step if len(at.frames) > 1 else at.step if at.frames else None

    def _grown(self, children: Children | None, kind: Kind) -> Elements[Any] | Members[Any]:
        return _nothing_of(kind) if children is None else children.grown(self._at.position[0])


@final
class Fields:
    """A record's fields at one moment, by attribute or by key; see `Partial.fields`."""

    __slots__ = ("__partial__",)  # no name that a field may have

    def __init__(self, partial: Partial[Any]) -> None:
        self.__partial__ = partial

    def __getattr__(self, name: str) -> Any:
        if name == "__partial__":  # while it is being made, or copied
            raise AttributeError(name)
        try:
            return self.__partial__._field(name)
        except KeyError:
            raise AttributeError(f"{self.__partial__._view.title} has no field {name!r}") from None

    def __getitem__(self, name: str) -> Any:
        return self.__partial__._field(name)

    def __dir__(self) -> Iterable[str]:
        return list(self.__partial__._seen_as().names)

    def __repr__(self) -> str:
        return f"Fields({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__dir__())})"


def _nothing_of(kind: Kind) -> Elements[Any] | Members[Any]:
    """A collection of which nothing came yet."""
    return Elements([], 0) if kind is Kind.ELEMENTS else Members({}, [], {}, 0)
