"""Reads calls as objects, one token of their envelope at a time.

The envelope (the object with the name and the arguments) is read key by key: the first name and the first arguments
win, in either order, a second one is a duplicate, every other key is envelope. Arguments that come before the name are
held until the name is known. Bare calls, which no marker opens, use the same reader: there a key that is not the
envelope's, or a name that the request does not declare, makes the text content again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from ..events import Why
from .base import Reader
from .pattern import first_match
from .region import BROKE, DONE, GO, MARKER, REJECT, WAIT, Progress
from .scanning import MORE, YES, layout, literal
from .state import FLAG, TEXT, WHY, Kind, choice, optional, parts
from .strings import short_string
from .values.json_aside import JsonAside
from .values.json_value import JsonValue
from .values.python_value import PythonValue

if TYPE_CHECKING:
    from .objects import BoundObjects
    from .region import Region

_NOTHING: Final = re.compile(r"(?:None|null|''|\"\")(?=[ \t\n\r,}])")
_HALF_NOTHING: Final = re.compile(r"(?:N(?:o(?:ne?)?)?|n(?:u(?:ll?)?)?|''?|\"\"?)\Z")

# Where reading stands.
_HEADER: Final = "header"
_OPEN: Final = "open"  # before the region's first bracket
_ITEM: Final = "item"  # before an object of a list
_FIRST_ITEM: Final = "first item"
_AFTER_ITEM: Final = "after item"
_FIRST_KEY: Final = "first key"
_KEY: Final = "key"
_COLON: Final = "colon"
_VALUE: Final = "value"
_NAME: Final = "name"
_ARGUMENTS: Final = "arguments"
_ID: Final = "id"
_OTHER: Final = "other"
_AFTER: Final = "after"
_OVER: Final = "over"
_OUTSIDE: Final = frozenset((_OPEN, _ITEM, _FIRST_ITEM, _AFTER_ITEM))
_INSIDE: Final = (_FIRST_KEY, _KEY, _COLON, _VALUE, _NAME, _ARGUMENTS, _ID, _OTHER, _AFTER)


class ObjectsReader(Reader):
    """Reads one region of calls as objects."""

    __slots__ = (
        "_args",
        "_bound",
        "_empty",
        "_id",
        "_listed",
        "_name",
        "_next",
        "_other",
        "_python",
        "_refused",
        "_started",
        "_state",
        "_why",
    )
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("_state", choice(_HEADER, _OPEN, _ITEM, _FIRST_ITEM, _AFTER_ITEM, *_INSIDE, _OVER)),
        ("_listed", FLAG),
        ("complete", FLAG),
        ("_name", TEXT),
        ("_id", optional(TEXT)),
        ("_empty", FLAG),
        ("_why", WHY),
        ("_next", choice(_NAME, _ARGUMENTS, _ID, _OTHER)),
        ("_started", FLAG),
        ("_refused", FLAG),
    )

    def __init__(self, bound: BoundObjects) -> None:
        self._bound: Final = bound
        self._python: Final = bound.python
        self._state: str = _HEADER if bound.headers else _OPEN
        self._listed = False  # inside brackets
        self.complete = False
        self._reset()

    def _reset(self) -> None:
        self._name = ""
        self._id: str | None = None
        self._args: JsonValue | PythonValue | None = None
        self._empty = False  # the arguments are none
        self._other: JsonAside | PythonValue | None = None  # the value of another key
        self._why: Why = Why.ENVELOPE  # what that value is
        self._next: str = _OTHER  # what the value of the last key is
        self._started = False
        self._refused = False  # the request does not declare it: it passes as malformed, and its siblings are read

    def read(self, region: Region) -> Progress:
        code: Progress = GO
        while code == GO:
            state = self._state
            if state == _ARGUMENTS:
                code = self._read_arguments(region)
            elif state == _OTHER:
                code = self._read_other(region)
            elif state == _HEADER:
                code = self._read_header(region)
            elif state == _OVER:
                return self._closing(region)
            else:
                code = self._step(region)
        if code in (WAIT, MARKER) and self._state != _ARGUMENTS:
            self._flush(region)
        return code

    def _read_header(self, region: Region) -> Progress:
        verdict, found = first_match(self._bound.headers, region.text, region.pos, region.limits, region.final)
        if found is None:
            return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        region.advance(found.end)
        self._state = _OPEN
        return GO

    def _closing(self, region: Region) -> Progress:
        """Behind the calls: the text that may follow them."""
        close = self._bound.close
        if close:
            verdict, at = layout(region.text, region.pos, region.limits.max_layout)
            if verdict == YES:
                verdict = literal(region.text, at, close, region.final)
                if verdict == YES:
                    region.advance(at + len(close))
            if verdict == MORE and not region.final:
                return WAIT
        return DONE

    def _flush(self, region: Region) -> None:
        """What was read of the envelope belongs to it; before a call starts it waits, for its source."""
        if self._refused:
            region.malformed(region.pos, Why.UNDECLARED)
        elif self._started:
            if self._why is Why.DUPLICATE:
                region.malformed(region.pos, Why.DUPLICATE)
            else:
                region.consume(region.pos, Why.ENVELOPE)
        elif self._bound.wraps and self._state in _OUTSIDE and not region.call.undecided:
            region.consume(region.pos, Why.ENVELOPE)

    def _step(self, region: Region) -> Progress:
        """One token of the envelope."""
        text = region.text
        at = region.skip_space()
        state = self._state
        if state in _OUTSIDE or (self._python and self._started):
            self._flush(region)
        if self._unheld(region):
            return self._broke(region, Why.LIMIT)
        if at == len(text):
            return WAIT
        char = text[at]
        if state in (_FIRST_KEY, _KEY):
            if char == '"' or (char == "'" and self._python):
                return self._key(region, at)
            if char == "}" and (state == _FIRST_KEY or self._python):
                return self._object_end(region, at)
        elif state == _COLON:
            if char == ":":
                region.advance(at + 1)
                self._state = _VALUE
                return GO
        elif state == _VALUE:
            return self._value(region, at)
        elif state in (_NAME, _ID):
            if char == '"' or (char == "'" and self._python):
                return self._text_value(region, at)
        elif state == _AFTER:
            if char in ",}":
                return self._after(region, at, char)
        elif state == _AFTER_ITEM:
            return self._after_item(region, at, char)
        else:
            return self._item(region, at, char)
        return self._unexpected(region, at)

    def _unexpected(self, region: Region, at: int) -> Progress:
        """A character that cannot stand here: a marker that counts, or the end of what is a call."""
        verdict = region.marker(at)
        if verdict == YES:
            return MARKER
        return WAIT if verdict == MORE else self._broke(region, Why.SHAPE)

    def _broke(self, region: Region, why: Why) -> Progress:
        if region.call.undecided:
            return REJECT
        self._flush(region)
        return region.fail(why)

    def _unheld(self, region: Region) -> bool:
        return not self._started and region.held > region.limits.max_held

    # ---------------------------------------------------------------------- lists and objects

    def _item(self, region: Region, at: int, char: str) -> Progress:
        if char == "{":
            self._flush(region)
            region.advance(at + 1)
            self._reset()
            self.complete = False
            self._state = _FIRST_KEY
            return GO
        if char == "[" and self._state == _OPEN and self._bound.syntax.shape == "list":
            region.advance(at + 1)
            self._listed = True
            self._state = _FIRST_ITEM
            return GO
        if char == "]" and (self._state == _FIRST_ITEM or (self._python and self._listed)):
            region.advance(at + 1)
            self._state = _OVER
            return REJECT if region.call.tentative else GO
        return self._unexpected(region, at)

    def _after_item(self, region: Region, at: int, char: str) -> Progress:
        if char == "}":  # one too many: the next is read
            self._flush(region)
            region.advance(at + 1)
            region.malformed(at + 1, Why.STRAY)
            return GO
        if self._listed:
            if char in ",]":
                region.advance(at + 1)
                self._state = _ITEM if char == "," else _OVER
                return GO
            return self._unexpected(region, at)
        separator = self._bound.separator  # objects that follow each other
        if char == "{":
            self._state = _ITEM
            return GO
        if separator and literal(region.text, at, separator) == YES:
            region.advance(at + len(separator))
            self._state = _ITEM
            return GO
        verdict = region.marker(at)
        return WAIT if verdict == MORE else MARKER if verdict == YES else DONE

    def _object_end(self, region: Region, at: int) -> Progress:
        if not self._name:
            return self._broke(region, Why.SHAPE)
        if not self._started and (code := self._start(region, at)) != GO:
            return code
        if self._refused:
            region.advance(at + 1)
            self._flush(region)
            self._reset()
            self._state = _AFTER_ITEM
            return GO
        args = self._args
        region.consume(at, Why.ENVELOPE)  # white space, which an end that closes the call would take or not by the cut
        if args is None or self._empty:
            region.arguments("{}", at)
            self.complete = True
        else:
            self.complete = args.complete
        region.advance(at + 1)
        shape = self._bound.syntax.shape
        if shape != "object" or self._bound.close:
            region.end_call(at + 1)
        self._state = _AFTER_ITEM if self._listed or shape == "lines" else _OVER
        return GO

    # ------------------------------------------------------------------------- keys and values

    def _key(self, region: Region, at: int) -> Progress:
        code, key, end = short_string(region, at, python=self._python)
        if code != GO:
            return self._broke(region, region.why) if code == BROKE else code
        syntax = self._bound.syntax
        region.advance(end)
        self._state = _COLON
        duplicate = False
        if syntax.keyed:
            duplicate = bool(self._name)
            if not duplicate:
                if not key:
                    return self._broke(region, Why.SHAPE)
                self._name = key
                self._next = _ARGUMENTS
                return GO
        elif key in syntax.name:
            duplicate = bool(self._name)
            if not duplicate:
                self._next = _NAME
                return GO
        elif key in syntax.arguments:
            duplicate = self._args is not None
            if not duplicate:
                self._next = _ARGUMENTS
                return GO
        elif key in syntax.id and self._id is None and not self._started:
            self._next = _ID
            return GO
        elif region.call.undecided and key not in self._bound.keys:
            return REJECT
        self._next = _OTHER
        if duplicate and self._started and not self._refused:
            region.consume(at, Why.ENVELOPE)
            self._why = Why.DUPLICATE
        return GO

    def _value(self, region: Region, at: int) -> Progress:
        """The value of the last key begins at `at`."""
        state = self._next
        if state == _ID and region.text[at] != '"':  # an id that is no text is another key
            state = _OTHER
        if state == _ARGUMENTS:
            if self._python and _HALF_NOTHING.match(region.text, at):
                return WAIT
            self._args = PythonValue(started=False) if self._python else JsonValue(region.limits.max_depth)
            if self._name and not self._started and (code := self._start(region, at)) != GO:
                return code
            if self._refused:
                state = _OTHER
            elif self._python:
                nothing = _NOTHING.match(region.text, at)
                if nothing is not None:
                    self._empty = True
                    region.advance(nothing.end())
                    state = _AFTER
                elif region.text[at] in "'\"":
                    return region.fail(Why.SHAPE)
            if self._started:
                self._args.sender.start()
        self._state = state
        if state == _OTHER:
            if self._python:
                why = Why.UNDECLARED if self._refused else self._why
                self._other = PythonValue(skip=why, started=self._started)
            else:
                self._other = JsonAside(region.limits.max_depth)
        return GO

    def _text_value(self, region: Region, at: int) -> Progress:
        code, text, end = short_string(region, at, python=self._python)
        if code != GO:
            return self._broke(region, region.why) if code == BROKE else code
        region.advance(end)
        if self._state == _ID:
            self._id = text
        elif not text:
            return self._broke(region, Why.SHAPE)
        else:
            self._name = text
        self._state = _AFTER
        return GO

    def _after(self, region: Region, at: int, char: str) -> Progress:
        """A member is over: the name, if it is known, can start the call now."""
        if self._name and not self._started and not (region.call.tentative and self._args is None):
            code = self._start(region, at)
            if code != GO:
                return code
        if char == "}":
            return self._object_end(region, at)
        region.advance(at + 1)
        self._state = _KEY
        return GO

    def _start(self, region: Region, at: int) -> Progress:
        """The name is known and what stands at `at` may follow it: the call starts (GO)."""
        if self._unheld(region):
            return self._broke(region, Why.LIMIT)
        if region.call.undecided and not region.call.declares(self._name):
            return REJECT
        why = region.start_call(self._name, at, self._id)
        if why is not None:
            if why is not Why.UNDECLARED or not (self._listed or self._bound.syntax.shape == "lines"):
                return region.fail(why)
            self._started = self._refused = True
            region.malformed(at, Why.UNDECLARED)
            return GO
        self._started = True
        if self._args is not None:
            self._args.release(region, at)
        return GO

    def _read_arguments(self, region: Region) -> Progress:
        args = self._args
        assert args is not None
        code = args.read(region)
        self.complete = args.complete
        if code == DONE:
            if isinstance(args, JsonValue):
                self._empty = args.empty
            self._state = _AFTER
            return GO
        if code == BROKE and not self._started:
            return self._broke(region, Why.LIMIT if region.why is Why.LIMIT else Why.SHAPE)
        return code

    def _read_other(self, region: Region) -> Progress:
        """The value of a key that is neither name nor arguments, or a second one of these."""
        other = self._other
        assert other is not None
        code = other.read(region) if isinstance(other, PythonValue) else other.read(region, self._started)
        if self._started:
            self._flush(region)
        if code == DONE:
            self._state = _AFTER
            self._other = None
            self._why = Why.ENVELOPE
            return GO
        if code == BROKE:
            return self._broke(region, Why.LIMIT if region.why is Why.LIMIT else Why.SHAPE)
        return code

    # ------------------------------------------------------------------------------

    def cut(self, region: Region) -> None:
        if self._args is not None and self._state == _ARGUMENTS:
            self._args.cut(region)
            self.complete = self._args.complete or self.complete
        if region.call.open:
            region.consume(region.pos, Why.ENVELOPE)
        elif region.final and region.call.seen and self._state in _INSIDE:
            region.malformed(len(region.text), Why.UNTERMINATED)  # a further object, which did not become a call

    def save(self) -> list[object]:
        return [
            super().save(),
            None if self._args is None else self._args.save(),
            None if self._other is None else self._other.save(),
        ]

    def load(self, saved: object) -> None:
        own, args, other = parts(saved, 3)
        super().load(own)
        if args is not None:
            self._args = PythonValue() if self._python else JsonValue()
            self._args.load(args)
        if other is not None:
            self._other = PythonValue() if self._python else JsonAside()
            self._other.load(other)
        if (self._state == _ARGUMENTS and args is None) or (self._state == _OTHER) != (other is not None):
            raise ValueError("ObjectsReader: a value without its reader, or a reader without its value")
