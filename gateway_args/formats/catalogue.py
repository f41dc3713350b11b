"""The tables that can be loaded just now: those that ship, and those of the folder that an operator adds.

What ships is read once a process. The operator's folder is looked at whenever a format is asked for: its listing, its
`models.toml` and the one table that is asked for, three file times. A table that was added, changed or taken out
counts from the next call on; what was loaded before stays what it was.
"""

from __future__ import annotations

import os
import re
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .. import _data
from ..errors import FormatError
from .model_ids import ModelIds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .table import Format

ENVIRONMENT: Final = "GATEWAY_ARGS_FORMATS"
"""The environment variable that names a folder of further tables."""

KEPT_MODELS: Final = 1024
"""Ids whose table is remembered; past this all are forgotten and found anew."""

Stamp = tuple[int, int, int]


class Catalogue:
    """The tables of some folders at one moment, with aliases and model ids; a later folder wins over an earlier one.

    `models.toml` is read when an alias or a model id is asked for: a mistake in it hides no table.
    """

    def __init__(self, own: Path, extra: Path | None) -> None:
        self._folders: Final = [own] if extra is None else [own, extra]
        self.files: Final = {file.stem: file for folder in self._folders for file in _tables(folder)}
        self._loaded: Final[dict[str, tuple[Format, str, Stamp | None]]] = {}
        self._models: Final[dict[str, str]] = {}

    @cached_property
    def _named(self) -> Mapping[str, Mapping[str, list[str]]]:
        """Aliases and model globs of each table, the later folder's first."""
        found: dict[str, dict[str, list[str]]] = {}
        for folder in self._folders:
            for table, entry in _entries(folder / "models.toml").items():
                if table not in self.files:
                    raise FormatError(
                        f"models: {table}: no table of that name; a table is a file beside models.toml, {table}.toml"
                    )
                merged = found.setdefault(table, {"aliases": [], "models": []})
                for key in ("aliases", "models"):
                    merged[key] = [*entry.get(key, ()), *merged[key]]
        return found

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Other projects' names for our tables: alias -> table."""
        found: dict[str, str] = {}
        for table, entry in self._named.items():
            for alias in entry["aliases"]:
                found.setdefault(alias, table)
        return found

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """Names and aliases in one spelling: those that mean one table alone."""
        tables: dict[str, set[str]] = {}
        for name, table in (*self.aliases.items(), *((name, name) for name in self.files)):
            tables.setdefault(_plain(name), set()).add(table)
        return {name: found.pop() for name, found in tables.items() if len(found) == 1}

    @cached_property
    def ids(self) -> ModelIds:
        return ModelIds({glob: table for table, entry in self._named.items() for glob in entry["models"]})

    def load(self, name: str) -> Format:
        """The format of that name or alias, built once and again when its file changed."""
        found = self._loaded.get(name)
        if found is not None and (not found[1] or stamp(found[1]) == found[2]):
            return found[0]
        if name not in self.files and name not in self.aliases and (table := self._spelled.get(_plain(name))):
            return self.load(table)  # not kept: a name has any number of spellings
        path = self.file(name)
        watched = "" if path.parent == self._folders[0] else str(path)  # what ships does not change
        before = stamp(watched) if watched else None
        fmt = read(path)
        self._loaded[name] = (fmt, watched, before)
        return fmt

    def file(self, name: str) -> Path:
        """The file of the table with that name or alias."""
        path = self.files.get(name) or self.files.get(self.aliases.get(name) or self._spelled.get(_plain(name), ""))
        if path is None:
            raise FormatError(f"{name}: no format of that name{self._hint(name)}")
        return path

    def _hint(self, name: str) -> str:
        import difflib

        close = difflib.get_close_matches(name[:256], [*self.files, *self.aliases], n=3)
        return f"; near names: {', '.join(close)}" if close else "; `gateway-args formats` lists them"

    def for_model(self, model: str) -> Format:
        """The format of this model id."""
        table = self._models.get(model)
        if table is None:
            table = self.ids.table(model)
            if table is None:
                raise FormatError(self._unknown(model))
            if len(self._models) >= KEPT_MODELS:
                self._models.clear()
            self._models[model] = table
        return self.load(table)

    def _unknown(self, model: str) -> str:
        near = ", ".join(f"{glob} is {self.ids.tables[glob]}" for glob in self.ids.near(model))
        shown = model if len(model) <= 128 else f"{model[:125]}..."
        return (
            f"{shown}: no table is known for this model"
            + (f"; near ones: {near}" if near else "")
            + "; choose a format by name (`gateway-args formats` lists them) or add the model to a models.toml in "
            + f"the folder that {ENVIRONMENT} names"
        )


class _Kept:
    """The catalogue that was made last, and of what."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        # One tuple, so that a thread sees all of it or none: catalogue, folder, its models.toml, their stamps.
        self._last: tuple[Catalogue, str, str, tuple[Stamp | None, Stamp | None]] | None = None

    def get(self) -> Catalogue:
        folder = os.environ.get(ENVIRONMENT, "")
        if self._last is not None:
            kept, of, listed, stamps = self._last
            if folder == of and (not folder or stamps == (stamp(folder), stamp(listed))):
                return kept
        own = _data.folder("formats")
        extra = Path(folder) if folder else None
        for directory in (own, extra):
            if directory is not None and not directory.is_dir():
                raise FormatError(f"{directory}: no such folder; {ENVIRONMENT} names it")
        listed = os.path.join(folder, "models.toml")
        stamps = stamp(folder), stamp(listed)
        made = Catalogue(own, extra)
        self._last = made, folder, listed, stamps
        return made


current: Final = _Kept().get
"""The catalogue of this moment."""


def stamp(path: str) -> Stamp | None:
    """What changes when a file or a folder does; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def read(path: Path) -> Format:
    """The table in this file; built once, and again when the file changed."""
    found = stamp(str(path))
    if found is None or path.is_dir():
        raise FormatError(f"{path}: no such file")
    return _built(str(path), found)


@lru_cache(maxsize=256)
def _built(path: str, _stamp: Stamp) -> Format:
    from .build import build

    return build(Path(path).stem, toml(path))


def toml(path: str | Path) -> dict[str, Any]:
    """What this file says; `FormatError` where it is no TOML."""
    import tomllib

    name = Path(path).stem
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{name}: no TOML: {error}") from error
    except RecursionError:
        raise FormatError(f"{name}: no TOML: nested too deep") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: not UTF-8: byte {error.start}") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from error


def _plain(name: str) -> str:
    """A name without case, dashes, dots and underscores."""
    return re.sub(r"[-_. ]", "", name[:256]).lower()


def _tables(folder: Path) -> list[Path]:
    """The tables in a folder: its TOML files, less `models.toml` and the corpora beside them (`NAME_corpus.toml`)."""
    return sorted(file for file in folder.glob("*.toml") if file.stem != "models" and not file.stem.endswith("_corpus"))


def _entries(file: Path) -> Mapping[str, Mapping[str, list[str]]]:
    """What a `models.toml` says of each table; `FormatError` where it is no list of texts under a known key."""
    if not file.is_file():
        return {}
    given = toml(file)
    for table, entry in given.items():
        if not isinstance(entry, dict):
            raise FormatError(f"models: {table}: no table; write [{table}] above its aliases and models")
        for key, words in entry.items():
            if key not in ("aliases", "models"):
                raise FormatError(f"models: {table}.{key}: unknown key; there are 'aliases', 'models'")
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise FormatError(f"models: {table}.{key}: no list of texts")
    return given
