"""The call syntaxes: few ways of writing a call, each with parameters that a table sets.

A new model should need none of this: its table names a syntax and fills in what differs.
"""

from __future__ import annotations

from .base import Bound, Reader, Syntax
from .framed import Framed
from .gemma import Gemma
from .json import Json
from .python import Python
from .python_objects import PythonObjects
from .tagged import Tagged

SYNTAXES: dict[str, type[Syntax]] = {
    "json": Json,
    "framed": Framed,
    "gemma": Gemma,
    "python": Python,
    "python_objects": PythonObjects,
    "tagged": Tagged,
}
"""The names under which tables choose a syntax."""

__all__ = ["SYNTAXES", "Bound", "Framed", "Gemma", "Json", "Python", "PythonObjects", "Reader", "Syntax", "Tagged"]
