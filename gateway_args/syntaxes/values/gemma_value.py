"""Gemma's own literals, written as JSON: `{k:<|"|>text<|"|>,n:42,l:[1,2],o:{x:true}}`.

Keys are bare, strings stand between two equal delimiters that nothing escapes: all text up to the next delimiter is the
string, and what follows it must be a comma or a closing bracket (a delimiter that stands for a quote in a text breaks
the arguments there; nothing is guessed). Strings and keys in JSON's quotes are read as JSON has them. Other values are
numbers, `true`, `false`, `null` and Python's words, lists and objects.

Text without delimiters that is none of these is a string where the tool does not exclude one, and where it declares a
string a number is one too. It ends at a closing bracket, at a comma (in an object at one that a key follows) or at the
delimiter that should have closed it.

With `typed`, what stands between delimiters as an argument's value is typed by the tool's schema like a tag's text
(`typed_text.as_json`): functiongemma writes numbers so too. Further in, it is a string.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from ...events import Why
from ...strict_json.literals import json_string, json_string_fragment, read_json, read_python
from ..region import GO, MARKER, WAIT, Progress
from ..scanning import MORE, NO, SPACE, YES, Verdict, is_private, layout, literal
from ..state import JOINED, TEXT, Kind
from .escapes import ESCAPE, half_escape
from .literal_value import ATOM, NEXT_ITEM, STRING, TYPED, LiteralValue
from .typed_text import as_json

if TYPE_CHECKING:
    from ...schema.value_types import ValueType
    from ..region import Region

_BARE_KEY: Final = re.compile(r"[^:,{}\[\]\"<\x00-\x1f\ud800-\udfff]+")
_WORD_KEY: Final = re.compile(r"[^\s:,{}\[\]\"<\x00-\x1f\ud800-\udfff]+")  # one behind a text without delimiters
_QUOTED: Final = re.compile(r'["\\\ud800-\udfff]')
_QUOTED_KEY: Final = re.compile(r'"(?:[^"\\\ud800-\udfff]|\\[^\ud800-\udfff])*"')
_HALF_QUOTED_KEY: Final = re.compile(r'"(?:[^"\\\ud800-\udfff]|\\[^\ud800-\udfff])*\\?\Z')
_LONGEST_WORD: Final = 5
_LONGEST_LITERAL: Final = 256  # that ends at a comma whatever follows it
_NO_VALUE: Final = frozenset(",:]}")
_NULLS: Final = ("null", "None")


@lru_cache(maxsize=64)
def _special(first: str) -> re.Pattern[str]:
    """What a run of text between delimiters stops at."""
    return re.compile("[" + re.escape(first) + r"\ud800-\udfff]")


@lru_cache(maxsize=64)
def _bare_special(first: str) -> re.Pattern[str]:
    """What text without delimiters stops at, to be looked at."""
    return re.compile(r"[,\]}<" + re.escape(first) + r"\ud800-\udfff]")


class GemmaValue(LiteralValue):
    """One object in Gemma's literals."""

    __slots__ = ("_delimiter", "_kept", "_key_now", "_typed_values")
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        *LiteralValue.FIELDS,
        ("_key_now", TEXT),
        ("_kept", JOINED),
    )

    def __init__(self, delimiter: str, typed: bool) -> None:
        super().__init__('"' + delimiter[0], python=False)
        self._delimiter: Final = delimiter
        self._typed_values: Final = typed
        self._key_now = ""  # of the argument in flight
        self._kept: list[str] = []  # its text, where it is written at its close

    def _open_string(self, region: Region, at: int, prefix: str) -> tuple[Verdict, int]:
        if region.text[at] == '"':
            self._quote = '"'
            return YES, at + 1
        verdict = literal(region.text, at, self._delimiter, region.final)
        if verdict == YES:
            self._quote = self._delimiter
            return YES, at + len(self._delimiter)
        return verdict, at

    def _begin_string(self, region: Region, start: int, written: str) -> None:
        if not self._typed_values or self._quote == '"' or len(self._brackets) != 1:
            super()._begin_string(region, start, written)
            return
        type = self._type(region)
        if type is not None and type.only_string and not type.nullable:
            super()._begin_string(region, start, written)
            return
        region.advance(start)
        self._kept = []
        self._atom_size = 0
        self._state = TYPED

    def _value(self, region: Region, at: int, char: str) -> Progress:
        if char in _NO_VALUE or char in "[{" or char in self._quotes or is_private(char):
            return super()._value(region, at, char)
        self._lead = ", " if self._state == NEXT_ITEM else ""
        self._atom = []
        self._atom_size = 0
        self._state = ATOM
        return GO

    def _read_atom(self, region: Region) -> Progress:
        """Read on in a value without delimiters, up to what ends it."""
        text = region.text
        special = _bare_special(self._delimiter[0])
        at = start = region.pos
        code: Progress = GO
        decoded: str | None = ""
        while True:
            match = special.search(text, at)
            at = len(text) if match is None else match.start()
            if match is None:
                code = WAIT
                break
            char = text[at]
            if char in ",]}":
                ends = self._bare_ends(region, at, char)
                if ends == YES:
                    break
                if ends == MORE:
                    code = WAIT
                    break
                at += 1
                continue
            if region.marker(at) != NO:
                code = GO if region.marker(at) == YES else WAIT
                break
            if at > start:  # what may be a delimiter or a marker is looked at by itself
                self._keep_atom(region, text[start:at], at)
                start = at
            code, at, decoded = self._character(region, at, False)
            if code == WAIT:
                at = start
                break
            if decoded is None:
                return self._close_atom(region, at)
            self._keep_atom(region, decoded, at)
            start = at
        if at > start:
            self._keep_atom(region, text[start:at], at)
        if self._atom_size > region.limits.max_held:
            return region.fail(Why.LIMIT)
        if code == WAIT and self._atom_size > _LONGEST_WORD and self._atom[0][0].isalpha() and not self._texts(region):
            return region.fail(Why.ARGUMENTS)
        return self._close_atom(region, region.pos) if code == GO else code

    def _keep_atom(self, region: Region, text: str, end: int) -> None:
        self._atom.append(text)
        self._atom_size += len(text)
        region.advance(end)

    def _bare_ends(self, region: Region, at: int, char: str) -> Verdict:
        """Whether a value without delimiters ends at this comma or bracket; a number or a word does at any."""
        bracket = self._brackets[-1]
        if bracket == "[" and char != "}":
            return YES
        size = self._atom_size + at - region.pos
        if size <= _LONGEST_LITERAL and self._bare_literal(region, region.text[region.pos : at]) is not None:
            return YES
        if char != ",":
            return YES if (char == "]") == (bracket == "[") else NO
        text = region.text
        verdict, first = layout(text, at + 1, region.limits.max_layout)
        if verdict != YES:
            return NO if region.final else verdict
        if text[first] in self._quotes:
            return YES
        key = _WORD_KEY.match(text, first, first + region.limits.max_name + 1)
        if key is None or key.end() - first > region.limits.max_name:
            return NO
        verdict, colon = layout(text, key.end(), region.limits.max_layout)
        if verdict != YES:
            return NO if region.final else verdict
        return YES if text[colon] == ":" else NO

    def _bare_literal(self, region: Region, more: str = "") -> str | None:
        """The number or word that the value without delimiters is, with the text that follows it."""
        text = ("".join(self._atom) + more).rstrip(SPACE)
        if text in _NULLS:
            return "null"
        type = self._type(region) if len(self._brackets) == 1 else None
        if type is not None and type.only_string:
            return None
        value = read_json(text, 1) or read_python(text, 1)
        return None if value is None or value.kind == "string" else value.json

    def _texts(self, region: Region) -> bool:
        """Whether the value in flight may be a string, for all that the tool says."""
        type = self._type(region) if len(self._brackets) == 1 else None
        return type is None or type.untyped or type.admits("string")

    def _close_atom(self, region: Region, end: int) -> Progress:
        """The value without delimiters is over; `end` is behind its closing delimiter, if it has one."""
        text = "".join(self._atom).rstrip(SPACE)
        written = self._bare_literal(region) if end == region.pos else None
        if written is None:
            if not self._texts(region):
                return region.fail(Why.ARGUMENTS)
            written = json_string(text)
        region.advance(end)
        self._write(self._lead + written, end)
        self._atom = []
        self._value_over(region)
        return GO

    def _write_atom(self, region: Region, written: str, end: int) -> bool:
        """At a cut: a number or a word, where the tool declares no string."""
        type = self._type(region) if len(self._brackets) == 1 else None
        return (type is None or not type.only_string) and super()._write_atom(region, written, end)

    def _type(self, region: Region) -> ValueType | None:
        tool = region.call.tool
        return None if tool is None else tool.parameter(self._key_now)

    def _plain(self, text: str) -> bool:
        if self._quote == '"':
            return _QUOTED.search(text) is None
        return self._delimiter[0] not in text and _special(self._delimiter[0]).search(text) is None

    def _string(self, region: Region) -> Progress:
        text = region.text
        quoted = self._quote == '"'
        special = _QUOTED if quoted else _special(self._delimiter[0])
        at = region.pos
        end = len(text)
        while True:
            match = special.search(text, at)
            stop = end if match is None else match.start()
            if stop > at:
                self._write_text(region, text[at:stop], stop)
                region.advance(stop)
                at = stop
            if match is None:
                return WAIT
            char = text[at]
            if quoted and char == '"':
                self._string_over(region, at + 1)
                return GO
            if quoted and char == "\\":
                escape = ESCAPE.match(text, at)
                if escape is None:
                    return WAIT if half_escape(text, at) else region.fail(Why.ARGUMENTS)
                at = escape.end()
                region.advance(at)
                self._write(escape.group(), at)
                continue
            code, stop, decoded = self._character(region, at, quoted)
            if code != GO:
                return code
            if decoded is None:
                self._string_over(region, stop)
                return GO
            self._write(json_string_fragment(decoded), stop)
            region.advance(stop)
            at = stop

    def _character(self, region: Region, at: int, quoted: bool) -> tuple[Progress, int, str | None]:
        """What may begin a delimiter or be a marker: (GO, its end, the character), None in its place at a delimiter."""
        if not quoted:
            verdict = literal(region.text, at, self._delimiter, region.final)
            if verdict == YES:
                return GO, at + len(self._delimiter), None
            if verdict == MORE:
                return WAIT, at, ""
        if not is_private(region.text[at]):
            return GO, at + 1, region.text[at]
        verdict = region.marker(at)
        if verdict != NO:
            return (MARKER if verdict == YES else WAIT), at, ""
        return GO, at + 1, region.data(at, at + 1)

    def _typed(self, region: Region) -> Progress:
        """A value whose type decides what it is: held to its close."""
        text = region.text
        special = _special(self._delimiter[0])
        type = self._type(region)
        only_string = type is not None and type.only_string  # the text may be null
        most = region.limits.max_held
        at = region.pos
        while True:
            if only_string:
                if not self._maybe_null():
                    return self._as_string(region)
                end = min(len(text), at + 1)
            else:
                end = min(len(text), at + max(0, most - self._atom_size))
            match = special.search(text, at, end)
            stop = end if match is None else match.start()
            if stop > at:
                self._keep(region, text[at:stop], stop)
                at = stop
            if match is None:
                if at == len(text):
                    return WAIT
                if only_string or self._atom_size < most:
                    continue
                verdict = literal(text, at, self._delimiter, region.final)
                if verdict == MORE:
                    return WAIT
                if verdict == YES:
                    return self._close_typed(region, at + len(self._delimiter))
                return self._overlong(region)
            code, stop, decoded = self._character(region, at, False)
            if code != GO:
                return code
            if decoded is None:
                return self._close_typed(region, stop)
            self._keep(region, decoded, stop)
            at = stop

    def _keep(self, region: Region, text: str, end: int) -> None:
        self._kept.append(text)
        self._atom_size += len(text)
        region.advance(end)

    def _maybe_null(self) -> bool:
        """A string that may be null is sent as soon as it cannot be null any more."""
        text = "".join(self._kept)
        return any(null.startswith(text) for null in _NULLS)

    def _overlong(self, region: Region) -> Progress:
        """More text than may be held: a string, where a string may stand."""
        type = self._type(region)
        if type is None or type.admits("string"):
            return self._as_string(region)
        return region.fail(Why.LIMIT)

    def _as_string(self, region: Region) -> Progress:
        self._state = STRING
        self._write('"' + json_string_fragment("".join(self._kept)), region.pos)
        self._kept = []
        return GO

    def _close_typed(self, region: Region, end: int) -> Progress:
        text = "".join(self._kept)
        self._kept = []
        written = as_json(text, self._type(region), python=True, max_depth=region.limits.max_depth - 1)
        if written is None:
            return region.fail(Why.LIMIT)
        region.advance(end)
        self._write(written, end)
        self._value_over(region)
        return GO

    def _key(self, region: Region, at: int, char: str) -> Progress | None:
        """A key and its colon, held together: bare, in JSON's quotes or between delimiters."""
        text = region.text
        bound = at + 6 * region.limits.max_name + 2
        quoted = ""  # the key as it stands
        if char == '"':
            match = _QUOTED_KEY.match(text, at, bound)
            if match is None:
                half = _HALF_QUOTED_KEY.match(text, at, bound)
                return WAIT if half is not None and half.end() < bound else None
            value = read_json(match.group(), 1)
            if value is None or value.json is None:
                return None
            quoted = value.json
            key = str(json.loads(quoted))
            end = match.end()
        elif char == self._delimiter[0]:
            verdict = literal(text, at, self._delimiter, region.final)
            if verdict != YES:
                return WAIT if verdict == MORE else None
            start = at + len(self._delimiter)
            stop = text.find(self._delimiter, start, start + bound - at)
            if stop < 0:
                return WAIT if len(text) < bound else None
            key = region.data(start, stop)
            end = stop + len(self._delimiter)
        else:
            bare = _BARE_KEY.match(text, at, at + region.limits.max_name + 1)
            if bare is None or bare.end() - at > region.limits.max_name:
                return None
            key = bare.group().rstrip(SPACE)
            end = bare.end()
        verdict, colon = layout(text, end, region.limits.max_layout)
        if verdict == MORE:
            return WAIT
        if verdict == NO or text[colon] != ":":
            return None
        if len(self._brackets) == 1 and self._skip is None:
            self._key_now = key
        return self._new_key(region, key, quoted or json_string(key), colon + 1)
