"""A `PartialStream` reads one value of a type as its text arrives and hands out a `Partial` whenever something changed.

Decisions: feeding never raises for what the text says. A malformed text stops growing and the `Partial` says where;
`finish` raises the `DecodeError`. The last value is decoded by `decode`'s own decode: the text is one JSON value with
no duplicate keys, and the type takes it whole. With `lenient_start` the value starts at the first bracket that the type
can start with (prose or a fence before it is skipped by one search) and text behind the value is left alone.

`strict` is the stream decoder's: by default both take the same texts, so that what a view shows is what a decoder
accepts. Without it pydantic's lax rules hold ("2" for an integer), and raw control characters and halves of surrogate
pairs in strings are content. `refuse="early"` follows the decoder's graph: the text is malformed from the character
on that no valid value has, and what was shown stays.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, Unpack, cast, final, overload

from ..errors import DecodeError, LifecycleError
from ..limits import Limits
from ..schema.path import show
from ..schema.type_view import Invalid, Kind, TypeView, view_of
from ..sealing import reading, seal, unseal
from .builder import Builder
from .early import Early
from .locate import locate
from .options import Options, Settings
from .problem import Problem
from .shared import Shared
from .snapshot import now
from .source import Source
from .view import Partial

if TYPE_CHECKING:
    from ..schema.path import Path

T = TypeVar("T")

SNAPSHOT: Final = 1
"""The version of a stream's snapshot."""
INTERRUPTED: Final = "reading was interrupted by an exception"
_OPENERS: Final = {"{": re.compile(r"\{"), "[": re.compile(r"\["), "{[": re.compile(r"[\[{]")}


