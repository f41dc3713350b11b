"""Reading a corpus: its texts, its tools, its defaults, and one clear error for each mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway_args import contract
from gateway_args.contract import Case, CorpusError, Expected, ExpectedCall, Piece

HEAD = 'format = "hermes"\n'
DOCS = Path(__file__).parents[2] / "docs" / "contract.md"


def one(text: str) -> Case:
    (case,) = contract.parse(HEAD + text).cases
    return case


def row(rest: str = "", *, output: str = '""', kinds: str = '["plain"]') -> str:
    return f'[[case]]\nname = "A case"\nkinds = {kinds}\noutput = {output}\n{rest}\n'


def test_the_corpus_in_the_docs_reads_as_they_say() -> None:
    example = re.search(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    corpus = contract.parse(example[1])
    assert corpus.format == "hermes"
    whole, cut = corpus.cases
    assert whole.canonical
    assert whole.expect.calls == (ExpectedCall("lookup_tide", '{"port": "Kiel"}'),)
    assert whole.expect.finish == "tool_calls"
    assert whole.tool_names == {"lookup_tide", "list_jobs"}
    assert cut.text.startswith("Let me see.\n<tool_call>\n{")
    assert cut.expect == Expected(
        content="Let me see.", calls=(ExpectedCall("lookup_tide", '{"port": "Ki', complete=False),), finish="length"
    )


def test_what_is_left_out_is_empty() -> None:
    case = one(row())
    assert case.expect == Expected()
    assert case.tools is None
    assert (case.prompt, case.start, case.finish, case.undeclared) == ("", None, "stop", "call")


def test_a_text_may_be_parts_with_repeats_units_and_quotes() -> None:
    case = one(row(output='["a", { text = "bc", times = 3 }, { units = [0xD83D] }, { quote = "</x>" }]'))
    assert case.text == "abcbcbc\ud83d</x>"
    assert case.output[-1] == Piece("</x>", quoted=True)
    assert contract.normalise(case.text) == "abcbcbc\ufffd</x>"


def test_surrogate_halves_in_two_parts_are_one_character() -> None:
    case = one(row(output="[{ units = [0xD83D] }, { units = [0xDE00] }]"))
    assert contract.normalise(case.text) == "😀"


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ('tools = ["a"]', {"a"}),
        ("tools = []", set()),
        ('tools = "unknown"', None),
        ("", {"a", "b"}),
        ("tools = { c = {} }", {"c"}),
        ('tools = [{ name = "d", parameters = { type = "object" } }]', {"d"}),
        ('tools = \'[{"type": "function", "function": {"name": "e", "parameters": {"enum": [null]}}}]\'', {"e"}),
    ],
)
def test_a_case_overrides_the_shared_tools(written: str, names: set[str] | None) -> None:
    corpus = contract.parse(HEAD + "[tools.a]\n[tools.b]\n" + row(written))
    assert corpus.cases[0].tool_names == names


def test_a_schema_is_kept_as_written() -> None:
    corpus = contract.parse(HEAD + '[tools.a]\nproperties.port.type = "string"\n' + row())
    assert corpus.cases[0].tools == (
        {
            "type": "function",
            "function": {"name": "a", "parameters": {"type": "object", "properties": {"port": {"type": "string"}}}},
        },
    )


@pytest.mark.parametrize(
    ("finish", "complete", "reason"),
    [
        ("stop", True, "tool_calls"),
        ("eos", True, "tool_calls"),
        ("stop", False, "stop"),
        ("length", True, "length"),
        ("abort", True, "cancelled"),
    ],
)
def test_the_finish_reason_follows_the_policy_unless_given(finish: str, complete: bool, reason: str) -> None:
    call = f"expect.calls = [{{ name = 'a', arguments = '{{}}', complete = {str(complete).lower()} }}]"
    assert one(row(f'finish = "{finish}"\n{call}')).expect.finish == reason
    assert one(row(f'finish = "{finish}"\n{call}\nexpect.finish = "x"')).expect.finish == "x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format = ", "corpus: "),
        ("", "format: missing"),
        ("format = 1", "format: a string is wanted, not int"),
        (HEAD, "case: missing; write at least one [[case]]"),
        (HEAD + row("expect.malformed = [{ text = 'a', why = 'zz' }]"), "no why 'zz'; there are marker, layout"),
        (HEAD + row("expect.calls = [{ name = 'a', arguments = { a = 1 } }]"), "a string or a list of parts is wanted"),
        (HEAD + "[no_kind]\nplan = 'x'", "no_kind.plan: no kind 'plan' (did you mean 'plain'?)"),
        (HEAD + "[no_kind]\nplain = ''", "no_kind.plain: say why"),
        (HEAD + "[no_kind]\nplain = 'x'\n" + row(), "no_kind.plain: the corpus has a case of this kind"),
        (HEAD + "[cases]", "no key 'cases' (did you mean 'case'?)"),
        (HEAD + row("outptu = 1"), "case 1 (A case): no key 'outptu' (did you mean 'output'?)"),
        (HEAD + row(kinds="[]"), "case 1 (A case): kinds: a case has at least one kind"),
        (HEAD + row(kinds='["paralel"]'), "kinds: no kind 'paralel' (did you mean 'parallel'?)"),
        (HEAD + row() + row(), "case 'A case': two cases have this name"),
        (HEAD + row(output="[{ text = 'a' }]"), "output[0]: a part is a string"),
        (HEAD + row(output="[{ units = [70000] }]"), "output[0]: a part is a string"),
        (HEAD + row(output="[{ text = 'a', times = 0 }]"), "output[0]: a part is a string"),
        (HEAD + row("canonical = 1"), "canonical: true or false is wanted"),
        (HEAD + row("undeclared = 'drop'"), "undeclared: no way 'drop'"),
        (HEAD + row("limits = { max_dept = 1 }"), "limits: no key 'max_dept' (did you mean 'max_depth'?)"),
        (HEAD + row("limits = { max_depth = 0 }"), "limits: Limits.max_depth: 0"),
        (HEAD + row("expect.calls = [{ name = 'a' }]"), "expect.calls[0].arguments: missing"),
        (HEAD + row("expect.calls = [{ name = 'a', args = '' }]"), "expect.calls[0]: no key 'args'"),
        (HEAD + row("expect.malformed = [{ text = 'a', why = 'stary' }]"), "why 'stary' (did you mean 'stray'?)"),
        (HEAD + row("canonical = true\nexpect.malformed = [{ text = 'a', why = 'stray' }]"), "nothing malformed"),
        (HEAD + "[tools.ab]\n" + row("tools = ['a']"), "tools[0]: no shared tool 'a'"),
        (HEAD + row("tools = '['"), "tools: 'unknown' or JSON text is wanted"),
        (HEAD + row("tools = 3"), "tools: a list is wanted"),
    ],
)
def test_a_mistake_is_one_error_with_its_place(text: str, said: str) -> None:
    with pytest.raises(CorpusError) as error:
        contract.parse(text)
    assert said in str(error.value)
    assert str(error.value).startswith("corpus: ")


def test_a_file_that_is_missing_or_no_text_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read"):
        contract.read(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b'format = "\xff"')
    with pytest.raises(CorpusError, match="byte 10 is not UTF-8"):
        contract.read(tmp_path / "bytes.toml")
    with pytest.raises(CorpusError, match=r"no corpus for the format 'hermse' \(did you mean 'hermes'\?\)"):
        contract.load("hermse")
