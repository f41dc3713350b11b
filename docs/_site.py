"""What the site is made of beyond the pages: the README as its front page, the API reference, links out of `docs/`.

A hook of mkdocs, named in `mkdocs.yml`; nothing imports it.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY: str = PROJECT["urls"]["Source"]
MODULES = ("formats", "adapters", "engines", "decoder", "partial", "grammar", "learning", "contract")
"""The public modules beside the package's own names, a page each."""


def exported(path: Path) -> list[str]:
    """The names in a module's `__all__`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise LookupError(f"{path}: no __all__")


def reference() -> dict[str, str]:
    """The pages of the API reference: each exported name by its docstring."""
    package = ROOT / "gateway_args"
    modules = {name: package / name / "__init__.py" for name in MODULES if (package / name).is_dir()}
    pages = {"gateway_args": _page("gateway_args", exported(package / "__init__.py"), {*modules, "vocab"})}
    for name, path in modules.items():
        pages[name] = _page(f"gateway_args.{name}", exported(path), set())
    return {f"api/{name}.md": text for name, text in pages.items()}


def _page(module: str, names: list[str], apart: set[str]) -> str:
    parts = [f"# `{module}`\n"]
    parts += [f"::: {module}.{name}\n" for name in names if name not in apart]
    return "\n".join(parts)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fit the navigation to the pages that are there."""
    there = {path.name for path in Path(config.docs_dir).glob("*.md")} | {"index.md"}
    nav = [_present(entry, there) for entry in config.nav or []]
    named = set(re.findall(r"[\w-]+\.md", str(nav)))
    if there - named:
        nav.append({"More": sorted(there - named)})
    nav.append({"API reference": list(reference())})
    config.nav = nav
    config.repo_url = REPOSITORY
    return config


def _present(entry: Any, there: set[str]) -> Any:
    if isinstance(entry, dict):
        return {title: [page for page in pages if page in there] for title, pages in entry.items()}
    return entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the front page and the API reference."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=re.sub(r"\]\(docs/", "](", readme)))
    for path, text in reference().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files outside of `docs/` to the repository."""
    here = ROOT if page.file.src_uri == "index.md" else ROOT / "docs"

    def outside(link: re.Match[str]) -> str:
        target = (here / link[1]).resolve()
        if target.is_relative_to(ROOT / "docs") or files.get_file_from_path(link[1]) or not target.exists():
            return link[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{target.relative_to(ROOT).as_posix()})"

    return re.sub(r"\]\(([^)#:\s]+)\)", outside, markdown)
