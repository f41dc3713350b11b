"""gateway_args: from what a language model writes, as it arrives, to tool-call events.

Everything public is here. The core (parser, formats, acceptor) is imported at once; what not every gateway needs
(adapters, the contract, vocabularies, the stream decoder, the partial view) on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import formats
from . import parser as _parser
from .assembler import Assembler
from .errors import DecodeError, FormatError, GatewayArgsError, LifecycleError
from .events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    IdKind,
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
from .strict_json.acceptor import Acceptor, Expected, Scan, scan
from .tokens.detokenizer import Delta, Token, TokenDecoder
from .tools import Tool, Tools

if TYPE_CHECKING:
    __version__: str
    from . import adapters, contract, decoder, partial
    from .decoder import (
        Accepted,
        AdmissionError,
        CallCode,
        CallOutcome,
        CompiledSchema,
        DocumentError,
        DocumentSetting,
        EngineEnd,
        ExpectedNext,
        Guard,
        Incomplete,
        Outcome,
        Refused,
        ReplayReport,
        Setting,
        StreamCode,
        StreamDecoder,
        StreamLimits,
        ToolDecoders,
        Transcript,
        compile_schema,
        guard,
    )
    from .partial import CallPartial, Partial, PartialStream, partials
    from .tokens import vocab

_MODULES = {**{name: name for name in ("adapters", "contract", "decoder", "partial")}, "vocab": "tokens.vocab"}
_FROM = {
    **dict.fromkeys(
        (
            "Accepted",
            "AdmissionError",
            "CallCode",
            "CallOutcome",
            "CompiledSchema",
            "DocumentError",
            "DocumentSetting",
            "EngineEnd",
            "ExpectedNext",
            "Guard",
            "Incomplete",
            "Outcome",
            "Refused",
            "ReplayReport",
            "Setting",
            "StreamCode",
            "StreamDecoder",
            "StreamLimits",
            "ToolDecoders",
            "Transcript",
            "compile_schema",
            "guard",
        ),
        "decoder",
    ),
    **dict.fromkeys(("CallPartial", "Partial", "PartialStream", "partials"), "partial"),
}

__compiled__: bool = not str(_parser.__file__).endswith((".py", ".pyc"))
"""Whether the hot path is compiled (docs/performance.md)."""


def __getattr__(name: str) -> object:
    import importlib

    if name == "__version__":  # the installed package's, asked when it is wanted
        import importlib.metadata

        return importlib.metadata.version("gateway-args")
    if name in _MODULES:
        return importlib.import_module(f".{_MODULES[name]}", __name__)
    if name in _FROM:
        return getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Accepted",
    "Acceptor",
    "AdmissionError",
    "Assembler",
    "CallArguments",
    "CallCode",
    "CallEnd",
    "CallOutcome",
    "CallPartial",
    "CallStart",
    "CompiledSchema",
    "Content",
    "DecodeError",
    "Delta",
    "DocumentError",
    "DocumentSetting",
    "Dropped",
    "EngineEnd",
    "Event",
    "Expected",
    "ExpectedNext",
    "Finish",
    "Format",
    "FormatError",
    "GatewayArgsError",
    "Guard",
    "IdKind",
    "Incomplete",
    "LifecycleError",
    "Limits",
    "Malformed",
    "Outcome",
    "Parser",
    "Partial",
    "PartialStream",
    "Reading",
    "Reasoning",
    "ReasoningEnd",
    "ReasoningStart",
    "Refused",
    "ReplayReport",
    "Scan",
    "Setting",
    "StreamCode",
    "StreamDecoder",
    "StreamLimits",
    "Token",
    "TokenDecoder",
    "Tool",
    "ToolDecoders",
    "Tools",
    "Transcript",
    "Why",
    "adapters",
    "compile_schema",
    "contract",
    "decoder",
    "fold",
    "formats",
    "guard",
    "partial",
    "partials",
    "read",
    "scan",
    "vocab",
]
