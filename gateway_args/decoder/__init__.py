"""The schema-compiled, bounded stream decoder: one document in bytes, as they arrive, against one schema or type."""

from gateway_args.decoder.bounds import StreamLimits
from gateway_args.decoder.compiled import CompiledSchema, compile_schema
from gateway_args.decoder.expected import Expected
from gateway_args.decoder.outcomes import Accepted, Incomplete, Outcome, Refused, StreamCode
from gateway_args.decoder.stream import StreamDecoder
from gateway_args.decoder.whole import AdmissionError

__all__ = [
    "Accepted",
    "AdmissionError",
    "CompiledSchema",
    "Expected",
    "Incomplete",
    "Outcome",
    "Refused",
    "StreamCode",
    "StreamDecoder",
    "StreamLimits",
    "compile_schema",
]
