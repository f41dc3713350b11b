"""`explain`: places counted by hand, and the policies held to `docs/policies.md`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway_args import Parser, Tools, Why, contract, formats
from gateway_args.diagnosis import Break, explain, policies

PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")


def breaks(
    name: str, text: str, finish: str = "stop", tools: Tools | None = None, undeclared: str = "call"
) -> list[Break]:
    fmt = formats.load(name)
    parser = Parser(fmt, tools, undeclared=undeclared)
    return explain(fmt, [*parser.feed(text), *parser.finish(finish)])


def call(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize(
    ("arguments", "at", "expected"),
    [
        ('{"a": tru}', "}}", '"e"'),
        ('{"a" 1}', "1}", '":"'),
        ('{"a": 1 "b": 2}', '"b"', '"}" or ","'),
        ("{'a': 1}", "'a'", '"}" or a key in double quotes'),
        ('{"a": nope}', "ope", '"u"'),
        ('{"a": 1,}', "}}", "a key in double quotes"),
        ('{"a": "\\x"}', 'x"', 'an escape or "u"'),
        ('{"a": [1, 2}', "}}", 'a digit, "]", ",", "." or "e"'),
        ('{"a": 01}', "1}", '"}", ",", "." or "e"'),
        ('{"a": +1}', "+", "a value"),
    ],
)
def test_the_place_is_the_first_character_that_no_value_continues(arguments: str, at: str, expected: str) -> None:
    text = f"Hi.\n{call(arguments)}"
    (found,) = breaks("hermes", text)
    assert text[found.offset :].startswith(at), text[found.offset :]
    assert sorted(re.split(", | or ", found.expected)) == sorted(re.split(", | or ", expected))
    assert found.policy.number == 15


@pytest.mark.parametrize(
    ("name", "text", "finish", "at", "policy"),
    [
        ("hermes", call('{"a": "x')[:-14], "length", "", 8),
        ("hermes", '<tool_call>\n{"na', "length", "<tool_call>", 11),
        ("hermes", "<tool_call>oops</tool_call>", "stop", "<tool_call>", 11),
        ("hermes", 'Hi <tool_call>\n{"nam": "f"}\n</tool_call>', "stop", "<tool_call>", 11),
        ("hermes", call("{}").replace("\n</", "x\n</"), "stop", "x\n</", 10),
    ],
)
def test_each_kind_of_break_names_its_place_and_its_policy(
    name: str, text: str, finish: str, at: str, policy: int
) -> None:
    found = breaks(name, text, finish)
    assert [one.policy.number for one in found] == [policy]
    assert text[found[0].offset :].startswith(at)
    assert at or found[0].offset == len(text)


def test_functions_that_are_refused_and_second_names_are_told() -> None:
    tools = Tools.of([{"type": "function", "function": {"name": "g", "parameters": {}}}])
    (found,) = breaks("hermes", call("{}"), tools=tools, undeclared="malformed")
    assert found.policy.number == 12
    (found,) = breaks("hermes", '<tool_call>\n{"name": "f", "arguments": {}, "name": "g"}\n</tool_call>')
    assert found.policy.number == 7


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "kimi_k2", "harmony", "gemma4", "pythonic"])
def test_every_break_of_the_corpora_is_explained_where_it_begins(name: str) -> None:
    """The corpora say, by hand, which texts are malformed: each is explained, and sound outputs are not."""
    for case in contract.load(name).cases:
        fmt = formats.load(name)
        tools = None if case.tools is None else Tools.of(list(case.tools))
        parser = Parser(
            fmt, tools, prompt=case.prompt, prefill=case.prefill, start=case.start, undeclared=case.undeclared,
            limits=case.limits,
        )  # fmt: skip
        text = contract.corpus.normalise(case.text)
        found = explain(fmt, [*parser.feed(case.text), *parser.finish(case.finish)])
        places = [one.offset for one in found]
        assert places == sorted(places)
        for malformed, _ in case.expect.malformed:
            assert any(text.startswith(malformed, at) or malformed in text[at:] for at in places), case.name
        if case.canonical:
            assert found == [], case.name
        for one in found:
            line, column = one.position(text)
            lines = text.split("\n")
            assert sum(len(row) + 1 for row in lines[: line - 1]) + column - 1 == one.offset
            shown, caret = one.shown(text)
            assert "\n" not in shown
            assert caret.index("^") <= len(shown)


def test_the_caret_stands_under_the_place_in_a_long_line_with_control_characters() -> None:
    text = call('{"a": "' + "x" * 500 + '\t\x00", "b": !}')
    (found,) = breaks("hermes", text)
    shown, caret = found.shown(text)
    assert shown[len(caret) - 1] == "!"
    assert shown.startswith("…")
    assert "\\t\\x00" in shown
    assert len(shown) < 100


def test_every_reason_has_a_policy_that_the_page_holds() -> None:
    malformed = {Why.ARGUMENTS, Why.UNTERMINATED, Why.STRAY, Why.DUPLICATE, Why.UNDECLARED, Why.SHAPE, Why.LIMIT}
    assert set(policies.BY_WHY) == malformed
    for policy in (*policies.BY_WHY.values(), policies.OPENER, policies.INCOMPLETE):
        assert re.search(rf"^{policy.number}\. \*\*{re.escape(policy.title)}\.?\*\*", PAGE, re.MULTILINE), policy.title
    for policy, words in (
        (policies.STRICT, "There are no\n    other repairs"),
        (policies.STRAY, "Text where only layout may stand is `Malformed(stray)`"),
        (policies.UNTERMINATED, "`unterminated` when\n    the output ended first"),
        (policies.OPENER, "unconfirmed, it is text of"),
        (policies.INCOMPLETE, "Nothing is closed on the model's behalf"),
        (policies.DUPLICATE, "A second name or arguments key is `Malformed(duplicate)`"),
        (policies.UNDECLARED, '`undeclared="malformed"` makes them malformed'),
        (policies.DEPTH, "Deeper than `max_depth` is `Malformed(limit)`"),
    ):
        part = re.search(rf"^{policy.number}\. .*?(?=^\d+\. |^## )", PAGE, re.MULTILINE | re.DOTALL)
        assert part is not None
        assert " ".join(words.split()) in " ".join(part[0].split()), policy
