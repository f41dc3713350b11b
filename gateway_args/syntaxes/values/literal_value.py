"""A `LiteralValue` reads one value in a language of literals and writes it as JSON while it arrives.

Shared by the languages that are no JSON: Python's literals and Gemma's. What is the same is here: brackets on an
explicit stack, scalars, what is held back. What a string and a key look like is the dialect's.

Decisions:
- The JSON is written in one layout, a space after each comma and colon. A fragment's source is the text that it came
  from, white space between two values with what follows it; a stretch longer than `max_layout` is dropped as envelope.
- Strings are sent as they grow. A number or a word is sent when it ends, a comma with the value that follows it, so
  that a trailing comma is never written. What one delta gives is one event.
- While a parenthesis could still be a tuple's, what follows it waits (a place for its bracket is kept).
- A key that the arguments have already is a duplicate: its text up to the end of its value is malformed, nothing of it
  is written. Keys of objects further in pass as they are.
- Depth is counted from the value that is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from ...events import Why
from ...strict_json.literals import json_string_fragment, read_python
from ..region import BROKE, DONE, GO, WAIT, Progress, marker_or_fail
from ..scanning import MORE, YES, Verdict
from ..sender import Sender
from ..state import COUNT, COUNTS, FLAG, JOINED, NAMES, TEXT, WHY, Kind, State, choice, optional, part

if TYPE_CHECKING:
    from ..region import Region

# Where reading stands.
VALUE: Final = "value"
FIRST_ITEM: Final = "first item"
NEXT_ITEM: Final = "next item"  # behind a comma
FIRST_KEY: Final = "first key"
NEXT_KEY: Final = "next key"
COLON: Final = "colon"
AFTER: Final = "after"  # behind a value in a bracket
STRING: Final = "string"
JOINT: Final = "joint"  # behind a string that another one may continue
ATOM: Final = "atom"  # in a number or a word
TYPED: Final = "typed"  # in a value that is written at its close
OVER: Final = "over"
_STATES: Final = (
    VALUE, FIRST_ITEM, NEXT_ITEM, FIRST_KEY, NEXT_KEY, COLON, AFTER, STRING, JOINT, ATOM, TYPED, OVER
)  # fmt: skip

_ATOM_CHARS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")  # as JSON has it
_CLOSES: Final = {"]": "[", "}": "{", ")": "("}
_PREFIXES: Final = "rRuU"


class LiteralValue(State):
    """One value in the making. Brackets are `[`, `{`, the call's own `c` (a call's parentheses, written as an object)
    and Python's parentheses: `(` while it may be a pair around one value, `,` once a comma made it a tuple.
    """

    __slots__ = (
        "_atom",
        "_atom_size",
        "_brackets",
        "_doubled",
        "_ends",
        "_in_key",
        "_keys",
        "_keys_size",
        "_lead",
        "_python",
        "_quote",
        "_quotes",
        "_skip",
        "_spread",
        "_state",
        "_undecided",
        "_written",
        "complete",
        "sender",
    )
    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (
        ("sender", part(Sender)),
        ("_undecided", COUNTS),
        ("_skip", optional(WHY)),
        ("_spread", FLAG),
        ("_keys", NAMES),
        ("_atom", JOINED),
        ("_atom_size", COUNT),
        ("_brackets", TEXT),
        ("_state", choice(*_STATES)),
        ("_quote", TEXT),
        ("_in_key", FLAG),
        ("_doubled", FLAG),
        ("_lead", TEXT),
        ("complete", FLAG),
    )

    def __init__(
        self, quotes: str, *, python: bool, brackets: str = "", skip: Why | None = None, started: bool = True
    ) -> None:
        """`quotes` are the characters with which a string can begin; `python` reads parentheses and trailing commas.

        With `skip` nothing is written: the value's text is dropped or malformed for this reason.
        """
        self._quotes: Final = quotes
        self._python: Final = python
        self.sender = Sender(started, "{" if brackets else "")
        self._written: list[str] = []  # fragments of this delta that wait to be sent as one
        self._ends: list[int] = []  # where the text of each ends
        self._undecided: list[int] = []  # where among the fragments that wait such a parenthesis would stand
        self._skip = skip
        self._spread = False  # a long stretch of white space is being dropped
        self._brackets = brackets
        self._state: str = FIRST_KEY if brackets else VALUE
        self._quote = ""  # what closes the string; its prefix is in front, if it has one
        self._in_key = False
        self._doubled = False  # in the second value of a key
        self._keys: set[str] = set()  # of the arguments
        self._lead = ""  # what is written before the number or word
        self._atom: list[str] = []
        self._keys_size = self._atom_size = 0
        self.complete = False

    def load(self, saved: object) -> None:
        super().load(saved)
        self._keys_size = sum(map(len, self._keys))

    def sound(self) -> bool:
        inside = self._state not in (VALUE, OVER, STRING, JOINT, ATOM, TYPED)
        undecided = self._brackets.count("(")
        return (
            set(self._brackets) <= set("[{c(,")
            and (bool(self._brackets) or not inside)
            and len(self._undecided) == undecided
            and all(at < len(self.sender.pending) for at in self._undecided)
            and (self._state == STRING) <= bool(self._quote)
            and (self._state == ATOM) <= bool(self._atom)
            and (bool(self._brackets) or not (self._in_key or self._doubled))
        )

    # ------------------------------------------------------------------------- the dialect's

    def _open_string(self, region: Region, at: int, prefix: str) -> tuple[Verdict, int]:
        """Whether a string opens at `at`, and where its text begins."""
        raise NotImplementedError

    def _string(self, region: Region) -> Progress:
        """Read on inside a string; `_string_over` at its end."""
        raise NotImplementedError

    def _key(self, region: Region, at: int, char: str) -> Progress | None:
        """The key at `at`, with what stands between it and its value where that is held too; None for none."""
        raise NotImplementedError

    def _typed(self, region: Region) -> Progress:
        """Read on inside a value that its type decides."""
        raise NotImplementedError

    def _plain(self, text: str) -> bool:
        """Whether all of this is text of the open string."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------- reading

    def read(self, region: Region) -> Progress:
        """Read on from `region.pos`: DONE behind the value, BROKE at the first character of none, MARKER, WAIT."""
        code: Progress = GO
        while code == GO:
            state = self._state
            if state == STRING:
                code = self._string(region)
            elif state == ATOM:
                code = self._read_atom(region)
            elif state == TYPED:
                code = self._typed(region)
            elif state == OVER:
                code = DONE
            else:
                code = self._step(region)
        if not self._flush(region):
            code = BROKE
        if code == WAIT and self._state == STRING and self._sends and region.pos == len(region.text):
            if region.held == 0 and region.limits.max_arguments is None:
                region.hot(self)
        return code

    def run_on(self, text: str) -> tuple[str, int] | None:
        """The hot path, for text inside a string when nothing is held."""
        if not self._plain(text):
            return None
        json = json_string_fragment(text)
        self.sender.sent += len(json)
        self._spread = False
        return json, 0

    def _step(self, region: Region) -> Progress:
        """One token outside of strings and scalars."""
        text = region.text
        at = region.skip_space()
        if not self._space(region, at):
            return BROKE
        if at == len(text):
            return WAIT
        char = text[at]
        state = self._state
        if state == JOINT:
            return self._joint(region, at, char)
        if state == AFTER:
            if char == ",":
                return self._comma(region, at)
            if char in _CLOSES:
                return self._close(region, at, char)
        elif state == COLON:
            if char == ":":
                region.advance(at + 1)
                self._write(": ", at + 1)
                self._state = VALUE
                return GO
        elif state in (FIRST_KEY, NEXT_KEY):
            if char in _CLOSES and (state == FIRST_KEY or self._python):
                return self._close(region, at, char)
            code = self._key(region, at, char)
            return marker_or_fail(region, at, Why.ARGUMENTS) if code is None else code
        else:
            if char in _CLOSES and (state == FIRST_ITEM or (state == NEXT_ITEM and self._python)):
                return self._close(region, at, char)
            return self._value(region, at, char)
        return marker_or_fail(region, at, Why.ARGUMENTS)

    def _space(self, region: Region, at: int) -> bool:
        """White space up to `at` is held for what follows, within bounds. False: more is held than may be."""
        if self._skip is not None and self.sender.started:
            self._flush(region)
            self._drop(region, at)
            return True
        if not self.sender.sends:
            if region.held <= region.limits.max_held:
                return True
            region.fail(Why.LIMIT)
            return False
        if self._spread or (at - self._ends[-1] if self._ends else region.held) > region.limits.max_layout:
            if not self._flush(region):
                return False
            region.consume(at, Why.ENVELOPE)
            self._spread = True
        return True

    def _value(self, region: Region, at: int, char: str) -> Progress:
        """A value begins at `at`."""
        lead = ", " if self._state == NEXT_ITEM else ""
        if char in "[{" or (char == "(" and self._python):
            if len(self._brackets) >= region.limits.max_depth:
                return region.fail(Why.LIMIT)
            region.advance(at + 1)
            if char == "(":
                if lead:
                    self._write(lead, at)
                if not self._flush(region):
                    return BROKE
                self._undecided.append(len(self.sender.pending))
                self.sender.pending.append("")
                self.sender.sent += 1  # the bracket that it may be
                self.sender.block(True)
            else:
                self._write(lead + char, at + 1)
            self._state = FIRST_KEY if char == "{" else FIRST_ITEM
            self._brackets += char
            return GO
        if char in self._quotes:
            verdict, start = self._open_string(region, at, "")
            if verdict == YES:
                self._begin_string(region, start, lead + '"')
                return GO
            if verdict == MORE:
                return WAIT
        elif char in _ATOM_CHARS:
            self._lead = lead
            self._atom = []
            self._atom_size = 0
            self._state = ATOM
            return GO
        return marker_or_fail(region, at, Why.ARGUMENTS)

    def _begin_string(self, region: Region, start: int, written: str) -> None:
        region.advance(start)
        self._state = STRING
        if written:
            self._write(written, start)

    def _string_over(self, region: Region, end: int) -> None:
        """The string closed right before `end`, and none may continue it."""
        region.advance(end)
        self._write('"', end)
        if self._in_key:
            self._in_key = False
            self._state = COLON
        else:
            self._value_over(region)

    def _joint(self, region: Region, at: int, char: str) -> Progress:
        """Behind a string: another one continues it, anything else ends it."""
        if char in _PREFIXES or char in self._quotes:
            prefix = char if char not in self._quotes else ""
            following = region.text[at + len(prefix) : at + len(prefix) + 1]
            if prefix and not following and not region.final:
                return WAIT
            if following and following in self._quotes:
                verdict, start = self._open_string(region, at + len(prefix), prefix)
                if verdict == YES:
                    self._begin_string(region, start, "")
                    return GO
                return WAIT
        self._string_over(region, at)
        return GO

    def _read_atom(self, region: Region) -> Progress:
        """Read on in a number or a word; it is written at its end."""
        text = region.text
        start = at = region.pos
        end = len(text)
        while at < end and text[at] in _ATOM_CHARS:
            at += 1
        region.advance(at)
        self._atom.append(text[start:at])
        self._atom_size += at - start
        if self._atom[0][0].isalpha():
            if self._atom_size > 5:  # no word is longer than False
                return region.fail(Why.ARGUMENTS)
        elif self._atom_size > region.limits.max_held:
            return region.fail(Why.LIMIT)
        if at == end:
            return WAIT
        written = "".join(self._atom)
        if len(written) == 1 and written in _PREFIXES and text[at] in self._quotes:
            verdict, begin = self._open_string(region, at, written)
            if verdict == MORE:
                self._atom = [written]
                return WAIT
            if verdict == YES:
                self._begin_string(region, begin, self._lead + '"')
                return GO
        return GO if self._write_atom(region, written, at) else region.fail(Why.ARGUMENTS)

    def _write_atom(self, region: Region, written: str, end: int) -> bool:
        json = written
        if _NUMBER.fullmatch(written) is None:
            value = read_python(written, 1)
            if value is None or value.json is None:
                return False
            json = value.json
        self._write(self._lead + json, end)
        self._atom = []
        self._value_over(region)
        return True

    def _value_over(self, region: Region) -> None:
        """A value ended at `region.pos`."""
        if self._doubled and len(self._brackets) == 1:
            self._doubled = False
            self._flush(region)
            region.malformed(region.pos, Why.DUPLICATE)
            self._skip = None
        if self._brackets:
            self._state = AFTER
            return
        self._state = OVER
        self.complete = True

    def _comma(self, region: Region, at: int) -> Progress:
        region.advance(at + 1)
        bracket = self._brackets[-1]
        if bracket == "(":
            if not self._flush(region):
                return BROKE
            self.sender.pending[self._undecided.pop()] = "["
            self._brackets = self._brackets[:-1] + ","
            self._decide(region, at)
        self._state = NEXT_KEY if bracket in "c{" else NEXT_ITEM
        return GO

    def _close(self, region: Region, at: int, char: str) -> Progress:
        bracket = self._brackets[-1]
        if bracket != _CLOSES[char] and not (char == ")" and bracket in "c,"):
            return marker_or_fail(region, at, Why.ARGUMENTS)
        region.advance(at + 1)
        if bracket == "(" and not self._flush(region):
            return BROKE
        self._brackets = self._brackets[:-1]
        if bracket == "c":  # the parenthesis is the call's closer
            self._write("}", at)
        elif bracket == "(":
            slot = self._undecided.pop()
            self.sender.sent -= self._state != FIRST_ITEM  # there is no bracket
            if self._state == FIRST_ITEM:
                self.sender.pending[slot] = "["
                self._write("]", at + 1)
                if not self._flush(region):
                    return BROKE
            self._decide(region, at + 1)
        else:
            self._write("]" if char == ")" else char, at + 1)
        self._value_over(region)
        return GO

    def _decide(self, region: Region, end: int) -> None:
        """A parenthesis is known: what waited for it is sent, unless it stands inside another."""
        self.sender.block(bool(self._undecided))
        if self._sends:
            self.sender.release(region, end)

    def _new_key(self, region: Region, key: str, json: str, end: int) -> Progress:
        """A key (its JSON is `json`) and the colon or equals sign behind it, up to `end`, were read."""
        lead = ", " if self._state == NEXT_KEY else ""
        region.advance(end)
        self._state = VALUE
        if len(self._brackets) == 1 and self._skip is None:
            if key in self._keys:
                if not self._flush(region):
                    return BROKE
                self._skip = Why.DUPLICATE
                self._doubled = True
            else:
                self._keys.add(key)
                self._keys_size += len(key)
                if self._keys_size > region.limits.max_held:
                    return region.fail(Why.LIMIT)
        self._write(lead + json + ": ", end)
        return GO

    def release(self, region: Region, end: int) -> None:
        """The call has started: send what waited, for the text up to `end`."""
        self.sender.start()
        if self._sends:
            self.sender.release(region, end)

    def cut(self, region: Region) -> None:
        """The value ends here, by a marker or the end of the output: what is held and sound is sent."""
        if not self._sends:
            return
        word = True
        if self._state == JOINT:
            self._string_over(region, region.pos)
        elif self._state == ATOM and region.final:
            word = self._atom[0][0].isalpha()
            self._write_atom(region, "".join(self._atom), region.pos)
            self.complete = self.complete and word  # a number that only the end of the output ended may go on
        if self._flush(region) and self._brackets == "c" and self._state == AFTER and word:
            self._close_implied(region)
        if region.final and (region.pos < len(region.text) or self._state in (STRING, ATOM, TYPED)):
            region.malformed(len(region.text), Why.UNTERMINATED)

    def _close_implied(self, region: Region) -> None:
        """Behind whole arguments: where the call is over, the model left its parenthesis out."""
        at = region.pos
        if (region.stopped and at == len(region.text)) or region.marker(at) == YES:
            region.consume(at, Why.ENVELOPE)
            self._brackets = ""
            self._write("}", at)
            if self._flush(region):
                region.consume(at, Why.IMPLICIT_CLOSE)
                self._value_over(region)

    # ------------------------------------------------------------------------------- sending

    @property
    def _sends(self) -> bool:
        return self._skip is None and self.sender.sends

    def _write(self, json: str, end: int) -> None:
        self._written.append(json)
        self._ends.append(end)
        self._spread = False

    def _write_text(self, region: Region, text: str, end: int) -> None:
        """Text of a string, as it stands in JSON. Where a cut may have to be found in it, each character is one."""
        if region.limits.max_arguments is None and not region.divided(end):
            self._write(json_string_fragment(text), end)
            return
        start = end - len(text)
        for n, char in enumerate(text, 1):
            self._write(json_string_fragment(char), start + n)

    def _room(self, region: Region) -> int:
        """How far a string may be read: all of the text, or what may still be held."""
        if self._skip is not None and self.sender.started:
            return len(region.text)
        return self.sender.room(region, region.pos)

    def _drop(self, region: Region, end: int) -> None:
        """Text of a value that is not written. Before the call starts it is held, for the start to account for."""
        if self.sender.started and self._skip is Why.ENVELOPE:
            region.consume(end, Why.ENVELOPE)
        elif self.sender.started:
            region.malformed(end, self._skip or Why.DUPLICATE)

    def _flush(self, region: Region) -> bool:
        """Send what this delta gave. False: not all of it is within the limit."""
        written, ends = self._written, self._ends
        if not written:
            return True
        self._written, self._ends = [], []
        if self._skip is not None:
            self._drop(region, ends[-1])
            return True
        pos = region.pos
        if self.sender.send(region, written, ends, ends[-1]):
            region.advance(pos)
            return True
        self.complete = False
        return False
