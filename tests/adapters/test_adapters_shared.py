"""What holds for all three adapters, over event streams of every shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from client_models import sse
from event_streams import call, streams
from hypothesis import given
from hypothesis import strategies as st

from gateway_args import adapters
from gateway_args.adapters import Envelope, Options, Usage
from gateway_args.errors import LifecycleError
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
from gateway_args.reading import Aside, fold
from gateway_args.sealing import seal

ENVELOPE = Envelope(id="resp_7", model="qwen", created=1_700_000_000)
KINDS: tuple[adapters.Kind, ...] = ("chat", "responses", "messages")
each_kind = pytest.mark.parametrize("kind", KINDS)
POLICIES = st.sampled_from(["auto", "content", "extension", "hide"])


def last_fields(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Where an adapter puts extension fields."""
    match kind:
        case "chat":
            return chunks[-1]["choices"][0]
        case "responses":
            return chunks[-1]["response"]
        case "messages":
            return chunks[-2]


def texts(kind: adapters.Kind, chunks: list[dict[str, Any]]) -> str:
    """The content that a client shows: text deltas joined."""
    match kind:
        case "chat":
            return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        case "responses":
            return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "response.output_text.delta")
        case "messages":
            return "".join(chunk.get("delta", {}).get("text", "") for chunk in chunks)


def characters(events: list[Event]) -> list[Event]:
    """The same stream cut at every character."""
    cut: list[Event] = []
    for event in events:
        match event:
            case Content() | Reasoning():
                cut += [type(event)(char, None) for char in event.text]
            case Malformed():
                cut += [Malformed(char, event.why) for char in event.text]
            case CallArguments():
                cut += [CallArguments(event.index, char, char) for char in event.json]
            case _:
                cut.append(event)
    return cut


@each_kind
@given(events=streams(), malformed=POLICIES, parallel=st.booleans())
def test_the_message_does_not_depend_on_how_the_events_were_cut(
    kind: adapters.Kind, events: list[Event], malformed: Any, parallel: bool
) -> None:
    envelope = Envelope("r", "m", 0, Usage(completion_tokens=9, reasoning_tokens=1))
    options = Options(malformed=malformed, parallel=parallel)
    assert adapters.whole(kind, events, envelope, options) == adapters.whole(
        kind, characters(events), envelope, options
    )


@each_kind
@given(events=streams(reasons=("stop", "length", "error", "cancelled", "an_engine_s_own")), malformed=POLICIES)
def test_the_bytes_say_what_the_chunks_say(kind: adapters.Kind, events: list[Event], malformed: Any) -> None:
    options = Options(malformed=malformed)
    chunks = adapters.stream(kind, ENVELOPE, options).chunks(events)
    sent = sse(b"".join(adapters.sse(kind, events, ENVELOPE, options)))
    if kind == "chat":
        assert sent.pop() == (None, "[DONE]")
    assert [data for _, data in sent] == json.loads(json.dumps(chunks))
    assert [event for event, _ in sent] == [chunk.get("type") for chunk in chunks]


@each_kind
@given(events=streams(), malformed=POLICIES, parallel=st.booleans(), data=st.data())
def test_a_stream_goes_on_from_a_snapshot_taken_anywhere(
    kind: adapters.Kind, events: list[Event], malformed: Any, parallel: bool, data: st.DataObject
) -> None:
    options = Options(malformed=malformed, parallel=parallel)
    at = data.draw(st.integers(0, len(events)))
    straight = adapters.stream(kind, ENVELOPE, options)
    before = straight.chunks(events[:at])
    moved = type(straight).restore(straight.snapshot(), ENVELOPE, options)
    rest = straight.chunks(events[at:])
    assert moved.chunks(events[at:]) == rest
    assert adapters.stream(kind, ENVELOPE, options).chunks(events) == before + rest


@each_kind
def test_a_snapshot_of_another_api_is_refused_by_name(kind: adapters.Kind) -> None:
    other = KINDS[KINDS.index(kind) - 1]
    data = adapters.stream(other, ENVELOPE).snapshot()
    with pytest.raises(LifecycleError, match=f"expected a snapshot of a adapters.{kind}.Stream, got .*{other}"):
        type(adapters.stream(kind, ENVELOPE)).restore(data, ENVELOPE)


@each_kind
@given(events=streams())
def test_by_default_malformed_text_is_content_until_a_call_has_started_and_never_after(
    kind: adapters.Kind, events: list[Event]
) -> None:
    started = next((at for at, event in enumerate(events) if isinstance(event, CallStart)), len(events))
    shown = [event for event in events[:started] if isinstance(event, Content | Malformed)]
    shown += [event for event in events[started:] if isinstance(event, Content)]
    chunks = adapters.stream(kind, ENVELOPE).chunks(events)
    squeezed = "".join("".join(event.text for event in shown).split())
    assert "".join(texts(kind, chunks).split()) == squeezed  # white space: Messages leaves blank blocks out
    listed = [Aside(entry["text"], Why(entry["why"])) for entry in last_fields(kind, chunks).get("malformed", [])]
    hidden = (
        fold(events[started:]).malformed if started < len(events) and isinstance(events[started], CallStart) else []
    )
    assert listed == hidden


