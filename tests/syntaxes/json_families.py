"""How the families that write JSON calls spell them, for generated tests; from their templates, not from our tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

NAMES = ("add", "add_all", "list.jobs", "find-ferry", "now")


@dataclass(frozen=True)
class Call:
    """A call that a model means, and one way to write its object."""

    name: str
    arguments: dict[str, Any]
    style: dict[str, Any]
    reversed: bool = False
    quoted: bool = False
    alias: bool = False
    extra: Any = None

    def text(self, name_key: str = "name", arguments_key: str = "arguments", keyed: bool = False) -> str:
        value = json.dumps(self.arguments, **self.style)
        if self.quoted:
            value = json.dumps(value)
        if keyed:
            return f"{{{json.dumps(self.name)}: {value}}}"
        other = {"arguments": "parameters", "parameters": "arguments"}[arguments_key]
        members = [
            f"{json.dumps(name_key)}: {json.dumps(self.name)}",
            f"{json.dumps(other if self.alias else arguments_key)}:{value}",
        ]
        if self.reversed:
            members.reverse()
        if self.extra is not None:
            members.append(f'"meta": {json.dumps(self.extra)}')
        return "{" + ", ".join(members) + "}"


@dataclass(frozen=True)
class Family:
    """One table's way to write calls: `opener`, the objects joined by `join`, `closer`; around each call or all."""

    table: str
    opener: str
    closer: str
    join: str = ""
    each: bool = True
    name_key: str = "name"
    arguments_key: str = "arguments"
    keyed: bool = False
    narrates: bool = True

    def write(self, calls: list[Call]) -> str:
        objects = [call.text(self.name_key, self.arguments_key, self.keyed) for call in calls]
        if self.each:
            return self.join.join(self.opener + text + self.closer for text in objects)
        return self.opener + self.join.join(objects) + self.closer


FAMILIES = (
    Family("hermes", "<tool_call>\n", "\n</tool_call>", "\n"),
    Family("longcat", "<longcat_tool_call>\n", "\n</longcat_tool_call>", "\n"),
    Family("internlm", "<|action_start|><|plugin|>\n", "<|action_end|>", arguments_key="parameters"),
    Family("granite_20b_fc", "<function_call> ", "", "\n"),
    Family("minimax_m1", "<tool_calls>\n", "\n</tool_calls>", "\n", each=False),
    Family("granite", "<|tool_call|>[\n    ", "\n]", ",\n    ", each=False),
    Family("jamba", "<tool_calls>[\n    ", "\n]</tool_calls>", ",\n    ", each=False),
    Family("nemotron_deci", "<TOOLCALL>[", "]</TOOLCALL>", ", ", each=False),
    Family("cohere_command", "<|START_ACTION|>[", "]<|END_ACTION|>", ",", False, "tool_name", "parameters"),
    Family("apertus", "<|tools_prefix|>[", "]<|tools_suffix|>", ", ", False, keyed=True),
    Family("mistral_v3", "[TOOL_CALLS] [", "]", ", ", each=False),
    Family("phi4_mini", "functools[", "]", ", ", each=False),
    Family("xlam", "[", "]", ", ", each=False, narrates=False),
    Family("xlam", "```json\n[", "]\n```", ", ", each=False, narrates=False),
    Family("json", "[", "]", " , ", each=False, narrates=False),
    Family("llama3_json", "", "", "; ", arguments_key="parameters"),
    Family("llama3_json", "<|python_tag|>", "", "", arguments_key="parameters"),
)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)
styles = st.sampled_from(({}, {"ensure_ascii": False}, {"indent": 2}, {"separators": (",", ":")}))


@st.composite
def calls(draw: st.DrawFn) -> Call:
    return Call(
        draw(st.sampled_from(NAMES)),
        draw(st.dictionaries(st.text(), values, max_size=3)),
        draw(styles),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.none() | values),
    )


# Prose that holds no marker and no brace; letters at both ends, so that no white space of it can be layout.
prose = st.text(alphabet="ab ,.;\n]`|<", max_size=12).map(lambda text: f"I{text}.")
steps = st.lists(st.integers(min_value=1, max_value=11), min_size=1, max_size=8)


def cut(text: str, sizes: list[int]) -> list[str]:
    """The text in pieces of these sizes, over and over."""
    pieces = []
    at = n = 0
    while at < len(text):
        size = sizes[n % len(sizes)]
        pieces.append(text[at : at + size])
        at += size
        n += 1
    return pieces
