"""A response template from a table, for authors of models: what transformers and engines that read such templates load.

Not every table can be said so: calls that no marker opens, several calls in one region without markers of their own,
nested tags, objects keyed by the function's name. These are a `FormatError` that names what cannot be expressed. Where
a table reads more than the template will (other spellings of a key, further call syntaxes), `notes` says what is left
out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..errors import FormatError
from ..syntaxes.registry import SYNTAXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.table import Format, State

_PLACES: Final = re.compile(r"\{(name|id|type|skip|same|ws|object|declared|index|any|attributes)\}")
_WORD: Final = r"[^\s<>{}()\[\]=,|\"'`]+"
_REGEX: Final = {
    "id": rf"(?P<id>{_WORD})",
    "type": r'[^"<>]*',
    "skip": r"[\w.:-]+",
    "same": r"[\w.:-]+",
    "ws": r"\s*",
    "object": r"(?=\{)",
    "any": r".*?",
    "attributes": r"[^<>]*?",
    "index": r"[:._-]?[0-9]*",
}
_FUNCTION: Final = {"name": "{name}", "arguments": "{content}"}


def to_response_template(format: Format, *, call: str | None = None, notes: list[str] | None = None) -> dict[str, Any]:
    """The response template of this format; what it leaves out is added to `notes`.

    A template reads one call syntax: `call` names it, or the first that a marker opens is taken. Raises `FormatError`
    with the place in the table for what cannot be expressed.
    """
    return _Writer(format, call, notes if notes is not None else []).template()


class _Writer:
    """Writes one template."""

    def __init__(self, format: Format, call: str | None, notes: list[str]) -> None:
        self._format = format
        self._call = call
        self._notes = notes

    def fail(self, path: str, problem: str) -> NoReturn:
        raise self._error(path, problem)

    def _error(self, path: str, problem: str) -> FormatError:
        return FormatError(f"{self._format.name}: {path}: {problem}: a response template cannot say that")

    def template(self) -> dict[str, Any]:
        format = self._format
        if not format.turn_openers:
            self.fail("turn_openers", "no text opens the model's turn")
        fields: dict[str, Any] = {}
        thinking = self._texts("reasoning")
        if thinking is not None:
            fields["thinking"] = thinking
        fields["tool_calls"] = self._calls()
        reply = self._texts("content")
        ends = [end.text for end in format.turn_end]
        fields["content"] = reply or ({"close": ends} if ends else {})
        anchors = list(format.turn_openers)
        return {
            "defaults": {"role": "assistant"},
            "start_anchor": anchors[0] if len(anchors) == 1 else anchors,
            "fields": fields,
        }

    # ------------------------------------------------------------------------------

    def _home(self) -> State:
        return self._format.states[self._format.home]

    def _texts(self, kind: str) -> dict[str, Any] | None:
        """The field of a text that markers open: thoughts, or replies with markers of their own."""
        format, home = self._format, self._home()
        targets = {
            target: [format.markers[name].text for name, to in home.on.items() if to == target]
            for target in home.on.values()
            if format.states[target].kind == kind and target != home.name
        }
        if not targets:
            return None
        opens = [text for texts in targets.values() for text in texts]
        closes = [
            format.markers[name].text
            for target in targets
            for name, to in format.states[target].on.items()
            if format.states[to].kind == "content" and format.markers[name].text not in opens
        ]
        found: dict[str, Any] = {"open": _one(opens)}
        if closes:
            found["close"] = _one(list(dict.fromkeys(closes)))
        if kind == "content":
            found |= {"repeats": True, "join": ""}
        return found

    def _calls(self) -> dict[str, Any]:
        """The calls' field, from all markers that lead from text to calls of one syntax."""
        format, home = self._format, self._home()
        if home.calls:
            self.fail(f"states.{home.name}.calls", "calls that no marker opens")
        found: list[tuple[State, str, list[str]]] = []
        for name, target in home.on.items():
            state = format.states[target]
            text = re.escape(format.markers[name].text)
            if state.kind == "call":
                found.append((state, text, []))
            elif state.kind == "wrapper":
                ends = [format.markers[end].text for end in state.on if end in format.closer_names]
                for inner, to in state.on.items():
                    if format.states[to].kind == "call":
                        found.append(
                            (format.states[to], rf"(?:{text}\s*)?{re.escape(format.markers[inner].text)}", ends)
                        )
        if not found:
            self.fail("states", "no state of calls")
        name = self._call or found[0][0].calls[0]
        chosen = [entry for entry in found if name in entry[0].calls]
        if not chosen:
            self.fail(f"calls.{name}", "no call syntax of that name stands behind a marker")
        others = {other for entry in found for other in entry[0].calls} - {name}
        if others:
            self._notes.append(f"call syntaxes left out: {', '.join(sorted(others))}")
        openers = list(dict.fromkeys(entry[1] for entry in chosen))
        ends = next((entry[2] for entry in chosen if entry[2]), [])
        opener = openers[0] if len(openers) == 1 else f"(?:{'|'.join(openers)})"
        return self._region(name, [entry[0] for entry in chosen], opener, ends)

    def _region(self, name: str, states: list[State], opener: str, section_ends: Sequence[str]) -> dict[str, Any]:
        """The calls' field: `opener` is the regex of what opens one."""
        format = self._format
        syntax = format.calls[name]
        word = next(word for word, kind in SYNTAXES.items() if kind is type(syntax))
        ends = [format.markers[end].text for state in states for end in state.on if end in format.closer_names]
        closes = [re.escape(text) for text in dict.fromkeys(ends)]
        path = f"calls.{name}"
        field = self._syntax(path, word, syntax, opener)
        fence = getattr(syntax, "close", "")
        if closes:
            behind = "|".join(map(re.escape, section_ends))
            close = "|".join(closes)
            close = rf"(?:{close})" + (rf"(?:\s*(?:{behind}))?" if behind else "")
            field["close_pattern"] = (rf"(?:\s*{re.escape(fence)})?\s*" if fence else "") + close
        else:
            turns = [re.escape(end.text) for end in format.turn_end]
            field["close_pattern"] = "|".join([rf"(?={opener})", *turns])
        field["repeats"] = word != "python" and getattr(syntax, "shape", "") != "list"
        if not field["repeats"]:
            del field["repeats"]
        return field

    def _syntax(self, path: str, word: str, syntax: Any, opener: str) -> dict[str, Any]:
        each = {"transform_each": True}
        match word:
            case "json":
                return self._json(path, syntax, opener)
            case "framed" if syntax.header:
                header = self._header(path, syntax.header)
                found = {"open_pattern": opener + header, "content": "json", "transform": _call(_FUNCTION)}
                if "(?P<id>" in header:
                    found["transform"] = {**_call(_FUNCTION), "id": "{id}"}
                return found
            case "tagged":
                return self._tagged(path, syntax, opener)
            case "lines":
                return {
                    "open_pattern": opener + self._header(path, syntax.header),
                    "content": "kv-lines",
                    "content_args": {"kv_sep": syntax.separator, "line_sep": syntax.line},
                    "transform": _call(_FUNCTION),
                }
            case "gemma":
                name = rf"\s*{re.escape(syntax.prefix)}(?P<name>{_WORD})\s*"
                args: dict[str, Any] = {"unquoted_keys": True}
                if syntax.delimiter != '"':
                    args["string_delims"] = [[syntax.delimiter, syntax.delimiter]]
                function = _call(_FUNCTION)
                return {"open_pattern": opener + name, "content": "json", "content_args": args, "transform": function}
            case "python" if syntax.shape == "list":
                function = _call({"name": "{name}", "arguments": "{arguments}"})
                return {"open_pattern": opener, "content": "python-call-list", "transform": function, **each}
        raise self._error(path, f"calls written as {word} of this shape")

    def _json(self, path: str, syntax: Any, opener: str) -> dict[str, Any]:
        if syntax.keyed:
            self.fail(f"{path}.keyed", "objects keyed by the function's name")
        if syntax.shape == "lines":
            self.fail(f"{path}.shape", "several objects in one region")
        for key in ("name", "arguments", "id"):
            if len(getattr(syntax, key)) > 1:
                self._notes.append(f"{path}.{key}: only {getattr(syntax, key)[0]!r} is read")
        root = "" if syntax.shape == "list" else "content."
        function = {key: f"{{{root}{getattr(syntax, key)[0]}}}" for key in ("name", "arguments")}
        found: dict[str, Any] = {
            "open_pattern": opener + (self._header(path, syntax.header) if syntax.header else ""),
            "content": "json",
            "transform": _call(function),
        }
        if syntax.shape == "list":
            found["transform_each"] = True
        return found

    def _tagged(self, path: str, syntax: Any, opener: str) -> dict[str, Any]:
        if syntax.nested:
            self.fail(f"{path}.nested", "objects written as nested tags")
        if syntax.quotes:
            self.fail(f"{path}.quotes", "texts between quotes inside a tag")
        if len(syntax.parameter) > 1:
            self._notes.append(f"{path}.parameter: only {syntax.parameter[0]!r} is read")
        key = _pattern(syntax.parameter[0], {**_REGEX, "name": r'(?P<key>[^"<>\n]+)'})
        between = rf"\s*{re.escape(syntax.value_open)}" if syntax.value_open else ""
        close = _pattern(syntax.value_close, {"name": "(?P=key)"})
        space = r"\n?" if syntax.around else ""
        tag = f"{key}{between}{space}(?P<value>.*?){space}{close}"
        return {
            "open_pattern": opener + self._header(path, syntax.header),
            "content": "xml-inline",
            "content_args": {"tag_pattern": tag},  # values stay texts: the tool's schema types them
            "transform": _call(_FUNCTION),
        }

    def _header(self, path: str, headers: Sequence[str]) -> str:
        """The header's regex: what stands in the first pattern, and in those that differ in white space only."""
        headers = [header for header in headers if "{declared}" not in header]
        if not headers:
            self.fail(f"{path}.header", "a name that is read only where the request declares it")
        if not all(header.count("{name}") == 1 for header in headers):
            if len(headers) > 1:
                self._notes.append(f"{path}.header: only {headers[0]!r} is read")
            return r"\s*" + _pattern(headers[0], {**_REGEX, "name": rf"(?P<name>{_WORD}?)"})
        before = list(dict.fromkeys(_pattern(header.partition("{name}")[0], _REGEX) for header in headers))
        behind = list(dict.fromkeys(_pattern(header.partition("{name}")[2], _REGEX) for header in headers))
        if any("(?P<" in text for text in (*before, *behind)) and len(before) + len(behind) > 2:
            before, behind = before[:1], behind[:1]
            self._notes.append(f"{path}.header: only {headers[0]!r} is read")
        return r"\s*" + _either(before) + rf"(?P<name>{_WORD}?)" + _either(behind)


def _either(patterns: list[str]) -> str:
    """One of these regexes, the longest first."""
    if len(patterns) == 1:
        return patterns[0]
    return f"(?:{'|'.join(sorted(patterns, key=len, reverse=True))})"


def _pattern(text: str, places: dict[str, str]) -> str:
    """A table's pattern as a regex."""
    first, *rest = _PLACES.split(text)
    found = re.escape(first)
    for place, literal in zip(rest[::2], rest[1::2], strict=True):
        found += places.get(place, r".*?") + re.escape(literal)
    return found


def _call(function: dict[str, str]) -> dict[str, Any]:
    return {"type": "function", "function": function}


def _one(texts: list[str]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else texts
