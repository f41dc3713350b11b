"""Evidence: what a transcript says can be checked without the engine, and what was done to it is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import Tools, formats
from gateway_args.decoder import Accepted, EngineEnd, Refused, Setting, StreamCode, Transcript, guard, replay
from gateway_args.errors import LifecycleError
from gateway_args.tokens.detokenizer import Delta, Token

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = Tools.of(
    [{"name": "f", "input_schema": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}]
)
HERMES = formats.load("hermes")
TEXT = 'Yes. <tool_call>\n{"name": "f", "arguments": {"x": 12}}\n</tool_call>'
REFUSED = TEXT.replace("12", '"12"')


def _record(path: Path, text: str = TEXT, *, end: Any = "stop", size: int = 7, **setting: Any) -> list[Any]:
    """Writes the transcript of an output to the path; gives what the guard yielded."""
    made = Setting(HERMES, TOOLS, **{"tool_choice": "auto", "prompt": "Hello é", **setting})
    pieces: list[Any] = [text[at : at + size] for at in range(0, len(text), size)]
    if end is not None:
        pieces.append(EngineEnd(end))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        transcript = Transcript(made, file.write)
        return list(guard(pieces, made.parser(), made.tools, transcript=transcript))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def test_a_replay_reproduces_events_and_outcomes_without_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    events = _record(path)
    report = replay(path)
    assert report.ok, report.problems
    assert report.deltas == -(-len(TEXT) // 7)
    assert report.events == len(events)
    assert [outcome.outcome for outcome in report.outcomes] == [Accepted({"x": 12})]
    assert report.end == "finish"
    assert report.chain == json.loads(_lines(path)[-1])["chain"]
    assert report.notes == ()


@pytest.mark.parametrize(("text", "end"), [(REFUSED, "stop"), (TEXT, None), (TEXT, "error"), (TEXT[:-30], "length")])
def test_every_way_to_end_is_reproduced(tmp_path: Path, text: str, end: str | None) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path, text, end=end)
    report = replay(path)
    assert report.ok, report.problems
    (outcome,) = report.outcomes
    assert isinstance(outcome.outcome, Refused)
    assert outcome.outcome.code is (StreamCode.GRAMMAR if text is REFUSED else StreamCode.TRUNCATED)
    assert report.end == ("cancel" if text is REFUSED else "finish")


def test_an_output_that_its_consumer_left_is_reproduced(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    setting = Setting(HERMES, TOOLS)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        events = guard(
            iter([TEXT[:50], TEXT[50:]]), setting.parser(), TOOLS, transcript=Transcript(setting, file.write)
        )
        next(events)
        events.close()  # type: ignore[attr-defined]
    report = replay(path)
    assert report.ok, report.problems
    assert (report.deltas, report.end) == (1, "cancel")


def test_token_ids_and_half_surrogates_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    lines: list[str] = []
    setting = Setting(HERMES, TOOLS, markers={"<tool_call>": 7})
    core = setting.guard(Transcript(setting, lines.append))
    core.feed(Delta("a<tool_call>", [Token(1, 0, 1), Token(7, 1, 12)]))
    core.finish("stop")
    path.write_text("".join(lines), encoding="utf-8")
    assert replay(path).ok
    other: list[str] = []
    plain = Setting(HERMES, TOOLS)
    core = plain.guard(Transcript(plain, other.append))
    core.feed("\ud83d")
    core.feed("\ude00 \ud800")
    core.finish("stop")
    path.write_text("".join(other), encoding="utf-8")
    report = replay(path)
    assert report.ok, report.problems


def test_token_ids_over_the_halves_of_a_pair_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    lines: list[str] = []
    setting = Setting(HERMES, TOOLS, markers={"<tool_call>": 7}, prefill="So: ")
    core = setting.guard(Transcript(setting, lines.append))
    core.feed(Delta("ab\ud83d\ude00", [Token(1, 0, 2), Token(2, 2, 3), Token(3, 3, 4)]))
    core.feed(Delta("\ud83d", [Token(1, 0, 1)]))
    core.feed(Delta("\udc00\ud800\ud800\udc00", [Token(7, 0, 4)]))
    core.finish("stop")
    path.write_text("".join(lines), encoding="utf-8")
    report = replay(path)
    assert report.ok, report.problems


def test_the_opening_names_the_request_the_format_the_schemas_and_the_version(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path)
    opening = json.loads(_lines(path)[0])
    assert opening["format"] == {"name": "hermes", "digest": HERMES.digest}
    assert opening["request"]["tools"][0]["name"] == "f"
    assert opening["request"]["tool_choice"] == "auto"
    assert len(opening["request"]["prompt_sha256"]) == len(opening["request_sha256"]) == 64
    assert list(opening["schemas"]) == ["f"]
    assert opening["version"]
    assert opening["prompt"] == "Hello é"


def test_a_prompt_kept_as_its_hash_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path, keep_prompt=False)
    assert "Hello" not in path.read_text(encoding="utf-8")
    assert "pass the prompt" in replay(path).problems[0]
    assert "pass the prompt" in replay(path, prompt="Hullo").problems[0]
    assert replay(path, prompt="Hello é").ok


def test_a_format_that_is_another_is_named(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path)
    assert "not the recorded one" in replay(path, format=formats.load("json")).problems[0]
    base = formats.required(HERMES)
    setting = Setting(base, TOOLS)
    lines: list[str] = []
    core = setting.guard(Transcript(setting, lines.append))
    core.feed('[{"name": "f", "parameters": {"x": 1}}]')
    core.finish("stop")
    path.write_text("".join(lines), encoding="utf-8")
    assert not replay(path).ok
    assert replay(path, format=base).ok


def test_every_changed_byte_of_every_line_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path, size=30)
    data = path.read_bytes()
    for at in range(0, len(data), 3):
        changed = bytearray(data)
        changed[at] = ord("0") if changed[at] != ord("0") else ord("1")
        path.write_bytes(changed)
        assert not replay(path).ok, (at, bytes(changed[at - 20 : at + 20]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"delta": "Yes', b'"delta":\t"Yes'),
        (b'"delta": "Yes', b'"delta": "\\u0059es'),
        (b"\\u00e9", b"\\u00E9"),
        (b'{"n": 1,', b'{"n": 1, "n": 1,'),
        (b"}\n", b"}\r\n"),
        (b'{"transcript"', b'\xef\xbb\xbf{"transcript"'),
    ],
)
def test_a_byte_that_changes_nothing_of_what_is_said_is_noticed_too(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path, size=30)
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))
    assert any("other bytes" in problem for problem in replay(path).problems)


def test_a_last_line_without_its_line_feed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert replay(path).problems == ("the last line does not end: a line feed is missing",)


def test_a_changed_delta_is_named(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path)
    lines = _lines(path)
    lines[3] = lines[3].replace('"n": 3, "delta": "', '"n": 3, "delta": "!')
    path.write_text("".join(lines), encoding="utf-8")
    assert replay(path).problems == ("delta 3 does not match its digest: it, or the line before it, was changed",)


def test_a_swapped_and_a_dropped_delta_are_named(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path)
    lines = _lines(path)
    swapped = [*lines[:3], lines[4], lines[3], *lines[5:]]
    path.write_text("".join(swapped), encoding="utf-8")
    assert replay(path).problems == (
        "delta 3 is missing: delta 4 stands in its place",
        "delta 3 stands where delta 5 belongs",
    )
    path.write_text("".join([*lines[:3], *lines[4:]]), encoding="utf-8")
    assert replay(path).problems == ("delta 3 is missing: delta 4 stands in its place",)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    assert replay(path).problems == (f"the transcript has no end: it stops after delta {len(lines) - 2}",)
    renumbered = [json.loads(line) for line in [*lines[:3], *lines[4:]]]
    for number, line in enumerate(renumbered[1:], 1):
        line["n"] = number
    path.write_text("".join(json.dumps(line) + "\n" for line in renumbered), encoding="utf-8")
    assert "delta 3 does not match its digest" in replay(path).problems[0]


def test_a_chain_forged_over_other_deltas_still_has_to_say_what_they_say(tmp_path: Path) -> None:
    # Whoever can write the whole file can chain it anew; the outcomes then have to be true, and the last link differs.
    path = tmp_path / "evidence.jsonl"
    _record(path)
    honest = replay(path).chain
    lines = [json.loads(line) for line in _lines(path)]
    setting = Setting(HERMES, TOOLS, tool_choice="auto", prompt="Hello é")
    forged: list[str] = []
    transcript = Transcript(setting, forged.append)
    for line in lines[1:]:
        content = {key: value for key, value in line.items() if key != "chain"}
        if isinstance(content.get("delta"), str):
            content["delta"] = content["delta"].replace("12", "13")
        transcript._line(content)
    path.write_text("".join(forged), encoding="utf-8")
    report = replay(path)
    assert report.chain != honest
    assert any("other outcomes than were recorded" in problem for problem in report.problems)


def test_nothing_that_stands_in_the_file_raises(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    _record(path, size=40)
    lines = [json.loads(line) for line in _lines(path)]
    changed = 0
    for index in (0, 1, len(lines) - 1):
        for key in lines[index]:
            for junk in (None, [], {}, "x", -1, [1, [2]], {"name": 3}):
                forged = [{name: value for name, value in line.items() if name != "chain"} for line in lines]
                forged[index][key] = junk
                if junk == {}:
                    forged[index].pop(key)
                written: list[str] = []
                transcript = Transcript(Setting(HERMES), lambda line: None)
                transcript.chain, transcript._write = "", written.append
                for line in forged:
                    transcript._line(line)
                path.write_text("".join(written), encoding="utf-8")
                report = replay(path)
                changed += not report.ok
    assert changed > 100


def test_a_forced_output_is_replayed_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    lines: list[str] = []
    setting = Setting(formats.forced("f"), TOOLS)
    core = setting.guard(Transcript(setting, lines.append))
    core.feed('{"x": 1}')
    core.finish("stop")
    path.write_text("".join(lines), encoding="utf-8")
    report = replay(path)
    assert report.ok, report.problems
    assert [outcome.outcome for outcome in report.outcomes] == [Accepted({"x": 1})]


def test_another_version_of_the_package_is_noted_and_not_held_against_it(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    written: list[str] = []
    setting = Setting(HERMES)
    transcript = Transcript(setting, lambda line: None)
    transcript.chain, transcript._write = "", written.append
    transcript._line({**setting.opening(), "version": "0.0.1"})
    setting.guard(transcript).finish("stop")
    path.write_text("".join(written), encoding="utf-8")
    report = replay(path)
    assert report.ok, report.problems
    assert "0.0.1" in report.notes[0]


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n", b'{"transcript": 2, "n": 0}\n', b"\xff\xfe", b"{" * 5000])
def test_a_file_that_is_no_transcript_is_a_problem_and_no_exception(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "evidence.jsonl"
    path.write_bytes(content)
    assert replay(path).problems


def test_nothing_is_written_after_the_end() -> None:
    lines: list[str] = []
    setting = Setting(HERMES)
    transcript = Transcript(setting, lines.append)
    transcript.end("finish", "stop", [])
    with pytest.raises(LifecycleError):
        transcript.delta("x", [])
    with pytest.raises(LifecycleError):
        transcript.end("finish", "stop", [])
