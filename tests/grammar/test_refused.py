"""What is no output of a template, by one character or one marker, no grammar allows."""

from __future__ import annotations

import pytest
import refused
import test_canonical
import walks

from gateway_args import Tools, formats, grammar


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
        if walks.allows(made[key], broken.text):
            pytest.fail(f"{broken.why}: {broken.text!r}")
    assert tried >= 3
