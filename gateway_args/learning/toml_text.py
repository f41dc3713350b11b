"""Writes tables and corpora as TOML, in the layout of those that are written by hand."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .prove import Proved

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def text(value: str) -> str:
    """A text as a basic string."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    """A value on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return text(value)
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {inline(item)}" for key, item in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(inline, value)) + "]"
    raise TypeError(f"no value of a table: {value!r}")


def table_text(table: Mapping[str, Any], notes: Sequence[str] = ()) -> str:
    """A format's table; `notes` are written as comments below the summary."""
    lines = []
    for key, value in table.items():
        if not isinstance(value, dict):
            lines.append(f"{key} = {inline(value)}")
            if key == "summary":
                lines += [f"# {note}" for note in notes]
    markers = table.get("markers", {})
    if markers:
        lines += ["", "[markers]", *(f"{_key(name)} = {inline(marker)}" for name, marker in markers.items())]
    for section in ("states", "calls"):
        for name, entry in table.get(section, {}).items():
            lines += [
                "",
                f"[{section}.{_key(name)}]",
                *(f"{_key(key)} = {inline(value)}" for key, value in entry.items()),
            ]
    return "\n".join(lines) + "\n"


_UNWRITTEN: Final = (
    "key_order",
    "duplicate",
    "literal_junk",
    "garbage",
    "recovery",
    "missing_closer",
    "stray_closer",
    "truncated",
    "turn_end",
    "prefill",
    "control",
    "own_delimiters",
    "quoted_marker",
    "long",
    "name_edges",
    "typing",
)
_REASON: Final = "learned from a template, which writes sound outputs only; a case is to be written by hand"


def corpus_text(name: str, samples: Sequence[Proved], openers: Sequence[str], most: int = 16) -> str:
    """A corpus of canonical cases: for each kind of case the shortest conversations that read back."""
    chosen: list[tuple[Proved, list[str]]] = []
    covered: dict[str, int] = {}
    for sample in sorted(samples, key=lambda sample: len(sample.rendered.output)):
        kinds = kinds_of(sample)
        if any(covered.get(kind, 0) < 2 for kind in kinds) and len(chosen) < most:
            chosen.append((sample, kinds))
            for kind in kinds:
                covered[kind] = covered.get(kind, 0) + 1
    lines = [
        f"# Canonical cases of {name}: rendered by the model's chat template, read back as they went in.",
        f"format = {text(name)}",
        "",
        "[no_kind]",
    ]
    every = ("plain", "single", "parallel", "same_twice", "narration", "empty_arguments", "scalars", "nested")
    for kind in (*every, "text_values", "reasoning"):
        if kind not in covered:
            lines.append(f"{kind} = {text('no conversation of this kind was rendered')}")
    lines += [f"{kind} = {text(_REASON)}" for kind in _UNWRITTEN]
    for n, (sample, kinds) in enumerate(chosen, start=1):
        lines += ["", "[[case]]", f"name = {text(_title(sample, n))}", f"kinds = {inline(kinds)}", "canonical = true"]
        lines.append(f"tools = {text(json.dumps(list(sample.tools), ensure_ascii=False))}")
        lines.append(f"prompt = {text(_prompt(sample.rendered.prompt, openers))}")
        lines.append(f"output = {text(sample.rendered.output)}")
        lines.append("[case.expect]")
        if sample.turn.content:
            lines.append(f"content = {text(sample.turn.content)}")
        if sample.turn.reasoning:
            lines.append(f"reasoning = {text(sample.turn.reasoning)}")
        calls = [
            {"name": call.name, "arguments": arguments}
            for call, arguments in zip(sample.turn.calls, sample.arguments, strict=True)
        ]
        if calls:
            lines.append(f"calls = {inline(calls)}")
    return "\n".join(lines) + "\n"


def kinds_of(sample: Proved) -> list[str]:
    """The kinds of cases that a conversation is one of."""
    turn = sample.turn
    values = [value for call in turn.calls for value in call.arguments.values()]
    found = {
        "plain": not turn.calls,
        "single": len(turn.calls) == 1,
        "parallel": len(turn.calls) > 1,
        "same_twice": len({call.name for call in turn.calls}) < len(turn.calls),
        "narration": bool(turn.calls and turn.content),
        "empty_arguments": any(not call.arguments for call in turn.calls),
        "scalars": any(isinstance(value, int | float) for value in values),
        "nested": any(isinstance(value, dict | list) and value for value in values),
        "text_values": any(isinstance(value, str) and not value.isalnum() for value in values),
        "reasoning": turn.reasoning is not None,
    }
    return [kind for kind, is_one in found.items() if is_one]


def _title(sample: Proved, n: int) -> str:
    turn = sample.turn
    count = len(turn.calls)
    parts = ["a thought"] * (turn.reasoning is not None) + ["text"] * (turn.content is not None)
    parts += [f"{count} calls" if count > 1 else "a call"] if count else []
    return f"{n}: {', then '.join(parts)}"


def _prompt(prompt: str, openers: Sequence[str]) -> str:
    """The end of the prompt, from the last turn's opener on."""
    at = max((prompt.rfind(opener) for opener in openers if opener), default=-1)
    return prompt[at:] if at >= 0 else prompt[-200:]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else text(key)
