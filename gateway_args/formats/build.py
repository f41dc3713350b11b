"""Builds a `Format` from a table's TOML and refuses what does not fit, with the place and the mend.

The keys that a table may have are the fields of `Marker`, `State`, `Format` and of the syntaxes' parameter classes;
nothing is listed twice. `schema()` says the same as JSON Schema, for editors.
"""

from __future__ import annotations

import difflib
import json
import re
import types
import typing
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from ..errors import FormatError
from ..syntaxes.headers import Header
from ..syntaxes.pattern import header_problem
from ..syntaxes.registry import SYNTAXES, parameter_types
from ..syntaxes.scanning import SPACE
from .table import Format, Marker, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..syntaxes.base import Syntax

_TABLE: dict[str, Any] = {
    "summary": str,
    "source": str,
    "verified": bool,
    "needs_special_tokens": bool,
    "turn_openers": tuple[str, ...],
    "prompt_end": str,
    "after_start": str,
    "ids": Literal["call", "alnum9"],
}
_SECTIONS = ("markers", "states", "calls", "headers")
_OTHER_KEYS = ("turn_end", "results", *_SECTIONS)
_PLACE: Final = re.compile(r"\{\w+\}")
_Part = typing.TypeVar("_Part")

MAX_TEXT: Final = 256
"""Characters of a marker, and of a text that a syntax looks for: longer ones are no marker of any model."""

