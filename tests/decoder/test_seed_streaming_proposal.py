"""The examples of "Streaming Proposal Decode v1", section by section; each test names the section it comes from.

Its documents are canonical: no white space, fields as declared, one line feed at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import EngineEnd, Parser, Tools, formats, guard
from gateway_args.decoder import (
    Accepted,
    DocumentError,
    DocumentSetting,
    Incomplete,
    Refused,
    StreamCode,
    StreamDecoder,
    StreamLimits,
    Transcript,
    compile_schema,
    replay,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEARCH = {
    "type": "object",
    "properties": {
        "variant": {"const": "search"},
        "text": {"type": "string", "maxLength": 16},
        "count": {"type": "integer", "minimum": 1, "maximum": 50},
    },
    "required": ["variant", "text", "count"],
    "additionalProperties": False,
}
STOP = {
    "type": "object",
    "properties": {"variant": {"const": "stop"}},
    "required": ["variant"],
    "additionalProperties": False,
}
SCHEMA = compile_schema({"anyOf": [SEARCH, STOP]})
VALID = b'{"variant":"search","text":"ferries","count":12}\n'
VALUE = {"variant": "search", "text": "ferries", "count": 12}

MUTATIONS = {
    "unknown field": b'{"variant":"search","text":"ferries","count":12,"more":1}\n',
    "missing field": b'{"variant":"search","text":"ferries"}\n',
    "duplicate field": b'{"variant":"search","text":"ferries","text":"ferries","count":12}\n',
    "wrong scalar type": b'{"variant":"search","text":"ferries","count":"12"}\n',
    "out-of-range integer": b'{"variant":"search","text":"ferries","count":51}\n',
    "oversized text field": b'{"variant":"search","text":"' + b"f" * 17 + b'","count":12}\n',
    "trailing data": VALID + b"{}",
    "unknown variant tag": b'{"variant":"sear","text":"ferries","count":12}\n',
}


def _decode(pieces: list[bytes], **options: Any) -> Any:
    decoder = StreamDecoder(SCHEMA, framing="canonical", **options)
    for piece in pieces:
        decoder.push(piece)
    return decoder.finish()


def _three_ways(data: bytes) -> list[Any]:
    """One chunk, one byte at a time, split at the midpoint."""
    middle = len(data) // 2
    cuts = [[data], [data[at : at + 1] for at in range(len(data))], [data[:middle], data[middle:]]]
    return [_decode(pieces) for pieces in cuts]


# "Compiled grammar and final admission"


@pytest.mark.parametrize("data", [VALID, *MUTATIONS.values()], ids=["valid", *MUTATIONS])
def test_the_streams_outcome_is_the_whole_documents_decoders(data: bytes) -> None:
    try:
        integral: Any = SCHEMA.decode(data, "canonical")
    except DocumentError:
        integral = None
    outcomes = _three_ways(data)
    assert outcomes[0] == outcomes[1] == outcomes[2]
    if integral is None:
        assert isinstance(outcomes[0], Refused)
    else:
        assert outcomes[0] == Accepted(integral) == Accepted(VALUE)
    assert (integral is None) == (data != VALID)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[1]\n", StreamCode.START),
        (b' {"variant":"stop"}\n', StreamCode.START),
        (b'{"variant": "stop"}\n', StreamCode.WHITESPACE),
        (b'{"variant":"stop"}\r\n', StreamCode.TRAILING),
        (b'{"text":"x","variant":"search","count":1}\n', StreamCode.GRAMMAR),
        (b'{"variant":"search","count":1,"text":"x"}\n', StreamCode.GRAMMAR),
        (b'{"variant":"stop"}', StreamCode.TRUNCATED),
        (b'{"variant":"stop"}\n\n', StreamCode.TRAILING),
        (b'{"variant":"search","text":"\xc3\x28","count":1}\n', StreamCode.UTF8),
        (b'{"variant":"search","text":"\\x","count":1}\n', StreamCode.STRING),
        (b'{"variant":"search","text":"\\u00g0","count":1}\n', StreamCode.STRING),
        (b'{"variant":"search","text":"a\nb","count":1}\n', StreamCode.STRING),
        (b'{"variant":"stop"]\n', StreamCode.BRACKET),
        (b'{"variant":"search","text":"x","count":1.0}\n', StreamCode.GRAMMAR),
        (b'{"variant":"search","text":"\\u0041","count":1}\n', StreamCode.SEMANTIC),
    ],
)
def test_each_rule_of_the_table_is_one_of_the_whole_document_too(data: bytes, code: StreamCode) -> None:
    outcomes = _three_ways(data)
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0].code is code
    with pytest.raises(DocumentError):
        SCHEMA.decode(data, "canonical")


# "The three-way outcome: incomplete, accepted, refused"


def test_every_strict_prefix_is_incomplete_and_the_whole_is_accepted_by_finish_alone() -> None:
    for size in range(len(VALID)):
        decoder = StreamDecoder(SCHEMA, framing="canonical")
        assert decoder.push(VALID[:size]) == Incomplete()
    decoder = StreamDecoder(SCHEMA, framing="canonical")
    assert decoder.push(VALID) == Incomplete(), "a later chunk could still carry trailing data"
    assert decoder.finish() == Accepted(VALUE)


def test_incomplete_has_no_text_that_could_be_taken_for_a_refusal() -> None:
    assert not any(hasattr(Incomplete(), name) for name in ("code", "message", "at_byte"))
    assert len(set(StreamCode)) == 13
    assert not any("incomplete" in code.lower() for code in StreamCode)


# "Bounded buffering and work"


def test_the_byte_bound_holds_at_its_exact_limit() -> None:
    schema = compile_schema({"type": "string"})
    room = 65_536
    decoder = StreamDecoder(schema)
    assert decoder.push(b'"' + b"x" * (room - 1)) == Incomplete()
    refused = decoder.push(b"x")
    assert isinstance(refused, Refused)
    assert (refused.code, refused.at_byte) == (StreamCode.BYTES, room)
    integral = b'"' + b"x" * (room - 2) + b'"'
    exact = StreamDecoder(schema)
    exact.push(integral)
    assert exact.finish() == Accepted("x" * (room - 2))


def test_the_depth_and_the_string_bound_hold_at_their_exact_limits() -> None:
    deep = StreamDecoder(True)
    assert deep.push("[" * 64) == Incomplete()
    assert deep.push("[").code is StreamCode.DEPTH  # type: ignore[union-attr]
    strings = StreamDecoder(True)
    assert strings.push("[" + '"",' * 8_191 + '""') == Incomplete()
    refused = strings.push(',"')
    assert isinstance(refused, Refused)
    assert refused.code is StreamCode.TOKENS


def test_grammar_work_is_charged_and_capped() -> None:
    assert StreamLimits().max_work == 65_536 * 64
    assert StreamLimits().max_stack == 64 * 4
    decoder = StreamDecoder(SCHEMA, framing="canonical", limits=StreamLimits(max_work=40))
    outcome = decoder.push(VALID)
    assert isinstance(outcome, Refused)
    assert outcome.code is StreamCode.GRAMMAR
    assert decoder.grammar_work > 40


# "Determinism across chunk boundaries"


@pytest.mark.parametrize(
    "data",
    [
        VALID,
        '{"variant":"search","text":"Fähre 渡し 😀","count":1}\n'.encode(),
        MUTATIONS["unknown field"],
        b'{"variant":"search","text":"F\xc3\x28hre","count":1}\n',
    ],
    ids=["valid", "multi-byte text", "unknown field", "corrupted byte"],
)
def test_identical_bytes_have_one_outcome_whatever_the_chunks(data: bytes) -> None:
    expected = _decode([data])
    for at in range(len(data) + 1):
        assert _decode([data[:at], data[at:]]) == expected
    assert _decode([data[at : at + 1] for at in range(len(data))]) == expected


# "Cancellation and premature end of stream"


def test_a_cancel_closes_an_open_stream_and_takes_nothing_from_an_accepted_one() -> None:
    decoder = StreamDecoder(SCHEMA, framing="canonical")
    decoder.push(VALID)
    accepted = decoder.finish()
    assert decoder.cancel("too late") is accepted
    other = StreamDecoder(SCHEMA, framing="canonical")
    other.push(VALID[:9])
    refused = other.cancel("enough")
    assert isinstance(refused, Refused)
    assert (refused.code, refused.message) == (StreamCode.CANCELLED, "enough")


def test_a_stream_without_its_line_feed_is_truncated() -> None:
    outcome = _decode([VALID[:-1]])
    assert (outcome.code, outcome.at_byte) == (StreamCode.TRUNCATED, len(VALID) - 1)


def test_an_outcome_is_final() -> None:
    decoder = StreamDecoder(SCHEMA, framing="canonical")
    refused = decoder.push(b"x")
    assert decoder.push(VALID) is refused
    assert decoder.finish() is refused
    assert decoder.cancel("no") is refused


# "What this document does not claim": the adapter's bridge


def test_an_early_refusal_cancels_the_adapter_once_and_polls_it_no_more() -> None:
    polls: list[str] = []
    cancels: list[int] = []

    def engine() -> Iterator[Any]:
        for piece in ('{"variant":', '"sear', "x", "never polled"):
            polls.append(piece)
            yield piece
        yield EngineEnd("stop")

    tools = Tools.of([{"type": "function", "name": "f", "parameters": {"anyOf": [SEARCH, STOP]}}])
    parser = Parser(formats.forced("f"), tools)
    events = list(guard(engine(), parser, tools, framing="canonical", cancel=lambda: cancels.append(len(polls))))
    assert polls[-1] == "x"
    assert cancels == [3]
    assert [event.outcome.code for event in events if hasattr(event, "outcome")] == [StreamCode.GRAMMAR]


def test_an_acceptance_waits_for_the_adapters_own_end() -> None:
    tools = Tools.of([{"type": "function", "name": "f", "parameters": {"anyOf": [SEARCH, STOP]}}])
    for end, accepted in (([EngineEnd("stop")], True), ([], False), ([EngineEnd("error")], False)):
        pieces = [VALID.decode().rstrip("\n"), *end]
        events = list(guard(pieces, Parser(formats.forced("f"), tools), tools, framing="canonical"))
        (outcome,) = [event.outcome for event in events if hasattr(event, "outcome")]
        assert isinstance(outcome, Accepted) is accepted


# "Ordered transport evidence"


def test_retained_bytes_are_replayed_to_the_same_value_without_the_provider(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    lines: list[str] = []
    setting = DocumentSetting(SCHEMA, framing="canonical", sampling={"temperature": 0}, response_id="r-1")
    decoder = setting.decoder(Transcript(setting, lines.append))
    for at in range(0, len(VALID), 5):
        decoder.push(VALID[at : at + 5])
    decoder.finish()
    path.write_text("".join(lines), encoding="utf-8")
    report = replay(path)
    assert report.ok, report.problems
    assert [told.outcome for told in report.outcomes] == [Accepted(VALUE)]
    path.write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]), encoding="utf-8")
    assert not replay(path).ok
