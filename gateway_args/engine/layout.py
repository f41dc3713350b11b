"""The template's white space around markers, apart from the text that it stands in (policy 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..events import Why
from ..syntaxes.scanning import SPACE
from ..syntaxes.state import FLAG, TEXT, Kind, State

if TYPE_CHECKING:
    from .account import Account
    from .compiled import MarkerRow


class Layout(State):
    """What the last marker left behind: whether only white space has come since, and what of it is layout."""

    __slots__ = ("_account", "after", "after_call", "blank")

    FIELDS: ClassVar[tuple[tuple[str, Kind], ...]] = (("blank", FLAG), ("after", TEXT), ("after_call", FLAG))

    def __init__(self, account: Account, after: str) -> None:
        self._account = account
        self.blank = True  # only white space since the last marker, call or start
        self.after = after  # the layout that may follow that marker
        self.after_call = False  # a call's or region's closer came last

    def rest(self, after: str, *, after_call: bool = False) -> None:
        """A marker has just been read; `after` is the layout that may follow it."""
        self.blank = True
        self.after = after
        self.after_call = after_call

    def begin_text(self, end: int) -> None:
        """Text stands at `end`: of the white space before it, what the last marker's layout covers is layout."""
        if not self.blank:
            return
        account = self._account
        self.blank = False
        self.after_call = False
        if account.state.text is not None:
            account.state = account.state.text
        after = self.after
        if account.state.kind == "wrapper":  # only layout may stand here, whatever the template writes
            account.consume(end, Why.LAYOUT)
        elif after:
            size = 0
            limit = min(len(after), end - account.mark)
            while size < limit and account.text[account.mark + size] == after[size]:
                size += 1
            account.consume(account.mark + size, Why.LAYOUT)

    def before(self, start: int, row: MarkerRow) -> None:
        """A marker stands at `start`: of the text before it, what its layout covers is layout."""
        account = self._account
        if not self.blank:
            before = row.marker.before
            size = 0
            limit = min(len(before), start - account.mark)
            while size < limit and account.text[start - 1 - size] == before[-1 - size]:
                size += 1
            account.emit_text(start - size)
        account.consume(start, Why.LAYOUT)

    def hold_back(self, end: int) -> None:
        """Say the text up to `end`, but for white space that may prove to be the next marker's layout."""
        if self.blank:
            return
        account = self._account
        keep = end
        floor = max(account.mark, end - account.state.hold)
        while keep > floor and account.text[keep - 1] in SPACE:
            keep -= 1
        account.emit_text(keep)
