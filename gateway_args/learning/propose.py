"""Writes an anatomy as a table, in the dict that TOML gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .cores import pattern
from .texts import is_special, units

if TYPE_CHECKING:
    from collections.abc import Collection

    from .dissect import Anatomy, Mark


def table_of(anatomy: Anatomy, name: str, source: str, tokens: Collection[str], lone: str = "") -> dict[str, Any]:
    """The table that an anatomy describes; `tokens` are texts that one entry of the vocabulary spells.

    `lone`: a call may stand without its section's opener; the state behind it.
    """
    core = anatomy.core
    assert core is not None
    markers: dict[str, dict[str, Any]] = {}
    taken: dict[str, str] = {}

    def mark(key: str, found: Mark | None) -> str:
        """Puts a marker into the table and gives the name that it has there: a text is one marker, whatever for."""
        if found is None or not found.text:
            return ""
        if found.text in taken:
            return taken[found.text]
        entry: dict[str, Any] = {"text": found.text}
        if found.text in tokens:
            entry["token"] = True
        if found.before:
            entry["before"] = found.before
        if found.after:
            entry["after"] = found.after
        markers[key] = entry
        taken[found.text] = key
        return key

    think, think_end = mark("think", anatomy.think), mark("think_end", anatomy.think_end)
    reply, reply_end = mark("reply", anatomy.reply), mark("reply_end", anatomy.reply_end)
    section, section_end = mark("section", anatomy.section), mark("section_end", anatomy.section_end)
    call, call_end = mark("call", anatomy.call), mark("call_end", anatomy.call_end)
    joint = ""
    if anatomy.joint.strip():
        from .dissect import Mark

        joint = mark("message", Mark.of(anatomy.joint))

    openings: dict[str, str] = {}
    if think:
        openings[think] = "reasoning"
    if reply:
        openings[reply] = "reply" if reply_end else "content"
    if joint:
        openings[joint] = "content"
    if section:
        openings[section] = "section"
    elif call:
        openings[call] = "call"
    for end in anatomy.ends:
        if end.text in taken:  # what ends a thought ends a message, too
            openings.setdefault(taken[end.text], "content")
    content = dict(openings)
    if anatomy.bare_think_end and think_end:
        content[think_end] = "content"
    states: dict[str, dict[str, Any]] = {"content": {"kind": "content", "on": content}}
    if think_end:
        inside = {key: target for key, target in openings.items() if target in ("call", "section")}
        held = inside if anatomy.calls_in_reasoning else {}
        states["reasoning"] = {"kind": "reasoning", "on": {think_end: "content", **held}}
    if reply_end:
        states["reply"] = {"kind": "content", "on": {**openings, reply_end: "content"}}
    home = "content"
    if section_end and not section:
        states["section"] = {"kind": "wrapper", "on": {section_end: "content"}}
        home = "section"
    if section:
        inner = {call: "call"} if call else {}
        states["section"] = {"kind": "wrapper", "on": {**inner, **({section_end: "content"} if section_end else {})}}
        if section_end:
            home = "section"
        else:  # nothing closes the section: a call may follow a call
            content |= inner
    if call or section:
        state: dict[str, Any] = {"kind": "call", "calls": ["call"]}
        if call_end:
            state["on"] = {call_end: home}
        else:
            state["then"] = home
        states["call"] = state
    else:
        states["content"] |= {"calls": ["call"], "bare": "anywhere" if anatomy.content_with_calls else "start"}
    if lone and section and call and call_end:  # a call that no section opened
        for text in ("content", "reply"):
            if text in states:
                states[text]["on"][call] = "lone"
        states["lone"] = {**states["call"], "on": {call_end: lone}}
    if not content:
        del states["content"]["on"]
    ends = {end.text: end for end in reversed(anatomy.ends)}
    table: dict[str, Any] = {
        "summary": f"{name}: {_described(anatomy)}",
        "source": source,
        "turn_openers": [opener for opener in (anatomy.opener, *anatomy.other_openers) if opener.strip()],
        "turn_end": [_end(end, tokens) for text, end in ends.items() if text not in taken],
    }
    if anatomy.results:
        table["results"] = anatomy.results
    if anatomy.prompt_end:
        table["prompt_end"] = anatomy.prompt_end
    if anatomy.after_start:
        table["after_start"] = anatomy.after_start
    syntax = _syntax(anatomy)
    _spell(markers, [*taken, *ends, *_texts(list(syntax.values()))], tokens)
    return {**table, "markers": markers, "states": states, "calls": {"call": syntax}}


def with_tokens(table: dict[str, Any], tokens: Collection[str]) -> dict[str, Any]:
    """The table with the markers that one entry of the vocabulary spells marked so."""
    markers = {name: dict(marker) for name, marker in table["markers"].items()}
    ends = [dict(end) for end in table["turn_end"]]
    for marker in (*markers.values(), *ends):
        if marker["text"] in tokens:
            marker["token"] = True
    texts = [text for syntax in table["calls"].values() for text in _texts(list(syntax.values()))]
    _spell(markers, [*texts, *(marker["text"] for marker in (*markers.values(), *ends))], tokens)
    return {**table, "turn_end": ends, "markers": markers}


def _texts(value: Any) -> list[str]:
    """All texts in a syntax's parameters."""
    if isinstance(value, str):
        return [value]
    return [text for item in value for text in _texts(item)] if isinstance(value, list | tuple) else []


