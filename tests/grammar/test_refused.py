"""What is no output of a template, by one character or one marker, no grammar allows."""

from __future__ import annotations

import pytest
import refused
import test_canonical
import walks

from gateway_args import Format, Tools, formats, grammar


def is_another_way(format: Format, broken: refused.Refused) -> bool:
    """Whether a part was taken out that the table has a way without, with the same reading."""
    if not broken.whole:
        return False
    readings = [
        walks.reading_of(format, broken.tools, walks.Walk(text, []), start=None, by_id=False)
        for text in (broken.text, broken.whole)
    ]
    calls = [[(call.name, call.arguments, call.complete) for call in reading.calls] for reading in readings]
    content = [reading.content for reading in readings]
    return calls[0] == calls[1] and content[0] == content[1] and not readings[0].malformed


@pytest.mark.every_table
@pytest.mark.parametrize("name", test_canonical.NAMES)
def test_broken_markup_is_refused(name: str, request: pytest.FixtureRequest) -> None:
    format = formats.load(name)
    made: dict[tuple[Tools, str], str] = {}
    tried = 0
    for broken in refused.texts(format, 12 if request.config.getoption("--full") else 4):
        key = broken.tools, broken.choice
        if key not in made:
            made[key] = grammar.lark(format, broken.tools, choice=broken.choice, reasoning="optional").text
        tried += 1
        if walks.allows(made[key], broken.text) and not is_another_way(format, broken):
            pytest.fail(f"{broken.why}: {broken.text!r}")
    assert tried >= 3
