"""A `Program` is a format compiled for one kind of stream: each state with the markers that count in it.

Markers that are matched by token id stand in the engine's text as one private character each (a lone surrogate, which
normalised text never holds), so that every other part reads one string and no part asks how a marker arrived. The
compiled form knows the spelling of each marker; everything else is the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..formats.table import Format, Marker, State
    from ..syntaxes.base import Bound

FIRST_PRIVATE: Final = 0xD800
"""The private characters are the surrogates from here on, one a marker."""

SPACE: Final = " \t\n\r"
"""White space, everywhere in this package: JSON's four characters."""


def skip_space(text: str, at: int, end: int = -1) -> int:
    """The first character from `at` on that is no white space, or `end`: the end of the text when left out."""
    if end < 0:
        end = len(text)
    while at < end and text[at] in SPACE:
        at += 1
    return at


def is_private(char: str) -> bool:
    """Whether this character stands for a marker that was matched by its id."""
    return 0xD800 <= ord(char) < 0xE000


class Words:
    """A set of texts to find in another: the earliest, of those the longest, and one half-arrived at the end."""

    __slots__ = ("_full", "_growing", "_longer", "_partial", "words")

    def __init__(self, words: Iterable[str]) -> None:
        self.words: Final = frozenset(words)
        ordered = sorted(self.words, key=lambda word: (-len(word), word))
        self._full = re.compile("|".join(map(re.escape, ordered)) or r"(?!)")
        self._growing = re.compile(_growing(ordered) if ordered else r"(?!)")
        self._longer = frozenset(
            word for word in ordered if any(other != word and other.startswith(word) for other in ordered)
        )
        self._partial = {word[:size] for word in ordered for size in range(1, len(word))}

    def find(self, text: str, start: int, final: bool) -> tuple[int, int, bool]:
        """Where the next word is, as (start, end, whole); not whole is a word that may still be arriving.

        With `final` no more text comes. Nothing found is (len(text), len(text), False).
        """
        match = (self._full if final else self._growing).search(text, start)
        if match is None:
            return len(text), len(text), False
        return self._judge(text, match, final)

    def at(self, text: str, start: int, final: bool) -> tuple[int, int, bool]:
        """The same for a word that begins exactly at `start`; nothing there is (len(text), len(text), False)."""
        match = (self._full if final else self._growing).match(text, start)
        if match is None:
            return len(text), len(text), False
        return self._judge(text, match, final)

    def _judge(self, text: str, match: re.Match[str], final: bool) -> tuple[int, int, bool]:
        end = match.end()
        if final or end < len(text):
            return match.start(), end, True
        word = match.group()
        return match.start(), end, word in self.words and word not in self._longer

    @property
    def firsts(self) -> str:
        """The characters with which a word can begin."""
        return "".join(sorted({word[0] for word in self.words}))


def _growing(words: list[str]) -> str:
    """A pattern that matches a word, or the beginning of one that reaches the end of the text; longest first."""
    branches: dict[str, list[str]] = {}
    terminal = False
    for word in words:
        if word:
            branches.setdefault(word[0], []).append(word[1:])
        else:
            terminal = True
    options = []
    for first, rests in branches.items():
        if rests == [""]:
            options.append(re.escape(first))
        else:
            options.append(re.escape(first) + "(?:" + _rest(rests) + ")")
    if terminal:
        options.append("")
    return "|".join(options)


def _rest(rests: list[str]) -> str:
    """The pattern for what follows a first character: more of a word, the end of the text, or nothing."""
    more = [rest for rest in rests if rest]
    pattern = _growing(more) + r"|\Z" if more else ""
    return pattern + "|" if "" in rests else pattern


