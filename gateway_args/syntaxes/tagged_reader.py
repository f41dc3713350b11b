"""Reads one call in tags: its header, then parameter after parameter, each value written as soon as it may be.

What has been read and may still be undecided is small (a tag, a chain of closers), but for a value that must be whole
before it is written, which waits with the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..engine.program import skip_space
from ..events import Why
from .arguments import Arguments
from .base import BROKE, DONE, MARKER, MORE, NO, YES, Reader
from .endings import CLOSER, IMPLIED, ending, followed, foreign
from .frames import Frames
from .literals import json_string
from .tags import half
from .values import HELD, REFUSED, TEXT, Value, form_of, is_scalar

if TYPE_CHECKING:
    from ..engine.engine import Engine
    from ..schema.value_types import ValueType
    from .tagged import BoundTagged, Stops

# Where a reader stands.
_HEADER: Final = 0
_BODY: Final = 1  # behind the header: the call has not started
_GAP: Final = 2  # between parameters
_KEYED: Final = 3  # behind a key whose value has a tag of its own
_OPENED: Final = 4  # where a value's text begins
_VALUE: Final = 5
_JSON: Final = 6  # the body is a JSON object
_OVER: Final = 7
_STRAY: Final = 8  # in text behind a value that its first closer ended


class TaggedReader(Reader):
    """Reads one tagged call."""

    __slots__ = (
        "_args",
        "_bound",
        "_frames",
        "_id",
        "_line",
        "_name",
        "_place",
        "_quoted",
        "_stops",
        "_stray",
        "_type",
        "_value",
        "_wrapped",
    )

    def __init__(self, bound: BoundTagged) -> None:
        self._bound = bound
        self._place = _HEADER
        self._name = ""
        self._id: str | None = None
        self._frames = Frames()
        self._type: str | None = None  # what its attribute says
        self._value = Value()
        self._quoted = False  # its text stands between quotes
        self._wrapped = False  # the template's white space stands before it
        self._stray = False  # a first closer ended the last value: what follows it is no end of the call
        self._line = False  # the text before `engine.pos` ends a line
        self._stops: Stops | None = None
        self._args: Arguments | None = None
        self.whole = False

    def read(self, engine: Engine) -> int:
        code = YES
        while code == YES:
            place = self._place
            if place == _VALUE:
                code = self._read_value(engine)
            elif place == _GAP:
                code = self._gap(engine)
            elif place == _OPENED:
                code = self._opened(engine)
            elif place == _KEYED:
                code = self._keyed(engine)
            elif place == _BODY:
                code = self._body(engine)
            elif place == _HEADER:
                code = self._header(engine)
            elif place == _JSON:
                code = self._json(engine)
            elif place == _STRAY:
                code = self._skip(engine)
            else:
                return DONE
        return code

    def _broke(self, engine: Engine, why: Why) -> int:
        engine.why = why
        return BROKE

    # ------------------------------------------------------------------------- before the call

    def _header(self, engine: Engine) -> int:
        """The opener was confirmed by a header that matches."""
        code, found = self._bound.header(engine, skip_space(engine.buf, engine.pos))
        if found is None:
            return MORE if code == MORE else self._broke(engine, Why.SHAPE)
        self._name = found.name
        self._id = found.id or None
        engine.pos = found.end
        self._place = _BODY
        return YES

    def _body(self, engine: Engine) -> int:
        """Behind the header: the call starts before a parameter or its end."""
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        if at - engine.pos > engine.limits.max_layout:
            return self._broke(engine, Why.SHAPE)
        if at == len(buf):
            return MORE
        marker, opens = engine.marker_at(at), self._bound.opens(engine, at)
        self._place = _GAP
        if self._bound.syntax.json_body and buf[at] == "{" and opens == NO:
            opens = YES
            self._place = _JSON
        if marker != YES and opens != YES:
            self._place = _BODY
            more = MORE in (marker, opens) and not engine.final
            return MORE if more else self._broke(engine, Why.SHAPE)
        return YES if engine.start_call(self._name, engine.pos, self._id) else BROKE

    def _json(self, engine: Engine) -> int:
        if self._args is None:
            self._args = Arguments(engine.limits.max_depth)
            self._args.started = True
        code = self._args.read(engine)
        self.whole = self._args.whole
        if code == DONE:
            self._place = _OVER
        return code

    # ------------------------------------------------------------------------------ between parameters

    def _gap(self, engine: Engine) -> int:
        bound = self._bound
        buf = engine.buf
        at = engine.pos = skip_space(buf, engine.pos)
        engine.drop(at, Why.ENVELOPE)
        if at == len(buf):
            return MORE
        final = engine.final
        code, row = engine.row_at(at, final)
        if row is not None:
            if len(self._frames) == 1 and row.own and row.marker.name in engine.program.format.closer_names:
                return self._finish(engine)
            return MARKER
        inner = len(self._frames) > 1
        # A tag that the end of the output cuts short is one all the same.
        closes, end = bound.closer.match(buf, at, self._frames.inner.name, False)
        if closes == YES:
            engine.pos = end
            if not inner:
                engine.spoil(end, Why.STRAY)
                return YES
            frame = self._frames.pop()
            return YES if self._value.send(engine, "}" if frame.bracket == "{" else "]", end) else BROKE
        opens, tag = bound.parameter(engine, at, False)
        if tag is not None:
            engine.pos = tag.end
            self._frames.key = tag.name
            self._type = tag.type
            self._stray = False
            self._place = _KEYED
            return YES if bound.value_open else self._begin(engine)
        half_marker = final and engine.row_at(at, False)[0] == MORE
        if half_marker or MORE in (code, closes, opens):
            return MORE
        if not self._stray:
            return self._broke(engine, Why.SHAPE)
        reserved, further = foreign(engine, bound, self._frames, at)
        if reserved != NO:
            return MORE if reserved == MORE else self._broke(engine, Why.SHAPE)
        engine.pos = further
        engine.spoil(further, Why.STRAY)
        self._place = _STRAY
        return YES

    def _skip(self, engine: Engine) -> int:
        """Text up to the next tag or marker is stray."""
        start, _, whole = self._bound.tags(engine.stage).find(engine.buf, engine.pos, engine.final)
        engine.pos = start
        engine.spoil(start, Why.STRAY)
        if not whole:
            return MORE
        self._place = _GAP
        return YES

    def _finish(self, engine: Engine) -> int:
        """The call's own closer stands at `engine.pos`."""
        if not self._value.send(engine, "}" if self._frames.inner.keys else "{}", engine.pos):
            return BROKE
        self.whole = True
        self._place = _OVER
        return DONE

    def _keyed(self, engine: Engine) -> int:
        """Behind a key: its value's tag, or, where that is missing, the value."""
        bound = self._bound
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        if at - engine.pos <= engine.limits.max_layout:
            if at == len(buf):
                return MORE
            if buf.startswith(bound.value_open, at):
                engine.pos = at + len(bound.value_open)
                return self._begin(engine)
            codes = (
                half(buf, at, bound.value_open),
                engine.row_at(at, False)[0],
                bound.opens(engine, at),
                bound.closer.match(buf, at, self._frames.key, False)[0],
            )
            if YES in codes:
                return self._broke(engine, Why.SHAPE)
            if MORE in codes:
                return MORE
        return self._begin(engine)

    def _begin(self, engine: Engine) -> int:
        """A value begins at `engine.pos`: write its key, unless it has one already."""
        frame = self._frames.inner
        key = self._frames.key
        listed = frame.bracket == "["
        self._place = _OPENED
        if key in frame.keys and not listed:
            engine.spoil(engine.pos, Why.DUPLICATE)
            self._value.begin(REFUSED)
            return YES
        if listed and key != "item":
            return self._broke(engine, Why.SHAPE)
        lead = ", " if frame.keys else frame.bracket
        if not self._value.send(engine, lead if listed else f"{lead}{json_string(key)}: ", engine.pos):
            return BROKE
        self._frames.give()
        self._value.begin(self._form(engine), is_scalar(self._frames.schema(engine)))
        return YES if self._frames.kept <= engine.limits.max_held else self._broke(engine, Why.LIMIT)

    def _form(self, engine: Engine) -> int:
        if self._type is not None:
            return TEXT if self._type in self._bound.syntax.text_types else HELD
        return form_of(self._frames.schema(engine))

    # ---------------------------------------------------------------------------------- values

    def _opened(self, engine: Engine) -> int:
        """Where a value's text begins: what it holds, and the template's white space before it."""
        bound = self._bound
        buf = engine.buf
        at = engine.pos
        if bound.syntax.nested and self._value.form not in (TEXT, REFUSED):
            first = skip_space(buf, at)
            if first - at <= engine.limits.max_layout:
                opens = MORE if first == len(buf) else bound.parameter(engine, first, engine.final)[0]
                if opens == YES:
                    return self._nest(engine)
                if opens == MORE and not engine.final:
                    return MORE
        around = bound.syntax.around
        size = 0
        while size < len(around) and buf.startswith(around[size], at + size):
            size += 1
        if size < len(around) and at + size == len(buf) and not engine.final:
            return MORE
        if bound.syntax.inline and size:
            alone = self._alone(engine, at + size)
            if alone == MORE:
                return MORE
            size = size if alone == YES else 0
        self._quoted = False
        if bound.quotes and not size:
            if buf.startswith(bound.quotes[0], at):
                self._quoted = True
                if self._value.form not in (REFUSED, HELD):  # a type that admits no string is read all the same
                    self._value.begin(TEXT)
                size = len(bound.quotes[0])
            elif half(buf, at, bound.quotes[0]) == MORE and not engine.final:
                return MORE
        engine.pos = at + size
        if self._value.form == REFUSED:
            engine.spoil(engine.pos, Why.DUPLICATE)
        else:
            engine.drop(engine.pos, Why.ENVELOPE if self._quoted else Why.LAYOUT)
        self._wrapped = bool(around) and size == len(around) and not self._quoted
        self._line = self._wrapped and around.endswith("\n")
        self._stops = bound.stops(engine.stage, self._quoted)
        self._value.opens(engine, engine.limits.max_depth)
        self._place = _VALUE
        return YES

    def _alone(self, engine: Engine, at: int) -> int:
        """Whether the value at `at` is one short line, the template's white space and the closer."""
        buf = engine.buf
        around = self._bound.syntax.around
        limit = at + engine.limits.max_layout
        stop = buf.find(around, at, limit)
        if stop < 0:
            return NO if engine.final or len(buf) >= limit else MORE
        code, end = self._bound.closer.match(buf, stop + len(around), self._frames.key, engine.final)
        return followed(engine, self._bound, self._frames, end) if code == YES else code

    def _nest(self, engine: Engine) -> int:
        """The parameter's value is written as parameters of its own."""
        if len(self._frames) >= engine.limits.max_depth:
            return self._broke(engine, Why.LIMIT)
        type = self._frames.schema(engine)
        tag = self._bound.parameter(engine, skip_space(engine.buf, engine.pos), engine.final)[1]
        listed = tag is not None and tag.name == "item"
        if type is not None and listed:
            listed = type.admits("array") and "item" not in type.keys
        self._frames.push("[" if listed else "{")
        self._place = _GAP
        return YES

    def _read_value(self, engine: Engine) -> int:
        stops = self._stops
        if stops is None:  # taken up from a snapshot
            stops = self._stops = self._bound.stops(engine.stage, self._quoted)
        buf = engine.buf
        at = engine.pos
        verdict, how, end = NO, CLOSER, 0
        further = at
        while True:
            at, _, whole = stops.words.find(buf, further, engine.final)
            if at == len(buf):
                break
            further = at + 1
            if whole:
                line = buf[at - 1] == "\n" if at > engine.pos else self._line
                verdict, how, end = ending(engine, self._bound, self._frames, self._value, self._quoted, line, at)
                if verdict == NO and not self._quoted:
                    reserved, further = foreign(engine, self._bound, self._frames, at)
                    if reserved == YES:
                        if self._value.grow(engine, at, self._bound.syntax.python):
                            engine.why = Why.SHAPE
                        return BROKE
                    verdict = reserved
            else:
                verdict = MORE
            if verdict != NO:
                break
        if verdict == YES:
            return self._close(engine, at, how, end)
        if not engine.final:
            floor = max(engine.pos, at - len(self._bound.layout))
            while at > floor and buf[at - 1] in self._bound.layout:
                at -= 1
        if at > engine.pos:
            self._line = buf[at - 1] == "\n"
            if not self._value.grow(engine, at, self._bound.syntax.python):
                return BROKE
        if engine.mark == len(engine.buf) and self._value.plain(engine):
            engine.plain = self
        return MORE

    def run_on(self, engine: Engine, text: str) -> bool:
        """The hot path, for text of a string that holds nothing which could end it, or be layout before its end."""
        stops = self._stops
        if (
            stops is None
            or not (text.isascii() or text.isprintable())
            or text[-1] in self._bound.layout
            or stops.firsts.search(text) is not None
        ):
            return False
        self._line = text[-1] == "\n"
        self._value.run_on(engine, text)
        return True

    def _close(self, engine: Engine, at: int, how: int, end: int) -> int:
        """The value's text ends at `at`, where its closer stands (up to `end`) or should."""
        bound = self._bound
        buf = engine.buf
        layout = bound.syntax.around if how == CLOSER else bound.layout
        if self._quoted or (how == CLOSER and bound.syntax.inline and not self._wrapped):
            layout = ""
        size = 0
        while size < min(len(layout), at - engine.pos) and buf[at - 1 - size] == layout[-1 - size]:
            size += 1
        value = self._value
        python = bound.syntax.python
        type = None if self._type is not None else self._frames.schema(engine)
        depth = engine.limits.max_depth - len(self._frames)
        shift = engine.done + engine.held - engine.mark  # `buf` may be put together anew
        if not value.close(engine, at - size, type, python, depth, self._empty(type)):
            return BROKE
        shift -= engine.done + engine.held - engine.mark
        at += shift
        end += shift
        self._place = _GAP
        self._stray = how == CLOSER and value.form == HELD
        engine.pos = at if how == IMPLIED else end
        if value.form == REFUSED:
            engine.spoil(engine.pos, Why.DUPLICATE)
        else:
            engine.drop(at, Why.LAYOUT)
            if value.closing and not value.send(engine, value.closing, engine.pos):
                return BROKE
            engine.drop(engine.pos, Why.ENVELOPE)
        if how == IMPLIED:
            engine.imply_close()
        return YES

    def _empty(self, type: ValueType | None) -> str:
        """What an empty nested value stands for: the template writes empty lists and objects so, and null in lists."""
        if not self._bound.syntax.nested:
            return ""
        if type is None or type.untyped:
            return "null" if self._frames.inner.bracket == "[" else ""
        empties = {"string": "", "array": "[]", "object": "{}", "null": "null"}
        return next((json for kind, json in empties.items() if type.admits(kind)), "")  # type: ignore[arg-type]

    # ------------------------------------------------------------------------------

    def cut(self, engine: Engine) -> None:
        if self._place == _VALUE:
            self._value.cut(engine, len(engine.buf))
        elif self._args is not None:
            self._args.cut(engine)

    def save(self) -> list[object]:
        return [
            self._place,
            self._name,
            self._id,
            self._frames.save(),
            self._type,
            self._value.save(),
            self._quoted,
            self._wrapped,
            self._line,
            self._stray,
            None if self._args is None else self._args.save(),
            self.whole,
        ]

    def load(self, saved: list[object]) -> None:
        place, name, id, frames, type, value, quoted, wrapped, line, stray, args, whole = saved
        self._place = int(place)  # type: ignore[call-overload]
        self._name = str(name)
        self._id = None if id is None else str(id)
        self._frames.load(frames)  # type: ignore[arg-type]
        self._type = None if type is None else str(type)
        self._value.load(value)  # type: ignore[arg-type]
        self._quoted = bool(quoted)
        self._wrapped = bool(wrapped)
        self._line = bool(line)
        self._stray = bool(stray)
        self._args = None if args is None else Arguments.load(args)  # type: ignore[arg-type]
        self.whole = bool(whole)
