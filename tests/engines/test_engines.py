"""Readers of engines' streams: what each engine writes, cut anywhere, broken, and at its bounds.

The streams are written by hand from the engines' own protocol descriptions.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args import LifecycleError, engines
from gateway_args.engines import Fault, FaultKind, Step


def sse(*objects: Any, done: bool = True) -> bytes:
    said = [f"data: {json.dumps(value, ensure_ascii=False)}\n\n" for value in objects]
    return "".join(said + ["data: [DONE]\n\n"] * done).encode()


def text_chunk(text: str, finish: str | None = None, *, index: int = 0, **fields: Any) -> dict[str, Any]:
    choice = {"index": index, "text": text, "logprobs": None, "finish_reason": finish, **fields}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}


def chat_chunk(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, **fields}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


KEYS = (
    "choices", "text", "delta", "message", "content", "index", "finish_reason", "usage", "logprobs", "meta_info",
    "stop", "error",
)  # fmt: skip
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
VLLM = sse(
    text_chunk("Tide ", token_ids=[5, 6], prompt_token_ids=[1, 2]),
    text_chunk("é", token_ids=[7]),
    text_chunk("", "stop", token_ids=[8], stop_reason="END"),
    {**text_chunk("")} | {"choices": [], "usage": {**USAGE, "prompt_tokens_details": {"cached_tokens": 4}}},
)
VLLM_CHAT = sse(
    chat_chunk({"role": "assistant", "content": ""}),
    chat_chunk({"content": "Tide "}, logprobs={"content": [{"token": "Tide", "logprob": -0.5, "bytes": [84]}]}),
    chat_chunk({"content": "é"}),
    chat_chunk({}, "length"),
    {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": USAGE},
)


def sglang(text: str, ids: list[int], spent: int, finish: Any = None) -> dict[str, Any]:
    meta = {"id": "1", "finish_reason": finish, "prompt_tokens": 7, "completion_tokens": spent, "cached_tokens": 2}
    return {"text": text, "output_ids": ids, "meta_info": meta, "index": 0}


STOP = {"type": "stop", "matched": 151645}
SGLANG_ALL = sse(sglang("Ti", [5], 1), sglang("Tide ", [5, 6], 2), sglang("Tide é", [5, 6, 7], 3, STOP))
SGLANG_NEW = sse(sglang("Ti", [5], 1), sglang("de ", [6], 2), sglang("é", [7], 3, STOP))
LLAMA = sse(
    {"prompt_progress": {"total": 9, "cache": 0, "processed": 9, "time_ms": 3}},
    {"index": 0, "content": "Tide ", "tokens": [5, 6], "stop": False},
    {"index": 0, "content": "é", "tokens": [7], "stop": False},
    {
        "index": 0,
        "content": "",
        "tokens": [],
        "stop": True,
        "stop_type": "word",
        "stopping_word": "END",
        "tokens_predicted": 3,
        "tokens_evaluated": 7,
        "timings": {"cache_n": 2},
    },
    done=False,
)
TRITON = sse(
    {"model_name": "ensemble", "text_output": "Tide ", "cum_log_probs": 0.0},
    {"model_name": "ensemble", "text_output": "é"},
    done=False,
)
STREAMS: dict[str, tuple[bytes, Any, str | None, int | None]] = {
    "vllm": (VLLM, lambda: engines.completions("vllm"), "stop", 3),
    "vllm chat": (VLLM_CHAT, lambda: engines.chat("vllm"), "length", 3),
    "sglang cumulative": (SGLANG_ALL, lambda: engines.native("sglang"), "stop", 3),
    "sglang new text": (SGLANG_NEW, lambda: engines.native("sglang"), "stop", 3),
    "llama.cpp": (LLAMA, lambda: engines.native("llama.cpp"), "stop", 3),
    "triton": (TRITON, lambda: engines.native("trtllm"), "stop", None),
}
every_stream = pytest.mark.parametrize("name", STREAMS)


def steps(found: list[Step | Fault]) -> list[Step]:
    assert not [entry for entry in found if isinstance(entry, Fault)]
    return [entry for entry in found if isinstance(entry, Step)]


def faults(found: list[Step | Fault]) -> list[FaultKind]:
    return [entry.kind for entry in found if isinstance(entry, Fault)]


@every_stream
def test_text_finish_and_usage(name: str) -> None:
    data, make, finish, spent = STREAMS[name]
    reader = make()
    said = steps(reader.feed(data) + reader.finish())
    assert "".join(step.text for step in said) == "Tide é"
    assert [step.finish for step in said if step.finish] == [finish]
    usages = [step.usage for step in said if step.usage]
    assert [usage.completion_tokens for usage in usages] == ([] if spent is None else [spent])
    assert all(usage.prompt_tokens == 7 for usage in usages)


@every_stream
@given(data=st.data())
def test_the_steps_are_the_same_for_every_cut(name: str, data: st.DataObject) -> None:
    stream, make, *_ = STREAMS[name]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    whole, pieces = make(), make()
    expected = whole.feed(stream) + whole.finish()
    found: list[Step | Fault] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += pieces.feed(stream[start:end])
    assert found + pieces.finish() == expected


@every_stream
def test_one_byte_at_a_time_and_other_line_ends(name: str) -> None:
    stream, make, *_ = STREAMS[name]
    whole = make()
    expected = whole.feed(stream) + whole.finish()
    for text in (stream, stream.replace(b"\n", b"\r\n"), stream.replace(b"\n", b"\r"), b"\xef\xbb\xbf" + stream):
        reader = make()
        found = [entry for byte in text for entry in reader.feed(bytes([byte]))]
        assert found + reader.finish() == expected


@every_stream
def test_a_stream_cut_anywhere_before_its_finish_is_told(name: str) -> None:
    stream, make, *_ = STREAMS[name]
    last = stream.rindex(b"data: ", 0, stream.index(b"[DONE]") - 6 if b"[DONE]" in stream else None)
    for end in range(0, last, 7):
        reader = make()
        found = reader.feed(stream[:end]) + reader.finish(cut=True)
        assert FaultKind.CUT in faults(found)
        assert "Tide é".startswith("".join(step.text for step in found if isinstance(step, Step)))


@every_stream
def test_a_recorded_response_is_read_without_naming_its_engine(name: str) -> None:
    stream, make, *_ = STREAMS[name]
    whole = make()
    assert engines.read(stream) == whole.feed(stream) + whole.finish()
    lines = b"\n".join(line.removeprefix(b"data: ") for line in stream.split(b"\n\n") if b"{" in line)
    assert "".join(step.text for step in steps(engines.read(lines))) == "Tide é"


def test_token_ids_and_what_stopped() -> None:
    first, second, third, usage = steps(engines.read(VLLM))
    assert (first.tokens, second.tokens, third.tokens) == ((5, 6), (7,), (8,))
    assert (first.prompt, third.stopped_by, usage.choice) == ((1, 2), "END", None)
    assert usage.usage is not None
    assert usage.usage.cached_tokens == 4
    for stream in (SGLANG_ALL, SGLANG_NEW):
        said = steps(engines.read(stream))
        assert [step.tokens for step in said] == [(5,), (6,), (7,)]
        assert said[-1].stopped_by == 151645
    assert [step.tokens for step in steps(engines.read(LLAMA))] == [(5, 6), (7,), None]


def test_cumulative_text_without_ids_is_seen_at_the_second_event() -> None:
    def said(*texts: str) -> bytes:
        objects = [{"text": text, "meta_info": {"finish_reason": None}} for text in texts]
        objects[-1]["meta_info"] = {"finish_reason": {"type": "length", "length": 3}}
        return sse(*objects)

    assert [step.text for step in steps(engines.read(said("a", "ab", "abb")))] == ["a", "b", "b"]
    assert [step.text for step in steps(engines.read(said("a", "b", "bb")))] == ["a", "b", "bb"]
    # A stop string is cut off the last text, and what was said stays said.
    assert [step.text for step in steps(engines.read(said("a", "ab", "a")))] == ["a", "b", ""]
    reader = engines.native("sglang", cumulative=True)
    assert faults(reader.feed(said("abc", "xyz", "xyz"))) == [FaultKind.SHAPE, FaultKind.SHAPE]


def test_whole_answers() -> None:
    message = {"role": "assistant", "content": "Hi", "reasoning_content": "Hm"}
    chat = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    for text in (json.dumps(chat).encode(), json.dumps(chat, indent=2).encode()):
        (step,) = steps(engines.read(text))
        assert (step.text, step.reasoning, step.finish) == ("Hi", "Hm", "stop")
    both = [sglang("one", [1], 1, STOP), {**sglang("two", [1], 1, STOP), "index": 1}]
    assert [(step.choice, step.text) for step in steps(engines.read(json.dumps(both).encode()))] == [
        (0, "one"),
        (1, "two"),
    ]


def test_log_probabilities_come_in_chats_shape() -> None:
    listed = {"tokens": ["a", "b"], "token_logprobs": [-1.0, -2.0], "top_logprobs": [{"a": -1.0, "c": -3.0}, None]}
    (step,) = steps(engines.read(json.dumps(text_chunk("ab", "stop", logprobs=listed)).encode()))
    assert step.logprobs == (
        {
            "token": "a",
            "logprob": -1.0,
            "top_logprobs": [{"token": "a", "logprob": -1.0}, {"token": "c", "logprob": -3.0}],
        },
        {"token": "b", "logprob": -2.0, "top_logprobs": []},
    )
    one, two = sglang("a", [5], 1), sglang("ab", [5, 6], 2, STOP)
    one["meta_info"]["output_token_logprobs"] = [[-1.0, 5, "a"]]
    two["meta_info"]["output_token_logprobs"] = [[-1.0, 5, "a"], [-2.0, 6, None]]
    said = steps(engines.read(sse(one, two)))
    assert [[entry["token"] for entry in step.logprobs] for step in said] == [["a"], ["token_id:6"]]


def test_the_engines_own_parsers_are_seen() -> None:
    call = {"index": 0, "id": "1", "function": {"name": "f", "arguments": "{}"}}
    one, two = steps(
        engines.read(sse(chat_chunk({"reasoning": "Hm"}), chat_chunk({"tool_calls": [call]}, "tool_calls")))
    )
    assert (one.reasoning, two.calls, two.finish) == ("Hm", (call,), "tool_calls")


@pytest.mark.parametrize(
    ("data", "message", "status"),
    [
        (sse({"error": {"message": "out of memory", "type": "x", "code": 500}}), "out of memory", 500),
        (sse({"object": "error", "message": "too long", "code": 400}), "too long", 400),
        (b'error: {"code": 503, "message": "Loading model", "type": "unavailable_error"}\n\n', "Loading model", 503),
        (sse({"error": "Incomplete generation"}), "Incomplete generation", None),
    ],
)
def test_an_engines_error_is_told_with_its_words(data: bytes, message: str, status: int | None) -> None:
    (fault,) = engines.read(sse(text_chunk("Hi"), done=False) + data)[1:]
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.message, fault.status) == (FaultKind.ENGINE_ERROR, message, status)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"data: {oops}\n\n", FaultKind.NOT_JSON),
        (b"data: \xff\xfe\n\n", FaultKind.NOT_JSON),
        (b"data: 5\n\n", FaultKind.SHAPE),
        (b'data: {"choices": 3}\n\n', FaultKind.SHAPE),
        (b'data: {"choices": [{"index": -1, "text": ""}]}\n\n', FaultKind.SHAPE),
        (b'data: {"choices": [{"index": 0, "text": 5}]}\n\n', FaultKind.SHAPE),
    ],
)
def test_a_bad_event_is_a_fault_with_its_line_and_the_next_is_read(line: bytes, kind: FaultKind) -> None:
    reader = engines.completions("vllm")
    found = reader.feed(sse(text_chunk("a"), done=False) + line + sse(text_chunk("b", "stop"))) + reader.finish()
    first, fault, last = found
    assert isinstance(fault, Fault)
    assert isinstance(first, Step)
    assert isinstance(last, Step)
    assert (first.text, last.text) == ("a", "b")
    assert (fault.kind, fault.line) == (kind, 4 if kind is FaultKind.NOT_JSON else 3)


@pytest.mark.parametrize(
    ("engine", "body"),
    [
        ("trtllm", {"text_output": "a", "sequence_index": -1}),
        ("trtllm", {"text_output": "a", "sequence_index": True}),
        ("trtllm", {"text_output": "a", "sequence_index": 1 << 40}),
        ("sglang", {"text": "a", "meta_info": {}, "index": -1}),
        ("llama.cpp", {"content": "a", "stop": False, "index": -1}),
    ],
)
def test_no_engine_names_a_choice_that_cannot_be(engine: str, body: dict[str, Any]) -> None:
    (fault,) = engines.native(engine).feed(b"data: " + json.dumps(body).encode() + b"\n\n")
    assert isinstance(fault, Fault)
    assert (fault.kind, "expected an integer of 0 to 1023" in fault.message) == (FaultKind.SHAPE, True)


def test_data_over_several_lines_and_comments() -> None:
    document = json.dumps(text_chunk("a", "stop"), indent=1).split("\n")
    stream = ": ping\nevent: x\nid: 1\n" + "".join(f"data: {line}\n" for line in document) + "\n"
    reader = engines.completions()
    assert [step.text for step in steps(reader.feed(stream.encode()) + reader.finish())] == ["a"]


def test_lines_are_bounded_and_held_no_further() -> None:
    reader = engines.completions(max_line=1000)
    assert faults(reader.feed(b"data: " + b"x" * 995)) == [FaultKind.LINE_TOO_LONG]
    for _ in range(100):
        assert reader.feed(b"x" * 1000) == []
    assert sum(map(len, reader._events._held)) == 0
    found = reader.feed(b"\n\n" + sse(text_chunk("b", "stop"))) + reader.finish()
    assert [step.text for step in steps(found)] == ["b"]
    reader = engines.completions(max_line=1000)
    found = [entry for _ in range(100) for entry in reader.feed(b"data: {\n")]
    assert FaultKind.LINE_TOO_LONG not in faults(found)
    found = [entry for _ in range(2000) for entry in reader.feed(b"data: {\n")]
    assert FaultKind.LINE_TOO_LONG in faults(found)


def test_a_missing_finish_reason_is_a_fault_and_a_cut_is_one() -> None:
    assert faults(engines.read(sse(text_chunk("a")))) == [FaultKind.NO_FINISH]
    assert faults(engines.read(b"")) == [FaultKind.NO_FINISH]
    two = sse(text_chunk("a", "stop"), text_chunk("b", index=1))
    assert faults(engines.read(two)) == [FaultKind.NO_FINISH]
    reader = engines.native("trtllm")
    assert faults(reader.feed(TRITON) + reader.finish(cut=True)) == [FaultKind.CUT]


def test_deep_json_and_lone_surrogates_are_no_exceptions() -> None:
    deep = b"data: " + b"[" * 100_000 + b"\n\n"
    assert faults(engines.read(deep))[0] == FaultKind.NOT_JSON
    lone = b'data: {"choices": [{"index": 0, "text": "\\ud83d", "finish_reason": "stop"}]}\n\n'
    assert [step.text for step in steps(engines.read(lone))] == ["\ud83d"]


@given(st.lists(st.sampled_from([b"data: ", b"{", b"}", b'"text"', b":", b"[", b"]", b"\n", b"\r", b"1", b"null"])))
def test_no_bytes_are_an_exception(pieces: list[bytes]) -> None:
    for reader in (engines.completions(), engines.chat("vllm"), engines.native("sglang"), engines.native("llama.cpp")):
        for piece in pieces:
            reader.feed(piece)
        assert reader.finish()
    engines.read(b"".join(pieces))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.sampled_from(["", "text", "stop"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(KEYS),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_is_an_exception(value: Any) -> None:
    data = sse(value)
    engines.read(data)
    for engine in engines.ENGINES:
        for endpoint in engines.ENGINES[engine]:
            engines.read(data, engine, endpoint)  # type: ignore[arg-type]


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match="no engine of kind 'tgi': one of vllm, sglang"):
        engines.completions("tgi")
    with pytest.raises(ValueError, match="vllm has no endpoint 'native'; it has completions, chat"):
        engines.native("vllm")
    reader = engines.completions()
    reader.finish()
    with pytest.raises(LifecycleError):
        reader.feed(b"")


@pytest.mark.parametrize("data", [b'data: {"choices": \n', b'data: {"choices": [{"index": 0,\n'])
def test_a_stream_that_ends_inside_an_event_is_cut(data: bytes) -> None:
    reader = engines.completions("vllm")
    found = [*reader.feed(data), *reader.finish()]
    assert engines.FaultKind.CUT in [item.kind for item in found if isinstance(item, engines.Fault)]
