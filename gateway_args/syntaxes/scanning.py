"""Scanning primitives: what stands at a place in text that is still arriving, as one of three verdicts.

They hold the bounds, so that no caller compares an offset with a limit itself: what is decided is a function of the
text, however it was cut.
"""

from __future__ import annotations

from ..engine.program import skip_space
from .base import MORE, NO, YES


def layout(text: str, at: int, bound: int) -> tuple[int, int]:
    """White space at `at`, at most `bound` characters of it, and where it ends.

    YES: something else stands behind it. MORE: the text ends in it. NO: there is more of it than `bound`.
    """
    end = skip_space(text, at)
    if end - at > bound:
        return NO, at + bound
    return (YES if end < len(text) else MORE), end
