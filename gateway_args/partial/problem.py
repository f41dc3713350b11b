"""`Problem`: what is wrong with a value in flight or with its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from ..schema.path import show

if TYPE_CHECKING:
    from ..schema.path import Path


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong: where in the value, what, and where in the text (characters) if that is known."""

    path: Path
    message: str
    offset: int | None = None

    def __str__(self) -> str:
        return f"{show(self.path)}: {self.message}"
