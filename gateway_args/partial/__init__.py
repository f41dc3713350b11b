"""The progressive, typed view of a value being streamed.

Read it in this order: `path` names values, `lexis`, `machine` and `builder` grow a value from text, `frame` is what its
spine is made of, `shape` (`models`, `schemas`) says how a type is seen, `track` validates what completed, `moment` is
what had come at one time, `view` is the `Partial`, `cursor` what views share, `reader` reads text when it is looked at,
`stream` and `calls` are the surfaces.
"""

import warnings

from .calls import CallPartial, partials
from .grown import Elements, Members
from .problem import Problem
from .stream import PartialStream, decode, stream
from .view import Partial

__all__ = ["CallPartial", "Elements", "Members", "Partial", "PartialStream", "Problem", "decode", "partials", "stream"]


def __getattr__(name: str) -> object:
    if name == "Fault":
        warnings.warn("gateway_args.partial.Fault is deprecated; use Problem", DeprecationWarning, stacklevel=2)
        return Problem
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
