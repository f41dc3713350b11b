"""A path names one value inside a JSON value: a tuple of keys and indexes from the root, `()` the root itself.

Where a path is asked for, four spellings are taken: the tuple (or list), one key, one index, or a picker, a function
that reads the value out of the whole: `lambda report: report.competitors[0].name`. A picker is how the static type of
a path is known to mypy and pyright; it is called with a recorder and never with a value. `show` writes a path as errors
do: ``$.competitors[0].name``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

Step = str | int
Path = tuple[Step, ...]
Where = Step | Sequence[Step] | Callable[..., Any]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a value or a text: where in the value, what, and where in the text (characters) if known."""

    path: Path
    message: str
    offset: int | None = None

    def __str__(self) -> str:
        return f"{show(self.path)}: {self.message}"


def show(path: Sequence[Step]) -> str:
    """The path as errors write it."""
    written = ["$"]
    for step in path:
        if isinstance(step, int):
            written.append(f"[{step}]")
        elif _PLAIN.fullmatch(step):
            written.append(f".{step}")
        else:
            written.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(written)


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
                f"the picker gave {picked!r}: it must only read attributes and items, as in lambda r: r.a[0]"
            )
        return picked._steps
    return tuple(map(_checked, where))


def _checked(step: object) -> Step:
    if isinstance(step, str) or (isinstance(step, int) and not isinstance(step, bool) and step >= 0):
        return step
    raise TypeError(f"{step!r} is no step of a path: use a key or an index from 0")
