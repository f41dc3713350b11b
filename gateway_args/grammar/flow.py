"""A table's states as one tree: text, thoughts, sections and calls in the order in which an output may have them.

The states and markers make a finite automaton. Its places here are the states with what the request asks: whether text
has begun and whether a call was written (for required calls, for at most one). What leads from place to place is text
up to a marker, a marker alone where no text may stand, or a call; the automaton is then folded into one tree by taking
out place after place.

Of what the parser reads a constraint leaves out what no template writes: a call without the section that its table
has for it, a section without a call, a call inside an open thought, the end of an output inside a thought or section.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from .nodes import (
    EMPTY,
    NOTHING,
    SPACE,
    Choice,
    Cut,
    Free,
    Literal,
    Node,
    Repeat,
    Sequence,
    choice,
    sequence,
    shortest,
    star,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..formats import Format, State
    from .calls import Calls

FRESH: Final = 0  # nothing but thoughts and white space was written
BEGUN: Final = 1  # text was
CALLED: Final = 2  # a call was


class Request(NamedTuple):
    """What a request asks of the calls, apart from the tools."""

    text: bool
    """Text may stand around calls, and there may be none (`auto`)."""
    many: bool
    """More than one call may be written."""
    reasoning: bool
    """A thought may be opened."""
    inside: bool
    """The output starts inside a thought, which the prompt opened."""


class _Row(NamedTuple):
    """A marker of a state of text: `stop` and `rest` are its text, `stop` the shortest marker that it begins with."""

    stop: str
    rest: str
    target: str
    longer: tuple[str, ...] = ()
    """What behind it would make it another, longer marker."""


class _Node(NamedTuple):
    state: str
    phase: int
    held: bool = False
    """Of a section: it holds a call and may be closed. Of a call: it is written."""


_START: Final = _Node("", FRESH)
_END: Final = _Node("", CALLED)

_Edges = dict[_Node, dict[_Node, Node]]


def tree_of(format: Format, calls: Calls, request: Request) -> Node:
    """The tree of all outputs that the table's states and this request allow."""
    return _Flow(format, calls, request).tree()


