"""How each call syntax writes one tool's call, as a tree: read from the parameters that a table gives the syntax."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any, Final

from ..errors import GrammarError
from ..limits import Limits
from ..syntaxes.framed import Framed
from ..syntaxes.gemma import Gemma
from ..syntaxes.lines import Lines
from ..syntaxes.objects import Json as JsonSyntax
from ..syntaxes.objects import PythonObjects
from ..syntaxes.pattern import Pattern as HeaderPattern
from ..syntaxes.pattern import first_match
from ..syntaxes.python_calls import Python
from ..syntaxes.tagged import Tagged
from ..syntaxes.text import Text
from .elements import ElementValues
from .line_values import LineValues
from .nodes import (
    EMPTY,
    NOTHING,
    SPACE,
    Free,
    Json,
    Literal,
    Node,
    Pattern,
    choice,
    optional,
    separated,
    sequence,
    shortest,
)
from .nodes import Sequence as SequenceNode
from .values import GEMMA, PYTHON, LiteralValues, Values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..formats import Format, State
    from ..syntaxes.base import Syntax
    from ..tools import Tool, Tools

_PLACES: Final = re.compile(r"\{(name|id|skip|same|ws|object|declared|index|any|attributes)\}")
_WORDS: Final = ("name", "id", "skip", "same", "declared")
_WORD: Final = Pattern("[A-Za-z0-9_]{1,64}")
_RUN: Final = re.compile(r"[^\x00-\x20\\\"'`<>{}()\[\]=,|]")
_SAMPLES: Final = {"id": "x", "skip": "x", "ws": " ", "object": "", "index": "", "any": "", "attributes": " "}
_PYTHON_NAME: Final = re.compile(r"\w[\w.\-]*")
_GEMMA_NAME: Final = re.compile(r"\w[\w.\-:/]*")
_SPACE: Final = r"[ \t\n\r]{0,16}"
_SOME_SPACE: Final = Pattern(r"[ \t\n\r]{1,16}")


class Calls:
    """The calls of a format to these tools."""

    def __init__(self, format: Format, tools: Tools) -> None:
        self._format = format
        self._tools = tuple(tools)
        self._schemas: dict[str, Json] = {}
        self._made: dict[tuple[object, ...], Node] = {}
        self._dialects: dict[tuple[str, ...], str] = {}
        self.values = Values()

    def bodies(
        self,
        names: Sequence[str],
        many: bool,
        lead: Node,
        state: State | None = None,
        longer: tuple[str, ...] = (),
    ) -> Node:
        """What may stand in a region for these syntaxes, each way behind `lead`; `state` is the region's own.

        `longer` are texts that would make another marker of the region's opener, so no way begins with one.
        """
        key = (tuple(names), many, lead, state.name if state is not None else "", longer)
        if key not in self._made:
            self._told_apart(names, longer)
            ways = [way for name in names for way in self._ways(self._format.calls[name], many, state)]
            if any(not text.strip(" \t\n\r") for text in longer):
                ways = [_close_up(way) for way in ways]
            self._made[key] = choice(sequence(lead, way) for way in ways)
        return self._made[key]

    def begin_like(self, names: Sequence[str], text: str) -> bool:
        """Whether a call of these may begin with the same header as this text."""
        headers = [pattern for name in names for pattern in getattr(self._format.calls[name], "header", ())]
        words = [next((part for part in _PLACES.split(pattern)[::2] if part), "") for pattern in headers]
        return any(word and text.strip(" \t\n\r").startswith(word) for word in words)

    def _told_apart(self, names: Sequence[str], longer: tuple[str, ...]) -> None:
        """No function's name makes a longer marker of the opener."""
        headers = [pattern for name in names for pattern in getattr(self._format.calls[name], "header", ())]
        for tool in self._tools:
            for pattern, space, text in itertools.product(headers, ("", " ", "\n"), longer):
                samples = {**_SAMPLES, "ws": space}
                sample = _PLACES.sub(lambda place: samples.get(place[1], tool.name), pattern)  # noqa: B023
                if sample.startswith(text):
                    raise GrammarError(
                        f"{self._format.name}: a function named {tool.name!r} reads as the marker that ends {text!r}"
                    )

    def needs_closer(self, names: Sequence[str]) -> bool:
        """Whether a call of these is whole only when its region's closer came."""
        return any(isinstance(self._format.calls[name], Tagged | Lines | Text | Gemma) for name in names)

    def firsts(self, names: Sequence[str]) -> str:
        """The characters with which a call of these may begin where no marker opens it."""
        found = ""
        for name in names:
            match self._format.calls[name]:
                case JsonSyntax(header=header, shape=shape):
                    found += "".join(pattern[0] for pattern in header) or ("{[" if shape == "list" else "{")
                case Python(shape="list") | PythonObjects():
                    found += "[{"
                case _:
                    raise self._unmarked(name)
        return "".join(sorted(set(found)))

    def openings(self, names: Sequence[str]) -> tuple[str, ...]:
        """Regular expressions of what begins a call of these anywhere in text."""
        found: list[str] = []
        for name in names:
            match self._format.calls[name]:
                case JsonSyntax(header=()):
                    found.append(r'\{[ \t\n\r]*"')
                case JsonSyntax(header=header):
                    for pattern in header:
                        words = map(escape, _PLACES.split(pattern)[::2])
                        found.append(r"[ \t\n\r]*".join(words) + r"[ \t\n\r]*[\[{]")
                case Python(shape="list"):
                    found.append(r"\[[ \t\n\r]*[\w\]]")
                case PythonObjects():
                    found.append(r"\{[ \t\n\r]*['\"]")
                case _:
                    raise self._unmarked(name)
        return tuple(found)

    def _unmarked(self, name: str) -> GrammarError:
        return GrammarError(f"{self._format.name}: calls.{name}: no text can be told from such a call without a marker")

    def between(self, names: Sequence[str], called: bool) -> Node:
        """What stands between two calls without a marker."""
        texts = [syntax.separator for name in names if isinstance(syntax := self._format.calls[name], JsonSyntax)]
        return optional(choice(Literal(text) for text in texts if text)) if called else EMPTY

    # ------------------------------------------------------------------------------------------- syntaxes

    def _ways(self, syntax: Syntax, many: bool, state: State | None) -> Iterator[Node]:
        match syntax:
            case JsonSyntax():
                yield from self._json(syntax, many)
            case Framed():
                yield from self._framed(syntax)
            case Tagged():
                yield from (self._tagged(syntax, tool, state) for tool in self._tools)
            case Lines() | Text():
                yield from (self._in_lines(syntax, tool, state) for tool in self._tools)
            case Python():
                yield from self._python(syntax, many)
            case PythonObjects():
                items = [self._python_object(syntax, tool) for tool in self._tools]
                yield _listed(choice(items), many, Literal("["), Literal("]"))
                yield from items
            case Gemma():
                yield from (self._gemma(syntax, tool) for tool in self._tools)
            case _:
                raise GrammarError(f"{self._format.name}: nothing is known of how {type(syntax).__name__} writes calls")

    def _arguments(self, tool: Tool) -> Json:
        """The arguments object as JSON by the tool's schema."""
        if tool.name not in self._schemas:
            self._schemas[tool.name] = Json({"type": "object", **tool.parameters}, tool.name)
        return self._schemas[tool.name]

    def _json(self, syntax: JsonSyntax, many: bool) -> Iterator[Node]:
        items = {tool: self._json_object(syntax, tool) for tool in self._tools}
        close = sequence(SPACE, Literal(syntax.close)) if syntax.close else EMPTY
        if syntax.shape == "list":
            listed = _listed(choice(items.values()), many, Literal("["), Literal("]"))
            yield from (sequence(head, listed, close) for head in self._json_heads(syntax, None))
        if syntax.shape == "lines":
            apart = sequence(SPACE, optional(Literal(syntax.separator)), SPACE)
            lines = separated(choice(items.values()), apart, None if many else 1)
            yield from (sequence(head, lines, close) for head in self._json_heads(syntax, None))
        elif not syntax.only_list:
            for tool, item in items.items():
                yield from (sequence(head, item, close) for head in self._json_heads(syntax, tool))

    def _json_heads(self, syntax: JsonSyntax, tool: Tool | None) -> Iterator[Node]:
        if not syntax.header:
            yield SPACE
        for pattern in syntax.header:
            yield sequence(_header(pattern, tool.name if tool is not None else ""), SPACE)

    def _json_object(self, syntax: JsonSyntax, tool: Tool) -> Node:
        """One call: the name and the arguments in the order that the template has, other keys of the table's around."""
        arguments = self._arguments(tool)
        space = f"{_SPACE}"
        if syntax.keyed:
            return sequence(
                Pattern(rf"\{{{space}{_json_text(tool.name)}{space}:{space}"), arguments, Pattern(rf"{space}\}}")
            )
        others = (*syntax.id, *syntax.envelope)
        extra = ""
        if others:
            keys = "|".join(_json_text(key) for key in others)
            extra = rf'({keys}){space}:{space}"[A-Za-z0-9_.:-]{{0,64}}"'
        before = f"({extra}{space},{space})*" if extra else ""
        behind = f"({space},{space}{extra})*" if extra else ""
        name = rf"({'|'.join(map(_json_text, syntax.name))}){space}:{space}{_json_text(tool.name)}"
        given = rf"({'|'.join(map(_json_text, syntax.arguments))}){space}:{space}"
        usual = sequence(
            Pattern(rf"\{{{space}{before}{name}{space},{space}{before}{given}"),
            arguments,
            Pattern(rf"{behind}{space}\}}"),
        )
        other = sequence(
            Pattern(rf"\{{{space}{before}{given}"),
            arguments,
            Pattern(rf"{space},{space}{before}{name}{behind}{space}\}}"),
        )
        return choice([usual, other]) if syntax.arguments_first else usual

    def _framed(self, syntax: Framed) -> Iterator[Node]:
        close = sequence(SPACE, Literal(syntax.close.strip())) if syntax.close else EMPTY
        for tool in self._tools:
            if syntax.name:
                if tool.name == syntax.name:
                    yield sequence(SPACE, self._arguments(tool))
                continue
            yield sequence(SPACE, self._headers(syntax.header, tool.name), self._arguments(tool), close)

    def _headers(self, patterns: Sequence[str], name: str, behind: Node = SPACE) -> Node:
        """The header in every way of the table that is read with this name, repairs of what a model lost left out."""
        usual = [pattern for pattern in patterns if "{declared}" not in pattern] or patterns
        readers = tuple(HeaderPattern(pattern) for pattern in patterns)
        found = []
        for pattern in usual:
            text = _PLACES.sub(lambda place: _SAMPLES.get(place[1], name), pattern)
            _, read = first_match(readers, text + "{", 0, Limits(max_name=len(text)), True, [name])
            if read is not None and read.name == name:
                found.append(sequence(_header(pattern, name), EMPTY if pattern.endswith("{object}") else behind))
        if not found:
            raise GrammarError(
                f"{self._format.name}: the format cannot name a function {name!r} so that it is read back"
            )
        return choice(found)

    def _named(self, pattern: re.Pattern[str], name: str) -> None:
        if pattern.fullmatch(name) is None:
            raise GrammarError(
                f"{self._format.name}: the format cannot name a function {name!r} so that it is read back"
            )

    # ------------------------------------------------------------------------------------------------ tags

    def _tagged(self, syntax: Tagged, tool: Tool, state: State | None) -> Node:
        excludes = self._tag_excludes(syntax, state)
        schema = self.values.object(tool.parameters, tool.name)
        if syntax.nested:
            elements = ElementValues(self.values, syntax.parameter[0], syntax.value_close, excludes)
            return sequence(SPACE, self._headers(syntax.header, tool.name), elements.members(schema, tool.name))
        parameters = []
        for key, one, required in self.values.members(schema, tool.name):
            value = self.values.resolved(one, schema)
            parameter = self._parameter(syntax, key, value, schema, f"{tool.name}.{key}", excludes)
            parameters.append(parameter if required else optional(parameter))
        return sequence(SPACE, self._headers(syntax.header, tool.name), *parameters)

    def _tag_excludes(self, syntax: Tagged, state: State | None) -> tuple[str, ...]:
        """What a value's text may not hold: everything that the parser could take for its end."""
        format = self._format
        texts = [_PLACES.split(pattern)[0].partition("{")[0] for pattern in syntax.parameter]
        texts += [syntax.value_close.partition("{name}")[0], *(marker.text for marker in format.turn_end)]
        texts += [marker.text for marker in format.closers]
        texts += [format.markers[name].text for name in format.opener_names]
        texts += syntax.reserved
        if state is not None:
            texts += [format.markers[name].text for name in state.on]
        return shortest(texts)

    def _parameter(
        self,
        syntax: Tagged,
        key: str,
        value: Mapping[str, Any],
        root: Mapping[str, Any],
        where: str,
        excludes: tuple[str, ...],
    ) -> Node:
        """One parameter with its tags: a text as it stands, anything else as JSON or a literal."""
        name = _entities(key) if syntax.entities else key
        close = syntax.value_close.replace("{name}", key)
        types = self.values.types(value)
        if not types:
            return NOTHING
        text = "string" in types
        ways: list[Node] = []
        for pattern in syntax.parameter:
            typed = "{type}" in pattern
            for as_text in (True, False):
                if as_text and not text:
                    continue
                if not as_text and text and (not typed or types <= {"string"}):
                    continue
                word = self._type_word(syntax, types, as_text) if typed else EMPTY
                opener = sequence(SPACE, _tag(pattern, name, word), _behind_key(syntax))
                if as_text:
                    inner = self._text(syntax, value, typed, excludes, close, where)
                else:
                    inner = sequence(SPACE, self._value(syntax, value, root, where, excludes), SPACE, Literal(close))
                ways.append(sequence(opener, inner))
        return choice(ways)

    def _in_lines(self, syntax: Lines | Text, tool: Tool, state: State | None) -> Node:
        """A call whose parameters are lines: each with its key, or in their order and the last one the rest."""
        schema = self.values.object(tool.parameters, tool.name)
        excludes = self._tag_excludes(Tagged(), state)
        lines = LineValues(self._format.name, self.values, schema, tool.name, syntax.line, excludes, self._text)
        if isinstance(syntax, Lines):
            return sequence(SPACE, self._headers(syntax.header, tool.name), lines.keyed(syntax.separator))
        head = self._headers(syntax.header, tool.name, EMPTY)
        return choice(sequence(SPACE, head, way) for way in lines.rest())

    def _type_word(self, syntax: Tagged, types: frozenset[str], as_text: bool) -> Node:
        """What `{type}` says of a text, or of a value that is none."""
        if as_text:
            return choice(map(Literal, syntax.text_types))
        return choice(map(Literal, syntax.json_types or sorted(types - {"string", *syntax.text_types})))

    def _text(
        self, syntax: Tagged, value: Mapping[str, Any], typed: bool, excludes: tuple[str, ...], close: str, where: str
    ) -> Node:
        """A value that is written as it stands, and its closer; `typed`: its tag says that it is a string."""
        words = self.values.words(value, as_text=not typed)
        if words is not None:
            plain = [word for word in words if not any(text in word for text in excludes)]
            if len(plain) < len(words):
                self.values.narrowed[f"{where}: enum"] = None
            word = choice(map(Literal, plain))
            around = Literal("" if syntax.inline else syntax.around)
            return sequence(choice([word, sequence(around, word, around)]), Literal(close))
        self.values.free_text(value, where)
        if syntax.quotes:
            opener, closer = syntax.quotes
            quoted = sequence(Literal(opener), Free((closer,), closer), Literal(close))
            return choice([quoted, Free(shortest([*excludes, opener]), close)])
        return Free(excludes, close)

    def _value(
        self,
        syntax: Tagged,
        value: Mapping[str, Any],
        root: Mapping[str, Any],
        where: str,
        excludes: tuple[str, ...],
    ) -> Node:
        """A value that is no text; what could end it stands in none of its strings."""
        types = self.values.types(value)
        if "type" in value and "anyOf" not in value and "oneOf" not in value and "string" in types:
            value = {**value, "type": sorted(types - {"string"})}  # that is written as it stands
        if syntax.python:
            dialect = PYTHON.without(excludes, self._dialects.setdefault(excludes, f"python_{len(self._dialects)}"))
            return LiteralValues(self.values, dialect).value(value, root, where)
        texts = excludes if types & {"string", "array", "object"} else ()
        return Json(self.values.rooted(value, root), where, texts)

    # ------------------------------------------------------------------------------------- Python and Gemma

    def _python(self, syntax: Python, many: bool) -> Iterator[Node]:
        calls = []
        for tool in self._tools:
            self._named(_PYTHON_NAME, tool.name)
            schema = self.values.object(tool.parameters, tool.name)
            given = LiteralValues(self.values, PYTHON).members(schema, schema, tool.name, "", "=")
            calls.append(
                sequence(
                    Literal(tool.name),
                    optional(Literal(syntax.suffix)) if syntax.suffix else EMPTY,
                    Literal("("),
                    given,
                    Literal(")"),
                )
            )
        match syntax.shape:
            case "list":
                yield sequence(SPACE, _listed(choice(calls), many, Literal("["), Literal("]")))
            case "lines":
                yield sequence(SPACE, separated(choice(calls), _SOME_SPACE, None if many else 1))
            case _:
                yield from (sequence(SPACE, call) for call in calls)

    def _python_object(self, syntax: PythonObjects, tool: Tool) -> Node:
        schema = self.values.object(tool.parameters, tool.name)
        literal = LiteralValues(self.values, PYTHON)
        key = literal.text(syntax.name[0])
        name = literal.text(tool.name)
        given = literal.text(syntax.arguments[0])
        colon = sequence(Literal(":"), SPACE)
        arguments = literal.value(schema, schema, tool.name)
        return sequence(
            Literal("{"),
            SPACE,
            key,
            colon,
            name,
            SPACE,
            Literal(","),
            SPACE,
            given,
            colon,
            arguments,
            SPACE,
            Literal("}"),
        )

    def _gemma(self, syntax: Gemma, tool: Tool) -> Node:
        self._named(_GEMMA_NAME, tool.name)
        schema = self.values.object(tool.parameters, tool.name)
        literal = LiteralValues(self.values, GEMMA._replace(delimiter=syntax.delimiter, typed=syntax.typed))
        return sequence(SPACE, Literal(f"{syntax.prefix}{tool.name}"), literal.top(schema, tool.name))


