"""The contract against somebody else's parser, right and with planted faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bracket_parser import BracketParser, characters, maker, token_maker

from gateway_args import contract
from gateway_args.contract import Promise, promises
from gateway_args.events import (
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    Malformed,
    Reasoning,
    ReasoningEnd,
    ReasoningStart,
    Why,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = contract.read(Path(__file__).with_name("bracket_corpus.toml"))


@contract.parametrize(CORPUS)
def test_a_parser_that_is_not_ours_keeps_the_contract(case: contract.Case) -> None:
    contract.assert_holds(maker(), case)


def test_a_function_from_a_case_to_a_parser_is_enough() -> None:
    report = contract.check(lambda case: BracketParser(case.tool_names), CORPUS)
    assert report.ok, str(report)
    assert report.cases == len(CORPUS.cases)


class DropsACharacter(BracketParser):
    def read(self, character: str, tokens: int | None) -> Iterator[Event]:
        if self.place == "content" and character == "t":
            return
        yield from super().read(character, tokens)


class EmitsPastTheBoundary(BracketParser):
    def argument(self, character: str, tokens: int | None) -> Iterator[Event]:
        for event in super().argument(character, tokens):
            match event:
                case Malformed(text=text):
                    yield CallArguments(self.calls - 1, text, text, tokens)
                case _:
                    yield event


class CompleteTooEarly(BracketParser):
    def end(self, source: str, tokens: int | None) -> CallEnd:
        end = super().end(source, tokens)
        return CallEnd(end.index, True, end.source, end.tokens)


class JoinsTwoCalls(BracketParser):
    def read(self, character: str, tokens: int | None) -> Iterator[Event]:
        for event in super().read(character, tokens):
            match event:
                case CallStart(index=1, source=source):
                    self.calls -= 1
                    yield CallArguments(0, "", source, tokens)
                case _:
                    yield event


class DependsOnACut(BracketParser):
    def feed(self, piece: object) -> list[Event]:
        events = super().feed(piece)
        if self.place == "content" and self.held:  # an opener cut in two is taken for text
            events.append(Content(*self.take()))
        return events


class LosesTheTail(BracketParser):
    def finish(self, reason: str) -> list[Event]:
        self.held = []
        return super().finish(reason)


class AcceptsATrailingComma(BracketParser):
    last = ""

    def argument(self, character: str, tokens: int | None) -> Iterator[Event]:
        if character == "}" and self.last == ",":
            yield CallArguments(self.calls - 1, character, character, tokens)
            self.place = "closer"
        else:
            yield from super().argument(character, tokens)
        self.last = character


class SendsARawControlCharacter(BracketParser):
    def argument(self, character: str, tokens: int | None) -> Iterator[Event]:
        for event in super().argument(character, tokens):
            match event:
                case CallArguments(index=index, source=source):
                    yield CallArguments(index, source, source, tokens)
                case _:
                    yield event


class InventsAClosingBrace(BracketParser):
    def finish(self, reason: str) -> list[Event]:
        events = super().finish(reason)
        for at, event in enumerate(events):
            if isinstance(event, CallEnd) and not event.complete:
                events[at : at + 1] = [
                    CallArguments(event.index, "}", "", event.tokens),
                    CallEnd(event.index, True, event.source, event.tokens),
                ]
        return events


class ForgetsTheEnd(BracketParser):
    def read(self, character: str, tokens: int | None) -> Iterator[Event]:
        yield from (event for event in super().read(character, tokens) if not isinstance(event, CallEnd))


class SaysFinishTwice(BracketParser):
    def finish(self, reason: str) -> list[Event]:
        return [*super().finish(reason), Finish(reason, self.calls, None)]


class RepeatsAFragment(BracketParser):
    def argument(self, character: str, tokens: int | None) -> Iterator[Event]:
        for event in super().argument(character, tokens):
            yield event
            if character == "2":
                yield event


class SaysToolCallsOfACutCall(BracketParser):
    def finish(self, reason: str) -> list[Event]:
        return super().finish("stop" if reason == "length" else reason)


class ReadsOnlyOneCharacterOfAPiece(BracketParser):
    """Right one character at a time, wrong otherwise."""

    def feed(self, piece: object) -> list[Event]:
        return super().feed(next(iter(characters(piece)), ("", None))[0])


class ForgetsWhatItHeldWhenStored(BracketParser):
    def snapshot(self) -> bytes:
        self.held = []
        return super().snapshot()


class TripsOverAnEmptyDelta(BracketParser):
    def feed(self, piece: object) -> list[Event]:
        if piece == "":
            return [Content("", None)]
        return super().feed(piece)


class RaisesOnABrokenBody(BracketParser):
    def argument(self, character: str, tokens: int | None) -> Iterator[Event]:
        for event in super().argument(character, tokens):
            if isinstance(event, Malformed):
                raise ValueError("bad JSON")
            yield event


FAULTS: dict[type[BracketParser], Promise] = {
    DropsACharacter: Promise.CONSERVATION,
    EmitsPastTheBoundary: Promise.PREFIX,
    CompleteTooEarly: Promise.COMPLETE,
    JoinsTwoCalls: Promise.PREFIX,
    DependsOnACut: Promise.INVARIANCE,
    LosesTheTail: Promise.CONSERVATION,
    AcceptsATrailingComma: Promise.PREFIX,
    SendsARawControlCharacter: Promise.PREFIX,
    InventsAClosingBrace: Promise.READING,
    ForgetsTheEnd: Promise.LIFECYCLE,
    SaysFinishTwice: Promise.LIFECYCLE,
    RepeatsAFragment: Promise.CONSERVATION,
    SaysToolCallsOfACutCall: Promise.READING,
    ReadsOnlyOneCharacterOfAPiece: Promise.INVARIANCE,
    ForgetsWhatItHeldWhenStored: Promise.INVARIANCE,
    TripsOverAnEmptyDelta: Promise.LIFECYCLE,
    RaisesOnABrokenBody: Promise.NO_EXCEPTION,
}


@pytest.mark.parametrize(("parser", "promise"), FAULTS.items(), ids=[fault.__name__ for fault in FAULTS])
def test_a_planted_fault_is_caught(parser: type[BracketParser], promise: Promise) -> None:
    report = contract.check(maker(parser), CORPUS)
    assert promise in {failure.promise for failure in report.failures}, str(report)


class CountsATokenTwice(BracketParser):
    def feed(self, piece: object) -> list[Event]:
        events = super().feed(piece)
        for event in events[:1]:
            if isinstance(event, CallStart) and event.tokens:
                event.tokens += 1
        return events


class ForgetsTheTokensOfWhatItHeld(BracketParser):
    def take(self) -> tuple[str, int | None]:
        text, tokens = super().take()
        return text, None if tokens is None else min(tokens, 1)


class CountsTokensOfAnotherCut(BracketParser):
    """All are counted, but a piece's tokens all in its first event."""

    def feed(self, piece: object) -> list[Event]:
        events = super().feed(piece)
        counted = [event for event in events if isinstance(event, Content | CallArguments)]
        if len(counted) > 1 and counted[0].tokens is not None:
            counted[0].tokens = sum(event.tokens or 0 for event in counted)
            for event in counted[1:]:
                event.tokens = 0
        return events


