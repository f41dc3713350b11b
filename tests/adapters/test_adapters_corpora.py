"""Every corpus of every format through all three adapters: what the clients accumulate is the parser's reading."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from client_models import EXTENSION, REASONING, chat_completion, message, object_of, response, strictly
from openai.types.chat import ChatCompletion

from gateway_args import Why, adapters, contract, formats
from gateway_args.adapters import Envelope, Options
from gateway_args.adapters.values import ERROR_MESSAGE
from gateway_args.contract.streams import streams_of
from gateway_args.contract.subjects import maker_of
from gateway_args.reading import Reading, fold

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway_args.events import Event

ENVELOPE = Envelope(id="resp_1", model="model", created=0)
APART = Options(malformed="extension")
PIECE = 9  # characters a delta; a long output comes in 30 deltas, since the clients' accumulators are quadratic


def events_of(maker: contract.Maker, case: contract.Case, *, at_once: bool = False) -> list[Event]:
    size = max(1, len(case.text)) if at_once else max(PIECE, len(case.text) // 30)
    parser: Any = maker.new(case, None)
    events: list[Event] = []
    for at in range(0, len(case.text), size):
        events += parser.feed(case.text[at : at + size])
    return [*events, *parser.finish(case.finish)]


def finish_of(reading: Reading) -> str:
    assert reading.finish is not None
    return reading.finish.reason


def check_chat(events: list[Event], reading: Reading) -> None:
    choice = chat_completion(adapters.chat.Stream(ENVELOPE, APART).chunks(events)).choices[0]
    assert (choice.message.content or "") == reading.content
    assert (choice.message.model_extra or {}).get("reasoning_content", "") == reading.reasoning
    said = [(entry.function.name, entry.function.arguments) for entry in choice.message.tool_calls or []]
    assert said == [(entry.name, entry.arguments) for entry in reading.calls]
    assert choice.finish_reason == {"cancelled": "length"}.get(finish_of(reading), finish_of(reading))
    strictly(ChatCompletion, adapters.whole("chat", events, ENVELOPE), EXTENSION | REASONING)


def check_responses(events: list[Event], reading: Reading) -> None:
    last, accumulated = response(adapters.responses.Stream(ENVELOPE, APART).chunks(events))
    assert last.output_text == reading.content
    for said in (last, accumulated):
        calls = [item for item in said.output if item.type == "function_call"]
        assert [(item.name, item.arguments) for item in calls] == [(c.name, c.arguments) for c in reading.calls]
    thoughts = [part.text for item in last.output if item.type == "reasoning" for part in item.content]
    assert "".join(thoughts) == reading.reasoning
    sound = [item.status == "completed" for item in last.output if item.type == "function_call"]
    assert sound == [entry.complete for entry in reading.calls]


def check_messages(events: list[Event], reading: Reading) -> None:
    said = message(adapters.messages.Stream(ENVELOPE, APART).chunks(events))
    text = "".join(block.text for block in said.content if block.type == "text")
    assert "".join(text.split()) == "".join(reading.content.split())
    assert "".join(block.thinking for block in said.content if block.type == "thinking") == reading.reasoning
    uses = [(block.name, block.input) for block in said.content if block.type == "tool_use"]
    shown = [entry for entry in reading.calls if entry.arguments.lstrip(" \t\n\r").startswith("{")]
    assert [name for name, _ in uses] == [entry.name for entry in shown]
    for (_, value), entry in zip(uses, shown, strict=True):
        assert not entry.complete or value == object_of(entry.arguments)
    if finish_of(reading) == "tool_calls":
        assert said.stop_reason == ("tool_use" if any(entry.complete for entry in shown) else "end_turn")


CHECKS: dict[adapters.Kind, Callable[[list[Event], Reading], None]] = {
    "chat": check_chat,
    "responses": check_responses,
    "messages": check_messages,
}


@pytest.mark.every_table
@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("format", contract.names())
def test_the_clients_accumulate_what_the_corpus_says(format: str, kind: adapters.Kind) -> None:
    maker = maker_of(format)
    for case in contract.load(format).cases:
        events = events_of(maker, case)
        reading = fold(events)
        assert (reading.content, reading.reasoning) == (case.expect.content, case.expect.reasoning), case.name
        if finish_of(reading) == "error":
            assert ERROR_MESSAGE in json.dumps(adapters.stream(kind, ENVELOPE).chunks(events)[-1]), case.name
            continue
        try:
            CHECKS[kind](events, reading)
        except AssertionError as error:
            raise AssertionError(f"{format}: {case.name}: {error}") from error


@pytest.mark.every_table
@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("format", contract.names())
def test_a_corpus_makes_the_same_messages_in_one_delta_and_in_many(format: str, kind: adapters.Kind) -> None:
    maker = maker_of(format)
    for case in contract.load(format).cases:
        at_once = adapters.whole(kind, events_of(maker, case, at_once=True), ENVELOPE)
        assert at_once == adapters.whole(kind, events_of(maker, case), ENVELOPE), case.name


@pytest.mark.every_table
@pytest.mark.parametrize("format", contract.names())
def test_every_token_of_a_corpus_is_in_the_usage(format: str) -> None:
    maker = maker_of(format)
    assert maker.markers is not None
    for case in contract.load(format).cases:
        for stream in streams_of(case, maker.markers(case)):
            if stream.tokens is None or stream.brief:
                continue
            parser: Any = maker.new(case, stream.markers)
            answer = adapters.chat.Stream(ENVELOPE)
            for at in range(0, len(stream.atoms), 2):
                answer.frames(parser.feed(stream.piece(at, min(at + 2, len(stream.atoms)))))
            answer.frames(parser.finish(case.finish))
            assert answer.usage().completion_tokens == stream.tokens, case.name


@pytest.mark.every_table
@pytest.mark.parametrize("format", sorted({*contract.names()} & {*formats.names()}))
def test_malformed_text_that_is_content_loses_no_character(format: str) -> None:
    """Where no call started, what is shown is the output without the turn's ends (white space apart)."""
    maker = maker_of(format)
    for case in contract.load(format).cases:
        for at_once in (True, False):
            events = events_of(maker, case, at_once=at_once)
            reading = fold(events)
            if reading.calls or reading.thoughts or case.expect.reasoning or not reading.malformed:
                continue
            if any(aside.why is Why.UNTERMINATED for aside in reading.malformed):
                continue
            table = formats.load(format)
            inside = {
                name
                for state in table.states.values()
                for name, target in state.on.items()
                if {state.kind, table.states[target].kind} & {"call", "wrapper"}
            }
            others = {marker.text for name, marker in table.markers.items() if name not in inside}
            if any(text in case.text for text in others) or case.prompt or case.prefill:
                continue
            wanted = case.text
            for marker in table.turn_end:
                wanted = wanted.replace(marker.text, "")
            whole = adapters.whole("chat", events, ENVELOPE, Options(malformed="content"))
            shown = whole["choices"][0]["message"]["content"] or ""
            assert "".join(shown.split()) == "".join(wanted.split()), case.name
