"""What `gateway-args demo` shows: what a model writes, and beneath each delta what a client of the Chat API receives.

The text is rendered as Qwen3's chat template writes messages of our own, no model wrote it; it is cut inside words and
markers on purpose. It fits 24 rows of 80 columns and needs no network and no file.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from gateway_args import Parser, Reading, Tools, adapters, formats, read

if TYPE_CHECKING:
    from rich.console import Console

DELTAS = [
    "<think>\nBoats first.\n</th",
    "ink>\n\nI will look.\n<tool",
    '_call>\n{"name": "find_bo',
    'ats", "arguments": {"from": "Quay',
    ' 4", "seats": 2}}\n</tool_call>',
]
BROKEN = '<tool_call>\n{"name": "find_boats", "arguments": {"from": "Quay 4", "seats": two}}\n</tool_call>'
TOOLS = Tools.of([{"type": "function", "function": {"name": "find_boats", "parameters": {"type": "object"}}}])
WORDS = """\
[bold]delta[/]      a piece of the model's text; where it is cut changes nothing
[bold]data:[/]      what the client receives at once (a Chat chunk's delta, in part)
[bold](held)[/]     nothing yet: this may still become a marker or a call
[bold]malformed[/]  text of a call that is no JSON: never sent as its arguments"""
_PACE = 0.5  # seconds a delta


def show(*, fast: bool = False, console: Console | None = None) -> None:
    """Play the demonstration; `fast` without its pace."""
    from rich.console import Console as RichConsole

    if console is None:
        console = RichConsole(highlight=False, soft_wrap=True)
    console.print(WORDS)
    whole = _stream(console, 0.0 if fast or not console.is_terminal else _PACE)
    _cuts(console, whole)
    _broken(console)


def _stream(console: Console, pace: float) -> Reading:
    """Each delta, and the chunks that it causes."""
    parser = Parser(formats.load("qwen3"), TOOLS)
    stream = adapters.stream("chat", adapters.Envelope("chatcmpl-1", "Qwen/Qwen3-8B", 0))
    reading = Reading()
    for delta in [*DELTAS, None]:
        time.sleep(pace)
        events = parser.finish("stop") if delta is None else parser.feed(delta)
        for event in events:
            reading.add(event)
        console.print(f"[bold cyan]delta[/]  {'(the end)' if delta is None else _visible(delta)}")
        lines = [_short(chunk) for chunk in stream.chunks(events)]
        for line in [*lines, "[DONE]"] if delta is None else lines:
            console.print(f"  [green]data:[/] {line}", markup=True)
        if not lines:
            console.print("  [dim](held)[/]")
    return reading


def _short(chunk: adapters.Chunk) -> str:
    """The part of a chunk that differs from the last one, on a line."""
    choice = chunk["choices"][0]
    if choice["finish_reason"] is not None:
        return f'{{}} … "finish_reason":"{choice["finish_reason"]}"'
    delta = choice["delta"]
    for call in delta.get("tool_calls", ()):
        del call["index"]
        if call.pop("type", None):
            call["id"] = call["id"][:7] + "…"
            call["function"].pop("arguments")
    text = json.dumps(delta, separators=(",", ":"), ensure_ascii=False)
    return text.replace("[", r"\[")


def _cuts(console: Console, whole: Reading) -> None:
    """Other ways to cut the same text."""
    text = "".join(DELTAS)
    ways = [[text[at : at + size] for at in range(0, len(text), size)] for size in range(1, len(text) + 1)]
    same = sum(read(formats.load("qwen3"), way, tools=TOOLS, finish="stop") == whole for way in ways)
    console.print(f"[bold]cut otherwise[/]  {same} of {len(ways)} other ways to cut this text read the same")


def _broken(console: Console) -> None:
    """A call whose arguments are no JSON: what the client has, and what it is never sent."""
    reading = read(formats.load("qwen3"), [BROKEN], tools=TOOLS, finish="stop")
    (call,), (aside,) = reading.calls, reading.malformed
    console.print(f"[bold]broken[/]  … {_visible(BROKEN[68:-13])}  ->  sent: {call.arguments}")
    state = "complete" if call.complete else "not complete, must not run"
    console.print(f"  [bold red]malformed[/]  {_visible(aside.text)}  and the call is {state}")


def _visible(text: str) -> str:
    """The text on one line."""
    return text.replace("\n", "⏎")
