"""Runs of one input: under many chunkings, with and without token ids, put away and taken up again; what is wrong."""

from __future__ import annotations

import random
import re
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING

from fuzz_inputs import Input, inputs, table, tools_of
from fuzz_oracles import as_plain, faults, merged, output_of

from gateway_args import Delta, Parser, Token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fuzz_oracles import Plain

Piece = str | Delta
_FIRST_ID = 1_000_000


def _parser(case: Input, markers: dict[str, int] | None) -> Parser:
    return Parser(
        table(case.format, case.function, case.base),
        tools_of(case),
        prompt=case.prompt,
        prefill=case.prefill,
        start=case.start,
        markers=markers,
        undeclared=case.undeclared,
        limits=case.limits,
    )


def read(case: Input, pieces: Sequence[Piece], markers: dict[str, int] | None, restores: str = "") -> list[Plain]:
    """The merged events of one run. `restores`: the parser is "restored" or "copied" after each piece."""
    parser = _parser(case, markers)
    fmt, tools = table(case.format, case.function, case.base), tools_of(case)
    said: list[Plain] = []
    for piece in pieces:
        said += as_plain(parser.feed(piece))
        if restores == "restored":
            parser = Parser.restore(parser.snapshot(), fmt, tools)
        elif restores == "copied":
            parser = parser.copy()
    said += as_plain(parser.finish(case.reason))
    return merged(said)


def cuts(text: str, rng: random.Random, most: int) -> list[str]:
    pieces, at = [], 0
    while at < len(text):
        size = rng.randint(1, most)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def tokens_of(case: Input, rng: random.Random, *, by_id: bool) -> tuple[list[list[tuple[int, str]]], dict[str, int]]:
    """The output in tokens that a made-up vocabulary gives: markers are one token each, the rest is cut at random."""
    fmt = table(case.format, case.function, case.base)
    ids = {text: _FIRST_ID + number for number, text in enumerate(sorted(fmt.marker_texts()))}
    pattern = "|".join(map(re.escape, sorted(ids, key=len, reverse=True)))
    parts = re.split(f"({pattern})", case.output) if pattern else [case.output]
    tokens: list[tuple[int, str]] = []
    for part in parts:
        if part in ids and by_id:
            tokens.append((ids[part], part))
        else:
            tokens += [(len(piece), piece) for piece in cuts(part, rng, 6)]
        if rng.random() < 0.02:
            tokens.append((7, ""))
    return [[token] for token in tokens], ids


def deltas(tokens: list[list[tuple[int, str]]]) -> list[Delta]:
    made = []
    for group in tokens:
        text, offsets = "", []
        for id, piece in group:
            offsets.append(Token(id, len(text), len(text) + len(piece)))
            text += piece
        made.append(Delta(text, tuple(offsets)))
    return made


def grouped(tokens: list[list[tuple[int, str]]], rng: random.Random, most: int) -> list[list[tuple[int, str]]]:
    flat = [token for group in tokens for token in group]
    groups, at = [], 0
    while at < len(flat):
        size = rng.randint(1, most)
        groups.append(flat[at : at + size])
        at += size
    return groups


def wrong(case: Input, seed: str) -> Iterator[str]:
    """What is wrong with how this input is read; the first fault of each run."""
    rng = random.Random(seed)
    text, output = case.output, output_of(case.output)
    runs: list[tuple[str, Callable[[], list[Plain]]]] = [
        ("whole", lambda: read(case, [text], None)),
        ("by character", lambda: read(case, list(text), None)),
        ("cut at random", lambda: read(case, cuts(text, rng, 9), None)),
        ("cut in few", lambda: read(case, cuts(text, rng, max(2, len(text) // 2)), None)),
        ("restored", lambda: read(case, cuts(text, rng, 7), None, "restored")),
        ("copied", lambda: read(case, cuts(text, rng, 7), None, "copied")),
    ]
    yield from _compare(runs, output, None, case.reason)
    if case.harmless is not None:
        harmless = replace(case, prompt=case.harmless)
        if read(case, [text], None) != (said := read(harmless, [text], None)):
            yield f"the prompt is not the model: a harmless text instead of the stranger's says {_short(said)}"
    for by_id in (True, False):
        tokens, ids = tokens_of(case, rng, by_id=by_id)
        flat = [token for group in tokens for token in group]
        if not flat or sum(len(piece) for _, piece in flat) != len(text):
            continue
        runs = [
            ("ids, token by token", lambda t=tokens, m=ids: read(case, deltas(t), m)),
            ("ids, whole", lambda f=flat, m=ids: read(case, deltas([f]), m)),
            ("ids, cut at random", lambda t=tokens, m=ids: read(case, deltas(grouped(t, rng, 4)), m)),
            ("ids, restored", lambda t=tokens, m=ids: read(case, deltas(grouped(t, rng, 3)), m, "restored")),
        ]
        label = "" if by_id else "markers spelled, "
        yield from _compare([(label + name, run) for name, run in runs], output, len(flat), case.reason)


def _compare(
    runs: list[tuple[str, Callable[[], list[Plain]]]], output: str, tokens: int | None, reason: str
) -> Iterator[str]:
    first: list[Plain] | None = None
    for name, run in runs:
        try:
            said = run()
        except Exception:  # nothing a model writes may raise
            yield f"{name}: an exception\n{traceback.format_exc(limit=-4)}"
            continue
        if first is None:
            first = said
        elif said != first:
            pair = next(((a, b) for a, b in zip(first, said, strict=False) if a != b), (first[-1:], said[-1:]))
            yield f"{name}: invariance: {_short(pair[1])}, and {_short(pair[0])} {runs[0][0]}"
        for fault in faults(said, output, tokens, reason):
            yield f"{name}: {fault}"
            break


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 240 else text[:200] + "…"


def kind_of(fault: str) -> str:
    """What sort of fault it is, to keep a smaller input to the same one."""
    for word in (
        "the prompt is not",
        "an exception",
        "invariance",
        "conservation",
        "lifecycle",
        "strict prefix",
        "complete",
        "tokens",
    ):
        if word in fault:
            return word
    return fault


def smallest(case: Input, seed: str, fault: str, budget: int = 400) -> Input:
    """A smaller input with a fault of the same kind: ever shorter stretches are left out of output and prompt."""
    kind = kind_of(fault)

    def fails(candidate: Input) -> bool:
        return any(kind_of(found) == kind for found in wrong(candidate, seed))

    best = case
    for name in ("output",) if case.harmless is not None else ("prompt", "prefill", "output"):
        size = max(1, len(getattr(best, name)) // 2)
        while size and budget > 0:
            at, removed = 0, False
            while at < len(getattr(best, name)) and budget > 0:
                text = getattr(best, name)
                fewer = replace(best, **{name: text[:at] + text[at + size :]})
                budget -= 1
                if fails(fewer):
                    best, removed = fewer, True
                else:
                    at += size
            if size == 1 and not removed:
                break
            size = size // 2 if size > 1 else 1
    return best


def search(seed: str, names: list[str], go_on: Callable[[int], bool]) -> Iterator[tuple[Input, str]]:
    """Inputs with their first fault, while `go_on(number of inputs so far)` holds."""
    for number, case in enumerate(inputs(seed, names)):
        if not go_on(number):
            return
        fault = next(wrong(case, f"{seed}/{number}"), None)
        if fault is not None:
            yield smallest(case, f"{seed}/{number}", fault), fault
