"""A stream can move to another process between any two deltas, and a snapshot says whose it is."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random

import golden_snapshots
import pytest
from parser_harness import merged

from gateway_args import Acceptor, Format, LifecycleError, Limits, Parser, Tools, contract, fold, formats
from gateway_args.engine.account import Account
from gateway_args.events import CallEnd, Finish
from gateway_args.formats.table import Marker, State
from gateway_args.parser import VERSION
from gateway_args.sealing import seal, unseal

TEXT = (
    "<think>\nhm\n</think>\n\nSo: <b>\n<tool_call>\n"
    '{"id": 1, "name": "f", "x": [1, {}], "arguments": {"a": "\\u00e9\t", "b": [null]}}\n</tool_call>\n'
    '<tool_call>{"arguments": "{\\"a\\": \\"\\\\ud83d\\\\ude00\\"}", "name": "g"}</tool_call> bye <tool_c'
)


@pytest.mark.parametrize("cut", range(len(TEXT) + 1))
def test_a_stream_moves_at_any_character(cut):
    format = formats.load("qwen3")
    whole = Parser(format)
    expected = merged(whole.feed(TEXT) + whole.finish("length"))
    parser = Parser(format)
    events = parser.feed(TEXT[:cut])
    moved = Parser.restore(parser.snapshot(), format)
    assert moved.snapshot() == parser.snapshot()
    assert merged(events + moved.feed(TEXT[cut:]) + moved.finish("length")) == expected


def test_a_copy_goes_its_own_way():
    parser = Parser(formats.load("hermes"))
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "x')
    copy = parser.copy()
    copy.feed('y"}}</tool_call>')
    assert parser.finish("length")[-1].reason == "length"
    assert copy.finish("stop")[-1].reason == "tool_calls"


def test_options_and_limits_travel_inside():
    format = formats.load("hermes")
    tools = Tools.of([{"name": "f", "input_schema": {}}])
    parser = Parser(format, tools, undeclared="malformed", limits=Limits(max_depth=2))
    moved = Parser.restore(parser.snapshot(), format, tools)
    reading = fold(moved.feed('<tool_call>{"name": "g"}</tool_call><tool_call>{"name": "f", "arguments": [[[1'))
    assert [(call.name, call.arguments) for call in reading.calls] == [("f", "[[")]
    assert [aside.why for aside in reading.malformed] == ["undeclared", "limit"]


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff", b'"x"', b'{"version": 1}', b"[" * 100_000])
def test_what_is_no_snapshot_is_refused(data):
    with pytest.raises(LifecycleError, match=r"Parser\.restore"):
        Parser.restore(data, formats.load("hermes"))


def test_another_table_or_version_is_refused():
    data = Parser(formats.load("hermes")).snapshot()
    with pytest.raises(LifecycleError, match="another table"):
        Parser.restore(data, formats.load("qwen3"))
    with pytest.raises(LifecycleError, match=f"version {VERSION + 1}; this package reads version {VERSION}"):
        Parser.restore(data.replace(b"Parser %d" % VERSION, b"Parser %d" % (VERSION + 1)), formats.load("hermes"))


def test_a_snapshot_names_what_its_table_reads_and_not_what_it_says_of_itself():
    table = formats.load("hermes")
    data = Parser(table).snapshot()
    same = dataclasses.replace(table, name="mine", summary="Mine", source="here", verified=False)
    assert Parser.restore(data, same).finish("stop")
    other = dataclasses.replace(table, after_start="\n")
    with pytest.raises(LifecycleError, match="another table"):
        Parser.restore(data, other)


def test_a_table_made_by_hand_has_a_name_for_its_contents():
    def made(text):
        marker = Marker("end", text)
        return Format("mine", "", {"content": State("content", "content")}, {}, {}, turn_end=(marker,))

    assert made("<a>").digest == made("<a>").digest != made("<b>").digest
    with pytest.raises(LifecycleError, match="another table"):
        Parser.restore(Parser(made("<a>")).snapshot(), made("<b>"))


def reading_call():
    parser = Parser(formats.load("hermes"))
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "x')
    return parser


def state_of(parser):
    return unseal("Parser", VERSION, parser.snapshot())


def restored(state, format="hermes"):
    return Parser.restore(seal("Parser", VERSION, state), formats.load(format))


@pytest.mark.parametrize("key", sorted(state_of(Parser(formats.load("hermes")))))
@pytest.mark.parametrize("value", [["damaged"], "damaged", -1, 10**30, True, 1.5, {}, {"a": [1]}], ids=repr)
def test_a_forged_value_is_one_clear_error_or_another_state(key, value):
    parser = reading_call()
    state = state_of(parser)
    state[key] = value
    with contextlib.suppress(LifecycleError):  # or what another output could have left
        assert_reads_on(restored(state))


def assert_reads_on(parser):
    """Whatever it says, it raises nothing but `LifecycleError`."""
    with contextlib.suppress(LifecycleError):
        parser.feed('y"}, "b": [1]}</tool_call> so <think>')
        parser.feed('<tool_call>{"name": "g"}</tool_call>')
        parser.finish("stop")


PARTS = {part: len(state_of(reading_call())[part]) for part in ("engine", "account", "layout", "call", "reader")}


@pytest.mark.parametrize(("part", "field"), [(part, field) for part, size in PARTS.items() for field in range(size)])
@pytest.mark.parametrize("value", [["damaged"], "damaged", -2, 7, 10**30, True, None], ids=repr)
def test_a_forged_field_of_the_engine_is_one_clear_error_or_another_state(part, field, value):
    state = state_of(reading_call())
    state[part][field] = value
    with contextlib.suppress(LifecycleError):
        assert_reads_on(restored(state))


@pytest.mark.parametrize("depth", [10**5 + 1, 10**9, 10**12, 10**40])
def test_a_huge_depth_is_refused_before_anything_is_made_of_it(depth):
    state = state_of(reading_call())
    state["options"][2]["max_depth"] = depth
    with pytest.raises(LifecycleError, match="max_depth"):
        restored(state)
    state = state_of(reading_call())
    text = json.dumps(state).replace(", 32]", f", {depth}]")
    assert text != json.dumps(state)
    with pytest.raises(LifecycleError, match="damaged"):
        restored(json.loads(text))
    with pytest.raises(ValueError, match="max_depth"):
        Acceptor(depth)


def streams():
    """Parsers in many states: formats of every call syntax, cut everywhere, with and without token ids."""
    rng = random.Random(7)
    for name in ("hermes", "qwen3_coder", "gemma4", "pythonic", "sarashina", "harmony", "minimax_m3", "deepseek_v3_2"):
        cases = [case for case in contract.load(name).cases if 8 < len(case.text) < 600 and not case.prompt]
        for case in rng.sample(cases, 4):
            parser = Parser(formats.load(name), Tools.of(list(case.tools)) if case.tools is not None else None)
            parser.feed(contract.normalise(case.text)[: rng.randrange(len(case.text))])
            yield name, parser


@pytest.mark.parametrize("seed", range(20))
def test_flipped_cut_and_doubled_bytes_are_noticed(seed):
    rng = random.Random(seed)
    for name, parser in streams():
        data = parser.snapshot()
        at, other = rng.randrange(len(data)), rng.randrange(len(data))
        flipped = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        for damaged in (flipped, data[:at], data[at:], data[:at] + data[other:], data + data[at:], data * 2):
            if damaged in (data, b""):
                continue
            with pytest.raises(LifecycleError, match=r"Parser\.restore"):
                Parser.restore(damaged, formats.load(name))


@pytest.mark.parametrize("seed", range(10))
def test_forged_structure_gives_a_parser_or_one_error(seed):
    """Sealed anew with a right checksum: values of other types, lists of other lengths, keys left out."""
    rng = random.Random(seed)
    for name, parser in streams():
        state = state_of(parser)
        for _ in range(30):
            forged = json.loads(json.dumps(state))
            mutate(rng, forged)
            try:
                moved = restored(forged, name)
            except LifecycleError:
                continue
            assert isinstance(moved.snapshot(), bytes)
            assert_reads_on(moved)


def mutate(rng, value):
    """One place somewhere inside becomes another value."""
    while True:
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            value = inner
            continue
        if rng.random() < 0.2:
            del value[key]
        else:
            value[key] = rng.choice([None, True, -1, 0, 3, 10**20, 0.5, "", "x", "\ud801", [], [1], {}, {"x": None}])
        return


def test_snapshots_of_the_corpora_are_small():
    for name in ("hermes", "qwen3"):
        for case in contract.load(name).cases:
            if len(case.text) > 2000:
                continue
            parser = Parser(formats.load(name))
            for char in case.text:
                parser.feed(char)
                assert len(parser.snapshot()) < 1500 + 4 * len(case.text)


def test_a_snapshot_does_not_hold_what_is_said():
    parser = Parser(formats.load("hermes"))
    parser.feed("word " * 10_000 + '<tool_call>{"name": "f", "arguments": {"a": "' + "x" * 10_000)
    assert len(parser.snapshot()) < 2048


GOLDEN = {int(path.stem.removeprefix("version_")): path for path in golden_snapshots.FOLDER.glob("version_*.jsonl")}


def test_this_version_has_golden_snapshots():
    assert VERSION in GOLDEN


@pytest.mark.parametrize("version", sorted(GOLDEN))
def test_golden_snapshots_restore_or_the_version_says_no(version):
    rows = [json.loads(line) for line in GOLDEN[version].read_text(encoding="utf-8").splitlines()]
    assert {row["table"] for row in rows} == set(golden_snapshots.OUTPUTS)
    for row in rows:
        table = formats.read(golden_snapshots.FOLDER / f"{row['table']}.toml")
        data = row["snapshot"].encode()
        if version != VERSION:
            with pytest.raises(LifecycleError, match=f"the snapshot has version {version}"):
                Parser.restore(data, table, golden_snapshots.TOOLS)
            continue
        parser = Parser.restore(data, table, golden_snapshots.TOOLS)
        rest = golden_snapshots.as_tokens(row["rest"]) if row["tokens"] else row["rest"]
        after = golden_snapshots.as_json(parser.feed(rest) + parser.finish("stop"))
        assert after == row["after"]
        text, arguments = golden_snapshots.OUTPUTS[row["table"]]
        both = row["before"] + after
        assert "".join(source for _, _, source, _, _ in both) == text
        assert "".join(json for (_, _, index), json, _, _, _ in both if index == 0) == arguments


@pytest.mark.parametrize(("pos", "mark"), [(10**6, 0), (3, 2), (0, 10**6)])
def test_a_position_outside_of_the_text_is_refused(pos, mark):
    parser = Parser(formats.load("hermes"))
    parser.feed("<tool")
    state = state_of(parser)
    names = [name for name, _ in Account.FIELDS]
    assert state["account"][names.index("text")] == "<tool"
    state["account"][names.index("pos")] = pos
    state["account"][names.index("mark")] = mark
    if mark <= pos <= len("<tool"):
        restored(state)
    else:
        with pytest.raises(LifecycleError, match="damaged"):
            restored(state)


@pytest.mark.parametrize("text", ["[f(a={'b': [[], {}, (1, (2,), ())]}, c=(), d=((1), 'x'))]", "[f(a=(((1))))]"])
def test_a_parser_whose_arguments_met_their_bound_in_parentheses_is_saved(text: str) -> None:
    format = formats.load("pythonic")
    for most in range(1, len(text)):
        parser = Parser(format, limits=Limits(max_arguments=most))
        for char in text:
            parser.feed(char)
            parser = Parser.restore(parser.snapshot(), format)
        assert isinstance(parser.finish("stop")[-1], Finish)


def test_a_forged_call_with_more_parameters_than_its_function_has_breaks() -> None:
    format = formats.load("cwm")
    parser = Parser(format)
    parser.feed("<tool: bash>\n")
    state = state_of(parser)
    text = json.dumps(state)
    assert '[["", "{", []]]' in text
    forged = json.loads(text.replace('[["", "{", []]]', '[["", "{", ["a", "b"]]]'))
    parser = restored(forged, "cwm")
    said = [*parser.feed("ls\n</tool>"), *parser.finish("stop")]
    assert [event.complete for event in said if isinstance(event, CallEnd)] == [False]
    assert isinstance(said[-1], Finish)
