"""An output as a case of its format's corpus, in TOML: what it says, as the table reads it now.

Whoever puts it into a corpus reads it first: what it expects is what was read, right or wrong. Its kinds are guessed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..contract.corpus import normalise
from ..events import Why
from ..learning.toml_text import inline

if TYPE_CHECKING:
    from ..formats import Format
    from ..reading import Reading


def case_text(
    name: str,
    format: Format,
    output: str,
    reading: Reading,
    *,
    tools: object = None,
    prompt: str = "",
    prefill: str = "",
    start: str | None = None,
    finish: str | None = "stop",
) -> str:
    """The case, below a comment that says which corpus it is for."""
    reason = "error" if finish is None else finish
    rows: list[tuple[str, object]] = [("name", name), ("kinds", _kinds(reading, reason, prefill))]
    if tools is not None:
        rows.append(("tools", json.dumps(tools, ensure_ascii=False)))
    rows += [(key, value) for key, value in (("prompt", prompt), ("prefill", prefill), ("start", start)) if value]
    if reason != "stop":
        rows.append(("finish", reason))
    rows.append(("output", normalise(output)))
    expect: list[tuple[str, object]] = []
    expect += [(key, value) for key, value in (("content", reading.content), ("reasoning", reading.reasoning)) if value]
    calls = [
        {"name": call.name, "arguments": call.arguments} | ({} if call.complete else {"complete": False})
        for call in reading.calls
    ]
    if calls:
        expect.append(("calls", calls))
    if reading.malformed:
        expect.append(("malformed", [{"text": one.text, "why": str(one.why)} for one in reading.malformed]))
    lines = [f"# For the corpus of {format.name}: read it before you trust it; it expects what was read.", "[[case]]"]
    lines += [f"{key} = {inline(value)}" for key, value in rows]
    if expect:
        lines += ["[case.expect]", *(f"{key} = {inline(value)}" for key, value in expect)]
    return "\n".join(lines) + "\n"


def _kinds(reading: Reading, finish: str, prefill: str) -> list[str]:
    whys = {aside.why for aside in reading.malformed}
    names = [call.name for call in reading.calls]
    found = {
        "plain": not names and not whys,
        "single": len(names) == 1 and not whys,
        "parallel": len(names) > 1 and not whys,
        "narration": bool(names and reading.content),
        "reasoning": reading.thoughts > 0,
        "literal_junk": Why.ARGUMENTS in whys,
        "garbage": Why.SHAPE in whys or Why.LIMIT in whys,
        "duplicate": Why.DUPLICATE in whys,
        "name_edges": Why.UNDECLARED in whys,
        "stray_closer": Why.STRAY in whys,
        "truncated": Why.UNTERMINATED in whys or finish == "length",
        "prefill": bool(prefill),
    }
    return [kind for kind, is_one in found.items() if is_one] or ["garbage"]
