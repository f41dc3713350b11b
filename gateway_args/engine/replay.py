"""What stands before the output: the prompt's open turn and the model's own text, read for where the output goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..events import CallArguments, CallStart, ReasoningStart

if TYPE_CHECKING:
    from ..events import Event
    from .engine import Engine


def replay(engine: Engine, prompt: list[str], prefill: str) -> None:
    """Read stretches of the prompt's open turn, then the model's own text.

    The account's `out` is then what the output goes on with: reasoning, and behind a prefill a call; its text is
    accounted for.
    """
    account = engine.account
    for n, stretch in enumerate(prompt):
        if n:  # a tool's result stood here
            engine.layout.rest("")
        engine.feed(stretch)
        engine.close_prompt()
    account.out = []
    account.unnamed = []
    account.calls = account.complete = 0
    engine.feed(prefill)
    kept: list[Event] = []
    if account.call.open:
        started = max(n for n, event in enumerate(account.out) if isinstance(event, CallStart))
        kept = account.out[started:]
    account.calls = len(kept[:1])
    account.complete = 0
    account.unnamed = [event for event in kept if isinstance(event, CallStart)]
    account.texted = False
    account.done = 0
    account.reasoning_tokens = 0
    account.debt = account.offset(len(account.text))
    account.out = [ReasoningStart()] if account.in_reasoning else []
    for event in kept:
        if isinstance(event, (CallStart, CallArguments)):
            event.source = ""
            event.index = 0
            account.out.append(event)
