"""Readers without an engine: a region in a few lines is enough to run one, so nothing else is asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pytest

from gateway_args import Limits, Tools, Why
from gateway_args.syntaxes.framed import Framed
from gateway_args.syntaxes.lines import Lines
from gateway_args.syntaxes.objects import Json, PythonObjects
from gateway_args.syntaxes.python_calls import Python
from gateway_args.syntaxes.region import DONE, MARKER, WAIT, Call, Hot, Markers, Progress
from gateway_args.syntaxes.scanning import Words
from gateway_args.syntaxes.tagged import Tagged
from gateway_args.syntaxes.text import Text

if TYPE_CHECKING:
    from gateway_args.syntaxes.base import Syntax
    from gateway_args.syntaxes.region import Region
    from gateway_args.syntaxes.scanning import Verdict

CLOSE = "</call>"


def marked() -> Markers:
    markers = Markers("call", [CLOSE], section=False)
    markers.closers = (Words([CLOSE]),)
    return markers


@dataclass
class Page:
    """A region whose one marker is `</call>`; `said` is what the reader says, each with its text."""

    text: str = ""
    pos: int = 0
    final: bool = False
    stopped: bool = False
    limits: Limits = field(default_factory=Limits)
    markers: Markers = field(default_factory=marked)
    call: Call = field(default_factory=lambda: Call(Tools.of([{"name": "add", "input_schema": {}}])))
    why: Why = Why.SHAPE
    mark: int = 0
    said: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def held(self) -> int:
        return self.pos - self.mark

    def _say(self, kind: str, what: str, end: int) -> None:
        self.said.append((kind, what, self.text[self.mark : end]))
        self.mark = max(self.mark, end)

    def advance(self, end: int) -> None:
        self.pos = end

    def skip_space(self) -> int:
        while self.pos < len(self.text) and self.text[self.pos].isspace():
            self.pos += 1
        return self.pos

    def marker(self, at: int, cut: bool = False) -> Verdict:
        return self.markers.words.at(self.text, at, self.final and not cut)[0]

    def closer(self, at: int) -> bool:
        return self.text.startswith(CLOSE, at)

    def data(self, start: int, end: int) -> str:
        return self.text[start:end]

    def held_text(self, end: int) -> str:
        return self.text[self.mark : end]

    def rejoin(self) -> int:
        return 0

    def divided(self, end: int) -> bool:
        return False

    def consume(self, end: int, why: Why) -> None:
        if end > self.mark:
            self._say("dropped", why, end)

    def malformed(self, end: int, why: Why) -> None:
        if end > self.mark:
            self._say("malformed", why, end)

    def fail(self, why: Why) -> Literal["broke"]:
        self.why = why
        return "broke"

    def start_call(self, name: str, end: int, id: str | None = None) -> Why | None:
        self.call.open = self.call.seen = True
        self._say("start", name, end)
        return None

    def arguments(self, json: str, end: int, divisible: bool = False) -> None:
        self._say("arguments", json, end)

    def end_call(self, end: int) -> None:
        self.call.open = False
        self._say("end", "", end)

    def hot(self, value: Hot) -> None:
        pass


SYNTAXES: dict[str, tuple[Syntax, str, Progress]] = {
    "json": (Json(), '{"name": "add", "arguments": {"a": [1, "x"]}}', DONE),
    "json list": (Json(shape="list"), '[{"name": "add", "arguments": {"a": [1, "x"]}}]', DONE),
    "lines": (Lines(header=("{name}>",)), 'add>\na: [1, "x"]\n</call>', DONE),
    "text": (Text(header=("{name}>",), argument="a"), 'add>\n[1, "x"]\n</call>', DONE),
    "framed": (Framed(header=("{name}|",)), 'add|{"a": [1, "x"]}', DONE),
    "python": (Python(), "[add(a=[1, 'x'])]", DONE),
    "python objects": (PythonObjects(), "[{'name': 'add', 'arguments': {'a': [1, 'x']}}]", DONE),
    "tagged": (
        Tagged(header=("{name}>",), parameter=("<p={name}>",), value_close="</p>"),
        'add><p=a>[1, "x"]</p>' + CLOSE,
        DONE,
    ),
}


def read(syntax: Syntax, pieces: list[str]) -> tuple[Page, Progress]:
    page = Page()
    region: Region = page  # all of the interface, as mypy sees it
    reader = syntax.bind(str).open()
    code: Progress = WAIT
    for piece in pieces:
        page.text += piece
        code = reader.read(region)
        if code != WAIT:
            break
    return page, code


def arguments(page: Page) -> str:
    return "".join(what for kind, what, _ in page.said if kind == "arguments")


@pytest.mark.parametrize("name", SYNTAXES)
def test_a_reader_needs_no_more_than_a_region(name: str) -> None:
    syntax, text, last = SYNTAXES[name]
    whole, code = read(syntax, [text])
    assert code == last
    assert [what for kind, what, _ in whole.said if kind == "start"] == ["add"]
    assert arguments(whole) == '{"a": [1, "x"]}'
    assert "".join(source for _, _, source in whole.said) == text[: whole.mark]
    single, code = read(syntax, list(text))
    assert code == last
    assert arguments(single) == arguments(whole)
    assert "".join(source for _, _, source in single.said) == text[: single.mark]


@pytest.mark.parametrize("name", SYNTAXES)
def test_a_readers_state_is_taken_up_by_another(name: str) -> None:
    syntax, text, last = SYNTAXES[name]
    bound = syntax.bind(str)
    for cut in range(len(text)):
        page = Page(text[:cut])
        reader = bound.open()
        if reader.read(page) != WAIT:
            continue
        other = bound.open()
        other.load(reader.save())
        assert other.save() == reader.save()
        page.text = text
        assert other.read(page) == last, cut
        assert arguments(page) == '{"a": [1, "x"]}'


@pytest.mark.parametrize("name", ["json", "json list", "framed", "python", "python objects"])
def test_a_marker_that_counts_ends_the_arguments(name: str) -> None:
    syntax, text, _ = SYNTAXES[name]
    cut = text.index("1") + 1
    page, code = read(syntax, [text[:cut] + CLOSE])
    assert code == MARKER
    assert page.text.startswith(CLOSE, page.pos)


def test_a_state_of_another_shape_is_refused() -> None:
    shapes: list[object] = [[], [1, 2, 3], "x", None, [[], None, None]]
    for damaged in shapes:
        with pytest.raises(ValueError, match=r"expected|zip"):
            Json().bind(str).open().load(damaged)
