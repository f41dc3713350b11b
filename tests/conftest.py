"""What all tests share: how much is run, the hypothesis profiles, and the way to what is not part of the project.

`pytest` runs the quick tests, `pytest --full` all of them; the first lines of a run say which and what is left. Each
hypothesis profile but `nightly` is derandomized, so a run says the same on every machine: `quick`, `full`, and
`nightly` (fresh examples, many of them: `pytest --full --hypothesis-profile nightly --timeout 0`).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from gateway_args import contract

settings.register_profile("quick", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("full", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("nightly", deadline=None, max_examples=5_000)

MATERIAL = "GATEWAY_ARGS_TEST_MATERIAL"
TABLES = {
    *("cohere_command", "cwm", "deepseek_v3_2", "forced", "functiongemma", "gemma4", "harmony", "hermes", "json"),
    *("kimi_k2", "lfm2", "llama3_json", "minimax_m3", "mistral", "qwen3_coder", "required", "sarashina"),
}
"""The tables that the quick run reads: each call syntax, sections, unmarked calls, thoughts, literals of all kinds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run every test, with all chunkings and more examples")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile", default=None):
        settings.load_profile("full" if config.getoption("--full") else "quick")


def pytest_report_header(config: pytest.Config) -> list[str]:
    if config.getoption("--full"):
        what = "gateway_args: everything (half an hour and more on two cores)"
    else:
        what = (
            f"gateway_args: the quick tests (the corpora of {len(TABLES)} tables, a few chunkings of each case, "
            "25 examples a property); pytest --full runs the rest"
        )
    where = os.environ.get(MATERIAL)
    public = f"public test suites: {where}" if where else f"public test suites: not given ({MATERIAL})"
    return [what, public]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `full` wait for --full, and so do the other tables of those marked `every_table`."""
    if config.getoption("--full"):
        return
    left = {item for item in items if item.get_closest_marker("full") or _is_another_table(item)}
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def _is_another_table(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return (
        call is not None
        and item.get_closest_marker("every_table") is not None
        and not any(value in TABLES for value in call.params.values() if isinstance(value, str))
    )


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the run was asked for everything."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def chunkings(full: bool) -> contract.Chunkings:
    """How many ways corpora are cut in this run."""
    return contract.STANDARD if full else contract.QUICK


def _material(name: str, what: str) -> Path:
    root = os.environ.get(MATERIAL)
    if root is None:
        pytest.skip(
            f"{what}: not part of this project; put them in a folder and name it in {MATERIAL} (tests/README.md)"
        )
    folder = Path(root) / name
    if not folder.is_dir():
        pytest.fail(f"{MATERIAL}={root}: it has no folder '{name}' ({what})")
    return folder


@pytest.fixture(scope="session")
def suites() -> Path:
    """JSONTestSuite and JSON-Schema-Test-Suite, as their repositories have them, in one folder."""
    return _material("suites", "JSONTestSuite and JSON-Schema-Test-Suite")


@pytest.fixture(scope="session")
def cases() -> Path:
    """Recorded outputs of models with their token ids."""
    return _material("cases", "recorded outputs")


def _source(name: str, what: str) -> Path:
    """An engine's unpacked distribution, where the material has it: few want it."""
    root = os.environ.get(MATERIAL)
    if root is None or not (Path(root) / name).is_dir():
        pytest.skip(f"{what}: unpack it as the folder '{name}' of {MATERIAL} (tests/README.md)")
    return Path(root) / name


@pytest.fixture(scope="session")
def vllm_source() -> Path:
    """vLLM's source distribution."""
    return _source("vllm", "vLLM's source distribution")


@pytest.fixture(scope="session")
def sglang_source() -> Path:
    """SGLang's wheel."""
    return _source("sglang", "SGLang's wheel")
