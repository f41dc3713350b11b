"""What all tests share: the hypothesis profiles and the way to what is kept beside the checkout.

`ci` is the default and derandomized: a run says the same on every machine. For a longer look with fresh examples run
`pytest --hypothesis-profile long --timeout 0`; some of its tests take minutes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("long", deadline=None, max_examples=5_000)
settings.load_profile("ci")

_SHARED = Path(__file__).parents[2] / "shared"


def _shared(name: str) -> Path:
    folder = _SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{name}: material that is not part of the project is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def suites() -> Path:
    """Copies of public test suites, kept beside the checkout."""
    return _shared("suites")


@pytest.fixture(scope="session")
def cases() -> Path:
    """Reported, rendered and recorded cases, kept beside the checkout."""
    return _shared("cases")
