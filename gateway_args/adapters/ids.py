"""Ids that a response makes of its own: hashes of the response's id and of a place in it.

They are the same for the same response, differ between responses whose ids differ, and have the alphabet of all three
APIs (`[a-zA-Z0-9_-]`).
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from ..events import CallStart, IdKind

if TYPE_CHECKING:
    from collections.abc import Container

_PLAIN: Final = re.compile(r"[a-zA-Z0-9_-]+")
_ALNUM: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def item_id(prefix: str, response: str, choice: int, place: str) -> str:
    """The prefix and 24 hexadecimal digits."""
    return prefix + _digest(response, choice, place).hex()


def call_id(prefix: str, response: str, choice: int, event: CallStart, taken: Container[str]) -> str:
    """What a client receives as this call's id: the caller's own unchanged, any other one made for this response.

    A format whose template takes nine letters and digits (`alnum9`, Mistral's) gets them without the prefix: the client
    sends the id back, and the template refuses any other. An event that no parser of this package made keeps an id
    which every API takes, unless it is the parser's default or `taken` by another call of the response.
    """
    match event.id_kind:
        case IdKind.GIVEN:
            return event.id
        case IdKind.ALNUM9:
            return _alnum9(_digest(response, choice, f"call/{event.index}"))
        case IdKind.DEFAULT:
            pass
        case None:
            if _PLAIN.fullmatch(event.id) and event.id != f"call_{event.index}" and event.id not in taken:
                return event.id
    return item_id(prefix, response, choice, f"call/{event.index}")


def _digest(response: str, choice: int, place: str) -> bytes:
    return blake2b(f"{response}/{choice}/{place}".encode(errors="replace"), digest_size=12).digest()


def _alnum9(digest: bytes) -> str:
    number = int.from_bytes(digest, "big")
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALNUM))
        digits.append(_ALNUM[digit])
    return "".join(digits)
