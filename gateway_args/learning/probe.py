"""Asks a template: in which shape it renders calls, and what exactly the assistant's turn is in a rendering.

The turn is what stands between the generation prompt and the end of the text. The prompt's last part is known from
rendering it alone; where history is written without the thought that the prompt opens, the turn begins where both part.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from .conversation import MadeCall, ReasoningStyle, Shape, Turn, tool
from .renderer import TemplateFault, Unreadable
from .texts import common_start, first_marker, last_marker, units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .renderer import Renderer

USER: Final = "Usrqzv"
RESULT: Final = "Tlrqzv"
CONTENT: Final = "Ctnqzv"
REASON: Final = "Rsnqzv"
NAMES: Final = ("fnaqzv", "fnbqzv", "fncqzv")
KEYS: Final = ("keyaqzv", "keybqzv", "keycqzv")
VALUES: Final = ("Valaqzv", "Valbqzv", "Valcqzv")
_ECHO: Final = re.compile("""['"]type['"]: ['"]""")
_THINKS: Final = re.compile(r"think|thought|reason|cot|inner", re.IGNORECASE)

TOOLS: Final = [tool(name, {key: {"type": "string"} for key in KEYS}) for name in NAMES]


def made(n: int, keys: int = 2) -> MadeCall:
    """The n-th sentinel call with so many arguments."""
    return MadeCall(NAMES[n], {key: f"{value}{n}" for key, value in zip(KEYS[:keys], VALUES, strict=False)})


@dataclass(frozen=True, slots=True)
class Rendered:
    """An assistant's turn as the template writes it behind this prompt."""

    prompt: str
    output: str


@dataclass(frozen=True, slots=True)
class Prelude:
    """The messages before the turn, what their last one holds, and what the template writes from there to the turn."""

    messages: tuple[Mapping[str, Any], ...]
    sentinel: str
    lead: str
    """From behind the sentinel to where the turn's own text begins."""
    generation: str
    """From behind the sentinel to the end of the prompt with a generation prompt."""


class Prober:
    """Renders turns of one template in one shape."""

    def __init__(self, renderer: Renderer, shape: Shape, tokens: Mapping[str, str]) -> None:
        self.renderer: Final = renderer
        self.shape: Final = shape
        self.tokens: Final = tokens
        self.opener = ""
        """The text with which the template opens the model's turn."""
        self.end = ""
        """What the template writes behind every turn, whatever it says; cut off where another turn is begun there."""
        self.reasoning_dropped = False
        """The template writes thoughts without the opener that its prompt ends with."""

    def text(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = TOOLS, prompt: bool = False) -> str:
        """The rendering of whole messages."""
        first = [{"role": "system", "content": self.shape.text("You help.")}] if self.shape.system else []
        return self.renderer.render(
            {
                **self.tokens,
                "functions": json.dumps(tools),
                "datetime": "2026-01-02",
                "date_string": "02 Jan 2026",
                **self.shape.variables,
                "messages": [*first, *messages],
                "tools": tools,
                "add_generation_prompt": prompt,
            }
        )

    def user_message(self) -> dict[str, Any]:
        return {"role": "user", "content": self.shape.text(USER)}

    def user(self) -> Prelude:
        return self.prelude((self.user_message(),), USER)

    def tool_result(self, quoted: str = "") -> Prelude:
        """Behind a tool's answer, which quotes this text."""
        call = made(2, 1)
        messages = (
            self.user_message(),
            self.shape.message(Turn(calls=(call,))),
            self.shape.result(call, quoted + RESULT),
        )
        return self.prelude(messages, RESULT)

    def result_markers(self) -> tuple[str, str]:
        """What stands directly before and behind a tool's answer."""
        call = made(2, 1)
        user = self.user_message()
        shown = self.text([user, self.shape.message(Turn(calls=(call,))), self.shape.result(call, RESULT)])
        at = shown.rindex(RESULT)
        return last_marker(shown[:at]).strip(), first_marker(shown[at + len(RESULT) :])

    def prelude(self, messages: tuple[Mapping[str, Any], ...], sentinel: str) -> Prelude:
        """What the template writes between these messages and the turn that follows."""
        asked = self.text(messages, prompt=True)
        plain = self.text(messages)
        generation = _behind(asked, sentinel)
        closed = _behind(plain, sentinel)
        leads = [generation]
        for turn in (Turn(CONTENT), Turn(calls=(made(0),)), Turn(CONTENT, calls=(made(0),)), Turn(CONTENT, REASON)):
            try:
                shown = self.text([*messages, self.shape.message(turn)])
            except TemplateFault:
                continue
            begin = _first(shown, sentinel)
            if begin:
                leads.append(shown[shown.rindex(sentinel, 0, begin) + len(sentinel) : begin])
        lead = _without_reasoning(common_start(leads))
        history = _without_reasoning(common_start(leads[1:])) if len(leads) > 2 else ""
        if len(history) > len(lead) and generation.endswith(last_marker(history)):
            lead = history  # the prompt has more before the turn than the history of a turn
        opener = lead[len(closed) :] if lead.startswith(closed) and len(lead) > len(closed) else ""
        if opener.strip():
            self.opener = self.opener or opener
        else:
            self.opener = self.opener or last_marker(lead)
        return Prelude(messages, sentinel, lead, generation)

    def render(self, turn: Turn, prelude: Prelude, tools: Sequence[Any] = TOOLS) -> Rendered:
        """The turn behind these messages, with the prompt that it continues."""
        shown = self.text([*prelude.messages, self.shape.message(turn)], tools)
        at = shown.rfind(prelude.sentinel)
        if at < 0:
            raise TemplateFault("the last message before the turn is not rendered")
        at += len(prelude.sentinel)
        if shown.startswith(prelude.generation, at):
            cut = at + len(prelude.generation)
        elif self.opener.strip() and self.opener not in prelude.lead and self.opener in shown[at:]:
            cut = shown.index(self.opener, at) + len(self.opener)
        elif shown.startswith(prelude.lead, at):
            cut = at + len(prelude.lead)
        else:
            raise TemplateFault("the turn is not where the generation prompt says")
        output = shown[cut:]
        prompt = shown[:cut]
        if self.reasoning_dropped and turn.reasoning is not None and output.startswith(turn.reasoning):
            prompt = shown[:at] + prelude.generation
        if self.end and self.end in output:
            output = output[: output.rindex(self.end)] + self._ending(self.end)
        return Rendered(prompt, output)

    def _ending(self, end: str) -> str:
        """The end of a turn without the beginning of the next one."""
        first = units(end)
        kept = ""
        for unit in first:
            if kept.strip() and unit.strip():
                break
            kept += unit
        return kept


