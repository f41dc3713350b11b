"""Calls as a header, then a line for each parameter: `add` and `a: 2`, as transformers' `kv-lines` reads them.

A value is the text up to the end of its line, white space around it aside, typed as in tags; it holds neither a line's
end nor what ends the call. A line without a separator is stray and the call goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ..events import Why
from ..strict_json.literals import json_string
from .base import BoundSyntax, Reader, Syntax
from .frames import Frames
from .pattern import Match, Pattern, first_match, unnamed
from .region import BROKE, DONE, GO, MARKER, WAIT, Progress
from .scanning import MORE, NO, SPACE, YES, Verdict, Words, layout, literal, skip_space
from .state import FLAG, TEXT, Kind, choice, optional, part
from .values.tag_value import REFUSED, TagValue, form_of, is_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region

# Where reading stands.
HEADER: Final = "header"
BODY: Final = "body"  # behind the header: the call has not started
KEY: Final = "key"  # where a line begins
OPENED: Final = "opened"  # behind a separator
LEAD: Final = "lead"  # in white space before a value
VALUE: Final = "value"
STRAY: Final = "stray"  # in a line that is none
OVER: Final = "over"


@dataclass(frozen=True, slots=True)
class Lines(Syntax):
    """A call is a header with the function's name, then lines with a key and a value each."""

    header: tuple[str, ...] = ()
    """Header patterns between the opener and the first line; the first that matches counts."""
    separator: str = ":"
    """What stands between a key and its value."""
    line: str = "\n"
    """What stands between lines."""
    python: bool = False
    """Values are written as Python's literals (`None`, `True`)."""

    def check(self) -> tuple[str, str] | None:
        if (missing := unnamed(self.header)) is not None:
            return missing
        if not self.separator.strip(SPACE):
            return "separator", "missing, or white space alone: what stands between a key and its value"
        if not self.line:
            return "line", "missing; what stands between lines"
        return None

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundLines(self, spell)


