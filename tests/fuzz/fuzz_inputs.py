"""Hostile inputs, seeded: the corpora's outputs, spliced, cut, doubled and put at the bounds.

A case is what a gateway may be given: a format, a request, a prompt, an output and how it ended. It is made from a
corpus case by a few edits, each drawn at random; the same seed gives the same cases.
"""

from __future__ import annotations

import functools
import random
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gateway_args import Limits, Tools, contract, formats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args import Format

SMALL = Limits(max_depth=4, max_name=16, max_layout=6, max_held=48, max_arguments=90, max_calls=3)
_UNICODE = (
    "\u2028",
    "\ufeff",
    "\x00",
    "\x1f",
    "\x7f",
    "é",
    "日本",
    "😀",
    "👩\u200d🚀",
    "\ud83d",
    "\ude00",
    "\ufffd",
    "\u0301",
    "Ġ",
)
_STRUCTURE = (
    '"',
    "'",
    "\\",
    "\\u",
    "\\ud83d",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    "<",
    ">",
    "</",
    "|",
    "｜",
    "`",
    "```",
    "/",
    "\n",
    " ",
    "\t",
)
_VALUES = (
    "true",
    "null",
    "None",
    "-",
    "1e",
    "0x1F",
    "1_000",
    "007",
    "9007199254740993",
    "-0.0",
    "truex",
    '"a"',
    "{}",
    "[]",
)
_REASONS = ("stop", "stop", "length", "cancelled", "error", "content_filter")


@dataclass(frozen=True, slots=True)
class Input:
    """One output with its circumstances; `format` names a table, or `forced` and `required` with `function`, `base`."""

    format: str
    output: str
    tools: tuple[Any, ...] | None = None
    prompt: str = ""
    harmless: str | None = None
    """The same prompt with a harmless text where a stranger's stands: it must be read alike."""
    prefill: str = ""
    start: str | None = None
    reason: str = "stop"
    undeclared: str = "call"
    limits: Limits = field(default_factory=Limits)
    function: str | None = None
    base: str | None = None


@functools.cache
def table(name: str, function: str | None, base: str | None) -> Format:
    """The format of that name; the constrained ones are made for their function and base."""
    if name == "forced":
        return formats.forced(function or "f", formats.load(base) if base else None)
    if name == "required":
        return formats.required(formats.load(base) if base else None)
    return formats.load(name)


@functools.cache
def corpus(name: str) -> tuple[contract.Case, ...]:
    return contract.load(name).cases


@functools.lru_cache(maxsize=4096)
def _declared(key: str) -> Tools:
    import json

    return Tools.of(json.loads(key))


def tools_of(case: Input) -> Tools | None:
    if case.tools is None:
        return None
    import json

    return _declared(json.dumps(case.tools, default=dict))


def inputs(seed: str, names: list[str]) -> Iterator[Input]:
    """Inputs without end for these formats, in turn."""
    number = 0
    while True:
        for name in names:
            number += 1
            yield _input(random.Random(f"{seed}/{number}/{name}"), name, names)


def _input(rng: random.Random, name: str, names: list[str]) -> Input:
    case = rng.choice(corpus(name))
    fmt = table(name, case.function, case.base)
    made = Input(
        name,
        case.text,
        case.tools,
        case.prompt,
        None,
        case.prefill,
        case.start,
        case.finish if rng.random() < 0.7 else rng.choice(_REASONS),
        case.undeclared if rng.random() < 0.8 else "malformed",
        case.limits if rng.random() < 0.5 else SMALL if rng.random() < 0.6 else _some_limits(rng),
        case.function,
        case.base,
    )
    if rng.random() < 0.1:
        made = replace(made, tools=None if rng.random() < 0.5 else ())
    if rng.random() < 0.15:
        prompt, harmless = _prompts(rng, name, fmt)
        made = replace(made, prompt=prompt, harmless=harmless, prefill="", start=None)
    elif rng.random() < 0.05:
        at = rng.randint(0, len(made.output))
        made = replace(made, prefill=made.prefill + made.output[:at], output=made.output[at:])
    text = made.output
    if len(text) > 3_000:
        at = rng.randrange(len(text) - 2_000)
        text = text[:500] + text[at : at + 1_500]
    for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2, 2, 3, 5))):
        text = _edited(rng, text, name, names, fmt, made.limits)
    return replace(made, output=text)


