"""Evidence for any stream (documents, canonical framing, what the client was sent), bound to the dispatched request."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import Tools, adapters, formats
from gateway_args.decoder import (
    Accepted,
    DocumentSetting,
    EngineEnd,
    Guard,
    Refused,
    Setting,
    StreamCode,
    StreamDecoder,
    StreamLimits,
    Transcript,
    guard,
    replay,
)
from gateway_args.decoder.transcript import link
from gateway_args.errors import LifecycleError

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer", "multipleOf": 3}}, "required": ["x"]}
TOOLS = Tools.of([{"name": "f", "input_schema": SCHEMA}])
HERMES = formats.load("hermes")
TEXT = 'Yes. <tool_call>\n{"name": "f", "arguments": {"x": 12}}\n</tool_call>'


def _write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _document(path: Path, pieces: list[Any], end: str, **options: Any) -> Any:
    """The outcome of a recorded document; `end` is finish, cancel or truncate."""
    lines: list[str] = []
    setting = DocumentSetting(**{"schema": SCHEMA, **options})
    decoder = setting.decoder(Transcript(setting, lines.append))
    for piece in pieces:
        decoder.push(piece)
    outcome = decoder.finish() if end == "finish" else getattr(decoder, end)("enough")
    _write(path, lines)
    return outcome


@pytest.mark.parametrize(
    ("pieces", "end", "code"),
    [
        (['{"x": ', "12}"], "finish", None),
        ([b'{"x": \xff'], "finish", StreamCode.UTF8),
        (['{"x": 1', "3}"], "finish", StreamCode.SEMANTIC),
        (['{"x": "é'], "finish", StreamCode.GRAMMAR),
        (['{"y": "\ud83d', '\ude00"'], "finish", StreamCode.UTF8),
        (['{"x": 1'], "finish", StreamCode.TRUNCATED),
        (['{"x": 1'], "cancel", StreamCode.CANCELLED),
        (['{"x": 12}'], "truncate", StreamCode.TRUNCATED),
        ([], "finish", StreamCode.TRUNCATED),
    ],
)
def test_a_bare_document_is_replayed(tmp_path: Path, pieces: list[Any], end: str, code: StreamCode | None) -> None:
    path = tmp_path / "evidence.jsonl"
    outcome = _document(path, pieces, end, limits=StreamLimits(max_bytes=100), sampling={"temperature": 0})
    report = replay(path)
    assert report.ok, report.problems
    assert [told.outcome for told in report.outcomes] == [outcome]
    assert (outcome.code if isinstance(outcome, Refused) else None) == code
    assert report.end == ("refused" if code in (StreamCode.GRAMMAR, StreamCode.UTF8) else end)


def test_a_document_in_canonical_framing_is_replayed_as_one(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    assert _document(path, ['{"x":12}', "\n"], "finish", framing="canonical") == Accepted({"x": 12})
    assert replay(path).ok
    assert isinstance(_document(path, ['{"x": 12}', "\n"], "finish", framing="canonical"), Refused)
    assert replay(path).ok


@dataclass
class Point:
    x: int


def test_a_type_is_named_by_its_identity_and_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    assert _document(path, ['{"x": 12}'], "finish", schema=Point) == Accepted(Point(12))
    assert "pass the type as schema=" in replay(path).problems[0]
    assert replay(path, schema=Point).ok
    assert "not the recorded one" in replay(path, schema=int).problems[0]


def test_every_changed_byte_of_a_documents_evidence_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _document(path, ['{"x": ', "12}"], "finish")
    data = path.read_bytes()
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] = ord("0") if changed[at] != ord("0") else ord("1")
        path.write_bytes(changed)
        assert not replay(path).ok, at


def test_evidence_is_bound_to_the_request_that_was_dispatched(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    lines: list[str] = []
    sampling = {"temperature": 0.7, "seed": 3, "stop": ["x"]}
    setting = Setting(HERMES, TOOLS, sampling=sampling, response_id="chatcmpl-9")
    list(guard([TEXT, EngineEnd("stop")], setting.parser(), TOOLS, transcript=Transcript(setting, lines.append)))
    opening = json.loads(lines[0])
    assert opening["request"]["sampling"] == sampling
    assert opening["request"]["response_id"] == "chatcmpl-9"
    assert replay(_write(path, lines)).ok
    chain = replay(path).chain
    for name, value in (("response_id", "chatcmpl-8"), ("sampling", {"temperature": 0.8})):
        forged = [json.loads(line) for line in lines]
        forged[0]["request"][name] = value
        problems = replay(_write(path, _chained(forged))).problems
        assert problems == ("the opening does not say what its own request comes to",)
        assert replay(path).chain != chain


def _chained(lines: list[dict[str, Any]]) -> list[str]:
    """The lines with a chain of their own, as a forger would write them."""
    chain = ""
    written = []
    for line in lines:
        content = {key: value for key, value in line.items() if key != "chain"}
        chain = link(chain, content)
        written.append(json.dumps({**content, "chain": chain}) + "\n")
    return written


def test_the_evidence_says_why_a_call_was_refused(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    for text, told in (
        (TEXT.replace("12", '"'), ["STREAM-GRAMMAR", "$.x: unexpected string; expected number", 6, "", ""]),
        (TEXT.replace("12", "13"), ["STREAM-SEMANTIC", "$.x: 13 is not a multiple of 3", 9, "multipleOf", "$.x"]),
    ):
        lines: list[str] = []
        setting = Setting(HERMES, TOOLS)
        list(guard([text, EngineEnd("stop")], setting.parser(), TOOLS, transcript=Transcript(setting, lines.append)))
        step, end = json.loads(lines[-2]), json.loads(lines[-1])
        assert step["outcomes"] == [[0, "f", "refused", *told]]
        assert end["end"] == ["cancel", f"call 0 (f) was refused: {told[0]}"]
        assert end["settlement"] == {"engine": "cancelled", "error": None}
        assert replay(_write(path, lines)).ok


def test_the_evidence_says_how_the_engine_was_settled() -> None:
    def settlement(stream: Any, text: str = TEXT, **options: Any) -> Any:
        lines: list[str] = []
        setting = Setting(HERMES, TOOLS)
        with contextlib.suppress(ConnectionError):
            list(guard(stream, setting.parser(), TOOLS, transcript=Transcript(setting, lines.append), **options))
        return json.loads(lines[-1])["settlement"]

    def fails() -> Any:
        yield TEXT
        raise ConnectionError("gone")

    def deaf() -> None:
        raise ConnectionError("no answer")

    assert settlement([TEXT, EngineEnd("stop")]) == {"engine": "ended", "error": None}
    assert settlement([TEXT]) == {"engine": "stopped", "error": None}
    assert settlement(fails()) == {"engine": "failed", "error": "ConnectionError"}
    refused = TEXT.replace("12", '"12"')
    assert settlement([refused, "more"], cancel=deaf) == {"engine": "cancelled", "error": "ConnectionError"}


def test_a_refusal_that_is_worded_anew_makes_no_old_evidence_false(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    lines: list[str] = []
    setting = Setting(HERMES, TOOLS)
    text = TEXT.replace("12", '"12"')
    list(guard([text, EngineEnd("stop")], setting.parser(), TOOLS, transcript=Transcript(setting, lines.append)))
    recorded = [json.loads(line) for line in lines]
    (outcome,) = recorded[1]["outcomes"]
    outcome[4] = "worded otherwise"
    assert replay(_write(path, _chained(recorded))).ok
    for place, value in ((3, "STREAM-STRING"), (5, 7), (6, "type"), (7, "$.y")):
        kept = outcome[place]
        outcome[place] = value
        assert "other outcomes than were recorded" in replay(_write(path, _chained(recorded))).problems[0]
        outcome[place] = kept


def test_evidence_of_another_version_is_refused_by_its_version(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    path.write_text('{"transcript": 1, "n": 0, "chain": ""}\n', encoding="utf-8")
    assert replay(path).problems == ("this is a transcript of version 1; this package reads version 2",)


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
def test_what_the_client_is_sent_stands_in_the_evidence(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "evidence.jsonl"
    envelope = adapters.Envelope(id="resp-1", model="m", created=7)

    def stream() -> Any:
        return adapters.stream(kind, envelope)

    for text in (TEXT, TEXT.replace("12", '"12"'), TEXT[:-20]):
        lines: list[str] = []
        setting = Setting(HERMES, TOOLS, response_id=envelope.id)
        core = setting.guard(Transcript(setting, lines.append, output=stream()))
        core.feed(text[:30])
        state = core.snapshot()
        with pytest.raises(LifecycleError, match="give output="):
            Guard.restore(state, HERMES, TOOLS, write=lines.append)
        core = Guard.restore(
            state, HERMES, TOOLS, write=lines.append, output=lambda data: type(stream()).restore(data, envelope)
        )
        list(guard([text[30:], EngineEnd("stop")], core))
        _write(path, lines)
        report = replay(path, output=stream())
        assert report.ok, report.problems
        assert "pass output=" in replay(path).notes[0]
        other = adapters.stream(kind, adapters.Envelope(id="resp-2", model="m", created=7))
        assert any("sends the client other bytes" in problem for problem in replay(path, output=other).problems)


def test_a_bare_document_and_its_evidence_move_to_another_process(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    lines: list[str] = []
    setting = DocumentSetting(SCHEMA)
    decoder = setting.decoder(Transcript(setting, lines.append))
    decoder.push('{"x": ')
    with pytest.raises(LifecycleError, match="give write="):
        StreamDecoder.restore(decoder.snapshot(), SCHEMA)
    decoder = StreamDecoder.restore(decoder.snapshot(), SCHEMA, write=lines.append)
    decoder.push("12}")
    assert decoder.finish() == Accepted({"x": 12})
    assert replay(_write(path, lines)).ok
