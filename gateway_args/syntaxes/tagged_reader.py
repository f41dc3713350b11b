"""Reads one call in tags: its header, then parameter after parameter, each value written as soon as it may be.

What has been read and may still be undecided is small (a tag, a chain of closers), but for a value that must be
complete before it is written, which waits with the region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from ..events import Why
from ..strict_json.literals import json_string
from .base import Reader
from .endings import ending, followed, foreign
from .frames import Frames
from .region import BROKE, DONE, GO, MARKER, WAIT, Progress
from .scanning import MORE, NO, PRIVATE, YES, Verdict, either, layout, literal, skip_space
from .state import FLAG, TEXT, Kind, choice, optional, part
from .values.json_value import JsonValue
from .values.tag_value import HELD, JSON, LOOSE, MAYBE_NULL, REFUSED, TagValue, form_of, is_scalar, json_begins
from .values.tag_value import TEXT as STRING

if TYPE_CHECKING:
    from ..schema.value_types import ValueType
    from .region import Region
    from .tagged import BoundTagged, Stops

# Where reading stands.
_HEADER: Final = "header"
_BODY: Final = "body"  # behind the header: the call has not started
_GAP: Final = "gap"  # between parameters
_KEYED: Final = "keyed"  # behind a key whose value has a tag of its own
_OPENED: Final = "opened"  # where a value's text begins
_VALUE: Final = "value"
_JSON: Final = "json"  # the body is a JSON object
_ELIDED: Final = "elided"  # in a value whose closer will name its parameter
_STRAY: Final = "stray"  # in text behind a value that its first closer ended
_OVER: Final = "over"


class TaggedReader(Reader):
    """Reads one tagged call."""

    __slots__ = (
        "_args",
        "_bound",
        "_frames",
        "_id",
        "_line",
        "_name",
        "_quoted",
        "_state",
        "_stops",
        "_stray",
        "_type",
        "_value",
        "_wrapped",
    )

    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("_state", choice(_HEADER, _BODY, _GAP, _KEYED, _OPENED, _VALUE, _JSON, _ELIDED, _STRAY, _OVER)),
        ("_name", TEXT),
        ("_id", optional(TEXT)),
        ("_frames", part(Frames)),
        ("_type", optional(TEXT)),
        ("_value", part(TagValue)),
        ("_quoted", FLAG),
        ("_wrapped", FLAG),
        ("_line", FLAG),
        ("_stray", FLAG),
        ("_args", optional(part(JsonValue))),
        ("complete", FLAG),
    )

    def __init__(self, bound: BoundTagged) -> None:
        self._bound: Final = bound
        self._state: str = _HEADER
        self._name = ""
        self._id: str | None = None
        self._frames = Frames()
        self._type: str | None = None  # what its attribute says
        self._value = TagValue()
        self._quoted = False  # its text stands between quotes
        self._wrapped = False  # the template's white space stands before it
        self._stray = False  # a first closer ended the last value: what follows it is no end of the call
        self._line = False  # the text before `region.pos` ends a line
        self._stops: Stops | None = None
        self._args: JsonValue | None = None
        self.complete = False

    def sound(self) -> bool:
        opened = self._state != _VALUE or self._value.opened
        return opened and (not self._quoted or bool(self._bound.quotes))

    def read(self, region: Region) -> Progress:
        code: Progress = GO
        while code == GO:
            state = self._state
            if state == _VALUE:
                code = self._read_value(region)
            elif state == _GAP:
                code = self._gap(region)
            elif state == _OPENED:
                code = self._opened(region)
            elif state == _KEYED:
                code = self._keyed(region)
            elif state == _BODY:
                code = self._body(region)
            elif state == _HEADER:
                code = self._header(region)
            elif state == _JSON:
                code = self._json(region)
            elif state == _STRAY:
                code = self._skip(region)
            elif state == _ELIDED:
                code = self._elided(region)
            else:
                return DONE
        return code

    # ------------------------------------------------------------------------- before the call

    def _header(self, region: Region) -> Progress:
        """The opener was confirmed by a header that matches."""
        at = skip_space(region.text, region.pos)
        verdict, found = self._bound.header(region, at)
        if found is None:
            return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        self._name = self._bound.named(region, found.name)
        self._id = found.id or None
        closed = self._bound.closed(region, at)[0] == YES
        region.advance(found.end)
        self._state = _BODY
        if not closed:
            return GO
        why = region.start_call(self._name, region.pos, self._id)
        return self._finish(region) if why is None else region.fail(why)

    def _body(self, region: Region) -> Progress:
        """Behind the header: the call starts before a parameter or its end."""
        verdict, at = layout(region.text, region.pos, region.limits.max_layout)
        if verdict != YES:
            return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        opens = self._bound.opens(region, at)
        json = self._bound.syntax.json_body and region.text[at] == "{" and opens == NO
        verdict = YES if json else either(region.marker(at), opens, self._bound.elides(region, at)[0])
        if verdict != YES:
            return WAIT if verdict == MORE and not region.final else region.fail(Why.SHAPE)
        self._state = _JSON if json else _GAP
        why = region.start_call(self._name, region.pos, self._id)
        return GO if why is None else region.fail(why)

    def _json(self, region: Region) -> Progress:
        if self._args is None:
            self._args = JsonValue(region.limits.max_depth, started=True)
        code = self._args.read(region)
        self.complete = self._args.complete
        if code == DONE:
            self._state = _OVER
        return code

    # ------------------------------------------------------------------------------ between parameters

    def _gap(self, region: Region) -> Progress:
        bound = self._bound
        text = region.text
        at = region.skip_space()
        region.consume(at, Why.ENVELOPE)
        if at == len(text):
            return WAIT
        marker = region.marker(at)
        if marker == YES:
            if len(self._frames) == 1 and region.closer(at):
                return self._finish(region)
            self._close_implied(region)
            return MARKER
        # A tag that the end of the output cuts short is one all the same.
        closes, end = bound.closer.match(text, at, self._frames.inner.name, False)
        if closes == YES:
            region.advance(end)
            if len(self._frames) == 1:
                region.malformed(end, Why.STRAY)
                return GO
            frame = self._frames.pop()
            return GO if self._value.send(region, "}" if frame.bracket == "{" else "]", end) else BROKE
        opens, tag = bound.parameter(region, at, False)
        if tag is not None:
            region.advance(tag.end)
            self._frames.key = tag.name
            self._type = tag.type
            self._stray = False
            self._state = _KEYED
            return GO if bound.value_open else self._begin(region)
        elided, end = bound.elides(region, at)
        if elided == YES and MORE not in (marker, closes, opens):
            region.advance(end)
            self._state = _ELIDED
            return GO
        if region.final:
            marker = region.marker(at, cut=True)
        if MORE in (marker, closes, opens, elided):
            return WAIT
        if not self._stray:
            return region.fail(Why.SHAPE)
        reserved, further = foreign(region, bound, self._frames, at)
        if reserved != NO:
            return WAIT if reserved == MORE else region.fail(Why.SHAPE)
        region.advance(further)
        region.malformed(further, Why.STRAY)
        self._state = _STRAY
        return GO

    def _elided(self, region: Region) -> Progress:
        """In a value whose tag was left out: once its closer has named the parameter, it is read like any other."""
        bound = self._bound
        verdict, at, _ = bound.elided.find(region.text, region.pos, region.final)
        region.advance(at)
        excess = region.held - len(bound.left) - region.limits.max_held
        if excess > 0:
            region.advance(at - excess)
            return region.fail(Why.LIMIT)
        tag = None
        if verdict == YES and bound.closer.any is not None:
            verdict, tag = bound.closer.any.match(region.text, at, region.limits)
        if tag is None:
            return region.fail(Why.SHAPE) if verdict == NO and at < len(region.text) else WAIT
        if not self._frames.declares(region, tag.name):
            return region.fail(Why.SHAPE)
        region.rejoin()
        region.advance(len(bound.left))
        self._frames.key = tag.name
        self._type = None
        self._stray = False
        return self._begin(region)

    def _skip(self, region: Region) -> Progress:
        """Text up to the next tag or marker is stray."""
        verdict, start, _ = self._bound.tags(region.markers).find(region.text, region.pos, region.final)
        region.advance(start)
        region.malformed(start, Why.STRAY)
        if verdict != YES:
            return WAIT
        self._state = _GAP
        return GO

    def _finish(self, region: Region) -> Progress:
        """The call's own closer stands at `region.pos`."""
        if not self._value.send(region, "}" if self._frames.inner.keys else "{}", region.pos):
            return BROKE
        self.complete = True
        self._state = _OVER
        return DONE

    def _close_implied(self, region: Region) -> None:
        """Behind whole parameters the call's closer is missing, and the call is over."""
        if len(self._frames) == 1 and self._frames.inner.keys and self._value.send(region, "}", region.pos):
            region.consume(region.pos, Why.IMPLICIT_CLOSE)
            self.complete = True
            self._state = _OVER

    def _keyed(self, region: Region) -> Progress:
        """Behind a key: its value's tag, or, where that is missing, the value."""
        bound = self._bound
        text = region.text
        verdict, at = layout(text, region.pos, region.limits.max_layout)
        if verdict == MORE:
            return WAIT
        if verdict == YES:
            opens = literal(text, at, bound.value_open)
            if opens == YES:
                region.advance(at + len(bound.value_open))
                return self._begin(region)
            verdict = either(
                opens,
                region.marker(at, cut=True),
                bound.opens(region, at),
                bound.closer.match(text, at, self._frames.key, False)[0],
            )
            if verdict != NO:
                return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        return self._begin(region)

    def _begin(self, region: Region) -> Progress:
        """A value begins at `region.pos`: write its key, unless it has one already."""
        frame = self._frames.inner
        key = self._frames.key
        listed = frame.bracket == "["
        self._state = _OPENED
        if key in frame.keys and not listed:
            region.malformed(region.pos, Why.DUPLICATE)
            self._value.begin(REFUSED)
            return GO
        if listed and key != "item":
            return region.fail(Why.SHAPE)
        lead = ", " if frame.keys else frame.bracket
        if not self._value.send(region, lead if listed else f"{lead}{json_string(key)}: ", region.pos):
            return BROKE
        self._frames.give()
        self._value.begin(self._form(region), is_scalar(self._frames.schema(region)))
        return GO if self._frames.kept <= region.limits.max_held else region.fail(Why.LIMIT)

    def _form(self, region: Region) -> str:
        syntax = self._bound.syntax
        if self._type is not None:
            return STRING if self._type in syntax.text_types else JSON
        form = form_of(self._frames.schema(region))
        if form in (STRING, MAYBE_NULL) and self._frames.tells(region):
            return LOOSE  # short, and known before what it tells of is written
        return JSON if form == HELD and syntax.json_values else form

    # ---------------------------------------------------------------------------------- values

    def _opened(self, region: Region) -> Progress:
        """Where a value's text begins: what it holds, and the template's white space before it."""
        bound = self._bound
        text = region.text
        at = region.pos
        if bound.syntax.nested and self._value.form not in (STRING, REFUSED):
            opens, first = layout(text, at, region.limits.max_layout)
            if opens == YES:
                opens = either(bound.parameter(region, first, region.final)[0], bound.elides(region, first)[0])
            if opens == YES:
                return self._nest(region)
            if opens == MORE and not region.final:
                return WAIT
        if self._value.form == JSON:
            begins = json_begins(region, at)
            if begins == MORE:
                return WAIT
            if begins == NO:
                self._value.form = HELD
        around = bound.syntax.around
        size = 0
        while size < len(around) and text.startswith(around[size], at + size):
            size += 1
        if size < len(around) and at + size == len(text) and not region.final:
            return WAIT
        if bound.syntax.inline and size:
            alone = self._alone(region, at + size)
            if alone == MORE:
                return WAIT
            size = size if alone == YES else 0
        self._quoted = False
        if bound.quotes and not size:
            quote = literal(text, at, bound.quotes[0], region.final)
            if quote == MORE:
                return WAIT
            if quote == YES:
                self._quoted = True
                if self._value.form not in (REFUSED, HELD, JSON):  # a type that admits no string is read all the same
                    self._value.begin(STRING)
                size = len(bound.quotes[0])
        region.advance(at + size)
        if self._value.form == REFUSED:
            region.malformed(region.pos, Why.DUPLICATE)
        else:
            region.consume(region.pos, Why.ENVELOPE if self._quoted else Why.LAYOUT)
        self._wrapped = bool(around) and size == len(around) and not self._quoted
        self._line = self._wrapped and around.endswith("\n")
        self._stops = bound.stops(region.markers, self._quoted)
        self._value.opens(region.limits.max_depth - len(self._frames))
        self._state = _VALUE
        return GO

    def _alone(self, region: Region, at: int) -> Verdict:
        """Whether the value at `at` is one short line, the template's white space and the closer."""
        text = region.text
        around = self._bound.syntax.around
        limit = at + region.limits.max_layout
        stop = text.find(around, at, limit)
        if stop < 0:
            return NO if region.final or len(text) >= limit else MORE
        verdict, end = self._bound.closer.match(text, stop + len(around), self._frames.key, region.final)
        return followed(region, self._bound, self._frames, end) if verdict == YES else verdict

    def _nest(self, region: Region) -> Progress:
        """The parameter's value is written as parameters of its own."""
        if len(self._frames) >= region.limits.max_depth:
            return region.fail(Why.LIMIT)
        type = self._frames.schema(region)
        tag = self._bound.parameter(region, skip_space(region.text, region.pos), region.final)[1]
        listed = tag is not None and tag.name == "item"
        if type is not None and listed:
            listed = type.admits("array") and not type.declares("item")
        elif tag is None:  # its closer will name it
            listed = type is not None and type.admits("array") and not type.admits("object")
        self._frames.push("[" if listed else "{")
        self._state = _GAP
        return GO

    def _read_value(self, region: Region) -> Progress:
        stops = self._stops
        if stops is None:  # taken up from a snapshot
            stops = self._stops = self._bound.stops(region.markers, self._quoted)
        text = region.text
        at = further = region.pos
        verdict: Verdict = NO
        while verdict == NO:
            verdict, at, _ = stops.words.find(text, further, region.final)
            if verdict == NO:
                break
            further = at + 1
            if verdict == YES:
                line = text[at - 1] == "\n" if at > region.pos else self._line
                verdict, implied, end = ending(region, self._bound, self._frames, self._value, self._quoted, line, at)
                if verdict == YES:
                    return self._close(region, at, implied, end)
                if verdict == NO and not self._quoted:
                    verdict, further = foreign(region, self._bound, self._frames, at)
                    if verdict == YES:
                        return region.fail(Why.SHAPE) if self._grow(region, at) else BROKE
        if not region.final:
            floor = max(region.pos, at - len(self._bound.layout))
            while at > floor and text[at - 1] in self._bound.layout:
                at -= 1
        if at > region.pos:
            self._line = text[at - 1] == "\n"
            if not self._grow(region, at):
                return BROKE
        if region.held == 0 and self._value.hot(region):
            region.hot(self)
        return WAIT

    def _grow(self, region: Region, end: int) -> bool:
        return self._value.grow(region, end, self._bound.syntax.python)

    def run_on(self, text: str) -> tuple[str, int] | None:
        """The hot path, for text of a string that holds nothing which could end it."""
        stops = self._stops
        if stops is None or stops.firsts.search(text) is not None:
            return None
        if not text.isascii() and PRIVATE.search(text) is not None:
            return None
        layout = self._bound.layout
        end = len(text)
        floor = end - len(layout)
        while end > floor and end > 0 and text[end - 1] in layout:
            end -= 1
        if end == 0:
            return None
        json = self._value.run_on(text[:end])
        if json is None:
            return None
        self._line = text[end - 1] == "\n"
        return json, len(text) - end

    def _close(self, region: Region, at: int, implied: bool, end: int) -> Progress:
        """The value's text ends at `at`, where its closer stands (up to `end`) or should."""
        bound = self._bound
        text = region.text
        layout = bound.layout if implied else bound.syntax.around
        if self._quoted or (not implied and bound.syntax.inline and not self._wrapped):
            layout = ""
        size = 0
        while size < min(len(layout), at - region.pos) and text[at - 1 - size] == layout[-1 - size]:
            size += 1
        value = self._value
        type = None if self._type is not None else self._frames.schema(region)
        depth = region.limits.max_depth - len(self._frames)
        length = len(text)
        if not value.close(region, at - size, type, bound.syntax.python, depth, self._empty(type)):
            return BROKE
        self._frames.tell(region, value.written)
        shift = len(region.text) - length  # the text may be put together anew
        at += shift
        end += shift
        self._state = _GAP
        self._stray = not implied and value.form in (HELD, JSON)
        region.advance(at if implied else end)
        if value.form == REFUSED:
            region.malformed(region.pos, Why.DUPLICATE)
        else:
            region.consume(at, Why.LAYOUT)
            if value.closing and not value.send(region, value.closing, region.pos):
                return BROKE
            region.consume(region.pos, Why.ENVELOPE)
        if implied:
            region.consume(region.pos, Why.IMPLICIT_CLOSE)
        return GO

    def _empty(self, type: ValueType | None) -> str:
        """What an empty nested value stands for: the template writes empty lists and objects so, and null in lists."""
        if not self._bound.syntax.nested:
            return ""
        if type is None or type.untyped:
            return "null" if self._frames.inner.bracket == "[" else ""
        empties = {"string": "", "array": "[]", "object": "{}", "null": "null"}
        return next((json for kind, json in empties.items() if type.admits(kind)), "")  # type: ignore[arg-type]

    # ------------------------------------------------------------------------------

    def cut(self, region: Region) -> None:
        if self._state == _VALUE:
            self._value.cut(region, len(region.text))
        elif self._state == _ELIDED:
            region.malformed(len(region.text), Why.UNTERMINATED)
        elif self._state == _GAP and region.stopped and region.pos == len(region.text):
            self._close_implied(region)
        elif self._args is not None:
            self._args.cut(region)