@each_kind
@given(events=streams())
def test_malformed_as_extension_lists_what_the_reading_lists(kind: adapters.Kind, events: list[Event]) -> None:
    heard: list[Aside] = []
    options = Options(malformed="extension", hook=heard.append)
    chunks = adapters.stream(kind, ENVELOPE, options).chunks(events)
    listed = [Aside(entry["text"], Why(entry["why"])) for entry in last_fields(kind, chunks).get("malformed", [])]
    assert listed == fold(events).malformed == heard


@each_kind
@given(events=streams())
def test_hidden_malformed_text_reaches_the_hook_and_no_client(kind: adapters.Kind, events: list[Event]) -> None:
    heard: list[Aside] = []
    chunks = adapters.stream(kind, ENVELOPE, Options(malformed="hide", hook=heard.append)).chunks(events)
    assert "malformed" not in last_fields(kind, chunks)
    assert heard == fold(events).malformed


@each_kind
def test_malformed_text_inside_a_call_waits_for_its_end_where_it_is_content(kind: adapters.Kind) -> None:
    start, fragment, end = call(0, "add", '{"a": ', complete=False)
    events: list[Event] = [start, fragment, Malformed("no", Why.ARGUMENTS), Malformed("pe", Why.ARGUMENTS), end]
    chunks = adapters.stream(kind, ENVELOPE, Options(malformed="content")).chunks([*events, Finish("stop", 1, None)])
    assert texts(kind, chunks) == "nope"
    at = next(at for at, chunk in enumerate(chunks) if "nope" in json.dumps(chunk))
    assert not any('{\\"a' in json.dumps(chunk) for chunk in chunks[at:] if "response" not in chunk)


@each_kind
def test_calls_never_share_an_id_whatever_the_model_wrote(kind: adapters.Kind) -> None:
    events: list[Event] = [
        *call(0, "add", "{}", id="functions.add:0"),
        *call(1, "add", "{}", id="functions.add:0"),
        *call(2, "add", "{}", id=""),
        *call(3, "add", "{}"),
        Finish("tool_calls", 4, None),
    ]
    text = b"".join(adapters.sse(kind, events, ENVELOPE)).decode()
    whole = adapters.whole(kind, events, ENVELOPE)
    match kind:
        case "chat":
            ids = [entry["id"] for entry in whole["choices"][0]["message"]["tool_calls"]]
        case "responses":
            ids = [entry["call_id"] for entry in whole["output"]]
        case "messages":
            ids = [entry["id"] for entry in whole["content"]]
    assert len(set(ids)) == 4
    prefix = "toolu_" if kind == "messages" else "call_"
    assert all(id.startswith(prefix) and len(id) == len(prefix) + 24 for id in ids)
    assert all(id in text for id in ids)


@each_kind
def test_default_ids_differ_between_responses_and_repeat_within_one(kind: adapters.Kind) -> None:
    events: list[Event] = [*call(0, "add", "{}"), Finish("tool_calls", 1, None)]
    one, again = (b"".join(adapters.sse(kind, events, ENVELOPE)) for _ in range(2))
    other = b"".join(adapters.sse(kind, events, Envelope("resp_8", "qwen", 0)))
    assert one == again
    ids = {word for word in one.decode().split('"') if word.startswith(("call_", "toolu_")) and len(word) > 20}
    assert ids
    assert not any(id in other.decode() for id in ids)


@each_kind
def test_nothing_comes_after_the_finish(kind: adapters.Kind) -> None:
    stream = adapters.stream(kind, ENVELOPE)
    stream.chunks([Finish("stop", 0, None)])
    assert stream.finished
    with pytest.raises(LifecycleError, match="finished"):
        stream.chunks([Content("more")])


@each_kind
def test_call_events_outside_of_a_call_are_the_callers_mistake(kind: adapters.Kind) -> None:
    for event in (CallArguments(0, "{", "{"), CallEnd(0, True, "")):
        with pytest.raises(LifecycleError, match="CallStart"):
            adapters.stream(kind, ENVELOPE).chunks([event])


