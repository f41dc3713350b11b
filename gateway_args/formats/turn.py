"""Which part of a prompt says where an output starts: the model's own open turn, and nothing that a stranger wrote.

Tool results are strangers' texts, and some templates write them inside the model's turn. A template closes each result
behind the stranger's text, so what stands behind the *last* closer of a result is the template's own, whatever the
results quote: closers, turn openers, whole calls. What stands before the first result is nobody's quote either; all
between counts for nothing. `docs/policies.md` says what that decides and what no text can decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .table import Format

_SPACE = " \t\n\r"
_WINDOW = 4096  # characters searched first, from the end; then four times as many, and so on


def open_turn(format: Format, prompt: str) -> tuple[tuple[str, ...], str]:
    """What of this prompt is replayed before an output, in stretches, and the beginning of the output that it holds.

    Between two stretches stood results. The second is the table's `prompt_end`, where the prompt ends with it. Searches
    from the prompt's end.
    """
    end = format.prompt_end
    if not end or not prompt.endswith(end):
        end = ""
    return _stretches(format, prompt[: len(prompt) - len(end)]), end


def _stretches(format: Format, prompt: str) -> tuple[str, ...]:
    """The text of the open turn without its results, as far as it is certain to be nobody's quote."""
    turn = _last(prompt, format.turn_openers)
    result = _last(prompt, (closer for _, closer in format.results), max(turn, 0))
    tail = prompt[max(turn, result, 0) :]
    unclosed = _first(tail, (opener for opener, _ in format.results))
    if unclosed >= 0:
        tail = tail[:unclosed]
    if turn < 0:
        return (_paired(format, _reasoning_markers(format, tail)),) if unclosed < 0 else ()
    if _ended(format, tail):
        return ()
    tail = _paired(format, tail)
    return (tail,) if result < 0 else (_before_results(format, prompt), tail)


def _ended(format: Format, text: str) -> bool:
    return any(marker.text in text for marker in format.turn_end)


def _before_results(format: Format, prompt: str) -> str:
    """What the model's turn says before the prompt's first result; a thought may go on behind the results."""
    first = _first(prompt, (opener for opener, _ in format.results))
    head = prompt[: max(first, 0)]
    turn = _last(head, format.turn_openers)
    return "" if turn < 0 or _ended(format, head[turn:]) else _paired(format, head[turn:])


def _reasoning_markers(format: Format, text: str) -> str:
    """The thought markers at the very end of a text, with the white space between and behind them."""
    texts = [marker.text for marker in format.reasoning_markers]
    start = end = len(text)
    while True:
        while end > 0 and text[end - 1] in _SPACE:
            end -= 1
        found = next((word for word in texts if text.endswith(word, 0, end)), None)
        if found is None:
            return text[start:] if start < len(text) else ""
        start = end = end - len(found)


def _paired(format: Format, text: str) -> str:
    """The text, with its opener before a thought's closer that the template wrote alone."""
    first = text.lstrip(_SPACE)
    for opener, closer in format.reasoning_pairs:
        if first.startswith(closer):
            return opener + first
    return text


def _first(text: str, words: Iterable[str]) -> int:
    """Where the first of these words begins, or -1."""
    return min((at for word in words if (at := text.find(word)) >= 0), default=-1)


def _last(text: str, words: Iterable[str], floor: int = 0) -> int:
    """Where the last of these words ends, or -1; only words that begin at `floor` or behind it."""
    known = list(words)
    longest = max(map(len, known), default=0)
    size = _WINDOW
    low = len(text)
    while known and low > floor:
        high = min(len(text), low + longest)
        low = max(floor, len(text) - size)
        ends = [at + len(word) for word in known if (at := text.rfind(word, low, high)) >= 0]
        if ends:
            return max(ends)
        size *= 4
    return -1
