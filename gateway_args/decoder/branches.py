"""What the grammar's state is made of: branches and their groups, and the frames of open objects and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..schema.graph import ArrayShape, ObjectShape


class Group:
    """A choice that was opened: how many of its branches live, and the branch it stands in."""

    __slots__ = ("live", "owner")

    def __init__(self, live: int, owner: Branch) -> None:
        self.live = live
        self.owner = owner


class Branch:
    """One alternative; the root branch has no group."""

    __slots__ = ("alive", "group")

    def __init__(self, group: Group | None) -> None:
        self.alive = True
        self.group = group

    def living(self) -> bool:
        """Whether this branch and all it stands in live."""
        branch = self
        while branch.alive:
            if branch.group is None:
                return True
            branch = branch.group.owner
        return False


class Record:
    """A demand on the object that is open: `last` is the rank of the last declared key, for the declared order."""

    __slots__ = ("branch", "last", "shape")

    def __init__(self, shape: ObjectShape, branch: Branch) -> None:
        self.shape = shape
        self.branch = branch
        self.last = -1

    def copy(self, branch: Branch) -> Record:
        """The same demand in another branch."""
        other = Record(self.shape, branch)
        other.last = self.last
        return other


class Twins:
    """Copies of branches and their groups, each made once."""

    def __init__(self) -> None:
        self._branches: dict[int, Branch] = {}
        self._groups: dict[int, Group] = {}

    def branch(self, branch: Branch) -> Branch:
        """The copy of a branch, and of all that it stands in."""
        twin = self._branches.get(id(branch))
        if twin is None:
            twin = self._branches[id(branch)] = Branch(None)
            twin.alive = branch.alive
            group = branch.group
            if group is not None:
                if id(group) not in self._groups:
                    self._groups[id(group)] = Group(group.live, self.branch(group.owner))
                twin.group = self._groups[id(group)]
        return twin


class Frame:
    """An open object or list; `kills` is the number of dead branches when its demands were last looked through."""

    __slots__ = ("count", "height", "items", "kills", "name", "records", "seen")

    def __init__(self, height: int, kills: int) -> None:
        self.height = height
        self.kills = kills
        self.records: list[Record] = []
        self.items: list[tuple[ArrayShape, Branch]] = []
        self.seen: set[str] | None = None  # the keys of an object; None for a list
        self.name: str | None = None  # the key whose value is open
        self.count = 0


def fatal(dead: list[Branch]) -> bool:
    """Whether the document would be refused if these branches died."""
    gone: set[int] = set()
    lost: dict[int, int] = {}
    while dead:
        branch = dead.pop()
        if not branch.alive or id(branch) in gone:
            continue
        gone.add(id(branch))
        group = branch.group
        if group is None:
            return True
        lost[id(group)] = lost.get(id(group), 0) + 1
        if lost[id(group)] == group.live:
            dead.append(group.owner)
    return False