def _close_up(way: Node) -> Node:
    """The same without the white space that it may begin with."""
    return SequenceNode(way.items[1:]) if isinstance(way, SequenceNode) and way.items[:1] == (SPACE,) else way


def _listed(item: Node, many: bool, opener: Node, closer: Node) -> Node:
    apart = sequence(SPACE, Literal(","), SPACE)
    return sequence(opener, SPACE, separated(item, apart, None if many else 1), SPACE, closer)


def escape(text: str) -> str:
    """The text as a regular expression of the kind that `Pattern` holds."""
    return "".join(rf"\{char}" if char in r"\.^$*+?()[]{}|/" else char for char in text)


def _json_text(text: str) -> str:
    """A regular expression of the JSON string, as most templates and as Python write it."""
    ways = {json.dumps(text, ensure_ascii=False), json.dumps(text)}
    return "(" + "|".join(sorted(map(escape, ways))) + ")" if len(ways) > 1 else escape(ways.pop())


def _header(pattern: str, name: str) -> Node:
    """One header; white space that keeps two words apart is not left out."""
    parts = _PLACES.split(pattern)
    found: list[Node] = []
    for n, part in enumerate(parts):
        if n % 2 == 0:
            found += [Literal(part)] if part else []
            continue
        match part:
            case "name" | "same" | "declared":
                found.append(Literal(name))
            case "id" | "skip":
                found.append(_WORD)
            case "ws" | "attributes":
                behind = parts[n + 1] or (name if n + 2 < len(parts) and parts[n + 2] in _WORDS else "")
                apart = found and _ends_in_word(found[-1]) and _RUN.match(behind)
                found.append(_SOME_SPACE if apart else SPACE)
    return sequence(*found)


def _ends_in_word(node: Node) -> bool:
    return node == _WORD or (isinstance(node, Literal) and _RUN.match(node.text[-1:]) is not None)


def _tag(pattern: str, name: str, word: Node) -> Node:
    parts = re.split(r"\{(name|type|skip|ws|any|attributes)\}", pattern)
    found: list[Node] = [Literal(parts[0])]
    for place, literal in zip(parts[1::2], parts[2::2], strict=True):
        apart = place == "attributes" and _ends_in_word(found[-1]) and _RUN.match(literal)
        ways = {"name": Literal(name), "type": word, "skip": _WORD, "ws": SPACE, "any": EMPTY, "attributes": EMPTY}
        found.append(_SOME_SPACE if apart else ways[place])
        found.append(Literal(literal))
    return sequence(*found)


def _behind_key(syntax: Tagged) -> Node:
    return sequence(SPACE, Literal(syntax.value_open)) if syntax.value_open else EMPTY


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")
