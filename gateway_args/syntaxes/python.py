"""Calls as Python writes them: `[add(a=2), add(a=3)]`, one a line, or one alone; values are literals.

Nothing is evaluated. A call has keyword arguments with literals: strings in every quoting and with every escape,
adjacent ones joined, numbers, `True`, `False`, `None` and JSON's words, lists, tuples, dicts with string keys, trailing
commas. Positional arguments, expressions and other names are malformed. More lenient than Python: a raw line break
stands in every string, a reserved word may name a parameter, names may hold dots and dashes.

A call starts where its name, the parenthesis and either the first `key=` or the closing parenthesis are read. Its last
brace is written only when its own parenthesis closed. A bare list, which no marker opens, is a call list when its first
call can start and has a name that the request declares; otherwise it is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from ..engine.program import is_private, skip_space
from ..events import Why
from .base import BROKE, DONE, MARKER, MORE, NO, REJECT, YES, Bound, Reader, Syntax
from .literals import PYTHON_ESCAPE, json_string, json_string_fragment, python_escape
from .writer import JOINT, NEXT_KEY, Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine.engine import Engine

_NAME: Final = re.compile(r"\w[\w.\-]*")
_HALF_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-7]{1,2}|N(?:\{[^{}]{0,256})?|\r)?\Z"
)
_LOW: Final = re.compile(r"\\(?:u[dD]|U0000[dD])[c-fC-F][0-9a-fA-F]{2}")
_HALF_LOW: Final = re.compile(
    r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?|U(?:0{0,4}|0{4}[dD](?:[c-fC-F][0-9a-fA-F]?)?))?)?\Z"
)

# Where a reader stands.
_OPEN: Final = 0  # before the list's bracket
_ITEM: Final = 1  # before a call
_AFTER_ITEM: Final = 2
_ARGUMENTS: Final = 3
_OVER: Final = 4
_FIRST_ITEM: Final = 5  # right behind the list's bracket


@lru_cache(maxsize=64)
def _special(quote: str) -> re.Pattern[str]:
    """What a run of text in a string stops at."""
    return re.compile(r"[\\\ud800-\udfff" + quote + "]")


class PythonWriter(Writer):
    """Writes a Python literal, or a call's keyword arguments (frame `c`), as JSON."""

    __slots__ = ()

    def __init__(self, frames: str = "", skip: Why | None = None) -> None:
        super().__init__("'\"", True, frames, skip)

    def _open_string(self, engine: Engine, at: int, prefix: str) -> tuple[int, int]:
        buf = engine.buf
        quote = buf[at]
        head = buf[at : at + 3]
        if head == quote * 3:
            self._quote = prefix + head
            return YES, at + 3
        if head == quote * len(head) and not engine.final:
            return MORE, at
        self._quote = prefix + quote
        return YES, at + 1

    def _plain(self, text: str) -> bool:
        return _special(self._quote[-1]).search(text) is None

    def _string(self, engine: Engine) -> int:
        buf = engine.buf
        end = self._room(engine)
        quote = self._quote.lstrip("rRuU")
        special = _special(quote[0])
        at = engine.pos
        while True:
            match = special.search(buf, at, end)
            stop = end if match is None else match.start()
            if stop > at:
                self._say_text(engine, buf[at:stop], stop)
                engine.pos = at = stop
            if match is None:
                if end < len(buf):
                    engine.why = Why.LIMIT
                    return BROKE
                return MORE
            char = buf[at]
            if char == quote[0]:
                if len(quote) == 3:
                    head = buf[at : at + 3]
                    if head != quote:
                        if head == char * len(head) and at + len(head) == len(buf) and not engine.final:
                            return MORE
                        at += 1
                        self._say_text(engine, char, at)
                        engine.pos = at
                        continue
                engine.pos = at + len(quote)
                self._place = JOINT
                return YES
            if char == "\\":
                code, at = self._escape(engine, at)
            else:
                code = engine.marker_at(at)
                if code == YES:
                    return MARKER
                if code == NO:
                    at += 1
                    self._say(json_string_fragment(engine.restore(char, engine.offset(at - 1))), at)
                    code = YES
            if code != YES:
                return code
            engine.pos = at

    def _escape(self, engine: Engine, at: int) -> tuple[int, int]:
        """The backslash at `at` and what belongs to it: (YES, where the text goes on), MORE or BROKE."""
        buf = engine.buf
        following = buf[at + 1 : at + 2]
        if not following and not engine.final:
            return MORE, at
        private = following != "" and is_private(following)
        if private or self._quote[0] in "rR":
            # A raw string's backslash stays, and so does what follows it: a quote there does not close.
            size = 1 if private else 1 + len(following)
            self._say_text(engine, buf[at : at + size], at + size)
            return YES, at + size
        half = _HALF_ESCAPE.match(buf, at) is not None
        if half and not engine.final:
            return MORE, at
        escape = PYTHON_ESCAPE.match(buf, at)
        char = None if escape is None else python_escape(escape)
        if escape is None or char is None:
            if half:
                return MORE, at
            engine.why = Why.ARGUMENTS
            return BROKE, at
        end = escape.end()
        if 0xD800 <= ord(char[:1] or " ") < 0xDC00:
            low = _LOW.match(buf, end)
            if low is not None:
                pair = char + chr(int(low.group()[-4:], 16))
                char = pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
                end = low.end()
            elif not engine.final and _HALF_LOW.match(buf, end):
                return MORE, at
        if len(char) == 1 and is_private(char):  # half of a pair that has no other half
            char = "\ufffd"
        self._say(json_string_fragment(char), end)
        return YES, end

    def _key(self, engine: Engine, at: int, char: str) -> int:
        if self._frames[-1] == "{":
            prefix = char if char in "rRuU" else ""
            quote = engine.buf[at + len(prefix) : at + len(prefix) + 1]
            if not quote:
                return MORE
            if quote not in self._quotes:
                return NO
            code, start = self._open_string(engine, at + len(prefix), prefix)
            if code == YES:
                lead = ", " if self._place == NEXT_KEY else ""
                self._in_key = True
                self._begin_string(engine, start, lead + '"')
            return code
        code, key, end = keyword(engine, at)
        return self._new_key(engine, key, json_string(key), end) if code == YES else code


