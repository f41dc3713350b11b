"""Chunkings: the ways in which one output is cut into deltas.

A stream is a list of atoms, characters or tokens; a chunking is where it is cut (between which atoms), whether empty
deltas stand between the pieces, and whether the parser is put away (`snapshot`) and taken up again (`restore`) after
each. All two-way cuts cost the square of the length, so above `Chunkings.long` atoms the cuts near structure and a
seeded sample stand for all of them. Everything is seeded by the case's name: a run repeats exactly.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_STRUCTURE = frozenset("<>{}[]()|,:;=\"'\\/`\n｜")


@dataclass(frozen=True, slots=True)
class Chunking:
    """One way to cut a stream; `cuts` are offsets in atoms, in order, each strictly inside the stream."""

    cuts: tuple[int, ...]
    empties: bool = False
    restores: bool = False

    def bounds(self, length: int) -> Iterator[tuple[int, int]]:
        """The pieces as (start, end) in atoms; a stream of no atoms has no piece."""
        start = 0
        for cut in self.cuts:
            yield start, cut
            start = cut
        if length > start:
            yield start, length


@dataclass(frozen=True, slots=True)
class Chunkings:
    """Which chunkings of a stream are tried: whole, cut in two, atom by atom, and by seeded plans."""

    two_way: bool = True
    plans: int = 8
    empties: bool = True
    restores: bool = True
    long: int = 400
    """Above so many atoms the two-way cuts are bounded to this number, and snapshots follow a plan."""
    longest: int = 20_000
    """Above so many atoms there is no atom-by-atom run."""
    seed: str = "contract"

    def of(self, atoms: Sequence[str], name: str, *, restorable: bool) -> Iterator[Chunking]:
        """The chunkings of these atoms (their texts), the whole first."""
        length = len(atoms)
        yield Chunking(())
        if length < 2:
            if self.empties:
                yield Chunking((), empties=True)
            if self.restores and restorable:
                yield Chunking((), restores=True)
            return
        single = tuple(range(1, length))
        if length <= self.longest:
            yield Chunking(single)
        if self.two_way:
            for cut in self._cuts(atoms, name):
                yield Chunking((cut,))
        for number in range(self.plans):
            yield Chunking(self._plan(length, f"{name}/{number}", 9))
        if self.empties:
            yield Chunking(self._plan(length, f"{name}/empties", 5), empties=True)
        if self.restores and restorable:
            cuts = single if length <= self.long else self._plan(length, f"{name}/restores", max(9, length // 64))
            yield Chunking(cuts, restores=True)

    def _plan(self, length: int, seed: str, most: int) -> tuple[int, ...]:
        rng = random.Random(f"{self.seed}/{seed}")
        cuts: list[int] = []
        at = rng.randint(1, most)
        while at < length:
            cuts.append(at)
            at += rng.randint(1, most)
        return tuple(cuts)

    def _cuts(self, atoms: Sequence[str], name: str) -> Sequence[int]:
        length = len(atoms)
        if length <= self.long:
            return range(1, length)
        near = {cut for at, text in enumerate(atoms) if not _STRUCTURE.isdisjoint(text) for cut in (at, at + 1)}
        near = {cut for cut in near if 0 < cut < length}
        rng = random.Random(f"{self.seed}/{name}/cuts")
        kept = set(rng.sample(sorted(near), min(len(near), self.long * 3 // 4)))
        kept.update(rng.sample(range(1, length), self.long - len(kept)))
        return sorted(kept)


STANDARD = Chunkings()
QUICK = Chunkings(two_way=False, plans=3, empties=False, long=0)


def shrink(chunking: Chunking, fails: Callable[[Chunking], bool], budget: int = 300) -> Chunking:
    """A chunking that still fails with as few cuts as `budget` more runs can find.

    First without its empty deltas and snapshots, then with ever smaller stretches of cuts left out, down to single
    ones: what remains is minimal, since no cut of it can go (unless the budget ended the search).
    """
    best = chunking
    for simpler in (Chunking(best.cuts), Chunking(best.cuts, best.empties), Chunking(best.cuts, False, best.restores)):
        if simpler != best and fails(simpler):
            best = simpler
            break
    size = len(best.cuts)
    while size and budget > 0:
        at = 0
        removed = False
        while at < len(best.cuts) and budget > 0:
            fewer = Chunking(best.cuts[:at] + best.cuts[at + size :], best.empties, best.restores)
            budget -= 1
            if fails(fewer):
                best, removed = fewer, True
            else:
                at += size
        if size > 1:
            size = min(size // 2, max(1, len(best.cuts)))
        elif not removed:
            break
    return best
