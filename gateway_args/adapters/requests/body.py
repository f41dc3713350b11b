"""A request's body, looked at with care: whatever JSON came is read as it is, and what is wrong is told by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from ...tools import Tools, too_deep
from ..errors import BadRequest

T = TypeVar("T", bound=str)
_MAX_DEPTH: Final = 160

_NAMES = {bool: "true or false", str: "a string", int: "an integer", dict: "an object", list: "a list"}


class Body:
    """An object of a request and the path to it ("" for the body itself)."""

    def __init__(self, kind: str, value: object, path: str = "") -> None:
        self.kind = kind
        self.path = path
        if not isinstance(value, Mapping):
            raise self.bad(path, f"expected an object, got {_word(value)}")
        if not path and too_deep(value, _MAX_DEPTH):
            raise self.bad(path, f"nested more than {_MAX_DEPTH} levels deep")
        self.value: Mapping[str, Any] = value

    def bad(self, path: str, message: str) -> BadRequest:
        """The error that this place in the body is answered with."""
        return BadRequest(
            self.kind, f"{path}: {message}" if path else f"the request's body: {message}", param=path or None
        )

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def text(self, key: str) -> str | None:
        found: str | None = self._of(key, str)
        return found

    def needed(self, key: str) -> str:
        """A text that has to be there and not empty."""
        found = self.text(key)
        if not found:
            raise self.bad(self.at(key), f"expected a string, got {_word(self.value.get(key))}")
        return found

    def flag(self, key: str, default: bool = False) -> bool:
        found = self._of(key, bool)
        return default if found is None else found

    def integer(self, key: str, low: int, high: int | None = None) -> int | None:
        """An integer within its bounds."""
        found: int | None = self._of(key, int)
        if found is not None and (found < low or (high is not None and found > high)):
            bounds = f"at least {low}" if high is None else f"{low} to {high}"
            raise self.bad(self.at(key), f"expected an integer of {bounds}, got {found}")
        return found

    def one_of(self, key: str, allowed: Sequence[T]) -> T | None:
        found = self.text(key)
        if found is None:
            return None
        for value in allowed:
            if found == value:
                return value
        raise self.bad(self.at(key), f"expected one of {', '.join(allowed)}, got {_word(found)}")

    def object(self, key: str) -> Body | None:
        found = self.value.get(key)
        return None if found is None else Body(self.kind, found, self.at(key))

    def objects(self, key: str, expected: str = "a list") -> Iterator[Body]:
        """Each object of a list, with its path; `expected` says what else the API takes there."""
        for index, entry in enumerate(self.list(key, expected)):
            yield Body(self.kind, entry, f"{self.at(key)}[{index}]")

    def list(self, key: str, expected: str = "a list") -> list[Any]:
        return self._of(key, list, expected) or []

    def texts(self, key: str) -> tuple[str, ...]:
        """A text, or a list of texts."""
        found = self.value.get(key)
        listed = [found] if isinstance(found, str) else self.list(key, "a string or a list of strings")
        for index, entry in enumerate(listed):
            if not isinstance(entry, str):
                raise self.bad(f"{self.at(key)}[{index}]", f"expected a string, got {_word(entry)}")
        return tuple(entry for entry in listed if entry)

    def tools(self, key: str = "tools") -> Tools:
        try:
            return Tools.of(self.value.get(key))
        except ValueError as error:
            raise BadRequest(self.kind, str(error), param=str(error).partition(":")[0]) from None

    def some(self, keys: Sequence[str]) -> dict[str, Any]:
        """The fields of these names that are there, as the client wrote them."""
        return {key: self.value[key] for key in keys if self.value.get(key) is not None}

    def refuse(self, keys: Mapping[str, str]) -> None:
        """Fields that nothing here can honour, each with what to do instead."""
        for key, instead in keys.items():
            if self.value.get(key):
                raise self.bad(self.at(key), f"is not supported; {instead}")

    def _of(self, key: str, kind: type[Any], expected: str = "") -> Any:
        found = self.value.get(key)
        if found is not None and (not isinstance(found, kind) or (kind is int and isinstance(found, bool))):
            raise self.bad(self.at(key), f"expected {expected or _NAMES[kind]}, got {_word(found)}")
        return found


def _word(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)[:40]
        case str():
            return repr(value[:60])
        case Mapping():
            return "an object"
        case _:
            return "a list"
