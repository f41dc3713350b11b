"""The demonstration's engine as an ASGI application: the endpoints that the gateway uses of each kind of engine.

The last word of the user's last turn picks what happens: `boats` (also anything else, where there are tools),
`heater`, `both`, `wrong` (arguments that are not the schema's), `hello`; and faults, as engines have them: `broken` (an
event that is no JSON), `error` (an error told in the stream), `die` (the connection is dropped in the middle of a
call), `stall` (nothing more comes), `endless` (a call that never ends), `bytes` (one byte at a time), `busy` (503),
`refuse` (400), `nofinish` (the stream ends without a finish reason), `length` (cut by the token limit).
"""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .outputs import ARGUMENTS, Output, outputs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.requests import Request

CONTEXT: Final = 32_768
"""Tokens that a prompt may have."""
_TRTLLM_KNOWN: Final = {
    "model", "prompt", "messages", "tools", "tool_choice", "best_of", "echo", "frequency_penalty", "logit_bias",
    "logprobs", "top_logprobs", "max_tokens", "max_completion_tokens", "n", "presence_penalty", "seed", "stop",
    "stream", "stream_options", "suffix", "temperature", "top_p", "user", "top_k", "min_p", "repetition_penalty",
    "skip_special_tokens", "spaces_between_special_tokens", "detokenize", "add_special_tokens", "response_format",
    "chat_template_kwargs", "add_generation_prompt", "reasoning_effort",
}  # fmt: skip


