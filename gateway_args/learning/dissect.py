"""Takes renderings apart: what opens and closes a thought, a call, a section of calls, a reply, the turn.

Everything is found by comparing: one call with two shows what stands between calls, content alone with content behind
a thought shows what closes the thought. What comes out is a proposal, `Anatomy`, in the words of a table; it may be
wrong, and `prove` is what says so.
"""

from __future__ import annotations

import itertools
import re
import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .conversation import MadeCall, Turn, tool
from .cores import ID, PLACE, Core, recognise
from .probe import CONTENT, KEYS, NAMES, REASON, made
from .renderer import TemplateFault
from .texts import alike, common_end, common_start, first_marker, is_special, space_after, space_before, units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .probe import Prelude, Prober

_LETTERS: Final = string.ascii_letters + string.digits + "_"


@dataclass(slots=True)
class Mark:
    """A marker: its text, and the white space that the template writes around it next to text."""

    text: str
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, literal: str) -> Mark:
        """The marker in a literal, with the literal's white space as its layout."""
        return cls(literal.strip(), space_before(literal), space_after(literal))


@dataclass(slots=True)
class Anatomy:
    """How a template writes an assistant's turn."""

    opener: str = ""
    other_openers: list[str] = field(default_factory=list)
    """Texts behind which the turn goes on after a tool's answer."""
    results: list[list[str]] = field(default_factory=list)
    """What opens and closes a tool's answer that stands inside or behind the model's turn."""
    core: Core | None = None
    call: Mark | None = None
    """Opens every call, or the region of a list; None where nothing does."""
    call_end: Mark | None = None
    section: Mark | None = None
    section_end: Mark | None = None
    header: str = ""
    """What stands between the call's marker and its name, or its object."""
    fence: str = ""
    """What stands between the call's value and its closer."""
    separator: str = ""
    think: Mark | None = None
    think_end: Mark | None = None
    calls_in_reasoning: bool = False
    """Calls stand inside a thought that is still open."""
    bare_think_end: bool = False
    """The template closes a thought that nothing opened."""
    reply: Mark | None = None
    reply_end: Mark | None = None
    ends: list[Mark] = field(default_factory=list)
    prompt_end: str = ""
    """The marker with which the template's prompt ends and every call begins."""
    joint: str = ""
    """The turn's opener where it stands again between two messages of one turn."""
    content_with_calls: bool = False
    lines: bool = False
    """Several calls follow each other between one pair of markers."""
    after_start: str = ""


