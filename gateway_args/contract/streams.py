"""Streams: one output as a list of atoms, characters or tokens of a vocabulary, that chunkings cut between.

The vocabulary is the embedded one; the format's markers are added to it as single tokens with ids of their own. With
token ids there are up to five streams of a case: markers by id and quoted ones spelled; the same with the ids unknown
to the parser; markers all spelled; markers whose tokens have no text; and quoted ones by id too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .corpus import Case, Piece, normalise

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ..tokens.detokenizer import Delta, Token


@dataclass(frozen=True, slots=True)
class Stream:
    """An output in atoms; `ids` holds, per atom, the ids and offsets of its tokens.

    `asserted` is whether the case's expected reading holds for this stream; `markers` is what its parser is told.
    """

    label: str
    atoms: Sequence[str]
    output: str
    asserted: bool
    ids: Sequence[tuple[tuple[int, int, int], ...]] | None = None
    markers: Mapping[str, int] | None = None
    brief: bool = False
    """A variation of a stream that is tried in full: a few chunkings are enough."""
    bare: bool = False
    """The markers have no text, as engines write that skip special tokens; what is dropped is not the text's."""

    @property
    def tokens(self) -> int | None:
        """The number of tokens fed, None in a stream without ids."""
        return None if self.ids is None else sum(len(atom) for atom in self.ids)

    def piece(self, start: int, end: int) -> str | Delta:
        """The delta of the atoms from `start` to `end`."""
        text = "".join(self.atoms[start:end])
        if self.ids is None:
            return text
        from ..tokens.detokenizer import Delta, Token

        tokens: list[Token] = []
        offset = 0
        for at in range(start, end):
            tokens += [Token(id, offset + first, offset + last) for id, first, last in self.ids[at]]
            offset += len(self.atoms[at])
        return Delta(text, tuple(tokens))

    def empty(self) -> str | Delta:
        return self.piece(0, 0)


def streams_of(case: Case, markers: Collection[str] | None) -> Iterator[Stream]:
    """The streams of a case; `markers` are the texts that may be single tokens, None where ids are not tried."""
    text = case.text
    output = normalise(text)
    yield Stream("text", text, output, asserted=True)
    if markers is None or not output:  # no piece says that an empty stream has ids
        return
    vocabulary = _Vocabulary(markers)
    quotes = any(piece.quoted for piece in case.output)
    pieces = [Piece(normalise(piece.text), piece.quoted) for piece in case.output]
    pieces = pieces if normalise("".join(piece.text for piece in pieces)) == output else [Piece(output)]
    atoms, ids = vocabulary.encode(pieces, spelled=False)
    yield Stream("tokens", atoms, output, not case.quoted, ids, vocabulary.ids)
    if not vocabulary.found(output):
        return
    yield Stream("tokens, ids of markers unknown", atoms, output, not case.quoted, ids, None, brief=True)
    atoms, ids = vocabulary.encode(pieces, spelled=True)
    yield Stream("tokens, markers spelled", atoms, output, True, ids, {}, brief=True)
    if case.canonical:
        atoms, ids = vocabulary.encode(pieces, spelled=False, bare=True)
        text = "".join(atoms)
        yield Stream("tokens, markers without text", atoms, text, True, ids, vocabulary.ids, brief=True, bare=True)
    if quotes:
        atoms, ids = vocabulary.encode([Piece(output)], spelled=False)
        yield Stream("tokens, quoted markers by id", atoms, output, False, ids, vocabulary.ids, brief=True)


_FIRST_MARKER = 1_000_000  # above every id of the embedded vocabulary


class _Vocabulary:
    """The embedded vocabulary with these markers added."""

    def __init__(self, markers: Collection[str]) -> None:
        self.ids = {text: _FIRST_MARKER + number for number, text in enumerate(sorted(markers))}
        longest_first = sorted(self.ids, key=lambda text: (-len(text), text))
        self._pattern = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if longest_first else None

    def found(self, text: str) -> bool:
        return self._pattern is not None and self._pattern.search(text) is not None

    def encode(
        self, pieces: Sequence[Piece], *, spelled: bool, bare: bool = False
    ) -> tuple[list[str], list[tuple[tuple[int, int, int], ...]]]:
        """The texts of the atoms and the tokens in each: (id, start, end) in characters of the atom."""
        atoms: list[str] = []
        ids: list[tuple[tuple[int, int, int], ...]] = []
        for text, id in self._stretches(pieces, spelled):
            if id is not None:
                spelling = "" if bare else text
                atoms.append(spelling)
                ids.append(((id, 0, len(spelling)),))
            else:
                _ordinary(text, atoms, ids)
        return atoms, ids

    def _stretches(self, pieces: Sequence[Piece], spelled: bool) -> Iterator[tuple[str, int | None]]:
        """Markers with their ids and what stands between them."""
        for piece in pieces:
            if spelled or piece.quoted or self._pattern is None:
                yield piece.text, None
                continue
            for text in self._pattern.split(piece.text):
                if text:
                    yield text, self.ids.get(text)


def _ordinary(text: str, atoms: list[str], ids: list[tuple[tuple[int, int, int], ...]]) -> None:
    """Adds the text in ordinary tokens; those that share a character are one atom."""
    from ..tokens import vocab
    from ..tokens.detokenizer import TokenDecoder

    encoding = vocab.load("embedded")
    decoder = TokenDecoder(encoding)
    for id in encoding.encode_ordinary(text):
        delta = decoder.feed(id)
        if delta.tokens:
            atoms.append(delta.text)
            ids.append(tuple((token.id, token.start, token.end) for token in delta.tokens))
