"""Calls as names and values in tags: `<function=add><parameter=a>2</parameter></function>` and its many relatives.

Values are raw text, so a value may hold the very texts that close it. Which of them counts is decided by what follows
(policy 3, `TaggedReader._boundary`): a value's closer counts before the next tag that may stand there; without it, the
opener of a declared parameter at a line's start or all of the remaining closers before the end of the turn do.
What a value is written as is `values`' business, how tags are spelled `tags`'.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..events import Why
from ..literals import json_string
from ..program import Words
from . import tags
from .arguments import Arguments
from .base import BROKE, DONE, MARKER, MORE, NO, YES, Bound, Reader, Syntax
from .header import Header, first_match
from .tags import CloserPattern, TagPattern, half, skip
from .values import HELD, REFUSED, TEXT, Value, form_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine import Engine
    from ..program import Stage
    from ..value_types import ValueType
    from .header import Found
    from .tags import Tag

# Where a reader stands.
_HEADER: Final = 0
_BODY: Final = 1  # behind the header: the call has not started
_GAP: Final = 2  # between parameters
_KEYED: Final = 3  # behind a key whose value has a tag of its own
_OPENED: Final = 4  # where a value's text begins
_VALUE: Final = 5
_JSON: Final = 6  # the body is a JSON object
_OVER: Final = 7

# How a value ends.
_CLOSER: Final = 0
_IMPLIED: Final = 1


@dataclass(frozen=True, slots=True)
class Tagged(Syntax):
    """A call is a header with the function's name, then each parameter's key and value in tags."""

    header: tuple[str, ...] = ()
    """Header patterns between the opener and the first parameter; the first that matches counts."""
    parameter: tuple[str, ...] = ()
    """Patterns of a parameter's opener, with its `{name}` and, where an attribute types the value, its `{type}`."""
    value_open: str = ""
    """The tag between a key and its value, where the family writes one; a model may leave it out."""
    value_close: str = ""
    """A value's closer; `{name}` in it is the parameter's key."""
    around: str = ""
    """White space that the template writes on each side of a value."""
    inline: bool = False
    """The template writes nothing around values: what `around` says holds for one short line that stands alone."""
    between: str = ""
    """White space that the template writes before a tag: layout where a value's closer is missing."""
    text_types: tuple[str, ...] = ()
    """What `{type}` says of a value that is the text itself; any other word says that it is JSON."""
    python: bool = False
    """Values are written as Python's literals (`None`, `True`)."""
    entities: bool = False
    """Attributes are written with `&amp;` and `&quot;`."""
    nested: bool = False
    """Objects and lists are written as parameters inside parameters, list items under the key `item`."""
    quotes: tuple[str, ...] = ()
    """Two texts between which a value is text whatever it holds (CDATA)."""
    json_body: bool = False
    """The parameters may be written as one JSON object instead."""

    def check(self) -> tuple[str, str] | None:
        if not self.header:
            return "header", "missing; where the function's name stands"
        if not self.parameter:
            return "parameter", "missing; how a parameter is opened"
        for n, pattern in enumerate(self.parameter):
            if problem := tags.check(pattern):
                return f"parameter[{n}]", problem
        if not self.value_close:
            return "value_close", "missing; how a value is closed"
        if len(self.quotes) not in (0, 2):
            return "quotes", "two texts, or none"
        if self.nested and self.value_open:
            return "nested", "a nested value has no tag between its key and itself; leave value_open out"
        if (self.around + self.between).strip(" \t\n\r"):
            return ("around" if self.around.strip(" \t\n\r") else "between"), "layout is white space only"
        return None

    def bind(self, spell: Callable[[str], str]) -> Bound:
        return BoundTagged(self, spell)


class Stops:
    """Where a value's text may end, in one state: the texts to look for, and the characters they begin with."""

    __slots__ = ("firsts", "words")

    def __init__(self, words: list[str]) -> None:
        self.words: Final = Words(words)
        self.firsts: Final = re.compile("[" + re.escape(self.words.firsts) + "]")


