"""Which tables read an output: with whole calls and no malformed text, ranked, and why; and what went wrong if none do.

Every table reads the text once. Tables that say the same of it are one `Match`. Ranked first is what explains most of
the output: a table whose turn opener ends the prompt, no marker of another table left in the content, many calls, much
text that is the format's own (markers, names, layout) rather than content.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..formats import catalogue
from ..parser import Parser
from ..reading import Reading
from .skipped import Found, sign_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats import Format
    from ..tools import Tools

_TELLING: Final = re.compile(r"[<\[|｜].{3,}|.{3,}[>\]|｜]", re.DOTALL)
_HINTED: Final = 1 << 17
"""Characters beyond which `hint` does not try the other tables."""
_KEEP: Final = (
    "ask the engine to keep them (\"skip_special_tokens\": false in vLLM's and SGLang's requests), or give the parser "
    "token ids with markers"
)


@dataclass(frozen=True, slots=True)
class Match:
    """Tables that read the output alike, the ones that most models use first, and what they read."""

    formats: tuple[str, ...]
    reading: Reading
    reason: str
    marked: bool
    """Whether markers say that there are calls; False where only the look of an object says it."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Tables whose outputs look like this one when their special tokens were skipped."""

    formats: tuple[str, ...]
    found: str
    """The text that looks like it."""
    missing: str
    """A special token that should stand there."""

    def __str__(self) -> str:
        return (
            f"special tokens were skipped: {_short(self.found)!r} is what {_listed(self.formats)} leave"
            f"{'s' if len(self.formats) == 1 else ''} when {self.missing} is taken out; {_KEEP}"
        )


@dataclass(frozen=True, slots=True)
class Detection:
    """The matches, the best first; the tables whose special tokens may be missing; markers that no match reads."""

    matches: tuple[Match, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    """Where nothing matches: tables that read calls of it with faults, the most calls first, and which faults."""

    @property
    def best(self) -> str | None:
        """The first table of the best match; None without one."""
        return self.matches[0].formats[0] if self.matches else None


def detect(text: str, *, prompt: str = "", tools: Tools | None = None) -> Detection:
    """The tables that read this output. `TypeError` where it is no text.

    Costs a reading with every table. Special tokens are looked for where no table reads calls by markers.
    """
    if not isinstance(text, str):
        raise TypeError(f"formats.detect: expected an output's text, got {text!r}")
    known = [catalogue.current().load(name) for name in sorted(catalogue.current().files)]
    foreign = {marker for fmt in known for marker in _telling(fmt)}
    uses = Counter(catalogue.current().ids.tables.values())
    groups: dict[str, list[tuple[tuple[int, ...], Format, Reading]]] = {}
    broken: list[tuple[int, str, str]] = []
    for fmt in known:
        reading = _read(fmt, text, prompt, tools)
        calls = [call for call in reading.calls if call.complete]
        if calls and not reading.malformed and len(calls) == len(reading.calls):
            opened = bool(prompt) and any(opener in prompt for opener in fmt.turn_openers)
            left = sum(marker in reading.content for marker in foreign)
            own = len(text) - len(reading.content) - len(reading.reasoning)
            score = (opened, -left, len(calls), own, uses[fmt.name])
            groups.setdefault(_key(reading, opened), []).append((score, fmt, reading))
        elif reading.calls or reading.malformed:
            first = reading.malformed[0] if reading.malformed else None
            why = f"malformed ({first.why}): {_short(first.text)!r}" if first is not None else "a call is not complete"
            broken.append((-len(calls), fmt.name, why))
    ranked = sorted(groups.values(), key=lambda group: max(score for score, _, _ in group), reverse=True)
    matches = tuple(_match(group, text, foreign) for group in ranked)
    skipped = () if any(match.marked for match in matches) else _skipped(known, text, uses, tools)
    return Detection(matches, skipped, () if matches else tuple((name, why) for _, name, why in sorted(broken)))


def hint(format: Format, text: str, reading: Reading, tools: Tools | None = None) -> str | None:
    """What may be wrong when this table read no call in the output, as one sentence; None where nothing is seen."""
    if reading.calls or not text.strip():
        return None
    sign = sign_in(format, text, tools)
    if sign is not None:
        return str(Skipped((format.name,), sign.text, sign.missing))
    content = reading.content
    if len(text) > _HINTED:
        return None
    if not _TELLING.search(content) and "{" not in content and not content[:16].strip().isalpha():
        return None
    found = detect(text)
    best = next((match for match in found.matches if match.marked), None)
    if best is not None:
        return f"{format.name} reads no call here, {_listed(best.formats)} would: {best.reason}"
    if found.skipped:
        return str(found.skipped[0])
    return None


def _read(fmt: Format, text: str, prompt: str, tools: Tools | None) -> Reading:
    parser = Parser(fmt, tools, prompt=prompt)
    reading = Reading()
    for event in (*parser.feed(text), *parser.finish("stop")):
        reading.add(event)
    return reading


def _telling(fmt: Format) -> list[str]:
    """Markers that prose does not hold: openers of calls and thoughts that look like markup."""
    texts = [text for text, side in fmt.regions.items() if side == "start"]
    texts += [marker.text for marker in fmt.reasoning_markers]
    return [text for text in texts if _TELLING.fullmatch(text.strip()) and len(text.strip()) > 4]


def _key(reading: Reading, opened: bool) -> str:
    parts = [[call.name, call.arguments] for call in reading.calls]
    return json.dumps([opened, reading.content.strip(), reading.reasoning.strip(), parts])


def _match(group: Sequence[tuple[tuple[int, ...], Format, Reading]], text: str, foreign: set[str]) -> Match:
    ordered = sorted(group, key=lambda entry: entry[0], reverse=True)
    score, _, reading = ordered[0]
    own = [
        marker for _, one, _ in ordered for marker, side in one.regions.items() if side == "start" and marker in text
    ]
    names = ", ".join(dict.fromkeys(call.name for call in reading.calls))
    parts = [f"{len(reading.calls)} call{'s' * (len(reading.calls) > 1)} ({_short(names)}), no malformed text"]
    if own:
        parts.append(f"opened by {_short(max(own, key=len))!r}")
    else:
        parts.append("no marker says so: an object that looks like a call")
    if score[0]:
        parts.append("the prompt has its turn opener")
    left = sorted(marker for marker in foreign if marker in reading.content)
    if left:
        parts.append(f"but {_short(left[-1])!r}, another table's marker, stays in the content")
    return Match(tuple(entry[1].name for entry in ordered), reading, "; ".join(parts), bool(own))


def _skipped(known: Sequence[Format], text: str, uses: Counter[str], tools: Tools | None) -> tuple[Skipped, ...]:
    found: dict[Found, list[str]] = {}
    for fmt in sorted(known, key=lambda fmt: -uses[fmt.name]):
        sign = sign_in(fmt, text, tools)
        if sign is not None:
            found.setdefault(sign, []).append(fmt.name)
    ranked = sorted(found.items(), key=lambda entry: -entry[0].telling)
    return tuple(Skipped(tuple(names), sign.text, sign.missing) for sign, names in ranked)


def _listed(names: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
