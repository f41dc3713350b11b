"""Calls as objects: one behind its marker, a list of them, or several that follow each other; in JSON or in Python.

Here are the parameters that a table sets and what confirms that a call begins; `objects_reader` reads on from there.
Calls as Python dicts (`[{'name': 'add', 'arguments': {'a': 2}}]`) are a list of the same objects in Python's literals:
keys and names are strings without a prefix, and arguments that are a string hold no object, so they are malformed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from .base import BoundSyntax, Reader, Syntax
from .objects_reader import ObjectsReader
from .pattern import Pattern, first_match
from .scanning import NO, YES, Verdict, layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region

Shape = Literal["object", "list", "lines"]


@dataclass(frozen=True, slots=True)
class Json(Syntax):
    """A call is a JSON object: `{"name": "add", "arguments": {"a": 2}}`."""

    shape: "Shape" = "object"  # noqa: UP037  (compiled, only quoted types are kept)
    """One object; a JSON list of them (or one object); or objects that follow each other."""
    name: tuple[str, ...] = ("name",)
    """Keys of the function's name; the first to come wins."""
    arguments: tuple[str, ...] = ("arguments", "parameters")
    """Keys of the arguments; the first to come wins."""
    id: tuple[str, ...] = ()
    """Keys of the call's id; used when it comes before the call can start."""
    envelope: tuple[str, ...] = ()
    """Other keys that a bare call may have."""
    keyed: bool = False
    """The object has one key, the function's name, and its value is the arguments."""
    separator: str = ""
    """What stands between bare calls, or between objects of `lines`."""
    header: tuple[str, ...] = ()
    """Header patterns before the object; a bare call's header is its opener (a fence)."""
    close: str = ""
    """Text that may follow the calls (a fence); white space before it is envelope."""
    arguments_first: bool = False
    """The template writes the arguments before the name; both orders are read."""
    only_list: bool = False
    """Nothing but a list with an object in it begins calls: for openers that are words of prose."""

    def check(self) -> tuple[str, str] | None:
        if not self.keyed and not self.name:
            return "name", "without a key for the name no call is read; name one, or set keyed"
        return None

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundObjects(self, spell)


@dataclass(frozen=True, slots=True)
class PythonObjects(Syntax):
    """A call is a Python dict in a list: `[{'name': 'add', 'arguments': {'a': 2}}]`."""

    name: tuple[str, ...] = ("name",)
    """Keys of the function's name; the first to come wins."""
    arguments: tuple[str, ...] = ("arguments", "parameters")
    """Keys of the arguments; the first to come wins."""

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundObjects(Json(shape="list", name=self.name, arguments=self.arguments), spell, python=True)


class BoundObjects(BoundSyntax):
    """Calls as objects, ready to run."""

    __slots__ = ("close", "headers", "keys", "python", "syntax")

    def __init__(self, syntax: Json, spell: Callable[[str], str], *, python: bool = False) -> None:
        firsts = "".join(pattern[0] for pattern in syntax.header) or ("{[" if syntax.shape == "list" else "{")
        super().__init__(firsts, syntax.separator, wraps=syntax.shape != "object")
        self.syntax: Final = syntax
        self.python: Final = python
        self.headers: Final = tuple(Pattern(pattern, spell) for pattern in syntax.header)
        self.close: Final = spell(syntax.close)
        self.keys: Final = frozenset((*syntax.name, *syntax.arguments, *syntax.id, *syntax.envelope))

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        text = region.text
        if self.headers:
            verdict, found = first_match(self.headers, text, at, region.limits, region.final)
            if found is None:
                return verdict
            at = found.end
        verdict, at = layout(text, at, region.limits.max_layout)
        if verdict != YES:
            return verdict
        only_list = self.syntax.only_list
        if text[at] == "{" and not only_list:
            return YES
        if text[at] != "[" or self.syntax.shape != "list":
            return NO
        verdict, at = layout(text, at + 1, region.limits.max_layout)
        if verdict != YES:
            return verdict
        return YES if text[at] == "{" or (text[at] == "]" and not only_list) else NO

    def open(self) -> Reader:
        return ObjectsReader(self)
