"""What to send to which engine: one row a kind, of its paths and of what its chat endpoint spells in its own way.

Two routes lead to an engine. On `render` the engine's own chat template makes the prompt, which then goes to its text
completion: the prompt is seen, so where the output starts is known, and no parser of the engine's can touch the text.
On `chat` the messages go to its chat endpoint with its tool parser out of the way.

vLLM refuses tools with any choice but "none" unless its own parser is on, and with "none" still shows them to the
model (unless it runs with `--exclude-tools-when-tool-choice-none`). SGLang hides them with "none", so there the choice
stays open. llama.cpp's chat endpoint always parses: it has the route `render` alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ..adapters import BadRequest
from ..grammar import GrammarError, structural_tag
from ..parser import Parser
from ..reading import fold
from ..tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..adapters import Request
    from ..engines import Endpoint
    from ..formats import Format
    from ..grammar import Reasoning
    from .models import Known
    from .settings import Settings

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Upstream:
    """One kind of engine: its routes (the first is the default) and endpoints.

    `render` is the path that renders messages, `rendered` its answer's field, `text_path` what turns token ids into
    text, `count` what counts tokens. `completion` is the endpoint of text completion. `chat_fields` go to the chat
    endpoint besides, `chat_choice` is the tool choice that keeps its parser off, `chat_output` how it spells a JSON
    output. `tag` spells a structural tag. `continues`: it can go on with an assistant's turn; `several`: it
    can generate several choices. `switches` are a chat
    template's names for thinking, of which a template looks at its own (DeepSeek's is the second).
    """

    routes: tuple[str, ...]
    completion: Endpoint = "completions"
    render: str = ""
    rendered: str = ""
    text_path: str = ""
    count: str = ""
    chat_choice: str | None = None
    chat_fields: Mapping[str, Any] = field(default_factory=dict)
    chat_output: Callable[[Mapping[str, Any]], Fields] | None = None
    tag: Callable[[Mapping[str, Any]], Fields] | None = None
    continues: bool = True
    several: bool = True
    switches: tuple[str, ...] = ("enable_thinking", "thinking")


def _response_format(schema: Mapping[str, Any]) -> Fields:
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": "output", "schema": dict(schema)}},
    }


UPSTREAMS: Final[Mapping[str, Upstream]] = {
    "vllm": Upstream(
        routes=("render", "chat"),
        render="/tokenize",
        rendered="tokens",
        text_path="/detokenize",
        count="/tokenize",
        chat_choice="none",
        tag=lambda tag: {"structured_outputs": {"structural_tag": _text(tag)}},
    ),
    "sglang": Upstream(
        routes=("chat",),
        chat_fields={"separate_reasoning": False},
        chat_output=_response_format,
        tag=lambda tag: {"response_format": dict(tag)},
    ),
    "llama.cpp": Upstream(
        routes=("render",),
        completion="native",
        render="/apply-template",
        rendered="prompt",
        count="/tokenize",
        several=False,
    ),
    "trtllm": Upstream(
        routes=("chat",),
        tag=lambda tag: {"response_format": dict(tag)},
        continues=False,
        switches=("enable_thinking",),  # it refuses one that the template does not use
    ),
    "plain": Upstream(routes=("chat",), continues=False),
}


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to an engine: its endpoint, the body, the format to read, and what is known of the prompt.

    `start` is the state where the output starts, where no prompt says it. `notes` say what is not enforced.
    """

    endpoint: Endpoint
    body: Fields
    format: Format
    prompt: str
    start: str | None = None
    notes: tuple[str, ...] = ()


def route_of(settings: Settings) -> str:
    """The route that these settings take; ValueError where the engine has no such route."""
    known = UPSTREAMS[settings.engine].routes
    if settings.route == "auto":
        return known[0]
    if settings.route not in known:
        raise ValueError(f"route: {settings.engine} has no route {settings.route!r}; it has {', '.join(known)}")
    return settings.route


