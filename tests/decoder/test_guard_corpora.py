"""The guard over every corpus: a broken call stops the engine once, at the character that broke it; a sound one never.

What breaks a call, and where, is read off the parser's own events and, for the arguments, asked of jsonschema-rs on the
whole value; the decoder under test has no part in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

from gateway_args import Accepted, CallCode, CallOutcome, EngineEnd, Refused, StreamCode, Tools, guard
from gateway_args.contract import corpus, subjects
from gateway_args.events import CallArguments, CallEnd, CallStart, Event, Malformed, ReasoningEnd, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args.contract.corpus import Case

BREAKING = ("arguments", "shape", "limit")
CODES = {
    "arguments": [*StreamCode, CallCode.SHAPE],  # the decoder's own code where it refuses the character too
    "shape": [CallCode.SHAPE],
    "limit": [CallCode.LIMIT],
}


@dataclass
class Fate:
    """What must become of one call: the characters read when it is known to be broken, or None for a sound one."""

    name: str
    arguments: str = ""
    broken: int | None = None
    invalid: int | None = None
    complete: bool = False
    sound: bool = False
    why: str = ""


def _fates(parser: Any, text: str, tools: Tools | None, finish: str) -> list[Fate]:
    """What the parser's events, one character at a time, and jsonschema-rs say of every call."""
    steps: list[tuple[int, Event]] = [(at + 1, event) for at, char in enumerate(text) for event in parser.feed(char)]
    last = len(text) + 1
    steps += [(last, event) for event in parser.finish(finish)]
    fates: list[Fate] = []
    for number, (at, event) in enumerate(steps):
        if isinstance(event, CallStart):
            fates.append(Fate(event.name, broken=at if event.declared is False else None))
        elif isinstance(event, CallArguments):
            fates[event.index].arguments += event.json
        elif isinstance(event, CallEnd):
            fate = fates[event.index]
            fate.complete = event.complete
            if event.complete and not _valid(fate, tools):
                fate.invalid = at
            if not event.complete and fate.broken is None:
                cause = next(((there, c.why) for there, c in _inside(steps, number) if str(c.why) in BREAKING), None)
                cause = cause or ((at, "") if event.source else _next(steps, number))
                fate.broken, fate.why = cause
    for fate in fates:  # what only the end of the output shows stops nothing: the engine has ended
        fate.sound = fate.complete and fate.broken is None and fate.invalid is None
        fate.broken = None if fate.broken == last else fate.broken
        fate.invalid = None if fate.invalid == last else fate.invalid
    return fates


def _valid(fate: Fate, tools: Tools | None) -> bool:
    """Whether a complete call's arguments are I-JSON (RFC 7493: keys and characters), and what its tool declares."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key stands twice")
        return dict(pairs)

    try:
        value = json.loads(fate.arguments, object_pairs_hook=once)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    tool = None if tools is None else tools.get(fate.name)
    return tool is None or jsonschema_rs.is_valid(dict(tool.parameters), value)


def _inside(steps: list[tuple[int, Event]], end: int) -> Iterator[tuple[int, Malformed]]:
    """The malformed stretches between a call's start and its end, in order."""
    start = max(at for at in range(end) if isinstance(steps[at][1], CallStart))
    for at, event in steps[start:end]:
        if isinstance(event, Malformed):
            yield at, event


def _next(steps: list[tuple[int, Event]], end: int) -> tuple[int, str]:
    """Where the event comes that tells why a call without a closer ended, and what it tells."""
    at, event = next(step for step in steps[end + 1 :] if not isinstance(step[1], ReasoningEnd))
    return at, event.why if isinstance(event, Malformed) and event.why in BREAKING else ""


class Engine:
    """Yields characters (or the whole text), counts the polls and the cancels."""

    def __init__(self, text: str, size: int, finish: str) -> None:
        self.pieces: list[Any] = [text[at : at + size] for at in range(0, len(text), size)]
        self.pieces.append(EngineEnd(finish))
        self.polls = 0
        self.cancels = 0

    def __iter__(self) -> Iterator[Any]:
        for piece in self.pieces:
            self.polls += 1
            yield piece

    def cancel(self) -> None:
        self.cancels += 1


def _tools(case: Case) -> Tools | None:
    return None if case.tools is None else Tools.of(list(case.tools))


@pytest.mark.every_table
@pytest.mark.parametrize("name", corpus.names())
def test_a_broken_call_stops_the_engine_once_at_its_character_and_a_sound_one_never(name: str, full: bool) -> None:
    maker = subjects.maker_of(name)
    broken = 0
    for number, case in enumerate(corpus.load(name).cases):
        if not full and number % 4 and all(call.complete for call in case.expect.calls):
            continue
        text = corpus.normalise(case.text)
        tools = _tools(case)
        fates = _fates(maker.new(case, None), text, tools, case.finish)
        engine = Engine(text, 1, case.finish)
        events = list(guard(engine, maker.new(case, None), tools, cancel=engine.cancel))
        outcomes = [event for event in events if isinstance(event, CallOutcome)]
        where = f"{name}: {case.name}"
        latest = min((at for fate in fates for at in (fate.broken, fate.invalid) if at is not None), default=None)
        if latest is None:
            # What the end of the output breaks, the schema may have excluded before.
            doubtful = any(not fate.sound and _excluded(fate, tools) for fate in fates)
            assert engine.cancels <= doubtful, where
            if engine.cancels:
                continue
            assert engine.polls == len(text) + 1, where
            if case.finish not in ("error", "cancelled", "abort"):
                accepted = [
                    isinstance(outcome.outcome, Accepted) for outcome in sorted(outcomes, key=lambda o: o.index)
                ]
                assert accepted == [fate.sound for fate in fates], where
        else:
            broken += 1
            assert engine.cancels == 1, where
            refusal = next(outcome for outcome in outcomes if isinstance(outcome.outcome, Refused))
            early = fates[refusal.index].invalid is not None or _excluded(fates[refusal.index], tools)
            if not early and fates[refusal.index].why:
                assert refusal.outcome.code in CODES[fates[refusal.index].why], where
            assert engine.polls <= latest if early else engine.polls == latest, (where, engine.polls, latest)
            integral = Engine(text, max(1, len(text)), case.finish)
            again = list(guard(integral, maker.new(case, None), tools, cancel=integral.cancel))
            assert (integral.cancels, integral.polls) == (1, 1), where
            assert next(e for e in again if isinstance(e, CallOutcome)) == refusal, where
            said = "".join(source_of(e) for e in events if not isinstance(e, CallOutcome))
            assert text[: engine.polls].startswith(said), where
    assert broken or name == "plain"  # which has no calls


def _excluded(fate: Fate, tools: Tools | None) -> bool:
    """Whether the schema, too, may have had a reason to refuse the arguments that came."""
    tool = tools.get(fate.name) if tools is not None else None
    return tool is not None and bool(tool.parameters)
