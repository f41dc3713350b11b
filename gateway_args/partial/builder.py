"""The builder grows one JSON value from text in pieces, strictly, and its work is linear.

Theory of operation. A `Frame` is one open container; the frames from the root on and the value in flight (the *leaf*)
are the rightmost spine. `feed` takes members and elements by a match each, and where much text is left for tokens so
short, as many as come at once; a key, a number or a literal that its piece cuts is the `Machine`'s to read on. Only a
cut escape and a short cut key are held and read again, at most `_HOLD` characters.

A value is **complete** when the comma or bracket behind it came: then it is added to its frame, for good.

Decisions: the first character that no value could continue is the `fault`, and nothing is read after it. Three more
things are faults, because a strict decode refuses them: a duplicate key (at its quote; what was said complete must not
change), a number longer than `LONGEST_NUMBER`, and a bound of `Limits` (`max_depth`, `max_arguments`). Offsets are
characters of the text after surrogates were paired and lone ones replaced.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, final

from ..surrogates import SURROGATE, joined
from . import lexis
from .frame import NOTHING, UNSEEN, Frame, Text
from .lexis import LITERALS, LONGEST_NUMBER, element, member
from .machine import (
    AFTER,
    COLON,
    END,
    FIRST_ITEM,
    FIRST_KEY,
    IN_KEY,
    IN_LITERAL,
    IN_NUMBER,
    IN_STRING,
    ITEM,
    KEY,
    VALUE,
    Machine,
)
from .problem import Problem

if TYPE_CHECKING:
    from ..limits import Limits
    from ..schema.path import Path
    from .source import Source

_FEW: Final = 6  # tokens of which it does not pay to read them at once
_LONG: Final = 160  # characters of members for which it does
_MANY: Final = 600  # characters of elements for which it does
_SHORT: Final = 16  # characters of a piece in which a number seldom ends and more follows
_HOLD: Final = 64  # characters of a cut key that are held and read again

_ENDS_IN: Final = {
    IN_STRING: "inside a string",
    COLON: "before a colon",
    IN_KEY: "inside a key",
    IN_NUMBER: "inside a number",
    IN_LITERAL: "inside a literal",
}


_OUTSIDE: Final = Frame({}, "", None, 0)
"""Stands for the innermost frame when none is open."""


@final
class Builder(Machine):
    """Grows the value: `frames`, `step` and `leaf` are its spine, `done` says that the root closed."""

    __slots__ = ("_end", "_high", "_limits", "fault", "grew", "offset", "root", "source", "start")

    def __init__(self, limits: Limits, *, source: Source | None = None, trailing: bool = False) -> None:
        super().__init__(limits, trailing)
        self._limits = limits
        self.source = source  # where the text is kept, if it is
        self._end = math.inf if limits.max_arguments is None else limits.max_arguments
        self._high = ""  # a high surrogate that ended a piece
        self.root: Frame | None = None
        self.offset = 0
        self.start = 0  # where the value may begin, see `skip`
        self.grew = False  # whether the last piece added to a string in flight
        self.fault: Problem | None = None

    @property
    def inside(self) -> bool | None:
        """Whether the next character is one of a string or key; None when an escape or a surrogate pair is cut."""
        if self._high or "\\" in self._held:
            return None
        return self._place in (IN_STRING, IN_KEY) or '"' in self._held

    def path(self) -> Path:
        """The path of the value that the last token belongs to."""
        steps = [frame.step for frame in self.frames[1:]]
        if self.frames and self.leaf is not NOTHING:
            steps.append(self.step)
        return tuple(step for step in steps if step is not None)

    def end(self) -> Problem | None:
        """The text is over, so a number at the root is whole; what is wrong with the text, if anything."""
        if self._high:
            self._high = ""
            self.feed("\ufffd")
        if self.fault is None and not self.done:
            if not self.frames and self._place == IN_NUMBER and self._number not in lexis.NUMBER_OPEN:
                self.end_root(lexis.number(self._word))
            else:
                place = IN_KEY if self._place <= KEY and '"' in self._held else self._place
                where = _ENDS_IN.get(place, "before it is closed" if self.frames else "before its value")
                self.fault = Problem(self.path(), f"the text ends {where}", self.offset)
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
        if self._high or not (text.isascii() or SURROGATE.search(text) is None):
            text = self._high + text
            self._high = text[-1:] if 0xD800 <= ord(text[-1]) < 0xDC00 else ""
            text = joined(text[: len(text) - len(self._high)])
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
            if place <= VALUE:
                # Whole members or elements as long as they come, and of the last one what the piece has.
                match = member if place <= KEY else element
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
                            place = IN_STRING
                            break
                    elif other is None:
                        nested = self.read_nested(text, pos - 1, opener)
                        if nested is None:
                            break
                        leaf = nested[0]
                        if frame.kids is not None:
                            step = len(items) if closer == "]" else step
                            frame.kids[step] = Frame.whole(leaf, step, base + pos, base + nested[1])
                        after, opener = nested[2], None
                        pos = nested[1] + len(after)
                    elif other in LITERALS:
                        leaf = LITERALS[other]
                    elif len(other) <= LONGEST_NUMBER:
                        leaf = int(other) if other.isdigit() else float(other) if "." in other else lexis.number(other)
                    else:
                        leaf = UNSEEN
                        fault, pos = "a number too long to read", read.start(4) + LONGEST_NUMBER
                        break
                    if after != "," or not closer:
                        break
                    changed = True
                    if closer == "}":
                        items[step] = leaf
                        frame.keys.append(step)
                        frame.marks.append(base + pos)
                        match = member
                        place = KEY
                        if size - pos < _LONG:
                            continue
                    else:
                        items.append(leaf)
                        frame.marks.append(base + pos)
                        place = ITEM
                    if size - pos > _FEW * (pos - read.start()):
                        pos, after = self.read_run(frame, text, pos, base)
                        if after == closer:
                            leaf = NOTHING
                            break
                else:
                    leaf = NOTHING
                    if pos == size:
                        break
                    if place <= KEY:
                        read = lexis.key(text, pos)
                        if read is not None and read[2]:
                            step = read[1] if "\\" not in read[1] else lexis.unescape(read[1])
                            if step in items:
                                fault, pos = f"duplicate key {step!r}", read.start(1) - 1
                                break
                            place = VALUE if read[3] else COLON
                            pos = read.end()
                            continue
                        if read is not None and read.end() == size and size - pos <= _HOLD:
                            self._held = text[pos:]
                            break
                    if place in (FIRST_KEY, FIRST_ITEM) and (read := lexis.separator(text, pos)) and read[1] == closer:
                        after, opener = closer, None
                        pos = read.end(1)
                    else:
                        self._place, self.step, self.leaf = place, step, leaf
                        pos, fault = self.read_token(text, pos, base)
                        changed = changed or self.leaf is not leaf
                        place, step, leaf = self._place, self.step, self.leaf
                        if fault:
                            break
                        continue
                changed = changed or leaf is not NOTHING
                if fault:
                    break
                if place == IN_STRING:
                    continue
            elif place == AFTER:
                opener = None
                after = text[pos]
                if after in "]}":
                    pos += 1
                elif (read := lexis.separator(text, pos)) is not None:
                    after, opener = read.groups()
                    pos = read.end()
                    if opener is not None and after == "," and closer == "]":
                        changed = True
                        items.append(leaf)
                        frame.marks.append(base + read.end(1))
                        after = None
                        if size - pos > _MANY:
                            end, behind = self.read_run(frame, text, read.end(1), base)
                            if end > read.end(1):
                                pos, after = end, behind
                                leaf, opener = NOTHING, None
                    elif opener is not None:
                        opener = None
                        pos = read.end(1)
                else:
                    pos = lexis.space(text, pos).end()  # type: ignore[union-attr]
                    if pos < size:
                        fault = f"expected ',' or {closer!r}"
                    break
            elif place == IN_NUMBER and size > _SHORT and (read := self.read_rest(text, pos)) is not None:
                leaf = lexis.number(self._word)
                opener = None
                after = read[2]
                pos = read.end()
            elif place == IN_STRING:
                opener = None
                read = lexis.rest_of_string(text, pos)
                string, quote, after = read.groups()  # type: ignore[union-attr]
                pos = read.end()  # type: ignore[union-attr]
                if string:
                    self.grew = True
                    self._text.append(string if "\\" not in string else lexis.unescape(string))
                if not quote:
                    if pos < size:
                        pos, fault = self.read_escape(text, pos)
                    break
                leaf = "".join(self._text)
            else:
                self._place, self.step, self.leaf = place, step, leaf
                pos, fault = self.read_token(text, pos, base)
                changed = changed or (self.done and place != END)
                place, step, leaf = self._place, self.step, self.leaf
                if fault:
                    break
                continue

            if after and closer and (after == "," or after == closer):
                if leaf is not NOTHING:
                    changed = True
                    if closer == "}":
                        items[step] = leaf
                        frame.keys.append(step)
                    else:
                        items.append(leaf)
                    frame.marks.append(base + pos)
                if after == ",":
                    leaf = NOTHING
                    place = KEY if closer == "}" else ITEM
                    continue
                leaf = items
                step = frame.step
                frames.pop()
                frame = frames[-1] if frames else _OUTSIDE
                items = frame.items
                closer = frame.closer
                place = AFTER
                if not frames:
                    changed = True
                    self.end_root(leaf)
                    place = END
                continue
            if opener:
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
                place = FIRST_KEY if closer == "}" else FIRST_ITEM
            elif not frames:
                changed = True
                self.end_root(leaf)
                place = END
                pos -= len(after or "")
            else:
                place = AFTER
                if not after:
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
        self.fault = Problem(self.path(), message, offset)
        self.offset = offset
