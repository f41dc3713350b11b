"""A hook for LiteLLM's proxy: an engine that writes its calls as text answers with real tool calls, streamed and whole.

Put a file beside the proxy's configuration that makes one (`examples/litellm_hook.py`), and name it there:

    litellm_settings: { callbacks: litellm_hook.handler }

The engine must leave special tokens in the text (vLLM: `skip_special_tokens: false`) and run without a tool parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import adapters, formats
from ..errors import FormatError
from ..parser import Parser
from ..tools import Tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

try:
    from litellm.integrations.custom_logger import CustomLogger as Base  # type: ignore[import-not-found, unused-ignore]
    from litellm.types.utils import ModelResponseStream  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # to be read and tested without LiteLLM
    Base, ModelResponseStream = object, dict

__all__ = ["ToolCalls"]


class ToolCalls(Base):  # type: ignore[misc, unused-ignore]
    """Reads the content of each choice and passes on what it says; a model that no table knows passes as it is.

    `tables` names the format of the proxy's models whose names do not tell it; `make` turns a Chat chunk into the
    proxy's object. A request without tools has no calls: their markers are content.
    """

    def __init__(self, tables: Mapping[str, str] | None = None, make: Callable[..., Any] = ModelResponseStream) -> None:
        super().__init__()
        self.tables = tables or {}
        self.make = make

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: AsyncIterator[Any], request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """The proxy's stream: each chunk's content, read."""
        format = self._format(request_data)
        if format is None:
            async for chunk in response:
                yield chunk
            return
        tools = Tools.of(request_data.get("tools") or [])
        choices: dict[int, tuple[Parser, adapters.chat.Stream]] = {}
        async for chunk in response:
            if not chunk.choices:  # the usage, last
                yield chunk
            for choice in chunk.choices:
                if choice.index not in choices:
                    envelope = adapters.Envelope(chunk.id, request_data["model"], chunk.created)
                    stream = adapters.chat.Stream(envelope, choice=choice.index)
                    choices[choice.index] = Parser(format, tools), stream
                parser, stream = choices[choice.index]
                events = parser.feed(choice.delta.content or "")
                if choice.finish_reason is not None:
                    events += parser.finish(choice.finish_reason)
                for said in stream.chunks(events):
                    yield self.make(**said)
        for parser, stream in choices.values():
            if not stream.finished:  # the engine said no reason: its output was cut
                for said in stream.chunks(parser.finish("length")):
                    yield self.make(**said)

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        """A whole answer: each choice's message, read; answers of other APIs pass as they are."""
        choices = getattr(response, "choices", None) or []
        format = self._format(data)
        if format is None or not all(hasattr(choice, "message") for choice in choices):
            return response
        tools = Tools.of(data.get("tools") or [])
        for choice in choices:
            parser = Parser(format, tools)
            events = parser.feed(choice.message.content or "") + parser.finish(choice.finish_reason)
            envelope = adapters.Envelope(response.id, data["model"], response.created)
            (read,) = adapters.chat.whole(events, envelope)["choices"]
            choice.message = type(choice.message)(**{**vars(choice.message), **read["message"]})
            choice.finish_reason = read["finish_reason"]
        return response

    def _format(self, request: Mapping[str, Any]) -> formats.Format | None:
        model = request["model"]
        try:
            return formats.load(self.tables[model]) if model in self.tables else formats.for_model(model)
        except FormatError:
            return None
