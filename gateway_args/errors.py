"""The errors that a caller may see, told apart by whose fault they are.

What a model writes is never an exception: it is an event (`Malformed`, `Dropped`) or a refusal.
"""

from __future__ import annotations


class GatewayArgsError(Exception):
    """The root of every error that this package raises on purpose."""


class FormatError(GatewayArgsError, ValueError):
    """A table's fault: the message names the format, the path inside the table and the mend.

    Example: ``hermes: states.content.on.think: no state named 'resoning' (did you mean 'reasoning'?)``
    """


class LifecycleError(GatewayArgsError, RuntimeError):
    """The caller's fault: a method called out of order, or pieces that contradict each other."""


class DecodeError(GatewayArgsError, ValueError):
    """A text that is not the value asked for; `path` is where in the value, `offset` where in the text (characters)."""

    def __init__(self, message: str, *, path: str = "$", offset: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset


class GrammarError(GatewayArgsError, ValueError):
    """What was asked of a grammar cannot be said exactly, or not at all; the message names the reason."""
