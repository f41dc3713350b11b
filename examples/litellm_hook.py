"""A hook for a LiteLLM proxy: an engine that writes its calls as text answers with real tool calls.

Name it in the proxy's configuration, with this file beside it:

    litellm_settings: { callbacks: litellm_hook.handler }

The engine must leave special tokens in the text (vLLM: `skip_special_tokens: false`) and run without a tool parser.
Only streams pass through this hook.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from gateway_args import FormatError, Parser, Tools, adapters, formats

try:
    from litellm.integrations.custom_logger import CustomLogger as Base  # type: ignore[import-not-found, unused-ignore]
    from litellm.types.utils import ModelResponseStream  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # to be read and tested without LiteLLM
    Base, ModelResponseStream = object, dict


class ToolCalls(Base):  # type: ignore[misc, unused-ignore]
    """Reads the content of each choice and passes on what it says.

    `tables` names the format of the proxy's models whose names do not tell it; `make` turns a Chat chunk into the
    proxy's object.
    """

    def __init__(self, tables: Mapping[str, str] | None = None, make: Callable[..., Any] = ModelResponseStream) -> None:
        super().__init__()
        self.tables = tables or {}
        self.make = make

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: AsyncIterator[Any], request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        model = request_data["model"]
        try:
            format = formats.load(self.tables[model]) if model in self.tables else formats.for_model(model)
        except FormatError:  # a model that no table knows: its stream passes as it is
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
                    envelope = adapters.Envelope(chunk.id, model, chunk.created)
                    choices[choice.index] = (
                        Parser(format, tools),
                        adapters.chat.Stream(envelope, choice=choice.index),
                    )
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


handler = ToolCalls()
