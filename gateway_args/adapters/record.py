"""What a stream tells at its end: the calls that are over, and the malformed text that was no content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..events import Why
from ..reading import Aside

if TYPE_CHECKING:
    from .values import Call, Chunk

_WHYS: Final = frozenset(map(str, Why))


class Record:
    """The calls that are over, by what became of them, and stretches of malformed text."""

    __slots__ = ("incomplete", "over", "refused", "stretches", "withheld")

    def __init__(self) -> None:
        self.over: list[list[Any]] = []  # number, id, name, and whether the client has a whole call of it
        self.incomplete: list[Chunk] = []
        self.refused: list[Chunk] = []
        self.withheld: list[Chunk] = []
        self.stretches: list[list[str]] = []  # why, then the parts of the text

    @property
    def ids(self) -> set[str]:
        return {id for _, id, _, _ in self.over}

    @property
    def any_whole(self) -> bool:
        return any(there for _, _, _, there in self.over)

    def ended(self, call: Call, *, whole: bool, there: bool) -> None:
        """A call is over. `whole`: its arguments are, and nobody refused them; `there`: the client has a whole call."""
        self.over.append([call.number, call.id, call.name, there])
        if call.refusal is not None:
            self.refused.append(call.entry() | call.refusal)
        elif call.show == "withheld":
            self.withheld.append(call.entry() | {"complete": whole})
        elif not there:
            self.incomplete.append(call.entry())

    def late(self, number: int, refusal: Chunk | None) -> bool:
        """The outcome of a call that is over, which nobody said would be judged; False when there is none of it."""
        for over in self.over:
            if over[0] == number:
                if refusal is not None and over[3]:
                    over[3] = False
                    self.refused.append({"id": over[1], "name": over[2], **refusal})
                return True
        return False

    def malformed(self, text: str, why: str, *, joined: bool) -> None:
        if joined and self.stretches and self.stretches[-1][0] == why:
            self.stretches[-1].append(text)
        else:
            self.stretches.append([why, text])

    @property
    def asides(self) -> list[Aside]:
        return [Aside("".join(parts), Why(why)) for why, *parts in self.stretches]

    def extension(self, *, malformed: bool) -> Chunk:
        """The fields that no API has; `malformed`: whether the client is told of malformed text."""
        fields: Chunk = {}
        if malformed and self.stretches:
            fields["malformed"] = [{"text": aside.text, "why": str(aside.why)} for aside in self.asides]
        for name, listed in (
            ("incomplete_calls", self.incomplete),
            ("refused_calls", self.refused),
            ("withheld_calls", self.withheld),
        ):
            if listed:
                fields[name] = listed
        return fields

    def save(self) -> list[Any]:
        return [self.over, self.incomplete, self.refused, self.withheld, self.stretches]

    def load(self, saved: list[Any]) -> None:
        """Take up a state for which `is_state` holds."""
        self.over, self.incomplete, self.refused, self.withheld, self.stretches = saved


def is_state(value: object) -> bool:
    match value:
        case [list(over), list(incomplete), list(refused), list(withheld), list(stretches)]:
            listed = (*incomplete, *refused, *withheld)
            return (
                all(map(_is_over, over))
                and all(isinstance(entry, dict) and "id" in entry for entry in listed)
                and all(map(is_stretch, stretches))
            )
    return False


def is_stretch(entry: object) -> bool:
    """A stretch of malformed text: its `Why`, then the parts of the text."""
    match entry:
        case [str(why), *parts]:
            return why in _WHYS and all(isinstance(part, str) for part in parts)
    return False


def _is_over(entry: object) -> bool:
    match entry:
        case [int(), str(), str(), bool()]:
            return True
    return False