class BoundTagged(Bound):
    """Tagged calls, ready to run."""

    __slots__ = ("_stops", "closer", "headers", "layout", "parameters", "quotes", "syntax", "value_open")

    def __init__(self, syntax: Tagged, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.syntax: Final = syntax
        self.headers: Final = tuple(Header(pattern, spell) for pattern in syntax.header)
        self.parameters: Final = tuple(TagPattern(pattern, spell, syntax.entities) for pattern in syntax.parameter)
        self.value_open: Final = spell(syntax.value_open)
        self.closer: Final = CloserPattern(syntax.value_close, spell)
        self.quotes: Final = tuple(spell(text) for text in syntax.quotes)
        self.layout: Final = syntax.around or syntax.between
        self._stops: Final[dict[str, Stops]] = {}

    def begins(self, engine: Engine, at: int) -> int:
        first = skip(engine.buf, at)
        if first - at > engine.limits.max_layout:
            return NO
        if first == len(engine.buf):
            return MORE
        code, found = self.header(engine, first)
        if engine.stage.kind == "wrapper":  # nothing but a call can stand there: its first characters confirm it
            return YES if engine.final and code == MORE else code
        if found is not None and found.tail == found.end:
            return self._name_ends(engine, found.end, first == at)
        return code

    def _name_ends(self, engine: Engine, at: int, close: bool) -> int:
        """Whether a name that no text of the header ends is over: by the next tag, or the template's white space.

        White space alone is too little for a name that is not `close` to the opener: prose has that.
        """
        buf = engine.buf
        first = skip(buf, at)
        if close and self.syntax.between and self.syntax.between in buf[at:first]:
            return YES
        if first - at > engine.limits.max_layout:
            return NO
        if first == len(buf):
            return MORE
        code = self.opens(engine, first)
        start, _, whole = engine.entered.words.at(buf, first, engine.final)
        if code == YES or whole:
            return YES
        return MORE if code == MORE or start < len(buf) else NO

    def header(self, engine: Engine, at: int) -> tuple[int, Found | None]:
        """The header at this offset of `engine.buf`, if there is one; MORE also where the output cuts it short."""
        return first_match(self.headers, engine.buf, at, False, engine.limits.max_name)

    def opens(self, engine: Engine, at: int) -> int:
        """Whether a parameter's opener begins at this offset."""
        more = NO
        for pattern in self.parameters:
            if engine.buf.startswith(pattern.first, at):
                return YES
            more = max(more, half(engine.buf, at, pattern.first))
        return more

    def parameter(self, engine: Engine, at: int, final: bool) -> tuple[int, Tag | None]:
        """The parameter's opener at this offset, if there is one; the first pattern that matches counts."""
        for pattern in self.parameters:
            code, tag = pattern.match(engine.buf, at, engine.limits, final)
            if code != NO:
                return code, tag
        return NO, None

    def stops(self, stage: Stage, quoted: bool) -> Stops:
        name = self.quotes[1] if quoted else stage.name
        found = self._stops.get(name)
        if found is None:
            firsts = [self.closer.first, *(pattern.first for pattern in self.parameters), *stage.chain[0].words]
            found = self._stops[name] = Stops([self.quotes[1]] if quoted else firsts)
        return found

    def open(self) -> Reader:
        return TaggedReader(self)


class Frame:
    """An object or a list in the making: the arguments, or one nested in them."""

    __slots__ = ("bracket", "keys", "name")

    def __init__(self, name: str, bracket: str, keys: list[str] | None = None) -> None:
        self.name: Final = name
        self.bracket: Final = bracket
        self.keys: Final = dict.fromkeys(keys or ())  # a list has its items' one key


class TaggedReader(Reader):
    """Reads one tagged call."""

    __slots__ = (
        "_args",
        "_bound",
        "_frames",
        "_id",
        "_kept",
        "_key",
        "_line",
        "_name",
        "_place",
        "_quoted",
        "_stops",
        "_type",
        "_value",
        "_wrapped",
    )

    def __init__(self, bound: BoundTagged) -> None:
        self._bound = bound
        self._place = _HEADER
        self._name = ""
        self._id: str | None = None
        self._frames = [Frame("", "{")]
        self._kept = 0  # characters of the keys in the frames
        self._key = ""  # the parameter in the making
        self._type: str | None = None  # what its attribute says
        self._value = Value()
        self._quoted = False  # its text stands between quotes
        self._wrapped = False  # the template's white space stands before it
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
            else:
                return DONE
        return code

    def _broke(self, engine: Engine, why: Why) -> int:
        engine.why = why
        return BROKE

    # ------------------------------------------------------------------------- before the call

    def _header(self, engine: Engine) -> int:
        """The opener was confirmed by a header that matches."""
        code, found = self._bound.header(engine, skip(engine.buf, engine.pos))
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
        at = skip(buf, engine.pos)
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
        at = engine.pos = skip(buf, engine.pos)
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
        closes, end = bound.closer.match(buf, at, self._frames[-1].name, final)
        if closes == YES:
            engine.pos = end
            if not inner:
                engine.spoil(end, Why.STRAY)
                return YES
            frame = self._frames.pop()
            self._kept -= sum(map(len, frame.keys))
            return YES if self._value.send(engine, "}" if frame.bracket == "{" else "]", end) else BROKE
        opens, tag = bound.parameter(engine, at, final)
        if tag is not None:
            engine.pos = tag.end
            self._key = tag.name
            self._type = tag.type
            self._place = _KEYED
            return YES if bound.value_open else self._begin(engine)
        # A tag that the end of the output cuts short is one all the same.
        if MORE in (code, closes, opens) or (final and self._followed(engine, at) == YES):
            return MORE
        return self._broke(engine, Why.SHAPE)

    def _finish(self, engine: Engine) -> int:
        """The call's own closer stands at `engine.pos`."""
        if not self._value.send(engine, "}" if self._frames[0].keys else "{}", engine.pos):
            return BROKE
        self.whole = True
        self._place = _OVER
        return DONE

    def _keyed(self, engine: Engine) -> int:
        """Behind a key: its value's tag, or, where that is missing, the value."""
        bound = self._bound
        buf = engine.buf
        at = skip(buf, engine.pos)
        if at - engine.pos <= engine.limits.max_layout:
            if at == len(buf):
                return MORE
            if buf.startswith(bound.value_open, at):
                engine.pos = at + len(bound.value_open)
                return self._begin(engine)
            codes = (
                half(buf, at, bound.value_open),
                engine.marker_at(at),
                bound.opens(engine, at),
                bound.closer.match(buf, at, self._key, engine.final)[0],
            )
            if YES in codes:
                return self._broke(engine, Why.SHAPE)
            if MORE in codes and not engine.final:
                return MORE
        return self._begin(engine)

    def _begin(self, engine: Engine) -> int:
        """A value begins at `engine.pos`: write its key, unless it has one already."""
        frame = self._frames[-1]
        key = self._key
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
        if key not in frame.keys:
            frame.keys[key] = None
            self._kept += len(key)
        self._value.begin(self._form(engine))
        return YES if self._kept <= engine.limits.max_held else self._broke(engine, Why.LIMIT)

    def _form(self, engine: Engine) -> int:
        if self._type is not None:
            return TEXT if self._type in self._bound.syntax.text_types else HELD
        return form_of(self._schema(engine))

    def _schema(self, engine: Engine) -> ValueType | None:
        """What the schema says of the parameter in the making."""
        type = engine.tool.type if engine.tool is not None else None
        path = [*(frame.name for frame in self._frames[1:]), self._key]
        for frame, name in zip(self._frames, path, strict=True):
            if type is not None:
                type = type.items if frame.bracket == "[" else type.property(name)
        return type

    # ---------------------------------------------------------------------------------- values

    def _opened(self, engine: Engine) -> int:
        """Where a value's text begins: what it holds, and the template's white space before it."""
        bound = self._bound
        buf = engine.buf
        at = engine.pos
        if bound.syntax.nested and self._value.form not in (TEXT, REFUSED):
            first = skip(buf, at)
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
                if self._value.form != REFUSED:
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
        code, end = self._bound.closer.match(buf, stop + len(around), self._key, engine.final)
        return self._followed(engine, end) if code == YES else code

    def _nest(self, engine: Engine) -> int:
        """The parameter's value is written as parameters of its own."""
        if len(self._frames) >= engine.limits.max_depth:
            return self._broke(engine, Why.LIMIT)
        type = self._schema(engine)
        tag = self._bound.parameter(engine, skip(engine.buf, engine.pos), engine.final)[1]
        listed = tag is not None and tag.name == "item"
        if type is not None and listed:
            listed = type.admits("array") and "item" not in type.keys
        self._frames.append(Frame(self._key, "[" if listed else "{"))
        self._place = _GAP
        return YES

    def _read_value(self, engine: Engine) -> int:
        stops = self._stops
        if stops is None:  # taken up from a snapshot
            stops = self._stops = self._bound.stops(engine.stage, self._quoted)
        buf = engine.buf
        at = engine.pos
        verdict, how, end = NO, _CLOSER, 0
        while True:
            at, _, whole = stops.words.find(buf, at, engine.final)
            if at == len(buf):
                break
            verdict, how, end = self._boundary(engine, at) if whole else (MORE, _CLOSER, 0)
            if verdict != NO:
                break
            at += 1
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
        layout = bound.syntax.around if how == _CLOSER else bound.layout
        if self._quoted or (how == _CLOSER and bound.syntax.inline and not self._wrapped):
            layout = ""
        size = 0
        while size < min(len(layout), at - engine.pos) and buf[at - 1 - size] == layout[-1 - size]:
            size += 1
        value = self._value
        python = bound.syntax.python
        type = None if self._type is not None else self._schema(engine)
        depth = engine.limits.max_depth - len(self._frames)
        shift = engine.done + engine.held - engine.mark  # `buf` may be put together anew
        if not value.close(engine, at - size, type, python, depth, self._empty(type)):
            return BROKE
        shift -= engine.done + engine.held - engine.mark
        at += shift
        end += shift
        self._place = _GAP
        engine.pos = at if how == _IMPLIED else end
        if value.form == REFUSED:
            engine.spoil(engine.pos, Why.DUPLICATE)
        else:
            engine.drop(at, Why.LAYOUT)
            if value.closing and not value.send(engine, value.closing, engine.pos):
                return BROKE
            engine.drop(engine.pos, Why.ENVELOPE)
        if how == _IMPLIED:
            engine.imply_close()
        return YES

    def _empty(self, type: ValueType | None) -> str:
        """What an empty nested value stands for: the template writes empty lists and objects so, and null in lists."""
        if not self._bound.syntax.nested:
            return ""
        if type is None or type.untyped:
            return "null" if self._frames[-1].bracket == "[" else ""
        empties = {"string": "", "array": "[]", "object": "{}", "null": "null"}
        return next((json for kind, json in empties.items() if type.admits(kind)), "")  # type: ignore[arg-type]

    # ------------------------------------------------------------------- where a value ends (policy 3)

    def _boundary(self, engine: Engine, at: int) -> tuple[int, int, int]:
        """Whether the value ends at `at`, by what, and where its closer ends: YES, NO, or MORE while undecided."""
        buf = engine.buf
        closes, end = self._closer(engine, at)
        if closes == YES:
            closes = self._followed(engine, end)
            if closes == YES:
                return YES, _CLOSER, end
        opens = chain = NO
        if not self._quoted and closes != MORE:
            if buf[at - 1] == "\n" if at > engine.pos else self._line:
                opens, tag = self._bound.parameter(engine, at, engine.final)
                if tag is not None:
                    opens = YES if self._awaits(engine, tag.name) else NO
            chain = self._chain(engine, at) if len(self._frames) == 1 else NO
        if YES in (opens, chain):
            return YES, _IMPLIED, at
        return (MORE if MORE in (closes, opens, chain) else NO), _CLOSER, end

    def _closer(self, engine: Engine, at: int) -> tuple[int, int]:
        buf = engine.buf
        if self._quoted:
            quote = self._bound.quotes[1]
            if not buf.startswith(quote, at):
                return (NO if engine.final else half(buf, at, quote)), at
            at += len(quote)
            if at == len(buf):
                return (NO if engine.final else MORE), at
        return self._bound.closer.match(buf, at, self._key, engine.final)

    def _followed(self, engine: Engine, at: int) -> int:
        """Whether a tag or marker that may follow a value stands behind white space, or the end of the output does."""
        buf = engine.buf
        first = skip(buf, at)
        if first - at > engine.limits.max_layout:
            return NO
        codes = [MORE]
        if first < len(buf):
            codes = [engine.row_at(first, False)[0], self._bound.parameter(engine, first, False)[0]]
            if len(self._frames) > 1:
                codes.append(self._bound.closer.match(buf, first, self._frames[-1].name, False)[0])
        # A tag that the end of the output cuts short has begun all the same.
        return YES if YES in codes or (engine.final and MORE in codes) else MORE if MORE in codes else NO

    def _awaits(self, engine: Engine, key: str) -> bool:
        """Whether the function declares this parameter and it has not been given."""
        if engine.tool is None or key in self._frames[-1].keys:
            return False
        if len(self._frames) == 1:
            return engine.tool.declares(key)
        name, self._key = self._key, self._frames[-1].name
        frames, self._frames = self._frames, self._frames[:-1]
        type = self._schema(engine)
        self._key, self._frames = name, frames
        return type is not None and key in type.keys

    def _chain(self, engine: Engine, at: int) -> int:
        """Whether all the remaining closers stand here, and behind them the end of the turn or another call."""
        buf = engine.buf
        final = engine.final
        for n, words in enumerate(engine.stage.chain):
            first = skip(buf, at) if n else at
            if first - at > engine.limits.max_layout:
                return NO
            if first == len(buf):
                return NO if final else MORE
            start, at, whole = words.at(buf, first, final)
            if not whole:
                return MORE if start < len(buf) else NO
        first = skip(buf, at)
        if first - at > engine.limits.max_layout:
            return NO
        if first == len(buf):
            return YES if final else MORE
        start, _, whole = engine.stage.ends.at(buf, first, False)
        return YES if whole or (final and start < len(buf)) else MORE if start < len(buf) else NO

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
            [[frame.name, frame.bracket, list(frame.keys)] for frame in self._frames],
            self._key,
            self._type,
            self._value.save(),
            self._quoted,
            self._wrapped,
            self._line,
            None if self._args is None else self._args.save(),
            self.whole,
        ]

    def load(self, saved: list[object]) -> None:
        place, name, id, frames, key, type, value, quoted, wrapped, line, args, whole = saved
        self._place = int(place)  # type: ignore[call-overload]
        self._name = str(name)
        self._id = None if id is None else str(id)
        self._frames = [Frame(*frame) for frame in frames]  # type: ignore[attr-defined]
        self._kept = sum(len(key) for frame in self._frames for key in frame.keys)
        self._key = str(key)
        self._type = None if type is None else str(type)
        self._value.load(value)  # type: ignore[arg-type]
        self._quoted = bool(quoted)
        self._wrapped = bool(wrapped)
        self._line = bool(line)
        self._args = None if args is None else Arguments.load(args)  # type: ignore[arg-type]
        self.whole = bool(whole)
