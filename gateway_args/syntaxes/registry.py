"""The call syntaxes by the names under which tables choose them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .framed import Framed
from .gemma import Gemma
from .objects import Json, PythonObjects
from .python_calls import Python
from .tagged import Tagged

if TYPE_CHECKING:
    from .base import Syntax

SYNTAXES: Final[dict[str, type[Syntax]]] = {
    "json": Json,
    "framed": Framed,
    "gemma": Gemma,
    "python": Python,
    "python_objects": PythonObjects,
    "tagged": Tagged,
}
