"""A stream's state as bytes, sealed, and what of a stranger's bytes is a stream's state.

Each attribute is checked by its own shape, none but the declared ones is read, and whatever does not fit is one
`LifecycleError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, Final, TypeGuard

from .. import events as _events
from ..events import Event, IdKind, Why
from ..sealing import reading, seal, unseal
from .record import is_stretch
from .values import Call, Chunk

VERSION: Final = 2

Check = Callable[[object], bool]


def boolean(value: object) -> bool:
    return isinstance(value, bool)


def count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def text(value: object) -> bool:
    return isinstance(value, str)


def count_or_none(value: object) -> bool:
    return value is None or count(value)


def text_or_none(value: object) -> bool:
    return value is None or text(value)


def texts(value: object) -> bool:
    return _list(value) and all(map(text, value))


def objects(value: object) -> bool:
    return _list(value) and all(isinstance(entry, dict) for entry in value)


def verdicts(value: object) -> bool:
    return isinstance(value, dict) and all(entry is None or isinstance(entry, dict) for entry in value.values())


def _list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


_WHYS: Final = frozenset(map(str, Why))
_CALL: Final[dict[str, Check]] = {
    "number": count,
    "id": text,
    "name": text,
    "show": lambda value: value in ("shown", "held", "withheld"),
    "validated": boolean,
    "index": lambda value: value == -1 or count(value),
    "direct": boolean,
    "due": boolean,
    "unfit": boolean,
    "root": text,
    "tail": text,
    "closing": text,
    "held": texts,
    "source": texts,
    "asides": lambda value: _list(value) and all(map(is_stretch, value)),
    "refusal": lambda value: value is None or isinstance(value, dict),
}
# What may wait behind a call, by its fields' types.
_EVENTS: Final[dict[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (
        _events.Content,
        _events.ReasoningStart,
        _events.Reasoning,
        _events.ReasoningEnd,
        _events.CallStart,
        _events.CallArguments,
        _events.CallEnd,
        _events.Dropped,
        _events.Malformed,
    )
}
_FIELDS: Final[dict[str, Check]] = {
    "text": text,
    "tokens": count_or_none,
    "index": count,
    "id": text,
    "name": text,
    "declared": lambda value: value is None or boolean(value),
    "source": text,
    "id_kind": lambda value: value is None or value in frozenset(map(str, IdKind)),
    "validated": boolean,
    "json": text,
    "complete": boolean,
    "why": lambda value: value in _WHYS,
    "region": lambda value: value in ("", "start", "end"),
}


def save(kind: str, choice: int, values: Mapping[str, object], call: Call | None, queue: Iterable[Event]) -> bytes:
    """The state of a stream of this API."""
    state = {
        "choice": choice,
        "values": values,
        "call": None if call is None else {name: getattr(call, name) for name in _CALL},
        "queue": [_packed(event) for event in queue],
    }
    return seal(_name(kind), VERSION, state)


def load(data: bytes, kind: str, checks: Mapping[str, Check]) -> tuple[int, dict[str, Any], Call | None, list[Event]]:
    """Choice, attributes, the call in flight and the events that wait, as `save` was given them."""
    name = _name(kind)
    state = unseal(name, VERSION, data)
    with reading(name):
        choice, values, call, queue = (state[name] for name in ("choice", "values", "call", "queue"))
        if not count(choice):
            raise _damaged("choice")
        _check(values, checks)
        if call is not None:
            _check(call, _CALL)
        return choice, values, call and Call(**call), [_unpacked(entry) for entry in queue]


def _name(kind: str) -> str:
    return f"adapters.{kind}.Stream"


def _check(values: Any, checks: Mapping[str, Check]) -> None:
    if not isinstance(values, dict) or values.keys() != checks.keys():
        raise _damaged("the list of attributes")
    for name, check in checks.items():
        if not check(values[name]):
            raise _damaged(name.lstrip("_"))


def _packed(event: Event) -> Chunk:
    return {"": type(event).__name__, **{field.name: getattr(event, field.name) for field in fields(event)}}


def _unpacked(entry: Any) -> Event:
    kind = _EVENTS[entry.pop("")] if isinstance(entry, dict) else None
    if kind is None or not all(_FIELDS[name](value) for name, value in entry.items()):
        raise _damaged("an event that waits")
    if entry.get("id_kind") is not None:
        entry["id_kind"] = IdKind(entry["id_kind"])
    if "why" in entry:
        entry["why"] = Why(entry["why"])
    event: Event = kind(**entry)
    return event


def _damaged(what: str) -> ValueError:
    return ValueError(f"{what} is not as a stream has it")