def template_body(settings: Settings, request: Request, model: Known) -> Fields:
    """What an engine renders a prompt from. BadRequest: the engine cannot do what is asked."""
    table = UPSTREAMS[settings.engine]
    if request.prefill and not table.continues:
        told = f"the last message is the assistant's, and a {settings.engine} engine cannot go on with it"
        raise BadRequest(request.kind, told, param="messages")
    if request.choices > 1 and not table.several:
        raise BadRequest(request.kind, f"n: a {settings.engine} engine generates one choice", param="n")
    given: Fields = request.template()
    switches: Fields = {}
    if "enable_thinking" in given:
        switches = dict.fromkeys(table.switches, given.pop("enable_thinking"))
    if "reasoning_effort" in given:
        switches["reasoning_effort"] = given.pop("reasoning_effort")
    return {"model": model.upstream, **given, **({"chat_template_kwargs": switches} if switches else {})}


def completion(settings: Settings, request: Request, model: Known, prompt: str, sent: str | list[int]) -> Ask:
    """The request of text completion behind this prompt; `sent` is the prompt as the engine takes it."""
    asked = _asked(settings, request, prompt)
    body = {"model": model.upstream, "prompt": sent, **asked.fields}
    endpoint = UPSTREAMS[settings.engine].completion
    if asked.json and _reasoning(request.model_format, prompt) == "open":
        # JSON from the first token on: the thought that the prompt opened is never continued.
        return Ask(endpoint, body, asked.format, "", asked.format.home, asked.notes)
    return Ask(endpoint, body, asked.format, prompt, None, asked.notes)


def chat(settings: Settings, request: Request, model: Known) -> Ask:
    """The request of the chat endpoint, with its own parsers off.

    The prompt is not seen: the output starts where the model map says, or where the table does; in content when the
    request switched thoughts off.
    """
    table = UPSTREAMS[settings.engine]
    asked = _asked(settings, request, "")
    body = {**template_body(settings, request, model), **asked.fields, **table.chat_fields}
    if body["add_generation_prompt"]:
        del body["add_generation_prompt"]
    if table.chat_choice is not None and "tools" in body:
        body["tool_choice"] = table.chat_choice
    if request.logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": request.logprobs}
    if asked.json and table.chat_output is not None and request.constraint is not None:
        body = {key: value for key, value in body.items() if key != "json_schema"}
        body |= table.chat_output(request.constraint.schema or {"type": "object"})
    start = None if asked.json else asked.format.home if request.thinking is False else model.start
    return Ask("chat", body, asked.format, "", start, asked.notes)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The fields besides the prompt, and whether they make the whole output a JSON document."""

    fields: Fields
    format: Format
    json: bool = False
    notes: tuple[str, ...] = ()


def _asked(settings: Settings, request: Request, prompt: str) -> _Asked:
    """A forced call is asked for as a structural tag where that can be said, else as JSON."""
    table = UPSTREAMS[settings.engine]
    constraint = request.constraint
    if constraint is not None and constraint.source == "tool_choice":
        free = replace(request, constraint=None, format=request.model_format).engine(settings.engine)
        if settings.guided == "off":
            return _Asked(free.fields, free.format, notes=("the tool choice is not enforced",))
        if settings.guided == "tag" and table.tag is not None:
            try:
                tag = structural_tag(
                    request.model_format,
                    request.tools,
                    choice=request.choice.name or "required",
                    parallel=request.parallel,
                    reasoning=_reasoning(request.model_format, prompt),
                )
            except GrammarError:
                pass  # the format's calls cannot be said in this grammar: JSON instead
            else:
                return _Asked({**free.fields, **table.tag(tag.value)}, free.format, notes=tag.unenforced)
    asked = request.engine(settings.engine)
    guided = constraint is not None and settings.engine != "plain"
    return _Asked(asked.fields, asked.format, json=guided)


def _reasoning(format: Format, prompt: str) -> Reasoning:
    """Whether an output behind this prompt may hold a thought, or is in one already."""
    if "reasoning" not in format.states:
        return "none"
    parser = Parser(format, Tools.of([]), prompt=prompt)
    return "open" if fold(parser.feed("x") + parser.finish("stop")).reasoning else "optional"


def _text(tag: Mapping[str, Any]) -> str:
    return json.dumps(tag, ensure_ascii=False)