class GivesUpTheCount(BracketParser):
    def finish(self, reason: str) -> list[Event]:
        return [CallEnd(e.index, e.complete, e.source) if isinstance(e, CallEnd) else e for e in super().finish(reason)]


class CountsWithoutTokens(BracketParser):
    def read(self, character: str, tokens: int | None) -> Iterator[Event]:
        yield from super().read(character, tokens or 0)


class SaysOtherThingsWithTokens(BracketParser):
    """Each kind of stream is right by itself, and they differ."""

    def read(self, character: str, tokens: int | None) -> Iterator[Event]:
        for event in super().read(character, tokens):
            if isinstance(event, CallEnd) and tokens is not None:
                yield Dropped(event.source, Why.ENVELOPE, event.tokens)
                event = CallEnd(event.index, event.complete, "", 0)  # noqa: PLW2901
            yield event


@contract.parametrize(CORPUS)
def test_a_parser_that_is_not_ours_counts_tokens(case: contract.Case) -> None:
    contract.assert_holds(token_maker(), case)


@pytest.mark.parametrize(
    ("parser", "promise"),
    [
        (CountsATokenTwice, Promise.TOKENS),
        (ForgetsTheTokensOfWhatItHeld, Promise.TOKENS),
        (CountsTokensOfAnotherCut, Promise.INVARIANCE),
        (GivesUpTheCount, Promise.TOKENS),
        (CountsWithoutTokens, Promise.TOKENS),
        (SaysOtherThingsWithTokens, Promise.INVARIANCE),
    ],
)
def test_a_planted_fault_in_counting_is_caught(parser: type[BracketParser], promise: Promise) -> None:
    report = contract.check(token_maker(parser), CORPUS)
    assert promise in {failure.promise for failure in report.failures}, str(report)