class _Flow:
    """The automaton of one format and request."""

    def __init__(self, format: Format, calls: Calls, request: Request) -> None:
        self._format = format
        self._calls = calls
        self._request = request
        states = format.states.values()
        self._bare_start = any(state.kind == "content" and state.bare in ("start", "whole") for state in states)
        self._in_sections = {
            name
            for state in states
            if state.kind == "wrapper"
            for name in state.on
            if self._kind(state.on[name]) == "call"
        }
        self._text_markers = {name for state in states if state.kind in ("content", "reasoning") for name in state.on}
        self._ends = frozenset(marker.text for marker in format.turn_end)
        self._called_counts = not request.text or not request.many
        self._edges: _Edges = {}

    def _kind(self, state: str) -> str:
        return self._format.states[state].kind

    def tree(self) -> Node:
        todo = [_START]
        while todo:
            node = todo.pop()
            if node in self._edges:
                continue
            out: dict[_Node, list[Node]] = {}
            for label, target in self._leading_from(node):
                if label != NOTHING:
                    out.setdefault(target, []).append(label)
            self._edges[node] = {target: choice(labels) for target, labels in out.items()}
            todo += [target for target in out if target != _END]
        return _folded(self._edges)

    def _node(self, state: str, phase: int, held: bool = False) -> _Node:
        """The place, with what this request need not know left out."""
        if phase == CALLED and not self._called_counts:
            phase = BEGUN
        if phase == FRESH and not self._bare_start:
            phase = BEGUN
        return _Node(state, phase, held)

    def _leading_from(self, node: _Node) -> Iterator[tuple[Node, _Node]]:
        if node == _START:
            yield from self._beginning()
            return
        state = self._format.states[node.state]
        match state.kind:
            case "content":
                yield from self._from_content(state, node.phase)
            case "reasoning":
                yield from self._from_reasoning(state, node.phase)
            case "wrapper":
                yield from self._from_section(state, node)
            case "call":
                yield from self._closing(state, node.phase)

    # ---------------------------------------------------------------------------- where an output starts

    def _beginning(self) -> Iterator[tuple[Node, _Node]]:
        format = self._format
        if self._request.inside:
            yield EMPTY, self._node("reasoning", FRESH)
            return
        start = format.states[format.start]
        if not format.prompt_end:
            yield EMPTY, self._node(start.name, FRESH)
            return
        for row in self._rows(start):
            written = row.stop + row.rest  # the prompt has written how it begins
            if written.startswith(format.prompt_end):
                label = sequence(Literal(written[len(format.prompt_end) :]), Cut())
                yield from self._into(label, row, FRESH)

    # ------------------------------------------------------------------------------- markers of a state

    def _rows(self, state: State) -> Iterator[_Row]:
        """The markers that this request may write in a state."""
        texts = {name: self._format.markers[name].text for name in state.on}
        targets = {texts[name]: target for name, target in state.on.items()}
        for name, target in state.on.items():
            text = texts[name]
            stop = min((other for other in targets if text.startswith(other)), key=len)
            rest = text[len(stop) :]
            longer = tuple(other[len(text) :] for other in targets if other != text and other.startswith(text))
            kind = self._kind(target)
            apart = [other for other, led in targets.items() if other.startswith(text) and self._kind(led) != "content"]
            if not rest and apart and kind == "content":
                continue  # text behind it could make it one that leads elsewhere
            if rest and self._calls.begin_like(self._format.states[targets[stop]].calls, rest):
                continue  # only its end would tell it from a call
            if kind == "call" and name in self._in_sections and state.kind != "wrapper":
                continue  # a call without its section
            if self._is_asked(target):
                yield _Row(stop, rest, target, longer)
        if state.kind in ("content", "reasoning"):
            yield from self._next_messages(state)

    def _next_messages(self, state: State) -> Iterator[_Row]:
        """An end-of-turn text with another message behind it, where the prompt has begun the first one."""
        opener = self._format.prompt_end
        for end in self._format.turn_end:
            for name, target in state.on.items():
                text = self._format.markers[name].text
                if opener and end.after and text.startswith(opener) and self._is_asked(target):
                    yield _Row(end.text, end.after + text, target)

    def _is_asked(self, target: str) -> bool:
        return self._request.reasoning or self._kind(target) != "reasoning"

    def _excludes(self, state: State) -> tuple[str, ...]:
        """The texts that the state's own text may not hold: what would be read as a marker there."""
        names = list(state.on)
        texts = [self._format.markers[name].text for name in names]
        if state.kind == "content":
            texts += [marker.text for marker in self._format.closers]
        if state.kind == "reasoning":  # openers of thoughts are markers there too
            texts += self._format.reasoning_openers
        texts += self._ends
        return shortest(texts)

    # --------------------------------------------------------------------------------- text and thoughts

    def _from_content(self, state: State, phase: int) -> Iterator[tuple[Node, _Node]]:
        request = self._request
        text = request.text and state.bare != "whole"
        head = ""
        avoid: tuple[str, ...] = ()
        if text and state.bare == "start" and phase != BEGUN:
            head = self._calls.firsts(state.calls)
        elif text and state.bare == "anywhere":
            avoid = self._calls.openings(state.calls)
        excludes = self._excludes(state)
        free = Free(excludes, "", head, avoid)
        if text:
            yield free, _END
        elif phase == CALLED:
            yield SPACE, _END
        if state.calls and self._may_call(phase) and not (state.bare == "start" and phase != FRESH):
            lead: Node = SPACE
            if state.bare == "anywhere":
                lead = free if text else sequence(SPACE, self._calls.between(state.calls, phase == CALLED), SPACE)
            then = state.then or state.name
            after = self._node(then, CALLED, held=self._kind(then) == "wrapper")
            yield self._calls.bodies(state.calls, request.many, lead), after
        rows = list(self._rows(state))
        plain = {row.stop for row in rows if not row.rest and self._kind(row.target) in ("call", "wrapper")}
        again: Node = EMPTY
        if not text:  # markers between messages, each as often as there are such markers
            own = [
                Literal(r.stop + r.rest) for r in rows if r.target == state.name and not (r.rest and r.stop in plain)
            ]
            again = sequence(Repeat(choice(own), 0, len(own)), SPACE) if own else EMPTY
        leaves = not text and any(self._kind(row.target) in ("call", "wrapper") for row in rows)
        for row in rows:
            kind = self._kind(row.target)
            if kind == "content" and not text and (row.target == state.name or leaves):
                continue  # no text may stand there either
            if text and not (kind == "reasoning" and phase == FRESH):
                lead, onward = Free(excludes, row.stop, head, avoid), max(phase, BEGUN)
            else:
                lead, onward = sequence(SPACE, again, Literal(row.stop), Cut()), phase
            yield from self._into(sequence(lead, Literal(row.rest)), row, onward)

    def _from_reasoning(self, state: State, phase: int) -> Iterator[tuple[Node, _Node]]:
        excludes = self._excludes(state)
        for row in self._rows(state):
            if self._kind(row.target) in ("content", "reasoning") or row.stop in self._ends:
                yield from self._into(sequence(Free(excludes, row.stop), Literal(row.rest)), row, phase)

    # ----------------------------------------------------------------------------------- sections and calls

    def _may_call(self, phase: int) -> bool:
        return self._request.many or phase != CALLED

    def _into(self, label: Node, row: _Row, phase: int) -> Iterator[tuple[Node, _Node]]:
        """Behind a marker: the state that it leads to, and the call itself where that is a call's."""
        state = self._format.states[row.target]
        if state.kind != "call":
            yield sequence(label, Cut()), self._node(row.target, phase)
        elif self._may_call(phase):
            body = self._calls.bodies(state.calls, self._request.many, EMPTY, state, row.longer)
            for closing, node in self._closing(state, CALLED):
                yield sequence(label, _closed(body, closing)), node

    def _closing(self, state: State, phase: int) -> Iterator[tuple[Node, _Node]]:
        """What may follow a call or a section: its closers, or nothing where the turn's end closes it."""
        if state.kind == "call" and state.then:
            yield EMPTY, self._node(state.then, phase)
            return
        named = [name for name in state.on if name in self._format.closer_names]
        own = [name for name in named if name not in self._text_markers]
        for name in named:
            target = state.on[name]
            closer = Literal(self._format.markers[name].text)
            yield sequence(SPACE, closer, Cut()), self._node(target, phase, held=self._kind(target) == "wrapper")
        stops = not own or any(self._format.markers[name].text in self._ends for name in own)
        if state.unclosed or (stops and not self._calls.needs_closer(state.calls)):
            yield SPACE, _END

    def _from_section(self, state: State, node: _Node) -> Iterator[tuple[Node, _Node]]:
        for row in self._rows(state):
            kind = self._kind(row.target)
            if kind == "call" or (kind == "wrapper" and not node.held):
                yield from self._into(sequence(SPACE, Literal(row.stop + row.rest)), row, node.phase)
        if node.held:
            yield from self._closing(state, CALLED)


