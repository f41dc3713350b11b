"""The call syntaxes by the names under which tables choose them."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Final

from .framed import Framed
from .gemma import Gemma
from .lines import Lines
from .objects import Json, PythonObjects
from .python_calls import Python
from .tagged import Tagged
from .text import Text

if TYPE_CHECKING:
    from .base import Syntax

SYNTAXES: Final[dict[str, type[Syntax]]] = {
    "json": Json,
    "framed": Framed,
    "gemma": Gemma,
    "lines": Lines,
    "python": Python,
    "python_objects": PythonObjects,
    "tagged": Tagged,
    "text": Text,
}


def parameter_types(syntax: type[Syntax]) -> dict[str, object]:
    """The types of a syntax's parameters by their names; compiled, a class only remembers that a tuple is one."""
    hints = typing.get_type_hints(syntax)
    return {name: tuple[str, ...] if hint is tuple else hint for name, hint in hints.items()}
