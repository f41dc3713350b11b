"""What a request asks for, the same for all three APIs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ...limits import Limits
from ...parser import Parser
from ..values import Envelope, Options, Usage
from .engines import Engine, engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...formats import Format
    from ...tools import Tools

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether and what the model may call.

    `mode`: "none", "auto", "required" (one call or more) or "named" (this one function, `name`). `allowed`: the names
    that the request restricts the model to, None for all of its tools.
    """

    mode: Literal["none", "auto", "required", "named"] = "auto"
    name: str | None = None
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the whole output has to be, for an engine that can guide its decoding: a JSON document of this `schema`.

    `source`: "tool_choice" (the arguments of the named function, or a list of calls) or "output" (the client's own
    structured output). `schema` None: any JSON object.
    """

    source: Literal["tool_choice", "output"]
    schema: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Request:
    """A request of one of the three APIs.

    What it is:
    - `kind`, `model`, `stream`: the API, the model's name as the client wrote it, and whether the answer streams.
    - `choices`: Chat's `n`, else 1.
    - `messages`: the conversation in Chat's shape, the system prompt first, as a chat template takes it.
    - `tools`: the functions that the model may call, for the parser; none of them for the choice "none".
    - `template_tools`: the same in Chat's shape, for the chat template.
    - `choice`, `parallel`: what the model may call, and whether more than one call may reach the client.
    - `prefill`: what the assistant has already said and the output continues: the text of Messages' last assistant
      turn, and of Chat's with `continue_final_message`. Its message is the last one of `messages`.

    How to run it:
    - `stops`, `max_tokens`: the client's stop strings, and its bound on the output (None: the engine's own).
    - `effort`, `thinking`, `thinking_tokens`: the effort asked for ("low" …), whether reasoning is asked for (None: the
      model's default) and its budget of tokens.
    - `logprobs`: alternatives to tell for each token, None for no log probabilities.
    - `constraint`: what the whole output has to be, None for free text.
    - `sampling`: temperature, seed and the like, as the client wrote them.

    How to read the output and answer:
    - `model_format`: the format that the model writes. `format`: the one to read from an engine that keeps
      `constraint`: a forced function's or a required list's for such a `choice`, else the model's.
    - `usage`: whether the client is told the usage. `summary`: Responses: whether reasoning summaries are asked for.
    - `echo`: what the API repeats of the request in its response (Responses).
    """

    kind: Literal["chat", "responses", "messages"]
    model: str
    stream: bool
    messages: tuple[Message, ...]
    tools: Tools
    template_tools: tuple[dict[str, Any], ...]
    choice: ToolChoice
    format: Format
    model_format: Format
    choices: int = 1
    parallel: bool = True
    prefill: str = ""
    stops: tuple[str, ...] = ()
    max_tokens: int | None = None
    effort: str | None = None
    thinking: bool | None = None
    thinking_tokens: int | None = None
    logprobs: int | None = None
    constraint: Constraint | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    usage: bool = True
    summary: bool = False
    echo: Mapping[str, Any] = field(default_factory=dict)

    def engine(self, kind: str) -> Engine:
        """What to ask an engine of this kind for, and the format that its output is then read with.

        Kinds: `vllm`, `sglang`, `llama.cpp`, `trtllm`, and `plain` for any other that takes OpenAI's completion fields.
        """
        return engine(kind, self)

    def template(self) -> dict[str, Any]:
        """The arguments of a chat template: messages, tools, and how its prompt ends.

        Templates take the arguments of earlier calls as objects, not as text, and few know the role `developer`.
        """
        messages = [_for_template(message) for message in self.messages]
        given: dict[str, Any] = {"messages": messages, "add_generation_prompt": not self.prefill}
        if self.template_tools:
            given["tools"] = list(self.template_tools)
        if self.prefill:
            given["continue_final_message"] = True
        if self.thinking is not None:
            given["enable_thinking"] = self.thinking
        if self.effort is not None:
            given["reasoning_effort"] = self.effort
        return given

    def parser(
        self,
        prompt: str = "",
        *,
        format: Format | None = None,
        markers: Mapping[str, int] | None = None,
        call_ids: Callable[[int, str], str] | None = None,
        undeclared: str = "call",
        limits: Limits = Limits(),  # noqa: B008  (immutable)
    ) -> Parser:
        """A parser for one choice of the output; `format` is the engine's (`Engine.format`), by default `self.format`.

        `prompt` is the rendered prompt, with the prefill at its end or without it.
        """
        return Parser(
            format or self.format,
            self.tools,
            prompt=prompt.removesuffix(self.prefill),
            prefill=self.prefill,
            markers=markers,
            call_ids=call_ids,
            undeclared=undeclared,
            limits=limits,
        )

    def envelope(self, id: str, created: int, usage: Usage | None = None) -> Envelope:
        """The envelope of the answer; `id` differs from response to response, `created` is a Unix time in seconds."""
        return Envelope(id, self.model, created, usage or Usage(), extra=self.echo)

    def options(self, operator: Options | None = None) -> Options:
        """The adapters' options for this request, on top of the operator's own."""
        from dataclasses import replace

        base = operator or Options()
        return replace(
            base,
            parallel=base.parallel and self.parallel,
            include_usage=self.usage,
            reasoning_summary=base.reasoning_summary or self.summary,
            tools=self.tools,
        )


def _for_template(message: Message) -> Message:
    given = dict(message)
    if given.get("role") == "developer":
        given["role"] = "system"
    calls = given.get("tool_calls")
    if isinstance(calls, list):
        given["tool_calls"] = [_called(call) for call in calls]
    return given


def _called(call: Any) -> Any:
    match call:
        case {"function": {"arguments": str(text), **function}, **rest}:
            try:
                arguments = json.loads(text) if text else {}
            except (ValueError, RecursionError):
                return call
            return {**rest, "function": {**function, "arguments": arguments}}
    return call