class Refused(Exception):
    """A request that a real server answers with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def app(kind: str = "vllm", *, key: str | None = None, pace: float = 0.0, stall: float = 3600.0) -> Starlette:
    """The server of an engine of this kind.

    With `key` it asks for that bearer token. `pace` is seconds a delta, `stall` how long `stall` says nothing.
    """
    engine = _Engine(kind, key, pace, stall)
    post = {
        "/v1/completions": engine.completions,
        "/v1/chat/completions": engine.chat,
        "/tokenize": engine.tokenize,
        "/detokenize": engine.detokenize,
        "/apply-template": engine.apply_template,
        "/completion": engine.completion,
    }
    served = Starlette(
        routes=[
            Route("/v1/models", engine.models, methods=["GET"]),
            *(Route(path, engine.guarded(run), methods=["POST"]) for path, run in post.items()),
        ]
    )
    served.state.engine = engine
    return served


@dataclass(frozen=True)
class _Run:
    """One generation as it is streamed."""

    model: Output
    reply: str
    word: str
    choices: range
    keep: bool
    head: Mapping[str, Any]
    end: Mapping[str, Any]
    usage: int | None
    chat: bool
    logprobs: bool


class _Engine:
    def __init__(self, kind: str, key: str | None, pace: float, stall: float) -> None:
        self.kind = kind
        self.key = key
        self.pace = pace
        self.stall = stall
        self.running = 0
        self.cancelled = 0

    def guarded(self, run: Callable[[dict[str, Any]], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(http: Request) -> Response:
            try:
                if self.key is not None and http.headers.get("authorization") != f"Bearer {self.key}":
                    raise Refused(401, "Unauthorized")
                try:
                    body = await http.json()
                except ValueError:
                    raise Refused(400, "the body is no JSON") from None
                if not isinstance(body, dict):
                    raise Refused(400, "the body is no object")
                return await run(body)
            except Refused as error:
                return JSONResponse(
                    {"error": {"message": str(error), "type": "BadRequestError", "code": error.status}}, error.status
                )

        return endpoint

    async def models(self, http: Request) -> Response:
        if self.key is not None and http.headers.get("authorization") != f"Bearer {self.key}":
            return JSONResponse({"error": {"message": "Unauthorized", "code": 401}}, 401)
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "demonstration"} for name in outputs()]
        return JSONResponse({"object": "list", "data": listed})

    # ---- prompts

    async def tokenize(self, body: dict[str, Any]) -> Response:
        if "content" in body:  # llama.cpp's
            return JSONResponse({"tokens": [ord(c) for c in str(body["content"])]})
        model = self._model(body)
        ids = model.encode(self._rendered(model, body) if "messages" in body else str(body.get("prompt", "")))
        return JSONResponse({"count": len(ids), "max_model_len": CONTEXT, "tokens": ids})

    async def detokenize(self, body: dict[str, Any]) -> Response:
        return JSONResponse({"prompt": self._model(body).decode(body["tokens"])})

    async def apply_template(self, body: dict[str, Any]) -> Response:
        model = self._model(body)
        messages = body["messages"]
        if messages and messages[-1].get("role") == "assistant":  # it continues an assistant's last turn by itself
            body = {**body, "continue_final_message": True}
        return JSONResponse({"prompt": self._rendered(model, body)})

    def _rendered(self, model: Output, body: Mapping[str, Any]) -> str:
        if not isinstance(body.get("messages"), list):
            raise Refused(400, "messages: expected a list")
        switch = body.get("chat_template_kwargs") or {}
        continued = bool(body.get("continue_final_message"))
        if continued and body.get("add_generation_prompt"):
            raise Refused(400, "Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
        return model.render(
            body["messages"],
            body.get("tools"),
            thinking=bool(switch.get("enable_thinking", switch.get("thinking", False))),
            add_generation_prompt=bool(body.get("add_generation_prompt", True)),
            continue_final=continued,
        )

    def _model(self, body: Mapping[str, Any]) -> Output:
        known = outputs()
        name = str(body.get("model"))
        if self.kind == "llama.cpp" and name not in known:
            name = next(iter(known))  # one server has one model, whatever it is called
        if name not in known:
            raise Refused(404, f"The model `{name}` does not exist.")
        return known[name]

    # ---- generation

    async def completions(self, body: dict[str, Any]) -> Response:
        model = self._model(body)
        self._check(body)
        prompt = body.get("prompt")
        if isinstance(prompt, list):
            prompt = model.decode(prompt)
        if not isinstance(prompt, str) or not prompt:
            raise Refused(400, "prompt: expected a text or token ids")
        return await self._generate(model, prompt, body, chat=False)

    async def chat(self, body: dict[str, Any]) -> Response:
        model = self._model(body)
        self._check(body)
        tools, choice = body.get("tools"), body.get("tool_choice", "auto")
        if self.kind == "vllm" and tools and choice != "none":
            reply = '"auto" tool choice' if choice == "auto" else "tool choice"
            raise Refused(400, f"{reply} requires --enable-auto-tool-choice and --tool-call-parser to be set")
        if self.kind == "sglang" and choice == "none":
            body = {**body, "tools": None}
        return await self._generate(model, self._rendered(model, body), body, chat=True)

    async def completion(self, body: dict[str, Any]) -> Response:
        """llama.cpp's own."""
        model = self._model(body)
        if not isinstance(body.get("prompt"), str):
            raise Refused(400, '"prompt" must be a text')
        kept: set[str] = set(body.get("preserved_tokens") or ())
        prompt = body["prompt"]
        reply = self._reply(model, prompt, body)
        word = model.asked(prompt)
        self._refuse(word)
        if not body.get("stream"):
            parts = list(model.pieces(reply))
            text = "".join(t for _, t in parts if t not in model.special or t in kept)
            return JSONResponse({"content": text, **self._llama_end(prompt, sum(len(i) for i, _ in parts))})
        return StreamingResponse(self._llama(model, prompt, reply, word, kept), media_type="text/event-stream")

    def _llama_end(self, prompt: str, spent: int) -> dict[str, Any]:
        return {
            "stop": True,
            "stop_type": "eos",
            "stopping_word": "",
            "tokens_predicted": spent,
            "tokens_evaluated": len(prompt),
            "timings": {"cache_n": 0},
        }

    async def _llama(self, model: Output, prompt: str, reply: str, word: str, kept: set[str]) -> AsyncIterator[bytes]:
        spent = 0
        async for ids, text in self._paced(model, reply, word):
            spent += len(ids)
            shown = text if text not in model.special or text in kept else ""
            yield _event({"index": 0, "content": shown, "tokens": ids, "stop": False})
        yield _event({"index": 0, "content": "", "tokens": [], **self._llama_end(prompt, spent)})

    def _check(self, body: Mapping[str, Any]) -> None:
        """What every one of the servers refuses."""
        if body.get("stream_options") and not body.get("stream"):
            raise Refused(400, "Stream options can only be defined when `stream=True`.")
        for key in ("max_tokens", "max_completion_tokens", "n"):
            value = body.get(key)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise Refused(400, f"{key} must be at least 1, got {value}")
        temperature = body.get("temperature")
        if temperature is not None and (not isinstance(temperature, int | float) or temperature < 0):
            raise Refused(400, f"temperature must be non-negative, got {temperature}")
        if self.kind == "trtllm":
            unknown = sorted(body.keys() - _TRTLLM_KNOWN)
            if unknown:
                raise Refused(400, f"{unknown[0]}: Extra inputs are not permitted")

    def _refuse(self, word: str) -> None:
        if word == "busy":
            raise Refused(503, "no capacity")
        if word == "refuse":
            raise Refused(400, "this prompt is refused")

    def _reply(self, model: Output, prompt: str, body: Mapping[str, Any]) -> str:
        """The output, under the request's constraint where it has one."""
        guided = body.get("structured_outputs") or {}
        response = body.get("response_format") or {}
        schema = guided.get("json", body.get("json_schema"))
        if response.get("type") == "json":
            schema = response.get("schema")
        elif response.get("type") == "json_schema":
            schema = (response.get("json_schema") or {}).get("schema")
        if isinstance(schema, str):
            schema = json.loads(schema)
        tag = guided.get("structural_tag") or (response if response.get("type") == "structural_tag" else None)
        if tag is not None:
            text = tag if isinstance(tag, str) else json.dumps(tag)
            name = next((name for name in ARGUMENTS if name in text), None)
            reply = model.call(name) if name else None
            if reply is None:
                raise Refused(400, "the demonstration has no output for this grammar")
            return model.thinking + reply if model.always_thinks else reply
        if isinstance(schema, dict):
            return json.dumps(instance(schema))
        return model.answer(prompt)

    async def _generate(self, model: Output, prompt: str, body: dict[str, Any], *, chat: bool) -> Response:
        spent_on_prompt = len(model.encode(prompt))
        if spent_on_prompt > CONTEXT:
            raise Refused(400, f"This model's maximum context length is {CONTEXT} tokens; the prompt has more")
        word = model.asked(prompt)
        self._refuse(word)
        reply = self._reply(model, prompt, body)
        choices = range(body.get("n") or 1)
        keep = not body.get("skip_special_tokens", True)
        head = {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-{secrets.token_hex(8)}",
            "created": 0,
            "model": model.model,
        }
        if word == "length":
            reply = reply[: len(reply) * 2 // 3]
        stops = [text for text in body.get("stop") or () if text in reply]
        stopped = min(stops, key=reply.index, default=None)
        if stopped is not None:
            reply = reply[: reply.index(stopped)]
        told = bool((body.get("stream_options") or {}).get("include_usage"))
        run = _Run(
            model,
            reply,
            word,
            choices,
            keep,
            head | {"object": ("chat.completion.chunk" if chat else "text_completion")},
            {"finish_reason": "length" if word == "length" else "stop", "stop_reason": stopped},
            spent_on_prompt if told else None,
            chat,
            body.get("logprobs") not in (None, False),
        )
        if body.get("stream"):
            stream = self._stream(run)
            return StreamingResponse(_bytewise(stream) if word == "bytes" else stream, media_type="text/event-stream")
        if word == "stall":
            await asyncio.sleep(self.stall)
        parts = list(model.pieces(reply))
        text = "".join(t for _, t in parts if keep or t not in model.special)
        spoken: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        spent = sum(len(ids) for ids, _ in parts) * len(choices)
        whole = [{"index": n, **spoken, **run.end} for n in choices]
        kind = "chat.completion" if chat else "text_completion"
        return JSONResponse({**head, "object": kind, "choices": whole, "usage": _usage(spent_on_prompt, spent)})

    async def _stream(self, run: _Run) -> AsyncIterator[bytes]:
        spent = 0
        self.running += 1
        try:
            async for ids, text in self._paced(run.model, run.reply, run.word):
                shown = text if run.keep or text not in run.model.special else ""
                for n in run.choices:
                    spent += len(ids)
                    part: dict[str, Any] = {"delta": {"content": shown}} if run.chat else {"text": shown}
                    if run.logprobs:
                        part["logprobs"] = _logprobs(shown, run.chat)
                    yield _event({**run.head, "choices": [{"index": n, **part, "finish_reason": None}]})
                if run.word in ("broken", "error") and spent > 12:
                    error = {"error": {"message": "the engine ran out of memory", "code": 500}}
                    yield b'data: {"id": "cmpl\n\n' if run.word == "broken" else _event(error)
                    if run.word == "error":
                        return
            if run.word == "nofinish":
                return
            for n in run.choices:
                part = {"delta": {}} if run.chat else {"text": ""}
                yield _event({**run.head, "choices": [{"index": n, **part, **run.end}]})
            if run.usage is not None:
                yield _event({**run.head, "choices": [], "usage": _usage(run.usage, spent)})
            yield b"data: [DONE]\n\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled += 1
            raise
        finally:
            self.running -= 1

    async def _paced(self, model: Output, reply: str, word: str) -> AsyncIterator[tuple[list[int], str]]:
        if word in ("die", "endless", "stall"):
            reply = model.boats[: model.boats.index("Quay") + 4]
        for ids, text in model.pieces(reply):
            await asyncio.sleep(self.pace)
            yield ids, text
        if word == "die":
            raise ConnectionResetError("the demonstration drops the connection")
        if word == "stall":
            await asyncio.sleep(self.stall)
        while word == "endless":
            await asyncio.sleep(max(self.pace, 0.001))
            yield [ord(c) for c in " and on"], " and on"


def _logprobs(text: str, chat: bool) -> dict[str, Any]:
    """A log probability for each character, which is this vocabulary's token."""
    if chat:
        return {
            "content": [{"token": c, "logprob": -0.25, "bytes": list(c.encode()), "top_logprobs": []} for c in text]
        }
    return {"tokens": list(text), "token_logprobs": [-0.25] * len(text), "top_logprobs": None, "text_offset": []}


def instance(schema: Any, depth: int = 0) -> Any:
    """A value of this schema: the demonstration's own arguments where they fit, else the least there is."""
    if not isinstance(schema, dict) or depth > 8:
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return instance(schema[key][0], depth + 1)
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "object":
            known = schema.get("properties") or {}
            fit = next((reply for reply in ARGUMENTS.values() if reply.keys() <= known.keys()), None)
            if fit is not None:
                return fit
            return {key: instance(known.get(key), depth + 1) for key in schema.get("required") or known}
        case "array":
            return [instance(schema.get("items"), depth + 1)] * max(schema.get("minItems", 0), 0)
        case "string":
            return "a text"
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
    return None


def _usage(prompt: int, spent: int) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": spent, "total_tokens": prompt + spent}


def _event(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


async def _bytewise(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for data in stream:
        for byte in data:
            yield bytes([byte])
