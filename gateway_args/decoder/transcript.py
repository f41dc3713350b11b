"""`Transcript`: the evidence of one guarded output, and `replay`, which checks it without the engine.

A transcript is JSON lines, UTF-8, ended by LF. The first line opens it: the request (tools, tool choice, the prompt or
its hash), the format's and the schemas' identities, the limits, and the version of this package. Then one line for each
delta, and one for the end, each with the digest of the events it brought and the outcomes of the calls it decided.
Every line carries a SHA-256 over the line before it and its own content, so a changed byte, a swapped or a dropped line
shows, and the last one (`ReplayReport.chain`), kept elsewhere, stands for the whole.

Call ids are the caller's own and no part of the evidence.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from .. import formats
from ..errors import FormatError, LifecycleError
from ..limits import Limits
from ..parser import Parser
from ..tokens.detokenizer import Delta, Token
from ..tools import Tools
from .bounds import StreamLimits
from .calls import CallOutcome, compile_tools
from .guarding import Guard
from .outcomes import Accepted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..events import Event
    from ..formats import Format

_HALVES = re.compile(r"(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")

TRANSCRIPT = 1
"""The version of what is written."""


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """All that makes a parser and its decoders what they are: enough to make them again.

    `keep_prompt=False` writes only the prompt's hash; a replay then has to be given the prompt.
    """

    format: Format
    tools: Tools | None = None
    tool_choice: Any = None
    prompt: str = ""
    start: str | None = None
    markers: Mapping[str, int] | None = None
    undeclared: str = "call"
    limits: Limits = Limits()  # noqa: RUF009  (immutable)
    stream_limits: StreamLimits = StreamLimits.for_calls()  # noqa: RUF009  (immutable)
    keep_prompt: bool = True
    prefill: str = ""

    def parser(self) -> Parser:
        return Parser(
            self.format,
            self.tools,
            prompt=self.prompt,
            prefill=self.prefill,
            start=self.start,
            markers=self.markers,
            undeclared=self.undeclared,
            limits=self.limits,
        )

    def guard(self, transcript: Transcript | None = None) -> Guard:
        return Guard(self.parser(), self.tools, limits=self.stream_limits, transcript=transcript)

    def opening(self) -> dict[str, Any]:
        """What the first line says."""
        tools = None
        if self.tools is not None:
            tools = [{"type": "function", "name": tool.name, "parameters": tool.parameters} for tool in self.tools]
        request = {"tools": tools, "tool_choice": self.tool_choice, "prompt_sha256": _sha256(self.prompt)}
        return {
            "transcript": TRANSCRIPT,
            "version": version("gateway-args"),
            "request": request,
            "request_sha256": _digest(request),
            "prompt": self.prompt if self.keep_prompt else None,
            "prefill": self.prefill,
            "format": {"name": self.format.name, "digest": self.format.digest},
            "schemas": {
                name: schema.identity for name, schema in (compile_tools(self.tools) if self.tools else {}).items()
            },
            "start": self.start,
            "markers": None if self.markers is None else dict(self.markers),
            "undeclared": self.undeclared,
            "limits": asdict(self.limits),
            "stream_limits": asdict(self.stream_limits),
        }


class Transcript:
    """Writes the evidence of one output, line by line, to `write` (a text file's own `write`, say)."""

    def __init__(self, setting: Setting, write: Callable[[str], object]) -> None:
        self._write = write
        self._count = 0
        self._ended = False
        self.chain = ""
        self._line(setting.opening())

    def delta(self, piece: str | Delta, said: list[Event | CallOutcome]) -> None:
        """A delta and what it brought."""
        if self._ended:
            raise LifecycleError("Transcript.delta: the transcript is ended")
        self._count += 1
        self._line({"n": self._count, "delta": _piece(piece), **_said(said)})

    def end(
        self,
        how: str,
        why: str | None,
        said: list[Event | CallOutcome],
        engine: str = "ended",
        error: Exception | None = None,
    ) -> None:
        """The output's end: `finish` with the engine's reason, or `cancel` with the caller's; and its settlement.

        `engine` is what became of the engine: it ended, stopped or failed by itself, or was cancelled; `error` is what
        it, or cancelling it, raised.
        """
        if self._ended:
            raise LifecycleError("Transcript.end: the transcript is ended")
        self._count += 1
        self._ended = True
        settlement = {"engine": engine, "error": None if error is None else type(error).__name__}
        self._line({"n": self._count, "end": [how, why], "settlement": settlement, **_said(said)})

    def state(self) -> list[Any]:
        """Where the transcript stands, for a snapshot."""
        return [self._count, self._ended, self.chain]

    @classmethod
    def from_state(cls, state: Any, write: Callable[[str], object]) -> Transcript:
        """The transcript that stood there, going on in `write`."""
        self = cls.__new__(cls)
        self._write = write
        match state:
            case [int(), bool(), str()]:
                self._count, self._ended, self.chain = state
            case _:
                raise ValueError("no state of a transcript")
        return self

    def _line(self, content: dict[str, Any]) -> None:
        self.chain = _link(self.chain, content)
        self._write(_written({**content, "chain": self.chain}) + "\n")


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


def replay(path: str | Path, *, format: Format | None = None, prompt: str | None = None) -> ReplayReport:
    """Checks the chain of a transcript, then reads its deltas again and compares.

    `format` is needed where the name alone does not find it (a constrained output with a base), `prompt` where only its
    hash was kept. Nothing that stands in the file raises; a file that cannot be read does (`OSError`).
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
            setting = _setting(opening, format, prompt)
            if {**setting.opening(), "version": opening["version"], "prompt": opening["prompt"]} != _content(opening):
                problems.append("the opening does not say what its own request comes to")
            events, outcomes = _repeat(setting.guard(), steps, problems)
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
        elif line.get("chain") != _link(chain, _content(line)):
            problems.append(f"{name} does not match its digest: it, or the line before it, was changed")
        elif text != _written(line).encode():
            problems.append(f"{name} is spelled in other bytes than it was written in")
        lines.append(line)
        if not isinstance(found, int) or found >= expected:  # a line that comes late does not move what is expected
            chain = str(line.get("chain", ""))
            expected = (found if isinstance(found, int) else expected) + 1
    if not lines:
        problems = [f"{'no line is a JSON object' if data else 'the file is empty'}: this is no transcript"]
    elif lines[0].get("transcript") != TRANSCRIPT:  # so nothing else that is wrong with it says anything
        problems = [f"the first line opens no transcript of version {TRANSCRIPT}"]
    elif rest:
        problems.append("the last line does not end: a line feed is missing")
    elif "end" not in lines[-1]:
        problems.append(f"the transcript has no end: it stops after delta {lines[-1].get('n', 0)}")
    return lines, problems


def _repeat(guard: Guard, steps: list[dict[str, Any]], problems: list[str]) -> tuple[int, list[CallOutcome]]:
    """Feeds the deltas again; what differs from what was recorded is a problem."""
    events = 0
    outcomes: list[CallOutcome] = []
    for step in steps:
        if "delta" in step:
            said = guard.feed(_unpiece(step["delta"]))
        else:
            how, why = step["end"]
            said = guard.finish(why) if how == "finish" else guard.cancel(why)
        events += len(said)
        outcomes += [event for event in said if isinstance(event, CallOutcome)]
        again = _said(said)
        for what in ("events", "outcomes"):
            if again[what] != step.get(what):
                where = "the end" if "end" in step else f"delta {step['n']}"
                problems.append(f"{where} brings other {what} than were recorded")
    return events, outcomes


def _setting(opening: dict[str, Any], format: Format | None, prompt: str | None) -> Setting:
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
    if opening["prompt"] is not None:
        prompt = opening["prompt"]
    if prompt is None or _sha256(prompt) != request["prompt_sha256"]:
        raise ValueError("the prompt was kept as a hash only; pass the prompt itself as prompt=")
    return Setting(
        format=format,
        tools=None if request["tools"] is None else Tools.of(request["tools"]),
        tool_choice=request["tool_choice"],
        prompt=prompt,
        prefill=opening["prefill"],
        start=opening["start"],
        markers=opening["markers"],
        undeclared=opening["undeclared"],
        limits=Limits(**opening["limits"]),
        stream_limits=StreamLimits(**opening["stream_limits"]),
    )


def _content(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key != "chain"}


def _written(line: dict[str, Any]) -> str:
    """A line as it is written, its line feed aside: what it says has this one spelling."""
    return json.dumps(line)


def _link(chain: str, content: dict[str, Any]) -> str:
    return _sha256(chain + json.dumps(content, sort_keys=True, separators=(",", ":")))


def _digest(value: Any) -> str:
    return _sha256(json.dumps(value, sort_keys=True, separators=(",", ":")))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _piece(piece: str | Delta) -> Any:
    if isinstance(piece, str):
        return piece
    # JSON reads two halves of a surrogate pair as one character, and the tokens count both: they are parted there.
    parts = _HALVES.split(piece.text)
    text = parts[0] if len(parts) == 1 else parts
    return {"text": text, "tokens": [[token.id, token.start, token.end] for token in piece.tokens]}


def _unpiece(piece: Any) -> str | Delta:
    if isinstance(piece, str):
        return piece
    return Delta("".join(piece["text"]), [Token(*token) for token in piece["tokens"]])


def _said(said: list[Event | CallOutcome]) -> dict[str, Any]:
    """The digest of the events, and the outcomes themselves; an accepted value is named by its digest."""
    events = [[type(event).__name__, *_fields(event)] for event in said if not isinstance(event, CallOutcome)]
    outcomes = []
    for event in said:
        if isinstance(event, CallOutcome):
            outcome = event.outcome
            if isinstance(outcome, Accepted):
                outcomes.append([event.index, event.name, "accepted", _digest(outcome.value)])
            else:
                told = [str(outcome.code), outcome.message, outcome.at_byte, outcome.rule, outcome.path]
                outcomes.append([event.index, event.name, "refused", *told])
    return {"events": _digest(events), "outcomes": outcomes}


def _fields(event: Event) -> list[Any]:
    return [getattr(event, field.name) for field in fields(event) if field.name not in ("id", "id_kind")]
