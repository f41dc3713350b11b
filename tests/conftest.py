"""What all tests share: the hypothesis profiles and the way to the public suites.

`ci` is the default and derandomized: a run says the same on every machine. `pytest --hypothesis-profile long` looks
further, with fresh examples each time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("long", deadline=None, max_examples=5_000)
settings.load_profile("ci")

_SUITES = Path(__file__).parents[2] / "shared" / "suites"


@pytest.fixture(scope="session")
def suites() -> Path:
    """The folder `../shared/suites` beside the checkout, which holds copies of public test suites."""
    if not _SUITES.is_dir():
        pytest.skip("the public suites are not at ../shared/suites beside this checkout")
    return _SUITES
