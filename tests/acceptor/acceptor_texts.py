"""JSON texts, sound and broken, made from a seed: the same on every machine and for every oracle."""

from __future__ import annotations

from random import Random

SPACE = ("", "", "", " ", "\n", "\t", "\r\n", "  ")
NUMBERS = ("0", "-0", "7", "-12", "3.25", "-0.5", "1e9", "2E+10", "6.02e-23", "0e0", "1234567890123456789", "1e999")
PIECES = (
    *("a", "name", "x y", "", "é", "世界", "🌤", "\u2028", "/", "{}", "[1]", ",", ":", "true"),
    *('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u00e9", "\\uD83C\\uDF24", "\\uDEAD", "\\u0000"),
)
JUNK = (
    *('"', "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "-", "+", ".", "0", "1", "e", "E", "t", "u", "n", "f"),
    *("true", "null", "NaN", "nope", "'", "/", "x", "é", "世", "🌤", "\x0b", "\x7f", "\u00a0", "\ufeff", "\\u12", "\\x"),
)


def document(random: Random, depth: int = 4) -> str:
    """A sound JSON text with white space wherever it may stand."""

    def space() -> str:
        return random.choice(SPACE)

    def string() -> str:
        return '"' + "".join(random.choice(PIECES) for _ in range(random.randrange(4))) + '"'

    def value(left: int) -> str:
        kind = random.randrange(8 if left else 5)
        if kind == 0:
            return random.choice(("true", "false", "null"))
        if kind <= 2:
            return random.choice(NUMBERS)
        if kind <= 4:
            return string()
        if kind == 5:
            return "[" + ",".join(space() + value(left - 1) + space() for _ in range(random.randrange(1, 4))) + "]"
        if kind == 6:
            members = [
                space() + string() + space() + ":" + space() + value(left - 1) + space()
                for _ in range(random.randrange(1, 4))
            ]
            return "{" + ",".join(members) + "}"
        return random.choice(["[]", "{}"]) if random.random() < 0.5 else "[" + space() + "]"

    return space() + value(depth)


def mutated(random: Random, text: str) -> str:
    """The text with one to three edits: a cut, something lost, doubled, swapped or put in."""
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(text) + 1)
        match random.randrange(6):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + text[at : at + 2] * 2 + text[at + 2 :]
            case 3:
                text = text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
            case 4:
                text = text[:at] + random.choice(JUNK) + text[at + 1 :]
            case _:
                text = text[:at] + random.choice(JUNK) + text[at:]
    return text


def texts(count: int, seed: int) -> list[str]:
    """Texts of which one in four is sound and the others are mutated."""
    random = Random(seed)
    made = []
    for number in range(count):
        text = document(random)
        made.append(text if number % 4 == 0 else mutated(random, text))
    return made


def pieces(random: Random, text: str) -> list[str]:
    """The text cut at random places, empty pieces among them."""
    cuts = sorted(random.randrange(len(text) + 1) for _ in range(random.randrange(6)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
