"""The schema-compiled, bounded stream decoder: one document in bytes, as they arrive, against one schema or type."""

from .bounds import StreamLimits
from .calls import CallOutcome, ToolDecoders
from .compiled import CompiledSchema, compile_schema
from .expected import ExpectedNext
from .guarding import EngineEnd, Guard, guard
from .outcomes import Accepted, CallCode, Incomplete, Outcome, Refused, StreamCode
from .replaying import ReplayReport, replay
from .settings import DocumentSetting, Setting
from .stream import StreamDecoder
from .transcript import Transcript
from .validation import AdmissionError, DocumentError

Expected = ExpectedNext
"""Deprecated: the old name of `ExpectedNext`, which the acceptor's own `Expected` makes ambiguous."""

__all__ = [
    "Accepted",
    "AdmissionError",
    "CallCode",
    "CallOutcome",
    "CompiledSchema",
    "DocumentError",
    "DocumentSetting",
    "EngineEnd",
    "Expected",
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
    "replay",
]
