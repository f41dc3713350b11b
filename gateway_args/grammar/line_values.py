"""Values in lines, as trees by their schema: a line for each key, or one a parameter with the rest for the last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..errors import GrammarError
from ..syntaxes.tagged import Tagged
from .nodes import NOTHING, Cut, Json, Literal, Node, Pattern, optional, sequence, shortest
from .values import JSON, LiteralValues, word_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .values import Values

_BLANKS: Final = Pattern(r"[ \t]{0,16}")


class LineValues:
    """The parameters of one function in lines."""

    def __init__(
        self,
        format: str,
        values: Values,
        schema: dict[str, Any],
        where: str,
        line: str,
        excludes: tuple[str, ...],
        text: Callable[[Tagged, Mapping[str, Any], bool, tuple[str, ...], str, str], Node],
    ) -> None:
        self._format = format
        self._values = values
        self._schema = schema
        self._where = where
        self._line = line
        self._excludes = excludes  # what the parser could take for the end of a text
        self._text = text

    def keyed(self, separator: str) -> Node:
        """A line for each parameter."""
        line = Literal(self._line)
        found: list[Node] = []
        for key, one, required in self._values.members(self._schema, self._where):
            if separator in key or key != key.strip():
                raise self._no_line(key)
            whole = sequence(Literal(key + separator), _BLANKS, self._value(key, one, last=False))
            found.append(whole if required else optional(whole))
        return sequence(_BLANKS, optional(line), *found)

    def rest(self) -> list[Node]:
        """A line for each parameter but the last, whose text may have any number of them; some at the end may be left
        out, but not the first, which every text is."""
        members = self._values.members(self._schema, self._where)
        values = [self._value(key, one, last=n == len(members) - 1) for n, (key, one, _) in enumerate(members)]
        least = max((n for n, (_, _, required) in enumerate(members, 1) if required), default=min(1, len(members)))
        head = (Literal(self._line), Cut())
        return [sequence(*head, *values[:n]) for n in range(least, len(members) + 1)]

    def _value(self, key: str, schema: object, last: bool) -> Node:
        """A value and the line's end behind it."""
        where = f"{self._where}.{key}"
        value = self._values.resolved(schema, self._schema)
        types = self._values.types(value)
        if not types:
            return NOTHING
        if "string" in types:
            excludes = self._excludes if last else shortest([self._line, *self._excludes])
            text = self._text(Tagged(), value, False, excludes, "" if last else self._line, where)
            return sequence(text, Literal(self._line)) if last else text
        return sequence(self._json(value, where), _BLANKS, Literal(self._line))

    def _json(self, schema: dict[str, Any], where: str) -> Node:
        """A value that is no text, as JSON without a line's end in it."""
        if not self._values.types(schema) & {"array", "object"}:
            return Json(self._values.rooted(schema, self._schema), where)
        dialect = JSON.without(self._excludes, f"line_{word_of(where)}")._replace(space=_BLANKS)
        return LiteralValues(self._values, dialect).value(schema, self._schema, where)

    def _no_line(self, key: str) -> GrammarError:
        return GrammarError(f"{self._format}: {self._where}.{key}: no line of the format can be told to hold this")
