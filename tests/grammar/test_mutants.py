"""A grammar that allows too much is found: loosen any one rule, and broken markup is allowed or a walk is misread.

A rule is loosened by letting one symbol of it be left out, one excluded text in, or any JSON where a schema stands.
Some rules are loose in two places (a text is kept out by a terminal and by what follows it); those mutants allow nothing
new and are told by that: what they allow of many changed walks the grammar allows too.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
import refused
import walks

from gateway_args import formats, grammar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args import Format, Tools

_SYMBOL = re.compile(r"(?<![\w?*+])((?:RUN|UNTIL|STRING|part|json)_\d+)(?![\w?*+{])")


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Each with what was loosened."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        name, _, body = line.partition(": ")
        found: list[tuple[str, str]] = []
        if body.startswith("%json"):
            found.append(("any JSON", f"{name}: %json {{}}"))
        elif name.startswith(("start", "part")):
            for symbol in _SYMBOL.finditer(line, len(name)):
                found.append((f"{symbol[1]} left out", f"{line[: symbol.end()]}?{line[symbol.end() :]}"))
        elif " & ~/(?s:.*)(" in body and not name.startswith("UNTIL"):
            head, _, tail = body.partition("~/(?s:.*)(")
            barred, _, rest = tail.partition(")(?s:.*)/")
            texts = re.split(r"(?<!\\)\|", barred)
            for text_ in texts:
                others = "|".join(other for other in texts if other != text_) or "\\x00"
                found.append((f"{text_} let in", f"{name}: {head}~/(?s:.*)({others})(?s:.*)/{rest}"))
        for what, mutant in found:
            yield f"{line[:60]}: {what}", "\n".join([*lines[:at], mutant, *lines[at + 1 :]])


def is_found(format: Format, mutant: str, tools: Tools, choice: str, broken: list[str], count: int) -> bool:
    """Whether what the mutant allows is broken markup, or a walk of it is read with a fault."""
    if any(walks.allows(mutant, text) for text in broken):
        return True
    names = (*tools.names, *(key for tool in tools for key in tool.parameters.get("properties", {})))
    walker = walks.Walker(mutant, format, names, {})
    rng = random.Random(11)
    for _ in range(count):
        try:
            text = walker.walk(rng, 50).text
        except AssertionError:
            continue  # no end was found in time
        reading = walks.reading_of(format, tools, walks.Walk(text, []), start=None, by_id=False)
        if walks.faults(reading, tools, choice=choice) or walks.quoted_markers(reading, format):
            return True
    return False


def check(name: str, choice: str, every: int, count: int) -> tuple[int, list[str]]:
    """How many rules were loosened, and those that nothing finds."""
    format = formats.load(name)
    tried, left = 0, []
    by_tools: dict[Tools, list[str]] = {}
    for broken in refused.texts(format, 8):
        if broken.choice == choice:
            by_tools.setdefault(broken.tools, []).append(broken.text)
    for tools, texts in list(by_tools.items())[:2]:
        made = grammar.lark(format, tools, choice=choice).text
        for n, (what, mutant) in enumerate(mutants(made)):
            if n % every == 0:
                tried += 1
                if not is_found(format, mutant, tools, choice, texts, count):
                    left.append(what)
    return tried, left


TABLES = ("hermes", "qwen3_coder", "glm47", "deepseek_v3_2", "kimi_k2", "mistral", "gemma4", "pythonic", "minimax_m3")


if __name__ == "__main__":
    import sys

    for name in sys.argv[1:] or TABLES:
        for choice in ("required", "auto"):
            print(name, choice, check(name, choice, 1, 60))
