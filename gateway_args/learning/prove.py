"""Proves a table: what the template writes for conversations made at random must read back, under every chunking.

A turn reads back when its content, its reasoning and its calls come out as they went in, all calls complete and nothing
malformed. Where the type of an argument differs, or a null is missing, the reading is rendered too: when that is the
same text, the template writes both values alike, and no reader could tell them apart; the report says so. Nothing else
is forgiven, another text never.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..errors import GatewayArgsError
from ..parser import Parser
from ..reading import Reading
from ..tools import Tools
from .chance import Chance
from .conversation import MadeCall, Turn
from .probe import CONTENT, REASON, made
from .renderer import TemplateFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..formats import Format
    from .probe import Prelude, Prober, Rendered


@dataclass(frozen=True, slots=True)
class Proved:
    """One conversation that read back."""

    turn: Turn
    rendered: Rendered
    tools: tuple[dict[str, Any], ...]
    arguments: tuple[str, ...]
    """The joined fragments of each call."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A conversation that did not read back."""

    turn: Turn
    rendered: Rendered
    chunking: str
    problem: str

    def __str__(self) -> str:
        return (
            f"{self.problem}\n  said: {self.turn}\n  rendered: {self.rendered.output!r}\n"
            f"  behind the prompt: …{self.rendered.prompt[-80:]!r}\n  read {self.chunking}"
        )


