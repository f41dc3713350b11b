"""The builder grows one JSON value from text in pieces, strictly, and its work is linear.

Theory of operation. A `Frame` is one open container; the frames from the root on and the value in flight (the *leaf*)
are the rightmost spine. `_read` takes whole members and elements, a match each; a key, a number or a literal that its
piece cuts falls to `_token`, which reads one token from where the last piece left it. Only a cut escape and a short
cut key are held and read again, at most `_HOLD` characters.

A value is **complete** when the comma or bracket behind it came: then it is added to its frame, for good.

Decisions: the first character that no value could continue is the `fault`, and nothing is read after it. Three more
things are faults, because a strict decode refuses them: a duplicate key (at its quote; what was said complete must not
change), a number longer than `LONGEST_NUMBER`, and a bound of `Limits` (`max_depth`, `max_arguments`). Offsets are
characters of the text after surrogates were paired and lone ones replaced.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, final

from . import lexis
from .frame import NOTHING, UNSEEN, Digits, Frame, Text
from .lexis import LITERALS, LONGEST_NUMBER, element, member
from .path import Fault, Path, Step

if TYPE_CHECKING:
    from ..limits import Limits
    from .source import Source

# The places of the machine. The first five are where a value may begin, its key first in the first two.
_FIRST_KEY: Final = 0
_KEY: Final = 1
_FIRST_ITEM: Final = 2
_ITEM: Final = 3
_VALUE: Final = 4  # behind a colon, and at the root
_AFTER: Final = 5
_IN_STRING: Final = 6
_COLON: Final = 7
_IN_KEY: Final = 8
_IN_NUMBER: Final = 9
_IN_LITERAL: Final = 10
_END: Final = 11

_HOLD: Final = 64  # characters of a cut key that are held and read again

_ENDS_IN: Final = {
    _IN_STRING: "inside a string",
    _COLON: "before a colon",
    _IN_KEY: "inside a key",
    _IN_NUMBER: "inside a number",
    _IN_LITERAL: "inside a literal",
}


_OUTSIDE: Final = Frame({}, "", None, 0)
"""Stands for the innermost frame when none is open."""


@final
class Builder:
    """Grows the value: `frames`, `step` and `leaf` are its spine, `done` says that the root closed."""

    __slots__ = (
        *("_began", "_end", "_held", "_high", "_key", "_limits", "_number", "_place", "_text", "_trailing", "_word"),
        *("done", "fault", "frames", "grew", "leaf", "offset", "root", "source", "start", "step"),
    )

    def __init__(self, limits: Limits, *, source: Source | None = None, trailing: bool = False) -> None:
        self._limits = limits
        self.source = source  # where the text is kept, if it is
        self._trailing = trailing  # whether any text may stand behind the value
        self._end = math.inf if limits.max_arguments is None else limits.max_arguments
        self._place = _VALUE
        self._held = ""  # an escape that its piece cut
        self._high = ""  # a high surrogate that ended a piece
        self._text = Text()  # the string in flight
        self._key = Text()  # the key in flight
        self._began = 0  # where it began
        self._word = ""  # the number or literal in flight
        self._number = ""  # its place in `NUMBER_PLACES`
        self.frames: list[Frame] = []
        self.root: Frame | None = None
        self.step: Step | None = None  # of the leaf, in the innermost frame
        self.leaf: Any = NOTHING
        self.offset = 0
        self.start = 0  # where the value may begin, see `skip`
        self.done = False
        self.grew = False  # whether the last piece added to a string in flight
        self.fault: Fault | None = None

    def path(self) -> Path:
        """The path of the value that the last token belongs to."""
        steps = [frame.step for frame in self.frames[1:]]
        if self.frames and self.leaf is not NOTHING:
            steps.append(self.step)
        return tuple(step for step in steps if step is not None)

    def end(self) -> Fault | None:
        """The text is over, so a number at the root is whole; what is wrong with the text, if anything."""
        if self._high:
            self._high = ""
            self.feed("\ufffd")
        if self.fault is None and not self.done:
            if not self.frames and self._place == _IN_NUMBER and self._number not in lexis.NUMBER_OPEN:
                self._end_root(lexis.number(self._word))
            else:
                place = _IN_KEY if self._place <= _KEY and '"' in self._held else self._place
                where = _ENDS_IN.get(place, "before it is closed" if self.frames else "before its value")
                self.fault = Fault(self.path(), f"the text ends {where}", self.offset)
        return self.fault

    def skip(self, length: int) -> None:
        """Count this much text that stands before the value."""
        self.start += length
        self._end += length
        self.offset += length
        if self.source is not None:
            self.source.start += length

    def feed(self, text: str) -> bool:
        """Read this piece and say whether the spine or the set of complete values changed."""
        if self._high or not (text.isascii() or lexis.surrogate(text) is None):
            text = self._high + text
            self._high = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
            text = lexis.joined(text[: len(text) - len(self._high)])
        if self.offset + len(text) > self._end and self.fault is None:
            self._high = ""
            changed = self.feed(text[: int(self._end) - self.offset])
            if self.fault is None and not (self.done and self._trailing):
                self._refuse(self.offset, f"longer than {self._limits.max_arguments} characters (Limits.max_arguments)")
            return changed
        self.grew = False
        if self.fault is not None or not text:
            return False

        if self.source is not None:
            self.source.add(text)
        base = self.offset - len(self._held)
        self.offset += len(text)
        if self._held:
            text = self._held + text
            self._held = ""
        frames = self.frames
        place = self._place
        step: Any = self.step
        leaf = self.leaf
        frame = frames[-1] if frames else _OUTSIDE
        items: Any = frame.items
        closer = frame.closer
        pos = 0
        size = len(text)
        changed = False
        fault = ""
        while pos < size:
            if place <= _VALUE:
                # Whole members or elements as long as they come, and of the last one what the piece has.
                match = member if place <= _KEY else element
                while (read := match(text, pos)) is not None:
                    key, string, quote, other, after, opener = read.groups()
                    if key is not None:
                        if key in items:
                            leaf = NOTHING
                            fault, pos = f"duplicate key {key!r}", read.start(1) - 1
                            break
                        step = key
                    pos = read.end()
                    if string is not None:
                        leaf = string
                        if not quote:
                            leaf = self._text = Text((string,))
                            place = _IN_STRING
                            break
                    elif other is None:
                        break
                    elif other in LITERALS:
                        leaf = LITERALS[other]
                    elif other[0] != "[":
                        if len(other) > LONGEST_NUMBER:
                            leaf = UNSEEN
                            fault, pos = "a number too long to read", read.start(4) + LONGEST_NUMBER
                            break
                        leaf = int(other) if other.isdigit() else float(other) if "." in other else lexis.number(other)
                    elif len(other) > LONGEST_NUMBER or len(frames) >= self._limits.max_depth:
                        # By its elements: the one that is too long or too deep is the fault.
                        after, opener, pos = None, "[", read.start(4) + 1
                        break
                    else:
                        leaf = lexis.raw_decode(other)[0]
                        if frame.kids is not None:
                            step = len(items) if closer == "]" else step
                            frame.kids[step] = Frame.whole(leaf, step, base + read.end(4))
                    if after != "," or not closer:
                        break
                    changed = True
                    if closer == "}":
                        items[step] = leaf
                        frame.keys.append(step)
                        match = member
                        place = _KEY
                    else:
                        items.append(leaf)
                        place = _ITEM
                    frame.marks.append(base + pos)
                else:
                    leaf = NOTHING
                    if pos == size:
                        break
                    if place <= _KEY:
                        read = lexis.key(text, pos)
                        if read is not None and read[2]:
                            step = read[1] if "\\" not in read[1] else lexis.unescape(read[1])
                            if step in items:
                                fault, pos = f"duplicate key {step!r}", read.start(1) - 1
                                break
                            place = _VALUE if read[3] else _COLON
                            pos = read.end()
                            continue
                        if read is not None and read.end() == size and size - pos <= _HOLD:
                            self._held = text[pos:]
                            break
                    if (
                        place in (_FIRST_KEY, _FIRST_ITEM)
                        and (read := lexis.separator(text, pos))
                        and read[1] == closer
                    ):
                        after, opener = closer, None
                        pos = read.end()
                    else:
                        self._place, self.step, self.leaf = place, step, leaf
                        pos, fault = self._token(text, pos, base)
                        changed = changed or self.leaf is not leaf
                        place, step, leaf = self._place, self.step, self.leaf
                        if fault:
                            break
                        continue
                changed = True
                if fault:
                    break
                if place == _IN_STRING:
                    continue
            elif place == _AFTER:
                opener = None
                after = text[pos]
                if after in ",]}":
                    pos += 1
                elif (read := lexis.separator(text, pos)) is not None:
                    after = read[1]
                    pos = read.end()
                else:
                    pos = lexis.space(text, pos).end()  # type: ignore[union-attr]
                    if pos < size:
                        fault = f"expected ',' or {closer!r}"
                    break
            elif place == _IN_STRING:
                opener = None
                read = lexis.rest_of_string(text, pos)
                string, quote, after = read.groups()  # type: ignore[union-attr]
                pos = read.end()  # type: ignore[union-attr]
                if string:
                    self.grew = True
                    self._text.append(string if "\\" not in string else lexis.unescape(string))
                if not quote:
                    if pos < size:
                        pos, fault = self._escape(text, pos)
                    break
                leaf = "".join(self._text)
            else:
                self._place, self.step, self.leaf = place, step, leaf
                pos, fault = self._token(text, pos, base)
                changed = changed or (self.done and place != _END)
                place, step, leaf = self._place, self.step, self.leaf
                if fault:
                    break
                continue

            if after and closer and (after == "," or after == closer):
                changed = True
                if leaf is not NOTHING:
                    if closer == "}":
                        items[step] = leaf
                        frame.keys.append(step)
                    else:
                        items.append(leaf)
                    frame.marks.append(base + pos)
                if after == ",":
                    leaf = NOTHING
                    place = _KEY if closer == "}" else _ITEM
                    continue
                leaf = items
                step = frame.step
                frames.pop()
                frame = frames[-1] if frames else _OUTSIDE
                items = frame.items
                closer = frame.closer
                place = _AFTER
                if not frames:
                    self._end_root(leaf)
                    place = _END
            elif opener:
                changed = True
                if closer == "]":
                    step = len(items)
                if len(frames) >= self._limits.max_depth:
                    leaf = UNSEEN
                    fault, pos = f"nested deeper than {self._limits.max_depth} (Limits.max_depth)", pos - 1
                    break
                items, closer = ({}, "}") if opener == "{" else ([], "]")
                kids = frame.kids
                frame = Frame(items, closer, step, base + pos)
                if not frames:
                    self.root = frame
                    frame.kids = {}
                elif kids is not None:
                    kids[step] = frame
                frames.append(frame)
                leaf = NOTHING
                place = _FIRST_KEY if closer == "}" else _FIRST_ITEM
            elif not frames:
                changed = True
                self._end_root(leaf)
                place = _END
                pos -= len(after or "")
            else:
                place = _AFTER
                if after is None:
                    continue
                fault, pos = f"expected ',' or {closer!r}", pos - 1
                break
        if closer == "]":
            step = len(items)
        self._place, self.step, self.leaf = place, step, leaf
        if fault:
            self._refuse(base + pos, fault)
        return changed

    def _refuse(self, offset: int, message: str) -> None:
        self.fault = Fault(self.path(), message, offset)
        self.offset = offset

    def _end_root(self, value: Any) -> None:
        self.leaf = value
        self._place = _END
        self.done = True

    def _escape(self, text: str, pos: int) -> tuple[int, str]:
        """Hold the escape that the piece cuts here, or say where it breaks."""
        end = lexis.escape(text, pos).end()  # type: ignore[union-attr]
        if end < len(text):
            return end, "no escape of JSON"
        self._held = text[pos:]
        return end, ""

    def _token(self, text: str, pos: int, base: int) -> tuple[int, str]:
        """Read one token, or what the piece has of it, from the place it is in: where it ends, and its fault."""
        size = len(text)
        place = self._place
        if place == _IN_KEY:
            end = lexis.run(text, pos).end()  # type: ignore[union-attr]
            if end > pos:
                self._key.append(lexis.unescape(text[pos:end]))
            if end == size:
                return end, ""
            if text[end] == "\\":
                return self._escape(text, end)
            self.step = "".join(self._key)
            if self.step in self.frames[-1].items:
                return self._began - base, f"duplicate key {self.step!r}"
            self._place = _COLON
            return end + 1, ""
        if place == _IN_NUMBER:
            return self._digits(text, pos)
        if place == _IN_LITERAL:
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
        if place == _END:
            return (size, "") if self._trailing else (pos, "text behind the value")
        if place == _COLON:
            if character != ":":
                return pos, "expected ':'"
            self._place = _VALUE
        elif place <= _KEY:
            if character != '"':
                return pos, "expected a key"
            self._place = _IN_KEY
            self._key = Text()
            self._began = base + pos
        else:
            if place != _VALUE:
                self.step = len(self.frames[-1].items)
            self._word = character
            if character in lexis.WORDS:
                self._place = _IN_LITERAL
                self.leaf = UNSEEN
            elif character in "-0123456789":
                self._place = _IN_NUMBER
                self._number = character if character in "-0" else "1"
                self.leaf = Digits(character)
            else:
                return pos, "expected a value"
        return pos + 1, ""

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
            self._place = _AFTER
        else:
            self._end_root(value)
