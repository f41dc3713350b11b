"""Calls as names and values in tags: `<function=add><parameter=a>2</parameter></function>` and its many relatives.

Values are raw text, so a value may hold the very texts that close it. Which of them counts is decided by what follows
(policy 3, `endings`): a value's closer counts before the next tag that may stand there; without it, the
opener of a declared parameter at a line's start or all of the remaining closers before the end of the turn do.
What a value is written as is `values`' business, how tags are spelled `tags`'.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .base import BoundSyntax, Reader, Syntax
from .pattern import Closer, Match, Pattern, first_match, tag_problem, unnamed
from .scanning import MORE, NO, YES, Verdict, Words, either, layout, literal
from .tagged_reader import TaggedReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from .region import Markers, Region


@dataclass(frozen=True, slots=True)
class Tagged(Syntax):
    """A call is a header with the function's name, then each parameter's key and value in tags."""

    header: tuple[str, ...] = ()
    """Header patterns between the opener and the first parameter; the first that matches counts."""
    empty: str = ""
    """A header pattern of a call without parameters that needs no closer (`{name}"/>`)."""
    parameter: tuple[str, ...] = ()
    """Patterns of a parameter's opener, with its `{name}` and, where an attribute types the value, its `{type}`."""
    elided: str = ""
    """What is left of a parameter's opener when the model leaves its tag out: the closer names the parameter then."""
    value_open: str = ""
    """The tag between a key and its value, where the family writes one; a model may leave it out."""
    value_close: str = ""
    """A value's closer; `{name}` in it is the parameter's key."""
    around: str = ""
    """White space that the template writes on each side of a value."""
    inline: bool = False
    """The template writes nothing around values: what `around` says holds for one short line that stands alone."""
    between: str = ""
    """White space that the template writes before a tag: layout where a value's closer is missing."""
    text_types: tuple[str, ...] = ()
    """What `{type}` says of a value that is the text itself; any other word says that it is JSON."""
    json_types: tuple[str, ...] = ()
    """What `{type}` says of other values in what the template writes; none: the JSON type's name."""
    json_values: bool = False
    """Declared lists and objects are JSON and sent as they arrive; where `{type}` says it is JSON, they always are."""
    python: bool = False
    """Values are written as Python's literals (`None`, `True`)."""
    entities: bool = False
    """Attributes are written with `&amp;` and `&quot;`."""
    nested: bool = False
    """Objects and lists are written as parameters inside parameters, list items under the key `item`."""
    quotes: tuple[str, ...] = ()
    """Two texts (CDATA) between which a value holds any text; one that may be a string is a string then."""
    doubled: bool = False
    """Names are also written twice (`add.add`): the function's where it is declared and the whole is not."""
    json_body: bool = False
    """The parameters may be written as one JSON object instead."""
    reserved: tuple[str, ...] = ()
    """Texts that only the format's own tags hold: one that begins none of them breaks the call, in a value too."""

    def check(self) -> tuple[str, str] | None:
        if (missing := unnamed(self.header)) is not None:
            return missing
        if self.empty and "{name}" not in self.empty:
            return "empty", "without {name} no call is read"
        if not self.parameter:
            return "parameter", "missing; how a parameter is opened"
        for n, pattern in enumerate(self.parameter):
            if problem := tag_problem(pattern):
                return f"parameter[{n}]", problem
        if not self.value_close:
            return "value_close", "missing; how a value is closed"
        if "{" in self.value_close.replace("{name}", "", 1) or self.value_close.startswith("{name}"):
            return "value_close", "text, with at most one {name} in it and not before it: `</{name}>`"
        if self.elided and "{name}" not in self.value_close:
            return "elided", "without {name} in value_close nothing names such a parameter"
        if len(self.quotes) not in (0, 2):
            return "quotes", "two texts, or none"
        if self.nested and self.value_open:
            return "nested", "a nested value has no tag between its key and itself; leave value_open out"
        if (self.around + self.between).strip(" \t\n\r"):
            return ("around" if self.around.strip(" \t\n\r") else "between"), "layout is white space only"
        return None

    def bind(self, spell: Callable[[str], str]) -> BoundSyntax:
        return BoundTagged(self, spell)


class Stops:
    """Where a value's text may end, in one state: the texts to look for, and the characters they begin with."""

    __slots__ = ("firsts", "words")

    def __init__(self, words: list[str]) -> None:
        self.words: Final = Words(words)
        self.firsts: Final = re.compile("[" + re.escape(self.words.firsts) + "]")


