"""The machine under the builder reads one token at a time, or what a piece has of it, and whole runs of them at once.

`read_token` goes on from the place that the last piece left; `read_run` and `read_nested` take members, elements and
containers that are all there. What they find wrong is left to be found again token by token, which says where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from . import lexis
from .frame import NOTHING, UNSEEN, Digits, Frame, Text
from .lexis import DEPTH, LITERALS, LONGEST_NUMBER, whole

if TYPE_CHECKING:
    import re

    from ..limits import Limits
    from ..schema.path import Step

# The places of the machine. The first five are where a value may begin, its key first in the first two.
FIRST_KEY: Final = 0
KEY: Final = 1
FIRST_ITEM: Final = 2
ITEM: Final = 3
VALUE: Final = 4  # behind a colon, and at the root
AFTER: Final = 5
IN_STRING: Final = 6
COLON: Final = 7
IN_KEY: Final = 8
IN_NUMBER: Final = 9
IN_LITERAL: Final = 10
END: Final = 11

_OPENERS: Final = {"]": "[", "}": "{"}
_CLOSERS: Final = {"[": "]", "{": "}"}


class Machine:
    """Where the text stands: the spine (`frames`, `step`, `leaf`), the place in it, and the token that a piece cut."""

    __slots__ = (
        *("_began", "_deep", "_doubt", "_held", "_key", "_number", "_place", "_text", "_trailing", "_word"),
        *("done", "frames", "leaf", "step"),
    )

    def __init__(self, limits: Limits, trailing: bool) -> None:
        self._trailing = trailing  # whether any text may stand behind the value
        self._deep = limits.max_depth - DEPTH  # open containers in which what nests is read at once
        self._doubt = False  # whether what was read at once held a fault, so that it is looked for token by token
        self._place = VALUE
        self._held = ""  # an escape or a short key that its piece cut
        self._text = Text()  # the string in flight
        self._key = Text()  # the key in flight
        self._began = 0  # where it began
        self._word = ""  # the number or literal in flight
        self._number = ""  # its place in `NUMBER_PLACES`
        self.frames: list[Frame] = []
        self.step: Step | None = None  # of the leaf, in the innermost frame
        self.leaf: Any = NOTHING
        self.done = False

    def read_run(self, frame: Frame, text: str, pos: int, base: int) -> tuple[int, str]:
        """Read whole members or elements at once, as many as come: where they end, behind a comma or the closer."""
        closer = frame.closer
        read = None
        if not self._doubt and len(self.frames) <= self._deep:
            read = (lexis.elements if closer == "]" else lexis.members)(text, pos)
        if read is None or not (run := read[0]):
            return pos, ","
        after = "," if run[-1] == "," else closer
        items: Any = frame.items
        try:
            more = whole(f"{_OPENERS[closer]}{run[:-1] if after == ',' else run}{closer}")
            if closer == "]":
                items += more
            elif items.keys().isdisjoint(more):
                items.update(more)
                frame.keys += more
            else:
                raise ValueError("duplicate key")
        except ValueError:
            self._doubt = True
            return pos, ","
        end = read.end() + (after == closer)
        frame.marks += [base + end] * len(more)
        return end, after

    def read_nested(self, text: str, pos: int, opener: str) -> tuple[Any, int, str] | None:
        """The container that opens here, where it ends and the separator, if it is there, sound and not too deep."""
        if self._doubt or not 0 < len(self.frames) <= self._deep or text.find(_CLOSERS[opener], pos) < 0:
            return None
        read = lexis.nested(text, pos)
        if read is None:
            return None
        try:
            return whole(read[1]), read.end(1), read[2]
        except ValueError:
            self._doubt = True
            return None

    def read_token(self, text: str, pos: int, base: int) -> tuple[int, str]:
        """Read one token, or what the piece has of it, from the place it is in: where it ends, and its fault."""
        size = len(text)
        place = self._place
        if place == IN_KEY:
            end = lexis.run(text, pos).end()  # type: ignore[union-attr]
            if end > pos:
                self._key.append(lexis.unescape(text[pos:end]))
            if end == size:
                return end, ""
            if text[end] == "\\":
                return self.read_escape(text, end)
            self.step = "".join(self._key)
            if self.step in self.frames[-1].items:
                return self._began - base, f"duplicate key {self.step!r}"
            self._place = COLON
            return end + 1, ""
        if place == IN_NUMBER:
            return self._digits(text, pos)
        if place == IN_LITERAL:
            word = lexis.WORDS[self._word[0]]
            while pos < size and len(self._word) < len(word):
                if text[pos] != word[len(self._word)]:
                    return pos, f"expected {word}"
                self._word += text[pos]
                pos += 1
            if len(self._word) == len(word):
                self._whole(LITERALS[word])
            return pos, ""
        pos = lexis.space(text, pos).end()  # type: ignore[union-attr]
        if pos == size:
            return pos, ""
        character = text[pos]
        if place == END:
            return (size, "") if self._trailing else (pos, "text behind the value")
        if place == COLON:
            if character != ":":
                return pos, "expected ':'"
            self._place = VALUE
        elif place <= KEY:
            if character != '"':
                return pos, "expected a key"
            self._place = IN_KEY
            self._key = Text()
            self._began = base + pos
        else:
            if place != VALUE:
                self.step = len(self.frames[-1].items)
            self._word = character
            if character in lexis.WORDS:
                self._place = IN_LITERAL
                self.leaf = UNSEEN
            elif character in "-0123456789":
                self._place = IN_NUMBER
                self._number = character if character in "-0" else "1"
                self.leaf = Digits(character)
            else:
                return pos, "expected a value"
        return pos + 1, ""

    def read_escape(self, text: str, pos: int) -> tuple[int, str]:
        """Hold the escape that the piece cuts here, or say where it breaks."""
        end = lexis.escape(text, pos).end()  # type: ignore[union-attr]
        if end < len(text):
            return end, "no escape of JSON"
        self._held = text[pos:]
        return end, ""

    def read_rest(self, text: str, pos: int) -> re.Match[str] | None:
        """The rest of the number in flight, when the piece has it and it is sound; it is in `_word` then."""
        read = lexis.rest_of_number(text, pos)
        assert read is not None
        word = self._word + read[1]
        if read.end(1) == len(text) or len(word) > LONGEST_NUMBER or lexis.whole_number(word) is None:
            return None
        self._word = word
        return read

    def _digits(self, text: str, pos: int) -> tuple[int, str]:
        """Go on with the number in flight."""
        began, size, places = pos, len(text), lexis.NUMBER_PLACES
        room = pos + LONGEST_NUMBER - len(self._word)
        number = self._number
        while pos < size and (number, text[pos]) in places:
            if pos == room:
                return pos, "a number too long to read"
            number = places[number, text[pos]]
            pos += 1
        self._number = number
        self._word += text[began:pos]
        self.leaf = Digits(self._word)
        if pos < size:
            if number in lexis.NUMBER_OPEN:
                return pos, "expected a digit"
            self._whole(lexis.number(self._word))
        return pos, ""

    def _whole(self, value: Any) -> None:
        """The value in flight is whole; in a container it still waits for the comma or bracket."""
        if self.frames:
            self.leaf = value
            self._place = AFTER
        else:
            self.end_root(value)

    def end_root(self, value: Any) -> None:
        self.leaf = value
        self._place = END
        self.done = True