class Row:
    """What a marker means in a state: where it leads, and how much of it is certain."""

    __slots__ = ("closer", "marker", "own", "spelling", "target", "turn_end")

    def __init__(
        self,
        marker: Marker,
        spelling: str,
        target: str,
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


class Stage:
    """One state of a table, compiled: its rows by spelling, what it scans for and the call syntaxes in it."""

    __slots__ = (
        "bare",
        "bare_firsts",
        "calls",
        "chain",
        "ends",
        "fast",
        "hold",
        "json_firsts",
        "kind",
        "name",
        "openers",
        "parent",
        "rows",
        "separator",
        "special",
        "then",
        "words",
    )

    def __init__(self, state: State, rows: Mapping[str, Row], calls: tuple[Bound, ...], openers: Iterable[str]) -> None:
        self.name: Final = state.name
        self.kind: Final = state.kind
        self.bare: Final = state.bare if calls else ""
        self.then: Final = state.then
        self.parent: str = ""
        self.rows: Final = dict(rows)
        self.calls: Final = calls
        self.bare_firsts: Final = "".join(sorted({c for call in calls for c in call.firsts})) if self.bare else ""
        self.separator: Final = next((call.separator for call in calls if call.separator), "") if self.bare else ""
        words = set(rows)
        if self.bare == "anywhere":
            words.update(self.bare_firsts)
        self.words: Final = Words(words)
        self.openers: Final = Words(openers)
        # In a call: its closers, then those of each wrapper around it, and what may follow them when all have come.
        self.chain: tuple[Words, ...] = ()
        self.ends: Words = Words(())
        # The characters held back at the end of a text because a marker's layout may begin there.
        self.hold: Final = max((len(row.marker.before) for row in rows.values()), default=0)
        # Markers that begin like JSON outside strings: the argument reader looks for these itself.
        self.json_firsts: Final = "".join(c for c in Words(rows).firsts if c in '{}[]:,-0123456789truefalsn"')
        # Where a run of arguments stops: control characters, private ones, and these.
        self.special: Final = re.compile(r"[\x00-\x1f\ud800-\udfff" + re.escape(self.json_firsts) + "]")
        self.fast: Final = re.compile("[" + re.escape(self.words.firsts) + "]" if words else r"(?!)")


class Program:
    """A format's states compiled for one way of matching markers; immutable and shared by parsers."""

    __slots__ = ("format", "private", "stages", "start", "texts")

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

    def _compile_states(self, with_calls: bool) -> None:
        table = self.format
        closers = table.closers
        rows: dict[str, dict[str, Row]] = {}
        for state in table.states.values():
            own: dict[str, Row] = {}
            for name, target in state.on.items():
                if not with_calls and table.states[target].kind in ("call", "wrapper"):
                    continue
                marker = table.markers[name]
                own[self.spell(marker.text)] = Row(marker, self.spell(marker.text), target)
            rows[state.name] = own
        ends = [Row(marker, self.spell(marker.text), "", turn_end=True) for marker in table.turn_end]
        calls = {name: syntax.bind(self.spell) for name, syntax in table.calls.items()} if with_calls else {}
        self.stages: dict[str, Stage] = {}
        for state in table.states.values():
            live = dict(rows[state.name])
            if state.kind in ("call", "wrapper"):
                above = table.parents.get(state.name, "")
                seen = {state.name}
                while above and above not in seen:
                    seen.add(above)
                    for spelling, row in rows[above].items():
                        live.setdefault(spelling, Row(row.marker, spelling, row.target, own=False))
                    above = table.parents.get(above, "")
            for row in ends:
                live.setdefault(row.spelling, row)
            if state.kind == "content" and with_calls:
                for marker in closers:
                    spelling = self.spell(marker.text)
                    live.setdefault(spelling, Row(marker, spelling, "", closer=True))
            openers = [
                spelling
                for spelling, row in rows[state.name].items()
                if table.states[row.target].kind == "call" and row.marker.name not in table.closer_names
            ]
            bound = tuple(calls[name] for name in state.calls if name in calls)
            stage = Stage(state, live, bound, openers)
            stage.parent = table.parents.get(state.name, "")
            self.stages[state.name] = stage
        for stage in self.stages.values():
            if stage.kind == "call":
                self._chain(stage, rows, [row.spelling for row in ends])
        self.start = table.start

    def _chain(self, stage: Stage, rows: Mapping[str, Mapping[str, Row]], ends: list[str]) -> None:
        """All the closers that a call still needs, inside out, and what stands behind them: a turn's end or a call."""
        chain: list[Words] = []
        at = stage
        while at.kind in ("call", "wrapper") and len(chain) < len(self.stages):
            names = self.format.closer_names
            chain.append(Words(spelling for spelling, row in rows[at.name].items() if row.marker.name in names))
            if at.parent == at.name:  # a wrapper that nothing closes
                break
            at = self.stages[at.parent]
        stage.chain = tuple(chain)
        kinds = ("call", "wrapper")
        openers = [
            spelling
            for spelling, row in rows[at.name].items()
            if self.stages[row.target].kind in kinds or row.target == at.name  # a call, or the end of a message
        ]
        stage.ends = Words([*ends, *openers])
