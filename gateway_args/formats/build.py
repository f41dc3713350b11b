"""Builds a `Format` from a table's TOML and refuses what does not fit, with the place and the mend.

The keys that a table may have are the fields of `Marker`, `State`, `Format` and of the syntaxes' parameter classes;
nothing is listed twice. `schema()` says the same as JSON Schema, for editors.
"""

from __future__ import annotations

import difflib
import json
import types
import typing
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ..errors import FormatError
from ..syntaxes.header import check as check_header
from ..syntaxes.registry import SYNTAXES
from .table import Format, Marker, State, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
_OTHER_KEYS = ("turn_end", "markers", "states", "calls")


class _Builder:
    """One table being read; every complaint starts with the format's name and the path."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fail(self, path: str, problem: str) -> NoReturn:
        raise FormatError(f"{self.name}: {path}: {problem}" if path else f"{self.name}: {problem}")

    def known(self, path: str, word: str, words: Iterable[str], what: str) -> None:
        known = list(words)
        if word not in known:
            self.fail(path, f"no {what} named {word!r}{_near(word, known)}")

    def keys(self, path: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
        words = list(known)
        for key in table:
            if key not in words:
                at = f"{path}.{key}" if path else key
                self.fail(at, f"unknown key{_near(key, words)}")

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

    # ------------------------------------------------------------------------------

    def marker(self, path: str, name: str, value: Any) -> Marker:
        table = self.table(path, value)
        kinds = {"text": str, "token": bool, "certain": bool, "before": str, "after": str}
        self.keys(path, table, kinds)
        said = {key: self.value(f"{path}.{key}", item, kinds[key]) for key, item in table.items()}
        if not said.get("text"):
            self.fail(f"{path}.text", "a marker needs a text that is not empty")
        for key in ("before", "after"):
            if said.get(key, "").strip(" \t\n\r"):
                self.fail(f"{path}.{key}", "layout is white space only")
        if not said["text"].strip(" \t\n\r"):
            self.fail(f"{path}.text", "a marker of white space only; say it as layout (before, after)")
        return Marker(name, **said)

    def turn_end(self, value: Any) -> tuple[Marker, ...]:
        if not isinstance(value, list):
            self.fail("turn_end", f"{_shown(value)} is no list")
        found = []
        for n, item in enumerate(value):
            path = f"turn_end[{n}]"
            entry = {"text": item, "token": True} if isinstance(item, str) else item
            found.append(self.marker(path, f"turn_end[{n}]", entry))
        return tuple(found)

    def state(self, name: str, value: Any) -> State:
        path = f"states.{name}"
        table = self.table(path, value)
        kinds: dict[str, Any] = {
            "kind": Literal["content", "reasoning", "wrapper", "call"],
            "calls": tuple[str, ...],
            "then": str,
            "bare": Literal["start", "anywhere", "whole"],
        }
        self.keys(path, table, [*kinds, "on"])
        if "kind" not in table:
            self.fail(f"{path}.kind", "a state needs a kind: 'content', 'reasoning', 'wrapper' or 'call'")
        said = {key: self.value(f"{path}.{key}", item, kinds[key]) for key, item in table.items() if key != "on"}
        on = self.table(f"{path}.on", table.get("on", {}))
        for marker, target in on.items():
            self.value(f"{path}.on.{marker}", target, str)
        return State(name, on=types.MappingProxyType(dict(on)), **said)

    def syntax(self, name: str, value: Any) -> Syntax:
        path = f"calls.{name}"
        table = self.table(path, value)
        if "syntax" not in table:
            self.fail(f"{path}.syntax", f"a call needs a syntax: {', '.join(map(repr, SYNTAXES))}")
        self.value(f"{path}.syntax", table["syntax"], str)
        self.known(f"{path}.syntax", table["syntax"], SYNTAXES, "call syntax")
        kind = SYNTAXES[table["syntax"]]
        hints = typing.get_type_hints(kind)
        known = {field.name: hints[field.name] for field in fields(kind)}  # type: ignore[arg-type]
        self.keys(path, table, ["syntax", *known])
        said = {key: self.value(f"{path}.{key}", item, known[key]) for key, item in table.items() if key != "syntax"}
        for field in fields(kind):  # type: ignore[arg-type]
            if field.default is MISSING and field.name not in said:
                self.fail(f"{path}.{field.name}", "missing")
        for n, pattern in enumerate(said.get("header", ())):
            problem = check_header(pattern)
            if problem:
                self.fail(f"{path}.header[{n}]", problem)
        syntax = kind(**said)
        fault = syntax.check()
        if fault is not None:
            self.fail(f"{path}.{fault[0]}", fault[1])
        return syntax

    def build(self, table: Mapping[str, Any]) -> Format:
        self.keys("", table, [*_TABLE, *_OTHER_KEYS])
        said = {key: self.value(key, table[key], kind) for key, kind in _TABLE.items() if key in table}
        markers = {
            name: self.marker(f"markers.{name}", name, item)
            for name, item in self.table("markers", table.get("markers", {})).items()
        }
        calls = {name: self.syntax(name, item) for name, item in self.table("calls", table.get("calls", {})).items()}
        states = {name: self.state(name, item) for name, item in self.table("states", table.get("states", {})).items()}
        if not states:
            self.fail("states", "no state to start in; the first state is where an output starts")
        self.links(markers, states, calls)
        if "summary" not in said:
            self.fail("summary", "missing; one sentence that says whose format it is")
        said["turn_end"] = self.turn_end(table.get("turn_end", []))
        canonical = json.dumps(table, sort_keys=True, ensure_ascii=False).encode()
        return Format(
            self.name,
            states=types.MappingProxyType(states),
            markers=types.MappingProxyType(markers),
            calls=types.MappingProxyType(calls),
            digest=digest_of(canonical),
            **said,
        )

    def links(self, markers: Mapping[str, Marker], states: Mapping[str, State], calls: Mapping[str, Syntax]) -> None:
        """Every name that is used is there, and every state can do what its kind is for."""
        texts: dict[str, str] = {}
        for name, marker in markers.items():
            if marker.text in texts:
                self.fail(f"markers.{name}.text", f"the same text as markers.{texts[marker.text]}")
            texts[marker.text] = name
        for state in states.values():
            path = f"states.{state.name}"
            for marker_name, target in state.on.items():
                self.known(f"{path}.on.{marker_name}", marker_name, markers, "marker")
                self.known(f"{path}.on.{marker_name}", target, states, "state")
            for n, call in enumerate(state.calls):
                self.known(f"{path}.calls[{n}]", call, calls, "call syntax")
            if state.then:
                self.known(f"{path}.then", state.then, states, "state")
            if state.kind == "call" and not state.calls:
                self.fail(f"{path}.calls", "a call state needs the call syntaxes that may stand in it")
            if state.kind == "call" and not state.on and not state.then:
                self.fail(f"{path}.on", "nothing ends this call: give its closer here, or `then` for its value's end")
            if state.kind == "content" and bool(state.calls) != bool(state.bare):
                self.fail(f"{path}.bare", "bare calls need `calls` and where they may stand (`bare`)")
            if state.kind in ("reasoning", "wrapper") and state.calls:
                self.fail(f"{path}.calls", f"a {state.kind} state reads no calls itself")


def build(name: str, table: Mapping[str, Any]) -> Format:
    """The format that this table, as TOML gives it, describes."""
    return _Builder(name).build(table)


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
    marker = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1},
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
            "then": {"type": "string"},
            "bare": {"enum": ["start", "anywhere", "whole"]},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }
    calls = []
    for name, kind in SYNTAXES.items():
        hints = typing.get_type_hints(kind)
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
            "turn_end": {"type": "array", "items": {"anyOf": [{"type": "string", "minLength": 1}, marker]}},
            "markers": {"type": "object", "additionalProperties": marker},
            "states": {"type": "object", "minProperties": 1, "additionalProperties": state},
            "calls": {"type": "object", "additionalProperties": {"oneOf": calls}},
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
