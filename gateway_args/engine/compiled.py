"""A format compiled for one kind of stream: each state with the markers that count in it.

Markers that are matched by token id stand in the engine's text as private characters (`scanning`); the compiled form
knows the spelling of each marker, everything else is the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..syntaxes.region import Markers
from ..syntaxes.scanning import FIRST_PRIVATE, Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..formats.table import Format, Marker, State
    from ..syntaxes.base import BoundSyntax


class MarkerRow:
    """What a marker means in a state: where it leads, and what it opens or closes."""

    __slots__ = ("closer", "ends_call", "marker", "opens", "own", "spelling", "target", "turn_end")

    def __init__(
        self,
        format: Format,
        marker: Marker,
        spelling: str,
        target: str = "",
        *,
        turn_end: bool = False,
        own: bool = True,
        closer: bool = False,
    ) -> None:
        self.marker: Final = marker
        self.spelling: Final = spelling
        self.target: Final = target  # "" for an end-of-turn text
        self.turn_end: Final = turn_end
        self.own: Final = own  # False: a row of an enclosing state, which ends this one first
        self.closer: Final = closer  # a closer that has no meaning here but right after a call
        self.opens: Final = marker.name in format.opener_names  # a call or a section
        self.ends_call: Final = marker.name in format.closer_names  # or a section


class CompiledState:
    """One state of a table, compiled: its rows by spelling, what it scans for and the call syntaxes in it."""

    __slots__ = (
        "bare",
        "bare_firsts",
        "calls",
        "fast",
        "hold",
        "kind",
        "markers",
        "name",
        "openers",
        "parent",
        "rows",
        "separator",
        "text",
        "then",
        "words",
    )

    def __init__(
        self,
        state: State,
        rows: Mapping[str, MarkerRow],
        calls: tuple[BoundSyntax, ...],
        openers: Iterable[str],
        parent: str,
    ) -> None:
        self.name: Final = state.name
        self.kind: Final = state.kind
        self.bare: Final = state.bare if calls else ""
        self.then: Final = state.then
        self.text: CompiledState | None = None  # where text that begins here goes on
        self.parent: Final = parent  # the state that this one ends in
        self.rows: Final = dict(rows)
        self.calls: Final = calls
        self.bare_firsts: Final = "".join(sorted({c for call in calls for c in call.firsts})) if self.bare else ""
        self.separator: Final = next((call.separator for call in calls if call.separator), "") if self.bare else ""
        words = set(rows)
        if self.bare == "anywhere":
            words.update(self.bare_firsts)
        self.markers: Final = Markers(state.name, words, state.kind == "wrapper")
        self.words: Final = self.markers.words
        self.openers: Final = Words(openers)
        # The characters held back at the end of a text because a marker's layout may begin there.
        self.hold: Final = max((len(row.marker.before) for row in rows.values()), default=0)
        self.fast: Final = re.compile("[" + re.escape(self.words.firsts) + "]" if words else r"(?!)")


class CompiledFormat:
    """A format's states compiled for one way of matching markers; immutable and shared by parsers."""

    __slots__ = ("format", "private", "start", "states", "texts")

    def __init__(self, format: Format, by_id: frozenset[str], with_calls: bool) -> None:
        self.format: Final = format
        texts = sorted(by_id, key=lambda text: (-len(text), text))
        self.texts: Final = texts  # private character n stands for texts[n]
        self.private: Final = {text: chr(FIRST_PRIVATE + n) for n, text in enumerate(texts)}
        self._compile_states(with_calls)

    def spell(self, text: str) -> str:
        """The text with each marker that is matched by id as its private character, longest first."""
        if self.private and any(marker in text for marker in self.texts):
            pattern = "|".join(map(re.escape, self.texts))
            return re.sub(pattern, lambda match: self.private[match.group()], text)
        return text

    def root(self, state: CompiledState) -> str:
        """Where the end of the turn leads: out of every call and section."""
        while state.kind in ("call", "wrapper") and state.parent != state.name:
            state = self.states[state.parent]
        return state.name

    def ancestor(self, state: CompiledState, spelling: str) -> str:
        """The nearest state around this one in which the marker has a row of its own."""
        name = state.parent or state.name
        seen = set()
        while name not in seen:
            seen.add(name)
            row = self.states[name].rows.get(spelling)
            if row is not None and row.own and not row.closer:
                return name
            name = self.states[name].parent or name
        return self.format.home

    def _compile_states(self, with_calls: bool) -> None:
        table = self.format
        closers = table.closers
        rows: dict[str, dict[str, MarkerRow]] = {}
        for state in table.states.values():
            own: dict[str, MarkerRow] = {}
            for name, target in state.on.items():
                if (
                    not with_calls
                    and table.states[target].kind in ("call", "wrapper")
                    and not table.states[target].headers
                ):
                    continue
                marker = table.markers[name]
                own[self.spell(marker.text)] = MarkerRow(table, marker, self.spell(marker.text), target)
            rows[state.name] = own
        ends = [MarkerRow(table, marker, self.spell(marker.text), turn_end=True) for marker in table.turn_end]
        calls = {name: syntax.bind(self.spell) for name, syntax in table.calls.items()} if with_calls else {}
        self.states: dict[str, CompiledState] = {}
        for state in table.states.values():
            live = dict(rows[state.name])
            if state.kind in ("call", "wrapper"):
                above = table.parents.get(state.name, "")
                seen = {state.name}
                while above and above not in seen:
                    seen.add(above)
                    for spelling, row in rows[above].items():
                        live.setdefault(spelling, MarkerRow(table, row.marker, spelling, row.target, own=False))
                    above = table.parents.get(above, "")
            for row in ends:
                live.setdefault(row.spelling, row)
            if state.kind == "reasoning":  # its start marker again means nothing new
                for other in table.states.values():
                    for spelling, row in rows[other.name].items() if other.kind == "content" else ():
                        if table.states[row.target].kind == "reasoning":
                            live.setdefault(spelling, row)
            regions = [row for row in live.values() if row.opens and not row.turn_end]
            if with_calls and (state.kind == "content" or (state.kind == "reasoning" and regions)):
                for marker in closers:
                    spelling = self.spell(marker.text)
                    live.setdefault(spelling, MarkerRow(table, marker, spelling, closer=True))
            openers = [
                spelling
                for spelling, row in rows[state.name].items()
                if table.states[row.target].kind == "call" or row.marker.name in table.closer_names
            ]
            headers = [table.headers[name] for name in state.headers]
            bound = (
                *(header.bind(self.spell) for header in headers if not header.last),
                *(calls[name] for name in state.calls if name in calls),
                *(header.bind(self.spell) for header in headers if header.last),
            )
            self.states[state.name] = CompiledState(state, live, bound, openers, table.parents.get(state.name, ""))
        for compiled in self.states.values():
            name = table.states[compiled.name].text
            compiled.text = self.states[name] if name else None
            if compiled.kind == "call":
                self._chain(compiled, rows, [row.spelling for row in ends])
        self.start = table.start

    def _chain(self, state: CompiledState, rows: Mapping[str, Mapping[str, MarkerRow]], ends: list[str]) -> None:
        """All the closers that a call still needs, inside out, and what stands behind them: a turn's end or a call."""
        chain: list[Words] = []
        at = state
        while at.kind in ("call", "wrapper") and len(chain) < len(self.states):
            names = self.format.closer_names
            chain.append(Words(spelling for spelling, row in rows[at.name].items() if row.marker.name in names))
            if at.parent == at.name:  # a wrapper that nothing closes
                break
            at = self.states[at.parent]
        state.markers.closers = tuple(chain)
        kinds = ("call", "wrapper")
        openers = [
            spelling
            for spelling, row in rows[at.name].items()
            if self.states[row.target].kind in kinds or row.target == at.name  # a call, or the end of a message
        ]
        state.markers.ends = Words([*ends, *openers])
        state.markers.openers = frozenset(openers)


KEPT: Final = 16
"""Compiled forms that a format keeps; more than two or three vocabularies a model are not served."""


def compiled(format: Format, by_id: frozenset[str] = frozenset(), with_calls: bool = True) -> CompiledFormat:
    """The format compiled for streams in which these markers are matched by id; made once and kept with it."""
    key = (by_id, with_calls)
    found: CompiledFormat | None = format.cache.get(key)
    if found is None:
        if len(format.cache) >= KEPT:
            format.cache.clear()
        found = format.cache[key] = CompiledFormat(format, by_id, with_calls)
    return found
