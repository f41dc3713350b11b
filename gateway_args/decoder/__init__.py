"""The schema-compiled, bounded stream decoder: one document in bytes, as they arrive, against one schema or type."""

from gateway_args.decoder.admission import AdmissionError
from gateway_args.decoder.bounds import StreamLimits
from gateway_args.decoder.calls import CallOutcome, ToolDecoders
from gateway_args.decoder.compiled import CompiledSchema, compile_schema
from gateway_args.decoder.expected import Expected
from gateway_args.decoder.guarding import EngineEnd, Guard, guard
from gateway_args.decoder.outcomes import Accepted, Incomplete, Outcome, Refused, StreamCode
from gateway_args.decoder.stream import StreamDecoder
from gateway_args.decoder.transcript import ReplayReport, Setting, Transcript, replay

__all__ = [
    "Accepted",
    "AdmissionError",
    "CallOutcome",
    "CompiledSchema",
    "EngineEnd",
    "Expected",
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
