"""What a model's repository ships, from a directory, a `tokenizer_config.json`, a `.jinja` or a GGUF file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .gguf import read_header
from .renderer import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MOST: Final = 1 << 28
"""Bytes of a JSON file."""
_CONTROL: Final = (3, 4)  # the types of GGUF's tokens that text does not hold: control, user defined


@dataclass(frozen=True, slots=True)
class Shipped:
    """A chat template, a response template, and the tokens that they name."""

    where: str
    chat_template: str = ""
    response_template: Mapping[str, Any] | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    """`bos_token` and the like, where they are known."""
    single_tokens: frozenset[str] = frozenset()
    """Texts that one entry of the vocabulary spells, added tokens only."""


def read_shipped(path: Path) -> Shipped:
    """What stands at this path. Raises `Unreadable` where that is no template and no file with one."""
    if path.is_dir():
        return _directory(path)
    if not path.is_file():
        raise Unreadable(f"{path}: no such file or directory")
    if path.suffix == ".gguf":
        return _gguf(path)
    if path.suffix == ".json":
        return _configured(path, path.parent)
    return Shipped(str(path), _text(path))


def _directory(path: Path) -> Shipped:
    config = path / "tokenizer_config.json"
    if config.is_file():
        return _configured(config, path)
    templates = [path / "chat_template.jinja", path / "chat_template.json"]
    for file in templates:
        if file.is_file():
            text = _text(file) if file.suffix == ".jinja" else str(_json(file).get("chat_template", ""))
            return Shipped(str(path), text, single_tokens=_added(path / "tokenizer.json"))
    files = sorted(path.glob("*.gguf"))
    if len(files) == 1:
        return _gguf(files[0])
    raise Unreadable(f"{path}: neither tokenizer_config.json nor chat_template.jinja is there, nor one GGUF file")


def _configured(config: Path, folder: Path) -> Shipped:
    given = _json(config)
    template = given.get("chat_template", "")
    beside = folder / "chat_template.jinja"
    tools = folder / "additional_chat_templates" / "tool_use.jinja"
    if tools.is_file():
        template = _text(tools)
    elif beside.is_file():
        template = _text(beside)
    elif isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("tool_use") or named.get("default") or next(iter(named.values()), "")
    if not isinstance(template, str):
        raise Unreadable(f"{config}: chat_template is neither a text nor a list of named ones")
    response = given.get("response_template")
    if response is not None and not isinstance(response, dict):
        raise Unreadable(f"{config}: response_template is no object")
    tokens = {
        key: value["content"] if isinstance(value, dict) else value
        for key, value in given.items()
        if key.endswith("_token") and (isinstance(value, str) or (isinstance(value, dict) and "content" in value))
    }
    listed = given.get("added_tokens_decoder", {})
    single = frozenset(
        str(entry["content"])
        for entry in (listed.values() if isinstance(listed, dict) else ())
        if isinstance(entry, dict) and entry.get("content")
    )
    if not template and response is None:
        raise Unreadable(
            f"{config}: neither a chat_template nor a response_template, and no chat_template.jinja beside it"
        )
    return Shipped(str(folder), template, response, tokens, single | _added(folder / "tokenizer.json"))


def _added(path: Path) -> frozenset[str]:
    """The added tokens of a `tokenizer.json`; none where the file is missing."""
    if not path.is_file():
        return frozenset()
    listed = _json(path).get("added_tokens", [])
    return frozenset(str(entry["content"]) for entry in listed if isinstance(entry, dict) and entry.get("content"))


def _gguf(path: Path) -> Shipped:
    given = read_header(path, ("tokenizer.chat_template", "tokenizer.ggml."))
    template = given.get("tokenizer.chat_template.tool_use") or given.get("tokenizer.chat_template") or ""
    if not template:
        raise Unreadable(f"{path}: the header has no tokenizer.chat_template")
    words = given.get("tokenizer.ggml.tokens", [])
    types = given.get("tokenizer.ggml.token_type", [])
    single = frozenset(word for word, kind in zip(words, types, strict=False) if kind in _CONTROL)
    tokens = {}
    for name in ("bos", "eos"):
        id = given.get(f"tokenizer.ggml.{name}_token_id")
        if isinstance(id, int) and 0 <= id < len(words):
            tokens[f"{name}_token"] = words[id]
    return Shipped(str(path), template, None, tokens, single)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path}: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST:
            raise Unreadable(f"{path}: more than {_MOST} bytes")
        given = json.loads(path.read_bytes())
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: no JSON: {error}") from None
    if not isinstance(given, dict):
        raise Unreadable(f"{path}: no JSON object")
    return given
