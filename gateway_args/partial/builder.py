"""The builder grows one JSON value from text as it arrives; its work is linear.

Theory of operation. The strict acceptor reads each delta first and says how much of it is sound; what it accepted is
then built, with no grammar of its own: a token is told by its first character. The open containers and the value in
flight are the *open path*. A value is **complete** when the comma or bracket behind it came: then it is added to its
container, for good. Only a cut escape is held and read again, 11 characters at most.

The first character that no value could continue is the `problem`, and nothing is read after it. So are: a duplicate
key (at its quote; what was complete must not change), a number longer than `LONGEST_NUMBER`, and a bound of `Limits`
(`max_depth`, `max_arguments`). With `strict` so is what RFC 8259 and the stream decoder refuse besides: a raw control
character in a string, an escape of half a surrogate pair, a number beyond a double. Offsets are characters of the text
after surrogates were paired and lone ones replaced.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, Final, final

from ..schema.path import show
from ..strict_json import tokens
from ..strict_json.acceptor import Acceptor
from ..strict_json.tokens import LITERALS, LONGEST_NUMBER
from ..surrogates import SURROGATE, joined
from .frame import NOTHING, UNSEEN, Digits, Frame, Text
from .problem import Problem

if TYPE_CHECKING:
    from ..limits import Limits
    from ..schema.path import Path, Step
    from .source import Source

# Where the builder stands.
_VALUE: Final = 0  # before a value
_BEFORE_KEY: Final = 1
_COLON: Final = 2
_AFTER: Final = 3  # behind a value
_KEY: Final = 4
_STRING: Final = 5
_SCALAR: Final = 6  # in a number or a literal
_WORDS: Final = {word[0]: word for word in LITERALS}
_PARTS: Final = frozenset(word[:length] for word in LITERALS for length in range(1, len(word)))


@final
class Builder:
    """Grows the value: the open containers (`frames`), the value in flight under `step`, whether the root is `done`."""

    __slots__ = (
        *("_acceptor", "_began", "_end", "_held", "_in", "_key", "_limits", "_strict", "_text", "_trailing", "_typed"),
        *("_word", "done", "frames", "grew", "in_flight", "offset", "pending", "problem", "root", "source", "start"),
        "step",
    )

    def __init__(
        self, limits: Limits, source: Source, *, strict: bool = False, trailing: bool = False, fields: bool = False
    ) -> None:
        self._limits = limits
        self._strict = strict
        self._trailing = trailing  # whether any text may stand behind the value
        self._typed = fields  # whether the containers in the root are asked for while they grow
        self._end = sys.maxsize if limits.max_arguments is None else limits.max_arguments
        self._acceptor = Acceptor(limits.max_depth)
        self._in = _VALUE
        self._held = ""  # an escape that was cut
        self.pending = ""  # a high surrogate that waits for its other half
        self._text = Text()  # the string in flight
        self._key = Text()  # the key in flight
        self._began = 0  # where it began
        self._word = ""  # the number or literal in flight
        self.source = source
        self.root: Frame | None = None
        self.frames: list[Frame] = []
        self.step: Step | None = None  # of the value in flight, in the innermost container
        self.in_flight: Any = NOTHING
        self.done = False
        self.offset = 0
        self.start = 0  # where the value may begin, see `skip`
        self.grew = False  # whether the last delta added to a string in flight
        self.problem: Problem | None = None

    # ------------------------------------------------------------------------------- what came

    def path(self) -> Path:
        """The path of the value that the last token belongs to."""
        steps = [frame.step for frame in self.frames[1:]]
        if self.frames and self.in_flight is not NOTHING:
            steps.append(self.step)
        return tuple(step for step in steps if step is not None)

    # ------------------------------------------------------------------------------- reading

    def skip(self, length: int) -> None:
        """Count this much text that stands before the value."""
        self.start += length
        self._end += length
        self.offset += length
        self.source.start += length

    def paired(self, text: str) -> str:
        """This delta as text without surrogates: a pair is its character, a lone one U+FFFD; a high one may wait."""
        if self.pending or not (text.isascii() or SURROGATE.search(text) is None):
            text = self.pending + text
            self.pending = text[-1:] if 0xD800 <= ord(text[-1:] or " ") < 0xDC00 else ""
            text = joined(text[: len(text) - len(self.pending)])
        return text

    def feed(self, text: str) -> bool:
        """Read this delta and say whether the open path or the set of complete values changed."""
        return self.read(self.paired(text))

    def read(self, text: str) -> bool:
        """The same for text without surrogates."""
        self.grew = False
        if self.problem is not None or not text:
            return False
        rest = ""
        if len(text) > self._end - self.offset:
            room = self._end - self.offset
            text, rest = text[:room], text[room:]
        accepted = self._acceptor.feed(text)
        changed = False
        if accepted:
            sound = text if accepted == len(text) else text[:accepted]
            self.source.add(sound)
            if self._in == _STRING and not self._held and tokens.special(sound) is None:
                self.offset += accepted  # the commonest delta by far
                self._text.add(sound)
                self.grew = True
            else:
                changed = self._build(sound)
        if self.problem is None and accepted < len(text):
            changed = self._behind(text[accepted:]) or changed
        if self.problem is None and rest and not (self.done and self._trailing):
            self.refuse(f"longer than {self._limits.max_arguments} characters (Limits.max_arguments)")
        return changed

    def end(self) -> Problem | None:
        """The text is over, so a number at the root is whole; what is wrong with the text, if anything."""
        if self.pending:
            self.pending = ""
            self.read("\ufffd")
        if self.problem is None and not self.done:
            if not self.frames and self._in == _SCALAR and tokens.whole_number(self._word):
                self._take_number()
            else:
                self.refuse(f"the text ends {self._where()}")
        return self.problem

    def refuse(self, message: str, at: int | None = None, path: Path | None = None) -> None:
        """Nothing is read from this character on, by default the next one; the path is by default the open one."""
        self.offset = self.offset if at is None else at
        self.problem = Problem(self.path() if path is None else path, message, self.offset)

    # ------------------------------------------------------------------------------- what is wrong

    def refuse_early(self, message: str, character: str) -> None:
        """The stream decoder refuses this character, which comes next; its message may begin with the place."""
        path = self._next() if self._in == _VALUE and character not in " \t\n\r,]}" else self.path()
        self.refuse(message.removeprefix(f"{show(path)}: "), path=path)

    def _next(self) -> Path:
        """The path of the value that would begin next."""
        if not self.frames:
            return ()
        frame = self.frames[-1]
        step = len(frame) if frame.closer == "]" else self.step
        return self.path() if step is None else (*self.path(), step)

    def _where(self) -> str:
        if self._in == _SCALAR:
            return "inside a literal" if self._word in _PARTS else "inside a number"
        where = {_KEY: "inside a key", _STRING: "inside a string", _COLON: "before a colon"}.get(self._in)
        return where or ("before it is closed" if self.frames else "before its value")

    def _behind(self, rest: str) -> bool:
        """The acceptor took nothing of this text: it stands behind the value, or breaks it."""
        at = self.offset
        changed = False
        if self._acceptor.complete is not None:
            if not self.done:
                changed = self._take_number()
            self.offset += len(rest)
            behind = len(rest) - len(rest.lstrip(" \t\n\r"))
            if behind < len(rest) and not self._trailing:
                self.refuse("text behind the value", at + behind)
            return changed
        too_deep = self._in == _VALUE and rest[0] in "[{"
        self.refuse(self._expected(rest[0]), at, self._next() if too_deep else None)
        return changed

    def _expected(self, character: str) -> str:
        """What should stand where this character is refused."""
        after = f"expected ',' or {self.frames[-1].closer!r}" if self.frames else "expected nothing more"
        match self._in:
            case 0:  # _VALUE
                if character in "[{":
                    return f"nested deeper than {self._limits.max_depth} (Limits.max_depth)"
                return "expected a value"
            case 1:  # _BEFORE_KEY
                return "expected a key"
            case 2:  # _COLON
                return "expected ':'"
            case 3:  # _AFTER
                return after
            case 6:  # _SCALAR
                if self._word in _PARTS:
                    return f"expected {_WORDS[self._word[0]]}"
                return after if tokens.whole_number(self._word) else "expected a digit"
        return "expected an escape of JSON"

    # ------------------------------------------------------------------------------- building

    def _build(self, text: str) -> bool:
        """Build this sound text."""
        base = self.offset - len(self._held)
        self.offset += len(text)
        if self._held:
            text = self._held + text
            self._held = ""
        frames = self.frames
        state = self._in
        pos, size, changed = 0, len(text), False
        while pos < size:
            if state >= _KEY:
                if state == _SCALAR:
                    pos, ended = self._scalar(text, pos, base)
                else:
                    pos, ended = self._string(self._text if state == _STRING else self._key, text, pos, base)
                if self.problem is not None or not ended:
                    break
                if state != _KEY:
                    state = _AFTER
                    if not frames:
                        changed = self.done = True
                    continue
                if not self._take_key(self._key.read(len(self._key))):
                    break
                state = _COLON
                continue
            character = text[pos]
            if character in " \t\n\r":
                pos = tokens.space(text, pos).end()  # type: ignore[union-attr]
                continue
            pos += 1
            if character == '"':
                whole_string = tokens.simple(text, pos)
                if state == _BEFORE_KEY:
                    self._began = base + pos - 1
                    if whole_string is None:
                        state = _KEY
                        self._key = Text()
                        continue
                    pos = whole_string.end()
                    if not self._take_key(whole_string[1]):
                        break
                    state = _COLON
                    continue
                if whole_string is None:
                    state = _STRING
                    self.in_flight = self._text = Text()
                else:
                    state = _AFTER
                    self.in_flight = whole_string[1]
                    pos = whole_string.end()
                    self.done = not frames
            elif character == ":":
                state = _VALUE
                continue
            elif character in ",]}":
                if self.in_flight is not NOTHING:
                    changed = True
                    frames[-1].add(self.step, self.in_flight, base + pos)  # type: ignore[arg-type]
                    self.in_flight = NOTHING
                if character == ",":
                    state = _BEFORE_KEY if frames[-1].closer == "}" else _VALUE
                    continue
                closed = frames.pop()
                self.in_flight = closed.items
                self.step = closed.step
                state = _AFTER
                if not frames:
                    changed = self.done = True
                continue
            elif character in "{[":
                if frames and frames[-1].closer == "]":
                    self.step = len(frames[-1])
                self._open(character, base + pos)
                state = _BEFORE_KEY if character == "{" else _VALUE
                changed = True
                continue
            else:
                pos -= 1
                state = _SCALAR
                self._word = ""
                self.in_flight = UNSEEN
            changed = True
            if frames and frames[-1].closer == "]":
                self.step = len(frames[-1])
        self._in = state
        return changed

    def _take_key(self, key: str) -> bool:
        """The key is whole; whether it may stand there."""
        self.step = key
        if key in self.frames[-1].items:
            self.refuse(f"duplicate key {key!r}", self._began)
            return False
        return True

    def _open(self, opener: str, mark: int) -> None:
        outer = self.frames[-1] if self.frames else None
        frame = Frame({} if opener == "{" else [], self.step, mark, keeps_kids=outer is None and self._typed)
        if outer is None:
            self.root = frame
        else:
            outer.note(frame)
        self.frames.append(frame)
        self.in_flight = NOTHING

    def _string(self, into: Text, text: str, pos: int, base: int) -> tuple[int, bool]:
        """Read on in a string: where it stops, and whether behind the closing quote."""
        end = tokens.run(text, pos).end()  # type: ignore[union-attr]
        if end > pos:
            part = text[pos:end]
            escaped = "\\" in part
            if self._strict and (raw := tokens.control(part)):
                self.refuse("a raw control character in a string", base + pos + raw.start())
                return pos, False
            if escaped:
                part = tokens.unescape(part)
                if self._strict and SURROGATE.search(part):
                    self.refuse("an escape of half a surrogate pair", base + end)
                    return pos, False
            self.grew = self.grew or into is self._text
            into.add(part)
        if end == len(text):
            return end, False
        if text[end] == "\\":
            self._held = text[end:]
            return len(text), False
        if into is self._text:
            self.in_flight = into.read(len(into))
        return end + 1, True

    def _scalar(self, text: str, pos: int, base: int) -> tuple[int, bool]:
        """Read on in a number or a literal: where it stops, and whether it is whole."""
        end = tokens.scalar(text, pos).end()  # type: ignore[union-attr]
        word = self._word = self._word + text[pos:end]
        if word in LITERALS:
            self.in_flight = LITERALS[word]
            return end, True
        if word[0] in _WORDS:
            return end, False
        if len(word) > LONGEST_NUMBER:
            self.refuse("a number too long to read", base + end - len(word) + LONGEST_NUMBER)
            return end, False
        if end < len(text):
            self._set_number(base + end)
            return end, self.problem is None
        self.in_flight = Digits(word)
        return end, False

    def _set_number(self, end: int) -> None:
        value = tokens.number(self._word)
        if self._strict and value in (math.inf, -math.inf):
            self.refuse("a number beyond the range of a double", end)
        else:
            self.in_flight = value

    def _take_number(self) -> bool:
        """The number at the root is whole; whether it could be taken."""
        self._set_number(self.offset)
        self._in = _AFTER
        self.done = self.problem is None
        return self.done
