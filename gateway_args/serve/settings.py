"""The gateway's settings: one class whose fields are flags, environment variables and keys of a TOML file alike.

A flag wins over the environment, the environment over the file, the file over the default. What is wrong is one
`SettingError` that names the place: `serve.toml: max_streams: expected an integer of at least 1, got 0`.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..errors import GatewayArgsError

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGINE_KINDS: Final = ("vllm", "sglang", "llama.cpp", "trtllm", "plain")
PREFIX: Final = "GATEWAY_ARGS_SERVE_"
_MIB: Final = 1 << 20


class SettingError(GatewayArgsError, ValueError):
    """A setting that cannot be used; the message names where it came from."""


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of one model: its table, its name at the engine, and where its outputs start.

    `format` is a table's name or file, "auto" takes it from the model's name. `start` names the state where outputs
    start (`"reasoning"`), for a route on which the prompt is never seen.
    """

    name: str
    format: str = "auto"
    upstream: str | None = None
    start: str | None = None
    model_dir: str | None = None


def _of(default: Any, text: str, *, choices: tuple[str, ...] = (), least: float | None = None) -> Any:
    return field(default=default, metadata={"help": text, "choices": choices, "least": least})


@dataclass(frozen=True, slots=True)
class Settings:
    """All that an operator sets. Sizes are bytes, times seconds."""

    upstream: str = _of("", "the engine's address, with or without /v1")
    engine: str = _of("plain", "what kind of engine it is", choices=ENGINE_KINDS)
    route: str = _of("auto", "how prompts reach it", choices=("auto", "render", "chat"))
    format: str = _of("auto", "the models' format: a table's name or file; auto goes by the model's name")
    model_map: str = _of("", "a TOML file that says of models [models.NAME] format, upstream, start, model_dir")
    model_dir: str = _of("", "a model's own files, from which its table is learned where none is known")
    listen: str = _of("127.0.0.1:8790", "the address to listen on")
    guided: str = _of("tag", "how a forced call is asked for", choices=("tag", "json", "off"))
    calls: str = _of("stream", "send calls as they grow, or once complete", choices=("stream", "complete"))
    stop_invalid: bool = _of(False, "cancel the engine when a call can no longer be valid for its schema")
    strict: bool = _of(False, "a call of an undeclared function is malformed text")
    record: str = _of("", "a folder for transcripts, which hold all that models wrote")
    upstream_key: str = _of("", "a key for the engine in place of the client's own")
    max_body: int = _of(16 * _MIB, "bytes of a request's body", least=1)
    max_streams: int = _of(1024, "requests answered at once; more are told to come back", least=1)
    max_line: int = _of(4 * _MIB, "bytes of one line of an engine's stream", least=1024)
    max_held: int = _of(_MIB, "characters of one output that are held back undecided", least=256)
    max_output: int = _of(16 * _MIB, "characters of one response; more ends it as an error", least=1)
    connect_timeout: float = _of(10.0, "seconds to reach the engine", least=0.001)
    idle_timeout: float = _of(120.0, "seconds without a byte from the engine", least=0.001)
    total_timeout: float = _of(1800.0, "seconds for one response", least=0.001)
    keep_alive: float = _of(15.0, "seconds of silence after which the client is sent a comment", least=0.01)
    grace: float = _of(30.0, "seconds that streams get to end at a shutdown", least=0)
    no_lab: bool = _of(False, "leave out the page to try outputs on")
    log_text: bool = _of(False, "log requests' and outputs' text (for debugging alone)")
    log_level: str = _of("info", "what is logged", choices=("debug", "info", "warning", "error"))
    models: Mapping[str, Model] = field(default_factory=dict, metadata={"help": ""})

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]") or "127.0.0.1", int(port)


OPTIONS: Final = tuple(entry for entry in fields(Settings) if entry.name != "models")


def default_of(option: Any) -> Any:
    """What an option is where nobody says it."""
    return option.default


