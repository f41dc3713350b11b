"""The guide's request bodies against the engines' own request models.

Run by hand: unpack vLLM's sdist and SGLang's wheel from PyPI, `pip install msgspec openai pydantic`, then

    python tests/oracles/request_bodies.py VLLM_FOLDER SGLANG_FOLDER

Their request models run as they are, and what they do not name is refused; what else of the engines these modules
import is a stub. TensorRT-LLM's body is tried in `xgrammar_grammars.py`: what it checks of a tag is xgrammar's model.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pydantic

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import test_guided_decoding
from engine_sources import Finder, Stub

REAL = {
    "vllm": (
        "vllm.sampling_params",
        "vllm.entrypoints.generate.base.protocol",
        "vllm.entrypoints.openai.chat_completion.protocol",
    ),
    "sglang": ("sglang.srt.sampling.sampling_params", "sglang.srt.entrypoints.openai.protocol"),
}
BODIES = {
    "vllm": ("vllm", "vllm_response_format", "vllm_guidance"),
    "sglang": ("sglang", "sglang_llguidance"),
}


class Closed(pydantic.BaseModel):
    """A request model that refuses fields which it does not name."""

    model_config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def answer(module: str, name: str) -> Any:
    """What a stub has by this name."""
    if name == "OpenAIBaseModel":
        return Closed
    if name.endswith("Mixin"):
        return type(name, (), {})
    if name.endswith("Error"):
        return type(name, (ValueError,), {})
    if name.isupper():
        return 64  # a bound
    if re.match("[A-Z][a-z]", name) or module in ("numpy", "torch"):
        return Any
    return lambda *_, **__: Stub(name, answer)


def request_model(engine: str, folder: Path) -> type[pydantic.BaseModel]:
    stubbed = (engine, "torch", "transformers", "xgrammar", "numpy")
    sys.meta_path.insert(0, Finder(folder, REAL[engine], stubbed, answer))
    module = importlib.import_module(REAL[engine][-1])
    model: type[pydantic.BaseModel] = module.ChatCompletionRequest
    return model


def refusal(model: type[pydantic.BaseModel], body: dict[str, Any]) -> str:
    """Why the engine's request model refuses the body, if it does."""
    fields = {alias for name, field in model.model_fields.items() for alias in (name, field.alias)}
    if unknown := sorted(set(body) - fields):
        return f"no field {', '.join(unknown)}"
    try:
        model.model_validate(body)
    except ValueError as error:
        return str(error)
    return ""


def generate_refusal(body: dict[str, Any]) -> str:
    """Why SGLang's own sampling parameters refuse those of a body for `/generate`, if they do."""
    parameters = importlib.import_module("sglang.srt.sampling.sampling_params").SamplingParams
    assert set(body) == {"text", "sampling_params"}
    try:
        parameters(**{**body["sampling_params"], "structured_tag": ""})
    except TypeError:
        pass
    else:
        return "a field that does not exist is taken"
    try:
        parameters(**body["sampling_params"]).verify(1000)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def main() -> int:
    names, _ = test_guided_decoding.run()
    wrong = 0
    for engine, folder in zip(BODIES, sys.argv[1:], strict=True):
        model = request_model(engine, Path(folder))
        for body in BODIES[engine]:
            problem = refusal(model, names[body])
            wrong += problem != ""
            print(f"{body}: {problem or 'taken'}")
            assert refusal(model, {**names[body], "structured_tag": {}}), "a field that does not exist is taken"
    problem = generate_refusal(names["sglang_generate"])
    print(f"sglang_generate: {problem or 'taken'}")
    wrong += problem != ""
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