class BoundLines(BoundSyntax):
    """Calls in lines, ready to run."""

    __slots__ = ("_stops", "headers", "line", "sign", "syntax")

    def __init__(self, syntax: Lines, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.syntax: Final = syntax
        self.headers: Final = tuple(Pattern(pattern, spell) for pattern in syntax.header)
        self.sign: Final = spell(syntax.separator)  # between a key and its value
        self.line: Final = spell(syntax.line)
        self._stops: Final[dict[tuple[str, bool], Words]] = {}

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        verdict, first = layout(region.text, at, region.limits.max_layout)
        if verdict == YES or (verdict == MORE and region.final):
            verdict, _ = self.header_at(region, first)
        return verdict

    def header_at(self, region: Region, at: int) -> tuple[Verdict, Match | None]:
        """The header at this offset, if there is one."""
        return first_match(self.headers, region.text, at, region.limits, region.final, region.call.names)

    def stops(self, markers: Markers, key: bool) -> Words:
        """What ends a value in this state, or a `key`: the separator too."""
        found = self._stops.get((markers.name, key))
        if found is None:
            words = {self.sign} | markers.words.words if key else enders(markers)
            found = self._stops[markers.name, key] = Words({self.line} | words)
        return found

    def open(self) -> Reader:
        return LinesReader(self)


def enders(markers: Markers) -> set[str]:
    """The texts that may end a call's last value in this state."""
    closers = {word for words in markers.closers[:1] for word in words.words}
    return closers | markers.ends.words


class LinesReader(Reader):
    """Reads one call in lines."""

    __slots__ = ("_bound", "_frames", "_id", "_name", "_state", "_value")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("_state", choice(HEADER, BODY, KEY, OPENED, LEAD, VALUE, STRAY, OVER)),
        ("_name", TEXT),
        ("_id", optional(TEXT)),
        ("_frames", part(Frames)),
        ("_value", part(TagValue)),
        ("complete", FLAG),
    )

    def __init__(self, bound: BoundLines) -> None:
        self._bound: Final = bound
        self._state: str = HEADER
        self._name = ""
        self._id: str | None = None
        self._frames = Frames()
        self._value = TagValue()
        self.complete = False

    def sound(self) -> bool:
        return len(self._frames) == 1 and self._value.opened

    def read(self, region: Region) -> Progress:
        code: Progress = GO
        while code == GO:
            match self._state:
                case "header":
                    code = self._header(region)
                case "body":
                    code = self._body(region)
                case "key":
                    code = self._key(region)
                case "opened":
                    code = self._opened(region)
                case "lead":
                    code = self._lead(region)
                case "value":
                    code = self._read_value(region)
                case "stray":
                    code = self._skip(region)
                case _:
                    return DONE
        return code

    def _header(self, region: Region) -> Progress:
        """The opener was confirmed by a header that matches."""
        verdict, found = self._bound.header_at(region, skip_space(region.text, region.pos))
        if found is None:
            return WAIT if verdict == MORE else region.fail(Why.SHAPE)
        self._name = found.name
        self._id = found.id or None
        region.advance(found.end)
        self._state = BODY
        return GO

    def _body(self, region: Region) -> Progress:
        if region.pos == len(region.text) and not region.final:
            return WAIT
        self._state = KEY
        why = region.start_call(self._name, region.pos, self._id)
        return GO if why is None else region.fail(why)

    def _key(self, region: Region) -> Progress:
        """Where a line begins: its key, the call's end, or neither."""
        text = region.text
        at = region.skip_space()
        region.consume(at, Why.ENVELOPE)
        verdict, stop, end = self._bound.stops(region.markers, key=True).find(text, at, region.final)
        key = text[at:stop].strip(SPACE)
        if len(key) > region.limits.max_name:
            self._state = STRAY
            return GO
        if verdict != YES:
            if region.final and key:
                self._state = STRAY
                return GO
            return WAIT
        if text.startswith(self._bound.sign, stop) and end == stop + len(self._bound.sign) and key:
            region.advance(end)
            self._frames.key = region.data(at, stop).strip(SPACE)
            self._state = OPENED
            return GO
        if key:
            self._state = STRAY
            return GO
        if text.startswith(self._bound.line, stop) and end == stop + len(self._bound.line):
            region.advance(end)
            region.consume(end, Why.ENVELOPE)
            return GO
        return self._ended(region, stop)

    def _ended(self, region: Region, at: int) -> Progress:
        """A marker, or a separator without a key, stands at `at`, behind white space."""
        region.advance(at)
        if region.marker(at) != YES:
            self._state = STRAY
            return GO
        if region.closer(at):
            return self._finish(region)
        self._close_implied(region)
        return MARKER

    def _finish(self, region: Region) -> Progress:
        if not self._value.send(region, "}" if self._frames.inner.keys else "{}", region.pos):
            return BROKE
        self.complete = True
        self._state = OVER
        return DONE

    def _close_implied(self, region: Region) -> None:
        """Behind whole parameters the call's closer is missing, and the call is over."""
        if self._frames.inner.keys and self._value.send(region, "}", region.pos):
            region.consume(region.pos, Why.IMPLICIT_CLOSE)
            self.complete = True
            self._state = OVER

    def _opened(self, region: Region) -> Progress:
        """Behind a separator: the key is written, white space before the value is none of it."""
        frame, key = self._frames.inner, self._frames.key
        if key in frame.keys:
            region.malformed(region.pos, Why.DUPLICATE)
            self._value.begin(REFUSED)
        else:
            lead = ", " if frame.keys else "{"
            if not self._value.send(region, f"{lead}{json_string(key)}: ", region.pos):
                return BROKE
            self._frames.give()
            type = self._frames.schema(region)
            self._value.begin(form_of(type), is_scalar(type))
            if self._frames.kept > region.limits.max_held:
                return region.fail(Why.LIMIT)
        self._state = LEAD
        return GO

    def _lead(self, region: Region) -> Progress:
        text = region.text
        at = region.pos
        line = self._bound.line
        while at < len(text) and text[at] in SPACE and literal(text, at, line, region.final) == NO:
            at += 1
        region.advance(at)
        region.consume(at, Why.ENVELOPE)
        if (at == len(text) or literal(text, at, line, region.final) == MORE) and not region.final:
            return WAIT
        self._value.opens(region.limits.max_depth - 1)
        self._state = VALUE
        return GO

    def _read_value(self, region: Region) -> Progress:
        text = region.text
        verdict, stop, _ = self._bound.stops(region.markers, key=False).find(text, region.pos, region.final)
        last = stop
        floor = max(region.pos, stop - region.limits.max_layout)
        while last > floor and text[last - 1] in SPACE:
            last -= 1
        if verdict == YES:
            return GO if self._close(region, last) else BROKE
        if last > region.pos and not self._grow(region, last):
            return BROKE
        return WAIT

    def _grow(self, region: Region, end: int) -> bool:
        return self._value.grow(region, end, self._bound.syntax.python)

    def _close(self, region: Region, at: int) -> bool:
        """The value's text ends at `at`, before white space."""
        value = self._value
        length = len(region.text)
        type = self._frames.schema(region)
        if not value.close(region, at, type, self._bound.syntax.python, region.limits.max_depth - 1, ""):
            return False
        region.advance(at + len(region.text) - length)  # the text may be put together anew
        self._state = KEY
        if value.form == REFUSED:
            region.malformed(region.pos, Why.DUPLICATE)
            return True
        return not value.closing or value.send(region, value.closing, region.pos)

    def _skip(self, region: Region) -> Progress:
        """A line without a key and a value is stray, up to its end."""
        verdict, stop, _ = self._bound.stops(region.markers, key=False).find(region.text, region.pos, region.final)
        region.advance(stop)
        region.malformed(stop, Why.STRAY)
        if verdict != YES:
            return WAIT
        self._state = KEY
        return GO

    def cut(self, region: Region) -> None:
        if self._state == VALUE and not region.stopped:
            self._value.cut(region, len(region.text))
        elif self._state == VALUE and self._close(region, region.pos):
            region.advance(len(region.text))
            region.consume(region.pos, Why.ENVELOPE)
            self._close_implied(region)
        elif self._state == KEY and region.stopped and region.pos == len(region.text):
            self._close_implied(region)
