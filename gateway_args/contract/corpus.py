"""A corpus is a TOML file of outputs and, written by hand, what each of them says.

`docs/contract.md` shows the shape. Everything in it is checked when it is read: an unknown key, kind or tool is a
`CorpusError` that names the file, the case and the mend. Texts are characters; where TOML cannot write one (a lone
surrogate, four thousand equal letters), a list of parts can.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from .. import _data
from ..errors import GatewayArgsError
from ..events import Why
from ..formats import ENVIRONMENT
from ..limits import Limits
from .kinds import KINDS, OPTIONAL

if TYPE_CHECKING:
    from os import PathLike

Table = Mapping[str, object]


class CorpusError(GatewayArgsError, ValueError):
    """A corpus's fault: the message names the file, the case, the key and the mend."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an output; `quoted` text is spelled in ordinary tokens where the stream has token ids."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call of an expected reading; `id` and `declared` are asserted where they are not None."""

    name: str
    arguments: str
    complete: bool = True
    id: str | None = None
    declared: bool | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What an output says: all of it is asserted, `dropped` where it is not None."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[ExpectedCall, ...] = ()
    malformed: tuple[tuple[str, str], ...] = ()
    dropped: tuple[tuple[str, str], ...] | None = None
    finish: str = "stop"


@dataclass(frozen=True, slots=True)
class Case:
    """One output with its circumstances and its expected reading.

    `tools` are in the Chat API's shape, None when the request's tools are unknown. `quoted`: with token ids a marker
    of this output is read as a marker where its text alone is data, so the reading holds for the text alone.
    `function` and `base` are the constrained formats' (policy 16).
    """

    name: str
    kinds: tuple[str, ...]
    output: tuple[Piece, ...]
    expect: Expected
    canonical: bool = False
    quoted: bool = False
    tools: tuple[Table, ...] | None = None
    prompt: str = ""
    prefill: str = ""
    start: str | None = None
    finish: str = "stop"
    undeclared: str = "call"
    limits: Limits = field(default_factory=Limits)
    function: str | None = None
    base: str | None = None

    @property
    def text(self) -> str:
        """The output as written; `normalise` makes "the output" of the promises from it."""
        return "".join(piece.text for piece in self.output)

    @property
    def tool_names(self) -> frozenset[str] | None:
        if self.tools is None:
            return None
        return frozenset(str(cast("Table", tool["function"])["name"]) for tool in self.tools)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The cases of one format, in the file's order; `no_kind` says why the format has none of a kind."""

    format: str
    cases: tuple[Case, ...]
    no_kind: Mapping[str, str]

    def missing_kinds(self) -> list[str]:
        """The kinds with neither a case nor a reason."""
        covered = {kind for case in self.cases for kind in case.kinds} | set(self.no_kind) | OPTIONAL
        return [kind for kind in KINDS if kind not in covered]


def normalise(text: str) -> str:
    """The text as a parser reads it: surrogate pairs joined, lone surrogates replaced (policy 13)."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def names() -> list[str]:
    """The formats that have a corpus: in this package, or in the folder that `GATEWAY_ARGS_FORMATS` names."""
    found = {path.stem for path in _data.folder("contract").glob("*.toml")}
    folder = os.environ.get(ENVIRONMENT)
    if folder:
        found |= {path.stem for path in Path(folder).glob("contract/*.toml")}
        found |= {path.stem.removesuffix("_corpus") for path in Path(folder).glob("*_corpus.toml")}
    return sorted(found)


def load(name: str) -> Corpus:
    """The corpus of that format: from the folder that `GATEWAY_ARGS_FORMATS` names, or as this package ships it."""
    folder = os.environ.get(ENVIRONMENT)
    path = beside(Path(folder) / f"{name}.toml") if folder else None
    if path is None:
        path = _data.folder("contract") / f"{name}.toml"
    if not path.is_file():
        raise CorpusError(f"no corpus for the format '{name}'{_near(name, names())}")
    return read(path)


def beside(table: str | PathLike[str]) -> Path | None:
    """The corpus beside a table's file, `NAME_corpus.toml` or `contract/NAME.toml`; None where there is none."""
    path = Path(table)
    positions = (path.with_name(f"{path.stem}_corpus.toml"), path.parent / "contract" / f"{path.stem}.toml")
    return next((position for position in positions if position.is_file()), None)


