"""The static types of `Partial`, by mypy and pyright; and the package without its extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_FILE = _ROOT / "tests" / "typing" / "partial_types.py"
_CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-error-summary"],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}


@pytest.mark.parametrize("checker", _CHECKERS)
def test_both_checkers_see_the_types_that_the_file_asserts(checker: str) -> None:
    pytest.importorskip(checker, reason=f"{checker} comes with the extra dev")
    done = subprocess.run(
        [sys.executable, "-m", *_CHECKERS[checker], str(_FILE)], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


_WITHOUT = """
import sys
sys.modules["pydantic"] = sys.modules["jsonschema_rs"] = None
from typing import Any
from gateway_args.partial import decode
assert decode(Any, '{"a": [1]}') == {"a": [1]}
for asked, extra in ((int, "typed"), ({"type": "object"}, "schema")):
    try:
        decode(asked, "1")
    except ImportError as error:
        assert f"gateway-args[{extra}]" in str(error), error
    else:
        raise AssertionError(extra)
"""


def test_without_the_extras_plain_values_stream_and_types_name_the_extra_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_the_package_imports_neither_extra() -> None:
    code = "import sys, gateway_args.partial; assert not {'pydantic', 'jsonschema_rs'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
