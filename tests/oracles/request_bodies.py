"""The guide's request bodies against the engines' own request models.

Run by hand: unpack vLLM's sdist and SGLang's wheel from PyPI, `pip install msgspec openai pydantic`, then

    python tests/oracles/request_bodies.py VLLM_FOLDER SGLANG_FOLDER

Their request models run as they are, and what they do not name is refused; what else of the engines these modules
import is a stub. TensorRT-LLM's body is tried in `xgrammar_grammars.py`: what it checks of a tag is xgrammar's model.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
import types
from pathlib import Path
from typing import Any

import pydantic

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

import test_guided_decoding

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


class Stub(types.ModuleType):
    """A module that has whatever it is asked for."""

    __path__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "OpenAIBaseModel":
            return Closed
        if name.endswith("Mixin"):
            return type(name, (), {})
        if name.endswith("Error"):
            return type(name, (ValueError,), {})
        if name.isupper():
            return 64  # a bound
        if re.match("[A-Z][a-z]", name) or self.__name__ in ("numpy", "torch"):
            return Any
        return lambda *_, **__: Stub(name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An engine as far as its request models need it."""

    def __init__(self, engine: str, folder: Path) -> None:
        self.engine = engine
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name in REAL[self.engine]:
            file = self.folder / (name.replace(".", "/") + ".py")
            return importlib.util.spec_from_file_location(name, file)
        if name.partition(".")[0] in (self.engine, "torch", "transformers", "xgrammar", "numpy"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        return Stub(spec.name)

    def exec_module(self, module: Any) -> None:
        pass


def request_model(engine: str, folder: Path) -> type[pydantic.BaseModel]:
    sys.meta_path.insert(0, Finder(engine, folder))
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
