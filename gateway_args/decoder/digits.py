"""`DigitRange`: the bounds of an integer as its digits arrive, each of which can only be followed by more of them.

An integer that is spelled without fraction or exponent is refused at the digit behind which no number in range is left:
5 where the range is 10 to 19. Bounds are compared digit by digit, so a long number costs what its length says. Where a
double cannot tell a bound from its neighbours, the neighbour is the bound: validators compare exactly or as doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ..schema.graph import as_float

if TYPE_CHECKING:
    from ..schema.graph import NumberShape

EXACT = 2**53
"""From here on neighbouring integers may be one double."""
LONGEST = 14_000
"""Bits of a bound; a longer one, and its thousands of digits, waits for the whole number."""


@dataclass(frozen=True, slots=True)
class DigitRange:
    """The least and the greatest magnitude of numbers with one sign, as digits; None is no bound."""

    least: bytes
    greatest: bytes | None

    @classmethod
    def of(cls, shape: NumberShape, *, negative: bool) -> Self | None:
        """The range that a shape leaves to numbers of this sign; None where it has no bound that counts."""
        low, high = _least(shape.low, shape.low_open), _greatest(shape.high, shape.high_open)
        if negative:
            low, high = None if high is None else -high, None if low is None else -low
        low = max(low or 0, 0)
        if high is not None and high < 0:
            high = None  # no number of this sign: the sign itself is refused
        if low == 0 and high is None:
            return None
        if high is not None and low > high:
            return cls(b"0", b"")  # no number at all
        return cls(b"%d" % low, None if high is None else b"%d" % high)

    def admits(self, digits: bytes) -> bool:
        """Whether some number in the range starts with these digits."""
        size = len(digits)
        longest = size if digits == b"0" else None if self.greatest is None else len(self.greatest)
        least = len(self.least)
        sizes = {size, least, least + 1} | (set() if longest is None else {longest - 1, longest})
        return any(
            self._fits(digits, integral)
            for integral in sizes
            if integral >= size and (longest is None or integral <= longest)
        )

    def _fits(self, digits: bytes, size: int) -> bool:
        """Whether a number of this many digits that starts with these is in the range."""
        low, high = self.least, self.greatest
        if size < len(low) or (size == len(low) and digits < low[: len(digits)]):
            return False
        return high is None or size < len(high) or (size == len(high) and digits <= high[: len(digits)])


def _greatest(bound: float | None, is_open: bool) -> int | None:
    """The greatest integer that an upper bound admits, or one that surely is not below it."""
    if bound is None or (isinstance(bound, float) and not math.isfinite(bound)):
        return None
    if int(bound).bit_length() > LONGEST:
        return None
    if abs(bound) >= EXACT:
        near = math.nextafter(as_float(bound), math.inf)
        return int(near) if math.isfinite(near) else None
    integral = math.floor(bound)
    return integral - 1 if is_open and integral == bound else integral


def _least(bound: float | None, is_open: bool) -> int | None:
    """The least integer that a lower bound admits, or one that surely is not above it."""
    negated = _greatest(None if bound is None else -bound, is_open)
    return None if negated is None else -negated
