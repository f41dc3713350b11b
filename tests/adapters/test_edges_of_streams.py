"""Calls held until they are whole, usage that comes late, log probabilities, and white space and stretches at seams."""

from __future__ import annotations

import json
from typing import Any

import pytest
from client_models import chat_completion, message, response, sse, strictly
from event_streams import call, streams
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from gateway_args import CallOutcome, Delta, Parser, Token, Tools, adapters, formats
from gateway_args.adapters import Envelope, Options, Usage
from gateway_args.decoder import Refused, StreamCode
from gateway_args.events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)
from gateway_args.reading import fold

ENVELOPE = Envelope("resp_9", "m", 0)
KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")
each_kind = pytest.mark.parametrize("kind", KINDS)
HELD = Options(calls="complete")


def last_fields(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> dict[str, Any]:
    match kind:
        case "chat":
            return chunks[-1]["choices"][0]
        case "responses":
            return chunks[-1]["response"]
        case "messages":
            return chunks[-2]


def client_calls(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """The calls in the message that the real client accumulates, with their arguments as a value."""
    match kind:
        case "chat":
            calls = chat_completion(chunks).choices[0].message.tool_calls or []
            return [(entry.function.name, json.loads(entry.function.arguments)) for entry in calls]
        case "responses":
            items = [item for item in response(chunks)[1].output if item.type == "function_call"]
            return [(item.name, json.loads(item.arguments)) for item in items]
        case "messages":
            blocks = [block for block in message(chunks).content if block.type == "tool_use"]
            return [(block.name, block.input) for block in blocks]


# --------------------------------------------------------------------------------- calls held until whole


@each_kind
@given(events=streams(objects_only=True))
def test_with_complete_a_client_never_sees_a_call_that_is_not_whole(kind: adapters.Kind, events: list[Event]) -> None:
    reading = fold(events)
    chunks = adapters.stream(kind, ENVELOPE, HELD).chunks(events)
    sound = [(entry.name, json.loads(entry.arguments)) for entry in reading.calls if entry.complete]
    assert [name for name, _ in client_calls(kind, chunks)] == [name for name, _ in sound]
    if kind != "messages":  # whose values are of characters, so lone surrogates differ
        assert client_calls(kind, chunks) == sound
    listed = last_fields(kind, chunks).get("incomplete_calls", [])
    assert [(entry["name"], entry["arguments"]) for entry in listed] == [
        (entry.name, entry.arguments) for entry in reading.calls if not entry.complete
    ]


@each_kind
def test_with_complete_a_broken_call_is_listed_as_malformed_with_all_that_the_model_wrote(kind: adapters.Kind) -> None:
    text = '<tool_call>\n{"name": "add", "arguments": {"a": 1,}}\n</tool_call>'
    parser = Parser(formats.load("hermes"))
    chunks = adapters.stream(kind, ENVELOPE, HELD).chunks(parser.feed(text) + parser.finish("stop"))
    assert last_fields(kind, chunks)["malformed"] == [{"text": text, "why": "arguments"}]
    cut = text[: text.index("1,") + 1]
    parser = Parser(formats.load("hermes"))
    chunks = adapters.stream(kind, ENVELOPE, HELD).chunks(parser.feed(cut) + parser.finish("length"))
    assert last_fields(kind, chunks)["malformed"] == [{"text": cut, "why": "unterminated"}]


@each_kind
def test_with_complete_a_call_is_sent_as_soon_as_it_is_whole(kind: adapters.Kind) -> None:
    stream = adapters.stream(kind, ENVELOPE, HELD)
    stream.chunks()
    *before, end = call(0, "add", '{"a":', " 1}")
    assert [chunk for event in before for chunk in stream.chunks([event])] == []
    assert "add" in json.dumps(stream.chunks([end]))


@each_kind
def test_with_complete_and_one_call_only_a_broken_first_call_does_not_use_it_up(kind: adapters.Kind) -> None:
    events = [*call(0, "add", "{", complete=False), *call(1, "mul", "{}"), *call(2, "div", "{}")]
    options = Options(calls="complete", parallel=False)
    chunks = adapters.stream(kind, ENVELOPE, options).chunks([*events, Finish("tool_calls", 3, None)])
    assert [name for name, _ in client_calls(kind, chunks)] == ["mul"]
    assert [entry["name"] for entry in last_fields(kind, chunks)["withheld_calls"]] == ["div"]


@each_kind
@given(events=streams(), data=st.data())
def test_with_complete_a_stream_moves_between_any_two_events(
    kind: adapters.Kind, events: list[Event], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(events)))
    stream = adapters.stream(kind, ENVELOPE, HELD)
    before = stream.chunks(events[:at])
    moved = type(stream).restore(stream.snapshot(), ENVELOPE, HELD)
    assert before + moved.chunks(events[at:]) == adapters.stream(kind, ENVELOPE, HELD).chunks(events)


@each_kind
@given(events=streams(), calls=st.sampled_from(["stream", "complete"]))
def test_a_whole_answer_holds_only_calls_whose_arguments_parse(
    kind: adapters.Kind, events: list[Event], calls: Any
) -> None:
    answer = adapters.whole(kind, events, ENVELOPE, Options(calls=calls))
    match kind:
        case "chat":
            texts = [entry["function"]["arguments"] for entry in answer["choices"][0]["message"].get("tool_calls", [])]
        case "responses":
            texts = [item["arguments"] for item in answer["output"] if item["type"] == "function_call"]
        case "messages":
            texts = [json.dumps(block["input"]) for block in answer["content"] if block["type"] == "tool_use"]
    assert all(json.loads(text) is not ... for text in texts)
    assert len(texts) == len([entry for entry in fold(events).calls if entry.complete and seen(kind, entry.arguments)])


def seen(kind: adapters.Kind, arguments: str) -> bool:
    return kind != "messages" or isinstance(json.loads(arguments), dict)


@each_kind
@pytest.mark.parametrize("malformed", ["auto", "content", "extension"])
def test_the_beginning_of_a_call_that_was_cut_is_never_content(kind: adapters.Kind, malformed: Any) -> None:
    for text in ('<tool_call>\n{"name', 'Hi <tool_call>\n{"arguments": {"a'):
        parser = Parser(formats.load("hermes"))
        chunks = adapters.stream(kind, ENVELOPE, Options(malformed=malformed)).chunks(
            parser.feed(text) + parser.finish("length")
        )
        (entry,) = last_fields(kind, chunks)["malformed"]
        assert entry["why"] == "unterminated"
        assert "tool_call>" in entry["text"]
        assert "<tool_call>" not in json.dumps(chunks[:-2] if kind == "messages" else chunks[:-1])


# ----------------------------------------------------------------------------------------- late usage


@each_kind
@pytest.mark.parametrize("reason", ["stop", "length", "error"])
def test_usage_that_comes_behind_the_finish_reason_is_told_right(kind: adapters.Kind, reason: str) -> None:
    envelope = Envelope("r", "m", 0)
    options = Options(late_usage=True, include_usage=True)
    stream = adapters.stream(kind, envelope, options)
    data = stream.frames([Content("hi")]) + stream.frames([Finish(reason, 0, None)])
    assert stream.finished
    envelope.usage = Usage(prompt_tokens=11, completion_tokens=5)
    data += adapters.end(kind, [stream])
    assert adapters.end(kind, [stream]) == (adapters.end(kind, [stream]) if kind == "chat" else b"")
    said = [chunk for _, chunk in sse(data) if chunk != "[DONE]"]
    at_once = adapters.stream(kind, Envelope("r", "m", 0, envelope.usage), Options(include_usage=True))
    wanted = at_once.chunks([Content("hi"), Finish(reason, 0, None)])
    if kind == "chat":
        usage = said.pop()["usage"]
        assert (usage["prompt_tokens"], usage["completion_tokens"]) == (11, 5)
    elif kind == "messages":
        del said[0]["message"]["usage"], wanted[0]["message"]["usage"]  # the prompt's tokens are told there at once
    assert said == json.loads(json.dumps(wanted))


@each_kind
def test_a_stream_that_waits_for_its_usage_may_move_then(kind: adapters.Kind) -> None:
    envelope = Envelope("r", "m", 0)
    options = Options(late_usage=True)
    stream = adapters.stream(kind, envelope, options)
    stream.chunks([*call(0, "add", "{", complete=False), Malformed("x", Why.ARGUMENTS), Finish("stop", 1, 3)])
    moved = type(stream).restore(stream.snapshot(), envelope, options)
    envelope.usage = Usage(prompt_tokens=11, completion_tokens=5)
    assert adapters.end(kind, [moved]) == adapters.end(kind, [stream])


def test_the_usage_of_several_choices_is_in_what_their_chunks_fold_to() -> None:
    envelope = Envelope("r", "m", 0, Usage(prompt_tokens=11))
    choices = [adapters.chat.Stream(envelope, choice=index) for index in range(2)]
    chunks = [chunk for choice in choices for chunk in choice.chunks([Content("a", 2), Finish("stop", 0, 0)])]
    whole = adapters.fold("chat", [*chunks, adapters.chat.usage_chunk(choices)])
    read = strictly(ChatCompletion, whole)
    assert [choice.message.content for choice in read.choices] == ["a", "a"]
    assert read.usage is not None
    assert (read.usage.prompt_tokens, read.usage.completion_tokens) == (11, 4)


# ------------------------------------------------------------------------------------ log probabilities

TEXT = 'Hi you <tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>'


def tokens_of(text: str, size: int) -> list[tuple[Delta, list[dict[str, Any]]]]:
    """The text in tokens of so many characters, a delta each, with a log probability for each."""
    found = []
    for number, at in enumerate(range(0, len(text), size)):
        piece = text[at : at + size]
        known = {
            "token": piece,
            "logprob": -number / 8,
            "top_logprobs": [{"token": "x", "logprob": -9.0, "bytes": [120]}],
        }
        found.append((Delta(piece, (Token(number, 0, len(piece)),)), [known]))
    return found


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("ids", [True, False])
def test_log_probabilities_stand_beside_the_content_they_belong_to(size: int, ids: bool) -> None:
    parsers = {kind: Parser(formats.load("hermes"), Tools.of([{"name": "add", "input_schema": {}}])) for kind in KINDS}
    found: dict[str, list[dict[str, Any]]] = {}
    for kind, parser in parsers.items():
        stream = adapters.stream(kind, ENVELOPE)
        found[kind] = []
        for delta, known in tokens_of(TEXT, size):
            found[kind] += stream.chunks(parser.feed(delta if ids else delta.text), logprobs=known)
        found[kind] += stream.chunks(parser.finish("stop"))
    choice = chat_completion(found["chat"]).choices[0]
    assert choice.logprobs is not None
    assert choice.logprobs.content is not None
    tokens = "".join(entry.token for entry in choice.logprobs.content)
    assert choice.message.content is not None
    if ids:
        assert len(tokens) - len(choice.message.content) in range(size)
    assert tokens.startswith(choice.message.content[: len(tokens)])
    assert choice.logprobs.content[0].bytes == list(TEXT[:size].encode())
    last, _ = response(found["responses"])
    (part,) = last.output[0].content
    assert "".join(entry.token for entry in part.logprobs) == tokens
    assert part.logprobs[0].top_logprobs[0].token == "x"
    assert "logprob" not in json.dumps(found["messages"])
    whole = adapters.fold("chat", found["chat"])
    assert strictly(ChatCompletion, whole).choices[0].logprobs == choice.logprobs


# ----------------------------------------------------------------------------------------------- seams


def test_white_space_alone_between_two_blocks_is_no_text_of_the_next_one() -> None:
    events: list[Event] = [
        *call(0, "add", "{}"),
        Content(" \n"),
        *call(1, "add", "{}"),
        Content("b"),
        Finish("tool_calls", 2, None),
    ]
    whole = adapters.whole("messages", events, ENVELOPE)
    assert [block["text"] for block in whole["content"] if block["type"] == "text"] == ["b"]
    events = [ReasoningStart(), Reasoning("a"), ReasoningEnd(), Content("\n"), *call(0, "add", "{}"), Content(" c")]
    whole = adapters.whole("messages", [*events, Finish("tool_calls", 1, None)], ENVELOPE)
    assert [block.get("text") for block in whole["content"]] == [None, None, " c"]


@each_kind
@pytest.mark.parametrize("calls", ["stream", "complete"])
def test_malformed_stretches_are_one_only_where_nothing_stands_between(kind: adapters.Kind, calls: Any) -> None:
    start, one, two, end = call(0, "add", "{", "}")
    assert isinstance(start, CallStart)
    assert isinstance(one, CallArguments)
    assert isinstance(end, CallEnd)
    events: list[Event] = [
        start,
        Malformed("a", Why.STRAY),
        one,
        Malformed("b", Why.STRAY),
        Malformed("c", Why.STRAY),
        Dropped("", Why.CONTROL),
        Malformed("d", Why.STRAY),
        Malformed("e", Why.DUPLICATE),
        Dropped(" ", Why.ENVELOPE),
        Malformed("f", Why.DUPLICATE),
        two,
        end,
        Malformed("g", Why.STRAY),
        Finish("tool_calls", 1, None),
    ]
    chunks = adapters.stream(kind, ENVELOPE, Options(malformed="extension", calls=calls)).chunks(events)
    listed = [(entry["text"], entry["why"]) for entry in last_fields(kind, chunks)["malformed"]]
    assert listed == [(aside.text, str(aside.why)) for aside in fold(events).malformed]
    assert [text for text, _ in listed] == ["a", "bcd", "e", "f", "g"]


@each_kind
@pytest.mark.parametrize("calls", ["stream", "complete"])
def test_malformed_text_of_a_call_is_shown_once_where_it_is_content(kind: adapters.Kind, calls: Any) -> None:
    events: list[Event] = []
    for index in range(2):
        start, fragment, end = call(index, "add", "{", complete=False)
        events += [start, fragment, Malformed(f"junk {index};", Why.ARGUMENTS), end]
    options = Options(malformed="content", calls=calls)
    chunks = adapters.stream(kind, ENVELOPE, options).chunks([*events, Finish("stop", 2, None)])
    sent = json.dumps(chunks[: -2 if kind == "messages" else -1])
    deltas = sent.count("junk 0;"), sent.count("junk 1;")
    assert deltas == {"chat": (1, 1), "messages": (1, 1), "responses": (deltas[0], deltas[0])}[kind]
    whole = adapters.fold(kind, chunks)
    assert json.dumps(whole).count("junk 0;") == 1


def test_the_calls_of_two_choices_have_ids_of_their_own() -> None:
    ids = set()
    for choice in range(3):
        chunks = adapters.chat.Stream(ENVELOPE, choice=choice).chunks(call(0, "add", "{}"))
        ids |= {piece["id"] for chunk in chunks for piece in calls_in(chunk) if "id" in piece}
    assert len(ids) == 3


def calls_in(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    return chunk["choices"][0]["delta"].get("tool_calls", [])


REFUSAL = CallOutcome(0, "add", Refused(StreamCode.SEMANTIC, "30 or less", 4, "maximum", "$.a"))


@each_kind
def test_a_fold_holds_no_call_whose_refusal_came_after_it_was_whole(kind: adapters.Kind) -> None:
    events: list[Any] = [*call(0, "add", '{"a": 99}'), REFUSAL, Finish("tool_calls", 1, None)]
    chunks = [chunk for event in events for chunk in adapters_fed(kind, events, event)]
    whole = adapters.fold(kind, chunks)
    fields = whole["choices"][0] if kind == "chat" else whole
    (entry,) = fields["refused_calls"]
    assert json.loads(entry["arguments"]) == {"a": 99}
    match kind:
        case "chat":
            assert "tool_calls" not in fields["message"]
        case "responses":
            assert whole["output"] == []
        case "messages":
            assert whole["content"] == []


def adapters_fed(kind: adapters.Kind, events: list[Any], event: Any) -> list[dict[str, Any]]:
    """The chunks that this one of the events causes, fed one at a time."""
    stream = adapters.stream(kind, ENVELOPE)
    for earlier in events[: events.index(event)]:
        stream.chunks([earlier])
    return stream.chunks([event])


@each_kind
def test_nothing_more_of_a_call_is_sent_once_it_was_refused(kind: adapters.Kind) -> None:
    start, one, two, end = call(0, "add", '{"a": 99', ', "b": "later"}')
    stream = adapters.stream(kind, ENVELOPE)
    chunks = stream.chunks([start, one, REFUSAL, two, end, Finish("tool_calls", 1, None)])
    sent = json.dumps(chunks[: -2 if kind == "messages" else -1])
    assert "99" in sent
    assert "later" not in sent
    (entry,) = last_fields(kind, chunks)["refused_calls"]
    assert "later" in entry["arguments"]


def test_log_probabilities_are_told_apart_token_by_token_within_a_delta() -> None:
    known = [{"token": str(number), "logprob": -number} for number in range(9)]
    events: list[Event] = [
        Content("a", 2),
        Dropped("", Why.CONTROL, 1),
        Reasoning("r", 1),
        Content("b", 1),
        Dropped("<x>", Why.MARKER, 1),
        Malformed("m", Why.STRAY, 1),
        Content("c", 0),
        *[CallStart(0, "i", "add", None, "", 0), CallArguments(0, "{}", "{}", 1), CallEnd(0, True, "", 0)],
        Content("d", 1),
    ]
    options = Options(malformed="hide")
    chunks = adapters.chat.Stream(ENVELOPE, options).chunks([*events, Finish("tool_calls", 1, 1)], logprobs=known)
    found = [chunk["choices"][0].get("logprobs") for chunk in chunks]
    assert [[entry["token"] for entry in some["content"]] for some in found if some] == [["0", "1"], ["4"], ["8"]]
