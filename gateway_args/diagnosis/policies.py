"""The policies that decide what is malformed, as data: number, title and the sentence that decides.

`docs/policies.md` has them in full; a test holds these to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..events import Why


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy of `docs/policies.md`, and what of it decided."""

    number: int
    title: str
    sentence: str

    def __str__(self) -> str:
        return f"policy {self.number} ({self.title}): {self.sentence}"


STRICT: Final = Policy(
    15, "Control characters", "There are no other repairs: what no JSON value continues is malformed."
)
UNTERMINATED: Final = Policy(
    11,
    "Openers in prose",
    "A region that was confirmed and holds no readable call is malformed: unterminated, when the output ended first.",
)
OPENER: Final = Policy(
    11,
    "Openers in prose",
    "An opener is confirmed by white space and what its call can begin with; unconfirmed, it is text.",
)
STRAY: Final = Policy(10, "Text around calls", "Text where only layout may stand is malformed.")
DUPLICATE: Final = Policy(7, "Envelope", "A second name or arguments key is malformed.")
UNDECLARED: Final = Policy(
    12, "Undeclared functions", "Where undeclared functions are refused, their calls are malformed."
)
SHAPE: Final = Policy(
    11,
    "Openers in prose",
    "A region that was confirmed and holds no readable call is malformed from its opener to its closer.",
)
DEPTH: Final = Policy(
    5, "Types in tag syntaxes", "Deeper than max_depth is malformed; so is what passes another limit."
)
INCOMPLETE: Final = Policy(
    8,
    "complete",
    "A call is complete when its fragments are one whole JSON value; nothing is closed on the model's behalf.",
)
BY_WHY: Final[dict[Why, Policy]] = {
    Why.ARGUMENTS: STRICT,
    Why.UNTERMINATED: UNTERMINATED,
    Why.STRAY: STRAY,
    Why.DUPLICATE: DUPLICATE,
    Why.UNDECLARED: UNDECLARED,
    Why.SHAPE: SHAPE,
    Why.LIMIT: DEPTH,
}
