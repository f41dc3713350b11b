"""Learning from chat templates: ours are learned and proved, a wrong table is not, a hostile template is bounded."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import cache

import pytest

pytest.importorskip("jinja2", reason="the extra `learn` is not installed")

from typing import TYPE_CHECKING

from hand_rendered import ARGUMENTS, TEMPLATES, reading, rendered

from gateway_args import FormatError, contract, formats
from gateway_args.learning import Bounds, Learned, Options, Unreadable, check

if TYPE_CHECKING:
    from pathlib import Path

NAMES = sorted(path.stem for path in TEMPLATES.glob("*.jinja"))
QUICK = (
    "object",
    "object_text",
    "list",
    "fenced",
    "header_id",
    "channels",
    "tags",
    "tags_pairs",
    "python_list",
    "blocks",
)


@cache
def learned(name: str, conversations: int = 60) -> Learned:
    options = Options(name, f"fixtures/templates/{name}.jinja", conversations=conversations)
    return formats.learn(source(name), special_tokens={"eos_token": "</s>"}, options=options)


def source(name: str) -> str:
    return (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")


def test_there_are_templates_in_the_styles_of_all_syntaxes() -> None:
    assert len(NAMES) >= 25
    assert set(QUICK) <= set(NAMES)


@pytest.mark.parametrize("name", QUICK)
def test_a_template_is_learned_and_proved(name: str) -> None:
    result = learned(name)
    assert result.proved, result.report
    assert result.proof.conversations == 60
    assert result.proof.calls > 40


@pytest.mark.full
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_proved_with_two_hundred_conversations(name: str) -> None:
    result = learned(name, 200)
    assert result.proved, result.report
    assert result.proof.conversations == 200


@pytest.mark.parametrize("name", QUICK)
def test_a_learned_table_reads_what_jinja_renders(name: str) -> None:
    """The conversation is written by hand and rendered here, the table is read from its TOML."""
    result = learned(name)
    assert result.format is not None
    user = {"role": "user", "content": "A berth, please."}
    call = {"id": "abcdefgh9", "type": "function", "function": {"name": "book_berth", "arguments": ARGUMENTS}}
    if name == "header_id":
        call["id"] = "functions.book_berth:0"
    assistant = {"role": "assistant", "content": "", "tool_calls": [call]}
    prompt = rendered(source(name), [user], True)
    whole = rendered(source(name), [user, assistant], False)
    assert whole.startswith(prompt)
    assert reading(result.format, whole[len(prompt) :], prompt) == ("", [("book_berth", ARGUMENTS, True)], [])


@pytest.mark.parametrize("name", ["object", "tags", "channels"])
def test_a_learned_table_is_toml_and_its_corpus_holds_the_contract(name: str, tmp_path: Path) -> None:
    result = learned(name)
    table, corpus = tmp_path / f"{name}.toml", tmp_path / f"{name}_corpus.toml"
    table.write_text(result.table, encoding="utf-8")
    corpus.write_text(result.corpus, encoding="utf-8")
    assert formats.read(table).digest == formats.read(table).digest
    report = contract.check(str(table), str(corpus), contract.QUICK)
    assert report.ok, str(report)
    assert len(contract.read(corpus).cases) >= 8


def test_a_table_with_a_planted_fault_is_refused_with_a_counterexample(tmp_path: Path) -> None:
    for wrong, right in ((', after = "\\n\\n"', ""), ('arguments = ["arguments"]', 'arguments = ["args"]')):
        text = learned("object").table
        assert wrong in text
        (tmp_path / "planted.toml").write_text(text.replace(wrong, right), encoding="utf-8")
        planted = formats.read(tmp_path / "planted.toml")
        result = check(planted, source("object"), options=Options("planted", conversations=40))
        assert not result.proved
        assert result.proof.counterexample is not None
        assert "first counterexample" in result.report


def test_a_template_that_loses_text_is_not_proved() -> None:
    """It drops a letter: what is read would render to the same text, but it is not what was said."""
    lossy = source("object").replace("(f.arguments | tojson)", "(f.arguments | tojson | replace('e', ''))")
    result = formats.learn(lossy, options=Options("lossy", conversations=40))
    assert not result.proved
    assert "not proved" in result.report


def test_a_template_without_calls_says_so() -> None:
    plain = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    result = formats.learn(plain)
    assert not result.proved
    assert "writes no calls" in result.problem
    assert result.format is None


def test_a_report_says_what_the_template_cannot_write() -> None:
    report = learned("bare", 40).report
    assert "turns that it does not write" in report
    assert "2 calls" in report


def test_a_report_compares_with_our_own_tables() -> None:
    hermes = source("object").replace("<call>", "<tool_call>").replace("</call>", "</tool_call>")
    hermes = hermes.replace("<mind>", "<think>").replace("</mind>", "</think>")
    result = formats.learn(hermes, options=Options("twin", conversations=40))
    assert result.proved
    assert any("qwen3" in line for line in result.like)


HOSTILE = {
    "endless loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "a huge text": "{{ 'a' * 9999999999 }}",
    "endless output": "{% for a in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
    "recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "dunder attributes": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "an include": "{% include '/etc/passwd' %}",
    "a huge number": "{{ 2 ** 99999999999 }}",
    "deep nesting": "{{ " + "(" * 3000 + ")" * 3000 + " }}",
    "no template": "{% if %}",
    "a namespace with a dunder": "{% set ns = namespace() %}{% set ns.__class__ = 1 %}{{ ns }}",
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_template_costs_bounded_time(hostile: str) -> None:
    bounds = Bounds(rendering=1.0, total=6.0)
    started = time.monotonic()
    with pytest.raises(Unreadable):
        formats.learn(hostile, options=Options(bounds=bounds))
    assert time.monotonic() - started < 30


def test_a_template_that_is_hostile_only_to_calls_is_not_proved() -> None:
    trap = "{% for m in messages %}{% if m.tool_calls %}{{ 'a' * 9999999999 }}{% endif %}{{ m.content }}{% endfor %}"
    result = formats.learn(trap, options=Options(bounds=Bounds(rendering=1.0, total=10.0)))
    assert not result.proved


def test_a_template_writes_no_files_and_reads_none(tmp_path: Path) -> None:
    target = tmp_path / "written"
    template = "{% set f = cycler.__init__.__globals__ %}{{ f.os.popen('touch " + str(target) + "') }}"
    with pytest.raises(Unreadable, match=r"cycler|unsafe|undefined"):
        formats.learn(template)
    assert not target.exists()


def test_generation_tags_and_loop_controls_render_as_in_transformers() -> None:
    wrapped = source("object").replace("{%- if m.content %}", "{% generation %}{%- if m.content %}")
    wrapped = wrapped.replace(
        "{{- '<|end|>\\n' }}\n{%- endif %}\n{%- endfor %}",
        "{% endgeneration %}{{- '<|end|>\\n' }}\n{%- endif %}\n{%- endfor %}",
    )
    assert "{% endgeneration %}" in wrapped
    assert formats.learn(wrapped, options=Options("wrapped", conversations=30)).proved


def test_a_marker_is_one_token_only_where_the_vocabulary_says_so() -> None:
    options = Options("tokens", single_tokens=("<call>", "<|end|>"), conversations=30)
    result = formats.learn(source("object"), options=options)
    assert result.format is not None
    assert {marker.text for marker in result.format.markers.values() if marker.token} == {"<call>"}
    assert [marker.token for marker in result.format.turn_end] == [True]


def test_a_token_inside_a_longer_text_is_a_marker_of_its_own() -> None:
    """A stream with token ids may spell the header's separator by its id."""
    options = Options("tokens", single_tokens=("<｜job▁begin｜>", "<｜job▁sep｜>"), conversations=30)
    result = formats.learn(source("fenced"), options=options)
    assert result.proved
    assert result.format is not None
    assert "<｜job▁sep｜>" in {marker.text for marker in result.format.markers.values() if marker.token}


def test_the_core_imports_no_jinja() -> None:
    modules = "gateway_args, gateway_args.formats, gateway_args.learning, gateway_args.cli"
    code = f"import sys, {modules}; print('jinja2' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


def test_a_long_text_is_no_template() -> None:
    with pytest.raises(Unreadable, match="the most"):
        formats.learn("a" * (1 << 21))
    assert issubclass(Unreadable, ValueError)
    assert not issubclass(Unreadable, FormatError)