@each_kind
def test_the_first_call_is_the_only_one_when_calls_may_not_be_parallel(kind: adapters.Kind) -> None:
    events: list[Event] = [
        *call(0, "add", '{"a":', " 1}"),
        *call(1, "mul", '{"b":', " 2}"),
        *call(2, "div", '{"c"', complete=False),
        Finish("tool_calls", 3, None),
    ]
    options = Options(parallel=False)
    chunks = adapters.stream(kind, ENVELOPE, options).chunks(events)
    withheld = last_fields(kind, chunks)["withheld_calls"]
    assert [(entry["name"], entry["arguments"], entry["complete"]) for entry in withheld] == [
        ("mul", '{"b": 2}', True),
        ("div", '{"c"', False),
    ]
    assert not any(name in json.dumps(chunks[:-2]) for name in ("mul", "div"))
    assert "add" in json.dumps(chunks[:-2])


@each_kind
@pytest.mark.parametrize(
    ("first_is_whole", "expected"),
    [(True, ("tool_calls", "completed", "tool_use")), (False, ("stop", "completed", "end_turn"))],
)
def test_a_withheld_call_is_no_reason_to_say_that_tools_are_called(
    kind: adapters.Kind, first_is_whole: bool, expected: tuple[str, str, str]
) -> None:
    first = call(0, "add", '{"a": 1}' if first_is_whole else '{"a": 1', complete=first_is_whole)
    events: list[Event] = [*first, *call(1, "mul", "{}"), Finish("tool_calls", 2, None)]
    whole = adapters.whole(kind, events, ENVELOPE, Options(parallel=False))
    said = {
        "chat": lambda: whole["choices"][0]["finish_reason"],
        "responses": lambda: whole["status"],
        "messages": lambda: whole["stop_reason"],
    }[kind]()
    assert said == expected[KINDS.index(kind)]


@each_kind
@given(events=streams())
def test_tokens_are_counted_from_the_events_where_the_caller_does_not_know_them(
    kind: adapters.Kind, events: list[Event]
) -> None:
    spent = sum(getattr(event, "tokens", None) or 0 for event in events)
    usage = adapters.whole(kind, events, Envelope("r", "m", 0, Usage(prompt_tokens=5)))["usage"]
    assert usage["completion_tokens" if kind == "chat" else "output_tokens"] == spent
    assert usage["prompt_tokens" if kind == "chat" else "input_tokens"] == 5


@each_kind
def test_the_callers_usage_may_arrive_until_the_end_and_wins(kind: adapters.Kind) -> None:
    envelope = Envelope("r", "m", 0)
    stream = adapters.stream(kind, envelope)
    chunks = stream.chunks([Content("hi", 1)])
    envelope.usage = Usage(prompt_tokens=10, cached_tokens=4, completion_tokens=7, reasoning_tokens=2)
    chunks += stream.chunks([Dropped("", Why.CONTROL, 1), Finish("stop", 0, 0)])
    match kind:
        case "chat":
            assert isinstance(stream, adapters.chat.Stream)
            assert adapters.chat.usage_chunk([stream])["usage"] == {
                "prompt_tokens": 10,
                "completion_tokens": 7,
                "total_tokens": 17,
                "completion_tokens_details": {"reasoning_tokens": 2},
                "prompt_tokens_details": {"cached_tokens": 4},
            }
        case "responses":
            assert chunks[-1]["response"]["usage"] == {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
                "output_tokens": 7,
                "output_tokens_details": {"reasoning_tokens": 2},
                "total_tokens": 17,
            }
        case "messages":
            assert chunks[-2]["usage"] == {
                "input_tokens": 6,
                "cache_read_input_tokens": 4,
                "output_tokens": 7,
                "output_tokens_details": {"thinking_tokens": 2},
            }


@each_kind
def test_text_beyond_ascii_is_sent_as_it_is_and_a_character_is_never_cut(kind: adapters.Kind) -> None:
    text = "größe 漢字 🌤\u2028"
    events: list[Event] = [Content(char) for char in text]
    data = b"".join(adapters.sse(kind, [*events, Finish("stop", 0, None)], ENVELOPE))
    for char in text.replace(" ", ""):
        assert char.encode() in data
    assert b"\\u" not in data


@each_kind
def test_a_lone_surrogate_of_somebody_elses_events_is_sent_as_the_replacement_character(kind: adapters.Kind) -> None:
    events: list[Event] = [Content("a\ud83cb"), Content("\ud83c\udf24"), Finish("stop", 0, None)]
    text = b"".join(adapters.sse(kind, events, ENVELOPE)).decode()
    assert "a\ufffdb" in text
    assert "🌤" in text


@each_kind
def test_events_without_text_cause_no_chunk(kind: adapters.Kind) -> None:
    stream = adapters.stream(kind, ENVELOPE)
    stream.chunks([CallStart(0, "call_0", "add", None, "")])
    assert stream.chunks([CallArguments(0, "", "  ")]) == []
    stream.chunks([CallArguments(0, "{}", "{}"), CallEnd(0, True, "")])
    assert (
        stream.chunks([Content(""), ReasoningStart(), Reasoning(""), ReasoningEnd(), Dropped("\n", Why.LAYOUT)]) == []
    )


