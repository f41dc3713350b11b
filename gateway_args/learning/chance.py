"""Conversations made at random: tools with parameters of every type, and turns that call them.

Everything comes from one seed. Values are odd on purpose: unicode, quotes and backslashes, tags and braces, white
space at the ends, numbers past 2^53, empty texts, objects and lists, nested; texts that look like numbers and `null`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from .conversation import MadeCall, Turn, tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NAMES: Final = (
    "get_weather",
    "get_weather_week",
    "lookup-tide",
    "saveNote",
    "a",
    "list_jobs2",
    "search_web",
    "Plan_Garden",
)
_KEYS: Final = ("city", "days", "note_text", "exact", "levels", "where", "tags", "q", "limit", "unit", "when", "kind")
_WORDS: Final = (
    "tide",
    "Kiel Hbf",
    "München, 東京",
    "naïve café",
    "🌊🚢",
    'say "no" twice',
    "it's late",
    "C:\\dir\\new",
    "a\nb",
    "  indented",
    "ends with space ",
    "col\tumn",
    "<b>bold</b> & <i>",
    "if (a < b && c > d) { return; }",
    "{not json}",
    "[1, 2",
    "x: {y: 1}, z",
    "100%",
    "f(a=1, b='2')",
    "# title\n\n- one\n- two\n",
    "null",
    "true",
    "42",
    "-1.50",
    "",
    "…—’",
    "a,b;c|d",
    "</p>",
    "\\n is not a newline",
    'tag <x name="y">z</x>',
)
_PROSE: Final = (
    "The tide turns at noon.",
    "Sure! Let me look that up.",
    "Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich.",
    "Here:\n\n- a coat\n- coins",
    "3 < 4 and 5 > 4, \"quoted\" & 'single'.",
    "東京の天気を調べます。🌊",
    "`code` and {braces} and [brackets]",
    "One.\n\nTwo.",
    "A",
)
_REASONINGS: Final = (
    "The user wants the tide. I need the port.",
    "First: check the weather.\nThen the tide.",
    "Hm, 3 < 4? Yes.\n\nSo call it.",
    '考え中… "maybe" {later}',
)


class Chance:
    """A source of conversations."""

    def __init__(self, seed: int) -> None:
        self._random: Final = random.Random(seed)

    def tools(self) -> list[dict[str, Any]]:
        """Two to four functions, one of them perhaps without parameters."""
        pick = self._random
        made = []
        for name in pick.sample(_NAMES, pick.randint(2, 4)):
            keys = pick.sample(_KEYS, pick.choice((0, 1, 2, 3, 4)))
            made.append(tool(name, {key: self._schema() for key in keys}, keys[:1]))
        return made

    def _schema(self) -> dict[str, Any]:
        return dict(self._random.choice(_SCHEMAS))

    def turn(self, tools: list[dict[str, Any]], content: bool, reasoning: bool, calls: int) -> Turn:
        """A turn of this kind."""
        pick = self._random
        return Turn(
            pick.choice(_PROSE) if content else None,
            pick.choice(_REASONINGS) if reasoning else None,
            tuple(self.call(pick.choice(tools)) for _ in range(calls)),
        )

    def call(self, declared: Mapping[str, Any]) -> MadeCall:
        function = declared["function"]
        given = {}
        required = function["parameters"]["required"]
        for key, schema in function["parameters"]["properties"].items():
            if key in required or self._random.random() < 0.7:
                given[key] = self.value(schema)
        return MadeCall(function["name"], given)

    def value(self, schema: Mapping[str, Any]) -> Any:
        """A value of this schema."""
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        if "anyOf" in schema:
            return self.value(self._random.choice(schema["anyOf"]))
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self._random.choice(kind)
        if kind == "array" and "type" in schema.get("items", {}):
            return [self.value(schema["items"]) for _ in range(self._random.choice((0, 1, 2, 3)))]
        return _MAKERS[str(kind)](self)

    def text(self) -> str:
        pick = self._random
        return pick.choice(_WORDS) if pick.random() < 0.8 else " ".join(pick.sample(_WORDS, 2))

    def _integer(self) -> int:
        return self._random.choice((0, 1, -7, 42, 2026, 10**9, 2**53 + 1, -(2**60), self._random.randint(-999, 999)))

    def _number(self) -> float | int:
        return self._random.choice((0.5, -1.25, 3, 1000000.0, 2.5e-3, 6.02e23, self._random.randint(0, 9) / 4))

    def _boolean(self) -> bool:
        return self._random.random() < 0.5

    def _list(self) -> list[Any]:
        pick = self._random
        makers: list[Callable[[], Any]] = [self.text, self._integer, self._boolean, self._object, lambda: None]
        return [pick.choice(makers[: pick.choice((1, 2, 5))])() for _ in range(pick.choice((0, 1, 2, 3)))]

    def _object(self, depth: int = 0) -> dict[str, Any]:
        pick = self._random
        found: dict[str, Any] = {}
        for key in pick.sample(_KEYS, pick.choice((0, 1, 2))):
            choice = pick.randint(0, 5 if depth < 2 else 3)
            found[key] = (
                self.text()
                if choice < 2
                else self._integer()
                if choice == 2
                else pick.choice((None, True, False))
                if choice == 3
                else [self.text(), self._integer()]
                if choice == 4
                else self._object(depth + 1)
            )
        return found


_MAKERS: Final[dict[str, Callable[[Chance], Any]]] = {
    "string": Chance.text,
    "integer": Chance._integer,
    "number": Chance._number,
    "boolean": Chance._boolean,
    "null": lambda _: None,
    "array": Chance._list,
    "object": Chance._object,
}
_SCHEMAS: Final[tuple[dict[str, Any], ...]] = (
    {"type": "string"},
    {"type": "string"},
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "array", "items": {}},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {}},
    {"type": "string", "enum": ["celsius", "fahrenheit"]},
    {"type": ["integer", "null"]},
    {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
)
