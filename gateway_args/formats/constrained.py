"""The constrained outputs as formats: a property of the request, not of the model.

A forced function's whole output is its arguments; a required call's is a JSON list of calls. With a base, the model's
own thoughts and end-of-turn texts are read first, and the rest is constrained.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ..syntaxes.framed import Framed
from ..syntaxes.objects import Json
from .table import Format, Marker, State

if TYPE_CHECKING:
    from ..syntaxes.base import Syntax


KEPT: Final = 128
"""Constrained formats that are kept, with what they compile to; the one used longest ago goes first."""

KEPT_NAME: Final = 256
"""Characters of a function's name up to which its format is kept: names are a stranger's."""


def forced(name: str, base: Format | None = None) -> Format:
    """The format of an output that is this function's arguments and nothing else."""
    if not name:
        raise ValueError("forced: the function's name is empty")
    return (_forced if len(name) <= KEPT_NAME else _forced.__wrapped__)(name, base)


@lru_cache(maxsize=KEPT)
def _forced(name: str, base: Format | None) -> Format:
    return _constrained(f"forced:{name}", Framed(name=name), base)


@lru_cache(maxsize=KEPT)
def required(base: Format | None = None) -> Format:
    """The format of an output that is a JSON list of calls: `[{"name": …, "parameters": …}]`."""
    return _constrained("required", Json(shape="list", arguments=("parameters", "arguments")), base)


def _constrained(name: str, syntax: Syntax, base: Format | None) -> Format:
    content = {"kind": "content", "calls": ("whole",), "bare": "whole", "then": "after"}
    states: dict[str, State] = {}
    markers: dict[str, Marker] = {}
    if base is not None:
        # Of the base, the thoughts: states that are text, and the markers that lead from one to the other.
        texts = {state.name for state in base.states.values() if state.kind in ("content", "reasoning")}
        for state in base.states.values():
            if state.name not in texts:
                continue
            on = {marker: target for marker, target in state.on.items() if target in texts}
            markers.update((marker, base.markers[marker]) for marker in on)
            if state.kind == "reasoning":
                states[state.name] = State(state.name, "reasoning", MappingProxyType(on))
            else:
                states[state.name] = State(state.name, on=MappingProxyType(on), **content)  # type: ignore[arg-type]
    else:
        states["content"] = State("content", **content)  # type: ignore[arg-type]
    states["after"] = State("after", "wrapper")
    return Format(
        name,
        summary="the whole output is one function's arguments" if name != "required" else "a JSON list of calls",
        states=MappingProxyType(states),
        markers=MappingProxyType(markers),
        calls=MappingProxyType({"whole": syntax}),
        turn_openers=base.turn_openers if base is not None else (),
        turn_end=base.turn_end if base is not None else (),
        results=base.results if base is not None else (),
        after_start=base.after_start if base is not None else "",
    )
