"""`typing.TypedDict`, which pydantic refuses before Python 3.12, read as the one of typing_extensions."""

from __future__ import annotations

import sys
import types
import typing
from typing import Any


def modern(type_: Any) -> Any:
    """The type with every `typing.TypedDict` in it, as far as it is written in generics, as pydantic takes it."""
    return type_ if sys.version_info >= (3, 12) else _modern(type_, {})


def _modern(type_: Any, made: dict[Any, Any]) -> Any:
    import typing_extensions

    if typing.is_typeddict(type_):
        if type_ not in made:
            hints = typing_extensions.get_type_hints(type_, include_extras=True)
            required = type_.__required_keys__
            kinds = {name: Any if name in required else typing_extensions.NotRequired[Any] for name in hints}
            make: Any = typing_extensions.TypedDict
            modern = made[type_] = make(type_.__name__, kinds)
            modern.__module__ = type_.__module__
            modern.__pydantic_config__ = getattr(type_, "__pydantic_config__", {})
            for name, hint in hints.items():  # after it was made: it may refer to itself
                inner = _modern(hint, made)
                modern.__annotations__[name] = inner if name in required else typing_extensions.NotRequired[inner]
        return made[type_]
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin in (list, set, frozenset, tuple, dict):
        generic: Any = origin
        return generic[tuple(each if each is ... else _modern(each, made) for each in arguments)]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(_modern(each, made) for each in arguments)]  # noqa: UP007
    if origin is typing.Annotated:
        return typing.Annotated[(_modern(arguments[0], made), *arguments[1:])]
    return type_