def load(flags: Mapping[str, Any], *, file: str | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings from a file, the environment and flags (None: not given)."""
    environ = os.environ if environ is None else environ
    given: dict[str, Any] = {}
    models: dict[str, Model] = {}
    file = file or environ.get(f"{PREFIX}CONFIG")
    if file:
        table = _toml(file)
        models |= _models(table.pop("models", {}), file)
        known = {option.name: option for option in OPTIONS}
        for key, value in table.items():
            if key not in known:
                raise SettingError(f"{file}: unexpected key {key!r}; known: {', '.join((*known, 'models'))}")
            given[key] = _checked(known[key], value, file)
    for option in OPTIONS:
        name = f"{PREFIX}{option.name.upper()}"
        if name in environ:
            given[option.name] = _checked(option, _from_text(option, environ[name], name), name)
        if flags.get(option.name) is not None:
            where = f"--{option.name.replace('_', '-')}"
            value = flags[option.name]
            given[option.name] = _checked(option, _from_text(option, value, where), where)
    settings = Settings(**given)
    if settings.model_map:
        models |= _models(_toml(settings.model_map).get("models", {}), settings.model_map)
    return checked(replace(settings, models=models))


def checked(settings: Settings) -> Settings:
    """The settings, where they fit each other."""
    parts = urlsplit(settings.upstream)
    if settings.upstream and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise SettingError(f"upstream: expected http://HOST:PORT or https://…, got {_told(settings.upstream)}")
    host, colon, port = settings.listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535 or not host:
        raise SettingError(f"listen: expected HOST:PORT, got {settings.listen!r}")
    return settings


def _toml(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: no TOML: {error}") from None


def _models(given: Any, where: str) -> dict[str, Model]:
    if not isinstance(given, dict):
        raise SettingError(f"{where}: models: expected tables [models.NAME]")
    found = {}
    allowed = [entry.name for entry in fields(Model) if entry.name != "name"]
    for name, row in given.items():
        place = f"{where}: models.{name}"
        if not isinstance(row, dict):
            raise SettingError(f"{place}: expected a table of {', '.join(allowed)}")
        for key, value in row.items():
            if key not in allowed:
                raise SettingError(f"{place}: unexpected key {key!r}; allowed: {', '.join(allowed)}")
            if not isinstance(value, str):
                raise SettingError(f"{place}.{key}: expected a string, got {value!r}")
        found[name] = Model(name, **row)
    return found


def _from_text(option: Any, value: Any, where: str) -> Any:
    """A flag's or a variable's text as the option's type."""
    if not isinstance(value, str):
        return value
    kind = type(default_of(option))
    if kind is bool:
        word = value.strip().lower()
        if word in ("1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off", ""):
            return False
        raise SettingError(f"{where}: expected true or false, got {value!r}")
    if kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            raise SettingError(f"{where}: expected {_word(kind)}, got {value!r}") from None
    return value


def _checked(option: Any, value: Any, where: str) -> Any:
    kind = type(default_of(option))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    place = where if where.startswith(("--", PREFIX)) else f"{where}: {option.name}"
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise SettingError(f"{place}: expected {_word(kind)}, got {_told(value)}")
    choices, least = option.metadata["choices"], option.metadata["least"]
    if choices and value not in choices:
        raise SettingError(f"{place}: expected one of {', '.join(choices)}, got {value!r}")
    if least is not None and not value >= least:
        raise SettingError(f"{place}: expected {_word(kind)} of at least {least:g}, got {value:g}")
    return value


def _word(kind: type) -> str:
    return {bool: "true or false", int: "an integer", float: "a number"}.get(kind, "a string")


def _told(value: Any) -> str:
    """A value in an error; an address without its password."""
    text = str(value)
    head, at, tail = text.rpartition("@")
    return repr(f"…@{tail}" if at and head else text[:80])
