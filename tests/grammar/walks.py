"""Random outputs of a grammar, by llguidance's own matcher over the embedded vocabulary, and what is read in them.

A walk takes random allowed tokens, now and then a whole text of the format's (a marker, a quote) where the grammar
allows it, and after so many steps only such texts until the output may end.
"""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import llguidance
from llguidance.tiktoken import lltokenizer_from_encoding

from gateway_args import Format, Parser, Reading, TokenDecoder, Tools
from gateway_args.tokens import vocab

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

PARAMETERS: dict[str, Any] = {
    "find": {
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}, "exact": {"type": "boolean"}},
        "required": ["query"],
    },
    "list_jobs": {"properties": {}},
    "find_all": {
        "properties": {
            "where": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["x"],
                "additionalProperties": False,
            },
            "mode": {"enum": ["fast", "slow way"]},
            "note": {"type": ["string", "null"]},
        },
        "required": ["where"],
    },
}
TOOLS = Tools.of(
    [
        {"type": "function", "function": {"name": name, "parameters": {**parameters, "additionalProperties": False}}}
        for name, parameters in PARAMETERS.items()
    ]
)
WORDS = (*PARAMETERS, "query", "limit", "exact", "where", "mode", "note", "x", "tags")

CLOSERS = ('"', "'", "}", "]", ")")
OTHERS = ("1", ",", ":", "{", "[", "null", "0", "rue", "alse", "ull", "one", "e", "\n", " ")


@functools.cache
def encoding() -> Any:
    return vocab.load("embedded")


@functools.cache
def tokenizer() -> llguidance.LLTokenizer:
    return lltokenizer_from_encoding(encoding(), n_vocab=_eos() + 1, eos_token=_eos(), slices=[])


def _eos() -> int:
    return encoding().n_vocab  # no token: any other may be a marker


def texts_of(format: Format, names: tuple[str, ...]) -> list[str]:
    """Texts that mean something in this format: what a walk tries on purpose."""
    found = {marker.text for marker in (*format.markers.values(), *format.turn_end)}
    for syntax in format.calls.values():
        for key in ("value_open", "value_close", "close", "separator", "delimiter"):
            found.add(getattr(syntax, key, ""))
        for pattern in (*getattr(syntax, "parameter", ()), *getattr(syntax, "quotes", ())):
            found.add(pattern.partition("{")[0])
    found = {text.replace("{name}", name) for text in found for name in names}
    return sorted(found - {""} | set(names))


@dataclass
class Walk:
    """One output that the grammar allows: its text, and its tokens."""

    text: str
    tokens: list[int]


def spelled(text: str, markers: Mapping[str, int]) -> list[int]:
    """The text's tokens, markers among these as their own."""
    return encoding().encode(text, allowed_special=set(markers), disallowed_special=())


def closing_texts(format: Format, names: tuple[str, ...]) -> list[str]:
    """Texts that end a value, a call, a section or a thought."""
    found = {marker.text for marker in format.closers}
    for state in format.states.values():
        if state.kind == "reasoning":
            out = [name for name, target in state.on.items() if format.states[target].kind == "content"]
            found |= {format.markers[name].text for name in out}
    for syntax in format.calls.values():
        found |= {getattr(syntax, "value_close", "").replace("{name}", name) for name in (*names, "item")}
        found |= {getattr(syntax, key, "") for key in ("delimiter", "close", "line")}
    return sorted(found - {""})


class Walker:
    """Walks of one grammar."""

    def __init__(self, grammar: str, format: Format, names: tuple[str, ...], markers: Mapping[str, int]) -> None:
        self._matcher = llguidance.LLMatcher(tokenizer(), grammar)
        assert not self._matcher.is_error(), self._matcher.get_error()
        self._texts = [spelled(text, markers) for text in texts_of(format, names)]
        thoughts = {
            format.markers[name].text
            for state in format.states.values()
            for name, target in state.on.items()
            if format.states[target].kind == "reasoning"
        }
        self._late = [spelled(text, markers) for text in texts_of(format, names) if text not in thoughts]
        self._ends = [spelled(text, markers) for text in closing_texts(format, names)]
        self._closers = [encoding().encode_ordinary(text) for text in CLOSERS]
        self._others = [encoding().encode_ordinary(text) for text in OTHERS]

    def walk(self, rng: random.Random, steps: int = 60) -> Walk:
        matcher = self._matcher
        matcher.reset()
        tokens: list[int] = []
        length = rng.randrange(steps)
        while len(tokens) < 1500:
            if matcher.is_accepting() and (len(tokens) >= length or rng.random() < 0.1):
                break
            if matcher.is_stopped():
                break
            late = len(tokens) >= length
            if (late or rng.random() < 0.25) and self._take_text(rng, tokens, late):
                continue
            mask = matcher.compute_bitmask()
            allowed = [id for id in range(len(mask) * 8) if mask[id >> 3] >> (id & 7) & 1 and id != _eos()]
            assert allowed, f"a dead end after {encoding().decode(tokens)!r}: {matcher.get_error()}"
            id = rng.choice(allowed)
            assert matcher.consume_token(id), matcher.get_error()
            tokens.append(id)
        assert matcher.is_accepting(), f"no end was found: {encoding().decode(tokens)!r}"
        data = encoding().decode_bytes(tokens)
        return Walk(data.decode("utf-8"), tokens)

    def _take_text(self, rng: random.Random, tokens: list[int], late: bool) -> bool:
        tiers = [self._texts]
        if late:
            tiers = [self._closers, self._ends] if rng.random() < 0.5 else [self._ends, self._closers]
            tiers = [*tiers, self._late, self._others] if rng.random() < 0.9 else [self._late, *tiers, self._others]
        for ids in (ids for tier in tiers for ids in rng.sample(tier, len(tier))):
            if ids and self._matcher.validate_tokens(ids) == len(ids):
                assert self._matcher.consume_tokens(ids)
                tokens += ids
                return True
        return False


