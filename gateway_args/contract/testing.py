"""The contract as pytest tests: one test a case, for a table or a parser of anybody's.

@contract.parametrize("my_corpus.toml")
def test_my_format_keeps_its_promises(case: contract.Case) -> None:
    contract.assert_holds("my_format.toml", case)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import corpus as corpora
from . import oracle
from .check import check_case
from .chunkings import STANDARD, Chunkings
from .corpus import Case, Corpus
from .subjects import Maker, Subject, maker_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import pytest

    from ..formats import Format


def parametrize(corpus: Corpus | str | PathLike[str]) -> pytest.MarkDecorator:
    """A pytest mark that gives the test the argument `case` once for each case of the corpus (one, or its file)."""
    import pytest

    cases = (corpus if isinstance(corpus, Corpus) else corpora.read(corpus)).cases
    return pytest.mark.parametrize("case", cases, ids=[case.name.replace(" ", "_") for case in cases])


def assert_holds(
    format: str | PathLike[str] | Format | Maker | Callable[[Case], Subject],
    case: Case,
    chunkings: Chunkings = STANDARD,
) -> None:
    """`AssertionError` with every broken promise and a minimal chunking, where the case breaks one."""
    oracle.require()
    failures = check_case(maker_of(format), case, chunkings).failures
    if failures:
        raise AssertionError("\n".join(str(failure) for failure in failures))
