"""The contract itself: every case of a corpus, as every stream, under every chunking, against every promise.

The run in one delta is the reference: it is checked in full, and the others must say the same; one that does not is
checked in full too, since it may break more than invariance. Per stream and promise the first chunking that fails is
reported, shrunk to as few cuts as still fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from ..events import CallArguments, CallEnd, CallStart, Content, Dropped, Finish, Malformed, Reasoning
from . import corpus as corpora
from . import oracle, promises, prompts
from .chunkings import QUICK, STANDARD, Chunking, Chunkings, shrink
from .corpus import Case, Corpus
from .promises import Fault, Promise
from .report import CaseRun, Failure, Report, Row
from .streams import Stream, streams_of
from .subjects import Maker, Subject, TokenSubject, maker_of, snapshot

if TYPE_CHECKING:
    from os import PathLike

    from ..events import Event
    from ..formats import Format

Progress = Callable[[Case, int, int], None]
"""Called before each case with its place and the number of cases."""


def check(
    format: str | PathLike[str] | Format | Maker | Callable[[Case], Subject],
    corpus: Corpus | str | PathLike[str] | None = None,
    chunkings: Chunkings = STANDARD,
    *,
    progress: Progress | None = None,
) -> Report:
    """Whether the format keeps its promises for every case of the corpus.

    `format` is a table (name, path or value), a `Maker`, or a function from a case to a parser. `corpus` is one, its
    file, or left out where the format is named: the corpus shipped for it. `OracleMissing` without llguidance.
    """
    oracle.require()
    if not isinstance(corpus, Corpus):
        corpus = corpora.load(str(format)) if corpus is None else corpora.read(corpus)
    maker = maker_of(format)
    runs = 0
    failures: list[Failure] = []
    tried: list[CaseRun] = []
    for number, case in enumerate(corpus.cases):
        if progress is not None:
            progress(case, number, len(corpus.cases))
        one = check_case(maker, case, chunkings)
        runs += one.runs
        failures += one.failures
        tried.append(one.tried)
    kinds = tuple(corpus.missing_kinds())
    return Report(corpus.format, len(corpus.cases), runs, tuple(failures), kinds, tuple(tried))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the runs of one case gave."""

    runs: int
    failures: tuple[Failure, ...]
    tried: CaseRun


def check_case(maker: Maker, case: Case, chunkings: Chunkings = STANDARD) -> Outcome:
    """One case as every stream under every chunking."""
    runs = 0
    failures: list[Failure] = []
    markers = None if maker.markers is None else maker.markers(case)
    text: _Trial | None = None
    streams: list[tuple[str, int]] = []
    for stream in streams_of(case, markers):
        trial = _Trial(maker, case, stream, text)
        text = text or trial
        before = runs
        tried = replace(QUICK, seed=chunkings.seed) if stream.brief else chunkings
        broken: set[Promise] = set()
        for chunking in tried.of(stream.atoms, case.name, restorable=maker.restore is not None):
            runs += 1
            for fault in trial.faults(chunking):
                if fault.promise not in broken:
                    broken.add(fault.promise)
                    failures.append(_minimal(trial, chunking, fault))
        streams.append((stream.label, runs - before))
    for detail in _moved_by_results(maker, case):
        runs += 1
        if detail:
            failures.append(Failure(case.name, "text", Promise.PROMPT, detail, (case.text,)))
    events = tuple(_row(event) for event in (text.reference if text else ()))
    output = corpora.normalise(case.text)
    return Outcome(runs, tuple(failures), CaseRun(case.name, case.kinds, output, case.finish, events, tuple(streams)))


def _row(event: Event) -> Row:
    """An event as a page shows it."""
    kind = type(event).__name__
    match event:
        case Content(text=text) | Reasoning(text=text):
            return Row(kind, text)
        case Dropped(text=text, why=why) | Malformed(text=text, why=why):
            return Row(kind, text, str(why))
        case CallStart():
            known = "" if event.declared is not False else ", unknown tool"
            return Row(kind, event.source, f"call {event.index}: {event.name}, id {event.id}{known}")
        case CallArguments():
            shown = "" if event.json == event.source else f", sent as {event.json}"
            return Row(kind, event.source, f"call {event.index}{shown}")
        case CallEnd():
            return Row(kind, event.source, f"call {event.index}: {'complete' if event.complete else 'not complete'}")
        case Finish():
            return Row(kind, "", f"{event.reason}, {event.calls} calls")
        case _:
            return Row(kind, "")


