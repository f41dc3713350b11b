"""Read-only views of a collection that still grows: as many of its elements or members as there were.

They cost nothing to make, do not change when the collection grows further, and equal a list, or a dict, of the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar, final, overload

V_co = TypeVar("V_co", covariant=True)


@final
class Elements(Sequence[V_co], Generic[V_co]):
    """The first `size` elements of a list that only grows."""

    __slots__ = ("_items", "_size")

    def __init__(self, items: list[V_co], size: int) -> None:
        self._items = items
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> V_co: ...
    @overload
    def __getitem__(self, index: slice) -> list[V_co]: ...
    def __getitem__(self, index: int | slice) -> V_co | list[V_co]:
        numbers = range(self._size)[index]
        return self._items[numbers] if isinstance(numbers, int) else [self._items[number] for number in numbers]

    def __iter__(self) -> Iterator[V_co]:
        return islice(self._items, self._size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Elements | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


@final
class Members(Mapping[str, V_co], Generic[V_co]):
    """The first `size` members of a dict that only grows; `order` says which member each key is, `keys` has them."""

    __slots__ = ("_items", "_keys", "_order", "_size")

    def __init__(self, items: dict[str, V_co], keys: list[str], order: dict[str, int], size: int) -> None:
        self._items = items
        self._keys = keys
        self._order = order
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, key: str) -> V_co:
        if self._order.get(key, self._size) >= self._size:
            raise KeyError(key)
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return islice(self._keys, self._size)

    def __repr__(self) -> str:
        return repr(dict(self))
