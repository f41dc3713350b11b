"""The wheel's build hook: compiles the hot path with mypyc where that can be done, else the wheel is pure Python.

`GATEWAY_ARGS_COMPILE` decides: `auto`, the default, compiles where a C compiler and Python's headers are at hand and
says in one line what it did; `0` builds pure Python; `1` fails where it cannot compile. An editable install is always
pure. mypy and setuptools are asked for only when they will be used. The sources are compiled in a folder of their own,
so nothing compiled is left beside them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "GATEWAY_ARGS_COMPILE"
NEEDS = ["mypy[mypyc]==2.4.1", "setuptools>=65"]
PACKAGE = "gateway_args"
# What reads text delta by delta. Errors and limits stay interpreted, tables are read once.
COMPILED = ("events.py", "parser.py", "strict_json/*.py", "engine/*.py", "syntaxes/**/*.py")
INTERPRETED = {"__init__.py", "literals.py", "snapshot.py", "registry.py", "tokens.py"}


def wanted() -> str:
    said = os.environ.get(VARIABLE, "auto")
    if said not in ("0", "1", "auto"):
        raise ValueError(f"{VARIABLE} is {said!r}; it is '0', '1' or 'auto'")
    return said


def obstacle() -> str:
    """Why nothing can be compiled here, '' when it can: a file that includes Python.h is compiled as a probe."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "mypyc needs CPython with its lock"
    if sys.platform == "win32":
        return ""  # setuptools finds the compiler; without it there is no probe
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text("#include <Python.h>\nint probe(void) { return Py_IsInitialized(); }\n")
        paths = [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]
        try:
            ran = subprocess.run(
                [*command.split(), *paths, "-fPIC", "-c", str(source), "-o", str(Path(folder, "probe.o"))],
                capture_output=True,
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return f"there is no C compiler ({error})"
        return "" if ran.returncode == 0 else "Python.h does not compile (a C compiler and Python's headers are needed)"


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds the compiled modules to the wheel."""

    folder: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        return NEEDS if wanted() != "0" and not obstacle() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        choice = wanted()
        if choice == "0" or version == "editable":
            return
        why = obstacle()
        built = Path()
        if not why:
            self.folder = tempfile.TemporaryDirectory()
            why = compile_copy(Path(self.root), Path(self.folder.name))
            built = Path(self.folder.name, "built")
        if why and choice == "1":
            raise RuntimeError(f"{VARIABLE}=1, and nothing was compiled: {why}")
        if why:
            self.app.display_info(f"{PACKAGE}: pure Python, since {why}")
            return
        modules = [file for file in sorted(built.rglob("*")) if file.suffix in (".so", ".pyd")]
        for file in modules:
            build_data["force_include"][str(file)] = file.relative_to(built).as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        self.app.display_info(f"{PACKAGE}: {len(modules) - 1} modules compiled with mypyc")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.folder is not None:
            self.folder.cleanup()


def compile_copy(root: Path, folder: Path) -> str:
    """Compile a copy of the package in this folder, in a process of its own; why it failed, or ''."""
    shutil.copytree(root / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    command = [sys.executable, str(root / "hatch_build.py")]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode == 0:
        return ""
    lines = [line for line in (ran.stdout + ran.stderr).splitlines() if "error" in line.lower()]
    return f"mypyc failed: {lines[-1] if lines else ran.returncode}"


def main() -> None:
    """Compile the package in the current folder into `built/`."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools._distutils.ccompiler import CCompiler

    package = Path(PACKAGE)
    files = sorted({file for pattern in COMPILED for file in package.glob(pattern) if file.name not in INTERPRETED})
    options = ["--config-file=", "--follow-imports=skip", "--ignore-missing-imports"]
    extensions = mypycify(
        [*options, *map(str, files)], opt_level="1", debug_level="0", multi_file=True, group_name=f"{PACKAGE}._compiled"
    )
    for extension in extensions:  # where mypyc writes the headers of a group with a dot in its name
        extension.include_dirs.append(str(Path("build", PACKAGE).resolve()))
    compile_all = CCompiler.compile

    def compile_each(self: CCompiler, sources: list[str], *args: Any, **options: Any) -> list[str]:
        """One source a thread: setuptools compiles the sources of an extension one after the other."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            made = pool.map(lambda one: compile_all(self, [one], *args, **options), sources)
            return [file for each in made for file in each]

    if sys.platform != "win32":
        CCompiler.compile = compile_each
    distribution = Distribution({"name": PACKAGE, "ext_modules": extensions})
    command = distribution.get_command_obj("build_ext")
    command.build_lib = "built"
    command.ensure_finalized()
    command.run()


if __name__ == "__main__":
    main()
