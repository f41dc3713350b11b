"""What went wrong with an output: recorded streams read back, tables that would read it, the place where it breaks."""

from __future__ import annotations

from . import policies
from .detect import Detection, Match, Skipped, detect, hint
from .explain import Break, explain
from .recorded import Output, Recorded, recorded

__all__ = [
    "Break",
    "Detection",
    "Match",
    "Output",
    "Recorded",
    "Skipped",
    "detect",
    "explain",
    "hint",
    "policies",
    "recorded",
]
