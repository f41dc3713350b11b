"""The text of a custom tool's call, out of the arguments that the model writes for it.

A custom tool takes free text. To the model it is a function of one string, so its arguments are `{"input": "…"}`: what
is between the quotes, read as JSON reads it, is the text. Arguments of another shape are the text as they stand.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_HEAD: Final = re.compile(r'\s*(?:\{\s*"(?:[^"\\]|\\.)*"\s*:\s*)?"')
_INSIDE: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_LONGEST_HEAD: Final = 512


class InputText:
    """Reads fragments of arguments, each of whole escapes, and gives the text that they hold."""

    __slots__ = ("before", "state")

    def __init__(self) -> None:
        self.state = "head"
        self.before: list[str] = []  # what came before the text began; once "other", all of it

    def feed(self, fragment: str) -> str:
        if self.state == "other":
            self.before.append(fragment)
            return ""
        if self.state == "head":
            joined = "".join((*self.before, fragment))
            head = _HEAD.match(joined[:_LONGEST_HEAD])
            if head is None:
                self.before = [joined]
                if len(joined) >= _LONGEST_HEAD:
                    self.state = "other"
                return ""
            fragment, self.before = joined[head.end() :], []
            self.state = "text"
        if self.state == "over":
            return ""
        inside = _INSIDE.match(fragment)
        assert inside is not None
        if inside.end() < len(fragment):
            self.state = "over"
        text: str = json.loads(f'"{inside[0]}"', strict=False)
        return text

    def finish(self) -> str:
        """The rest of the text: all of it where the arguments had another shape."""
        return "".join(self.before)

    def save(self) -> list[Any]:
        return [self.state, self.before]

    def load(self, saved: list[Any]) -> None:
        """Take up a state for which `is_state` holds."""
        self.state, self.before = saved


def is_state(value: object) -> bool:
    match value:
        case ["head" | "text" | "over" | "other", list(before)]:
            return all(isinstance(part, str) for part in before)
    return False
