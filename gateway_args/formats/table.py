"""A format as data: markers, states, transitions and call syntaxes, checked when it is made and never changed.

A table says which texts are markers, which states an output goes through, and which call syntaxes may stand in which
state. Everything here is plain immutable data; `gateway_args.engine` compiles and runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..events import Region
    from ..syntaxes.base import Syntax
    from ..syntaxes.headers import Header

Kind = Literal["content", "reasoning", "wrapper", "call"]


@dataclass(frozen=True, slots=True)
class Marker:
    """A text of the format's own: its spelling, whether one vocabulary token spells it, and the layout around it."""

    name: str
    text: str
    token: bool = False
    """One token of the vocabulary: matched by its id in a stream with token ids."""
    certain: bool = False
    """An opener that needs no confirmation: other text in its region is stray."""
    before: str = ""
    """White space that the template writes before the marker, at most this."""
    after: str = ""
    """White space that the template writes after the marker, at most this."""


@dataclass(frozen=True, slots=True)
class State:
    """Where an output can stand, what leads out of it and which call syntaxes may stand in it."""

    name: str
    kind: Kind
    on: Mapping[str, str] = field(default_factory=dict)
    """Marker name -> state name."""
    calls: tuple[str, ...] = ()
    """Names of call syntaxes; the first characters that fit only one of them decide."""
    then: str = ""
    """The state after a call that its value's end closes (families that write no closer)."""
    headers: tuple[str, ...] = ()
    """For a call state: names of headers with which its marker begins a message that is no call."""
    bare: str = ""
    """For a content state with `calls`: where a call may stand without a marker, "start" or "anywhere"."""
    text: str = ""
    """For a content state where a message begins: the state in which text goes on that has no header."""
    unclosed: bool = False
    """The template may leave out what closes the state at the end of a turn."""

    @property
    def opens(self) -> bool:
        """Whether what leads here opens a call or a section of them, and not a message's header alone."""
        return self.kind == "wrapper" or (self.kind == "call" and bool(self.calls))