@final
class PartialStream(Generic[T]):
    """One value of `type` in flight; `Settings` says what the options mean."""

    __slots__ = ("_builder", "_early", "_emitted", "_finished", "_opener", "_settings", "_shared", "_type", "_view")

    @overload
    def __init__(self: PartialStream[Any], type: Mapping[str, Any], **options: Unpack[Options]) -> None: ...
    @overload
    def __init__(self, type: type[T], **options: Unpack[Options]) -> None: ...
    @overload
    def __init__(self: PartialStream[Any], type: Any, **options: Unpack[Options]) -> None: ...
    def __init__(self, type: Any, **options: Unpack[Options]) -> None:
        settings = Settings(**options)
        strict, limits = settings.strict, settings.bounds
        self._type = type
        self._settings = settings
        self._view: TypeView = view_of(type, strict=strict)
        source = Source()
        seen_into = self._view.kind in (Kind.FIELDS, Kind.UNION)
        self._builder = Builder(limits, source, strict=strict, trailing=settings.lenient_start, fields=seen_into)
        self._shared = Shared(self._view, source)
        self._early = Early(type, strict, limits) if settings.refuse == "early" else None
        self._opener = _OPENERS.get(self._view.containers, _OPENERS["{["]) if settings.lenient_start else None
        self._emitted = False  # whether a view was handed out that says that the text is malformed
        self._finished = False

    def feed(self, text: str) -> Partial[T] | None:
        """Read this delta: the view now, or None when nothing that `emit` asks for changed."""
        if self._finished:
            raise LifecycleError("PartialStream: feed after finish; a stream is read once")
        if not isinstance(text, str):
            raise TypeError(
                f"PartialStream.feed: expected a str, got {text.__class__.__name__} (bytes: decode them incrementally)"
            )
        if self._opener is not None:
            found = self._opener.search(text)
            self._builder.skip(len(text) if found is None else found.start())
            if found is None:
                return None
            text = text[found.start() :]
            self._opener = None
        builder = self._builder
        try:
            if self._early is None and not builder.pending and text.isascii():
                changed = builder.read(text)
            else:
                changed = self._read(text)
            if builder.problem is not None and not self._emitted:
                changed = self._emitted = True
            elif builder.grew and self._settings.emit == "text":
                changed = True
            if not changed:
                return None
            self._shared.follow(builder.root)
        except BaseException:
            if builder.problem is None:
                builder.refuse(INTERRUPTED)
            raise
        return Partial(self._shared, self._view, now(builder), self._shared.root)

    def _read(self, text: str) -> bool:
        builder = self._builder
        text = builder.paired(text)
        if self._early is None or builder.problem is not None or builder.done:
            return builder.read(text)
        sound, message = self._early.feed(text)
        changed = builder.read(text[:sound])
        if message and builder.problem is None:
            builder.refuse_early(message, text[sound])
        return changed

    @property
    def partial(self) -> Partial[T]:
        """The view now."""
        self._shared.follow(self._builder.root)
        return Partial(self._shared, self._view, now(self._builder), self._shared.root)

    def finish(self) -> T:
        """The text is over: the decoded value, or `DecodeError` with path and offset. Exactly once."""
        if self._finished:
            raise LifecycleError("PartialStream: finish was called before; a stream ends once")
        self._finished = True
        problem = self._builder.end()
        if problem is not None:
            where = "" if problem.offset is None else f" (at character {problem.offset})"
            raise DecodeError(f"{problem}{where}", path=show(problem.path), offset=problem.offset)
        outcome = self._shared.validate_whole(self._builder.in_flight)
        if isinstance(outcome, Invalid):
            raise self._invalid(outcome) from outcome.__cause__
        return cast("T", outcome)

    def cut(self, reason: str) -> None:
        """The text is known to be no whole value, whatever it looks like: `finish` will raise, no view has a value."""
        if self._builder.problem is None:
            self._builder.refuse(reason)

    def _invalid(self, invalid: Invalid) -> DecodeError:
        path: Path
        path, message = invalid.problems[0] if invalid.problems else ((), "not a value of the type")
        source = self._shared.source
        offset = source.start + locate(source.read(source.start), path)
        more = f" and {len(invalid.problems) - 1} more" if len(invalid.problems) > 1 else ""
        return DecodeError(f"{show(path)}: {message}{more} (at character {offset})", path=show(path), offset=offset)

    # ------------------------------------------------------------------------------- the state

    def snapshot(self) -> bytes:
        """The whole state between two deltas: the text so far, which decides it. The type is given again."""
        builder, source = self._builder, self._shared.source
        problem = builder.problem
        state = {
            "type": self._view.identity,
            "options": {**asdict(self._settings), "limits": asdict(self._settings.bounds)},
            "skipped": builder.start,
            "opened": self._opener is None,
            "text": source.read(source.start),
            "pending": ord(builder.pending) if builder.pending else 0,
            "offset": builder.offset,
            "problem": None if problem is None else [list(problem.path), problem.message, problem.offset],
            "said": self._emitted,
            "finished": self._finished,
        }
        return seal("PartialStream", SNAPSHOT, state)

    @classmethod
    def restore(cls, data: bytes, type: Any) -> PartialStream[Any]:
        """The stream that gave this snapshot, in time linear in its text; its parts are validated again.

        `LifecycleError`: another type or version, or no snapshot at all.
        """
        state = unseal("PartialStream", SNAPSHOT, data)
        with reading("PartialStream"):
            options = {**state["options"], "limits": Limits(**state["options"]["limits"])}
            stream: PartialStream[Any] = PartialStream(type, **options)
            if state["type"] != stream._view.identity:
                raise LifecycleError("PartialStream.restore: the snapshot was made with another type than this one")
            stream._resume(state)
        return stream

    def _resume(self, state: dict[str, Any]) -> None:
        builder = self._builder
        text, skipped, offset = state["text"], state["skipped"], state["offset"]
        _expect(
            isinstance(text, str) and skipped.__class__ is int and offset.__class__ is int and 0 <= skipped <= offset
        )
        _expect(state["opened"] is True or (self._opener is not None and not text))
        builder.skip(skipped)
        if state["opened"]:
            self._opener = None
        self._read(text)
        match state["problem"]:
            case None:
                _expect(builder.problem is None and self._shared.source.read(skipped) == text)
                if state["finished"]:
                    _expect(builder.end() is None)
            case [list(path), str(message), int(at)] if all(step.__class__ in (str, int) for step in path):
                builder.problem = Problem(tuple(path), message, at)
            case _:
                raise ValueError("no problem")
        exact = builder.problem is None and not builder.done
        _expect(offset == builder.offset if exact else offset < 1 << 62)
        builder.offset = offset
        if state["pending"]:
            _expect(0xD800 <= state["pending"] < 0xDC00)
            builder.pending = chr(state["pending"])
        self._emitted, self._finished = bool(state["said"]), bool(state["finished"])
        self._shared.follow(builder.root)

    def copy(self) -> PartialStream[T]:
        """A stream in the same state that goes its own way; the text so far is read again."""
        return PartialStream.restore(self.snapshot(), self._type)


def _expect(condition: bool) -> None:
    if not condition:
        raise ValueError("its parts do not fit together")


def decode(type: type[T], text: str, **options: Unpack[Options]) -> T:
    """The value of this whole text: what a stream of the same text finishes with."""
    stream: PartialStream[T] = PartialStream(type, **options)
    stream.feed(text)
    return stream.finish()


@overload
def stream(type: type[T], chunks: Iterable[str], **options: Unpack[Options]) -> Iterator[Partial[T]]: ...
@overload
def stream(type: type[T], chunks: AsyncIterable[str], **options: Unpack[Options]) -> AsyncIterator[Partial[T]]: ...
@overload
def stream(type: Any, chunks: Iterable[str], **options: Unpack[Options]) -> Iterator[Partial[Any]]: ...
@overload
def stream(type: Any, chunks: AsyncIterable[str], **options: Unpack[Options]) -> AsyncIterator[Partial[Any]]: ...
def stream(type: Any, chunks: Iterable[str] | AsyncIterable[str], **options: Unpack[Options]) -> Any:
    """The views of a value as its chunks arrive, then one whose `.value` is the decoded value; or `DecodeError`."""
    partials: PartialStream[Any] = PartialStream(type, **options)
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
