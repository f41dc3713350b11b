"""The progressive, typed view of a value being streamed.

Read it in this order: `builder` grows a value from text, `frame` is what its open path is made of, `snapshot` is what
had come at one time, `children` validates what completed, `shared` is what the views of one stream have in common,
`view` is the `Partial`, `stream` and `calls` are the surfaces. How a type is seen is `gateway_args.schema.type_view`.
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