def test_a_failing_chunking_is_shrunk_to_the_one_cut_that_matters() -> None:
    report = contract.check(maker(DependsOnACut), CORPUS)
    failure = next(f for f in report.failures if f.case == "One call" and f.promise is Promise.INVARIANCE)
    assert failure.pieces == ("[", '[add {"a": 2}]]')
    assert not failure.empties
    assert not failure.restores


def test_a_failure_that_needs_no_cut_is_shown_whole() -> None:
    report = contract.check(maker(CompleteTooEarly), CORPUS)
    assert {len(failure.pieces) for failure in report.failures} == {1}


def test_a_failure_that_needs_a_stored_parser_says_so() -> None:
    report = contract.check(maker(ForgetsWhatItHeldWhenStored), CORPUS)
    assert all(failure.restores for failure in report.failures if failure.promise is Promise.INVARIANCE)
    assert "restored after each" in str(report)


def test_a_report_says_the_same_as_text_json_and_page() -> None:
    report = contract.check(maker(DropsACharacter), CORPUS)
    said = json.loads(json.dumps(report.as_dict()))
    assert said["ok"] is False
    assert said["cases"] == len(CORPUS.cases)
    broken = {failure["case"] for failure in said["failures"]}
    assert "Two calls with text around them" in broken
    page = contract.page([report])
    for name in broken:
        assert name in page
        assert name in str(report)
    assert f"{len(CORPUS.cases) - len(broken)} of {len(CORPUS.cases)} cases hold" in report.summary


def test_a_page_escapes_what_a_model_wrote() -> None:
    corpus = contract.parse('format = "x"\n[[case]]\nname = "<b>"\nkinds = ["plain"]\noutput = "<script>t"\n')
    page = contract.page([contract.check(maker(DropsACharacter), corpus)])
    assert page.count("<script>") == 1  # the page's own
    assert page.count("&lt;script&gt;") >= 2
    assert "&lt;b&gt;" in page


def test_the_kinds_that_a_corpus_lacks_are_named() -> None:
    report = contract.check(maker(), CORPUS)
    assert "typing" in report.missing_kinds
    assert "single" not in report.missing_kinds
    assert "ids" not in report.missing_kinds


@pytest.mark.parametrize(
    ("fed", "what"),
    [
        ([ReasoningStart(), CallStart(0, "id", "f", None, "", None)], "a call began inside a thought"),
        ([CallStart(0, "id", "f", None, "", None), ReasoningStart()], "a thought began inside a call"),
        ([CallStart(0, "id", "f", None, "", None), Content("x", None)], "Content inside a call"),
        ([ReasoningStart(), Content("x", None)], "Content inside a thought"),
        ([Reasoning("x", None)], "Reasoning outside a thought"),
        ([ReasoningEnd()], "ReasoningEnd without a thought"),
        ([CallEnd(0, True, "", None)], "CallEnd for the call 0 while none is open"),
        ([CallStart(1, "id", "f", None, "", None), CallEnd(1, True, "", None)], "call 0 has the index 1"),
    ],
)
def test_events_out_of_order_are_noticed(fed: list[Event], what: str) -> None:
    faults = [fault.detail for fault in promises.lifecycle(fed, [Finish("stop", 0, None)], None)]
    assert any(what in detail for detail in faults), faults
