"""How a consumer names a value of a view: by a path, a key, an index, or a picker.

A picker is a function that reads the value out of the whole, `lambda report: report.competitors[0].name`. It is how
the static type of a path is known to mypy and pyright; it is called with a recorder and never with a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..schema.path import Step

Where = Step | Sequence[Step] | Callable[..., object]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A step that a picker took by attribute: the field's name in Python, which need not be its JSON key."""

    name: str


class _Recorder:
    """Stands in for the value while a picker runs, and notes each step it takes."""

    __slots__ = ("_steps",)

    def __init__(self, steps: tuple[Step | Attribute, ...] = ()) -> None:
        self._steps = steps

    def __getattr__(self, name: str) -> _Recorder:
        return _Recorder((*self._steps, Attribute(name)))

    def __getitem__(self, step: Step) -> _Recorder:
        return _Recorder((*self._steps, _checked(step)))


def steps_of(where: Where) -> tuple[Step | Attribute, ...]:
    """The steps that this spelling of a path takes; `TypeError` when it is none."""
    if isinstance(where, str | int):
        return (_checked(where),)
    if callable(where):
        picked = where(_Recorder())
        if not isinstance(picked, _Recorder):
            raise TypeError(
                f"expected a picker that only reads attributes and items, as in lambda r: r.a[0]; it gave {picked!r}"
            )
        return picked._steps
    return tuple(map(_checked, where))


def _checked(step: object) -> Step:
    if isinstance(step, str) or (isinstance(step, int) and not isinstance(step, bool) and step >= 0):
        return step
    raise TypeError(f"expected a key or an index from 0 as a step of a path, got {step!r}")
