"""Reads one JSON value as a call's arguments: fragments while some value could continue, never repaired.

Shared by every syntax whose arguments are JSON. Three forms, told apart by the value's first character: a value as it
stands (its characters are the fragments, raw control characters in strings escaped), a string that holds the value
(decoded as it streams) and `null` (no arguments). While the call has not started, fragments wait and the text stays
unaccounted; `release` sends them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from ...events import Why
from ...strict_json.acceptor import Acceptor
from ..region import BROKE, DONE, GO, MARKER, WAIT, Progress
from ..scanning import MORE, NO, PRIVATE, YES, is_private, literal, skip_space
from ..sender import Sender
from ..state import ACCEPTOR, FLAG, Kind, State, choice, part
from .escapes import BODY, CONTROL, PLAIN, QUOTED, decode_escape, escape_controls, escaped, half_escape, inner, unquoted

if TYPE_CHECKING:
    import re

    from ..region import Region

REACH: Final = 4096
"""How far ahead a reader looks at once: text that is read again when a value proves to be none must cost little."""

_START: Final = "start"
_RAW: Final = "raw"  # the value as it stands
_QUOTED: Final = "quoted"  # a string that holds the value
_OVER: Final = "over"


class JsonValue(State):
    """One arguments value in the making."""

    __slots__ = ("_acceptor", "_form", "_spare", "_starts", "_stuck", "complete", "empty", "sender")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("_acceptor", ACCEPTOR),
        ("_form", choice(_START, _RAW, _QUOTED, _OVER)),
        ("sender", part(Sender)),
        ("_stuck", FLAG),
        ("empty", FLAG),
        ("complete", FLAG),
    )

    def __init__(self, max_depth: int = 0, *, started: bool = False, as_is: bool = False) -> None:
        """`started`: the call has; `as_is`: no value in a string, and null is a value."""
        self._acceptor = Acceptor(max_depth)
        self._form = _RAW if as_is else _START
        self.sender = Sender(started)
        self._stuck = False  # a character was refused; whether a marker stands there is undecided
        self.empty = False  # null or an empty string: no arguments
        self.complete = False
        # What `run_on` goes by, as `read` left it.
        self._starts: re.Pattern[str] | None = None  # what begins a marker outside of strings, if any begins like JSON
        self._spare: int | None = None  # characters that `max_arguments` leaves

    def read(self, region: Region) -> Progress:
        """Read on from `region.pos`: DONE behind the value, BROKE at the first character of none, MARKER, WAIT."""
        if self._stuck:
            return self._refused(region)
        if self._form == _START:
            code = self._start(region)
            if code != GO:
                return code
        if self._form == _QUOTED:
            return self._quoted(region)
        if self._form == _RAW:
            return self._raw(region)
        return DONE

    def release(self, region: Region, end: int) -> None:
        """The call has started: send what waited, for the text up to `end`."""
        self.sender.start()
        self.sender.release(region, end)

    def cut(self, region: Region) -> None:
        """The value ends here, by a marker or the end of the output: half an escape is all that can still be held."""
        if self.sender.started and self._form == _QUOTED and region.final:
            region.malformed(len(region.text), Why.UNTERMINATED)

    # ------------------------------------------------------------------------------

    def _aside(self, region: Region, end: int, why: Why = Why.ENVELOPE) -> None:
        """Text up to `end` that no fragment holds; before the call starts it waits, for the call's source."""
        region.advance(end)
        if self.sender.started:
            region.consume(end, why)

    def _start(self, region: Region) -> Progress:
        """Find the form; GO when it is known."""
        text = region.text
        at = skip_space(text, region.pos)
        self._aside(region, at)
        if at == len(text):
            return WAIT
        if text[at] == '"':
            self._form = _QUOTED
            self._aside(region, at + 1)
            return GO
        null = literal(text, at, "null", region.final)
        if null == MORE:
            return WAIT
        if null == NO:
            self._form = _RAW
            return GO
        self._form = _OVER
        self.empty = True
        self._aside(region, at + 4)
        return GO

    def _raw(self, region: Region) -> Progress:
        text = region.text
        at = region.pos
        limit = self.sender.room(region, at)
        acceptor = self._acceptor
        markers = region.markers
        firsts = markers.json_firsts
        special = markers.special
        pieces: list[str] = []
        ends: list[int] = []
        while at < limit:
            reach = min(limit, at + REACH)
            match: re.Match[str] | None = None
            if acceptor.in_string and not acceptor.in_escape:  # no marker begins here: to the end of the string's body
                body = BODY.match(text, at, reach)
                stop = at if body is None else body.end()
            else:
                stop = at
            if stop == at:
                match = special.search(text, at, reach)
                stop = match.start() if match is not None else reach
            if stop > at:
                taken = acceptor.feed(text, at, stop)
                if taken:
                    pieces.append(text[at : at + taken])
                    at += taken
                    ends.append(at)
                if acceptor.complete is not None:
                    return self._over(region, pieces, ends, at)
                if at < stop:
                    self._stuck = True
                    break
            if match is None:
                continue
            char = text[at]
            private = is_private(char)
            if private or (char in firsts and not acceptor.in_string):
                verdict = region.marker(at)
                if verdict == YES and acceptor.end_number():
                    return self._over(region, pieces, ends, at)
                if verdict != NO:
                    return self._send(region, pieces, ends, at, MARKER if verdict == YES else WAIT)
            inside = acceptor.in_string
            if (private and not inside) or acceptor.feed(char) == 0:
                if acceptor.complete is not None:
                    return self._over(region, pieces, ends, at)
                self._stuck = True
                break
            if private:
                data = escaped(region.data(at, at + 1))
                if not data and self.sender.started:  # no marker here, and no text: a token of its own
                    if not self.sender.send(region, pieces, ends, at, divisible=True):
                        return self._limited()
                    pieces, ends = [], []
                    at += 1
                    region.consume(at, Why.CONTROL)
                    continue
                pieces.append(data)
            elif inside and char < " ":
                pieces.append(CONTROL[char])
            else:
                pieces.append(char)
            at += 1
            ends.append(at)
            if acceptor.complete is not None:
                return self._over(region, pieces, ends, at)
        code = self._send(region, pieces, ends, at, WAIT)
        if code != WAIT:
            return code
        if self._stuck:
            return self._refused(region)
        if limit < len(text):
            return region.fail(Why.LIMIT)
        if self.sender.started:
            self._starts = markers.json_starts if firsts else None
            self._hot(region)
        return WAIT

    def _hot(self, region: Region) -> None:
        most = region.limits.max_arguments
        self._spare = None if most is None else most - self.sender.sent
        region.hot(self)

    def _over(self, region: Region, pieces: list[str], ends: list[int], at: int) -> Progress:
        """The value is complete and ended at `at`."""
        self.complete = True
        self._form = _OVER
        return self._send(region, pieces, ends, at, DONE)

    def run_on(self, text: str) -> tuple[str, int] | None:
        """The hot path: text that the acceptor takes to its end, in which no marker can begin, is one fragment."""
        acceptor = self._acceptor
        json = read = text
        if self._form == _QUOTED:
            if not text.isprintable() or acceptor.valid == 0:
                return None
            if '"' in text or "\\" in text:
                if QUOTED.fullmatch(text) is None:
                    return None
                json = read = unquoted(text)
        elif text.isprintable():
            starts = self._starts
            if starts is not None and ('"' in text or not acceptor.in_string) and starts.search(text) is not None:
                return None
        elif '"' in text:  # with white space between tokens, as pretty-printed JSON has it
            if "\\" in text or acceptor.in_escape:
                return None
            starts = self._starts
            inside = acceptor.in_string
            for part in text.split('"'):
                if not part.isprintable() if inside else (starts is not None and starts.search(part) is not None):
                    return None
                inside = not inside
        elif acceptor.in_string:  # and ends inside the string
            if "\\" in text or acceptor.in_escape or PRIVATE.search(text) is not None:
                return None
            json = escape_controls(text)
        elif self._starts is not None and self._starts.search(text) is not None:
            return None
        spare = self._spare
        if spare is not None:
            if len(json) > spare:
                return None
            spare -= len(json)
        if not acceptor.feed_all(read):
            return None
        self._spare = spare
        self.sender.sent += len(json)
        return json, 0

    def _refused(self, region: Region) -> Progress:
        """A character that no value continues stands at `region.pos`: a marker, or the end of the arguments."""
        at = region.pos
        verdict = region.marker(at)
        if verdict != NO:
            self._stuck = self._stuck or verdict == MORE
            return MARKER if verdict == YES else WAIT
        acceptor = self._acceptor
        deep = self._form == _RAW and region.text[at] in "[{" and acceptor.depth >= region.limits.max_depth
        return region.fail(Why.LIMIT if deep else Why.ARGUMENTS)

    def _quoted(self, region: Region) -> Progress:
        """The value is written inside a JSON string: decode it and read what it says."""
        text = region.text
        at = region.pos
        limit = self.sender.room(region, at)
        acceptor = self._acceptor
        pieces: list[str] = []
        ends: list[int] = []
        while at < limit:
            char = text[at]
            if char == '"':
                return self._unquote(region, pieces, ends, at)
            match = PLAIN.match(text, at, limit)
            if match is not None:
                decoded = match.group()
                size = len(decoded)
            elif char == "\\":
                decoded, size = decode_escape(text, at)
                if size == 0:
                    if not region.final and half_escape(text, at):
                        return self._send(region, pieces, ends, at, WAIT)
                    return self._no_value(region, pieces, ends, at)
                if size < 0:  # a high surrogate whose other half may follow
                    if not region.final:
                        return self._send(region, pieces, ends, at, WAIT)
                    size = 6
            elif is_private(char):
                verdict = region.marker(at)
                if verdict != NO:
                    return self._send(region, pieces, ends, at, MARKER if verdict == YES else WAIT)
                data = region.data(at, at + 1)
                if data:
                    data = escaped(data) if acceptor.in_string else data
                    if acceptor.feed(data) < len(data):
                        return self._no_value(region, pieces, ends, at)
                    pieces.append(data)
                    at += 1
                    ends.append(at)
                    continue
                if not self.sender.send(region, pieces, ends, at, divisible=True):
                    return self._limited()
                pieces, ends = [], []
                at += 1
                self._aside(region, at, Why.CONTROL)
                continue
            else:
                decoded = char
                size = 1
            if acceptor.valid == 0 or acceptor.complete is not None:
                # White space around the inner value is envelope.
                spaces = skip_space(decoded, 0)
                if spaces:
                    if not self.sender.send(region, pieces, ends, at, divisible=True):
                        return self._limited()
                    pieces, ends = [], []
                    written = spaces if size == len(decoded) else size
                    at += written
                    self._aside(region, at)
                    decoded = decoded[spaces:]
                    size -= written
                    if not decoded:
                        continue
                if acceptor.complete is not None:
                    return self._no_value(region, pieces, ends, at)
            inside = acceptor.in_string
            taken = acceptor.feed(decoded)
            if taken and len(decoded) == 1:
                pieces.append(inner(decoded) if inside else decoded)
                at += size
                ends.append(at)
            elif taken:
                pieces.append(decoded[:taken])
                at += taken
                ends.append(at)
            if self._ended():  # asked anew: a type checker takes a property for unchanged over `feed`
                self.complete = True
            elif taken < len(decoded):
                return self._no_value(region, pieces, ends, at)
        code = self._send(region, pieces, ends, at, WAIT)
        if code == WAIT and limit < len(text):
            return region.fail(Why.LIMIT)
        if code == WAIT and self.sender.started:
            self._hot(region)
        return code

    def _ended(self) -> bool:
        return self._acceptor.complete is not None

    def _unquote(self, region: Region, pieces: list[str], ends: list[int], at: int) -> Progress:
        acceptor = self._acceptor
        if not self.sender.send(region, pieces, ends, at, divisible=True):
            return self._limited()
        if acceptor.valid == 0:
            self.empty = True
        else:
            if acceptor.complete is None and not acceptor.in_string:
                acceptor.feed(" ")  # the quote ends a number as white space does
            if acceptor.complete is None:
                return region.fail(Why.ARGUMENTS)
            self.complete = True
        self._form = _OVER
        self._aside(region, at + 1)
        return DONE

    def _no_value(self, region: Region, pieces: list[str], ends: list[int], at: int) -> Progress:
        """What the string says from `at` on is no value."""
        none_yet = self._acceptor.valid == 0 and not pieces
        if not self.sender.send(region, pieces, ends, at, divisible=True):
            return self._limited()
        return region.fail(Why.SHAPE if none_yet else Why.ARGUMENTS)

    def _send(self, region: Region, pieces: list[str], ends: list[int], end: int, code: Progress) -> Progress:
        """Send these fragments, the text of each up to its end; BROKE instead of `code` when they pass the limit."""
        return code if self.sender.send(region, pieces, ends, end, divisible=True) else self._limited()

    def _limited(self) -> Progress:
        self.complete = False
        return BROKE
