"""A vocabulary as a trie over bytes, laid out for walks that cut whole subtrees.

Nodes stand in the order of a walk from the root, a node before what is below it: `byte`, `depth` (bytes from the root),
`token` (its id, -1 where no token ends) and `after` (the index behind its subtree) are four arrays with one entry a
node.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import tiktoken


@final
class Trie:
    """Tokens by their bytes; two tokens of the same bytes are one node, whose other ids `twins` has."""

    __slots__ = ("after", "byte", "depth", "token", "twins")

    def __init__(self, tokens: Iterable[tuple[bytes, int]]) -> None:
        self.byte: Final = array("B")
        self.depth: Final = array("H")
        self.token: Final = array("i")
        self.after: Final = array("i")
        self.twins: Final[dict[int, list[int]]] = {}
        open_nodes: list[int] = []
        before = b""
        for data, id in sorted(tokens):
            if not data:
                continue
            if data == before:
                self.twins.setdefault(self.token[-1], []).append(id)
                continue
            shared = _shared(before, data)
            self._close(open_nodes, shared)
            for at in range(shared, len(data)):
                open_nodes.append(len(self.byte))
                self.byte.append(data[at])
                self.depth.append(at)
                self.token.append(-1)
                self.after.append(0)
            self.token[-1] = id
            before = data
        self._close(open_nodes, 0)

    def _close(self, open_nodes: list[int], depth: int) -> None:
        while len(open_nodes) > depth:
            self.after[open_nodes.pop()] = len(self.byte)

    def __len__(self) -> int:
        return len(self.byte)


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    length = min(len(one), len(other))
    for at in range(length):
        if one[at] != other[at]:
            return at
    return length


def tokens_of(encoding: tiktoken.Encoding) -> Mapping[int, bytes]:
    """The ordinary tokens of a vocabulary: id -> bytes. Special tokens spell no text and are left out."""
    special = {encoding.encode_single_token(text) for text in encoding.special_tokens_set}
    found: dict[int, bytes] = {}
    for id in range(encoding.n_vocab):
        if id not in special:
            try:
                found[id] = encoding.decode_single_token_bytes(id)
            except KeyError:
                continue  # a gap in the ids
    return found
