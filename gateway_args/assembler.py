"""The `Assembler` reads one call's JSON object in pieces: name and arguments in either order, keys as a table has them.

For callers that have cut the object out of the output themselves; a `Parser` needs none. It is the engine over a table
of one state, so everything holds that holds for calls in a stream.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, final

from .events import Finish
from .limits import Limits
from .parser import Parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from .events import Event
    from .syntaxes.objects import Json
    from .tools import Tools


@final
class Assembler:
    """Events of one call from its JSON object.

    `syntax` names the keys: a table's (`formats.load("hermes").calls["object"]`) or a `Json` of your own; the default
    reads `name` and `arguments` or `parameters`. Text that is no such object is `Malformed`, text behind it is stray.
    """

    __slots__ = ("_parser",)

    def __init__(
        self,
        syntax: Json | None = None,
        tools: Tools | None = None,
        *,
        call_ids: Callable[[int, str], str] | None = None,
        limits: Limits = Limits(),  # noqa: B008  (immutable)
    ) -> None:
        from .formats.table import Format, State
        from .syntaxes.objects import Json

        states = {
            "content": State("content", "content", calls=("object",), bare="whole", then="after"),
            "after": State("after", "wrapper"),
        }
        format = Format(
            "assembler",
            summary="one call's JSON object",
            states=MappingProxyType(states),
            markers=MappingProxyType({}),
            calls=MappingProxyType({"object": syntax if syntax is not None else Json()}),
        )
        self._parser = Parser(format, tools, call_ids=call_ids, limits=limits)

    def feed(self, text: str) -> list[Event]:
        """Read on; the events that this text settles."""
        return self._parser.feed(text)

    def finish(self) -> list[Event]:
        """The object's text is over: what is held is settled, an open call ends."""
        return [event for event in self._parser.finish("error") if not isinstance(event, Finish)]
