"""Free text as right-linear rules: one rule a state of the automaton that looks for what the text may not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .nodes import Free, Quoted

_SPACE = " \t\n\r"


def rules_of(node: Free, prefix: str) -> dict[str, str]:
    """EBNF rules of the text and its stop, named by the prefix and a number; number 0 is where they begin.

    The states are the prefixes of the texts looked for (Aho and Corasick's automaton), and before the first character
    that is no white space a second set of them, in which `head` is refused.
    """
    words = [*node.excludes, *([node.stop] if node.stop else [])]
    found = {word for word in words if not any(other != word and other in word for other in words)}
    if node.stop and node.stop not in found:
        raise AssertionError(f"a text that may not stand in the text stands in its stop {node.stop!r}")
    prefixes = {word[:n] for word in found for n in range(len(word))}
    letters = sorted({char for word in found for char in word} | set(node.head) | (set(_SPACE) if node.head else set()))
    numbers: dict[tuple[str, bool], int] = {}
    rules: dict[str, str] = {}
    todo = [("", not node.head)]
    numbers[todo[0]] = 0

    def name(state: str, begun: bool) -> str:
        key = (state, begun)
        if key not in numbers:
            numbers[key] = len(numbers)
            todo.append(key)
        return f"{prefix}{numbers[key]}"

    for state, begun in todo:
        ways: list[str] = [] if node.stop else ['""']
        apart = ""  # characters that do not simply lead back to the beginning
        for char in letters:
            text = state + char
            if not begun and char in node.head:
                apart += char
            elif any(text.endswith(word) for word in found):
                apart += char
                if node.stop and text.endswith(node.stop):
                    ways.append(_quoted(char))
            elif (onward := _longest(text, prefixes)) or (not begun and char in _SPACE):
                apart += char
                ways.append(f"{_quoted(char)} {name(onward, begun or char not in _SPACE)}")
        others = "".join(map(_in_class, apart)) or "\\x00"
        ways.append(f"[^{others}] {name('', True)}")
        rules[f"{prefix}{numbers[state, begun]}"] = " | ".join(ways)
    return rules


def _longest(text: str, prefixes: set[str]) -> str:
    """The longest end of the text that is one of the prefixes."""
    return next((text[n:] for n in range(len(text)) if text[n:] in prefixes), "")


def _in_class(char: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return named.get(char) or (f"\\{char}" if char in "\\]^-[" else char)


def _quoted(char: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + (named.get(char) or (f"\\{char}" if char in '"\\' else char)) + '"'


def string_rules(node: Quoted, prefix: str) -> dict[str, str]:
    """EBNF rules of a string behind its first quote that holds none of `excludes`; an escape begins the search anew."""
    prefixes = {word[:n] for word in node.excludes for n in range(len(word))}
    letters = sorted({char for word in node.excludes for char in word} - {node.quote, "\\"})
    numbers = {"": 0}
    rules: dict[str, str] = {}
    todo = [""]
    hexes = "[0-9a-fA-F]"
    pair = f'[dD] [89abAB] {hexes} {hexes} "\\\\u" [dD] [c-fC-F] {hexes} {hexes}'
    units = f"([0-9a-ce-fA-CE-F] {hexes} {hexes} {hexes} | [dD] [0-7] {hexes} {hexes} | {pair})"
    short = '["\\\\/bfnrt]' if node.json else "[\"'\\\\bfnrt]"
    controls = "\\x00-\\x1f" if node.json else "\\x00-\\x08\\x0b-\\x1f"
    root, escape = f"{prefix}0", f"{prefix}escape"
    for state in todo:
        ways = [_quoted(node.quote), f'"\\\\" {escape}']
        apart = node.quote + "\\"
        for char in letters:
            text = state + char
            if any(text.endswith(word) for word in node.excludes):
                apart += char
            elif onward := _longest(text, prefixes):
                apart += char
                if onward not in numbers:
                    numbers[onward] = len(numbers)
                    todo.append(onward)
                ways.append(f"{_quoted(char)} {prefix}{numbers[onward]}")
        ways.append(f"[^{''.join(map(_in_class, apart))}{controls}] {root}")
        rules[f"{prefix}{numbers[state]}"] = " | ".join(ways)
    rules[escape] = f'({short} | "u" {units}) {root}'
    return rules
