"""What confirms a start marker: the beginning of a call behind it, or of a section (policy 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..syntaxes.scanning import MORE, NO, YES, Verdict, layout

if TYPE_CHECKING:
    from .account import Account
    from .compiled import CompiledState


def call_begins(account: Account, at: int, state: CompiledState) -> tuple[Verdict, int]:
    """Whether a call of the state begins at `at`, behind its start marker, and which of its syntaxes reads it."""
    for n, call in enumerate(state.calls):
        verdict = call.begins(account, at, state.markers)
        if verdict != NO:
            return verdict, n
    return NO, -1


def cut_short(account: Account, at: int, state: CompiledState, verdict: Verdict) -> bool:
    """Whether the output ended where more text could have made a call of what stands at `at`, and all of it is its."""
    if not account.final or account.debt:
        return False
    if verdict == NO and state.kind == "call":
        account.final = False
        verdict = call_begins(account, at, state)[0]
        account.final = True
    return verdict == MORE


def section_begins(account: Account, at: int, state: CompiledState) -> Verdict:
    """A section's start marker is confirmed by white space and the start marker of a call, or its own closer."""
    verdict, at = layout(account.text, at, account.limits.max_layout)
    if verdict == YES:
        verdict, _ = state.openers.at(account.text, at, False)
        if verdict == MORE and account.final:
            return YES
    return verdict
