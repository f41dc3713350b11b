"""`formats.detect` against the corpora: hand-written outputs whose format is known, whole and without special
tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway_args import Tools, contract, formats, read
from gateway_args.diagnosis import hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway_args.contract import Case

# Tables of which too little is left without special tokens to tell it from another's, or from prose.
NOTHING_LEFT = {
    "apertus": "objects whose one key is the function's name",
    "beam": "a bare header, its tags are numbered",
    "glm4_0414": "a line and an object: it is read without its marker",
    "internlm": "its own JSON opener is text of several tokens",
    "plamo3": "its openers are no special tokens and stay; only a separator is one",
    "sarashina": "Python's objects in a list: read without its marker",
}


def calls_of(name: str, most: int = 3) -> Iterator[Case]:
    """The first canonical cases with calls whose function declares parameters."""
    found = 0
    for case in contract.load(name).cases:
        if case.canonical and case.expect.calls and not (case.prefill or case.start) and found < most:
            found += 1
            yield case


def tools_of(case: Case) -> Tools | None:
    return None if case.tools is None else Tools.of(list(case.tools))


SHIPPED = [name for name in formats.names() if name in contract.names()]


@pytest.mark.parametrize("name", SHIPPED)
def test_an_outputs_own_table_is_among_the_best(name: str) -> None:
    for case in calls_of(name):
        found = formats.detect(case.text, prompt=case.prompt, tools=tools_of(case))
        assert name in found.matches[0].formats, case.name
        assert found.best in found.matches[0].formats
        calls = [(call.name, call.arguments) for call in found.matches[0].reading.calls]
        assert calls == [(call.name, call.arguments) for call in case.expect.calls]


@pytest.mark.parametrize("name", SHIPPED)
def test_skipped_special_tokens_are_seen(name: str) -> None:
    fmt = formats.load(name)
    specials = sorted({*fmt.token_texts, *(marker.text for marker in fmt.turn_end)}, key=len, reverse=True)
    for case in calls_of(name):
        text = case.text
        for special in specials:
            text = text.replace(special, "")
        tools = tools_of(case)
        declared = tools is not None and any(tool.parameters.get("properties") for tool in tools)
        if text == case.text or not declared or '"anything"' in str(case.tools) or name in NOTHING_LEFT:
            continue
        found = formats.detect(text, prompt=case.prompt, tools=tools)
        still = any(match.marked and name in match.formats for match in found.matches)
        called = {call.name for call in case.expect.calls}
        assert tools is not None
        if not still and all(tool.parameters.get("properties") for tool in tools if tool.name in called):
            assert name in [table for one in found.skipped for table in one.formats], (case.name, text)


@pytest.mark.parametrize(
    ("text", "table", "missing"),
    [
        ("analysisThe user wants rain.assistantfinalNo.", "harmony", "<|channel|>"),
        ('analysisHm.assistantcommentary to=functions.f json{"a": 1}', "harmony", "<|channel|>"),
        ('Sure.functions.get_rain:0{"city": "Rome"}', "kimi_k2", "<|tool_calls_section_begin|>"),
        ('functionget_rain\n```json\n{"city": "Rome"}\n```', "deepseek_v3", "<｜tool▁calls▁begin｜>"),
        ('get_rain{"city": "Rome"}', "mistral", "[TOOL_CALLS]"),
        ('{"name": "get_rain", "arguments": {"city": "Rome"}}', "hermes", "<tool_call>"),
    ],
)
def test_the_commonest_failure_is_said_plainly(text: str, table: str, missing: str) -> None:
    found = [one for one in formats.detect(text).skipped if table in one.formats]
    assert [one.missing for one in found] == [missing]
    assert str(found[0]).startswith("special tokens were skipped: ")
    assert '"skip_special_tokens": false' in str(found[0])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello there.",
        "analysis of the data: the final answer is 3.",
        "The functions.py file calls to=x and {nothing}.",
        "final\nwords",
        "# Title\n\n- a list [1]\n- `code`\n\n<b>bold</b> & 3 < 4",
        '{"weather": "rain", "name": "Rome"}',
        "A commentary: the assistant said so.",
    ],
)
def test_prose_is_nobodys_output(text: str) -> None:
    found = formats.detect(text)
    assert found.matches == ()
    assert found.skipped == ()
    for name in ("harmony", "kimi_k2", "hermes", "deepseek_v3", "gemma4"):
        assert hint(formats.load(name), text, read(formats.load(name), [text])) is None


def test_the_prompts_turn_opener_decides_between_tables() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert "granite" not in formats.detect(text, prompt="<|im_start|>assistant\n").matches[0].formats
    best = formats.detect(text, prompt="<|im_start|>assistant\n").matches[0]
    assert "hermes" in best.formats
    assert "the prompt has its turn opener" in best.reason


def test_a_thought_that_a_table_does_not_read_ranks_it_lower() -> None:
    text = '<think>\nhm\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    found = formats.detect(text)
    assert "qwen3" in found.matches[0].formats
    later = next(match for match in found.matches if "hermes" in match.formats)
    assert "'<think>', another table's marker, stays in the content" in later.reason


def test_broken_calls_are_told_where_nothing_matches() -> None:
    found = formats.detect('<tool_call>\n{"name": "f", "arguments": {"a": 1,}}\n</tool_call>')
    assert found.matches == ()
    assert found.best is None
    assert dict(found.broken)["hermes"].startswith("malformed (arguments): ")


def test_a_wrong_format_is_hinted_at_once() -> None:
    text = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    said = hint(formats.load("kimi_k2"), text, read(formats.load("kimi_k2"), [text]))
    assert said is not None
    assert said.startswith("kimi_k2 reads no call here, qwen3_coder")


def test_a_long_hostile_text_costs_linear_time() -> None:
    for text in ("call:" + "a" * 200_000, "{" * 200_000, "functions." * 20_000, "[<" * 50_000, "\n a" * 60_000):
        assert formats.detect(text).matches == ()  # within the test's own timeout


def test_only_text_is_taken() -> None:
    with pytest.raises(TypeError, match=r"formats\.detect: expected an output's text, got b'x'"):
        formats.detect(b"x")  # type: ignore[arg-type]
