"""Decoders and guards that are stored, moved or copied between any two deltas say what they would have said."""

from __future__ import annotations

import copy
import itertools
import json
import random
from typing import Any

import pytest
from decoder_schemas import BYTE_MUTATIONS, VALUE_MUTATIONS, schemas, value_for
from hypothesis import given
from hypothesis import strategies as st

from gateway_args import (
    Accepted,
    CallOutcome,
    EngineEnd,
    Guard,
    LifecycleError,
    Parser,
    Refused,
    Setting,
    StreamCode,
    StreamDecoder,
    StreamLimits,
    ToolDecoders,
    Tools,
    Transcript,
    compile_schema,
    formats,
    guard,
)
from gateway_args.contract import corpus, subjects
from gateway_args.decoder import CompiledSchema, replay
from gateway_args.events import CallArguments, CallEnd, CallStart, Malformed, Why
from gateway_args.sealing import seal


def _look(decoder: StreamDecoder[Any]) -> Any:
    return (
        repr(decoder.outcome),
        decoder.expected_next,
        decoder.grammar_work,
        decoder.offset,
        decoder.complete,
    )


def _follow(schema: CompiledSchema[Any], document: bytes, rnd: random.Random, **options: Any) -> None:
    """Pushes a document in pieces to three decoders: one untouched, one restored and one copied before each piece."""
    plain: StreamDecoder[Any] = StreamDecoder(schema, **options)
    stored: StreamDecoder[Any] = StreamDecoder(schema, **options)
    copied: StreamDecoder[Any] = StreamDecoder(schema, **options)
    at = 0
    while True:
        stored = StreamDecoder.restore(stored.snapshot(), schema)
        left, copied = copied, copied.copy()
        left.push(b"\x01")  # what becomes of the one that was copied is nothing to the copy
        assert _look(stored) == _look(plain) == _look(copied), (document, at)
        if at >= len(document):
            break
        size = rnd.choice((1, 1, 2, 3, 7))
        for decoder in (plain, stored, copied):
            decoder.push(document[at : at + size])
        at += size
    ends = [repr(decoder.finish()) for decoder in (plain, stored, copied)]
    assert ends[0] == ends[1] == ends[2]
    for decoder in (plain, copied):
        assert repr(StreamDecoder.restore(decoder.snapshot(), schema).outcome) == ends[0]
        assert repr(decoder.copy().finish()) == ends[0]


@given(schemas, st.randoms(use_true_random=False))
def test_a_decoder_goes_on_from_its_snapshot_and_from_its_copy(raw: Any, rnd: random.Random) -> None:
    schema = compile_schema(raw)
    for change_value in VALUE_MUTATIONS:
        value = value_for(raw, raw, rnd)
        change_value(value, rnd)
        text = json.dumps(value, ensure_ascii=rnd.random() < 0.5).encode("utf-8", "surrogatepass")
        document = rnd.choice(BYTE_MUTATIONS)(text, rnd)
        _follow(schema, document, rnd)
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
        _follow(schema, compact, rnd, framing="canonical", limits=StreamLimits(max_work=4000, max_strings=9))


def test_a_copy_shares_nothing_with_the_one_it_was_taken_of() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": False}
    decoder: StreamDecoder[Any] = StreamDecoder(schema, framing="canonical")
    decoder.push('{"b":')
    other = decoder.copy()
    third = decoder.copy()
    decoder.push('[{"x":1}],"c":[{')
    other.push('1,"c":2}\n')
    assert other.finish() == Accepted({"b": 1, "c": 2})
    late = third.push('1,"a"')
    assert isinstance(late, Refused)
    assert late.at_byte == len('{"b":1,"'), "the order that was seen is copied too"
    decoder.push('}],"c"')
    assert isinstance(decoder.outcome, Refused)


def test_a_value_of_a_type_is_decoded_again() -> None:
    schema = compile_schema(dict[str, int])
    decoder: StreamDecoder[Any] = StreamDecoder(schema)
    decoder.push('{"a": 1')
    decoder = StreamDecoder.restore(decoder.snapshot(), dict[str, int])
    decoder.push("}")
    assert decoder.finish() == Accepted({"a": 1})
    assert StreamDecoder.restore(decoder.snapshot(), schema).finish() == Accepted({"a": 1})


# ------------------------------------------------------------------------------------------------ calls and guards

WEATHER = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False},
}
TOOLS = Tools.of([WEATHER, {"type": "function", "name": "n"}])


