"""Somebody else's parser, for a format of its own: `[[name {"a": 1}]]` is a call, all else is content.

It is right, it knows nothing of our engine, and the contract passes it. `Faulty` is the same parser with one fault
planted: the contract has to see each. A character is worth the tokens that start at it.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import TYPE_CHECKING

from gateway_args.contract import Case, Maker
from gateway_args.events import CallArguments, CallEnd, CallStart, Content, Event, Finish, Malformed, Why
from gateway_args.strict_json.acceptor import Acceptor

if TYPE_CHECKING:
    from collections.abc import Iterator

OPENER, CLOSER = "[[", "]]"


class BracketParser:
    """Reads character by character; `held` is text whose event is not decided yet, with its tokens."""

    def __init__(self, names: frozenset[str] | None) -> None:
        self.names = names
        self.place = "content"  # name, arguments, closer, broken
        self.held: list[tuple[str, int | None]] = []
        self.calls = 0
        self.whole = 0
        self.acceptor = Acceptor()

    def feed(self, piece: object) -> list[Event]:
        events: list[Event] = []
        for character, tokens in characters(piece):
            events += self.read(character, tokens)
        return events

    def read(self, character: str, tokens: int | None) -> Iterator[Event]:
        match self.place:
            case "content" if character == "[":
                self.held.append((character, tokens))
                if self.text() == OPENER:
                    self.place = "name"
            case "content":
                if self.held:
                    yield Content(*self.take())
                yield Content(character, tokens)
            case "name" if character == " " and len(self.held) > len(OPENER):
                name = self.text()[len(OPENER) :]
                self.held.append((character, tokens))
                declared = None if self.names is None else name in self.names
                yield CallStart(self.calls, f"call_{self.calls}", name, declared, *self.take())
                self.calls += 1
                self.acceptor = Acceptor()
                self.place = "arguments"
            case "name":
                self.held.append((character, tokens))
                if not (character.isalnum() or character == "_"):
                    yield Malformed(self.text(), Why.SHAPE, self.take()[1])
                    self.place = "content"
            case "arguments":
                yield from self.argument(character, tokens)
            case "closer" | "broken" if character == "]":
                self.held.append((character, tokens))
                if self.text() == CLOSER:
                    yield self.end(*self.take())
            case "closer":
                yield self.end("", None if tokens is None else 0)
                stray, more = self.take()
                yield Malformed(stray + character, Why.STRAY, None if tokens is None else tokens + (more or 0))
            case "broken":
                if self.held:
                    yield Malformed(*self.aside(Why.ARGUMENTS))
                yield Malformed(character, Why.ARGUMENTS, tokens)

    def argument(self, character: str, tokens: int | None) -> Iterator[Event]:
        in_string = self.acceptor.in_string
        if self.acceptor.feed(character):
            fragment = json.dumps(character)[1:-1] if in_string and character < " " else character
            yield CallArguments(self.calls - 1, fragment, character, tokens)
        elif self.acceptor.complete is None:
            self.place = "broken"
            yield Malformed(character, Why.ARGUMENTS, tokens)
        else:
            self.place = "closer"
            yield from self.read(character, tokens)

    def end(self, source: str, tokens: int | None) -> CallEnd:
        complete = self.acceptor.complete is not None
        self.place = "content"
        self.whole += complete
        return CallEnd(self.calls - 1, complete, source, tokens)

    def finish(self, reason: str) -> list[Event]:
        events: list[Event] = []
        if self.place in ("arguments", "closer", "broken"):
            why = Why.STRAY if self.place == "closer" else Why.ARGUMENTS
            events += [Malformed(*self.aside(why))] if self.held else []
            events.append(self.end("", self.no_tokens))
        elif self.place == "name":
            events.append(Malformed(*self.aside(Why.UNTERMINATED)))
        elif self.held:
            events.append(Content(*self.take()))
        said = "tool_calls" if reason == "stop" and self.whole else reason
        return [*events, Finish(said, self.calls, self.no_tokens)]

    no_tokens: int | None = None  # what no token counts as: 0 in a stream with ids

    def text(self) -> str:
        return "".join(character for character, _ in self.held)

    def take(self) -> tuple[str, int | None]:
        text = self.text()
        tokens = None if any(count is None for _, count in self.held) else sum(count or 0 for _, count in self.held)
        self.held = []
        return text, tokens

    def aside(self, why: Why) -> tuple[str, Why, int | None]:
        text, tokens = self.take()
        return text, why, tokens

    def snapshot(self) -> bytes:
        return pickle.dumps(self)


def characters(piece: object) -> Iterator[tuple[str, int | None]]:
    """The characters of a piece, each with the number of tokens that start at it."""
    if isinstance(piece, str):
        yield from ((character, None) for character in piece)
        return
    starts = Counter(min(token.start, len(piece.text) - 1) for token in piece.tokens)  # type: ignore[attr-defined]
    yield from ((character, starts[at]) for at, character in enumerate(piece.text))  # type: ignore[attr-defined]


def maker(parser: type[BracketParser] = BracketParser) -> Maker:
    """Text streams alone, with snapshots."""
    return Maker(lambda case, _: parser(case.tool_names), lambda _, data: pickle.loads(data))


def token_maker(parser: type[BracketParser] = BracketParser) -> Maker:
    """With token ids as well; no marker of this format is one token."""

    def new(case: Case, markers: object) -> BracketParser:
        made = parser(case.tool_names)
        made.no_tokens = None if markers is None else 0
        return made

    return Maker(new, lambda _, data: pickle.loads(data), lambda _: ())
