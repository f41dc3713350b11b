"""The layers: imports go one way, folder by folder (lazily and in type checking too), and modules stay small."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "gateway_args"

# From the ground up; a folder or module may import from the rows above its own, and from its own row where it says so.
LAYERS = (
    ("_data", "errors", "limits", "surrogates"),
    ("events", "sealing"),
    ("reading", "strict_json", "schema", "tokens"),
    ("tools",),
    ("syntaxes",),
    ("formats",),
    ("engine",),
    ("parser",),
    ("assembler", "learning", "decoder", "contract", "grammar"),
    ("partial", "adapters"),
    ("engines",),
    ("serve", "diagnosis", "integrations"),
    ("cli",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}
# `formats.learn` and `formats.detect` are faces among the tables; what they show is imported when they are called.
KNOWN = {("formats", "learning"), ("formats", "diagnosis")}
MOST = 500
"""Lines beyond which a module is two; about 400 is the aim."""
LARGE = {"engine/engine.py": 600, "syntaxes/values/literal_value.py": 510}  # to be split, never to grow


def imports(path: Path) -> set[str]:
    """The folders and modules of the package that this module imports from, its own left out."""
    inside = path.relative_to(PACKAGE).parts
    own = inside[0].removesuffix(".py")
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = list(inside[:-1])[: len(inside) - node.level]
            names = [node.module.split(".")] if node.module else [[alias.name] for alias in node.names]
            found |= {[*base, *name][0] for name in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gateway_args."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith("gateway_args") for alias in node.names), f"{path}: no relative import"
    return found - {own}


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or not path.name.startswith("__"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_imports_only_from_the_layers_below_its_own(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in RANK, f"{own} has no layer yet: give it one here and in docs/architecture.md"
    upward = {name for name in imports(path) if RANK[name] >= RANK[own] and (own, name) not in KNOWN}
    assert not upward, f"{own} may not import from {', '.join(sorted(upward))}"


def test_the_test_sees_lazy_imports_and_those_of_type_checking() -> None:
    """The guard of the guard: three ways in which a module imports, in modules that are known to."""
    assert "learning" in imports(PACKAGE / "formats" / "__init__.py")  # in a function and under TYPE_CHECKING
    assert "engine" in imports(PACKAGE / "parser.py")
    assert {"events", "strict_json"} <= imports(PACKAGE / "syntaxes" / "values" / "json_value.py")  # three levels up


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_has_the_size_of_one_noun(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    name = path.relative_to(PACKAGE).as_posix()
    assert lines <= LARGE.get(name, MOST), f"{lines} lines: split it"
