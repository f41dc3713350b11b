"""Calls as JSON objects: one behind its marker, a list of them, or several that follow each other.

Here are the parameters that a table sets and what confirms that a call begins; `json_reader` reads on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ..engine.program import skip_space
from .base import MORE, NO, YES, Bound, Reader, Syntax
from .header import Header, first_match
from .json_reader import JsonReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Json(Syntax):
    """A call is a JSON object: `{"name": "add", "arguments": {"a": 2}}`."""

    shape: Literal["object", "list", "lines"] = "object"
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

    def bind(self, spell: Callable[[str], str]) -> Bound:
        return BoundJson(self, spell)


class BoundJson(Bound):
    """JSON calls, ready to run."""

    __slots__ = ("close", "headers", "keys", "syntax")

    def __init__(self, syntax: Json, spell: Callable[[str], str]) -> None:
        firsts = "".join(pattern[0] for pattern in syntax.header) or ("{[" if syntax.shape == "list" else "{")
        super().__init__(firsts, syntax.separator, wraps=syntax.shape != "object")
        self.syntax: Final = syntax
        self.headers: Final = tuple(Header(pattern, spell) for pattern in syntax.header)
        self.close: Final = spell(syntax.close)
        self.keys: Final = frozenset((*syntax.name, *syntax.arguments, *syntax.id, *syntax.envelope))

    def begins(self, engine: Engine, at: int) -> int:
        if self.headers:
            code, found = first_match(self.headers, engine.buf, at, engine.final, engine.limits.max_name)
            if found is None:
                return code
            at = found.end
        buf = engine.buf
        first = skip_space(buf, at)
        if first - at > engine.limits.max_layout:
            return NO
        if first == len(buf):
            return MORE
        only_list = self.syntax.only_list
        if buf[first] == "{" and not only_list:
            return YES
        if buf[first] != "[" or self.syntax.shape != "list":
            return NO
        second = skip_space(buf, first + 1)
        if second - first > engine.limits.max_layout:
            return NO
        if second == len(buf):
            return MORE
        return YES if buf[second] == "{" or (buf[second] == "]" and not only_list) else NO

    def open(self) -> Reader:
        return JsonReader(self)
