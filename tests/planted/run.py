"""Plants small faults in a copy of the package, one at a time, and says which of them nothing notices.

    python tests/planted/run.py [--only WORD] [--jobs N] [--write]

The `.toml` files beside it list them: the file, the text and what it becomes, the tests (or corpora) that should
notice, or why the edit changes nothing (`equivalent`). A fault is caught when a check fails; those that live, and edits
whose text is no longer in the file, are named and the exit status is 1. `--write` puts the result into
docs/contract.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ("gateway_args", "formats", "contract", "tests", "fixtures", "docs", "examples", "pyproject.toml", "README.md")
ENOUGH = 0.95
LONG = 900
"""Seconds after which a check has failed."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One fault: in `file` the first `old` becomes `new`; `checks` are pytest paths or `contract:FORMAT,FORMAT`."""

    file: str
    old: str
    new: str
    checks: tuple[str, ...]
    what: str = ""
    equivalent: str = ""
    occurrence: int = field(default=1)


def read(path: Path) -> list[Planted]:
    """The list, checked: each edit must find its text."""
    planted = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]:
        made = Planted(**{**entry, "checks": tuple(entry.get("checks", ()))})
        text = (ROOT / made.file).read_text(encoding="utf-8")
        if text.count(made.old) < made.occurrence or made.old == made.new:
            raise SystemExit(
                f"{path.name}: {made.file} does not hold {made.old!r} ({made.what}); bring the entry up to date"
            )
        planted.append(made)
    return planted


def copy_to(folder: Path) -> None:
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        elif source.exists():
            shutil.copy(source, folder / name)


def noticed_by(fault: Planted) -> str | None:
    """The first check that fails with the fault in place, None when all pass."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        copy_to(folder)
        path = folder / fault.file
        parts = path.read_text(encoding="utf-8").split(fault.old)
        cut = fault.occurrence
        path.write_text(fault.old.join(parts[:cut]) + fault.new + fault.old.join(parts[cut:]), encoding="utf-8")
        for check in fault.checks:
            if not passes(check, folder):
                return check
    return None


def passes(check: str, folder: Path) -> bool:
    python = [sys.executable, "-m"]
    if check.startswith("contract:"):
        command = [*python, "gateway_args", "contract", "--quick", *check.removeprefix("contract:").split(",")]
    elif check.startswith("fuzz:"):
        command = [sys.executable, "tests/fuzz/run.py", "--seconds", "30", "--most", "1"]
        command += check.removeprefix("fuzz:").split(",")
    else:
        command = [*python, "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *check.split()]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as running:
        try:
            return running.wait(LONG) == 0
        except subprocess.TimeoutExpired:  # reading that never ends is noticed too
            os.killpg(running.pid, signal.SIGKILL)
            return False


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="only faults whose file or description holds this word")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--write", action="store_true", help="put the result into docs/contract.md")
    given = options.parse_args()
    planted = [
        fault
        for path in sorted(Path(__file__).parent.glob("*.toml"))
        for fault in read(path)
        if given.only in fault.file or given.only in fault.what
    ]
    real = [fault for fault in planted if not fault.equivalent]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = []
        for fault, check in zip(real, pool.map(noticed_by, real), strict=True):
            found.append(check)
            print(
                f"{'caught' if check else 'LIVES '} {fault.file}: {fault.what} {f'({check})' if check else ''}",
                flush=True,
            )
    caught = sum(check is not None for check in found)
    same = len(planted) - len(real)
    result = f"{caught} of {len(real)} planted faults are caught; {same} more change nothing that can be seen."
    print(result)
    if given.write:
        _write(result)
    return 0 if real and caught >= ENOUGH * len(real) else 1


def _write(result: str) -> None:
    path = ROOT / "docs" / "contract.md"
    text = path.read_text(encoding="utf-8")
    head, start, rest = text.partition("<!-- planted -->\n")
    _, end, tail = rest.partition("<!-- end of planted -->")
    if not start or not end:
        raise SystemExit("docs/contract.md: no place marked with <!-- planted --> and <!-- end of planted -->")
    path.write_text(f"{head}{start}{result}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
