"""What stands at the edge of a value: a closer too many, white space inside quotes, the last character that is held."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway_args import Limits, Tools, formats, read

INTEGER = Tools.of(
    [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}}]
)


@pytest.mark.parametrize(
    ("name", "head"), [("mistral_v3", "[TOOL_CALLS] "), ("xlam", ""), ("nemotron_deci", "<TOOLCALL>")]
)
def test_one_brace_too_many_in_a_list_is_stray_and_the_next_call_is_read(name: str, head: str) -> None:
    text = head + '[{"name": "f", "arguments": {}}}, {"name": "g", "arguments": {}}]'
    for pieces in ([text], list(text)):
        reading = read(formats.load(name), pieces)
        assert [(call.name, call.complete) for call in reading.calls] == [("f", True), ("g", True)]
        assert [(aside.text, aside.why) for aside in reading.malformed] == [("}", "stray")]


def test_white_space_inside_quotes_is_the_values_though_the_template_writes_some_around_values(tmp_path: Path) -> None:
    table = (Path(__file__).parents[2] / "formats" / "minicpm5.toml").read_text(encoding="utf-8")
    assert 'syntax = "tagged"\n' in table
    path = tmp_path / "quoting.toml"
    path.write_text(table.replace('syntax = "tagged"\n', 'syntax = "tagged"\naround = "\\n"\n'), encoding="utf-8")
    text = '<function name="f"><param name="a"><![CDATA[\nx\n]]></param><param name="b">\ny\n</param></function>'
    for pieces in ([text], list(text)):
        assert read(formats.read(path), pieces).calls[0].arguments == '{"a": "\\nx\\n", "b": "y"}'


@pytest.mark.parametrize("size", [1, 4, 9])
def test_a_typed_value_is_held_to_its_last_character_and_no_further(size: int) -> None:
    for digits, complete in (("1" * size, True), ("1" * (size + 1), False)):
        text = f"<tool_call>\n<function=f>\n<parameter=n>\n{digits}\n</parameter>\n</function>\n</tool_call>"
        for pieces in ([text], list(text)):
            reading = read(formats.load("qwen3_coder"), pieces, INTEGER, limits=Limits(max_held=size))
            assert [call.complete for call in reading.calls] == [complete]
            assert [aside.why for aside in reading.malformed] == ([] if complete else ["limit"])
