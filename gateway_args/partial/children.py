"""The validated children of one growing container: each complete child, once, when it completes.

The fields of a record that are collections or unions have validated children of their own, so that their elements are
seen one by one. What is held is in the order of the text: what a view shows of it is told by how many children were
complete then (its *position*), so nothing is copied for a view, and a view that is held does not change.

A union is seen by its alternative from the child on that leaves only one: the children before it are validated then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ..schema.type_view import ANY, COLLECTIONS, Invalid, Kind, TypeView
from .frame import Frame
from .grown import Elements, Members
from .locate import value_at
from .problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.path import Step
    from .source import Source

INTERRUPTED: Final = Invalid([((), "its validation was interrupted by an exception")])
Position = tuple[int, int]
"""How many children are complete, and how many of the child in flight."""


@final
class Problems:
    """Problems in the order of the text, each with the position from which it shows."""

    __slots__ = ("_marks", "entries")

    def __init__(self) -> None:
        self.entries: list[Problem] = []
        self._marks: list[Position] = []

    def add(self, mark: Position, problem: Problem) -> None:
        self.entries.append(problem)
        self._marks.append(mark)

    def at(self, position: Position) -> Elements[Problem]:
        return Elements(self.entries, bisect_right(self._marks, position))


class _Field(NamedTuple):
    """The field that a collection is, and the problems of its record, where its own are told too."""

    problems: Problems
    step: Step
    number: int
    since: int


@final
class Children:
    """The validated children of one container.

    `values` are a record's valid fields and a collection's valid members by JSON key, or a list's valid elements in
    order; `numbers` says of each element or member which child it was.
    """

    __slots__ = (
        *("_field", "_keys", "_looked", "_next", "_order", "_source"),
        *("frame", "numbers", "problems", "since", "subs", "values", "view"),
    )

    def __init__(
        self,
        view: TypeView,
        frame: Frame,
        source: Source | None,
        field: _Field | None = None,
    ) -> None:
        self.view = view
        self.frame = frame
        self.values: Any = {}
        self.numbers: list[int] = []
        self.problems = Problems()
        self.subs: dict[Step, Children] = {}
        self.since = 0  # how many children were complete when a union's alternative was known
        self._field = field
        self._source = source
        self._keys: list[str] = []
        self._order: dict[str, int] = {}
        self._next = 0
        self._looked = 0  # children looked at for a tag
        self._choose()

    # ------------------------------------------------------------------------------- what a view shows

    def shown(self, count: int) -> bool:
        """Whether the alternative of a union was known when so many children were complete."""
        return self.view.kind is not Kind.UNION and count >= self.since

    def grown(self, count: int) -> Elements[Any] | Members[Any]:
        """The valid elements or members of a collection when so many children were complete."""
        size = bisect_left(self.numbers, count)
        if self.view.kind is Kind.ELEMENTS:
            return Elements(self.values, size)
        return Members(self.values, self._keys, self._order, size)

    def value(self, index: int) -> Any:
        """The validated value of this complete child; `KeyError` when it is invalid."""
        if self.view.kind is not Kind.ELEMENTS:
            return self.values[self.frame.step_of(index)]
        at = bisect_left(self.numbers, index)
        if at == len(self.numbers) or self.numbers[at] != index:
            raise KeyError(index)
        return self.values[at]

    # ------------------------------------------------------------------------------- validating

    def catch_up(self) -> None:
        """Validate what completed since, once each."""
        if self.view.kind is Kind.UNION:
            self._choose()
        if self.view.kind in (Kind.UNION, Kind.WHOLE):
            return
        end = len(self.frame)
        while self._next < end:
            self._next += 1
            self._resolve(self._next - 1)
        if self.frame.latest is not None and self.view.kind is Kind.FIELDS:
            self._open(self.frame.latest, end)

    def _choose(self) -> None:
        """Find the alternative of a union, at the first child that leaves only one."""
        frame, count, look = self.frame, self._looked, self._looked == 0
        opener = "{" if frame.closer == "}" else "["
        while self.view.kind is Kind.UNION and count <= len(frame):
            found = None
            if look or frame.step_of(count - 1) in self.view.tag_keys:
                found = self.view.alternative(opener, self._member(count))
            look = found is not None
            if found is None:
                count += 1
            else:
                self.view = found if found.kind is Kind.UNION or found.fits(frame.items) else ANY
                self.since = count
        self._looked = count
        if self.view.kind is Kind.ELEMENTS and not self.numbers:
            self.values = []

    def _member(self, count: int) -> Callable[[str], Any]:
        """The member under a key, of so many that are complete."""
        items, index = self.frame.items, self.frame.index
        return lambda key: items[key] if 0 <= index(key) < count else None  # type: ignore[call-overload]

    def _resolve(self, index: int) -> None:
        step = self.frame.step_of(index)
        try:
            self._validate(index, step)
        except Invalid as invalid:
            self._report(invalid, index, step)
        except BaseException:
            self._report(INTERRUPTED, index, step)
            raise

    def _validate(self, index: int, step: Step) -> None:
        """Take this child as its type has it; `Invalid` when it breaks the rules."""
        view = self.view
        value = self.frame.items[step]  # type: ignore[index]
        if view.kind is Kind.FIELDS:
            slot = view.slot(step)
            if slot is None:
                return
            sub = self._open(step, index)
            if sub is None:
                self.values[step] = slot.view.check(value, self._text(index))
            elif len(sub.values) == len(sub.frame):
                self.values[step] = sub.view.check_own(sub.values)
            return
        assert view.item is not None
        valid = view.item.check(value, self._text(index))
        if view.kind is Kind.ELEMENTS:
            self.values.append(valid)
        else:
            self.values[step] = valid
            self._order[str(step)] = len(self.numbers)
            self._keys.append(str(step))
        self.numbers.append(index)

    def _open(self, step: Step, index: int) -> Children | None:
        """The children of the collection that this field is, caught up; None where it is none."""
        sub = self.subs.get(step)
        if sub is None:
            slot = self.view.slot(step)
            frame = (self.frame.kids or {}).get(step)
            if slot is None or (frame is None and index >= len(self.frame)):
                return None
            value = frame.items if frame is not None else self.frame.items[step]  # type: ignore[index]
            view = collection(slot.view, value)
            if view is None:
                return None
            frame = Frame.of(value) if frame is None else frame
            source = self._source if frame.marks[-1] else None
            sub = Children(view, frame, source, _Field(self.problems, step, index, self.since))
            self.subs[step] = sub
        sub.catch_up()
        return sub

    def _text(self, index: int) -> str | None:
        """The child's JSON text, where it is at hand."""
        if self._source is None or not self.view.reads_text:
            return None
        start, end = self.frame.marks[index : index + 2]
        text = self._source.read(start, end - 1)
        return text[value_at(text) :] if self.frame.closer == "}" else text

    def _report(self, invalid: Invalid, index: int, step: Step) -> None:
        field = self._field
        for path, message in invalid.problems:
            self.problems.add((max(index + 1, self.since), 0), Problem((step, *path), message))
            if field is not None:
                mark = max((field.number, index + 1), (field.since, 0))
                field.problems.add(mark, Problem((field.step, step, *path), message))


def collection(view: TypeView, value: Any) -> TypeView | None:
    """The collection type by which a field's value, an object or a list, is seen; None when it is seen otherwise."""
    if not isinstance(value, dict | list):
        return None
    while view.kind is Kind.UNION:
        found = view.alternative("[" if isinstance(value, list) else "{", lambda key: None)
        if found is None:
            return None
        view = found
    return view if view.kind in COLLECTIONS and view.fits(value) else None
