"""Recorded logs as outputs: the logs are written by hand from the engines' protocol descriptions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway_args.diagnosis import recorded
from gateway_args.tokens import vocab


def sse(*objects: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(said, ensure_ascii=False)}\n\n" for said in objects]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def completion(text: str, finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": "cmpl-1", "choices": [{"index": index, "text": text, "finish_reason": finish, **more}]}


def chat(text: str, finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": {"content": text, **more}, "finish_reason": finish}]}


def sglang(text: str, ids: list[int], finish: str | None = None) -> dict[str, Any]:
    reason = None if finish is None else {"type": finish}
    return {"text": text, "output_ids": ids, "meta_info": {"completion_tokens": len(ids), "finish_reason": reason}}


LOGS = {
    "vLLM": sse(
        completion("Hi. ", token_ids=[1, 2]), completion("Bye", "stop", token_ids=[3]), {"choices": [], "usage": {}}
    ),
    "vLLM, CR LF": sse(completion("Hi. "), completion("Bye", "stop")).replace(b"\n", b"\r\n"),
    "OpenAI chat": sse({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}, chat("Hi. "), chat("Bye", "stop")),
    "SGLang, cumulative": sse(sglang("Hi. ", [1, 2]), sglang("Hi. Bye", [1, 2, 3], "stop")),
    "llama.cpp": sse(
        {"content": "Hi. ", "stop": False, "tokens": [1]},
        {"content": "Bye", "stop": True, "stop_type": "eos"},
        done=False,
    ),
    "JSON lines": b"\n".join(json.dumps(said).encode() for said in (completion("Hi. "), completion("Bye", "stop"))),
    "a whole answer over several lines": json.dumps(completion("Hi. Bye", "stop"), indent=2).encode(),
    "a whole chat answer": json.dumps(
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi. Bye"}, "finish_reason": "stop"}]}
    ).encode(),
    "a byte order mark": b"\xef\xbb\xbf" + sse(completion("Hi. "), completion("Bye", "stop")),
    "a comment first": b": OPENROUTER PROCESSING\n\n" + sse(completion("Hi. Bye", "stop")),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_read_whichever_engine_wrote_it(name: str) -> None:
    log = recorded(LOGS[name])
    assert log is not None
    assert list(log.faults) == []
    assert [(output.choice, output.text, output.finish) for output in log.outputs] == [(0, "Hi. Bye", "stop")]


def test_choices_are_told_apart_and_so_are_responses() -> None:
    log = recorded(
        sse(
            completion("a", index=1),
            completion("b", index=0),
            completion("c", "length", index=1),
            completion("d", "stop", index=0),
            completion("e", "stop", index=0),  # the next response in one file
        )
    )
    assert log is not None
    assert [(output.choice, output.text, output.finish) for output in log.outputs] == [
        (1, "ac", "length"),
        (0, "bd", "stop"),
        (0, "e", "stop"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Hi.",
        "",
        "data: nothing but words",
        '{"name": "add", "arguments": {"a": 2}}',
        '[{"name": "add", "arguments": {}}]',
        '{"error": "no such port"}',
        '{"content": "x"}',
        "Look:\ndata: " + json.dumps(completion("x", "stop")),
        "{",
    ],
)
def test_an_output_is_no_log(text: str) -> None:
    assert recorded(text.encode()) is None


def test_a_cut_log_says_so_and_gives_what_came() -> None:
    log = recorded(sse(completion("Hi. "), done=False) + b'data: {"choices": [{"te')
    assert log is not None
    assert [(output.text, output.finish) for output in log.outputs] == [("Hi. ", None)]
    assert {str(fault.kind) for fault in log.faults} == {"cut", "no_finish"}


def test_an_engines_error_is_a_fault() -> None:
    log = recorded(sse({"error": {"message": "out of memory", "code": 500}}))
    assert log is not None
    assert [fault.message for fault in log.faults] == ["out of memory"]


def test_what_the_engines_own_parser_took_is_counted() -> None:
    call = {"index": 0, "function": {"name": "add", "arguments": "{}"}}
    log = recorded(sse(chat("", tool_calls=[call]), chat("", reasoning_content="hm"), chat("", "tool_calls")))
    assert log is not None
    assert [output.parsed for output in log.outputs] == [2]


def test_token_ids_become_the_deltas_of_the_vocabulary() -> None:
    vocabulary = vocab.load("embedded")
    text = "<tool_call>\nçé</tool_call>"
    ids = vocabulary.encode(text, allowed_special="all")
    skipped = text.replace("<tool_call>", "").replace("</tool_call>", "")
    log = recorded(sse(completion(skipped, token_ids=ids[:3]), completion("", "stop", token_ids=ids[3:])))
    assert log is not None
    output = log.outputs[0]
    assert output.has_ids
    deltas, decoder = output.decoded(vocabulary)
    assert "".join(delta.text for delta in deltas) == text
    assert [token.id for delta in deltas for token in delta.tokens] == ids
    assert decoder.unknown == 0
    assert not output.differs(vocabulary)  # the engine skipped special tokens: still the same vocabulary
    assert recorded(sse(completion("no", "stop", token_ids=ids))).outputs[0].differs(vocabulary)  # type: ignore[union-attr]
    assert not recorded(LOGS["OpenAI chat"]).outputs[0].has_ids  # type: ignore[union-attr]
