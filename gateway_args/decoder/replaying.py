"""`replay`: a transcript checked without the engine: is its chain unbroken, and does it say what its deltas say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from .. import formats
from ..errors import FormatError, LifecycleError
from ..limits import Limits
from ..tools import Tools
from .bounds import StreamLimits
from .calls import CallOutcome
from .compiled import CompiledSchema, compile_schema
from .settings import TRANSCRIPT, DocumentSetting, Setting, sha256
from .transcript import Output, document_events, events_record, link, read_piece, written

if TYPE_CHECKING:
    from ..events import Event
    from ..formats import Format
    from .guarding import Guard
    from .stream import StreamDecoder


@final
@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What a replay found; `ok` when the transcript is unbroken and says what the deltas say.

    `problems` are sentences, each naming the delta it is about, in order. `notes` are not held against it.
    """

    deltas: int
    events: int
    outcomes: tuple[CallOutcome, ...]
    end: str | None
    chain: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


def replay(
    path: str | Path,
    *,
    format: Format | None = None,
    prompt: str | None = None,
    prefill: str | None = None,
    schema: CompiledSchema[Any] | Any = None,
    output: Output | None = None,
) -> ReplayReport:
    """Checks the chain of a transcript, then reads its deltas again and compares: events, codes and places.

    The wording of a refusal is no part of the comparison. `format` is needed where the name alone does not find it (a
    constrained output with a base), `prompt` and `prefill` where only their hashes were kept, `schema` for a document
    of a Python type; `output` is a new adapter's stream like the recorded one. Nothing that stands in the file raises;
    a file that cannot be read does (`OSError`).
    """
    lines, problems = _read(Path(path).read_bytes())
    chain = str(lines[-1].get("chain", "")) if lines else ""
    deltas = sum("delta" in line for line in lines)
    events, outcomes, end = 0, list[CallOutcome](), None
    notes = []
    if not problems:
        opening, *steps = lines
        try:
            end = steps[-1]["end"][0]
            if opening["version"] != version("gateway-args"):
                notes.append(f"written by version {opening['version']}, replayed by {version('gateway-args')}")
            kept = ("version", "prompt", "prefill", "output")
            given: dict[str, Any] = {name: opening[name] for name in kept if name in opening}
            if "output" in opening and output is None:
                notes.append(f"what the client was sent ({opening['output']}) was not compared: pass output=")
            if opening["of"] == "document":
                document = _document(opening, schema)
                same = {**document.opening(), **given} == _content(opening)
                again: Guard | _Document = _Document(document.decoder())
            else:
                setting = _setting(opening, format, prompt, prefill)
                same = {**setting.opening(), **given} == _content(opening)
                again = setting.guard()
            if not same:
                problems.append("the opening does not say what its own request comes to")
            events, outcomes = _repeat(again, steps, problems, output if "output" in opening else None)
        except (FormatError, LifecycleError, AttributeError, LookupError, TypeError, ValueError) as error:
            problems.append(f"what was recorded cannot be replayed: {error!r}")
    return ReplayReport(deltas, events, tuple(outcomes), end, chain, tuple(problems), tuple(notes))


def _read(data: bytes) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines, and what is wrong with their chain: each is judged against the line that stands before it."""
    lines: list[dict[str, Any]] = []
    problems: list[str] = []
    chain = ""
    expected = 0
    *texts, rest = data.split(b"\n")
    for number, text in enumerate([*texts, rest] if rest else texts):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict):
            problems.append(f"line {number + 1} is no JSON object")
            continue
        found = line.get("n", 0)
        name = "the opening" if not number else "the end" if "end" in line else f"delta {found}"
        if not isinstance(found, int) or found != expected:
            later = isinstance(found, int) and found > expected
            missing = f"delta {expected} is missing: {name} stands in its place" if later else ""
            problems.append(missing or f"{name} stands where delta {expected} belongs")
        elif line.get("chain") != link(chain, _content(line)):
            problems.append(f"{name} does not match its digest: it, or the line before it, was changed")
        elif text != written(line).encode():
            problems.append(f"{name} is spelled in other bytes than it was written in")
        lines.append(line)
        if not isinstance(found, int) or found >= expected:  # a line that comes late does not move what is expected
            chain = str(line.get("chain", ""))
            expected = (found if isinstance(found, int) else expected) + 1
    if not lines:
        problems = [f"{'no line is a JSON object' if data else 'the file is empty'}: this is no transcript"]
    elif lines[0].get("transcript") != TRANSCRIPT:  # so nothing else that is wrong with it says anything
        found = lines[0].get("transcript")
        told = f"this is a transcript of version {found}" if isinstance(found, int) else "the first line opens none"
        problems = [f"{told}; this package reads version {TRANSCRIPT}"]
    elif rest:
        problems.append("the last line does not end: a line feed is missing")
    elif "end" not in lines[-1]:
        problems.append(f"the transcript has no end: it stops after delta {lines[-1].get('n', 0)}")
    return lines, problems


class _Document:
    """A bare document's decoder, driven as a guard is."""

    def __init__(self, decoder: StreamDecoder[Any]) -> None:
        self._decoder = decoder

    def feed(self, piece: Any) -> list[Event | CallOutcome]:
        return document_events(self._decoder.push(piece))

    def end(self, how: str, why: Any) -> list[Event | CallOutcome]:
        decoder = self._decoder
        match how:
            case "finish":
                return document_events(decoder.finish())
            case "cancel":
                return document_events(decoder.cancel(why))
            case "truncate":
                return document_events(decoder.truncate(why))
            case _:  # refused by its last delta
                return []