@dataclass(slots=True)
class Proof:
    """What a run showed."""

    conversations: int = 0
    readings: int = 0
    calls: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """What the template raised, and how often."""
    unwritable: Counter[str] = field(default_factory=Counter)
    """Texts that the template writes between quotes without escaping what is in them, and how often."""
    alike: list[str] = field(default_factory=list)
    """Values that the template writes like other values."""
    alike_count: int = 0
    counterexample: Counterexample | None = None
    failed: int = 0
    kinds: dict[str, bool] = field(default_factory=dict)
    """Kinds of turns -> whether the template can write them."""
    samples: list[Proved] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of turn."""

    content: bool
    reasoning: bool
    calls: int

    def __str__(self) -> str:
        parts = ["reasoning"] * self.reasoning + ["content"] * self.content
        parts += [f"{self.calls} calls" if self.calls > 1 else "one call"] if self.calls else []
        return ", ".join(parts)


KINDS: Final = tuple(
    Kind(content, reasoning, calls)
    for calls in (0, 1, 2, 3)
    for reasoning in (False, True)
    for content in (False, True)
    if content or calls
)


def writable(prober: Prober, prelude: Prelude, reasoning_pair: tuple[str, str] = ("", "")) -> dict[Kind, bool]:
    """Which kinds of turns the template writes with all that they hold, each thing once and in its place.

    `reasoning_pair` is what opens and closes one: content that stands in an open thought was not written as content.
    """
    found = {}
    opens, closes = reasoning_pair
    for kind in KINDS:
        turn = Turn(
            CONTENT if kind.content else None,
            REASON if kind.reasoning else None,
            tuple(made(n) for n in range(kind.calls)),
        )
        try:
            rendered = prober.render(turn, prelude)
        except TemplateFault:
            found[kind] = False
            continue
        output = rendered.output
        words = [CONTENT] * kind.content + [REASON] * kind.reasoning
        found[kind] = all(output.count(word) == 1 for word in words) and all(
            made(n).name in output for n in range(kind.calls)
        )
        before = rendered.prompt[rendered.prompt.rfind(prober.opener) :] if prober.opener else ""
        if found[kind] and kind.content and opens:
            expected = before + output[: output.index(CONTENT)]
            if expected.rfind(opens) > expected.rfind(closes):
                found[kind] = False
        if found[kind] and kind.reasoning and opens:
            expected = before + output[: output.index(REASON)]
            if expected.rfind(opens) <= expected.rfind(closes):
                found[kind] = False
    return found


@dataclass(frozen=True, slots=True)
class Setting:
    """A way of asking: the template as the prober renders it, behind these messages."""

    prober: Prober
    prelude: Prelude
    with_reasoning_turns: bool = True
    """Thinking is on."""


def prove(
    format: Format,
    settings: Sequence[Setting],
    conversations: int,
    seed: int,
    reasoning_pair: tuple[str, str] = ("", ""),
) -> Proof:
    """Renders and reads so many conversations, or stops at the first that does not read back."""
    proof = Proof()
    kinds: list[tuple[Setting, Kind]] = []
    for setting in settings:
        for kind, can in writable(setting.prober, setting.prelude, reasoning_pair).items():
            if setting is settings[0]:
                proof.kinds[str(kind)] = can
            if can and (setting.with_reasoning_turns or not kind.reasoning):
                kinds.append((setting, kind))
    calls = [pair for pair in kinds if pair[1].calls]
    if not calls:
        return proof
    chance = Chance(seed)
    pick = random.Random(seed)
    attempts = 0
    while proof.conversations < conversations and attempts < 3 * conversations:
        attempts += 1
        setting, kind = pick.choice(calls if attempts % 4 else kinds)
        tools = chance.tools()
        turn = chance.turn(tools, kind.content, kind.reasoning, kind.calls)
        try:
            rendered = setting.prober.render(turn, setting.prelude, tools)
        except TemplateFault as fault:
            proof.refused[str(fault)] += 1
            continue
        if not _check(proof, format, setting, turn, rendered, tools, pick):
            proof.failed += 1
            return proof
    return proof


def _check(
    proof: Proof,
    format: Format,
    setting: Setting,
    turn: Turn,
    rendered: Rendered,
    tools: list[dict[str, Any]],
    pick: random.Random,
) -> bool:
    declared = Tools.of(tools)
    first: Reading | None = None
    for chunking, pieces in _chunkings(rendered.output, pick):
        try:
            reading = read_pieces(format, pieces, declared, rendered.prompt)
        except GatewayArgsError as error:  # a bug of ours, said as what it is
            proof.counterexample = Counterexample(turn, rendered, chunking, f"the parser raised {error}")
            return False
        proof.readings += 1
        problem = difference(turn, reading)
        if problem and first is None and (raw := _unescaped(turn, rendered.output)):
            proof.unwritable[raw] += 1
            return True
        if problem and first is None:
            problem = _alike(proof, format, setting, turn, rendered, reading, tools) or ""
        elif first is not None:
            same = [call.arguments for call in first.calls] == [call.arguments for call in reading.calls]
            problem = "" if same and _texts(first) == _texts(reading) else "another chunking reads something else"
        first = first or reading
        if problem:
            proof.counterexample = Counterexample(turn, rendered, chunking, problem)
            return False
    assert first is not None
    proof.conversations += 1
    proof.calls += len(turn.calls)
    if len(proof.samples) < 400:
        arguments = tuple(call.arguments for call in first.calls)
        proof.samples.append(Proved(turn, rendered, tuple(tools), arguments))
    return True


def read_pieces(format: Format, pieces: Sequence[str], tools: Tools, prompt: str) -> Reading:
    parser = Parser(format, tools, prompt=prompt)
    reading = Reading()
    for piece in pieces:
        for event in parser.feed(piece):
            reading.add(event)
    for event in parser.finish("stop"):
        reading.add(event)
    return reading


def _chunkings(output: str, pick: random.Random) -> Iterator[tuple[str, list[str]]]:
    """The output whole, one character at a time, and in pieces of a few sizes."""
    yield "in one piece", [output]
    yield "one character at a time", list(output)
    for most in (4, 17):
        pieces = []
        at = 0
        while at < len(output):
            size = pick.randint(1, most)
            pieces.append(output[at : at + size])
            at += size
        yield f"in pieces of 1 to {most} characters", pieces
    if len(output) > 1:
        cut = pick.randrange(1, len(output))
        yield f"cut at {cut}", [output[:cut], output[cut:]]


def _texts(reading: Reading) -> tuple[str, str]:
    return reading.content, reading.reasoning


def difference(turn: Turn, reading: Reading) -> str:
    """How the reading differs from the turn, arguments included."""
    if reading.malformed:
        aside = reading.malformed[0]
        return f"malformed ({aside.why}): {aside.text[:80]!r}"
    if reading.content != (turn.content or ""):
        return f"content read as {reading.content!r}"
    if reading.reasoning != (turn.reasoning or ""):
        return f"reasoning read as {reading.reasoning!r}"
    if [call.name for call in reading.calls] != [call.name for call in turn.calls]:
        return f"calls read: {[call.name for call in reading.calls]}"
    for expected, call in zip(turn.calls, reading.calls, strict=True):
        if not call.complete:
            return f"{expected.name}: the call is not complete"
        if not same(json.loads(call.arguments), expected.arguments):
            return f"{expected.name}: arguments read as {call.arguments}"
    return ""


def _alike(
    proof: Proof,
    format: Format,
    setting: Setting,
    turn: Turn,
    rendered: Rendered,
    reading: Reading,
    tools: list[dict[str, Any]],
) -> str:
    """The difference that counts: none where the template writes what was read exactly like what was said."""
    problem = difference(turn, reading)
    calls = tuple(MadeCall(call.name, json.loads(call.arguments)) for call in reading.calls if call.complete)
    if len(calls) != len(turn.calls) or "arguments read" not in problem:
        return problem
    if not all(_fits(call, tools) for call in calls):
        return problem
    if not all(
        _excusable(read.arguments, expected.arguments) for read, expected in zip(calls, turn.calls, strict=True)
    ):
        return problem
    written = calls
    if any(getattr(syntax, "nested", False) for syntax in format.calls.values()):
        pairs = zip(calls, turn.calls, strict=True)
        written = tuple(MadeCall(read.name, _spelled(read.arguments, expected.arguments)) for read, expected in pairs)
    again = Turn(turn.content, turn.reasoning, written)
    try:
        if setting.prober.render(again, setting.prelude, tools).output != rendered.output:
            return problem
    except TemplateFault:
        return problem
    _note(proof, turn, calls)
    return ""


def _note(proof: Proof, turn: Turn, calls: Sequence[MadeCall]) -> None:
    """Counts a conversation with values that the template writes alike."""
    proof.alike_count += 1
    for expected, read in zip(turn.calls, calls, strict=True):
        for key, value in expected.arguments.items():
            if not same(read.arguments.get(key, ...), value) and len(proof.alike) < 8:
                proof.alike.append(f"{value!r} is written like {read.arguments.get(key, 'nothing')!r}")


def _excusable(read: Any, expected: Any) -> bool:
    """Whether a difference may be the template's: a null left out, a value of another type; never another text."""
    match read, expected:
        case dict(), dict():
            left_out = expected.keys() - read.keys()
            return (
                read.keys() <= expected.keys()
                and all(expected[key] is None for key in left_out)
                and all(_excusable(value, expected[key]) for key, value in read.items())
            )
        case list(), list():
            return len(read) == len(expected) and all(map(_excusable, read, expected))
        case str(), str():
            return read == expected
    return True


