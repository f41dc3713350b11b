"""A parser of one's own, put to the contract.

Its format: a call is a JSON object between two `¤`, `¤{"name": "add", "arguments": {}}¤`; all else is content. Anything
with `feed` and `finish` that gives our events can be checked; the rest of the package need not be used.

`python own_parser.py` runs the contract: every case under many chunkings, against every promise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gateway_args import (
    Assembler,
    CallArguments,
    CallEnd,
    CallStart,
    Content,
    Dropped,
    Event,
    Finish,
    Tools,
    Why,
    contract,
)

MARK = "¤"


class OwnParser:
    """Reads one output. `Assembler` reads the object of each call, strictly and as it comes."""

    def __init__(self, tools: Tools | None = None) -> None:
        self.tools = tools
        self.call: Assembler | None = None
        self.calls = 0
        self.complete = 0

    def feed(self, piece: str) -> Iterator[Event]:
        for part in re.split(f"({MARK})", piece):
            if part == MARK:
                yield from self.close() if self.call else self.open()
                yield Dropped(MARK, Why.MARKER)
            elif part and self.call:
                yield from self.numbered(self.call.feed(part))
            elif part:
                yield Content(part)

    def open(self) -> Iterator[Event]:
        self.call = Assembler(tools=self.tools)
        yield from ()

    def close(self) -> Iterator[Event]:
        if self.call:
            yield from self.numbered(self.call.finish())
        self.call = None

    def numbered(self, events: list[Event]) -> Iterator[Event]:
        """The events of one object, as those of this output's next call."""
        for event in events:
            match event:
                case CallStart():
                    self.calls += 1
                    yield replace(event, index=self.calls - 1, id=f"call_{self.calls - 1}")
                case CallEnd():
                    self.complete += event.complete
                    yield replace(event, index=self.calls - 1)
                case CallArguments():
                    yield replace(event, index=self.calls - 1)
                case _:
                    yield event

    def finish(self, reason: str) -> Iterator[Event]:
        yield from self.close()
        yield Finish("tool_calls" if reason == "stop" and self.complete else reason, self.calls, None)


CORPUS = """
format = "own"
[tools.add]
properties = { a = { type = "integer" } }

[[case]]
name = "Text is content"
kinds = ["plain"]
output = "One and one."
expect.content = "One and one."

[[case]]
name = "Two calls with text around them"
kinds = ["single", "parallel", "narration"]
output = 'First ¤{"name": "add", "arguments": {"a": 1}}¤ then ¤{"name": "add", "arguments": {"a": 2}}¤.'
[case.expect]
content = "First  then ."
calls = [{ name = "add", arguments = '{"a": 1}' }, { name = "add", arguments = '{"a": 2}' }]

[[case]]
name = "A trailing comma breaks the call"
kinds = ["literal_junk"]
output = '¤{"name": "add", "arguments": {"a": 1,}}¤'
[case.expect]
calls = [{ name = "add", arguments = '{"a": 1,', complete = false }]
malformed = [{ text = "}}", why = "arguments" }]

[[case]]
name = "Cut inside the arguments"
kinds = ["truncated"]
finish = "length"
output = '¤{"name": "add", "arguments": {"a": 1'
expect.calls = [{ name = "add", arguments = '{"a": 1', complete = false }]
"""


def new(case: contract.Case) -> OwnParser:
    return OwnParser(None if case.tools is None else Tools.of(list(case.tools)))


def check() -> contract.Report:
    return contract.check(new, contract.parse(CORPUS))


if __name__ == "__main__":
    print(check())
