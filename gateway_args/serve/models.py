"""Models: which table reads which model, what the engine calls it, and where its outputs start."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from .. import formats
from ..errors import FormatError
from .settings import Model, SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..formats import Format
    from .settings import Settings


@dataclass(frozen=True, slots=True)
class Known:
    """A model as a request is answered with it."""

    name: str
    upstream: str
    format: Format
    start: str | None


class Models:
    """Finds a model by its name: named in the model map, then by the one format for all, then by its own id.

    Tables from `model_dir` are learned when this is made, and one that is not proved is a `SettingError`.
    """

    def __init__(self, settings: Settings) -> None:
        self._rows: Mapping[str, Model] = settings.models
        self._formats: dict[str, Format] = {}
        self._default: Format | None = None
        if settings.format != "auto":
            self._default = _load(settings.format, "format")
        elif settings.model_dir:
            self._default = learned(settings.model_dir)
        for name, row in self._rows.items():
            if row.model_dir is not None and row.format == "auto":
                self._formats[name] = learned(row.model_dir)
            elif row.format != "auto":
                self._formats[name] = _load(row.format, f"models.{name}.format")
            if row.start is not None and name in self._formats and row.start not in self._formats[name].states:
                states = ", ".join(self._formats[name].states)
                raise SettingError(f"models.{name}.start: no state named {row.start!r}; {name} has {states}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the model map that are no patterns."""
        return tuple(name for name in self._rows if not set(name) & set("*?["))

    def find(self, name: str) -> Known:
        """The model of this name. FormatError: no table is known for it."""
        row = self._rows.get(name)
        if row is None:
            row = next((row for glob, row in self._rows.items() if fnmatchcase(name, glob)), Model(name))
        upstream = row.upstream or name
        found = self._formats.get(row.name) or self._default or formats.for_model(upstream)
        return Known(name, upstream, found, row.start)


def learned(folder: str) -> Format:
    """The table of a model's own files: the one that its name is known by, else one learned from its chat template."""
    path = Path(folder)
    try:
        return formats.for_model(path.resolve().name)
    except FormatError:
        pass
    try:
        from ..learning import Unreadable
        from ..learning.learner import learn_shipped
        from ..learning.model_files import read_shipped
    except ModuleNotFoundError as error:
        raise SettingError(f"model_dir: {error}") from None
    try:
        found = learn_shipped(read_shipped(path), path.resolve().stem.lower(), {})
    except Unreadable as error:
        raise SettingError(f"model_dir: {error}") from None
    if not found.proved or found.format is None:
        raise SettingError(f"model_dir: no table could be proved: {found.problem} (gateway-args learn {folder})")
    return found.format


def _load(name: str, where: str) -> Format:
    try:
        return formats.load(name)
    except (FormatError, OSError) as error:
        raise SettingError(f"{where}: {error}") from None
