"""The path of a value inside a JSON value: a tuple of keys and indexes from the root, `()` the root itself.

`show` is the one spelling of paths in errors and evidence: ``$.competitors[0].name``, ``$["a b"]``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Step = str | int
Path = tuple[Step, ...]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def show(path: Sequence[Step]) -> str:
    """The path as errors write it."""
    written = ["$"]
    for step in path:
        if isinstance(step, int):
            written.append(f"[{step}]")
        elif _PLAIN.fullmatch(step):
            written.append(f".{step}")
        else:
            written.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(written)