@pytest.mark.every_table
@pytest.mark.parametrize("name", corpus.names())
def test_a_guard_moves_between_any_two_deltas_of_every_corpus(name: str, full: bool) -> None:
    maker = subjects.maker_of(name)
    for number, case in enumerate(corpus.load(name).cases):
        if not full and number % 8 and all(call.complete for call in case.expect.calls):
            continue
        tools = None if case.tools is None else Tools.of(list(case.tools))
        text = corpus.normalise(case.text)
        rnd = random.Random(number)
        cuts = sorted({0, len(text), *(rnd.randrange(len(text) + 1) for _ in range(len(text) // (4 if full else 12)))})
        pieces = [text[start:end] for start, end in itertools.pairwise(cuts)]
        plain, moved, copied = (Guard(maker.new(case, None), tools) for _ in range(3))  # type: ignore[arg-type]
        format = plain._parser._format  # type: ignore[attr-defined]
        for piece in pieces:
            moved = Guard.restore(moved.snapshot(), format, tools)
            left, copied = copied, copied.copy()
            expected = plain.feed(piece)
            assert moved.feed(piece) == expected, (case.name, piece)
            assert copied.feed(piece) == expected, (case.name, piece)
            left.cancel("left behind")
            assert moved.refused == copied.refused == plain.refused
        moved = Guard.restore(moved.snapshot(), format, tools)
        assert moved.finish(case.finish) == (expected := plain.finish(case.finish)), case.name
        assert copied.copy().finish(case.finish) == expected, case.name


def test_calls_are_stored_with_all_that_waits() -> None:
    decoders = ToolDecoders(TOOLS)
    events: list[Any] = [
        CallStart(0, "a", "n", True, ""),
        CallArguments(0, "12", ""),
        Malformed("oops", Why.SHAPE),  # a number at the root may be complete: the call's end tells
        CallEnd(0, False, "</call>"),
        CallStart(1, "b", "weather", True, ""),
        CallArguments(1, '{"city": "R', ""),
        CallEnd(1, False, ""),  # what comes next tells why
        CallStart(2, "c", "none", False, ""),  # two refusals at once: one waits
        CallStart(3, "d", "n", True, ""),
        CallArguments(3, "[1]", ""),
        CallEnd(3, True, ""),
    ]
    for cut in range(len(events) + 1):
        straight, moved = ToolDecoders(TOOLS), ToolDecoders(TOOLS)
        said: list[Any] = []
        again: list[Any] = []
        for number, event in enumerate(events):
            if number == cut:
                left = ToolDecoders.restore(moved.snapshot(), TOOLS)
                moved = left.copy()
                left.cancel("left behind")
            said.append(straight.feed(event))
            again.append(moved.feed(event))
        assert again == said, cut
        if cut == len(events):
            moved = ToolDecoders.restore(moved.snapshot(), TOOLS)
        assert moved.finish() == straight.finish()
        told = [outcome for outcome in said if outcome is not None]
        assert [(outcome.index, str(outcome.outcome.code)) for outcome in told] == [
            (0, "CALL-SHAPE"),
            (1, "STREAM-TRUNCATED"),
            (2, "CALL-UNDECLARED"),
        ]
    assert len(decoders) == 0


TEXT = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'


def test_a_guarded_stream_and_its_transcript_move_to_another_process(tmp_path: Any) -> None:
    setting = Setting(formats.load("hermes"), TOOLS)
    lines: list[str] = []
    core = setting.guard(Transcript(setting, lines.append))
    events = core.feed(TEXT[:40])
    with pytest.raises(LifecycleError, match="give write="):
        Guard.restore(core.snapshot(), setting.format, TOOLS)
    moved = Guard.restore(core.snapshot(), setting.format, TOOLS, write=lines.append)
    events += list(guard([TEXT[40:], EngineEnd("stop")], moved))
    assert [event.outcome for event in events if isinstance(event, CallOutcome)] == [Accepted({"city": "Rome"})]
    path = tmp_path / "evidence.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    report = replay(path)
    assert report.ok, report.problems


def test_a_guard_that_refused_a_call_has_refused_it_when_it_is_restored_and_copied() -> None:
    core = Guard(Parser(formats.load("hermes"), TOOLS), TOOLS)
    core.feed(TEXT.replace("city", "town"))
    assert core.refused
    assert Guard.restore(core.snapshot(), formats.load("hermes"), TOOLS).refused
    assert core.copy().refused


def test_a_parser_that_cannot_be_stored_is_named() -> None:
    class Other:
        def feed(self, piece: Any, /) -> list[Any]:
            return []

        def finish(self, reason: str | None, /) -> list[Any]:
            return []

    for method in (Guard.snapshot, Guard.copy):
        with pytest.raises(LifecycleError, match="a Other cannot be"):
            method(Guard(Other(), None))


# ------------------------------------------------------------------------------------------------------- any bytes


def _snapshots() -> list[tuple[bytes, Any]]:
    decoder: StreamDecoder[Any] = StreamDecoder(WEATHER["parameters"])
    decoder.push('{"city": "R\\ud83')
    refused: StreamDecoder[Any] = StreamDecoder(WEATHER["parameters"])
    refused.push('{"dayz')
    decoders = ToolDecoders(TOOLS)
    decoders.feed(CallStart(0, "a", "weather", True, ""))
    decoders.feed(CallArguments(0, '{"city', ""))
    decoders.feed(CallStart(1, "b", "none", False, ""))
    core = Guard(Parser(formats.load("hermes"), TOOLS), TOOLS)
    core.feed(TEXT[:50])
    schema = compile_schema(WEATHER["parameters"])
    return [
        (decoder.snapshot(), lambda data: StreamDecoder.restore(data, schema)),
        (refused.snapshot(), lambda data: StreamDecoder.restore(data, schema)),
        (decoders.snapshot(), lambda data: ToolDecoders.restore(data, TOOLS)),
        (core.snapshot(), lambda data: Guard.restore(data, formats.load("hermes"), TOOLS)),
    ]


@pytest.mark.parametrize("number", range(4))
def test_any_bytes_give_a_decoder_or_one_error(number: int) -> None:
    data, restore = _snapshots()[number]
    restore(data)
    rnd = random.Random(number)
    for at in range(len(data)):
        with pytest.raises(LifecycleError):
            restore(data[:at])
        changed = bytearray(data)
        changed[at] ^= 1 << rnd.randrange(8)
        with pytest.raises(LifecycleError):
            restore(bytes(changed))
    for junk in (b"", b"\n", b"{}", b"\xff" * 9, data + b" ", data.replace(b" 1 ", b" 2 ", 1), "text", None):
        with pytest.raises(LifecycleError):
            restore(junk)
    for other in range(4):
        if _snapshots()[other][0].split()[0] != data.split()[0]:
            with pytest.raises(LifecycleError, match="expected a snapshot of a"):
                restore(_snapshots()[other][0])


@pytest.mark.parametrize("number", range(4))
def test_a_forged_state_with_a_good_checksum_is_refused_or_harmless(number: int) -> None:
    data, restore = _snapshots()[number]
    head, body = data.split(b"\n", 1)
    kind = head.split()[0].decode()
    state = json.loads(body)
    places: list[list[Any]] = [[]]
    for place in places:
        part = state
        for step in place:
            part = part[step]
        steps = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else []
        places += [[*place, step] for step in steps]
    refused = 0
    for place in places[1:]:
        for junk in (None, True, -1, 10**400, 1.5, "x", [], {}, [[]], "AAAA"):
            forged = copy.deepcopy(state)
            part = forged
            for step in place[:-1]:
                part = part[step]
            part[place[-1]] = junk
            try:
                made = restore(seal(kind, 1, forged))
            except LifecycleError:
                refused += 1
                continue
            if isinstance(made, StreamDecoder):
                made.push('"}')
                made.finish()
            elif isinstance(made, ToolDecoders):
                made.feed(CallArguments(0, '"}', ""))
                made.finish()
    assert refused > 5 * len(places)


def test_another_schema_and_other_tools_are_named() -> None:
    decoder: StreamDecoder[Any] = StreamDecoder({"type": "string"})
    with pytest.raises(LifecycleError, match="another schema"):
        StreamDecoder.restore(decoder.snapshot(), {"type": "integer"})
    decoders = ToolDecoders(TOOLS)
    decoders.feed(CallStart(0, "a", "weather", True, ""))
    with pytest.raises(LifecycleError, match="another schema"):
        ToolDecoders.restore(decoders.snapshot(), Tools.of([{**WEATHER, "parameters": {}}]))
    with pytest.raises(LifecycleError, match="made with tools"):
        ToolDecoders.restore(decoders.snapshot(), None)
    with pytest.raises(LifecycleError, match="made for unknown tools"):
        ToolDecoders.restore(ToolDecoders(None).snapshot(), TOOLS)


# Snapshots of version 1 as they were once written: every release that reads version 1 reads them.


GOLDEN_DECODERS: list[tuple[bytes, str, Any]] = [
    (
        b"StreamDecoder 1 dd447ed01633717c1fbaf6dfb10f6249e78bd595f86c78d34f3b70ad1d0a6f67\n"
        b'{"schema":"061a6c0028b75721bdd7549e0e9b9da5245962fcdbf874df569437e7c211aa40","limits":{"ma'
        b'x_bytes":1000,"max_depth":64,"max_strings":8192,"max_work":64000,"max_stack":256,"max_alte'
        b'rnatives":256},"framing":"json","document":"eyJjaXR5IjogIlJvbQ==","outcome":null}',
        'e"}',
        Accepted(value={"city": "Rome"}),
    ),
    (
        b"StreamDecoder 1 3ee090c20c6cf439ee6e65ca94be8e9fef3a1872f7c87739abe412fa0027fe41\n"
        b'{"schema":"061a6c0028b75721bdd7549e0e9b9da5245962fcdbf874df569437e7c211aa40","limits":{"ma'
        b'x_bytes":1000,"max_depth":64,"max_strings":8192,"max_work":64000,"max_stack":256,"max_alte'
        b'rnatives":256},"framing":"json","document":"eyJjaXR5IjogIlJcdWQ4M2Q=","outcome":null}',
        '\\ude00"}',
        Accepted(value={"city": "R😀"}),
    ),
    (
        b"StreamDecoder 1 03dc88ac683d63eb97aaaf778c3f5fe0aff4d12ce3c9dec349b390abe389db81\n"
        b'{"schema":"061a6c0028b75721bdd7549e0e9b9da5245962fcdbf874df569437e7c211aa40","limits":{"ma'
        b'x_bytes":1000,"max_depth":64,"max_strings":8192,"max_work":64000,"max_stack":256,"max_alte'
        b'rnatives":256},"framing":"canonical","document":"eyJjaXR5IjoiUiJ9","outcome":null}',
        "\n",
        Accepted(value={"city": "R"}),
    ),
    (
        b"StreamDecoder 1 446e0f275b6e842792a2e8409e17bb92c81f2b8ce04652dcaff8faf16857e079\n"
        b'{"schema":"061a6c0028b75721bdd7549e0e9b9da5245962fcdbf874df569437e7c211aa40","limits":{"ma'
        b'x_bytes":1000,"max_depth":64,"max_strings":8192,"max_work":64000,"max_stack":256,"max_alte'
        b'rnatives":256},"framing":"json","document":"","outcome":["STREAM-GRAMMAR","$: unexpected p'
        b'roperty \'d\'; allowed: city",2,"","",2,3]}',
        '"}',
        Refused(StreamCode.GRAMMAR, "$: unexpected property 'd'; allowed: city", 2),
    ),
]
GOLDEN_CALLS = (
    b"ToolDecoders 1 ce3e8cc874b723588315eb336cdfc650b304dd367d9121ace0c7f0124f3663b1\n"
    b'{"limits":{"max_bytes":1000,"max_depth":64,"max_strings":8192,"max_work":64000,"max_stack"'
    b':256,"max_alternatives":256},"framing":"json","tools":true,"calls":[["weather",{"schema":"'
    b'061a6c0028b75721bdd7549e0e9b9da5245962fcdbf874df569437e7c211aa40","limits":{"max_bytes":10'
    b'00,"max_depth":64,"max_strings":8192,"max_work":64000,"max_stack":256,"max_alternatives":2'
    b'56},"framing":"json","document":"eyJjaXR5","outcome":null},false,false,null],["none",{"sch'
    b'ema":"4ad44e36b58dc27417f993cb7ca7d3ed0e28aeb3af8ba33ba02c72523f8c70c2","limits":{"max_byt'
    b'es":1000,"max_depth":64,"max_strings":8192,"max_work":64000,"max_stack":256,"max_alternati'
    b'ves":256},"framing":"json","document":"","outcome":["CALL-UNDECLARED","no tool is named \'n'
    b'one\'; declared: weather, n",0,"","",0,0]},true,false,null]],"open":1,"ended":false,"due":['
    b"]}"
)


def test_snapshots_of_this_version_stay_readable() -> None:
    for data, tail, outcome in GOLDEN_DECODERS:
        decoder = StreamDecoder.restore(data, WEATHER["parameters"])
        decoder.push(tail)
        assert decoder.finish() == outcome
    decoders = ToolDecoders.restore(GOLDEN_CALLS, TOOLS)
    decoders.feed(CallArguments(0, '": "Oslo"}', ""))
    assert [repr(told.outcome)[:8] for told in decoders.finish()] == ["Accepted"]
    assert isinstance(decoders[1].outcome, Refused)
