"""gateway_args: from what a language model writes, as it arrives, to tool-call events.

>>> from gateway_args import Parser, Tools, formats
"""

from __future__ import annotations

from . import formats
from .acceptor import Acceptor, Scan, scan
from .errors import DecodeError, FormatError, GatewayArgsError, LifecycleError
from .events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)
from .formats import Format
from .limits import Limits
from .parser import Parser, read
from .reading import Reading, fold
from .tools import Tools

__all__ = [
    "Acceptor",
    "CallArguments",
    "CallEnd",
    "CallStart",
    "Content",
    "DecodeError",
    "Dropped",
    "Event",
    "Finish",
    "Format",
    "FormatError",
    "GatewayArgsError",
    "LifecycleError",
    "Limits",
    "Malformed",
    "Parser",
    "Reading",
    "Reasoning",
    "ReasoningEnd",
    "ReasoningStart",
    "Scan",
    "Tools",
    "Why",
    "fold",
    "formats",
    "read",
    "scan",
]
