"""Reads a response template: its fields, their openers and closers as rows of parts, where a call's name stands.

What transformers would not load is refused, with the place; what the fields mean for a table is `response_template`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ..errors import FormatError
from .regex_parts import Boundary, Literal, Row, Space, alternatives

_TOP_KEYS: Final = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"}
_FIELD_KEYS: Final = {
    "open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join", "optional",
    "transform", "transform_each",
}  # fmt: skip
_CONTENTS: Final = ("text", "int", "float", "bool", "json", "xml-inline", "kv-lines", "python-call-list")
_PLACE: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")


class Complaints:
    """Names the template and the place in every complaint."""

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def fail(self, path: str, problem: str) -> NoReturn:
        raise FormatError(f"{self.name}: {path}: {problem}")

    def rows(self, path: str, pattern: str) -> list[Row]:
        """A regex as rows of parts."""
        return alternatives(pattern, lambda problem: FormatError(f"{self.name}: {path}: {problem}"))


@dataclass(slots=True)
class Field:
    """A field of the template, its ends as rows of parts."""

    name: str
    spec: Mapping[str, Any]
    opens: list[Row]
    closes: list[Row]

    @property
    def implicit(self) -> bool:
        return "open" not in self.spec and "open_pattern" not in self.spec

    @property
    def stripped(self) -> bool:
        return bool(self.spec.get("content_args", {}).get("strip", True))


@dataclass(slots=True)
class Places:
    """Where a call's name and arguments stand, as the field's transform says."""

    name: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    """The path of an object that has both."""


@dataclass(frozen=True, slots=True)
class Template:
    """A template that was read."""

    anchors: list[str]
    fields: list[Field]
    calls: Field


class TemplateReader(Complaints):
    """Reads one template."""

    def read(self, template: Mapping[str, Any], tools_field: str) -> Template:
        """The template. Raises `FormatError` for what is no response template."""
        if not isinstance(template, Mapping):
            self.fail("response_template", f"expected an object, got {type(template).__name__}")
        if unknown := sorted(set(template) - _TOP_KEYS):
            self.fail("response_template", f"unknown keys {', '.join(unknown)}")
        if template.get("version", 1) != 1:
            self.fail("version", f"version {template['version']}; version 1 is read")
        fields = template.get("fields")
        if not isinstance(fields, Mapping) or not fields:
            self.fail("fields", "expected an object with at least one field")
        anchors = self._anchors(template)
        read = [self._field(key, spec) for key, spec in fields.items()]
        if len(implicit := [entry.name for entry in read if entry.implicit]) > 1:
            self.fail("fields", f"more than one field without an opener: {', '.join(implicit)}")
        calls = [entry for entry in read if entry.name == tools_field]
        if not calls:
            self.fail(f"fields.{tools_field}", "missing; name the field of the calls with tools_field")
        return Template(anchors, read, calls[0])

    def _anchors(self, template: Mapping[str, Any]) -> list[str]:
        key = "start_anchor" if "start_anchor" in template else "start_anchor_pattern"
        if ("start_anchor" in template) == ("start_anchor_pattern" in template):
            self.fail("start_anchor", "expected exactly one of start_anchor and start_anchor_pattern")
        rows = self._rows(key, template[key], key.endswith("_pattern"))
        found = []
        for row in rows:
            texts = [part for part in row if not isinstance(part, Space | Boundary)]
            if len(texts) != 1 or not isinstance(texts[0], Literal):
                self.fail(key, "an anchor that is no literal text")
            found.append(texts[0].text)
        return found

    def _rows(self, path: str, spec: Any, pattern: bool) -> list[Row]:
        if pattern:
            if not isinstance(spec, str):
                self.fail(path, f"expected a regex, got {type(spec).__name__}")
            return self.rows(path, spec)
        texts = spec if isinstance(spec, list) else [spec]
        if not texts or not all(isinstance(text, str) and text for text in texts):
            self.fail(path, "expected a text or a list of texts, none of them empty")
        return [(Literal(text),) for text in dict.fromkeys(texts)]

    def _field(self, name: str, spec: Any) -> Field:
        path = f"fields.{name}"
        if not isinstance(spec, Mapping):
            self.fail(path, f"expected an object, got {type(spec).__name__}")
        if unknown := sorted(set(spec) - _FIELD_KEYS):
            self.fail(path, f"unknown keys {', '.join(unknown)}")
        if spec.get("content", "text") not in _CONTENTS:
            self.fail(f"{path}.content", f"{spec['content']!r}; there are {', '.join(_CONTENTS)}")
        if spec.get("join") is not None and not spec.get("repeats", False):
            self.fail(f"{path}.join", "join goes with repeats")
        if spec.get("transform_each", False) and spec.get("transform") is None:
            self.fail(f"{path}.transform_each", "needs a transform")
        if not isinstance(spec.get("content_args", {}), Mapping):
            self.fail(f"{path}.content_args", "expected an object")
        ends: dict[str, list[Row]] = {"open": [], "close": []}
        for end in ends:
            if end in spec and f"{end}_pattern" in spec:
                self.fail(path, f"both {end} and {end}_pattern")
            for key in (end, f"{end}_pattern"):
                if key in spec:
                    ends[end] = self._rows(f"{path}.{key}", spec[key], key != end)
        return Field(name, spec, ends["open"], ends["close"])

    def places(self, path: str, entry: Field) -> Places:
        """Where name, arguments and id stand, by the field's transform."""
        transform = entry.spec.get("transform")
        if transform is None:
            if entry.spec.get("content") == "python-call-list":
                return Places()
            self.fail(f"{path}.transform", "missing; a call is an object with a function that has name and arguments")
        if not isinstance(transform, Mapping):
            self.fail(f"{path}.transform", "expected an object with type and function")
        function = transform.get("function")
        found = Places()
        if isinstance(function, str):
            found.whole = self._place(f"{path}.transform.function", function)
        elif isinstance(function, Mapping):
            for key in ("name", "arguments"):
                if key not in function:
                    self.fail(f"{path}.transform.function.{key}", "missing")
            found.name = self._place(f"{path}.transform.function.name", function["name"])
            found.arguments = self._place(f"{path}.transform.function.arguments", function["arguments"])
        elif {"name", "arguments"} <= set(transform):
            found.name = self._place(f"{path}.transform.name", transform["name"])
            found.arguments = self._place(f"{path}.transform.arguments", transform["arguments"])
        else:
            self.fail(f"{path}.transform.function", "missing; a call has a function with name and arguments")
        if "id" in transform:
            found.id = self._place(f"{path}.transform.id", transform["id"])
        return found

    def _place(self, path: str, spec: Any) -> tuple[str, ...]:
        found = _PLACE.fullmatch(spec) if isinstance(spec, str) else None
        if found is None:
            self.fail(path, f"expected a place such as '{{name}}', got {spec!r}")
        return tuple(found[1].split("."))