class BoundTagged(BoundSyntax):
    """Tagged calls, ready to run."""

    __slots__ = (
        "_stops",
        "closer",
        "elided",
        "empty",
        "headers",
        "layout",
        "left",
        "parameters",
        "quotes",
        "reserved",
        "syntax",
        "value_open",
    )

    def __init__(self, syntax: Tagged, spell: Callable[[str], str]) -> None:
        super().__init__()
        self.syntax: Final = syntax
        self.headers: Final = tuple(Pattern(pattern, spell, entities=syntax.entities) for pattern in syntax.header)
        self.empty: Final = Pattern(syntax.empty, spell) if syntax.empty else None
        self.parameters: Final = tuple(
            Pattern(pattern, spell, tag=True, entities=syntax.entities) for pattern in syntax.parameter
        )
        self.value_open: Final = spell(syntax.value_open)
        self.closer: Final = Closer(syntax.value_close, spell)
        self.left: Final = spell(syntax.elided)  # of an opener whose tag is left out
        self.elided: Final = Words([self.left] if self.left else [])
        self.quotes: Final = tuple(spell(text) for text in syntax.quotes)
        self.layout: Final = syntax.around or syntax.between
        self.reserved: Final = Words(spell(text) for text in syntax.reserved)
        self._stops: Final[dict[str, Stops]] = {}

    def begins(self, region: Region, at: int, inside: Markers) -> Verdict:
        verdict, first = layout(region.text, at, region.limits.max_layout)
        if verdict != YES:
            return verdict
        verdict, found = self.header(region, first)
        if region.markers.section:  # nothing but a call can stand there: its first characters confirm it
            return YES if region.final and verdict == MORE else verdict
        if found is not None and found.tail == found.end:
            return self._name_ends(region, found.end, first == at, inside)
        return verdict

    def _name_ends(self, region: Region, at: int, close: bool, inside: Markers) -> Verdict:
        """Whether a name that no text of the header ends is over: by the next tag, or the template's white space.

        White space alone is too little for a name that is not `close` to the opener: prose has that.
        """
        verdict, first = layout(region.text, at, region.limits.max_layout)
        if close and self.syntax.between and self.syntax.between in region.text[at:first]:
            return YES
        if verdict != YES:
            return verdict
        return either(self.opens(region, first), inside.words.at(region.text, first, region.final)[0])

    def header(self, region: Region, at: int) -> tuple[Verdict, Match | None]:
        """The header at this offset, if there is one; MORE also where the output cuts it short."""
        verdict, found = first_match(self.headers, region.text, at, region.limits)
        return self.closed(region, at) if verdict == NO else (verdict, found)

    def closed(self, region: Region, at: int) -> tuple[Verdict, Match | None]:
        """The header of a call without parameters that closes itself, if one is at this offset."""
        return (NO, None) if self.empty is None else self.empty.match(region.text, at, region.limits)

    def named(self, region: Region, name: str) -> str:
        """The function that a header's name means."""
        half = len(name) // 2
        head = name[:half]
        known = region.call.names
        twice = self.syntax.doubled and name == f"{head}.{head}" and head in known and name not in known
        return head if twice else name

    def opens(self, region: Region, at: int) -> Verdict:
        """Whether a parameter's opener begins at this offset."""
        found: Verdict = NO
        for pattern in self.parameters:
            verdict = literal(region.text, at, pattern.first)
            if verdict == YES:
                return YES
            if verdict == MORE:
                found = MORE
        return found

    def elides(self, region: Region, at: int) -> tuple[Verdict, int]:
        """Whether a parameter begins at this offset whose tag was left out, and where its value does."""
        text = region.text
        verdict, end = self.elided.at(text, at, region.final)
        if verdict == YES:
            verdict = (NO if text[end] == "<" else YES) if end < len(text) else (NO if region.final else MORE)
        return verdict, end

    def parameter(self, region: Region, at: int, final: bool) -> tuple[Verdict, Match | None]:
        """The parameter's opener at this offset, if there is one; the first pattern that matches counts."""
        return first_match(self.parameters, region.text, at, region.limits, final)

    def stops(self, markers: Markers, quoted: bool) -> Stops:
        """Where a value may end in this state; between quotes it is the second of them alone."""
        if quoted:
            return self._found(self.quotes[1], lambda: [self.quotes[1]])
        return self._found(
            markers.name, lambda: [*self._tags(), *(w for closers in markers.closers[:1] for w in closers.words)]
        )

    def tags(self, markers: Markers) -> Words:
        """What may begin a tag or a marker between parameters."""
        return self._found("\n" + markers.name, lambda: [*self._tags(), *markers.words.words]).words

    def _found(self, key: str, words: Callable[[], list[str]]) -> Stops:
        found = self._stops.get(key)
        if found is None:
            found = self._stops[key] = Stops(words())
        return found

    def _tags(self) -> list[str]:
        return [self.closer.first, *(pattern.first for pattern in self.parameters), *self.reserved.words]

    def open(self) -> Reader:
        return TaggedReader(self)