class Dissector:
    """Takes one template's renderings apart."""

    def __init__(self, prober: Prober, prelude: Prelude) -> None:
        self._prober = prober
        self._prelude = prelude
        self.found = Anatomy(opener=prober.opener)

    def _output(self, turn: Turn) -> str | None:
        try:
            return self._prober.render(turn, self._prelude).output
        except TemplateFault:
            return None

    def run(self) -> Anatomy:
        """The anatomy. Raises `TemplateFault` where the calls are in no syntax that we have."""
        found = self.found
        content = self._output(Turn(CONTENT))
        one = self._output(Turn(calls=(made(0),)))
        if one is None or made(0).name not in one:
            raise TemplateFault("the template writes no call in a message without content")
        if content is not None and content.count(CONTENT) != 1:
            content = None
        self._end(content, one, self._two())
        content, one = self._output(Turn(CONTENT)) or content, self._output(Turn(calls=(made(0),))) or one
        two = self._two()
        self._reasoning(content, one)
        calls = (made(0),)
        ids = [self._prober.shape.call_id(call.name, n) for n, call in enumerate((made(0), made(1)))]
        if content is not None:
            self._reply(content)
        lead = self._after_empty_reasoning(one)
        core = recognise(one, calls, ids, lead)
        if two is not None:
            both = recognise(two, (made(0), made(1)), ids, self._after_empty_reasoning(two))
            core = Core(core.spans, {**core.table, **both.table}, both.listed, both.headed)
        else:
            both = None
        if core.table["syntax"] == "tagged":
            core = Core(core.spans, {**core.table, **self._values(core.table)}, core.listed, core.headed)
        found.core = core
        before = one[lead : core.spans[0][0]]
        after = one[core.spans[-1][1] :] if both is None or two is None else two[both.spans[-1][1] :]
        after = self._less_end(after)
        between = two[both.spans[0][1] : both.spans[1][0]] if two is not None and both and len(both.spans) > 1 else None
        if not core.listed:
            before, after = _blank(before, 0, ids), _blank(after, 0, ids)
            between = _blank(between, 1, ids) if between is not None else None
        self._region(before, between, after, core)
        self._around_calls(one, core)
        if found.call is not None and found.call.text[:1].isspace():  # or it would begin before the others
            for mark in (found.think, found.reply):
                if mark is not None and mark.before == found.call.text[:1]:
                    mark.text, mark.before = mark.before + mark.text, ""
        return found

    # ------------------------------------------------------------------------------

    def _two(self) -> str | None:
        """The output of two calls, where the template writes both."""
        two = self._output(Turn(calls=(made(0), made(1))))
        return two if two is not None and made(1).name in two else None

    def _end(self, content: str | None, one: str, two: str | None) -> None:
        """What ends every turn."""
        calls = (made(0), made(1)) if two is not None else (made(0),)
        text = two if two is not None else one
        ids = [self._prober.shape.call_id(call.name, n) for n, call in enumerate(calls)]
        core = recognise(text, calls, ids)
        tail = text[core.spans[-1][1] :]
        written = content[content.rindex(CONTENT) + len(CONTENT) :] if content is not None else tail
        end = common_end(written, tail)
        if end.strip():
            self._prober.end = end
            first = first_marker(end)
            at = end.index(first)
            rest = end[at + len(first) :]
            self.found.ends.append(Mark(first, space_before(end), space_before(rest)))
            for unit in units(rest)[:2]:
                if unit.strip() and is_special(unit) and unit not in self.found.opener:
                    self.found.ends.append(Mark(unit))

    def _less_end(self, tail: str) -> str:
        """A tail without the end of the turn."""
        for mark in self.found.ends[:1]:
            at = tail.rfind(mark.text)
            if at >= 0:
                return tail[:at]
        return tail

    def _reasoning(self, content: str | None, one: str) -> None:
        found = self.found
        texts = [
            output
            for output in (self._output(Turn(CONTENT, REASON)), self._output(Turn(None, REASON, (made(0),))))
            if output is not None and output.count(REASON) == 1
        ]
        if not texts:
            self._reasoning_of_prompt()
            return
        behind = []
        for output in texts:
            rest = output[output.index(REASON) + len(REASON) :]
            ends = [at for at in (rest.find(CONTENT), rest.find(made(0).name)) if at >= 0]
            if ends:
                behind.append(rest[: min(ends)])
        if not behind:
            return
        close = common_start(behind)
        head = texts[0][: texts[0].index(REASON)]
        plain = content if CONTENT in texts[0] else one
        if not close.strip() and len(behind) > 1:
            found.calls_in_reasoning = found.bare_think_end = True
            close = behind[0]
        elif len(behind) == 1:  # nothing to compare with: what content or calls bring along is no part of it
            lead = re.split(f"{CONTENT}|{made(0).name}", plain or "")[0]
            if head.strip() and head.strip() in lead:
                first = first_marker(close)
                close = close[: close.index(first) + len(first)]
            elif lead.strip():
                close = close[: len(close) - len(common_end(close, lead))]
        opener = found.opener
        if opener.strip() and opener.strip() in close:
            found.joint = opener
            close = close[: close.index(opener.strip())]
        if not close.strip():
            self._reasoning_of_prompt()
            return
        found.think_end = Mark.of(close)
        generation = self._prelude.generation[len(self._prelude.lead) :]
        if head.strip():
            found.think = Mark.of(head)
        elif generation.strip():
            found.think = Mark.of(generation + head)
            self._prober.reasoning_dropped = (
                generation.strip()
                not in self._prober.render(Turn(CONTENT, REASON), self._prelude).prompt[-len(generation) :]
            )
        if found.think is not None and len(units(found.think.text)) > 1:
            # a prompt that opens and closes a thought; a thought behind a reply's opener
            first = units(found.think.text)[0]
            if found.think_end.text in found.think.text:
                found.think = Mark(first, found.think.before, "")
        for plain in (content, one):
            if plain is not None and plain.lstrip().startswith(found.think_end.text):
                found.bare_think_end = True

    def _reasoning_of_prompt(self) -> None:
        """The thought that the prompt opens, in a template that writes none: `<think>`, closed by `</think>`."""
        generation = self._prelude.generation[len(self._prelude.lead) :]
        named = re.fullmatch(r"\s*(<(\w[\w:]*)>)(\s*)", generation)
        if named is not None:
            self.found.think = Mark(named[1], "", named[3])
            self.found.think_end = Mark(f"</{named[2]}>", named[3], "")

    def _after_empty_reasoning(self, output: str) -> int:
        """Where the output stands behind an empty thought, and an empty reply, that the template writes."""
        found = self.found
        if found.think_end is None:
            return 0
        opens = f"(?:{re.escape(found.think.text)})?" if found.think is not None else ""
        empty = re.match(rf"\s*{opens}\s*{re.escape(found.think_end.text)}", output)
        at = empty.end() if empty is not None else 0
        if found.reply is not None and found.reply_end is not None:
            written = re.compile(rf"\s*{re.escape(found.reply.text)}\s*{re.escape(found.reply_end.text)}").match(
                output, at
            )
            at = written.end() if written is not None else at
        return at

    def _reply(self, content: str) -> None:
        """What stands around a reply's text."""
        found = self.found
        at = content.index(CONTENT)
        lead = content[self._after_empty_reasoning(content) : at]
        tail = content[at + len(CONTENT) :]
        if lead and not lead.strip() and found.think_end is not None and not found.think_end.after:
            found.think_end.after = lead
        if lead.strip():
            found.reply = Mark.of(lead)
        elif not self._after_empty_reasoning(content):
            found.after_start = lead
        rest = self._less_end(tail)
        if rest.strip():
            if found.reply is not None and found.ends:
                found.reply_end = Mark.of(rest)
            else:
                found.ends.insert(0, Mark(first_marker(rest), space_before(rest)))
        elif rest and found.ends:
            found.ends[0].before = rest

    def _values(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """What other values than short texts look like in tags."""
        found: dict[str, Any] = {}
        one, two, three = KEYS
        types = {one: {"type": "integer"}, two: {"type": "string"}, three: {"type": "boolean"}}
        typed = self._link({one: 7341, two: "Valqzv", three: True}, types)
        if typed is not None:
            number, text = typed[one][0], typed[two][0]
            if number != text:
                before = alike([number, text]).rstrip(_LETTERS)
                after = alike([number[len(before) :][::-1], text[len(before) :][::-1]])[::-1].lstrip(_LETTERS)
                start = str(table["parameter"][0]).partition("{name}")[0]
                found["parameter"] = [start + "{name}" + before.lstrip() + "{type}" + after.strip()]
                found["text_types"] = [text[len(before) : len(text) - len(after)]]
            if typed[three][1].startswith("T"):
                found["python"] = True
        quoted = self._link({one: "Val<b&c>d\nVal"}, {one: {"type": "string"}}, "Val<b&c>d")
        link = self._link({one: "Valqzv"}, {one: {"type": "string"}}, "Valqzv")
        if quoted is not None and link is not None and quoted[one][0] != link[one][0]:
            opens = quoted[one][0][len(link[one][0]) :]
            closes = quoted[one][1][len("Val<b&c>d\nVal") :].split("]]>")[0] + "]]>"
            if opens.strip():
                found["quotes"] = [opens.strip(), closes.strip()]
        nested = self._link(
            {one: {two: "Valqzv"}}, {one: {"type": "object", "properties": {two: {"type": "string"}}}}, two
        )
        if nested is not None:
            tag = str(table["parameter"][0]).replace("{name}", two)
            if tag in nested[one][0] + nested[one][1]:
                found["nested"] = True
        return found

    def _link(
        self, arguments: dict[str, Any], types: dict[str, Any], word: str | None = None
    ) -> dict[str, tuple[str, str]] | None:
        """For each key what stands between it and its value, and what follows from the value's start on."""
        tools = [tool(name, types) for name in NAMES]
        turn = Turn(calls=(MadeCall(NAMES[0], arguments),))
        try:
            output = self._prober.render(turn, self._prelude, tools).output
        except TemplateFault:
            return None
        found = {}
        at = 0
        for key, value in arguments.items():
            found_at = output.find(key, at)
            start = re.compile(re.escape(word or str(value)), re.IGNORECASE).search(output, found_at + len(key))
            if found_at < 0 or start is None:
                return None
            found[key] = (output[found_at + len(key) : start.start()], output[start.start() :])
            at = start.end()
        return found

    def _region(self, before: str, between: str | None, after: str, core: Core) -> None:
        """Splits what stands around the calls into a section's markers and each call's own."""
        found = self.found
        gap = ""
        if between is None:
            own, close = before, after
        else:
            close = common_start([after, between])
            own = common_end(before, between[len(close.rstrip()) :])
            middle = between[len(close.rstrip()) : len(between) - len(own)] if own else between[len(close.rstrip()) :]
            found.separator, gap = middle.strip(), middle + space_after(close)
        section = before[: len(before) - len(own)] if between is not None else ""
        section_end = after[len(close.rstrip()) :] if between is not None else ""
        if not before.strip() and found.separator and self._prelude.generation.endswith(found.separator):
            own, found.separator = found.separator, ""  # the prompt ends with the first call's own marker
            found.prompt_end = own
            found.opener = found.opener.removesuffix(own)
            if found.reply is not None:
                found.reply = Mark(own.strip() + found.reply.text + found.reply.after)
            section = ""
        if not own.strip() and section.strip():  # one marker for all calls, which follow each other
            own, section = section, ""
            close, section_end = section_end, ""
            found.lines = True
        if found.joint == "" and found.opener.strip() and found.opener.strip() in (between or ""):
            found.joint = found.opener
        if section_end.strip() and not section.strip():
            found.ends.append(Mark(first_marker(section_end), space_before(section_end)))
            section_end = ""
        if found.think_end is not None and found.think_end.text in (between or ""):
            found.bare_think_end = True
        if section.strip():
            found.section = Mark.of(section)
            if section_end.strip():
                found.section_end = Mark.of(section_end)
        self._own(own, close, core)
        last = found.section_end or found.call_end
        if last is found.call_end and last is not None and not gap.strip():
            last.after = gap

    def _own(self, own: str, close: str, core: Core) -> None:
        """A call's own markers: the first unit opens it, the last closes it, the rest is header and fence."""
        found = self.found
        opens, closes = [u for u in units(own) if u.strip()], [u for u in units(close) if u.strip()]
        tagged = core.table["syntax"] == "tagged"
        if PLACE in own and tagged and closes:
            found.call, found.header = Mark(own[: own.index(PLACE)]), own[own.index(PLACE) :]
            found.call_end = Mark(closes[0])
            found.section_end = Mark.of(close[close.index(closes[0]) + len(closes[0]) :])
            return
        if tagged and len(opens) > 1 and len(closes) > 1 and found.section is None:
            outer = own[: own.rindex(opens[-1])]
            found.section, found.section_end = Mark.of(outer), Mark.of(close[close.index(closes[0]) + len(closes[0]) :])
            found.call, found.call_end = Mark(opens[-1]), Mark(closes[0])
            found.call.before = space_after(outer)
            return
        if not opens:
            found.call_end = Mark.of(close) if closes else None
            return
        first = opens[0]
        others = [mark.text for mark in (found.think, found.reply, found.section, *found.ends) if mark is not None]
        if tagged or not is_special(first) or any(text.startswith(first) for text in others):
            first = own.strip() if not tagged or len(opens) > 1 else first
        at = own.index(first)
        found.call = Mark(first, space_before(own))
        found.header = own[at + len(first) :]
        if closes:
            words = list(itertools.takewhile(lambda unit: not is_special(unit), closes))
            last = "".join(closes[len(words) :])
            if tagged:
                last = close.strip()
            elif not last or last not in close:
                last = closes[-1] if is_special(closes[-1]) or len(closes) == 1 else close.strip()
            at = close.rindex(last)
            found.fence = close[:at]
            found.call_end = Mark(last)
            if not is_special(last) and core.table["syntax"] in ("framed", "json"):
                found.fence, found.call_end = close.strip(), None  # a fence that nothing else follows

    def _around_calls(self, one: str, core: Core) -> None:
        """The layout between text and calls."""
        found = self.found
        opens = found.section or found.call
        narrated = self._output(Turn(CONTENT, calls=(made(0),)))
        if narrated is None or CONTENT not in narrated or narrated.count(CONTENT) > 1:
            return
        found.content_with_calls = True
        rest = narrated[narrated.index(CONTENT) + len(CONTENT) :]
        if found.reply_end is not None and rest.lstrip().startswith(found.reply_end.text):
            rest = rest.lstrip()[len(found.reply_end.text) :]
        if found.opener.strip() and found.opener.strip() in narrated:
            found.joint = found.opener
        elif opens is not None and opens.text in rest:
            opens.before = space_after(rest[: rest.index(opens.text)])


def _blank(text: str, n: int, ids: Sequence[str]) -> str:
    """The text with the n-th call's id and name made the same for all calls."""
    return text.replace(ids[n], ID).replace(made(n).name, PLACE)