def _moved_by_results(maker: Maker, case: Case) -> Iterator[str]:
    """For each place of a tool result in a prompt: how a result that quotes everything changes the reading, or ""."""
    if maker.format is None or case.prompt or case.prefill or case.start is not None:
        return
    table = maker.format(case)
    for where, before, behind in prompts.positions(table):
        harmless: list[Event] | None = None
        for result in (prompts.HARMLESS, *prompts.quoting(table, case.text, closed=bool(behind))):
            parser = maker.new(replace(case, prompt=before + result + behind), None)
            read = promises.merge([*parser.feed(case.text), *parser.finish(case.finish)])
            harmless = harmless or read
            if harmless == read:
                yield ""
            else:
                difference = promises.difference(harmless, read, "behind a harmless one")
                yield f"a tool result {where} that quotes markers: {difference}"


class _Trial:
    """One stream of one case: runs of it, each compared with the run in one delta, and that with the text's."""

    def __init__(self, maker: Maker, case: Case, stream: Stream, text: _Trial | None) -> None:
        self._maker = maker
        self.case = case
        self.stream = stream
        self._text = text
        self._reference: list[Event] | None = None

    @property
    def reference(self) -> list[Event]:
        """What the run in one delta said; nothing where it raised."""
        return self._reference or []

    def faults(self, chunking: Chunking) -> Iterator[Fault]:
        try:
            fed, finished = self._run(chunking)
        except Exception as error:  # a subject may raise anything; none of it is right
            yield Fault(Promise.NO_EXCEPTION, f"{type(error).__name__}: {error}")
            return
        merged = promises.merge((*fed, *finished))
        if self._reference is None:
            self._reference = merged
            yield from self._check_promises(merged)
            yield from self._like_text(merged)
        elif merged != self._reference:
            yield Fault(Promise.INVARIANCE, promises.difference(self._reference, merged, "in one delta"))
            yield from self._check_promises(merged)
        yield from promises.lifecycle(fed, finished, self.case.tool_names)

    def _check_promises(self, merged: list[Event]) -> Iterator[Fault]:
        yield from promises.conservation(merged, self.stream.output)
        yield from promises.strictness(merged)
        yield from promises.tokens(merged, self.stream.tokens)
        if self.stream.asserted:
            expect = self.case.expect
            yield from promises.reading(merged, replace(expect, dropped=None) if self.stream.bare else expect)

    def _like_text(self, merged: list[Event]) -> Iterator[Fault]:
        """Where no marker is quoted, ids say what the text alone says."""
        stream = self.stream
        if self._text is None or self._text._reference is None or not stream.asserted or stream.bare:
            return
        shown, text = promises.without_tokens(merged), self._text._reference
        if shown != text:
            yield Fault(Promise.INVARIANCE, promises.difference(text, shown, "without token ids"))

    def _run(self, chunking: Chunking) -> tuple[list[Event], list[Event]]:
        stream = self.stream
        # A stream of ids is put to subjects that take them: their maker said so by giving markers.
        parser = cast("TokenSubject", self._maker.new(self.case, stream.markers))
        fed: list[Event] = []
        for start, end in chunking.bounds(len(stream.atoms)):
            if chunking.empties:
                fed += parser.feed(stream.empty())
            fed += parser.feed(stream.piece(start, end))
            if chunking.restores and self._maker.restore is not None:
                parser = cast("TokenSubject", self._maker.restore(self.case, snapshot(parser)))
        if chunking.empties:
            fed += parser.feed(stream.empty())
        return fed, list(parser.finish(self.case.finish))


def _minimal(trial: _Trial, chunking: Chunking, fault: Fault) -> Failure:
    """The failure with its chunking shrunk and the fault as the shrunk chunking shows it."""
    seen = {chunking: fault}

    def fails(candidate: Chunking) -> bool:
        same = next((f for f in trial.faults(candidate) if f.promise is fault.promise), None)
        if same is not None:
            seen[candidate] = same
        return same is not None

    least = shrink(chunking, fails)
    return Failure(
        case=trial.case.name,
        stream=trial.stream.label,
        promise=fault.promise,
        detail=seen[least].detail,
        pieces=tuple(_texts(trial.stream, least)),
        empties=least.empties,
        restores=least.restores,
    )


def _texts(stream: Stream, chunking: Chunking) -> Iterable[str]:
    for start, end in chunking.bounds(len(stream.atoms)):
        yield "".join(stream.atoms[start:end])
