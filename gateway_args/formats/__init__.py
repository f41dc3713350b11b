"""Formats by name, by alias, by model, from a file, and the constrained ones.

The tables are the TOML files of the data folder `formats/`; the folder named by `GATEWAY_ARGS_FORMATS` adds to them and
wins over a shipped table of the same name. `models.toml` there and here maps aliases and model ids to tables. What
ships is read once a process, the operator's folder is looked at on every call (`catalogue`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import catalogue
from .catalogue import ENVIRONMENT
from .table import Format, Marker, State

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ..diagnosis import Detection
    from ..learning import Learned, Options
    from ..tools import Tools

__all__ = [
    "ENVIRONMENT",
    "Format",
    "Marker",
    "State",
    "aliases",
    "detect",
    "for_model",
    "forced",
    "from_response_template",
    "learn",
    "load",
    "models",
    "names",
    "read",
    "required",
    "schema",
    "to_response_template",
]


def forced(name: str, base: Format | None = None) -> Format:
    """The format of an output that is this function's arguments and nothing else.

    With `base`, the model's thoughts and end-of-turn texts are read first.
    """
    from .constrained import forced

    if not isinstance(name, str):
        raise TypeError(f"formats.forced: expected a function's name, got {name!r}")
    return forced(name, _base("forced", base))


def required(base: Format | None = None) -> Format:
    """The format of an output that is a JSON list of calls: `[{"name": …, "parameters": …}]`; `base` as in `forced`."""
    from .constrained import required

    return required(_base("required", base))


def _base(function: str, base: Format | None) -> Format | None:
    if base is not None and not isinstance(base, Format):
        raise TypeError(f"formats.{function}: expected a Format as base, got {base!r}; load one with formats.load")
    return base


def from_response_template(
    template: Mapping[str, Any], *, name: str = "response_template", tools_field: str = "tool_calls"
) -> Format:
    """The format that a response template (`response_template` of a `tokenizer_config.json`) describes.

    Raises `FormatError` with the field and the construct that a table cannot say.
    """
    from ..learning import from_response_template

    return from_response_template(template, name=name, tools_field=tools_field)


def to_response_template(format: Format, *, call: str | None = None, notes: list[str] | None = None) -> dict[str, Any]:
    """The response template of a format, for authors of models; `notes` gathers what it leaves out.

    A template reads one call syntax: `call` names it, or the first that a marker opens is taken. Raises `FormatError`
    with the place in the table for what cannot be expressed.
    """
    from ..learning import to_response_template

    return to_response_template(format, call=call, notes=notes)


def learn(
    chat_template: str, *, special_tokens: Mapping[str, str] | None = None, options: Options | None = None
) -> Learned:
    """The table that reads what this chat template writes, proved (extra `learn`); see `gateway_args.learning`."""
    from ..learning import learn

    return learn(chat_template, special_tokens=special_tokens, options=options)


def detect(text: str, *, prompt: str = "", tools: Tools | None = None) -> Detection:
    """Which tables read this output with calls and without malformed text, the best first, and why.

    Where none does, it says which tables' special tokens seem to have been skipped. `prompt` is the prompt, or its end;
    `tools` are the request's.
    """
    from ..diagnosis import detect

    return detect(text, prompt=prompt, tools=tools)


def schema() -> dict[str, Any]:
    """JSON Schema of a table, made from the classes that read one: what `formats/schema.json` holds."""
    from .build import schema

    return schema()


def load(name: str) -> Format:
    """The format of that name or alias, or the table at that path when it ends in `.toml`.

    Raises `FormatError`: no such format (with near names), or a table's own fault.
    """
    if not isinstance(name, str):
        raise TypeError(f"formats.load: expected a format's name, got {name!r}; formats.read takes a path")
    if name.endswith(".toml"):
        return read(name)
    return catalogue.current().load(name)


def read(path: str | os.PathLike[str]) -> Format:
    """The table in this file; its name is the file's, without `.toml`."""
    return catalogue.read(Path(path))


def names() -> tuple[str, ...]:
    """The names of all tables, in order."""
    return tuple(sorted(catalogue.current().files))


def aliases() -> dict[str, str]:
    """Other projects' names for our tables: alias -> table."""
    return dict(catalogue.current().aliases)


def models() -> dict[str, str]:
    """Model id globs and the tables they mean, the most specific first."""
    return dict(catalogue.current().ids.tables)


def for_model(model: str) -> Format:
    """The format of this model id, by the most specific glob that matches.

    Copies under other owners, with suffixes of quantisation, as paths and as file names mean the model that they are
    a copy of (`model_ids`). Raises `FormatError` when no table is known, with near ids.
    """
    if not isinstance(model, str):
        raise TypeError(f"formats.for_model: expected a model id, got {model!r}")
    return catalogue.current().for_model(model)
