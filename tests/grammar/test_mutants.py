"""A grammar that allows too much is found: loosen a rule, and broken markup is allowed or a walk is misread.

A rule is loosened by letting one symbol of it be left out, one excluded text in, or any JSON where a schema stands. Not
every such mutant allows more (some rules are tight in two places; where two lexemes begin alike the longer wins), so
a quarter may be left.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
import refused
import walks

from gateway_args import Tools, formats, grammar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args import Format

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


def only_called(tools: Tools, texts: list[str]) -> Tools:
    """The tools whose names stand in the texts."""
    return Tools({tool.name: tool for tool in tools if any(tool.name in text for text in texts)})


def check(name: str, choice: str, every: int, count: int) -> tuple[int, list[str]]:
    """How many rules were loosened, and those that nothing finds."""
    format = formats.load(name)
    tried, left = 0, []
    by_tools: dict[Tools, list[str]] = {}
    for broken in refused.texts(format, 8):
        if broken.choice == choice:
            by_tools.setdefault(broken.tools, []).append(broken.text)
    by_tools = {only_called(tools, texts): texts for tools, texts in by_tools.items()}
    for tools, texts in sorted(by_tools.items(), key=lambda item: -len(item[1]))[:2]:
        made = grammar.lark(format, tools, choice=choice).text
        for n, (what, mutant) in enumerate(mutants(made)):
            if n % every == 0:
                tried += 1
                if not is_found(format, mutant, tools, choice, texts, count):
                    left.append(what)
    return tried, left


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_a_rule_that_is_loosened_is_found(name: str) -> None:
    tried, left = check(name, "required", 1, 60)
    assert tried >= 10
    assert len(left) <= tried // 4, left


if __name__ == "__main__":
    import sys

    for table in sys.argv[1:]:
        print(table, check(table, "required", 1, 60))
