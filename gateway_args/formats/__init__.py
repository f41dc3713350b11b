"""Formats by name, by alias, by model, from a file, and the constrained ones.

The tables are the TOML files of the data folder `formats/`; the folder named by `GATEWAY_ARGS_FORMATS` adds to them and
wins over a shipped table of the same name. `models.toml` there and here maps aliases and model ids to tables.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import _data
from ..errors import FormatError
from .table import Format, Marker, State

__all__ = [
    "Format",
    "Marker",
    "State",
    "aliases",
    "for_model",
    "forced",
    "load",
    "models",
    "names",
    "read",
    "required",
    "schema",
]

ENVIRONMENT = "GATEWAY_ARGS_FORMATS"
"""The environment variable that names a folder of further tables."""


def forced(name: str, base: Format | None = None) -> Format:
    """The format of an output that is this function's arguments and nothing else.

    With `base`, the model's thoughts and end-of-turn texts are read first.
    """
    from .constrained import forced

    return forced(name, base)


def required(base: Format | None = None) -> Format:
    """The format of an output that is a JSON list of calls: `[{"name": …, "parameters": …}]`; `base` as in `forced`."""
    from .constrained import required

    return required(base)


def schema() -> dict[str, Any]:
    """JSON Schema of a table, made from the classes that read one: what `formats/schema.json` holds."""
    from .build import schema

    return schema()


def load(name: str) -> Format:
    """The format of that name or alias, or the table at that path when it ends in `.toml`.

    Raises `FormatError`: no such format (with near names), or a table's own fault.
    """
    if name.endswith(".toml"):
        return read(name)
    path = _files().get(name)
    if path is None:
        known = aliases()
        target = known.get(name)
        path = _files().get(target) if target is not None else None
        if path is None:
            import difflib

            close = difflib.get_close_matches(name, [*_files(), *known], n=3)
            hint = f"; near names: {', '.join(close)}" if close else "; `gateway-args formats` lists them"
            raise FormatError(f"{name}: no format of that name{hint}")
    return _read(str(path), path.stat().st_mtime_ns)


def read(path: str | os.PathLike[str]) -> Format:
    """The table in this file; its name is the file's, without `.toml`."""
    file = Path(path)
    if not file.is_file():
        raise FormatError(f"{path}: no such file")
    return _read(str(file), file.stat().st_mtime_ns)


def names() -> tuple[str, ...]:
    """The names of all tables, in order."""
    return tuple(sorted(_files()))


def aliases() -> dict[str, str]:
    """Other projects' names for our tables: alias -> table."""
    found: dict[str, str] = {}
    for table, entry in _models().items():
        for alias in entry.get("aliases", ()):
            found.setdefault(alias, table)
    return found


def models() -> dict[str, str]:
    """Model id globs and the tables they mean, the most specific first."""
    found = {glob: table for table, entry in _models().items() for glob in entry.get("models", ())}
    return dict(sorted(found.items(), key=lambda item: (-_weight(item[0]), item[0])))


def for_model(model: str) -> Format:
    """The format of this model id, by the most specific glob that matches.

    Upper and lower case are one, and an id without its organisation matches too. Raises `FormatError` when none does,
    with near ids.
    """
    import difflib
    import fnmatch

    wanted = model.lower()
    known = models()
    for glob, table in known.items():
        if fnmatch.fnmatchcase(wanted, glob.lower()):
            return load(table)
    if "/" not in wanted:
        for glob, table in known.items():
            if fnmatch.fnmatchcase(wanted, glob.lower().rpartition("/")[2]):
                return load(table)
    plain = {glob.lower().replace("*", ""): glob for glob in known}
    close = difflib.get_close_matches(wanted, plain, n=3, cutoff=0.5)
    hint = ", ".join(f"{plain[near]} is {known[plain[near]]}" for near in close)
    raise FormatError(
        f"{model}: no table is known for this model"
        + (f"; near ones: {hint}" if hint else "")
        + "; choose a format by name (`gateway-args formats` lists them) or add the model to a models.toml in "
        + f"the folder that {ENVIRONMENT} names"
    )


def _weight(glob: str) -> int:
    """How specific a glob is: the characters that it fixes."""
    return sum(1 for char in glob if char not in "*?")


def _folders() -> list[Path]:
    own = _data.folder("formats")
    extra = os.environ.get(ENVIRONMENT)
    return [own, Path(extra)] if extra else [own]


def _files() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in _folders():
        if not folder.is_dir():
            raise FormatError(f"{folder}: no such folder; {ENVIRONMENT} names it")
        found.update(_tables(str(folder), folder.stat().st_mtime_ns))
    return found


@lru_cache(maxsize=16)
def _tables(folder: str, _changed: int) -> dict[str, Path]:
    return {file.stem: file for file in sorted(Path(folder).glob("*.toml")) if file.stem != "models"}


def _models() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for folder in _folders():
        file = folder / "models.toml"
        if file.is_file():
            for table, entry in _entries(str(file), file.stat().st_mtime_ns).items():
                if table not in _files():
                    raise FormatError(
                        f"models: {table}: no table of that name; a table is a file beside models.toml, {table}.toml"
                    )
                merged = found.setdefault(table, {"aliases": [], "models": []})
                for key in ("aliases", "models"):
                    merged[key] = [*entry.get(key, ()), *merged[key]]
    return found


@lru_cache(maxsize=16)
def _entries(path: str, changed: int) -> dict[str, dict[str, list[str]]]:
    """What a `models.toml` says of each table; `FormatError` where it is no list of texts under a known key."""
    said = _toml(path, changed)
    for table, entry in said.items():
        if not isinstance(entry, dict):
            raise FormatError(f"models: {table}: no table; write [{table}] above its aliases and models")
        for key, words in entry.items():
            if key not in ("aliases", "models"):
                raise FormatError(f"models: {table}.{key}: unknown key; there are 'aliases', 'models'")
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise FormatError(f"models: {table}.{key}: no list of texts")
    return said


@lru_cache(maxsize=256)
def _read(path: str, _changed: int) -> Format:
    from .build import build

    return build(Path(path).stem, _toml(path, _changed))


@lru_cache(maxsize=256)
def _toml(path: str, _changed: int) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{Path(path).stem}: no TOML: {error}") from error
    except RecursionError:
        raise FormatError(f"{Path(path).stem}: no TOML: nested too deep") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{Path(path).stem}: not UTF-8: byte {error.start}") from error
