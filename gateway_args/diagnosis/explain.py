"""Where an output breaks: the place, what was expected there, and the policy that decided.

The events account for every character in order, so each has its offset in the output. A break is text that is
malformed (its first character), a call that ended without being complete, or a call's opener that stayed text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..events import CallArguments, CallEnd, CallStart, Content, Dropped, Malformed, Reasoning, Why
from ..strict_json.acceptor import Acceptor, Expected
from . import policies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..events import Event
    from ..formats import Format
    from .policies import Policy

_SHOWN: Final = 72
_WORDS: Final = {
    Expected.OBJECT_OPEN: '"{"',
    Expected.OBJECT_CLOSE: '"}"',
    Expected.ARRAY_OPEN: '"["',
    Expected.ARRAY_CLOSE: '"]"',
    Expected.COLON: '":"',
    Expected.COMMA: '","',
    Expected.QUOTE: "a double quote",
    Expected.TEXT: "text of a string",
    Expected.ESCAPE: "an escape",
    Expected.HEX: "a hex digit",
    Expected.SIGN: "a sign",
    Expected.POINT: '"."',
    Expected.EXPONENT: '"e"',
}
_DIGITS: Final = Expected.ZERO | Expected.DIGIT
_VALUE: Final = Expected.OBJECT_OPEN | Expected.ARRAY_OPEN | Expected.QUOTE | Expected.MINUS


@dataclass(frozen=True, slots=True)
class Break:
    """One place where an output breaks."""

    offset: int
    """Characters of the output before it."""
    what: str
    """What is wrong, in a few words."""
    expected: str
    """What could have stood there; "" where nothing can be said."""
    policy: Policy

    def position(self, text: str) -> tuple[int, int]:
        """Line and column of the offset, from 1."""
        before = text[: self.offset]
        return before.count("\n") + 1, self.offset - (before.rfind("\n") + 1) + 1

    def shown(self, text: str) -> tuple[str, str]:
        """The line around the offset, cut to a window and with control characters made visible, and its caret."""
        start = text.rfind("\n", 0, self.offset) + 1
        end = text.find("\n", self.offset)
        end = len(text) if end < 0 else end
        low = max(start, self.offset - _SHOWN // 2)
        high = min(end, low + _SHOWN)
        before, behind = _visible(text[low : self.offset]), _visible(text[self.offset : high])
        head, tail = "…" if low > start else "", "…" if high < end else ""
        return f"{head}{before}{behind}{tail}", " " * len(head + before) + "^"


def explain(format: Format, events: Iterable[Event]) -> list[Break]:
    """The breaks of an output in order, from the events that a parser made of it; none where nothing is wrong."""
    return list(_breaks(format, list(events)))


def _breaks(format: Format, events: Sequence[Event]) -> Iterator[Break]:
    openers = sorted((text for text, side in format.regions.items() if side == "start" and len(text) > 3), key=len)
    at = 0
    content = ""
    content_at = 0
    call: CallStart | None = None
    acceptor = Acceptor()
    broken = False
    last: type[Event] | None = None
    for event in events:
        if not isinstance(event, Content) and content:
            yield from _unconfirmed(openers, content, content_at)
            content = ""
        match event:
            case Content():
                content_at = content_at if content else at
                content += event.text
                at += len(event.text)
            case Reasoning() | Dropped():
                at += len(event.text)
            case CallStart():
                call, acceptor, broken = event, Acceptor(max_depth=1 << 12), False
                at += len(event.source)
            case CallArguments():
                acceptor.feed(event.json)
                at += len(event.source)
            case Malformed():
                if last is not Malformed:
                    yield _malformed(format, event, at, call, acceptor)
                    broken = True
                at += len(event.text)
            case CallEnd():
                if not event.complete and not broken:
                    name = call.name if call else ""
                    message = f"the call {name} ends before its arguments are whole"
                    yield Break(at, message, _next(acceptor), policies.INCOMPLETE)
                at += len(event.source)
                call = None
            case _:
                pass
        last = type(event)
    yield from _unconfirmed(openers, content, content_at)


def _malformed(format: Format, event: Malformed, at: int, call: CallStart | None, acceptor: Acceptor) -> Break:
    policy = policies.BY_WHY[event.why]
    inside = f" in the call {call.name}" if call is not None else ""
    match event.why:
        case Why.ARGUMENTS:
            what = "the arguments are no JSON from here on"
            expected = _next(acceptor)
        case Why.UNTERMINATED:
            what = "the output ended before the call could begin"
            expected = f"a call as {format.name} writes it, and its end"
        case Why.STRAY:
            what = "text where only white space, another call or the end of calls may stand"
            expected = _closers(format)
        case Why.DUPLICATE:
            what, expected = "a name, arguments or a parameter a second time", ""
        case Why.UNDECLARED:
            what, expected = "a function that the request does not declare", ""
        case Why.SHAPE:
            what = "no call that this format can read"
            expected = f"a call as {format.name} writes it ({_shape(format)})"
        case _:
            what, expected = "text beyond a limit of the parser", ""
    return Break(at, f"{what}{inside}", expected, policy)


def _unconfirmed(openers: Sequence[str], content: str, at: int) -> Iterator[Break]:
    """The first call opener that stayed text: it looks like a call and is none."""
    found = [(position, -len(text), text) for text in openers if (position := content.find(text)) >= 0]
    if found:
        position, _, text = min(found)
        what = f"{text!r} is text here, it opens no call"
        yield Break(at + position, what, "behind it what a call begins with", policies.OPENER)


def _next(acceptor: Acceptor) -> str:
    """What the arguments could go on with, in words."""
    expected = acceptor.expected()
    if acceptor.complete is not None or not expected:
        return "nothing more: the value is whole"
    words = []
    if acceptor.state[0] in ("first key", "next key"):
        words.append("a key in double quotes")
        expected &= ~Expected.QUOTE
    if _VALUE in expected:
        words.append("a value")
        expected &= ~(_VALUE | _DIGITS | Expected.T | Expected.F | Expected.N)
    if expected & _DIGITS and not expected & Expected.HEX:
        words.append("a digit")
        expected &= ~_DIGITS
    if expected & Expected.TEXT:
        expected &= ~(Expected.BACKSLASH)
    words += [word for kind, word in _WORDS.items() if kind in expected]
    letters = [kind.name for kind in Expected if kind in expected and kind.name is not None and len(kind.name) == 1]
    words += [f'"{letter.lower()}"' for letter in letters if Expected.HEX not in expected]
    if not words:
        return "white space"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _closers(format: Format) -> str:
    texts = [text for text, side in format.regions.items()]
    return f"one of {', '.join(map(repr, texts[:5]))}" if texts else ""


def _shape(format: Format) -> str:
    """How the format's first call syntax begins, as its table says it."""
    for syntax in format.calls.values():
        header = getattr(syntax, "header", ())
        if header:
            return f"such as {header[0]!r}"
        name, arguments = getattr(syntax, "name", ()), getattr(syntax, "arguments", ())
        if isinstance(name, tuple) and name and arguments:
            return f"an object with {name[0]!r} and {arguments[0]!r}"
    return f"syntax {', '.join(format.calls)}"


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