@dataclass(frozen=True, eq=False)
class Format:
    """One model family's way of writing a reply; immutable and shared by threads."""

    name: str
    summary: str
    states: Mapping[str, State]
    markers: Mapping[str, Marker]
    calls: Mapping[str, Syntax]
    turn_openers: tuple[str, ...] = ()
    """Texts after which the model's turn begins in a prompt."""
    turn_end: tuple[Marker, ...] = ()
    """End-of-turn texts, dropped in every state."""
    headers: Mapping[str, Header] = field(default_factory=dict)
    """Headers of messages that are no calls."""
    prompt_end: str = ""
    """What the template's prompt ends with inside the model's turn: replayed when no prompt is at hand."""
    results: tuple[tuple[str, str], ...] = ()
    """What opens and closes a tool's result, where the template writes results inside or behind the model's turn."""
    after_start: str = ""
    """White space that the template writes before the first text of an output."""
    ids: str = "call"
    """The shape of call ids: "call" (`call_0`) or "alnum9" (nine letters and digits)."""
    source: str = ""
    """Where the facts come from."""
    verified: bool = True
    """False when no vendor's source was found."""
    needs_special_tokens: bool = False
    """Markers vanish under skip_special_tokens: such an output must come with token ids."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that changes what is read: what a snapshot names the table by."""
        import hashlib
        import json

        given = {field.name: _plain(getattr(self, field.name)) for field in fields(self) if field.name not in _FACTS}
        if not self.headers:  # as tables were named before there were any
            del given["headers"]
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()

    @property
    def start(self) -> str:
        """The state where an output starts unless the prompt or the caller moved it."""
        return next(iter(self.states))

    @cached_property
    def home(self) -> str:
        """The state that an end-of-turn text leads back to: the first content state."""
        return next((state.name for state in self.states.values() if state.kind == "content"), self.start)

    @cached_property
    def opener_names(self) -> frozenset[str]:
        """Markers that lead from text or from a wrapper further in: to a call, or to another wrapper."""
        inside = self._nesting
        return frozenset(
            name
            for state in self.states.values()
            if state.kind != "call"
            for name, target in state.on.items()
            if self.states[target].opens
            and (state.kind != "wrapper" or inside.get(target, 0) > inside.get(state.name, 0))
        )

    @cached_property
    def _nesting(self) -> Mapping[str, int]:
        """For each state that is reached how many markers stand between text and it."""
        found: dict[str, int] = {}
        near = [state.name for state in self.states.values() if state.kind in ("content", "reasoning")]
        while near:
            found |= dict.fromkeys(near, max(found.values(), default=-1) + 1)
            near = [t for name in near for t in self.states[name].on.values() if t not in found]
        return found

    @cached_property
    def closer_names(self) -> frozenset[str]:
        """Markers that end a call or a wrapper and open none."""
        return frozenset(
            name
            for state in self.states.values()
            if state.kind in ("call", "wrapper")
            for name in state.on
            if name not in self.opener_names
        )

    @cached_property
    def regions(self) -> Mapping[str, Region]:
        """The markers of regions of calls, by their text: those that start one and those that end one."""
        ends: dict[str, Region] = {self.markers[name].text: "end" for name in self.closer_names}
        starts: dict[str, Region] = {self.markers[name].text: "start" for name in self.opener_names}
        return ends | starts

    @cached_property
    def closers(self) -> tuple[Marker, ...]:
        reasoning = {
            name for state in self.states.values() if state.kind in ("content", "reasoning") for name in state.on
        }
        return tuple(self.markers[name] for name in sorted(self.closer_names - reasoning))

    @cached_property
    def parents(self) -> Mapping[str, str]:
        """For each call and wrapper state the state that it ends in: its `then`, or where its closer leads."""
        found: dict[str, str] = {}
        for state in self.states.values():
            if state.kind in ("call", "wrapper"):
                ends = [target for name, target in state.on.items() if name in self.closer_names]
                none = state.name if state.kind == "wrapper" else self.home
                found[state.name] = state.then or (ends[0] if ends else none)
        return found

    def marker_texts(self) -> Iterable[str]:
        """The texts of the markers that one vocabulary token spells: what `markers=` maps to ids."""
        for marker in (*self.markers.values(), *self.turn_end):
            if marker.token:
                yield marker.text

    def call_marker_texts(self) -> Iterable[str]:
        """Those of them that start or end regions of calls."""
        return (text for text in self.marker_texts() if text in self.regions)

    @cached_property
    def token_texts(self) -> frozenset[str]:
        return frozenset(self.marker_texts())

    @cached_property
    def reasoning_markers(self) -> tuple[Marker, ...]:
        """Markers that open or close a thought."""
        names = {
            name
            for state in self.states.values()
            for name, target in state.on.items()
            if self.states[target].kind == "reasoning" or state.kind == "reasoning"
        }
        return tuple(self.markers[name] for name in sorted(names))

    @cached_property
    def reasoning_openers(self) -> tuple[str, ...]:
        """The texts that open a thought in content."""
        return tuple(
            self.markers[name].text
            for state in self.states.values()
            for name, target in state.on.items()
            if state.kind == "content" and self.states[target].kind == "reasoning"
        )

    @cached_property
    def reasoning_pairs(self) -> tuple[tuple[str, str], ...]:
        """An opener and a closer for each closer of a thought that means nothing in content."""
        texts = [state for state in self.states.values() if state.kind == "content"]
        known = {name for state in texts for name in state.on}
        pairs = []
        for reasoning_state in self.states.values():
            openers = [name for state in texts for name, target in state.on.items() if target == reasoning_state.name]
            if reasoning_state.kind == "reasoning" and openers:
                closers = [name for name, target in reasoning_state.on.items() if self.states[target].kind == "content"]
                opener = self.markers[openers[0]].text
                pairs += [(opener, self.markers[name].text) for name in closers if name not in known]
        return tuple(pairs)

    @cached_property
    def cache(self) -> dict[object, Any]:
        """What others have made of this format and keep with it."""
        return {}

    def __repr__(self) -> str:
        return f"Format({self.name!r})"


_FACTS = frozenset({"name", "summary", "source", "verified", "needs_special_tokens"})
"""What a table says of itself and no reading depends on."""


def _plain(value: object) -> object:
    """Data as JSON has it; the order of states and rows is kept, it says where an output starts."""
    if is_dataclass(value):
        given = [(field, getattr(value, field.name)) for field in fields(value)]
        # A key at its default is left out, so that a new one changes no table's digest.
        return [type(value).__name__, *([field.name, _plain(item)] for field, item in given if item != field.default)]
    if isinstance(value, Mapping):
        return [[key, _plain(item)] for key, item in value.items()]
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
