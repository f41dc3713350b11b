"""Python's literals, and a call's keyword arguments, written as JSON."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ...events import Why
from ...strict_json.literals import PYTHON_ESCAPE, json_string, json_string_fragment, python_escape
from ..region import GO, MARKER, WAIT, Progress
from ..scanning import MORE, NO, YES, Verdict, is_private, layout
from .literal_value import JOINT, NEXT_KEY, LiteralValue

if TYPE_CHECKING:
    from ..region import Region

_NAME: Final = re.compile(r"\w[\w.\-]*")
_HALF_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-7]{1,2}|N(?:\{[^{}\ud800-\udfff]{0,256})?|\r)?\Z"
)
_LOW: Final = re.compile(r"\\(?:u[dD]|U0000[dD])[c-fC-F][0-9a-fA-F]{2}")
_HALF_LOW: Final = re.compile(
    r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?|U(?:0{0,4}|0{4}[dD](?:[c-fC-F][0-9a-fA-F]?)?))?)?\Z"
)


@lru_cache(maxsize=64)
def _special(quote: str) -> re.Pattern[str]:
    """What a run of text in a string stops at."""
    return re.compile(r"[\\\ud800-\udfff" + quote + "]")


class PythonValue(LiteralValue):
    """A Python literal in the making, or a call's keyword arguments (bracket `c`)."""

    __slots__ = ()

    def __init__(self, brackets: str = "", skip: Why | None = None, *, started: bool = True) -> None:
        super().__init__("'\"", python=True, brackets=brackets, skip=skip, started=started)

    def _open_string(self, region: Region, at: int, prefix: str) -> tuple[Verdict, int]:
        quote = region.text[at]
        head = region.text[at : at + 3]
        if head == quote * 3:
            self._quote = prefix + head
            return YES, at + 3
        if head == quote * len(head) and not region.final:
            return MORE, at
        self._quote = prefix + quote
        return YES, at + 1

    def _plain(self, text: str) -> bool:
        return _special(self._quote[-1]).search(text) is None

    def _string(self, region: Region) -> Progress:
        text = region.text
        end = self._room(region)
        quote = self._quote.lstrip("rRuU")
        special = _special(quote[0])
        at = region.pos
        while True:
            match = special.search(text, at, end)
            stop = end if match is None else match.start()
            if stop > at:
                self._write_text(region, text[at:stop], stop)
                region.advance(stop)
                at = stop
            if match is None:
                return region.fail(Why.LIMIT) if end < len(text) else WAIT
            char = text[at]
            if char == quote[0]:
                if len(quote) == 3:
                    head = text[at : at + 3]
                    if head != quote:
                        if head == char * len(head) and at + len(head) == len(text) and not region.final:
                            return WAIT
                        at += 1
                        self._write_text(region, char, at)
                        region.advance(at)
                        continue
                region.advance(at + len(quote))
                self._state = JOINT
                return GO
            if char == "\\":
                code, at = self._escape(region, at)
                if code != GO:
                    return code
            else:
                verdict = region.marker(at)
                if verdict != NO:
                    return MARKER if verdict == YES else WAIT
                at += 1
                self._write(json_string_fragment(region.data(at - 1, at)), at)
            region.advance(at)

    def _escape(self, region: Region, at: int) -> tuple[Progress, int]:
        """The backslash at `at` and what belongs to it: (GO, where the text goes on), WAIT or BROKE."""
        text = region.text
        following = text[at + 1 : at + 2]
        if not following and not region.final:
            return WAIT, at
        private = following != "" and is_private(following)
        if private or self._quote[0] in "rR":
            # A raw string's backslash stays, and so does what follows it: a quote there does not close.
            size = 1 if private else 1 + len(following)
            self._write_text(region, text[at : at + size], at + size)
            return GO, at + size
        half = _HALF_ESCAPE.match(text, at) is not None
        if half and not region.final:
            return WAIT, at
        escape = PYTHON_ESCAPE.match(text, at)
        char = None if escape is None else python_escape(escape)
        if escape is None or char is None:
            return (WAIT if half else region.fail(Why.ARGUMENTS)), at
        end = escape.end()
        if 0xD800 <= ord(char[:1] or " ") < 0xDC00:
            low = _LOW.match(text, end)
            if low is not None:
                pair = char + chr(int(low.group()[-4:], 16))
                char = pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
                end = low.end()
            elif not region.final and _HALF_LOW.match(text, end):
                return WAIT, at
        if len(char) == 1 and is_private(char):  # half of a pair that has no other half
            char = "\ufffd"
        self._write(json_string_fragment(char), end)
        return GO, end

    def _key(self, region: Region, at: int, char: str) -> Progress | None:
        if self._brackets[-1] == "{":
            prefix = char if char in "rRuU" else ""
            quote = region.text[at + len(prefix) : at + len(prefix) + 1]
            if not quote:
                return WAIT
            if quote not in self._quotes:
                return None
            verdict, start = self._open_string(region, at + len(prefix), prefix)
            if verdict != YES:
                return WAIT if verdict == MORE else None
            lead = ", " if self._state == NEXT_KEY else ""
            self._in_key = True
            self._begin_string(region, start, lead + '"')
            return GO
        verdict, key, end = keyword(region, at)
        if verdict != YES:
            return WAIT if verdict == MORE else None
        return self._new_key(region, key, json_string(key), end)


def keyword(region: Region, at: int) -> tuple[Verdict, str, int]:
    """Whether a parameter's name and its `=` stand at `at`: the name, and where the value begins."""
    verdict, name, end = word(region, at)
    if verdict == YES:
        verdict, stop = layout(region.text, end, region.limits.max_layout)
        if verdict == YES and region.text[stop] == "=":
            return YES, name, stop + 1
    return (MORE if verdict == MORE else NO), "", at


def word(region: Region, at: int) -> tuple[Verdict, str, int]:
    """Whether a name stands at `at`, of at most `max_name` characters: the name, and where it ends."""
    limit = region.limits.max_name
    match = _NAME.match(region.text, at, at + limit + 1)
    if match is None or match.end() - at > limit:
        return NO, "", at
    end = match.end()
    if end == len(region.text) and not region.final:
        return MORE, "", at
    return YES, match.group(), end
