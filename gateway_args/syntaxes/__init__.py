"""The call syntaxes: few ways of writing a call, each with parameters that a table sets.

A new model should need none of this: its table names a syntax and fills in what differs.
"""

from __future__ import annotations

from .base import Bound, Reader, Syntax
from .framed import Framed
from .json import Json

SYNTAXES: dict[str, type[Syntax]] = {
    "json": Json,
    "framed": Framed,
}
"""The names under which tables choose a syntax."""

__all__ = ["SYNTAXES", "Bound", "Framed", "Json", "Reader", "Syntax"]
