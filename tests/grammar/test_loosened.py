"""A grammar that allows too much is found: whichever rule is loosened, an output of `loosened.jsonl` is let in.

Each output of the file is one that the grammar refuses and some loosened one allows. What a value is, which parameters
there have to be and that there is a call at all is the grammar's business alone: what is let in there is misread. The
rest are texts around calls that a model may leave out (policy 8), texts that are data where they stand (policy 3) and
messages that may come again, which the parser reads and no template writes.
"""

from __future__ import annotations

import pytest
from loosened import STRICT, Asked, Kind, grammars, recorded, rules_of
from test_canonical import NAMES

SHOWN = recorded()
TRIED = ("hermes", "qwen3_coder", "gemma4", "pythonic")  # one a kind of arguments without --full


@pytest.mark.every_table
@pytest.mark.parametrize("name", NAMES)
def test_what_a_looser_grammar_allows_is_refused(name: str) -> None:
    refused = 0
    for made in grammars(name):
        text = made.text()
        for output in SHOWN[made.key].outputs if made.key in SHOWN else ():
            assert not made.allows(text, output), f"{made.asked}, {made.of}: {output!r}"
            refused += 1
    assert refused >= 20


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [*TRIED, *(pytest.param(name, marks=pytest.mark.full) for name in NAMES if name not in TRIED)]
)
def test_each_rule_keeps_something_out(name: str) -> None:
    tried = 0
    for made, rules in rules_of(name):
        if not rules:
            continue
        shown = SHOWN[made.key]
        misread = {output for output in shown.outputs if made.is_misread(output)}
        for rule, looser in rules:
            let_in = {output for output in shown.outputs if made.allows(looser, output)}
            assert bool(let_in) != (str(rule) in shown.equal), f"{made.asked}, {made.of}: {rule}"
            if rule.kind in STRICT and let_in and made.asked is Asked.REQUIRED:
                assert let_in & misread, f"{made.asked}, {made.of}: {rule}"
            tried += 1
        assert set(shown.equal) <= {str(rule) for rule, _ in rules}
        if made.asked is Asked.REQUIRED:
            assert not [rule for rule in shown.equal if rule.startswith((Kind.JSON, Kind.KEYWORD, Kind.MISSING))]
    assert tried >= 20


def test_the_file_speaks_of_these_grammars_alone() -> None:
    assert {key[0] for key in SHOWN} == set(NAMES)
    assert {key[1] for key in SHOWN} == set(Asked)
