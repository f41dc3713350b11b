"""The end of a turn ends whatever stands open, in every table: a section, and that a call came just before."""

from __future__ import annotations

import pytest
from parser_harness import check

from gateway_args import Format, contract, formats


def _one_call(format: Format) -> str | None:
    """The shortest canonical output of one call that ends with its section's closer, without that closer."""
    closers = [
        format.markers[name].text
        for state in format.states.values()
        if state.kind == "wrapper"
        for name, target in state.on.items()
        if format.states[target].kind == "content"
    ]
    found = [
        case.text[: -len(closer)]
        for case in contract.corpus.load(format.name).cases
        for closer in closers
        if case.canonical and len(case.expect.calls) == 1 and case.text.endswith(closer)
        if not (case.prompt or case.prefill or case.start)
    ]
    return min(found, key=len, default=None)


SECTIONS = {
    name: text
    for name in formats.names()
    if (format := formats.load(name)).turn_end and (text := _one_call(format)) is not None
}


@pytest.mark.parametrize("name", SECTIONS)
def test_text_behind_the_end_of_a_turn_is_content_though_a_section_stood_open(name: str) -> None:
    format = formats.load(name)
    reading = check(format, SECTIONS[name].rstrip() + format.turn_end[0].text + "Hi.")
    assert reading.content == "Hi."
    assert [call.complete for call in reading.calls] == [True]
    assert not reading.malformed


@pytest.mark.parametrize("name", ["hermes", "qwen3", "kimi_k2", "mistral_v3", "glm45"])
def test_a_lone_closer_behind_the_end_of_a_turn_is_text(name: str) -> None:
    format = formats.load(name)
    case = next(
        case for case in contract.corpus.load(name).cases if case.canonical and case.expect.calls and not case.prompt
    )
    closers = [marker.text for marker in format.closers]
    end = format.turn_end[0].text
    text = case.text if case.text.endswith(end) else case.text + end
    for closer in closers:
        reading = check(format, text + closer)
        assert reading.content == case.expect.content + closer
        assert not reading.malformed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qwen3_coder", "<tool_call>\n<function=f>\n"),
        ("minimax_m2", '<minimax:tool_call>\n<invoke name="f">\n'),
        ("deepseek_v3_2", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n'),
        ("seed_oss", "<seed:tool_call>\n<function=f>\n"),
    ],
)
@pytest.mark.parametrize("ended", [False, True], ids=["stop", "end of turn"])
def test_a_call_that_ends_behind_its_name_is_not_complete(name: str, text: str, ended: bool) -> None:
    format = formats.load(name)
    reading = check(format, text + (format.turn_end[0].text if ended else ""))
    assert [(call.arguments, call.complete) for call in reading.calls] == ([("", False)] if ended else [])
