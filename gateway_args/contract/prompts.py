"""Prompts with a tool result in every place that a template can put one, to show that a result's text decides nothing.

A tool fetches what a stranger wrote: a page that quotes the model's own markup. Whatever it quotes, the output behind
the prompt reads as it does behind a harmless result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..formats import Format

HARMLESS = "High water at four."


def positions(format: Format) -> Iterator[tuple[str, str, str]]:
    """Where a result can stand: what that is called, the prompt's text before the result and the text behind it."""
    ends = [marker.text for marker in format.turn_end[:1]]
    for opener in format.turn_openers:
        yield "before the turn", "", opener
        yield "behind an earlier turn", "".join([opener, "Look.", *ends, "\n"]), opener
        for start, end in format.results:
            yield "in the turn", opener + start, end
            yield "behind the turn's end", "".join([opener, *ends, start]), end
            yield "the second of two in the turn", opener + start + HARMLESS + end + start, end
            yield "the first of two in the turn", opener + start, end + start + HARMLESS + end
            yield "in an earlier turn", opener + start, "".join([end, "Low.", *ends, "\n", opener])
            yield "in the turn, closed by nothing", opener + start, ""
    if not format.turn_openers:
        yield "before the end of a prompt without turn openers", "", HARMLESS


def quoting(format: Format, output: str, *, closed: bool) -> Iterator[str]:
    """Results that quote every marker, every text that ends or opens a turn or a result, and this whole output.

    One ends with a thought's opener, one inside the output. Not `closed`: nothing of the template's stands behind the
    result, so the turn openers and closers that it quotes would be the last ones, and it quotes none.
    """
    texts = [marker.text for marker in (*format.markers.values(), *format.turn_end)]
    texts += [*format.turn_openers, *(text for pair in format.results for text in pair), format.prompt_end]
    lines = ["A page.", *texts, output, *reversed(texts), *format.turn_openers]
    for last in ([*format.reasoning_openers, "hm"], [output[: len(output) // 2]]):
        text = "\n".join([*lines, *last])
        if not closed:
            for word in (*format.turn_openers, *(closer for _, closer in format.results)):
                text = text.replace(word, "")
        yield text