def _spelled(read: Any, expected: Any) -> Any:
    """What was read, with the texts that were said where a literal that no schema types was read of them (policy 5)."""
    match read, expected:
        case dict(), dict():
            return {key: _spelled(value, expected.get(key)) for key, value in read.items()}
        case list(), list() if len(read) == len(expected):
            return [_spelled(one, other) for one, other in zip(read, expected, strict=True)]
    try:
        return expected if isinstance(expected, str) and same(json.loads(expected), read) else read
    except ValueError:
        return read


def _unescaped(turn: Turn, output: str) -> str:
    """A text that the template writes as it stands between quotes, though a quote or a backslash is in it."""
    stack: list[Any] = [value for call in turn.calls for value in call.arguments.values()]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str):
            for quote in "'\"":
                if (quote in value or "\\" in value) and f"{quote}{value}{quote}" in output:
                    return f"{value!r} between {quote} and {quote}"
    return ""


def _fits(call: MadeCall, tools: list[dict[str, Any]]) -> bool:
    """Whether the arguments are of the types that the tool declares: what a better reader could have known."""
    for declared in tools:
        function = declared["function"]
        if function["name"] == call.name:
            properties = function["parameters"]["properties"]
            return all(_of_type(value, properties.get(key, {})) for key, value in call.arguments.items())
    return False


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def _of_type(value: Any, schema: dict[str, Any]) -> bool:
    if "anyOf" in schema:
        return any(_of_type(value, member) for member in schema["anyOf"])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return not kinds or any(
        isinstance(value, _TYPES[kind]) and (kind in ("boolean",) or not isinstance(value, bool)) for kind in kinds
    )


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON value: true is no 1, the order of keys is none."""
    match one, other:
        case bool(), _:
            return one is other
        case _, bool():
            return False
        case dict(), dict():
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
        case _:
            return bool(one == other) and isinstance(one, str) == isinstance(other, str)
