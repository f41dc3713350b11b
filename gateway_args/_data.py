"""Where the data folders `formats/` and `contract/` are: inside the wheel, or at the root of a checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def folder(name: str) -> Path:
    """The folder of that name, as installed under `_data/` or beside the package in a checkout."""
    from pathlib import Path  # on first use: it takes a tenth of the package's import

    package = Path(__file__).parent
    shipped = package / "_data" / name
    return shipped if shipped.is_dir() else package.parent / name