def test_an_unknown_kind_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no adapter named 'completions': one of chat, responses, messages"):
        adapters.stream("completions", ENVELOPE)  # type: ignore[arg-type]


def test_an_unknown_place_for_malformed_text_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="malformed is 'drop'; it is one of auto, content, extension, hide"):
        Options(malformed="drop")  # type: ignore[arg-type]


@each_kind
@pytest.mark.parametrize("data", [b"", b"\x80\x04", b"{}", b"[]", b"1", "text", None])
def test_bytes_that_are_no_snapshot_are_refused(kind: adapters.Kind, data: Any) -> None:
    with pytest.raises(LifecycleError, match=r"expected (a|the bytes of a) snapshot"):
        type(adapters.stream(kind, ENVELOPE)).restore(data, ENVELOPE)


BUSY: list[Event] = [Content("a"), *call(0, "add", '{"a": ')[:-1], Malformed("x", Why.ARGUMENTS)]


@each_kind
def test_a_snapshot_with_any_byte_changed_is_refused(kind: adapters.Kind) -> None:
    stream = adapters.stream(kind, ENVELOPE)
    stream.chunks(BUSY)
    data = stream.snapshot()
    for at in range(0, len(data), 7):
        with pytest.raises(LifecycleError):
            type(stream).restore(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], ENVELOPE)


WRONG: list[Any] = [None, True, -1, 10**30, "x", [], [1], [["x", "y"]], {}, {"a": 1}, [{"": "Finish"}], 1.5]


@each_kind
@given(data=st.data())
def test_a_forged_snapshot_is_refused_or_goes_on_like_any_other(kind: adapters.Kind, data: st.DataObject) -> None:
    stream = adapters.stream(kind, ENVELOPE)
    stream.chunks(BUSY)
    state = json.loads(stream.snapshot().partition(b"\n")[2])
    place = data.draw(st.sampled_from(["choice", "values", "call", "queue"]))
    if place in ("values", "call") and data.draw(st.booleans()):
        inner = data.draw(st.sampled_from([*state[place], "envelope", "options", "chunks", "_fold"]))
        state[place][inner] = data.draw(st.sampled_from(WRONG))
    else:
        state[place] = data.draw(st.sampled_from(WRONG))
    forged = seal(f"adapters.{kind}.Stream", 2, state)
    try:
        moved = type(stream).restore(forged, ENVELOPE)
    except LifecycleError:
        return
    assert callable(moved.chunks)
    assert moved.envelope is ENVELOPE
    open_ = moved._call is not None and not moved._call.due  # one that waits for its outcome has ended
    ends: list[Event] = [CallEnd(0, False, "")] if open_ else []
    if not moved.finished:
        moved.chunks([*ends, Finish("stop", 1, None)])


@each_kind
@pytest.mark.parametrize(
    ("events", "told"),
    [
        ("abc", "expected the events of a feed or finish, got 'abc'"),
        (b"abc", "expected the events of a feed or finish"),
        (Content("a"), "expected the events of a feed or finish"),
        ({"a": 1}, "expected the events of a feed or finish"),
        ([[Content("a")], [Finish("stop", 0, None)]], "expected an event, got .Content.*pass what one feed or finish"),
        (["abc"], "expected an event, got 'abc'"),
        ([None], "expected an event, got None"),
    ],
)
def test_what_is_no_events_is_told_by_name(kind: adapters.Kind, events: Any, told: str) -> None:
    stream = adapters.stream(kind, ENVELOPE)
    for method in (stream.chunks, stream.frames):
        with pytest.raises(TypeError, match=told):
            method(events)


@each_kind
def test_what_is_no_envelope_or_options_is_told_with_what_is(kind: adapters.Kind) -> None:
    wrong: Any = {"parallel": False}
    with pytest.raises(TypeError, match="expected Options, got a dict"):
        adapters.stream(kind, ENVELOPE, wrong)
    with pytest.raises(TypeError, match="expected an Envelope, got a dict"):
        adapters.stream(kind, wrong)
    with pytest.raises(TypeError, match=r"tools is a list; make one with Tools\.of"):
        Options(tools=[])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="calls is 'whole'; it is one of stream, complete"):
        Options(calls="whole")  # type: ignore[arg-type]


@each_kind
def test_a_response_of_no_streams_has_no_end(kind: adapters.Kind) -> None:
    with pytest.raises(ValueError, match="the streams of all choices"):
        adapters.end(kind, [])
    with pytest.raises(ValueError, match="the streams of all choices"):
        adapters.chat.end([])
    with pytest.raises(ValueError, match="the streams of all choices"):
        adapters.chat.usage_chunk([])
