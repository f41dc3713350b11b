"""Calls in Gemma's own literals: `call:add{k:<|"|>text<|"|>,n:42,l:[1,2],o:{x:true}}`.

Keys are bare, strings stand between two equal delimiters that nothing escapes: all text up to the next delimiter is the
string, and what follows it must be a comma or a closing bracket (a delimiter that stands for a quote in a text, or one
whose other half is missing, breaks the arguments there; nothing is guessed). Strings and keys in JSON's quotes are
read as JSON has them. Other values are numbers, `true`, `false`, `null` and Python's words, lists and objects.

With `typed`, what stands between delimiters as an argument's value is typed by the tool's schema like a tag's text
(`literals.as_json`): functiongemma writes numbers so too. Further in, it is a string.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ..engine.program import SPACE, is_private, skip_space
from ..events import Why
from .base import BROKE, DONE, MARKER, MORE, NO, YES, Bound, Reader, Syntax
from .literals import as_json, json_string, json_string_fragment, read_json
from .writer import STRING, TYPED, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..engine.engine import Engine
    from ..schema.value_types import ValueType

_NAME: Final = re.compile(r"\w[\w.\-:/]*")
_BARE_KEY: Final = re.compile(r"[^:,{}\[\]\"<\x00-\x1f\ud800-\udfff]+")
_ESCAPE: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_HALF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_QUOTED: Final = re.compile(r'["\\\ud800-\udfff]')
_QUOTED_KEY: Final = re.compile(r'"(?:[^"\\\ud800-\udfff]|\\.)*"')
_HALF_QUOTED_KEY: Final = re.compile(r'"(?:[^"\\\ud800-\udfff]|\\.)*\\?\Z')
_NULLS: Final = ("null", "None")

_CALL: Final = 0
_ARGUMENTS: Final = 1


@lru_cache(maxsize=64)
def _special(first: str) -> re.Pattern[str]:
    """What a run of text between delimiters stops at."""
    return re.compile("[" + re.escape(first) + r"\ud800-\udfff]")


class GemmaWriter(Writer):
    """Writes one object in Gemma's literals as JSON."""

    __slots__ = ("_delimiter", "_key_now", "_text", "_typed_values")

    def __init__(self, delimiter: str, typed: bool) -> None:
        super().__init__('"' + delimiter[0], False)
        self._delimiter: Final = delimiter
        self._typed_values: Final = typed
        self._key_now = ""  # of the argument in flight
        self._text: list[str] = []  # its text, where it is written at its close

    def _open_string(self, engine: Engine, at: int, prefix: str) -> tuple[int, int]:
        if engine.buf[at] == '"':
            self._quote = '"'
            return YES, at + 1
        code, end = self._delimiter_at(engine, at)
        if code == YES:
            self._quote = self._delimiter
        return code, end

    def _delimiter_at(self, engine: Engine, at: int) -> tuple[int, int]:
        """Whether a delimiter stands at `at`, and where it ends."""
        delimiter = self._delimiter
        rest = engine.buf[at : at + len(delimiter)]
        if rest == delimiter:
            return YES, at + len(delimiter)
        return (MORE if delimiter.startswith(rest) and not engine.final else NO), at

    def _begin_string(self, engine: Engine, start: int, said: str) -> None:
        if not self._typed_values or self._quote == '"' or len(self._frames) != 1:
            super()._begin_string(engine, start, said)
            return
        type = self._type(engine)
        if type is not None and type.only_string and not type.nullable:
            super()._begin_string(engine, start, said)
            return
        engine.pos = start
        self._text = []
        self._atom_size = 0
        self._place = TYPED

    def _type(self, engine: Engine) -> ValueType | None:
        return None if engine.tool is None else engine.tool.parameter(self._key_now)

    def _plain(self, text: str) -> bool:
        if self._quote == '"':
            return _QUOTED.search(text) is None
        return self._delimiter[0] not in text and _special(self._delimiter[0]).search(text) is None

    def _string(self, engine: Engine) -> int:
        buf = engine.buf
        quoted = self._quote == '"'
        special = _QUOTED if quoted else _special(self._delimiter[0])
        at = engine.pos
        end = len(buf)
        while True:
            match = special.search(buf, at)
            stop = end if match is None else match.start()
            if stop > at:
                self._say_text(engine, buf[at:stop], stop)
                engine.pos = at = stop
            if match is None:
                return MORE
            char = buf[at]
            if quoted and char == '"':
                self._string_over(engine, at + 1)
                return YES
            if quoted and char == "\\":
                escape = _ESCAPE.match(buf, at)
                if escape is None:
                    if _HALF_ESCAPE.match(buf, at):
                        return MORE
                    engine.why = Why.ARGUMENTS
                    return BROKE
                engine.pos = at = escape.end()
                self._say(escape.group(), at)
                continue
            code, stop, text = self._character(engine, at, quoted)
            if code == DONE:
                self._string_over(engine, stop)
                return YES
            if code != YES:
                return code
            self._say(json_string_fragment(text), stop)
            engine.pos = at = stop

    def _character(self, engine: Engine, at: int, quoted: bool) -> tuple[int, int, str]:
        """What may begin a delimiter or be a marker: DONE at a delimiter, YES with the character, MORE, MARKER."""
        if not quoted:
            code, end = self._delimiter_at(engine, at)
            if code == YES:
                return DONE, end, ""
            if code == MORE:
                return MORE, at, ""
        char = engine.buf[at]
        if is_private(char):
            code = engine.marker_at(at)
            if code != NO:
                return (MARKER if code == YES else MORE), at, ""
            char = engine.restore(char, engine.offset(at))
        return YES, at + 1, char

    def _typed(self, engine: Engine) -> int:
        """A value whose type decides what it is: held to its close."""
        buf = engine.buf
        special = _special(self._delimiter[0])
        type = self._type(engine)
        at = engine.pos
        while True:
            if type is not None and type.only_string:  # the text may be null
                if not self._maybe_null():
                    return self._as_string(engine)
                end = min(len(buf), at + 1)
            else:
                end = min(len(buf), at + max(0, engine.limits.max_held - self._atom_size))
            match = special.search(buf, at, end)
            stop = end if match is None else match.start()
            if stop > at:
                self._keep(engine, buf[at:stop], stop)
                at = stop
            if match is None:
                if at == len(buf):
                    return MORE
                if type is not None and type.only_string:
                    continue
                if self._atom_size < engine.limits.max_held:
                    continue
                code, stop = self._delimiter_at(engine, at)
                if code == MORE:
                    return MORE
                return self._close_typed(engine, stop) if code == YES else self._overlong(engine)
            code, stop, text = self._character(engine, at, False)
            if code == DONE:
                return self._close_typed(engine, stop)
            if code != YES:
                return code
            self._keep(engine, text, stop)
            at = stop

    def _keep(self, engine: Engine, text: str, end: int) -> None:
        self._text.append(text)
        self._atom_size += len(text)
        engine.pos = end

    def _maybe_null(self) -> bool:
        """A string that may be null is sent as soon as it cannot be null any more."""
        text = "".join(self._text)
        return any(null.startswith(text) for null in _NULLS)

    def _overlong(self, engine: Engine) -> int:
        """More text than may be held: a string, where a string may stand."""
        type = self._type(engine)
        if type is None or type.admits("string"):
            return self._as_string(engine)
        engine.why = Why.LIMIT
        return BROKE

    def _as_string(self, engine: Engine) -> int:
        self._place = STRING
        self._say('"' + json_string_fragment("".join(self._text)), engine.pos)
        self._text = []
        return YES

    def _close_typed(self, engine: Engine, end: int) -> int:
        text = "".join(self._text)
        self._text = []
        written = as_json(text, self._type(engine), python=True, max_depth=engine.limits.max_depth - 1)
        if written is None:
            engine.why = Why.LIMIT
            return BROKE
        engine.pos = end
        self._say(written, end)
        self._value_over(engine)
        return YES

    def _key(self, engine: Engine, at: int, char: str) -> int:
        """A key and its colon, held together: bare, in JSON's quotes or between delimiters."""
        buf = engine.buf
        bound = at + 6 * engine.limits.max_name + 2
        quoted = ""  # the key as it stands
        if char == '"':
            match = _QUOTED_KEY.match(buf, at, bound)
            if match is None:
                half = _HALF_QUOTED_KEY.match(buf, at, bound)
                return MORE if half is not None and half.end() < bound else NO
            value = read_json(match.group(), 1)
            if value is None or value.json is None:
                return NO
            quoted = value.json
            key = str(json.loads(quoted))
            end = match.end()
        elif char == self._delimiter[0]:
            code, start = self._delimiter_at(engine, at)
            if code != YES:
                return code
            stop = buf.find(self._delimiter, start, start + bound - at)
            if stop < 0:
                return MORE if len(buf) < bound else NO
            key = engine.restore(buf[start:stop], engine.offset(start))
            end = stop + len(self._delimiter)
        else:
            bare = _BARE_KEY.match(buf, at, at + engine.limits.max_name + 1)
            if bare is None or bare.end() - at > engine.limits.max_name:
                return NO
            key = bare.group().rstrip(SPACE)
            end = bare.end()
        colon = skip_space(buf, end)
        if colon - end > engine.limits.max_layout:
            return NO
        if colon == len(buf):
            return MORE
        if buf[colon] != ":":
            return NO
        if len(self._frames) == 1 and self._skip is None:
            self._key_now = key
        return self._new_key(engine, key, quoted or json_string(key), colon + 1)

    def save(self) -> list[object]:
        return [super().save(), self._key_now, "".join(self._text)]

    def load(self, saved: Sequence[object]) -> None:
        inner, key, value = saved
        super().load(inner)  # type: ignore[arg-type]
        self._key_now = str(key)
        self._text = [str(value)] if value else []