def _spell(markers: dict[str, dict[str, Any]], texts: list[str], tokens: Collection[str]) -> None:
    """Adds markers for the tokens that stand inside longer texts: a stream may spell those by id."""
    known = {marker["text"] for marker in markers.values()}
    for token in sorted(tokens):
        if token.strip() and token not in known and any(token in text and token != text for text in texts):
            name = re.sub(r"\W+", "_", token).strip("_") or "token"
            while name in markers:
                name += "_token"
            markers[name] = {"text": token, "token": True}


def _end(end: Mark, tokens: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"text": end.text}
    if end.text in tokens:
        found["token"] = True
    if end.before:
        found["before"] = end.before
    if end.after:
        found["after"] = end.after
    return found


def _syntax(anatomy: Anatomy) -> dict[str, Any]:
    """The call's syntax with what stands between its marker and itself."""
    core = anatomy.core
    assert core is not None
    syntax = dict(core.table)
    head = pattern(anatomy.header, "")
    if core.headed:
        syntax["header"] = [_tidy(head + text) for text in syntax["header"]]
    elif syntax["syntax"] == "json" and anatomy.header.strip():
        syntax["header"] = [_tidy(head)]
    if anatomy.fence.strip() and syntax["syntax"] in ("framed", "json"):
        syntax["close"] = anatomy.fence.strip()
    if syntax["syntax"] == "json":
        if anatomy.call is not None or anatomy.section is not None:
            syntax.pop("envelope", None)
        if anatomy.lines:
            syntax["shape"] = "lines"
        if anatomy.separator:
            syntax["separator"] = anatomy.separator
    return syntax


def _tidy(header: str) -> str:
    """A header without the white space at its start, which needs no saying."""
    return header.removeprefix("{ws}")


def _described(anatomy: Anatomy) -> str:
    """One sentence on how calls are written."""
    core = anatomy.core
    assert core is not None
    ways = {
        "json": "a JSON list of calls" if core.listed else "calls as JSON objects",
        "framed": "a header with the name, then JSON arguments",
        "tagged": "names and values in tags",
        "python": "Python calls",
        "python_objects": "calls as Python objects",
        "gemma": "calls in Gemma's literals",
    }
    opens = anatomy.section or anatomy.call
    where = f", behind {_short(opens.text)}" if opens is not None else ", with no marker"
    reasoning = f"; thoughts in {_short(anatomy.think.text)}" if anatomy.think is not None else ""
    return ways[str(core.table["syntax"])] + where + reasoning


def _short(text: str) -> str:
    first = units(text)[0]
    return first if is_special(first) else text.split("\n", maxsplit=1)[0]
