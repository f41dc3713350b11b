"""`Setting` and `DocumentSetting`: all that a recorded stream depends on, so that a replay can make it again.

A setting is bound to the request as it was dispatched: its tools and prompt, its sampling parameters and the id of the
response. The last two change nothing that a stream says; they stand in the evidence's first line, and so in its chain.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, final

from ..limits import Limits
from ..parser import Parser
from .bounds import StreamLimits
from .calls import compile_tools
from .compiled import CompiledSchema, Framing, compile_schema
from .guarding import Guard
from .stream import StreamDecoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..formats import Format
    from ..tools import Tools
    from .transcript import Transcript

TRANSCRIPT = 2
"""The version of what is written."""


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """All that makes a parser and its decoders what they are: enough to make them again.

    `sampling` are the request's sampling parameters, JSON values, and `response_id` is the engine's or the gateway's
    id of the response. `keep_prompt=False` writes only the hashes of the prompt and the prefill; a replay then has to
    be given them.
    """

    format: Format
    tools: Tools | None = None
    tool_choice: Any = None
    prompt: str = ""
    start: str | None = None
    markers: Mapping[str, int] | None = None
    undeclared: str = "call"
    limits: Limits = Limits()  # noqa: RUF009  (immutable)
    stream_limits: StreamLimits = StreamLimits.for_calls()  # noqa: RUF009  (immutable)
    keep_prompt: bool = True
    prefill: str = ""
    framing: Framing = "json"
    sampling: Mapping[str, Any] | None = None
    response_id: str = ""

    def parser(self) -> Parser:
        return Parser(
            self.format,
            self.tools,
            prompt=self.prompt,
            prefill=self.prefill,
            start=self.start,
            markers=self.markers,
            undeclared=self.undeclared,
            limits=self.limits,
        )

    def guard(self, transcript: Transcript | None = None) -> Guard:
        return Guard(self.parser(), self.tools, limits=self.stream_limits, framing=self.framing, transcript=transcript)

    def opening(self) -> dict[str, Any]:
        """What the first line says."""
        tools = None
        if self.tools is not None:
            tools = [{"type": "function", "name": tool.name, "parameters": tool.parameters} for tool in self.tools]
        request = {
            "tools": tools,
            "tool_choice": self.tool_choice,
            "prompt_sha256": sha256(self.prompt),
            "prefill_sha256": sha256(self.prefill),
            **_dispatched(self),
        }
        return {
            "transcript": TRANSCRIPT,
            "of": "output",
            "version": version("gateway-args"),
            "request": request,
            "request_sha256": digest(request),
            "prompt": self.prompt if self.keep_prompt else None,
            "prefill": self.prefill if self.keep_prompt else None,
            "format": {"name": self.format.name, "digest": self.format.digest},
            "schemas": {
                name: schema.identity for name, schema in (compile_tools(self.tools) if self.tools else {}).items()
            },
            "start": self.start,
            "markers": None if self.markers is None else dict(self.markers),
            "undeclared": self.undeclared,
            "limits": asdict(self.limits),
            "stream_limits": asdict(self.stream_limits),
            "framing": self.framing,
        }


@final
@dataclass(frozen=True, slots=True)
class DocumentSetting:
    """All that makes a bare `StreamDecoder` what it is; `decoder(transcript)` makes it.

    A JSON Schema is written out; a Python type is named by its identity, and a replay has to be given it.
    """

    schema: CompiledSchema[Any] | Any
    limits: StreamLimits = StreamLimits()  # noqa: RUF009  (immutable)
    framing: Framing = "json"
    sampling: Mapping[str, Any] | None = None
    response_id: str = ""

    def decoder(self, transcript: Transcript | None = None) -> StreamDecoder[Any]:
        return StreamDecoder(self.compiled(), limits=self.limits, framing=self.framing, transcript=transcript)

    def compiled(self) -> CompiledSchema[Any]:
        return self.schema if isinstance(self.schema, CompiledSchema) else compile_schema(self.schema)

    def opening(self) -> dict[str, Any]:
        """What the first line says."""
        request = _dispatched(self)
        compiled = self.compiled()
        source = compiled.source
        return {
            "transcript": TRANSCRIPT,
            "of": "document",
            "version": version("gateway-args"),
            "request": request,
            "request_sha256": digest(request),
            "schema": {
                "identity": compiled.identity,
                "json": None if source is None else source[0],
                "resources": None if source is None else source[1],
            },
            "stream_limits": asdict(self.limits),
            "framing": self.framing,
        }


def _dispatched(setting: Setting | DocumentSetting) -> dict[str, Any]:
    sampling = None if setting.sampling is None else dict(setting.sampling)
    return {"sampling": sampling, "response_id": setting.response_id}


def digest(value: Any) -> str:
    """The SHA-256 of a JSON value."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")))


def sha256(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
