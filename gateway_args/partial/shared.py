"""What the views of one stream share: its text, each verdict that was reached once, and the children validated so far.

A stream's own thread validates what completes; a verdict that only a look at a view asks for is reached by who looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from ..schema.type_view import Invalid, Kind, TypeView
from .children import Children
from .frame import Frame

if TYPE_CHECKING:
    from ..schema.path import Path
    from .source import Source


@final
class Shared:
    """The text, the verdicts and the validated children of one stream."""

    __slots__ = ("_narrowed", "_verdicts", "root", "source", "view")

    def __init__(self, view: TypeView, source: Source) -> None:
        self.view = view
        self.source = source
        self.root: Children | None = None  # of the value, where it is a container that is seen into
        self._verdicts: dict[tuple[Path, int], tuple[TypeView, Any]] = {}
        self._narrowed: dict[tuple[Path, int], tuple[TypeView, Children]] = {}

    def follow(self, frame: Frame | None) -> None:
        """Validate what completed in the value itself."""
        if self.root is None:
            if frame is None or self.view.kind is Kind.WHOLE or not self.view.fits(frame.items):
                return
            self.root = Children(self.view, frame, self.source)
        self.root.catch_up()

    def verdict(self, path: Path, view: TypeView, value: Any, text: str | None = None) -> Any:
        """This complete value as the type has it, or the `Invalid` that says why not; decided once."""
        known = self._verdicts.get((path, id(view)))
        if known is None:
            try:
                known = (view, view.check(value, text))
            except Invalid as invalid:
                known = (view, invalid)
            self._verdicts[path, id(view)] = known
        return known[1]

    def validate_whole(self, value: Any) -> Any:
        """The verdict on the whole value, which is done."""
        text = self.source.read(self.source.start) if self.view.reads_text else None
        return self.verdict((), self.view, value, text)

    def narrow(self, path: Path, view: TypeView, value: Any, last: Frame | None) -> Children | None:
        """The children of what stands at this path, an open container (`last` is open in it) or a complete value."""
        root = self.root
        if root is not None and path == () and view is self.view:
            return root
        if root is not None and len(path) == 1 and (sub := root.subs.get(path[0])) is not None:
            slot = root.view.slot(path[0])
            if slot is not None and slot.view is view:
                return sub
        known = self._narrowed.get((path, id(view)))
        if known is None:
            frame = value if isinstance(value, Frame) else Frame.of(value) if isinstance(value, dict | list) else None
            if frame is None or view.kind is Kind.WHOLE or not view.fits(frame.items):
                return None
            if frame.kids is None and view.kind in (Kind.FIELDS, Kind.UNION):
                frame.kids = {}
                if last is not None:
                    frame.note(last)
            source = self.source if isinstance(value, Frame) else None
            known = self._narrowed[path, id(view)] = (view, Children(view, frame, source))
        known[1].catch_up()
        return known[1]