def _repeat(
    again: Guard | _Document, steps: list[dict[str, Any]], problems: list[str], output: Output | None
) -> tuple[int, list[CallOutcome]]:
    """Feeds the deltas again; what differs from what was recorded is a problem."""
    events = 0
    outcomes: list[CallOutcome] = []
    for step in steps:
        if "delta" in step:
            emitted = again.feed(read_piece(step["delta"]))
        else:
            how, why = step["end"]
            if isinstance(again, _Document):
                emitted = again.end(how, why)
            else:
                emitted = again.finish(why) if how == "finish" else again.cancel(why)
        events += len(emitted)
        outcomes += [event for event in emitted if isinstance(event, CallOutcome)]
        now = events_record(emitted, output)
        where = "the end" if "end" in step else f"delta {step['n']}"
        if now["events"] != step.get("events"):
            problems.append(f"{where} brings other events than were recorded")
        if _places(now["outcomes"]) != _places(step.get("outcomes")):
            problems.append(f"{where} brings other outcomes than were recorded")
        if output is not None and now["sent"] != step.get("sent"):
            problems.append(f"{where} sends the client other bytes than were recorded")
    return events, outcomes


def _places(outcomes: Any) -> Any:
    """The outcomes without the wording of their refusals, which may change from release to release."""
    if not isinstance(outcomes, list):
        return outcomes
    return [
        [*outcome[:4], *outcome[5:]] if isinstance(outcome, list) and outcome[2:3] == ["refused"] else outcome
        for outcome in outcomes
    ]


def _document(opening: dict[str, Any], schema: Any) -> DocumentSetting:
    recorded = opening["schema"]
    if schema is None:
        if recorded["json"] is None:
            raise ValueError("the schema is a Python type, which only its identity names; pass the type as schema=")
        schema = compile_schema(recorded["json"], resources=recorded["resources"])
    compiled = schema if isinstance(schema, CompiledSchema) else compile_schema(schema)
    if compiled.identity != recorded["identity"]:
        raise ValueError("the schema at hand is not the recorded one; pass it as schema=")
    request = opening["request"]
    return DocumentSetting(
        compiled,
        limits=StreamLimits(**opening["stream_limits"]),
        framing=opening["framing"],
        sampling=request["sampling"],
        response_id=request["response_id"],
    )


def _setting(opening: dict[str, Any], format: Format | None, prompt: str | None, prefill: str | None) -> Setting:
    recorded = opening["format"]
    name: str = recorded["name"]
    if format is None:
        if name.startswith("forced:"):
            format = formats.forced(name.removeprefix("forced:"))
        else:
            format = formats.required() if name == "required" else formats.load(name)
    if format.digest != recorded["digest"]:
        raise ValueError(f"the format {name!r} at hand is not the recorded one; pass it as format=")
    request = opening["request"]
    texts = []
    for name, given in (("prompt", prompt), ("prefill", prefill)):
        text = given if opening[name] is None else opening[name]
        if text is None and request[f"{name}_sha256"] == sha256(""):
            text = ""
        if text is None or sha256(text) != request[f"{name}_sha256"]:
            raise ValueError(f"the {name} was kept as a hash only; pass the {name} itself as {name}=")
        texts.append(text)
    return Setting(
        format=format,
        tools=None if request["tools"] is None else Tools.of(request["tools"]),
        tool_choice=request["tool_choice"],
        prompt=texts[0],
        prefill=texts[1],
        framing=opening["framing"],
        sampling=request["sampling"],
        response_id=request["response_id"],
        start=opening["start"],
        markers=opening["markers"],
        undeclared=opening["undeclared"],
        limits=Limits(**opening["limits"]),
        stream_limits=StreamLimits(**opening["stream_limits"]),
    )


def _content(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key != "chain"}
