"""The reader hands text to the builder late: when somebody looks at a view of it, or when much of it waits.

Reading much text at once costs less than reading it piece by piece, and a consumer that shows some views a second never
looks at most of what it is handed. What it does look at is exact: a view that is still held when its text is read is
filled at its own piece's end. So a view costs when it is looked at, and hardly anything when it is not.

Decision: a piece may wait when what it has outside of strings says at a glance what it changes. A comma completes a
value, a closing bracket what stands before it, if anything does, and an opening one begins a value; a string behind
another begins a value or follows a complete one; white space changes nothing, text inside a string only that string.
The one thing noticed late is a fault: while nobody looks, at most `LONGEST` characters behind it are answered as if
they went on, by views that show the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, final
from weakref import ref

from ..schema.type_view import Kind
from .moment import Moment, now
from .problem import Problem
from .view import Partial, show

if TYPE_CHECKING:
    from .builder import Builder
    from .cursor import Cursor

_structure = re.compile(r"[,\[{]").search
_behind_string = re.compile(r"[,\[{\]}]").search

SHORTEST: Final = 32
"""Characters of a piece that pays to look at before it is read."""
WATCHED: Final = 8
"""Pieces behind a view that was looked at which do not wait, as they would be looked at too."""
LONGEST: Final = 2048
"""Characters that wait at most."""

INTERRUPTED: Final = Problem((), "reading was interrupted by an exception")
"""What is wrong with a text of which a part was lost: a signal's handler raised, or the stack was full."""


@final
class Reader:
    """The way of the text to the builder, and of the views to the consumer."""

    __slots__ = (
        *("_builder", "_cursor", "_lock", "_room", "_said", "_text", "_typed"),
        *("_inside", "_late", "_size", "_waiting", "_watched"),
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
        try:
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
        except BaseException:
            self._builder.fault = self._builder.fault or INTERRUPTED
            raise

    def look(self) -> None:
        """A view is looked at, in any thread, and must be filled."""
        self._watched = WATCHED
        self.read()

    def read(self) -> None:
        """Read all that waits."""
        with self._lock:
            if not self._waiting:
                self._late = False
                return
            builder = self._builder
            held: list[tuple[Partial[Any], Moment]] = []
            try:
                self._read(held)
                if self._typed:
                    self._cursor.follow(builder.root)
            finally:
                for view, at in held:
                    show(view, at)
                self._late = bool(self._waiting)  # last: until then the stream's own thread waits here

    def _read(self, held: list[tuple[Partial[Any], Moment]]) -> None:
        """Build what waits, and note the moment of each view that somebody holds."""
        builder = self._builder
        together: list[str] = []
        try:
            for text, each in self._waiting:
                together.append(text)
                view = each() if each is not None else None
                if view is not None:
                    builder.feed("".join(together))
                    together.clear()
                    held.append((view, now(builder)))
                    self._said = self._said or builder.fault is not None
            if together:
                builder.feed("".join(together))
        except BaseException:
            builder.fault = builder.fault or INTERRUPTED
            raise
        finally:
            self._waiting = []
            self._size = 0

    def now(self) -> Moment:
        """What was built, for a view whose text was not read to its end."""
        return now(self._builder)

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
        """Whether this piece changes anything, as what stands outside of its strings says; None: it must be read."""
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
            changed = (_behind_string if inside else _structure)(outside) is not None
            if not changed and (self._text if inside else quotes):
                return None
            if not changed and outside.strip(" \t\n\r"):
                return None
        self._inside = inside ^ bool(quotes & 1)
        return changed
