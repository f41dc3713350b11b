"""Outputs of vendors' templates, recorded with real token ids: fed as tokens they say what was meant."""

from __future__ import annotations

import json

import pytest
from parser_harness import events_of

from gateway_args import Parser, Tools, fold, formats
from gateway_args.tokens.detokenizer import Delta, Token

TABLES = {
    "qwen3-8b": "qwen3",
    "qwen3-coder-30b-a3b-instruct": "qwen3_coder",
    "deepseek-v3.1": "deepseek_v3_1",
    "deepseek-v4.1-flash": "deepseek_v4_1",
    "glm-4.6": "glm45",
    "minimax-m2": "minimax_m2",
    "minimax-m3": "minimax_m3",
    "llama-xlam-2-8b-fc-r": "xlam",
    "olmo-3-7b-instruct": "olmo3",
    "phi-4-mini-instruct": "phi4_mini",
    "kimi-k3": "kimi_k3",
    "lfm2.5-1.2b-instruct": "lfm2",
    "gemma-4-e4b-it": "gemma4",
    "ling-3.0-flash": "ling3",
    "hy4-preview": "hunyuan_v4",
    "seed-oss-36b-instruct": "seed_oss",
}


def recorded(cases, group):
    rows = map(json.loads, (cases / "recorded.jsonl").read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["group"] == group]


def options(row):
    said = row["expected"]
    thought = (said.get("reasoning_content") or "").strip()
    text = row["output_text"]
    inside = (thought and text.lstrip().startswith(thought[:12])) or text.startswith(("</", "<|close|>think"))
    tools = None if row.get("tools") is None else Tools.of(row["tools"])
    return {"tools": tools, "start": "reasoning" if inside else None}


@pytest.mark.parametrize("group", TABLES)
def test_recorded_ids_say_what_the_template_was_given(cases, group):
    format = formats.load(TABLES[group])
    for row in recorded(cases, group):
        pieces, ids = row["output_pieces"], row["token_ids"]
        if not pieces or len(pieces) != len(ids):
            continue
        markers = {text: id for text, id in zip(pieces, ids, strict=True) if text in format.token_texts}
        deltas = [Delta(text, (Token(id, 0, len(text)),)) for text, id in zip(pieces, ids, strict=True)]
        events = events_of(format, deltas, markers=markers, **options(row))
        case = f"{group}/{row['case']}"
        assert sum(getattr(event, "tokens", None) or 0 for event in events) == len(ids), case
        if "marker" in row["case"]:  # a quoted marker with the real marker's id: docs/policies.md, ambiguous cases
            continue
        reading = fold(events)
        said = row["expected"]
        assert reading.content == (said.get("content") or ""), case
        assert reading.reasoning == (said.get("reasoning_content") or ""), case
        calls = [(call.name, json.loads(call.arguments), call.complete) for call in reading.calls]
        wanted = [(call["name"], json.loads(call["arguments"]), True) for call in said.get("tool_calls") or []]
        assert calls == wanted, case
        assert not reading.malformed, case


def test_ids_tell_a_quoted_marker_from_a_real_one():
    text = "Write <tool_call> to open one."
    at = text.index("<tool_call>")
    spelled = Delta(text, tuple(Token(1000 + n, n, n + 1) for n in range(len(text))))
    reading = fold(events_of("hermes", [spelled], markers={"<tool_call>": 7}))
    assert reading.content == text
    parser = Parser(formats.load("hermes"), markers={"<tool_call>": 7})
    marker = Delta("<tool_call>", (Token(7, 0, 11),))
    said = parser.feed(Delta(text[:at], (Token(1, 0, at),))) + parser.feed(marker)
    assert fold(said).content == "Write"  # the opener, and the space before it, wait
