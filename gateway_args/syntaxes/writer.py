"""A `Writer` reads one value in a language of literals and writes it as JSON while it arrives.

Shared by the syntaxes whose values are no JSON: Python's literals and Gemma's. What is the same is here: brackets on
an explicit stack, scalars, what is held back, sending. What a string and a key look like is the dialect's.

Decisions:
- The JSON is written in one layout, a space after each comma and colon. A fragment's source is the text that it came
  from, white space between two values with what follows it; a stretch longer than `max_layout` is dropped as envelope.
- Strings are sent as they grow. A number or a word is sent when it ends, a comma with the value that follows it, so
  that a trailing comma is never written.
- A key that the arguments have already is a duplicate: its text up to the end of its value is malformed, nothing of it
  is written. Keys of objects further in pass as they are.
- Depth is counted from the value that the writer reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..engine.program import skip_space
from ..events import Why
from ..sealing import set_fields
from .base import BROKE, DONE, MARKER, MORE, NO, YES
from .fragments import Fragments
from .literals import json_string_fragment, read_python

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.engine import Engine

# Where a writer stands.
VALUE: Final = 0
FIRST_ITEM: Final = 1
NEXT_ITEM: Final = 2  # behind a comma
FIRST_KEY: Final = 3
NEXT_KEY: Final = 4
COLON: Final = 5
AFTER: Final = 6  # behind a value in a bracket
STRING: Final = 7
JOINT: Final = 8  # behind a string that another one may continue
ATOM: Final = 9  # in a number or a word
TYPED: Final = 10  # in a value that is written at its close
OVER: Final = 11

_ATOM_CHARS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")  # as JSON has it
_CLOSES: Final = {"]": "[", "}": "{", ")": "("}


# What of a writer is saved as it is.
_FIELDS: Final = ("_frames", "_place", "_quote", "_in_key", "_doubled", "_lead", "_atom_size", "whole")


class Writer(Fragments):
    """One value in the making. Frames are `[`, `{`, the call's own `c` (a call's parentheses, written as an object)
    and Python's parentheses: `(` while it may be a pair around one value, `,` once a comma made it a tuple.
    """

    __slots__ = (
        "_atom",
        "_atom_size",
        "_doubled",
        "_frames",
        "_in_key",
        "_keys",
        "_keys_size",
        "_lead",
        "_place",
        "_python",
        "_quote",
        "_quotes",
        "whole",
    )

    def __init__(self, quotes: str, python: bool, frames: str = "", skip: Why | None = None) -> None:
        """`quotes` are the characters with which a string can begin; `python` reads parentheses and trailing commas.

        With `skip` nothing is written: the value's text is dropped or malformed for this reason.
        """
        super().__init__(skip)
        self._quotes: Final = quotes
        self._python: Final = python
        self._frames = frames
        self._place = FIRST_KEY if frames else VALUE
        self._quote = ""  # what closes the string; its prefix is in front, if it has one
        self._in_key = False
        self._doubled = False  # in the second value of a key
        self._keys: set[str] = set()  # of the arguments
        self._keys_size = 0
        self._lead = ""  # what is written before the number or word
        self._atom: list[str] = []
        self._atom_size = 0
        if frames:
            self._pending.append("{")

    # ------------------------------------------------------------------------- the dialect's

    def _open_string(self, engine: Engine, at: int, prefix: str) -> tuple[int, int]:
        """The string at `at` opens: (YES, where its text begins), MORE, or NO where none does."""
        raise NotImplementedError

    def _string(self, engine: Engine) -> int:
        """Read on inside a string; `_string_over` at its end."""
        raise NotImplementedError

    def _key(self, engine: Engine, at: int, char: str) -> int:
        """The key at `at`, with what stands between it and its value where that is held back together."""
        raise NotImplementedError

    def _typed(self, engine: Engine) -> int:
        """Read on inside a value that its type decides."""
        raise NotImplementedError

    def _plain(self, text: str) -> bool:
        """Whether all of this is text of the open string."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------- reading

    def read(self, engine: Engine) -> int:
        """Read on from `engine.pos`: DONE behind the value, BROKE at the first character of none, MARKER, MORE."""
        code = YES
        while code == YES:
            place = self._place
            if place == STRING:
                code = self._string(engine)
            elif place == ATOM:
                code = self._atomic(engine)
            elif place == TYPED:
                code = self._typed(engine)
            elif place == OVER:
                code = DONE
            else:
                code = self._step(engine)
        if not self._flush(engine):
            code = BROKE
        if code == MORE and self._place == STRING and engine.pos == engine.mark == len(engine.buf) and self._sends:
            engine.plain = self
        return code

    def run_on(self, engine: Engine, text: str) -> bool:
        """The hot path, for text inside a string when nothing is held. False: nothing was done."""
        if engine.limits.max_arguments is not None or not self._plain(text):
            return False
        json = json_string_fragment(text)
        size = len(text)
        if json == text:
            engine.pass_through(text, size)
        elif engine.controls:
            return False
        else:
            engine.buf = text
            engine.mark = 0
            engine.pos = size
            engine.arguments(json, size)
        return True

    def _step(self, engine: Engine) -> int:
        """One token outside of strings and scalars."""
        buf = engine.buf
        at = skip_space(buf, engine.pos)
        engine.pos = at
        if not self._space(engine, at):
            return BROKE
        if at == len(buf):
            return MORE
        char = buf[at]
        place = self._place
        if place == JOINT:
            return self._joint(engine, at, char)
        if place == AFTER:
            if char == ",":
                return self._comma(engine, at)
            if char in _CLOSES:
                return self._close(engine, at, char)
        elif place == COLON:
            if char == ":":
                engine.pos = at + 1
                self._say(": ", at + 1)
                self._place = VALUE
                return YES
        elif place == FIRST_KEY or place == NEXT_KEY:
            if char in _CLOSES and (place == FIRST_KEY or self._python):
                return self._close(engine, at, char)
            code = self._key(engine, at, char)
            return self._unexpected(engine, at) if code == NO else code
        else:
            if char in _CLOSES and (place == FIRST_ITEM or (place == NEXT_ITEM and self._python)):
                return self._close(engine, at, char)
            return self._value(engine, at, char)
        return self._unexpected(engine, at)

    def _space(self, engine: Engine, at: int) -> bool:
        """White space up to `at` is held for what follows, within bounds. False: more is held than may be."""
        if self._skip is not None and self.started:
            self._flush(engine)
            self._drop(engine, at)
            return True
        held = engine.held + at - engine.mark
        if not self._sends:
            if held <= engine.limits.max_held:
                return True
            engine.why = Why.LIMIT
            return False
        if self._spread or (at - self._ends[-1] if self._ends else held) > engine.limits.max_layout:
            if not self._flush(engine):
                return False
            engine.drop(at, Why.ENVELOPE)
            self._spread = True
        return True

    def _unexpected(self, engine: Engine, at: int) -> int:
        """A character that no value continues: a marker that counts, or the end of the value."""
        verdict = engine.marker_at(at)
        if verdict == YES:
            return MARKER
        if verdict == MORE:
            return MORE
        engine.why = Why.ARGUMENTS
        return BROKE

    def _value(self, engine: Engine, at: int, char: str) -> int:
        """A value begins at `at`."""
        lead = ", " if self._place == NEXT_ITEM else ""
        if char in "[{" or (char == "(" and self._python):
            if len(self._frames) >= engine.limits.max_depth:
                engine.why = Why.LIMIT
                return BROKE
            engine.pos = at + 1
            self._place = FIRST_KEY if char == "{" else FIRST_ITEM
            self._frames += char
            if char != "(":
                self._say(lead + char, at + 1)
                return YES
            if lead:
                self._say(lead, at)
            if not self._flush(engine):
                return BROKE
            self._undecided.append(len(self._pending))
            self._pending.append("")
            return YES
        if char in self._quotes:
            code, start = self._open_string(engine, at, "")
            if code == YES:
                self._begin_string(engine, start, lead + '"')
                return YES
            if code == MORE:
                return MORE
        elif char in _ATOM_CHARS:
            self._lead = lead
            self._atom = []
            self._atom_size = 0
            self._place = ATOM
            return YES
        return self._unexpected(engine, at)

    def _begin_string(self, engine: Engine, start: int, said: str) -> None:
        engine.pos = start
        self._place = STRING
        if said:
            self._say(said, start)

    def _string_over(self, engine: Engine, end: int) -> None:
        """The string closed right before `end`, and none may continue it."""
        engine.pos = end
        self._say('"', end)
        if self._in_key:
            self._in_key = False
            self._place = COLON
        else:
            self._value_over(engine)

    def _joint(self, engine: Engine, at: int, char: str) -> int:
        """Behind a string: another one continues it, anything else ends it."""
        if char in "rRuU" or char in self._quotes:
            prefix = char if char not in self._quotes else ""
            following = engine.buf[at + len(prefix) : at + len(prefix) + 1]
            if prefix and not following and not engine.final:
                return MORE
            if following and following in self._quotes:
                code, start = self._open_string(engine, at + len(prefix), prefix)
                if code == YES:
                    self._begin_string(engine, start, "")
                return code
        self._string_over(engine, at)
        return YES

    def _atomic(self, engine: Engine) -> int:
        """Read on in a number or a word; it is written at its end."""
        buf = engine.buf
        start = at = engine.pos
        end = len(buf)
        while at < end and buf[at] in _ATOM_CHARS:
            at += 1
        engine.pos = at
        self._atom.append(buf[start:at])
        self._atom_size += at - start
        if self._atom[0][0].isalpha():
            if self._atom_size > 5:  # no word is longer than False
                engine.why = Why.ARGUMENTS
                return BROKE
        elif self._atom_size > engine.limits.max_held:
            engine.why = Why.LIMIT
            return BROKE
        if at == end:
            return MORE
        written = "".join(self._atom)
        if written in tuple("rRuU") and buf[at] in self._quotes:
            code, begin = self._open_string(engine, at, written)
            if code == MORE:
                self._atom = [written]
                return MORE
            if code == YES:
                self._begin_string(engine, begin, self._lead + '"')
                return YES
        if not self._write_atom(engine, written, at):
            engine.why = Why.ARGUMENTS
            return BROKE
        return YES

    def _write_atom(self, engine: Engine, written: str, end: int) -> bool:
        json = written
        if _NUMBER.fullmatch(written) is None:
            value = read_python(written, 1)
            if value is None or value.json is None:
                return False
            json = value.json
        self._say(self._lead + json, end)
        self._atom = []
        self._value_over(engine)
        return True

    def _value_over(self, engine: Engine) -> None:
        """A value ended at `engine.pos`."""
        if self._doubled and len(self._frames) == 1:
            self._doubled = False
            self._flush(engine)
            engine.spoil(engine.pos, Why.DUPLICATE)
            self._skip = None
        if self._frames:
            self._place = AFTER
            return
        self._place = OVER
        self.whole = True

    def _comma(self, engine: Engine, at: int) -> int:
        engine.pos = at + 1
        frame = self._frames[-1]
        if frame == "(":
            if not self._flush(engine):
                return BROKE
            self._pending[self._undecided.pop()] = "["
            self._frames = self._frames[:-1] + ","
            self._decide(engine, at)
        self._place = NEXT_KEY if frame in "c{" else NEXT_ITEM
        return YES

    def _close(self, engine: Engine, at: int, char: str) -> int:
        frame = self._frames[-1]
        if frame != _CLOSES[char] and not (char == ")" and frame in "c,"):
            return self._unexpected(engine, at)
        self._frames = self._frames[:-1]
        engine.pos = at + 1
        if frame == "c":  # the parenthesis is the call's closer
            self._say("}", at)
        elif frame == "(":
            self._flush(engine)
            slot = self._undecided.pop()
            if self._place == FIRST_ITEM:
                self._pending[slot] = "["
                self._say("]", at + 1)
                self._flush(engine)
            self._decide(engine, at + 1)
        else:
            self._say("]" if char == ")" else char, at + 1)
        self._value_over(engine)
        return YES

    def _decide(self, engine: Engine, end: int) -> None:
        """A parenthesis is known: what waited for it is sent, unless it stands inside another."""
        if self._sends:
            self._release(engine, end)

    def _new_key(self, engine: Engine, key: str, json: str, end: int) -> int:
        """A key (its JSON is `json`) and the colon or equals sign behind it, up to `end`, were read."""
        lead = ", " if self._place == NEXT_KEY else ""
        engine.pos = end
        self._place = VALUE
        if len(self._frames) == 1 and self._skip is None:
            if key in self._keys:
                if not self._flush(engine):
                    return BROKE
                self._skip = Why.DUPLICATE
                self._doubled = True
            else:
                self._keys.add(key)
                self._keys_size += len(key)
                if self._keys_size > engine.limits.max_held:
                    engine.why = Why.LIMIT
                    return BROKE
        self._say(lead + json + ": ", end)
        return YES

    def cut(self, engine: Engine) -> None:
        """The value ends here, by a marker or the end of the output: what is held and sound is sent."""
        if not self.started or self._skip is not None or self._undecided:
            return
        if self._place == JOINT:
            self._string_over(engine, engine.pos)
        elif self._place == ATOM and engine.final:
            word = self._atom[0][0].isalpha()
            self._write_atom(engine, "".join(self._atom), engine.pos)
            self.whole = self.whole and word  # a number that only the end of the output ended may have more digits
        self._flush(engine)
        if engine.final and (engine.pos < len(engine.buf) or self._place in (STRING, ATOM, TYPED)):
            engine.spoil(len(engine.buf), Why.UNTERMINATED)

    # ------------------------------------------------------------------------------

    def save(self) -> list[object]:
        return [
            super().save(),
            sorted(self._keys),
            "".join(self._atom),
            *(getattr(self, name) for name in _FIELDS),
        ]

    def load(self, saved: Sequence[object]) -> None:
        fragments, keys, atom, *fields = saved
        super().load(fragments)  # type: ignore[arg-type]
        self._keys = set(keys)  # type: ignore[call-overload]
        self._keys_size = sum(map(len, self._keys))
        self._atom = [str(atom)] if atom else []
        set_fields(self, _FIELDS, fields)