@functools.lru_cache(maxsize=64)
def _matcher(grammar: str) -> llguidance.LLMatcher:
    return llguidance.LLMatcher(tokenizer(), grammar)


def allows(grammar: str, text: str, markers: Mapping[str, int] = MappingProxyType({})) -> bool:
    """Whether the grammar allows this whole output, these markers as their tokens and the rest in ordinary ones."""
    matcher = _matcher(grammar)
    matcher.reset()
    ids = spelled(text, markers)
    if matcher.validate_tokens(ids) < len(ids):  # asks without leaving the matcher in an error
        return False
    return bool(matcher.consume_tokens(ids) and matcher.is_accepting())


def reading_of(format: Format, tools: Tools, walk: Walk, *, start: str | None, by_id: bool) -> Reading:
    markers = TokenDecoder(encoding()).markers(format) if by_id else None
    parser = Parser(format, tools, start=start, markers=markers)
    reading = Reading()
    if by_id:
        decoder = TokenDecoder(encoding())
        for id in walk.tokens:
            for event in parser.feed(decoder.feed(id)):
                reading.add(event)
        for event in parser.feed(decoder.finish()):
            reading.add(event)
    else:
        for event in parser.feed(walk.text):
            reading.add(event)
    for event in parser.finish("stop"):
        reading.add(event)
    return reading


def changed(text: str, format: Format, rng: random.Random) -> str:
    """The text with a character or a marker put in, taken out or doubled."""
    at = rng.randrange(len(text) + 1)
    piece = rng.choice([*texts_of(format, WORDS), '"', "}", "]", "\n", " ", "1", "x", text[at : at + 4]])
    return text[:at] + piece + text[at + rng.randrange(3) :]


def quoted_markers(reading: Reading, format: Format) -> list[str]:
    """Markers that stand in text: a grammar lets none be written where it does nothing."""
    content = [marker.text for marker in format.closers if len(marker.text) > 1]
    rows = [set(state.on) for state in format.states.values() if state.kind == "reasoning"]
    thoughts = [format.markers[name].text for name in set.intersection(*rows)] if rows else []
    found = [text for text in content if text in reading.content]
    return found + [text for text in thoughts if text in reading.reasoning]


def faults(reading: Reading, tools: Tools, *, choice: str = "auto", parallel: bool = True) -> list[str]:
    """What in the reading breaks the promise of guided decoding."""
    found = [f"malformed: {entry}" for entry in reading.malformed]
    if choice != "auto" and not reading.calls:
        found.append("no call")
    if choice != "auto" and reading.content.strip():
        found.append(f"content: {reading.content!r}")
    if not parallel and len(reading.calls) > 1:
        found.append(f"{len(reading.calls)} calls")
    for call in reading.calls:
        if not call.complete:
            found.append(f"not complete: {call}")
            continue
        if call.name not in tools.names or (choice not in ("auto", "required") and call.name != choice):
            found.append(f"name: {call.name!r}")
            continue
        value = json.loads(call.arguments, parse_float=_finite)
        if not jsonschema_rs.is_valid(schema_of(tools, call.name), value):
            found.append(f"invalid: {call.name}({call.arguments})")
    return found


def _finite(digits: str) -> float:
    """The number, the largest there is for one beyond it: JSON has such numbers, validators do not."""
    return max(min(float(digits), sys.float_info.max), -sys.float_info.max)


def schema_of(tools: Tools, name: str) -> dict[str, Any]:
    tool = tools.get(name)
    assert tool is not None
    return {"type": "object", **tool.parameters}
