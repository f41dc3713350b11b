"""Modules of an engine from its distribution's sources, run as they are; whatever else they import is a stub."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path


class Stub(types.ModuleType):
    """A module that has whatever it is asked for: `answer(module, name)`."""

    __path__ = ()

    def __init__(self, name: str, answer: Callable[[str, str], Any]) -> None:
        super().__init__(name)
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._answer(self.__name__, name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the `real` modules in the folder, and a stub for every other one of the `stubbed` top-level names."""

    def __init__(
        self, folder: Path, real: Collection[str], stubbed: Collection[str], answer: Callable[[str, str], Any]
    ) -> None:
        self._folder = folder
        self._real = real
        self._stubbed = stubbed
        self._answer = answer

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name in self._real:
            return importlib.util.spec_from_file_location(name, self._folder / f"{name.replace('.', '/')}.py")
        if name.partition(".")[0] in self._stubbed:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Stub:
        return Stub(spec.name, self._answer)

    def exec_module(self, module: Any) -> None:
        pass