def keyword(engine: Engine, at: int) -> tuple[int, str, int]:
    """The parameter's name at `at` and its `=`: (YES, name, where the value begins), MORE or NO."""
    buf = engine.buf
    code, name, end = _name(engine, at)
    if code != YES:
        return code, "", at
    stop = skip_space(buf, end)
    if stop - end > engine.limits.max_layout:
        return NO, "", at
    if stop == len(buf):
        return MORE, "", at
    return (YES, name, stop + 1) if buf[stop] == "=" else (NO, "", at)


def _name(engine: Engine, at: int) -> tuple[int, str, int]:
    """The name at `at`: (YES, name, its end), MORE, or NO where none is or it is too long."""
    buf = engine.buf
    limit = engine.limits.max_name
    match = _NAME.match(buf, at, at + limit + 1)
    if match is None:
        return NO, "", at
    end = match.end()
    if end - at > limit:
        return NO, "", at
    if end == len(buf) and not engine.final:
        return MORE, "", at
    return YES, match.group(), end


@dataclass(frozen=True, slots=True)
class Python(Syntax):
    """A call is a Python call expression with keyword arguments: `add(a=2)`."""

    shape: Literal["list", "lines", "call"] = "list"
    """A list of calls (or an empty one); calls that follow each other, each on its line; or one call."""
    suffix: str = ""
    """What stands behind the function's name and is no part of it (`.call`); it may be missing."""

    def bind(self, spell: Callable[[str], str]) -> Bound:
        return BoundPython(self)


class BoundPython(Bound):
    """Python calls, ready to run."""

    __slots__ = ("syntax",)

    def __init__(self, syntax: Python) -> None:
        super().__init__("[" if syntax.shape == "list" else "", wraps=syntax.shape != "call")
        self.syntax: Final = syntax

    def begins(self, engine: Engine, at: int) -> int:
        """A name with its parenthesis confirms an opener; an empty list does too."""
        buf = engine.buf
        limit = engine.limits.max_layout
        start = skip_space(buf, at)
        if start - at > limit:
            return NO
        if self.syntax.shape == "list":
            if not buf.startswith("[", start):
                return MORE if start == len(buf) else NO
            at = start + 1
            start = skip_space(buf, at)
            if start - at > limit:
                return NO
            if buf.startswith("]", start):
                return YES
        if start == len(buf):
            return MORE
        code, _, end = _name(engine, start)
        if code != YES:
            return code
        start = skip_space(buf, end)
        if start - end > limit:
            return NO
        return MORE if start == len(buf) else YES if buf[start] == "(" else NO

    def open(self) -> Reader:
        return PythonReader(self)