def read(path: str | PathLike[str]) -> Corpus:
    """The corpus in that file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}: byte {error.start} is not UTF-8") from None
    return parse(text, str(path))


def parse(text: str, where: str = "corpus") -> Corpus:
    """The corpus written in that TOML text; `where` is what errors call it."""
    try:
        root = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CorpusError(f"{where}: {error}") from None
    except RecursionError:
        raise CorpusError(f"{where}: nested too deep") from None
    reader = _Reader(where)
    reader.only(root, {"format", "function", "base", "tools", "no_kind", "case"}, "")
    shared = reader.tools(root.get("tools"), None, "tools")
    defaults: dict[str, object] = {
        key: reader.string(root.get(key), key) for key in ("function", "base") if key in root
    }
    no_kind = reader.table(root.get("no_kind", {}), "no_kind")
    for kind, reason in no_kind.items():
        reader.known(kind, KINDS, f"no_kind.{kind}", "kind")
        if not reader.string(reason, f"no_kind.{kind}").strip():
            reader.fail(f"no_kind.{kind}", "say why the format has no such case")
    rows = reader.array(root.get("case", []), "case")
    cases = tuple(
        reader.case(reader.table(row, f"case {number}"), number, shared, defaults)
        for number, row in enumerate(rows, start=1)
    )
    reader.unique(case.name for case in cases)
    for kind in no_kind:
        if any(kind in case.kinds for case in cases):
            reader.fail(f"no_kind.{kind}", "the corpus has a case of this kind; take the reason out")
    format = reader.string(root.get("format"), "format")
    if not cases:
        reader.fail("case", "missing; write at least one [[case]]")
    return Corpus(format, cases, {k: str(v) for k, v in no_kind.items()})


def _near(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def _all(words: list[str]) -> str:
    return f"; there are {', '.join(words)}" if words else "; there are none"


_CASE_KEYS = {
    "name", "kinds", "output", "expect", "canonical", "quoted", "tools", "prompt", "prefill", "start", "finish",
    "undeclared", "limits", "function", "base",
}  # fmt: skip
_STOPS = {"stop", "eos", "eos_token", "stop_sequence", "tool_calls", "function_call"}
_ALSO_READ = {"abort": "cancelled"}


class _Reader:
    """Reads a corpus's values, each with the path that an error names."""

    def __init__(self, where: str) -> None:
        self._where = where

    def fail(self, path: str, what: str) -> NoReturn:
        raise CorpusError(f"{self._where}: {path}: {what}" if path else f"{self._where}: {what}")

    def only(self, table: Table, keys: set[str], path: str) -> None:
        for key in table:
            if key not in keys:
                self.fail(path, f"no key '{key}'{_near(key, keys)}")

    def known(self, word: str, words: Iterable[str], path: str, noun: str) -> None:
        if word not in (words := list(words)):
            self.fail(path, f"no {noun} '{word}'{_near(word, words) or _all(words)}")

    def unique(self, case_names: Iterable[str]) -> None:
        seen: set[str] = set()
        for name in case_names:
            if name in seen:
                self.fail(f"case '{name}'", "two cases have this name")
            seen.add(name)

    def string(self, value: object, path: str) -> str:
        if not isinstance(value, str):
            self.fail(path, "missing" if value is None else f"a string is wanted, not {type(value).__name__}")
        return value

    def flag(self, value: object, path: str) -> bool:
        if not isinstance(value, bool):
            self.fail(path, "true or false is wanted")
        return value

    def array(self, value: object, path: str) -> list[object]:
        if not isinstance(value, list):
            self.fail(path, "missing" if value is None else "a list is wanted")
        return value

    def table(self, value: object, path: str) -> dict[str, object]:
        if not isinstance(value, dict):
            self.fail(path, "a table is wanted")
        return value

    def pieces(self, value: object, path: str) -> tuple[Piece, ...]:
        """A text: a string, or a list of strings, `{text, times}`, `{units}` (UTF-16) and `{quote}`."""
        if isinstance(value, str):
            return (Piece(value),) if value else ()
        if value is not None and not isinstance(value, list):
            self.fail(path, f"a string or a list of parts is wanted, not {type(value).__name__}")
        return tuple(
            self._piece(part, f"{path}[{number}]") for number, part in enumerate(self.array(value, path)) if part != ""
        )

    def _piece(self, part: object, path: str) -> Piece:
        if isinstance(part, str):
            return Piece(part)
        match self.table(part, path):
            case {"text": str(text), "times": int(times), **rest} if not rest and times > 0:
                return Piece(text * times)
            case {"units": [*units], **rest} if not rest and all(isinstance(u, int) and 0 <= u < 65536 for u in units):
                raw = b"".join(cast("int", unit).to_bytes(2, "little") for unit in units)
                return Piece(raw.decode("utf-16-le", "surrogatepass"))
            case {"quote": str(text), **rest} if not rest and text:
                return Piece(text, quoted=True)
        raise CorpusError(
            f"{self._where}: {path}: a part is a string, {{ text, times }}, {{ units = [0xD800] }} or {{ quote }}"
        )

    def text(self, value: object, path: str) -> str:
        return "".join(piece.text for piece in self.pieces(value, path))

    def tools(self, value: object, shared: tuple[Table, ...] | None, path: str) -> tuple[Table, ...] | None:
        """Tools in the Chat API's shape from a table of schemas, a list of names or tools, or JSON text."""
        if value is None:
            return shared
        if value == "unknown":
            return None
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                self.fail(path, f"'unknown' or JSON text is wanted: {error}")
        if isinstance(value, dict):
            return tuple(_tool(name, self.table(schema, f"{path}.{name}")) for name, schema in value.items())
        by_name = {str(cast("Table", tool["function"])["name"]): tool for tool in shared or ()}
        tools: list[Table] = []
        for number, entry in enumerate(self.array(value, path)):
            if isinstance(entry, str):
                if shared is not None:
                    self.known(entry, by_name, f"{path}[{number}]", "shared tool")
                tools.append(by_name.get(entry) or _tool(entry, {}))
            else:
                row = self.table(entry, f"{path}[{number}]")
                inner = self.table(row.get("function", row), f"{path}[{number}].function")
                name = self.string(inner.get("name"), f"{path}[{number}].name")
                tools.append(_tool(name, self.table(inner.get("parameters", {}), f"{path}[{number}].parameters")))
        return tuple(tools)

    def case(self, row: Table, number: int, shared: tuple[Table, ...] | None, defaults: Table) -> Case:
        name = self.string(row.get("name"), f"case {number}: name")
        path = f"case {number} ({name})"
        self.only(row, _CASE_KEYS, path)
        kinds = tuple(self.string(kind, f"{path}: kinds") for kind in self.array(row.get("kinds"), f"{path}: kinds"))
        if not kinds:
            self.fail(f"{path}: kinds", "a case has at least one kind")
        for kind in kinds:
            self.known(kind, KINDS, f"{path}: kinds", "kind")
        finish = self.string(row.get("finish", "stop"), f"{path}: finish")
        case = Case(
            name=name,
            kinds=kinds,
            output=self.pieces(row.get("output"), f"{path}: output"),
            expect=self._expected(self.table(row.get("expect", {}), f"{path}: expect"), f"{path}: expect", finish),
            canonical=self.flag(row.get("canonical", False), f"{path}: canonical"),
            quoted=self.flag(row.get("quoted", False), f"{path}: quoted"),
            tools=self.tools(row.get("tools"), shared, f"{path}: tools"),
            prompt=self.text(row.get("prompt", ""), f"{path}: prompt"),
            prefill=self.text(row.get("prefill", ""), f"{path}: prefill"),
            start=self.string(row["start"], f"{path}: start") if "start" in row else None,
            finish=finish,
            undeclared=self.string(row.get("undeclared", "call"), f"{path}: undeclared"),
            limits=self._limits(self.table(row.get("limits", {}), f"{path}: limits"), f"{path}: limits"),
            function=self._either(row, defaults, "function", path),
            base=self._either(row, defaults, "base", path),
        )
        self.known(case.undeclared, ("call", "malformed"), f"{path}: undeclared", "way")
        if case.canonical and (case.expect.malformed or not all(call.complete for call in case.expect.calls)):
            self.fail(path, "a canonical case has whole calls and nothing malformed")
        return case

    def _either(self, row: Table, defaults: Table, key: str, path: str) -> str | None:
        value = row.get(key, defaults.get(key))
        return None if value is None else self.string(value, f"{path}: {key}")

    def _limits(self, row: dict[str, object], path: str) -> Limits:
        self.only(row, set(Limits.__slots__), path)
        try:
            return Limits(**cast("dict[str, int]", row))
        except ValueError as error:
            raise CorpusError(f"{self._where}: {path}: {error}") from None

    def _expected(self, row: Table, path: str, finish: str) -> Expected:
        self.only(row, {"content", "reasoning", "calls", "malformed", "dropped", "finish"}, path)
        calls = tuple(
            self._call(self.table(call, f"{path}.calls[{at}]"), f"{path}.calls[{at}]")
            for at, call in enumerate(self.array(row.get("calls", []), f"{path}.calls"))
        )
        reason = "stop" if finish in _STOPS else _ALSO_READ.get(finish, finish)
        if reason == "stop" and any(call.complete for call in calls):
            reason = "tool_calls"  # policy 9
        return Expected(
            content=self.text(row.get("content", ""), f"{path}.content"),
            reasoning=self.text(row.get("reasoning", ""), f"{path}.reasoning"),
            calls=calls,
            malformed=self._asides(row.get("malformed", []), f"{path}.malformed"),
            dropped=self._asides(row["dropped"], f"{path}.dropped") if "dropped" in row else None,
            finish=self.string(row.get("finish", reason), f"{path}.finish"),
        )

    def _call(self, row: Table, path: str) -> ExpectedCall:
        self.only(row, {"name", "arguments", "complete", "id", "declared"}, path)
        return ExpectedCall(
            name=self.text(row.get("name"), f"{path}.name"),
            arguments=self.text(row.get("arguments"), f"{path}.arguments"),
            complete=self.flag(row.get("complete", True), f"{path}.complete"),
            id=self.string(row["id"], f"{path}.id") if "id" in row else None,
            declared=self.flag(row["declared"], f"{path}.declared") if "declared" in row else None,
        )

    def _asides(self, value: object, path: str) -> tuple[tuple[str, str], ...]:
        asides: list[tuple[str, str]] = []
        for at, entry in enumerate(self.array(value, path)):
            row = self.table(entry, f"{path}[{at}]")
            self.only(row, {"text", "why"}, f"{path}[{at}]")
            why = self.string(row.get("why"), f"{path}[{at}].why")
            self.known(why, (str(member) for member in Why), f"{path}[{at}].why", "why")
            asides.append((self.text(row.get("text"), f"{path}[{at}].text"), why))
        return tuple(asides)


def _tool(name: str, schema: Table) -> Table:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", **schema}}}
