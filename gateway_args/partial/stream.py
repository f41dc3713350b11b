"""A `PartialStream` reads one value of a type as its text arrives and hands out a `Partial` whenever something changed.

Decisions: feeding never raises for what the text says. A malformed text stops growing and the `Partial` says where;
`finish` raises the `DecodeError`. The last value is decoded by `decode`'s own strict decode: the text is one JSON value
with no duplicate keys, and the type takes it whole. With `lenient_start` the value starts at the first bracket that the
type can start with (prose or a fence before it is skipped by one search) and text behind the value is left alone.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, final, overload

from ..errors import DecodeError, LifecycleError
from ..limits import Limits
from ..schema.path import show
from ..schema.type_view import ANY, Invalid, Kind, shape_of
from .builder import Builder
from .cursor import Cursor
from .locate import locate
from .reader import Reader
from .source import Source

if TYPE_CHECKING:
    from .view import Partial

T = TypeVar("T")
Emit = Literal["fields", "text"]

_OPENERS = {Kind.FIELDS: re.compile(r"\{"), Kind.MEMBERS: re.compile(r"\{"), Kind.ELEMENTS: re.compile(r"\[")}
_ANY_OPENER = re.compile(r"[\[{]")


@final
class PartialStream(Generic[T]):
    """One value of `type` in flight.

    `emit="fields"` hands out a view when the spine or the set of complete values changed, `"text"` also when a string
    in flight grew. `Limits.max_depth` and `max_arguments` bound the value.
    """

    @overload
    def __init__(
        self: PartialStream[Any],
        type: Mapping[str, Any],
        *,
        emit: Emit = ...,
        lenient_start: bool = ...,
        limits: Limits | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self, type: type[T], *, emit: Emit = ..., lenient_start: bool = ..., limits: Limits | None = ...
    ) -> None: ...
    @overload
    def __init__(
        self: PartialStream[Any], type: Any, *, emit: Emit = ..., lenient_start: bool = ..., limits: Limits | None = ...
    ) -> None: ...
    def __init__(
        self, type: Any, *, emit: Emit = "fields", lenient_start: bool = False, limits: Limits | None = None
    ) -> None:
        if emit not in ("fields", "text"):
            raise ValueError(f"PartialStream: emit is {emit!r}; give 'fields' or 'text'")
        self._shape = shape_of(type)
        self._source = Source() if self._shape is not ANY else None
        self._builder = Builder(limits or Limits(), source=self._source, trailing=lenient_start)
        self._cursor = Cursor(self._shape, self._source)
        self._reader = Reader(self._builder, self._cursor, text=emit == "text", trailing=lenient_start)
        self._opener = _OPENERS.get(self._shape.kind, _ANY_OPENER) if lenient_start else None
        self._finished = False

    def feed(self, text: str) -> Partial[T] | None:
        """Read this piece: the view now, or None when nothing that `emit` asks for changed."""
        if self._finished:
            raise LifecycleError("PartialStream: feed after finish; a stream is read once")
        if not isinstance(text, str):
            raise TypeError(
                f"PartialStream.feed: {text.__class__.__name__} is no str (bytes: decode them incrementally)"
            )
        if self._opener is not None:
            found = self._opener.search(text)
            self._builder.skip(len(text) if found is None else found.start())
            if found is None:
                return None
            text = text[found.start() :]
            self._opener = None
        return self._reader.feed(text)

    @property
    def partial(self) -> Partial[T]:
        """The view now."""
        return self._reader.view()

    def finish(self) -> T:
        """The text is over: the value by the strict decode, or `DecodeError` with path and offset. Exactly once."""
        if self._finished:
            raise LifecycleError("PartialStream: finish was called before; a stream ends once")
        self._finished = True
        self._reader.read()
        fault = self._builder.end()
        if fault is not None:
            where = "" if fault.offset is None else f" (at character {fault.offset})"
            raise DecodeError(f"{fault}{where}", path=show(fault.path), offset=fault.offset)
        outcome = self._cursor.whole(self._builder.leaf, self._builder.offset)
        if isinstance(outcome, Invalid):
            raise self._invalid(outcome) from outcome.__cause__
        return cast("T", outcome)

    def _invalid(self, invalid: Invalid) -> DecodeError:
        path, message = invalid.faults[0] if invalid.faults else ((), "not a value of the type")
        offset = None
        if self._source is not None:
            offset = self._builder.start + locate(self._source.read(self._builder.start), path)
        more = f" and {len(invalid.faults) - 1} more" if len(invalid.faults) > 1 else ""
        return DecodeError(f"{show(path)}: {message}{more} (at character {offset})", path=show(path), offset=offset)


def decode(type: type[T], text: str, *, lenient_start: bool = False, limits: Limits | None = None) -> T:
    """The value of this whole text, strictly: what a stream of the same text finishes with."""
    stream: PartialStream[T] = PartialStream(type, lenient_start=lenient_start, limits=limits)
    stream.feed(text)
    return stream.finish()


@overload
def stream(
    type: type[T], chunks: Iterable[str], *, emit: Emit = ..., lenient_start: bool = ..., limits: Limits | None = ...
) -> Iterator[Partial[T]]: ...
@overload
def stream(
    type: type[T],
    chunks: AsyncIterable[str],
    *,
    emit: Emit = ...,
    lenient_start: bool = ...,
    limits: Limits | None = ...,
) -> AsyncIterator[Partial[T]]: ...
@overload
def stream(
    type: Any, chunks: Iterable[str], *, emit: Emit = ..., lenient_start: bool = ..., limits: Limits | None = ...
) -> Iterator[Partial[Any]]: ...
@overload
def stream(
    type: Any, chunks: AsyncIterable[str], *, emit: Emit = ..., lenient_start: bool = ..., limits: Limits | None = ...
) -> AsyncIterator[Partial[Any]]: ...
def stream(
    type: Any,
    chunks: Iterable[str] | AsyncIterable[str],
    *,
    emit: Emit = "fields",
    lenient_start: bool = False,
    limits: Limits | None = None,
) -> Any:
    """The views of a value as its chunks arrive, then one whose `.value` is the strict result; or `DecodeError`."""
    partials: PartialStream[Any] = PartialStream(
        type, emit=emit, lenient_start=lenient_start, limits=limits or Limits()
    )
    return _async(partials, chunks) if isinstance(chunks, AsyncIterable) else _sync(partials, chunks)


def _sync(stream: PartialStream[T], chunks: Iterable[str]) -> Iterator[Partial[T]]:
    for chunk in chunks:
        partial = stream.feed(chunk)
        if partial is not None:
            yield partial
    stream.finish()
    yield stream.partial


async def _async(stream: PartialStream[T], chunks: AsyncIterable[str]) -> AsyncIterator[Partial[T]]:
    async for chunk in chunks:
        partial = stream.feed(chunk)
        if partial is not None:
            yield partial
    stream.finish()
    yield stream.partial