MAX_TOKENS: Final = 2048
"""Markers that may be single tokens: each stands in the engine's text as one private character of its own."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake in a table: its place, and what is wrong there with how to put it right."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class _Wrong(Exception):
    """A part of a table cannot be read; what is wrong was noted."""


class _Builder:
    """One table being read. All mistakes are noted; a part that has one is left out of what is built."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def note(self, path: str, problem: str) -> None:
        self.problems.append(Problem(path, problem))

    def fail(self, path: str, problem: str) -> NoReturn:
        self.note(path, problem)
        raise _Wrong

    def known(self, path: str, word: str, words: Iterable[str], what: str) -> bool:
        known = list(words)
        if word not in known:
            self.note(path, f"no {what} named {word!r}{_near(word, known)}")
        return word in known

    def keys(self, path: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
        words = list(known)
        for key in table:
            if key not in words:
                self.note(f"{path}.{key}" if path else key, f"unknown key{_near(key, words)}")

    def values(self, path: str, table: Mapping[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
        """The values of these keys, each as its type has it, less those that are wrong."""
        found = {}
        for key, kind in kinds.items():
            if key in table:
                with suppress(_Wrong):
                    found[key] = self.value(f"{path}.{key}" if path else key, table[key], kind)
        return found

    def value(self, path: str, value: Any, kind: Any) -> Any:
        """The value as this type has it, lists as tuples."""
        if typing.get_origin(kind) is tuple:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                self.fail(path, f"{_shown(value)} is no list of texts")
            if any(not item for item in value):
                self.fail(path, "an empty text; take it out")
            return tuple(value)
        if typing.get_origin(kind) is Literal:
            choices = typing.get_args(kind)
            if value not in choices:
                self.fail(path, f"{_shown(value)} is none of {', '.join(map(repr, choices))}")
            return value
        if kind is bool:
            if not isinstance(value, bool):
                self.fail(path, f"{_shown(value)} is no truth value; write true or false")
        elif kind is str:
            if not isinstance(value, str):
                self.fail(path, f"{_shown(value)} is no text; put it in quotes")
        elif kind is int and (not isinstance(value, int) or isinstance(value, bool)):
            self.fail(path, f"{_shown(value)} is no whole number")
        return value

    def table(self, path: str, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.fail(path, f"{_shown(value)} is no table")
        return typing.cast("Mapping[str, Any]", value)

    def parts(self, table: Mapping[str, Any], key: str, read: Callable[[str, Any], _Part]) -> dict[str, _Part]:
        """The parts of one of the table's sections by name, less those that are wrong."""
        found = {}
        with suppress(_Wrong):
            for name, item in self.table(key, table.get(key, {})).items():
                with suppress(_Wrong):
                    found[name] = read(name, item)
        return found

    # ------------------------------------------------------------------------------

    def marker(self, path: str, name: str, value: Any) -> Marker:
        table = self.table(path, value)
        kinds = {"text": str, "token": bool, "certain": bool, "before": str, "after": str}
        self.keys(path, table, kinds)
        given = self.values(path, table, kinds)
        for key in ("before", "after"):
            if given.get(key, "").strip(SPACE):
                self.note(f"{path}.{key}", "layout is white space only")
        text = given.get("text", table.get("text", ""))
        if text == "":
            self.fail(f"{path}.text", "a marker needs a text that is not empty")
        if "text" not in given:
            raise _Wrong
        if not text.strip(SPACE):
            self.fail(f"{path}.text", "a marker of white space only; say it as layout (before, after)")
        self.length(f"{path}.text", text)
        return Marker(name, **given)

    def length(self, path: str, text: str) -> None:
        if len(text) > MAX_TEXT:
            self.fail(path, f"{len(text)} characters; a text that is looked for has at most {MAX_TEXT}")

    def turn_end(self, value: Any) -> tuple[Marker, ...]:
        if not isinstance(value, list):
            self.fail("turn_end", f"{_shown(value)} is no list")
        found: dict[str, Marker] = {}
        for n, item in enumerate(value):
            path = f"turn_end[{n}]"
            entry = {"text": item, "token": True} if isinstance(item, str) else item
            with suppress(_Wrong):
                marker = self.marker(path, path, entry)
                if marker.text in found:
                    self.fail(path, f"the same text as {found[marker.text].name}; take one out")
                found[marker.text] = marker
        return tuple(found.values())

    def results(self, value: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, list):
            self.fail("results", f"{_shown(value)} is no list")
        found = []
        for n, item in enumerate(value):
            pair = self.value(f"results[{n}]", item, tuple[str, ...])
            if len(pair) != 2:
                self.fail(f"results[{n}]", f"{_shown(item)} is no pair of an opener and a closer")
            found.append(pair)
        return tuple(found)

    def state(self, name: str, value: Any) -> State:
        path = f"states.{name}"
        table = self.table(path, value)
        kinds: dict[str, Any] = {
            "kind": Literal["content", "reasoning", "wrapper", "call"],
            "calls": tuple[str, ...],
            "headers": tuple[str, ...],
            "then": str,
            "text": str,
            "bare": Literal["start", "anywhere", "whole"],
            "unclosed": bool,
        }
        self.keys(path, table, [*kinds, "on"])
        given = self.values(path, table, kinds)
        on = self.table(f"{path}.on", table.get("on", {}))
        on = {marker: self.value(f"{path}.on.{marker}", target, str) for marker, target in on.items()}
        if "kind" not in table:
            self.fail(f"{path}.kind", "a state needs a kind: 'content', 'reasoning', 'wrapper' or 'call'")
        if given.keys() != table.keys() & kinds.keys():
            raise _Wrong
        return State(name, on=types.MappingProxyType(on), **given)

    def syntax(self, name: str, value: Any) -> Syntax:
        path = f"calls.{name}"
        table = self.table(path, value)
        if "syntax" not in table:
            self.fail(f"{path}.syntax", f"a call needs a syntax: {', '.join(map(repr, SYNTAXES))}")
        self.value(f"{path}.syntax", table["syntax"], str)
        if not self.known(f"{path}.syntax", table["syntax"], SYNTAXES, "call syntax"):
            raise _Wrong
        kind = SYNTAXES[table["syntax"]]
        hints = parameter_types(kind)
        known = {field.name: hints[field.name] for field in fields(kind)}  # type: ignore[arg-type]
        self.keys(path, table, ["syntax", *known])
        given = self.values(path, table, known)
        for field in fields(kind):  # type: ignore[arg-type]
            if field.default is MISSING and field.name not in table:
                self.note(f"{path}.{field.name}", "missing")
        for n, pattern in enumerate(given.get("header", ())):
            problem = header_problem(pattern)
            if problem:
                self.note(f"{path}.header[{n}]", problem)
        for key, item in given.items():
            for n, text in enumerate(item if isinstance(item, tuple) else (item,)):
                if isinstance(text, str):
                    for literal in _PLACE.split(text):
                        self.length(f"{path}.{key}[{n}]" if isinstance(item, tuple) else f"{path}.{key}", literal)
        if given.keys() != table.keys() & known.keys() or any(p.path.startswith(f"{path}.") for p in self.problems):
            raise _Wrong
        syntax = kind(**given)
        fault = syntax.check()
        if fault is not None:
            self.fail(f"{path}.{fault[0]}", fault[1])
        return syntax

    def header(self, name: str, value: Any) -> Header:
        path = f"headers.{name}"
        table = self.table(path, value)
        kinds: dict[str, Any] = {"state": str, "patterns": tuple[str, ...], "after": str, "last": bool}
        self.keys(path, table, kinds)
        given = self.values(path, table, kinds)
        for key in ("state", "patterns"):
            if key not in table:
                self.note(f"{path}.{key}", "missing")
        for n, pattern in enumerate(given.get("patterns", ())):
            problem = header_problem(pattern) or ("" if _PLACE.sub("", pattern) else "a header needs text of its own")
            if problem:
                self.note(f"{path}.patterns[{n}]", problem)
            for literal in _PLACE.split(pattern):
                self.length(f"{path}.patterns[{n}]", literal)
        if given.get("after", "").strip(SPACE):
            self.note(f"{path}.after", "layout is white space only")
        if given.keys() != table.keys() & kinds.keys() or any(p.path.startswith(f"{path}.") for p in self.problems):
            raise _Wrong
        return Header(name, **given)

    def build(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """What the table says, as `Format` takes it; not all there where problems were noted."""
        self.keys("", table, [*_TABLE, *_OTHER_KEYS])
        given = self.values("", table, _TABLE)
        given["markers"] = self.parts(table, "markers", lambda name, item: self.marker(f"markers.{name}", name, item))
        given["calls"] = self.parts(table, "calls", self.syntax)
        given["headers"] = self.parts(table, "headers", self.header)
        given["states"] = self.parts(table, "states", self.state)
        if not table.get("states"):
            self.note("states", "no state to start in; the first state is where an output starts")
        self.links(given["markers"], given["states"], given["calls"], table)
        for name, header in given["headers"].items():
            path = f"headers.{name}.state"
            if (
                self.known(path, header.state, given["states"], "state")
                and given["states"][header.state].kind == "call"
            ):
                self.note(path, "a message's text is no call; name a state of another kind")
        if "summary" not in table:
            self.note("summary", "missing; one sentence that says whose format it is")
        with suppress(_Wrong):
            given["turn_end"] = self.turn_end(table.get("turn_end", []))
        with suppress(_Wrong):
            given["results"] = self.results(table.get("results", []))
        markers = [*given["markers"].values(), *given.get("turn_end", ())]
        if len({marker.text for marker in markers if marker.token}) > MAX_TOKENS:
            self.note("markers", f"more than {MAX_TOKENS} markers that are one token")
        return given

    def links(
        self,
        markers: Mapping[str, Marker],
        states: Mapping[str, State],
        calls: Mapping[str, Syntax],
        table: Mapping[str, Any],
    ) -> None:
        """Every name that is used is there, and every state can do what its kind is for."""
        texts: dict[str, str] = {}
        for name, marker in markers.items():
            if marker.text in texts:
                self.note(f"markers.{name}.text", f"the same text as markers.{texts[marker.text]}")
            texts[marker.text] = name
        names = {key: list(part) if isinstance(part := table.get(key), dict) else [] for key in _SECTIONS}
        for state in states.values():
            path = f"states.{state.name}"
            for marker_name, target in state.on.items():
                self.known(f"{path}.on.{marker_name}", marker_name, names["markers"], "marker")
                self.known(f"{path}.on.{marker_name}", target, names["states"], "state")
            for n, call in enumerate(state.calls):
                self.known(f"{path}.calls[{n}]", call, names["calls"], "call syntax")
            for n, header in enumerate(state.headers):
                self.known(f"{path}.headers[{n}]", header, names["headers"], "header")
            if state.headers and state.kind != "call":
                self.note(
                    f"{path}.headers", f"a {state.kind} state begins no message; the state of a call's header does"
                )
            if state.then:
                self.known(f"{path}.then", state.then, names["states"], "state")
            if state.text and self.known(f"{path}.text", state.text, names["states"], "state"):
                on = states.get(state.text)
                if state.kind != "content" or (on is not None and (on.kind != "content" or on.text)):
                    self.note(f"{path}.text", "text goes on from a content state to another, which says no `text`")
            if state.kind == "call" and not state.calls and not state.headers:
                self.note(f"{path}.calls", "a call state needs the call syntaxes that may stand in it")
            if state.kind == "call" and state.calls and not state.on and not state.then:
                self.note(f"{path}.on", "nothing ends this call: give its closer here, or `then` for its value's end")
            if state.kind == "content" and bool(state.calls) != bool(state.bare):
                self.note(f"{path}.bare", "bare calls need `calls` and where they may stand (`bare`)")
            if state.kind in ("reasoning", "wrapper") and state.calls:
                self.note(f"{path}.calls", f"a {state.kind} state reads no calls itself")
            if state.bare:
                for name in state.calls:
                    self.bare(path, state, name, calls.get(name))

    def bare(self, path: str, state: State, name: str, syntax: Syntax | None) -> None:
        """A call that no marker opens begins with a character that says so, or is the whole output."""
        if syntax is None:
            return
        headers = getattr(syntax, "header", ())
        firsts = syntax.bind(str).firsts and not any(pattern.startswith("{") for pattern in headers)
        if firsts or (state.bare == "whole" and not headers and getattr(syntax, "name", "")):
            return
        self.note(f"{path}.bare", f"calls.{name} can begin with any text: its syntax needs a marker that opens it")


def build(name: str, table: Mapping[str, Any]) -> Format:
    """The format that this table, as TOML gives it, describes; `FormatError` with the first mistake."""
    builder = _Builder()
    given = builder.build(table)
    if builder.problems:
        raise FormatError(f"{name}: {builder.problems[0]}")
    for section in _SECTIONS:
        given[section] = types.MappingProxyType(given[section])
    return Format(name, **given)


def problems(table: Mapping[str, Any]) -> list[Problem]:
    """All mistakes for which `build` refuses this table."""
    builder = _Builder()
    builder.build(table)
    return builder.problems


def _near(word: str, words: Iterable[str]) -> str:
    """The mend: the word that was meant, or all that may stand there."""
    known = list(words)
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f" (did you mean {close[0]!r}?)"
    return f"; there are {', '.join(map(repr, known))}" if known else "; there are none"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


# ------------------------------------------------------------------------------------ the schema


def schema() -> dict[str, Any]:
    """JSON Schema of a table (`formats/schema.json`), made from the same classes that read it."""
    marker: dict[str, Any] = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT},
            "token": {"type": "boolean"},
            "certain": {"type": "boolean"},
            "before": {"type": "string"},
            "after": {"type": "string"},
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    state = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["content", "reasoning", "wrapper", "call"]},
            "on": {"type": "object", "additionalProperties": {"type": "string"}},
            "calls": {"type": "array", "items": {"type": "string", "minLength": 1}},
            "headers": {"type": "array", "items": {"type": "string", "minLength": 1}},
            "then": {"type": "string"},
            "text": {"type": "string"},
            "bare": {"enum": ["start", "anywhere", "whole"]},
            "unclosed": {"type": "boolean"},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }
    header = {
        "type": "object",
        "properties": {
            "state": {"type": "string"},
            "patterns": {"type": "array", "items": {"type": "string", "minLength": 1}},
            "after": {"type": "string"},
            "last": {"type": "boolean"},
        },
        "required": ["state", "patterns"],
        "additionalProperties": False,
    }
    calls = []
    for name, kind in SYNTAXES.items():
        hints = parameter_types(kind)
        properties = {field.name: _schema_of(hints[field.name]) for field in fields(kind)}  # type: ignore[arg-type]
        calls.append(
            {
                "type": "object",
                "properties": {"syntax": {"const": name}, **properties},
                "required": ["syntax"],
                "additionalProperties": False,
            }
        )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A gateway_args format table",
        "type": "object",
        "properties": {
            **{key: _schema_of(kind) for key, kind in _TABLE.items()},
            "turn_end": {"type": "array", "items": {"anyOf": [marker["properties"]["text"], marker]}},
            "results": {
                "type": "array",
                "items": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1},
                    "minItems": 2,
                    "maxItems": 2,
                },
            },
            "markers": {"type": "object", "additionalProperties": marker},
            "states": {"type": "object", "minProperties": 1, "additionalProperties": state},
            "calls": {"type": "object", "additionalProperties": {"oneOf": calls}},
            "headers": {"type": "object", "additionalProperties": header},
        },
        "required": ["summary", "states"],
        "additionalProperties": False,
    }


def _schema_of(kind: Any) -> dict[str, Any]:
    if typing.get_origin(kind) is tuple:
        return {"type": "array", "items": {"type": "string", "minLength": 1}}
    if typing.get_origin(kind) is Literal:
        return {"enum": list(typing.get_args(kind))}
    return {"type": {bool: "boolean", str: "string", int: "integer"}[kind]}
