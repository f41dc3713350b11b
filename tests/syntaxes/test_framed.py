"""Calls as a header and raw JSON: what a template would write is read back, for any cut, with token ids and without."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args import CallStart, Delta, Limits, Parser, Reading, Token, Tools, Why, fold, formats, read
from gateway_args.events import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gateway_args import Event

Call = tuple[str, str]


@dataclass(frozen=True)
class Family:
    """How a model's template writes calls, written down apart from the table."""

    one: Callable[[int, str, str], str]
    opens: str = ""
    joins: str = ""
    closes: str = ""

    def write(self, calls: Iterable[Call]) -> str:
        texts = [self.one(n, name, arguments) for n, (name, arguments) in enumerate(calls)]
        return self.opens + self.joins.join(texts) + self.closes if texts else ""


SECTION = {"opens": "<｜tool▁calls▁begin｜>", "closes": "<｜tool▁calls▁end｜>"}
BEGIN, SEP, END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"


def _plamo(_: int, name: str, arguments: str) -> str:
    tags = [f"<|plamo:{tag}:plamo|>" for tag in ("begin_tool_request", "begin_tool_name", "end_tool_name")]
    body = f"<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{arguments}"
    ends = "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>"
    return tags[0] + tags[1] + name + tags[2] + body + ends


FAMILIES = {
    "mistral": Family(lambda n, name, arguments: f"[TOOL_CALLS]{name}[ARGS]{arguments}"),
    "deepseek_v3": Family(
        lambda n, name, arguments: f"{BEGIN}function{SEP}{name}\n```json\n{arguments}\n```{END}", joins="\n", **SECTION
    ),
    "deepseek_v3_1": Family(lambda n, name, arguments: f"{BEGIN}{name}{SEP}{arguments}{END}", **SECTION),
    "kimi_k2": Family(
        lambda n, name, arguments: (
            f"<|tool_call_begin|>functions.{name}:{n}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
        ),
        opens="<|tool_calls_section_begin|>",
        closes="<|tool_calls_section_end|>",
    ),
    "harmony": Family(
        lambda n, name, arguments: f" to=functions.{name}<|channel|>commentary json<|message|>{arguments}<|call|>",
        joins="<|start|>assistant",
    ),
    "plamo3": Family(_plamo, opens="<|plamo:begin_tool_requests:plamo|>", closes="<|plamo:end_tool_requests:plamo|>"),
    "functionary_v3_1": Family(lambda n, name, arguments: f"<function={name}>{arguments}</function>"),
    "functionary_v3_2": Family(lambda n, name, arguments: f"{name}\n{arguments}", joins=">>>"),
    "solar_open": Family(
        lambda n, name, arguments: (
            f"<|tool_call:begin|>call_{n}<|tool_call:name|>{name}<|tool_call:args|>{arguments}<|tool_call:end|>"
        ),
        opens="<|tool_calls|>",
    ),
}

# `all` opens a block of text in functionary_v3_2.
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,15}", fullmatch=True).filter("all".__ne__)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=4)
WRITERS: tuple[Callable[[Any], str], ...] = (
    json.dumps,
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, separators=(",", ":")),
)


