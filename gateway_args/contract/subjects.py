"""Subjects: what the contract puts to the test, a table of ours or anybody's parser.

A parser needs `feed` and `finish`, both giving events. Token ids and snapshots are tried where its `Maker` says how.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Protocol, cast

from .corpus import Case, CorpusError

if TYPE_CHECKING:
    from ..events import Event
    from ..formats import Format
    from ..tokens.detokenizer import Delta

Markers = Mapping[str, int]


class Subject(Protocol):
    """A parser of one output: it is fed pieces in order, then finished once with the engine's reason."""

    def feed(self, piece: str, /) -> Iterable[Event]: ...
    def finish(self, reason: str, /) -> Iterable[Event]: ...


class TokenSubject(Protocol):
    """A parser that also takes pieces with token ids."""

    def feed(self, piece: str | Delta, /) -> Iterable[Event]: ...
    def finish(self, reason: str, /) -> Iterable[Event]: ...


class Storable(Protocol):
    """A parser whose state can be put away between two pieces."""

    def snapshot(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Maker:
    """How a parser for a case is made.

    `new` takes the case and, for streams with token ids, the ids of the markers (None: not known). `restore` makes a
    parser from what `snapshot()` of another gave; `markers` are the texts that the vocabulary may hold as one token.
    Without them neither snapshots nor token ids are tried. `format` is the case's table, where there is one: what its
    prompts look like.
    """

    new: Callable[[Case, Markers | None], Subject | TokenSubject]
    restore: Callable[[Case, bytes], Subject | TokenSubject] | None = None
    markers: Callable[[Case], Collection[str]] | None = None
    format: Callable[[Case], Format] | None = None


def maker_of(source: str | PathLike[str] | Format | Maker | Callable[[Case], Subject]) -> Maker:
    """The maker for a format (its name, its file or itself), for a function from a case to a parser, or as given."""
    if isinstance(source, Maker):
        return source
    if isinstance(source, str | PathLike):
        name = str(source)
        if name in _CONSTRAINED:
            return _tables(lambda case: _constrained(name, case))
        from .. import formats

        fmt = formats.load(name)
        return _tables(lambda _: fmt)
    if callable(source):
        new = source
        return Maker(lambda case, _: new(case))
    table = source
    return _tables(lambda _: table)


_CONSTRAINED = ("forced", "required")


def _constrained(name: str, case: Case) -> Format:
    """A constrained output's format; the corpus names the function and the base."""
    if name == "forced" and case.function is None:
        raise CorpusError(f"case '{case.name}': a forced output's corpus names its function: function = \"…\"")
    return _constrained_format(name, case.function, case.base)


@functools.lru_cache(maxsize=64)
def _constrained_format(name: str, function: str | None, base: str | None) -> Format:
    from .. import formats

    table = None if base is None else formats.load(base)
    return formats.forced(function or "", table) if name == "forced" else formats.required(table)


def _tables(format_of: Callable[[Case], Format]) -> Maker:
    from ..parser import Parser
    from ..tools import Tools

    # By the tools' identity, which stays theirs while they are kept here: a case's are read once, not once a run.
    known: dict[int, tuple[object, Tools]] = {}

    def tools(case: Case) -> Tools | None:
        if case.tools is None:
            return None
        key = id(case.tools)
        if key not in known:
            known[key] = case.tools, Tools.of(list(case.tools))
        return known[key][1]

    def new(case: Case, markers: Markers | None) -> TokenSubject:
        return Parser(
            format_of(case),
            tools(case),
            prompt=case.prompt,
            prefill=case.prefill,
            start=case.start,
            markers=markers,
            undeclared=case.undeclared,
            limits=case.limits,
        )

    def restore(case: Case, data: bytes) -> TokenSubject:
        return Parser.restore(data, format_of(case), tools(case))

    def markers(case: Case) -> Collection[str]:
        return list(format_of(case).marker_texts())

    return Maker(new, restore, markers, format_of)


def snapshot(subject: object) -> bytes:
    return cast("Storable", subject).snapshot()