def _some_limits(rng: random.Random) -> Limits:
    return Limits(
        max_depth=rng.choice((1, 2, 3, 32)),
        max_name=rng.choice((1, 4, 9, 256)),
        max_layout=rng.choice((1, 2, 4, 256)),
        max_held=rng.choice((1, 4, 16, 64, 1 << 20)),
        max_arguments=rng.choice((None, 1, 2, 20)),
        max_calls=rng.choice((1, 2, 1024)),
    )


def _prompts(rng: random.Random, name: str, fmt: Format) -> tuple[str, str | None]:
    """A prompt in which a stranger's text stands where a template can put it, and the same with a harmless text."""
    texts = sorted({*fmt.marker_texts(), *fmt.turn_openers, *(text for pair in fmt.results for text in pair)})
    quoted = []
    for _ in range(rng.randint(1, 5)):
        case = rng.choice(corpus(name))
        quoted += [rng.choice(texts) if texts else "", rng.choice(_STRUCTURE), case.text[: rng.randint(0, 200)]]
    stranger = "".join(quoted)
    opener = rng.choice(fmt.turn_openers) if fmt.turn_openers else ""
    end = rng.choice(("", "\n", "\n\n", " ", *(marker.text for marker in fmt.reasoning_markers)))
    if fmt.results and rng.random() < 0.6:
        first, last = rng.choice(fmt.results)
        before, after = opener + first, last + end
    else:
        before, after = "user: ", opener + end
        if not opener:
            return before + stranger, None
    return before + stranger + after, before + "ok" + after


def _edited(rng: random.Random, text: str, name: str, names: list[str], fmt: Format, limits: Limits) -> str:
    size = len(text)
    markers = sorted(fmt.marker_texts()) or ["<x>"]
    at = _place(rng, text, markers)
    end = min(size, at + rng.choice((1, 1, 2, 5, 20)))
    marker = rng.choice(markers)
    match rng.randrange(18):
        case 0:
            return text[:at] + text[end:]
        case 1:
            return text[:end] + text[at:end] + text[end:]
        case 2:
            other = rng.choice(corpus(name)).text
            cut = rng.randint(0, len(other))
            return text[:at] + other[cut : cut + rng.randint(1, 200)] + text[at:]
        case 3:
            other = rng.choice(corpus(rng.choice(names))).text[:400]
            return text[:at] + other + text[at:]
        case 4:
            return text[:at] + marker + text[at:]
        case 5:
            return text[:at] + marker[: rng.randint(1, len(marker))] + text[at:]
        case 6:
            return text[:at] + marker[rng.randint(0, len(marker) - 1) :] + text[at:]
        case 7 if marker in text:
            return text.replace(marker, marker * 2 if rng.random() < 0.5 else "", 1)
        case 8:
            return text[:at] + rng.choice(_UNICODE) + text[at:]
        case 9:
            return text[:at] + rng.choice(_STRUCTURE) + text[at:]
        case 10:
            return text[:at] + rng.choice(_STRUCTURE) + text[end:]
        case 11:
            return text[:at] + rng.choice(_VALUES) + text[end:]
        case 12 | 15 | 16:
            return text[:at] + rng.choice(" \n\t") * _near(rng, limits.max_layout) + text[at:]
        case 13:
            bound = rng.choice((limits.max_name, limits.max_held, limits.max_arguments or 40))
            return text[:at] + rng.choice("a1.{[\n ") * _near(rng, min(bound, 600)) + text[at:]
        case 14:
            return text[:at]
    return text


def _place(rng: random.Random, text: str, markers: list[str]) -> int:
    """Where to edit: often where something begins or ends, since that is where readers decide."""
    match rng.randrange(4):
        case 0:
            return rng.randint(0, len(text))
        case 1:
            return rng.choice((0, len(text)))
        case 2:
            edges = [
                match.start()
                for match in re.finditer(r"(?<=\S)(?=\s)|(?<=[\W_])(?=\w)|(?<=\w)(?=\W)|(?<=[}\])>\"])", text)
            ]
        case _:
            edges = [edge for match in re.finditer("|".join(map(re.escape, markers)), text) for edge in match.span()]
    return rng.choice(edges) if edges else rng.randint(0, len(text))


def _near(rng: random.Random, bound: int) -> int:
    return max(0, bound + rng.choice((-1, 0, 1, 1, 2)))