def pieces_of(text: str, cuts: Iterable[int]) -> list[str]:
    ends = sorted({cut % (len(text) + 1) for cut in cuts} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def run(name: str, pieces: Iterable[str | Delta], **options: Any) -> list[Event]:
    parser = Parser(formats.load(name), **options)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.finish("stop")


def calls_of(reading: Reading) -> list[tuple[str, str, bool]]:
    return [(call.name, call.arguments, call.complete) for call in reading.calls]


@pytest.mark.parametrize("name", FAMILIES)
@given(data=st.data())
def test_what_the_template_writes_is_read_back(name: str, data: st.DataObject) -> None:
    written = data.draw(st.lists(st.tuples(NAMES, ARGUMENTS, st.sampled_from(WRITERS)), min_size=1, max_size=3))
    calls = [(function, writer(arguments)) for function, arguments, writer in written]
    text = FAMILIES[name].write(calls)
    cuts = data.draw(st.lists(st.integers(0, 10_000), max_size=12))
    events = run(name, pieces_of(text, cuts))
    reading = fold(events)
    assert calls_of(reading) == [(function, arguments, True) for function, arguments in calls]
    assert [json.loads(call.arguments) for call in reading.calls] == [arguments for _, arguments, _ in written]
    assert reading.content == ""
    assert list(reading.malformed) == []
    assert "".join(map(source_of, events)) == text


@pytest.mark.parametrize("name", FAMILIES)
def test_a_name_is_sent_once_and_whole_wherever_it_is_cut(name: str) -> None:
    tools = Tools.of([{"type": "function", "function": {"name": n}} for n in ("find", "find_all", "find_all.v2")])
    text = FAMILIES[name].write([("find_all", "{}"), ("find", "{}"), ("find_all.v2", "{}")])
    for size in (1, 2, 3, 5):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        starts = [event for event in run(name, pieces, tools=tools) if isinstance(event, CallStart)]
        assert [start.name for start in starts] == ["find_all", "find", "find_all.v2"]
        assert all(start.declared for start in starts)


@pytest.mark.parametrize("name", FAMILIES)
def test_arguments_stream_while_they_arrive(name: str) -> None:
    text = FAMILIES[name].write([("save", '{"body": "' + "x" * 50 + '"}')])
    half = text.index("x" * 50) + 25
    parser = Parser(formats.load(name))
    said = fold([*parser.feed(text[:half])])
    assert said.calls[0].arguments == '{"body": "' + "x" * 25


@pytest.mark.parametrize("name", FAMILIES)
def test_a_parser_put_away_after_every_character_says_the_same(name: str) -> None:
    text = "Let me see. " + FAMILIES[name].write([("find", '{"a": [1, "é\\n"]}'), ("find_all", "{}")])
    format = formats.load(name)
    tools = Tools.of([{"type": "function", "function": {"name": "find"}}])
    whole = read(format, [text], tools)
    parser, events = Parser(format, tools), []
    for char in text:
        events += parser.feed(char)
        parser = Parser.restore(parser.snapshot(), format, tools)
    assert fold([*events, *parser.finish("stop")]) == whole


@pytest.mark.parametrize("name", FAMILIES)
def test_a_name_beyond_the_limit_is_no_call(name: str) -> None:
    text = FAMILIES[name].write([("n" * 40, "{}")])
    assert read(formats.load(name), [text]).calls
    reading = read(formats.load(name), [text], limits=Limits(max_name=32))
    assert list(reading.calls) == []
    assert "n" * 40 in reading.content + "".join(entry.text for entry in reading.malformed)


def test_arguments_beyond_the_limit_end_the_call() -> None:
    text = FAMILIES["kimi_k2"].write([("save", '{"body": "0123456789"}'), ("list", "{}")])
    reading = read(formats.load("kimi_k2"), list(text), limits=Limits(max_arguments=15))
    assert calls_of(reading) == [("save", '{"body": "01234', False), ("list", "{}", True)]
    assert [(entry.text, entry.why) for entry in reading.malformed] == [('56789"}', Why.LIMIT)]


def test_white_space_beyond_the_limit_before_a_header_makes_the_opener_text() -> None:
    format = formats.load("mistral")
    near, far = ("[TOOL_CALLS]" + " " * size + "f[ARGS]{}" for size in (256, 257))
    assert calls_of(read(format, list(near))) == [("f", "{}", True)]
    for pieces in ([far], list(far)):
        assert read(format, pieces).content == far


def test_white_space_beyond_the_limit_before_a_fences_end_makes_it_stray() -> None:
    format = formats.load("deepseek_v3")
    for size, stray in ((256, ""), (257, "```")):
        text = f"{BEGIN}function{SEP}f\n```json\n{{}}" + "\n" * size + "```" + END
        for pieces in ([text], list(text)):
            reading = read(format, pieces)
            assert calls_of(reading) == [("f", "{}", True)]
            assert "".join(entry.text for entry in reading.malformed) == stray


def test_half_an_escape_at_the_end_is_never_sent() -> None:
    text = '[TOOL_CALLS]f[ARGS]"{\\"a\\": \\"b\\'
    for pieces in ([text], list(text)):
        reading = read(formats.load("mistral"), pieces, finish="length")
        assert calls_of(reading) == [("f", '{"a": "b', False)]
        assert [entry.text for entry in reading.malformed] == ["\\"]


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_marker_that_begins_like_json_is_told_from_a_list(cut: int) -> None:
    text = '[TOOL_CALLS]f[ARGS]{"a": [[], [1]], "b": ["[TOOL_CALLS]g[ARGS]{}"]}[TOOL_CALLS]g[ARGS]{}'
    at = text.index("{") + cut
    reading = read(formats.load("mistral"), [text[:at], text[at:]])
    assert calls_of(reading) == [
        ("f", '{"a": [[], [1]], "b": ["[TOOL_CALLS]g[ARGS]{}"]}', True),
        ("g", "{}", True),
    ]


def test_a_marker_where_a_value_could_stand_ends_a_call() -> None:
    text = '[TOOL_CALLS]f[ARGS]{"a": [TOOL_CALLS]g[ARGS]{}'
    for pieces in ([text], list(text)):
        assert calls_of(read(formats.load("mistral"), pieces)) == [("f", '{"a": ', False), ("g", "{}", True)]


def test_an_id_of_nine_letters_and_digits_is_made_where_the_model_wrote_none() -> None:
    text = FAMILIES["mistral"].write([("f", "{}"), ("f", "{}")])
    ids = [call.id for call in read(formats.load("mistral"), [text]).calls]
    assert len(set(ids)) == 2
    assert all(len(id) == 9 and id.isascii() and id.isalnum() for id in ids)
    assert ids == [call.id for call in read(formats.load("mistral"), list(text)).calls]


# ---------------------------------------------------------------- outputs whose special tokens have no text

MARKERS = {text: 1000 + n for n, text in enumerate(sorted(formats.load("harmony").marker_texts()))}


def stripped(text: str) -> list[Delta]:
    """The output as an engine with skip_special_tokens gives it: the markers' tokens are there, their texts are not."""
    deltas = []
    while text:
        marker = next((marker for marker in MARKERS if text.startswith(marker)), None)
        if marker is not None:
            deltas.append(Delta("", [Token(MARKERS[marker], 0, 0)]))
            text = text[len(marker) :]
        else:
            deltas.append(Delta(text[0], [Token(ord(text[0]) % 900, 0, 1)]))
            text = text[1:]
    return deltas


HARMONY = (
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|>"
    '<|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"a": [2]}<|call|>'
    "<|start|>assistant to=functions.list<|channel|>commentary json<|message|>{}<|call|>"
    "<|start|>assistant<|channel|>final<|message|>Done.<|return|>"
)


def test_markers_without_text_are_read_by_their_ids() -> None:
    deltas = stripped(HARMONY)
    events = run("harmony", deltas, markers=MARKERS)
    reading = fold(events)
    assert calls_of(reading) == [("find", '{"a": [2]}', True), ("list", "{}", True)]
    assert (reading.reasoning, reading.content) == ("hm", "Let me look.Done.")
    assert "".join(map(source_of, events)) == "".join(delta.text for delta in deltas)
    tokens = [getattr(event, "tokens", None) or 0 for event in events]
    assert sum(tokens) == len(deltas)


def test_markers_without_text_say_what_markers_with_text_say() -> None:
    shown = read(formats.load("harmony"), [HARMONY])
    by_id = fold(run("harmony", stripped(HARMONY), markers=MARKERS))
    assert (by_id.reasoning, by_id.content, calls_of(by_id)) == (shown.reasoning, shown.content, calls_of(shown))


def test_a_stripped_output_without_ids_is_content() -> None:
    text = "".join(delta.text for delta in stripped(HARMONY))
    assert fold(run("harmony", [text])).content == text


def test_the_table_says_that_it_needs_the_special_tokens() -> None:
    assert formats.load("harmony").needs_special_tokens
    assert not formats.load("kimi_k2").needs_special_tokens


# ----------------------------------------------------------------------- the end of the template's prompt


def test_the_prompts_end_is_taken_as_read_when_no_prompt_is_at_hand() -> None:
    format = formats.load("functionary_v3_2")
    opener = "<|start_header_id|>assistant<|end_header_id|>\n\n"
    for text in ("find\n{}>>>all\nDone.", "all\nHello."):
        assert read(format, list(text)) == read(format, list(text), prompt=opener + ">>>")


def test_a_prompt_that_is_at_hand_counts_as_it_is() -> None:
    format = formats.load("functionary_v3_2")
    opener = "<|start_header_id|>assistant<|end_header_id|>\n\n"
    assert read(format, ["find\n{}"], prompt=opener).content == "find\n{}"
    assert read(format, ["find\n{}"], start="content").content == "find\n{}"
