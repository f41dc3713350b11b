"""A table from a response template, the data with which transformers reads a model's replies.

Its fields become states, their openers and closers markers, the way from a field's text to `name` and `arguments` a
call syntax. What a table cannot say is a `FormatError` that names the field and the construct. Two things are decided
here: text that the template throws away, since no field claims it, is content (nothing is lost); and names are what a
table's names are, dots and dashes included, though most templates write `\\w+`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..formats.build import build
from .regex_parts import Ahead, Boundary, Group, Literal, Row, Run, Space, Start
from .response_calls import CallSyntax
from .response_fields import Complaints, TemplateReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..formats.table import Format
    from .response_fields import Field

_REASONING: Final = ("thinking", "reasoning_content", "reasoning")
_STRIPPED: Final = "\n\n\n"
"""The layout of a text that the template strips: at most this much white space is no part of it."""


@dataclass(slots=True)
class _Table:
    """The table in the making."""

    markers: dict[str, dict[str, Any]] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    content: dict[str, str] = field(default_factory=dict)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)
    start: str = "content"

    def mark(self, name: str, text: str, before: str = "", after: str = "") -> str:
        """The name of the marker with this text."""
        if text in self.taken:
            return self.taken[text]
        key = name
        while key in self.markers:
            key = f"{name}_{len(self.markers)}"
        entry = {"text": text, **({"before": before} if before else {}), **({"after": after} if after else {})}
        self.markers[key] = entry
        self.taken[text] = key
        return key


def from_response_template(
    template: Mapping[str, Any], *, name: str = "response_template", tools_field: str = "tool_calls"
) -> Format:
    """The format that this response template describes. Raises `FormatError` with the field and the construct."""
    return build(name, table_of_template(template, name=name, tools_field=tools_field))


def table_of_template(
    template: Mapping[str, Any], *, name: str = "response_template", tools_field: str = "tool_calls"
) -> dict[str, Any]:
    """The table as TOML has it."""
    return _Translator(name).table(template, tools_field)


class _Translator(Complaints):
    """Translates one template."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._reader: Final = TemplateReader(name)
        self._syntax: Final = CallSyntax(name)
        self._out: Final = _Table()
        self._strips = True

    def table(self, template: Mapping[str, Any], tools_field: str) -> dict[str, Any]:
        read = self._reader.read(template, tools_field)
        self._strips = any(entry.stripped for entry in read.fields if entry.name == "content")
        for entry in read.fields:
            if entry is not read.calls:
                self._text_field(entry)
        self._calls(read.calls)
        return self._spec(read.anchors, read.fields)

    # ------------------------------------------------------------------------------ texts

    def _text_field(self, entry: Field) -> None:
        path = f"fields.{entry.name}"
        if entry.spec.get("content", "text") != "text":
            self.fail(f"{path}.content", f"{entry.spec['content']}: only the calls are anything but text")
        if entry.spec.get("transform") is not None:
            self.fail(f"{path}.transform", "a text that is transformed has no event")
        reasoning = entry.name in _REASONING
        if not reasoning and entry.name != "content":
            self.fail(path, f"no event carries this field; there are content, {', '.join(_REASONING)} and the calls")
        state = "reasoning" if reasoning else "reply"
        out = self._out
        layout = _STRIPPED if entry.stripped else ""
        if entry.implicit:
            if reasoning:
                out.start = "reasoning"
            else:
                out.ends += self._literals(f"{path}.close", entry.closes)
                return
        on: dict[str, str] = {}
        for text, before in self._closers(path, entry.closes):
            on[out.mark(f"{state}_end", text, before or layout, layout)] = "content"
        out.states[state] = {"kind": "reasoning" if reasoning else "content", **({"on": on} if on else {})}
        for row in entry.opens:
            rest = tuple(part for part in row if not isinstance(part, Start | Boundary))
            if Start() in row and not rest:
                out.start = state
                continue
            text, after = self._opener(f"{path}.open_pattern", rest)
            out.content[out.mark(state, text, "", after or layout)] = state

    def _opener(self, path: str, row: Row) -> tuple[str, str]:
        """A text field's opener: literal text, a run that nobody wants left empty; and the layout behind it."""
        after = ""
        if row and isinstance(row[-1], Space):
            row, after = row[:-1], _STRIPPED
        if any(isinstance(part, Group) for part in row):
            self.fail(path, "a named group in a text's opener")
        texts = [part.text for part in row if isinstance(part, Literal)]
        runs = [part for part in row if isinstance(part, Run)]
        if runs and not all(part.without for part in runs):
            self.fail(path, "any text in front of a marker")
        if not texts or not "".join(texts).strip():
            self.fail(path, "an opener without literal text")
        return "".join(texts), after

    def _closers(self, path: str, rows: list[Row]) -> list[tuple[str, str]]:
        found = []
        for row in rows:
            before = _STRIPPED if row[:1] == (Space(),) else ""
            inner = [part for n, part in enumerate(row) if part != Space() or 0 < n < len(row) - 1]
            if len(inner) != 1 or not isinstance(inner[0], Literal) or not inner[0].text.strip():
                self.fail(f"{path}.close_pattern", "a closer that is more than one literal text")
            text = inner[0].text
            stripped = text.lstrip("\n ")
            if stripped != text and rows[0] is not row:
                continue  # the same closer with the white space that it may have before it
            found.append((text, before))
        texts = {text for text, _ in found}
        return [(text, before) for text, before in found if not (text.strip() in texts and text != text.strip())]

    def _literals(self, path: str, rows: list[Row]) -> list[str]:
        return [text for text, _ in self._closers(path.removesuffix(".close"), rows)]

    # ------------------------------------------------------------------------------ calls

    def _calls(self, entry: Field) -> None:
        path = f"fields.{entry.name}"
        if entry.implicit:
            self.fail(path, "calls that nothing opens")
        call = self._reader.places(path, entry)
        plain = [row for row in entry.closes if not any(isinstance(part, Ahead) for part in row)]
        if plain != entry.closes:  # the next call's opener ends a call, as the end of the turn does
            self._out.ends += self._literals(f"{path}.close", plain)
            plain = []
        behind_calls = [row[2].text for row in plain if len(row) == 3 and isinstance(row[2], Literal)]
        plain = [row for row in plain if len(row) < 3 or not isinstance(row[1], Space)]
        closes = [text.strip() for text in self._literals(f"{path}.close", plain)]  # white space there is envelope
        closes = [text for text in closes if text not in self._out.ends]  # the end of the turn needs no row
        rows = [tuple(part for part in row if not isinstance(part, Start)) for row in entry.opens]
        groups: dict[str, list[Row]] = {}
        around = _STRIPPED if self._strips else ""
        for row in rows:
            headless = bool(row) and isinstance(row[0], Run) and bool(row[0].without)
            rest = row[1:] if headless else row  # text in front of the marker is no part of the call
            if not rest or not isinstance(rest[0], Literal):
                self.fail(f"{path}.open_pattern", "an opener that begins with no literal text")
            groups.setdefault(rest[0].text, []).append(rest[1:])
        for n, (text, behind) in enumerate(groups.items()):
            suffix = f"_{n + 1}" if n else ""
            syntax = self._syntax.syntax(path, entry, call, text, behind)
            self._state(suffix, text, syntax, closes, around)
        if behind_calls:  # the closers of a section that the calls stand in
            self._section(list(groups), closes, behind_calls, around)

    def _state(self, suffix: str, text: str, syntax: dict[str, Any], closes: list[str], around: str) -> None:
        out = self._out
        inner = syntax.pop("inner", None)
        out.calls[f"call{suffix}"] = syntax
        state = f"call{suffix}"
        if inner is None:
            out.content[out.mark(f"call{suffix}", text, around)] = state
            ends = {out.mark("call_end", close, "", around): "content" for close in closes}
            out.states[state] = {"kind": "call", "calls": [state], **({"on": ends} if ends else {"then": "content"})}
            return
        section = f"section{suffix}"
        out.content[out.mark(section, text, around, "\n")] = section
        call_end = out.mark("function_end", inner[1])
        ends = {out.mark("call_end", close, "", around): "content" for close in closes}
        out.states[section] = {"kind": "wrapper", "on": {out.mark("function", inner[0]): state, **ends}}
        out.states[state] = {"kind": "call", "calls": [state], "on": {call_end: section}}

    def _section(self, openers: list[str], closes: list[str], ends: list[str], around: str) -> None:
        """Behind a call: another one, or the end of the section."""
        out = self._out
        on = {out.taken[opener]: out.content[out.taken[opener]] for opener in openers}
        on |= {out.mark("section_end", end, "", around): "content" for end in ends}
        out.states["behind"] = {"kind": "wrapper", "on": on}
        for state in out.states.values():
            if state["kind"] == "call":
                state["on"] |= {out.taken[close]: "behind" for close in closes}

    # ------------------------------------------------------------------------------ the table

    def _spec(self, anchors: list[str], fields: list[Field]) -> dict[str, Any]:
        out = self._out
        prompt_end = ""
        openers = anchors
        if len(anchors) == 1 and anchors[0] in out.taken:
            # The anchor opens fields, too: what is read starts with it, behind the end of what came before.
            prompt_end = anchors[0]
            closes = [text for entry in fields for text, _ in self._closers(f"fields.{entry.name}", entry.closes)]
            openers = list(dict.fromkeys(closes))
        elif not any(entry.implicit for entry in fields):  # it stands between fields, where the template drops text
            for anchor in anchors:
                if anchor.strip()[:1] in "<[":
                    out.content.setdefault(out.mark("turn", anchor.strip()), "content")
        states: dict[str, dict[str, Any]] = {}
        content = {"content": {"kind": "content", "on": out.content}}
        if out.start != "content":
            states[out.start] = out.states.pop(out.start)
            states |= content
        else:
            states |= content
        states |= out.states
        if "reasoning" in states:
            for key, target in out.content.items():
                if target == "reasoning":
                    states["reasoning"].setdefault("on", {}).setdefault(key, "reasoning")
        table: dict[str, Any] = {
            "summary": f"{self.name}: as its response template says",
            "source": "the model's response template",
            "turn_openers": openers,
            "turn_end": [{"text": end} for end in dict.fromkeys(out.ends) if end not in out.taken],
        }
        if prompt_end:
            table["prompt_end"] = prompt_end
        return {**table, "markers": out.markers, "states": states, "calls": out.calls}
