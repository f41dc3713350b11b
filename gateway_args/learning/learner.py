"""Learns a table from a chat template and proves it.

Rendering and comparing gives a proposal (`dissect`, `propose`), reading back what the template writes for
conversations made at random gives the proof (`prove`). Nothing is learned halfway: `Learned.proved` is false where one
conversation did not read back, and the report shows it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ..errors import FormatError
from . import toml_text
from .compare import compared
from .dissect import Anatomy, Dissector
from .probe import Prober, find_shape, with_reasoning
from .propose import table_of, with_tokens
from .prove import Proof, Setting, prove
from .renderer import Bounds, Renderer, TemplateFault, Unreadable
from .response_template import table_of_template
from .texts import is_special, last_marker

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ..formats import Format
    from .model_files import Shipped
    from .probe import Prelude

_FIRST_TRY: Final = 24
"""Conversations with which a proposal is tried before it is proved."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to learn."""

    name: str = "learned"
    """The table's name."""
    source: str = ""
    """Where the template comes from: the table's `source`."""
    single_tokens: Collection[str] = ()
    """Texts that one entry of the model's vocabulary spells: markers among them are `token = true`."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """What the template is rendered with besides messages and tools (`enable_thinking`, …)."""
    conversations: int = 240
    """How many must read back."""
    seed: int = 0
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned: the table, a corpus of canonical cases, and how far it is proved."""

    name: str
    format: Format | None
    """The format; None where no table was found."""
    table: str
    """The table as TOML."""
    corpus: str
    """Canonical cases as TOML; empty unless proved."""
    proved: bool
    """Every conversation read back."""
    problem: str
    """Why nothing was proved, in one line; empty otherwise."""
    proof: Proof
    like: tuple[str, ...]
    """How our own tables read the same outputs: one line for the nearest, or none."""

    @property
    def report(self) -> str:
        """What was proved, what the template cannot write, and the first counterexample."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        proof = self.proof
        if self.proved:
            yield (
                f"{self.name}: proved: {proof.conversations} conversations with {proof.calls} calls, rendered by the "
                f"template, read back exactly in {proof.readings} readings (whole, one character at a time, in pieces "
                "of two sizes, cut once)"
            )
        else:
            yield f"{self.name}: not proved: {self.problem}"
        written = [kind for kind, can in proof.kinds.items() if can]
        if written:
            yield f"turns that the template writes: {'; '.join(written)}"
        missing = [kind for kind, can in proof.kinds.items() if not can]
        if missing:
            yield f"turns that it does not write (dropped, refused or merged): {'; '.join(missing)}"
        if proof.unwritable:
            texts = list(proof.unwritable)[:3]
            yield (
                f"not counted, {sum(proof.unwritable.values())} conversations: texts that the template writes between "
                f"quotes without escaping what is in them, such as {'; '.join(texts)}"
            )
        if proof.alike:
            alike = "; ".join(proof.alike)
            yield f"values that the template writes alike, so that no reader can tell them apart: {alike}"
        for fault, times in proof.refused.most_common(3):
            yield f"refused by the template {times} times: {fault}"
        if proof.counterexample is not None:
            yield f"first counterexample, after {proof.conversations} conversations: {proof.counterexample}"
        yield from self.like


def learn(
    chat_template: str, *, special_tokens: Mapping[str, str] | None = None, options: Options | None = None
) -> Learned:
    """The table with which what this chat template writes is read.

    `special_tokens` are the variables `bos_token`, `eos_token` and the like. Raises `Unreadable` (a ValueError) for a
    text that is no template or renders no conversation; `ModuleNotFoundError` without Jinja. A template whose calls are
    in no syntax that we have, or whose table does not hold, gives a `Learned` that is not proved.
    """
    options = options or Options()
    tokens = _tokens(special_tokens)
    with Renderer(chat_template, options.bounds) as renderer:
        try:
            return _learn(renderer, chat_template, tokens, options)
        except TemplateFault as fault:
            return _nothing(options.name, str(fault))


def check(
    format: Format,
    chat_template: str,
    *,
    special_tokens: Mapping[str, str] | None = None,
    options: Options | None = None,
    table: str = "",
) -> Learned:
    """A table that comes from elsewhere (a response template), put to the same proof."""
    options = options or Options()
    tokens = _tokens(special_tokens)
    with Renderer(chat_template, options.bounds) as renderer:
        try:
            study = _Study(renderer, chat_template, tokens, options)
            return study.proved(format, table, study.anatomy())
        except TemplateFault as fault:
            return _nothing(options.name, str(fault))


def learn_shipped(shipped: Shipped, name: str, variables: Mapping[str, Any] | None = None) -> Learned:
    """The table for what a model's repository ships.

    A response template comes first: its table is proved against the chat template. Where it does not hold, or cannot be
    said, the table is learned from the chat template, and the report says why.
    """
    options = Options(name, f"chat template of {name}", shipped.single_tokens, variables or {})
    if shipped.response_template is None:
        return learn(shipped.chat_template, special_tokens=shipped.special_tokens, options=options)
    try:
        table = with_tokens(table_of_template(shipped.response_template, name=name), shipped.single_tokens)
        format = _built(name, table)
    except FormatError as error:
        problem = f"no table from the response template: {error}"
        if not shipped.chat_template:
            return _nothing(name, problem)
    else:
        text = toml_text.table_text(table)
        if not shipped.chat_template:
            unproved = _nothing(name, "the response template is a table, but no chat template is here to prove it by")
            return replace(unproved, format=format, table=text)
        checked = check(
            format, shipped.chat_template, special_tokens=shipped.special_tokens, options=options, table=text
        )
        if checked.proved:
            return replace(checked, like=("the table is the response template's", *checked.like))
        problem = f"the response template's table does not read what the chat template writes: {checked.problem}"
    learned = learn(shipped.chat_template, special_tokens=shipped.special_tokens, options=options)
    return replace(learned, like=(problem, *learned.like))


def _tokens(given: Mapping[str, str] | None) -> dict[str, str]:
    """The variables of special tokens: what is not given renders as nothing, as an unknown name does."""
    return {**dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), ""), **(given or {})}


def _learn(renderer: Renderer, source: str, tokens: Mapping[str, str], options: Options) -> Learned:
    study = _Study(renderer, source, tokens, options)
    anatomy = study.anatomy()
    best: Learned | None = None
    for lone, joint in (("", ""), ("content", ""), ("section", ""), ("", anatomy.opener)):
        if (lone and anatomy.section is None) or (joint and anatomy.joint):
            continue
        anatomy.joint = anatomy.joint or joint
        origin = options.source or "the model's chat template"
        table = table_of(anatomy, options.name, origin, options.single_tokens, lone)
        try:
            format = _built(options.name, table)
        except FormatError as error:
            best = best or _nothing(options.name, str(error), table)
            continue
        tried = study.proved(format, toml_text.table_text(table), anatomy)
        if tried.proved:
            return tried
        if best is None or tried.proof.conversations > best.proof.conversations:
            best = tried
    assert best is not None
    return best


class _Study:
    """One template under study: the shape in which it renders, and the messages before a turn."""

    def __init__(self, renderer: Renderer, source: str, tokens: Mapping[str, str], options: Options) -> None:
        self._options: Final = options
        prober = Prober(renderer, find_shape(renderer, tokens, options.variables), tokens)
        self._prober: Final = with_reasoning(prober, source)
        self._prober.opener = ""
        self._user: Final = self._prober.user()

    def anatomy(self) -> Anatomy:
        found = Dissector(self._prober, self._user).run()
        for setting in self._settings()[1:]:
            prelude = setting.prelude
            if not setting.with_reasoning_turns:
                self._cut_space(found, prelude)
            elif found.opener and found.opener.strip() not in prelude.lead:
                opens, closes = self._prober.result_markers()
                if is_special(opens) and is_special(closes) and opens != closes:
                    found.results = [[opens, closes]]
                else:
                    found.other_openers = [last_marker(prelude.lead)]
        return found

    def _cut_space(self, found: Anatomy, quiet: Prelude) -> None:
        """A prompt without thinking that leaves out the white space with which the opener ends: the output has it."""
        space = found.opener[len(found.opener.rstrip()) :]
        cut = found.opener.rstrip()
        if space and quiet.generation.endswith(cut):
            found.other_openers.append(cut)
            found.after_start = found.after_start or space

    def proved(self, format: Format, table: str, anatomy: Anatomy) -> Learned:
        options = self._options
        reasoning_pair = ("", "")
        if anatomy.think is not None and anatomy.think_end is not None:
            reasoning_pair = (anatomy.think.text, anatomy.think_end.text)
        quoted = "".join(mark.text for mark in (anatomy.think, anatomy.section, anatomy.call) if mark is not None)
        settings = self._settings(quoted)
        proof = prove(format, settings, _FIRST_TRY, options.seed + 1, reasoning_pair)
        if proof.counterexample is None and proof.conversations:
            proof = prove(format, settings, options.conversations, options.seed, reasoning_pair)
        problem = ""
        if proof.counterexample is not None:
            problem = proof.counterexample.problem
        elif proof.conversations < options.conversations:
            problem = f"only {proof.conversations} of {options.conversations} conversations could be rendered"
        if problem:
            return Learned(options.name, format, table, "", False, problem, proof, ())
        corpus = toml_text.corpus_text(options.name, proof.samples, format.turn_openers)
        return Learned(options.name, format, table, corpus, True, "", proof, compared(format, proof.samples))

    def _settings(self, quoted: str = "") -> list[Setting]:
        """Behind a user's message and behind a tool's answer that quotes the format's own markers; thinking off."""
        found = [Setting(self._prober, self._user)]
        with contextlib.suppress(TemplateFault):
            found.append(Setting(self._prober, self._prober.tool_result(quoted)))
        shape = self._prober.shape
        off = {"enable_thinking": False, "thinking": False, **self._options.variables}
        quiet = Prober(self._prober.renderer, replace(shape, variables=off), self._prober.tokens)
        quiet.opener, quiet.end = self._prober.opener, self._prober.end
        with contextlib.suppress(TemplateFault):
            prelude = quiet.user()
            if prelude.generation != self._user.generation:
                found.append(Setting(quiet, prelude, with_reasoning_turns=False))
        return found


def _built(name: str, table: Mapping[str, Any]) -> Format:
    from ..formats.build import build

    return build(name, table)


def _nothing(name: str, problem: str, table: Mapping[str, Any] | None = None) -> Learned:
    text = toml_text.table_text(table) if table is not None else ""
    return Learned(name, None, text, "", False, problem, Proof(), ())


__all__ = ["Learned", "Options", "Unreadable", "check", "learn"]