def find_shape(renderer: Renderer, tokens: Mapping[str, str], variables: Mapping[str, Any]) -> Shape:
    """The first shape in which the template writes a call with its name and its arguments.

    Raises `TemplateFault` when it writes none, with what it said last; `Unreadable` when it renders nothing at all.
    """
    fault = quiet = TemplateFault("the template writes no calls: tool_calls leave no trace in what it renders")
    switched = {"enable_thinking": True, "thinking": True, **variables}
    found: list[tuple[int, bool, int, Shape]] = []
    renders = silent = False
    either = (False, True)
    for parts, system, no_content, text, kimi in itertools.product(either, either, ("", None), either, either):
        if parts and renders:
            break  # plain texts are what templates want, if they take them
        shape = Shape(text, no_content, parts=parts, system=system, kimi_ids=kimi, variables=switched)
        prober = Prober(renderer, shape, tokens)
        try:
            renders = USER in prober.text([prober.user_message()], prompt=True) or renders
            shown = prober.text([prober.user_message(), shape.message(Turn(calls=(made(0),)))])
        except TemplateFault as problem:
            fault = fault if silent else problem
            continue
        if not silent:
            silent, fault = True, quiet
        turn = _behind(shown, USER)
        if NAMES[0] in turn and KEYS[0] in turn and f"{VALUES[0]}0" in turn:
            found.append((_fit(turn, kimi), text, len(shown), shape))
    if found:
        return min(found, key=lambda entry: entry[:3])[3]
    if not renders:
        raise Unreadable(f"no conversation can be rendered: {fault}")
    raise fault


def _fit(turn: str, kimi: bool) -> int:
    """How little a rendering looks like a model's: a dict's `repr`, or a text in quotes where an object belongs."""
    key = re.escape(KEYS[0])
    python = re.search(r"\{'" + key + "'", turn) is not None
    escaped = re.search(r'\\"' + key, turn) is not None
    return 4 * python + 2 * escaped + kimi


def with_reasoning(prober: Prober, source: str) -> Prober:
    """The prober in the shape in which the template writes thoughts; the same prober when it writes none."""
    for way in ReasoningStyle:
        if way in (ReasoningStyle.CLOSED, ReasoningStyle.INLINE) and "</think>" not in source:
            continue  # the template would echo them like any text
        tried = Prober(prober.renderer, replace(prober.shape, reasoning_style=way), prober.tokens)
        try:
            prelude = tried.user()
        except TemplateFault:
            continue
        for turn in (Turn(CONTENT, REASON), Turn(None, REASON, (made(0),)), Turn(CONTENT, REASON, (made(0),))):
            try:
                rendered = tried.render(turn, prelude)
            except TemplateFault:
                continue
            output = rendered.output
            if way is ReasoningStyle.CLOSED and not rendered.prompt.rstrip().endswith("<think>"):
                continue
            if output.count(REASON) == 1 and not _ECHO.search(output):
                return tried
    return prober


def _without_reasoning(lead: str) -> str:
    """The lead without the thought that a prompt opens (and perhaps closes) at its end."""
    parts = units(lead)
    for n, unit in enumerate(parts):
        if _THINKS.search(unit) and unit[:1] in "<[" and len(unit) > 2:
            if "".join(parts[n:]).count("\n") <= 4 and len(parts) - n <= 6:
                return "".join(parts[:n])
    return lead


def _behind(text: str, sentinel: str) -> str:
    at = text.rfind(sentinel)
    return text[at + len(sentinel) :] if at >= 0 else ""


def _first(text: str, sentinel: str) -> int:
    """Where the first sentinel of the turn stands, behind the last one of the prelude; 0 for nowhere."""
    at = text.rfind(sentinel)
    if at < 0:
        return 0
    positions = [text.find(word, at) for word in (CONTENT, REASON, NAMES[0])]
    return min((position for position in positions if position >= 0), default=0)