def _folded(edges: Mapping[_Node, Mapping[_Node, Node]]) -> Node:
    """The automaton as one tree: place after place is taken out, and what led through it is led past it."""
    out: _Edges = {node: dict(targets) for node, targets in edges.items()}
    left = [node for node in out if node != _START]
    while left:
        left.sort(key=lambda node: (sum(node in targets for targets in out.values()) * len(out[node]), node))
        node = left.pop(0)
        onward = out.pop(node)
        loop = onward.pop(node, None)
        for targets in out.values():
            label = targets.pop(node, None)
            if label is None:
                continue
            lead = _looped(label, loop)
            for target, rest in onward.items():
                path = sequence(lead, rest)
                targets[target] = choice([targets[target], path]) if target in targets else path
    onward = out[_START]
    if _END not in onward:
        return Choice(())
    loop = onward.get(_START)
    return sequence(star(loop), onward[_END]) if loop is not None else onward[_END]


def _closed(body: Node, closing: Node) -> Node:
    """The body, then what closes it: a text that only its closer ends is one with that, in each way of writing it."""
    ways = body.items if isinstance(body, Choice) else (body,)
    if not any(isinstance(part, Free) and not part.stop for way in ways for part in _parts(way)):
        return sequence(body, closing)
    return choice(sequence(way, closing) for way in ways)


def _parts(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else (node,)


def _looped(label: Node, loop: Node | None) -> Node:
    """The label, then the loop any number of times."""
    if loop is None:
        return label
    return Repeat(loop, 1) if label == loop else sequence(label, star(loop))