class PythonReader(Reader):
    """Reads one region of Python calls."""

    __slots__ = ("_bound", "_place", "_writer")

    def __init__(self, bound: BoundPython) -> None:
        self._bound = bound
        self._place = _OPEN if bound.syntax.shape == "list" else _ITEM
        self._writer: PythonWriter | None = None
        self.whole = False

    def read(self, engine: Engine) -> int:
        code = YES
        while code == YES:
            if self._place == _ARGUMENTS:
                code = self._arguments(engine)
            elif self._place == _OVER:
                code = DONE
            else:
                code = self._step(engine)
        if code == BROKE and engine.candidate and not engine.had_call:
            return REJECT
        return code

    def _arguments(self, engine: Engine) -> int:
        writer = self._writer
        assert writer is not None
        code = writer.read(engine)
        self.whole = writer.whole
        if code != DONE:
            return code
        if engine.in_call:
            engine.end_call(engine.pos)
        else:
            engine.spoil(engine.pos, Why.UNDECLARED)
        self._writer = None
        self._place = _OVER if self._bound.syntax.shape == "call" else _AFTER_ITEM
        return YES

    def _step(self, engine: Engine) -> int:
        """One token outside of the calls, or the beginning of one."""
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        engine.pos = at
        if self._bound.wraps and (engine.had_call or not engine.candidate):
            engine.drop(at, Why.ENVELOPE)
        elif engine.unaccounted() > engine.limits.max_held:
            engine.why = Why.LIMIT
            return BROKE
        if at == len(buf):
            return MORE
        char = buf[at]
        place = self._place
        if place == _OPEN:
            engine.pos = at + 1  # the bracket that confirmed the opener
            self._place = _FIRST_ITEM
            return YES
        listed = self._bound.syntax.shape == "list"
        if char == "]" and listed and (place != _ITEM or engine.had_call):
            engine.pos = at + 1
            self._place = _OVER
            return DONE if engine.had_call or not engine.candidate else BROKE
        if place != _AFTER_ITEM:
            return self._call(engine, at)
        if not listed:
            code = engine.marker_at(at)
            if code == NO:
                self._place = _ITEM
                return YES
            return MARKER if code == YES else MORE
        if char == ",":
            engine.pos = at + 1
            self._place = _ITEM
            return YES
        return self._unexpected(engine, at)

    def _call(self, engine: Engine, at: int) -> int:
        """The call at `at` starts when its name and what its body begins with are read."""
        buf = engine.buf
        limit = engine.limits.max_layout
        code, name, end = _name(engine, at)
        if code == NO:
            return self._unexpected(engine, at)
        if code == MORE:
            return MORE
        start = skip_space(buf, end)
        if start - end > limit:
            return self._unexpected(engine, at)
        if start == len(buf):
            return MORE
        if buf[start] != "(":
            return self._unexpected(engine, at)
        body = skip_space(buf, start + 1)
        if body - start > limit + 1:
            return self._unexpected(engine, at)
        if body == len(buf):
            return MORE
        if buf[body] != ")":
            code, _, _ = keyword(engine, body)
            if code == MORE:
                return MORE
            if code != YES:
                return self._unexpected(engine, at)
        suffix = self._bound.syntax.suffix
        if suffix and name.endswith(suffix):
            name = name[: -len(suffix)]
        if engine.candidate and not engine.had_call and not engine.knows(name):
            return REJECT
        engine.pos = start + 1
        if not name:
            return BROKE
        self._writer = PythonWriter("c")
        if not engine.start_call(name, start + 1):
            if engine.why is not Why.UNDECLARED or not self._bound.wraps:
                return BROKE
            engine.spoil(start + 1, Why.UNDECLARED)  # its siblings are read
            self._writer = PythonWriter("c", Why.UNDECLARED)
            self._writer.started = True
        self._place = _ARGUMENTS
        self.whole = False
        return YES

    def _unexpected(self, engine: Engine, at: int) -> int:
        """Neither a call nor the end of the list: a marker that counts, or text that breaks the region."""
        code = engine.marker_at(at)
        if code != NO:
            return MARKER if code == YES else MORE
        engine.why = Why.SHAPE
        return BROKE

    # ------------------------------------------------------------------------------

    def cut(self, engine: Engine) -> None:
        if self._writer is not None:
            self._writer.cut(engine)
        if engine.in_call:
            engine.drop(engine.pos, Why.ENVELOPE)
        elif engine.had_call and engine.final and engine.pos < len(engine.buf):
            engine.spoil(len(engine.buf), Why.UNTERMINATED)

    def save(self) -> list[object]:
        return [self._place, self.whole, None if self._writer is None else self._writer.save()]

    def load(self, saved: list[object]) -> None:
        place, whole, writer = saved
        self._place = int(place)  # type: ignore[call-overload]
        self.whole = bool(whole)
        if writer is None and self._place == _ARGUMENTS:
            raise ValueError("arguments without their writer")
        if writer is not None:
            self._writer = PythonWriter()
            self._writer.load(writer)  # type: ignore[arg-type]