@dataclass(frozen=True, slots=True)
class Gemma(Syntax):
    """A call is a name and an object in Gemma's literals: `call:add{k:<|"|>text<|"|>,n:42}`."""

    delimiter: str
    """What stands before and after a string."""
    prefix: str = "call:"
    """What stands before the function's name."""
    typed: bool = False
    """A value between delimiters is typed by the tool's schema."""

    def check(self) -> tuple[str, str] | None:
        if not self.delimiter:
            return "delimiter", "an empty text delimits no string; say what stands before and after one"
        return None

    def bind(self, spell: Callable[[str], str]) -> Bound:
        return BoundGemma(self, spell)


class BoundGemma(Bound):
    """Gemma's calls, ready to run."""

    __slots__ = ("delimiter", "prefix", "syntax")

    def __init__(self, syntax: Gemma, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.syntax: Final = syntax
        self.delimiter: Final = spell(syntax.delimiter)
        self.prefix: Final = spell(syntax.prefix)

    def begins(self, engine: Engine, at: int) -> int:
        return self.header(engine, at)[0]

    def header(self, engine: Engine, at: int) -> tuple[int, str, int]:
        """The name in front of an object: (YES, name, where the object begins), MORE or NO."""
        buf = engine.buf
        limit = engine.limits.max_layout
        start = skip_space(buf, at)
        if start - at > limit:
            return NO, "", at
        rest = buf[start : start + len(self.prefix)]
        if rest != self.prefix:
            return (MORE if self.prefix.startswith(rest) else NO), "", at
        start += len(rest)
        match = _NAME.match(buf, start, start + engine.limits.max_name + 1)
        if match is None:
            return (MORE if start == len(buf) else NO), "", at
        end = match.end()
        if end - start > engine.limits.max_name:
            return NO, "", at
        stop = skip_space(buf, end)
        if stop - end > limit:
            return NO, "", at
        if stop == len(buf):
            return MORE, "", at
        return (YES, match.group(), stop) if buf[stop] == "{" else (NO, "", at)

    def open(self) -> Reader:
        return GemmaReader(self)


class GemmaReader(Reader):
    """Reads one call in Gemma's literals."""

    __slots__ = ("_bound", "_place", "_writer")

    def __init__(self, bound: BoundGemma) -> None:
        self._bound = bound
        self._place = _CALL
        self._writer = GemmaWriter(bound.delimiter, bound.syntax.typed)
        self.whole = False

    def read(self, engine: Engine) -> int:
        if self._place == _CALL:
            code, name, end = self._bound.header(engine, engine.pos)
            if code != YES:
                engine.why = Why.SHAPE
                return MORE if code == MORE else BROKE
            engine.pos = end
            if not engine.start_call(name, end):
                return BROKE
            self._place = _ARGUMENTS
        code = self._writer.read(engine)
        self.whole = self._writer.whole
        return code

    def cut(self, engine: Engine) -> None:
        if engine.in_call:
            self._writer.cut(engine)
            engine.drop(engine.pos, Why.ENVELOPE)

    def save(self) -> list[object]:
        return [self._place, self.whole, self._writer.save()]

    def load(self, saved: list[object]) -> None:
        place, whole, writer = saved
        self._place = int(place)  # type: ignore[call-overload]
        self.whole = bool(whole)
        self._writer.load(writer)  # type: ignore[arg-type]
