"""The reader hands text to the builder late: when somebody looks at a view of it, or when much of it waits.

Reading much text at once costs less than reading it piece by piece, and a consumer that shows some views a second never
looks at most of what it is handed. What it does look at is exact: a view that is still held when its text is read is
filled at its own piece's end. So a view costs when it is looked at, and hardly anything when it is not.

Decision: a piece may wait when what it has outside of strings says at a glance what it changes. A comma or bracket
completes or opens a value; a string that begins behind the end of another begins a value or follows a complete one;
white space changes nothing, and text inside a string nothing but that string. The one thing noticed late is a fault:
while nobody looks, at most `LONGEST` characters behind it are answered as if they went on, by views that are equal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, final
from weakref import ref

from .moment import Moment, now
from .shape import Kind
from .view import Partial, show

if TYPE_CHECKING:
    from .builder import Builder
    from .cursor import Cursor

_structure = re.compile(r"[,\[\]{}]").search

SHORTEST: Final = 32
"""Characters of a piece that pays to look at before it is read."""
WATCHED: Final = 8
"""Pieces behind a view that was looked at which do not wait, as they would be looked at too."""
LONGEST: Final = 2048
"""Characters that wait at most."""


@final
class Reader:
    """The way of the text to the builder, and of the views to the consumer."""

    __slots__ = (
        "_builder",
        "_cursor",
        "_inside",
        "_late",
        "_lock",
        "_room",
        "_said",
        "_size",
        "_text",
        "_typed",
        "_waiting",
        "_watched",
    )

    def __init__(self, builder: Builder, cursor: Cursor, *, text: bool, trailing: bool) -> None:
        self._builder = builder
        self._cursor = cursor
        self._typed = cursor.shape.kind is not Kind.WHOLE
        self._text = text  # whether a string in flight that grew is a change
        self._room = 0 if trailing else LONGEST  # text behind the value would be no fault, and change nothing
        self._waiting: list[tuple[str, ref[Partial[Any]] | None]] = []
        self._late = False  # whether any text waits, or is being read
        self._lock = cursor.lock
        self._size = 0
        self._watched = 0
        self._inside = False  # whether the next character is one of a string
        self._said = False  # whether a view was handed out that says that the text is malformed

    def feed(self, text: str) -> Partial[Any] | None:
        """Take this piece: the view now, or None when nothing changed."""
        size = len(text)
        if self._watched:
            self._watched -= 1
        elif SHORTEST <= size <= self._room:
            if self._size + size > LONGEST:
                self.read()
            with self._lock:
                changed = self._changes(text)
                if changed is not None:
                    self._late = True
                    self._size += size
                    view: Partial[Any] | None = Partial(self._cursor, None, self) if changed else None
                    self._waiting.append((text, None if view is None else ref(view)))
                    return view
        if self._late:
            self.read()
        builder = self._builder
        if builder.feed(text) or (self._text and builder.grew) or (builder.fault is not None and not self._said):
            return self.view()
        return None

    def look(self) -> None:
        """A view is looked at, in any thread, and must be filled."""
        self._watched = WATCHED
        self.read()

    def read(self) -> None:
        """Read all that waits."""
        with self._lock:
            if not self._waiting:
                return
            waiting, self._waiting, self._size = self._waiting, [], 0
            builder = self._builder
            together: list[str] = []
            held: list[tuple[Partial[Any], Moment]] = []
            for text, each in waiting:
                together.append(text)
                view = each() if each is not None else None
                if view is not None:
                    builder.feed("".join(together))
                    together.clear()
                    held.append((view, now(builder)))
                    self._said = self._said or builder.fault is not None
            if together:
                builder.feed("".join(together))
            try:
                if self._typed:
                    self._cursor.follow(builder.root)
            finally:  # a validator may raise what is no verdict
                for view, at in held:
                    show(view, at)
                self._late = False  # last: until then the stream's own thread waits here

    def view(self) -> Partial[Any]:
        """The view of all that came."""
        if self._late:
            self.read()
        builder = self._builder
        if builder.fault is not None:
            self._said = True
        if self._typed:
            self._cursor.follow(builder.root)
        return Partial(self._cursor, now(builder))

    def _changes(self, text: str) -> bool | None:
        """Whether this piece changes anything, as its quotes and commas alone say; None when it must be read."""
        if "\\" in text:
            return None
        if not self._late:
            builder = self._builder
            if not builder.frames or builder.fault is not None or builder.inside is None:
                return None
            self._inside = builder.inside
        inside, quotes, changed = self._inside, text.count('"'), True
        if quotes < (2 if inside else 3):
            quote = text.find('"')
            outside = (text[quote + 1 :] if quotes else "") if inside else (text[:quote] if quotes else text)
            changed = _structure(outside) is not None
            if not changed and (self._text if inside else quotes):
                return None
            if not changed and outside.strip(" \t\n\r"):
                return None
        self._inside = inside ^ bool(quotes & 1)
        return changed
