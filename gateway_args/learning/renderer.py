"""A chat template in a process of its own, rendered on request, bounded in time, memory and output.

A rendering that takes too long costs the process its life; what it cannot render is a `TemplateFault`, which probing
catches to try another shape of the conversation. `Unreadable` is a template that renders nothing at all.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import GatewayArgsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType


class Unreadable(GatewayArgsError, ValueError):
    """What was given is no chat template that can be rendered at all."""


class TemplateFault(GatewayArgsError):
    """The template refused this conversation, or ran out of a bound."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one learning may cost."""

    template: int = 1 << 20
    """Characters of the template."""
    output: int = 1 << 20
    """Characters of one rendering."""
    rendering: float = 5.0
    """Seconds of one rendering."""
    total: float = 240.0
    """Seconds of all renderings."""
    memory: int = 1 << 30
    """Bytes of the process that renders."""


class Renderer:
    """Renders one template; a context manager, since a process stands behind it."""

    def __init__(self, template: str, bounds: Bounds | None = None) -> None:
        self.bounds: Final = bounds or Bounds()
        if len(template) > self.bounds.template:
            raise Unreadable(f"a template of {len(template)} characters; {self.bounds.template} are the most")
        self._template = template
        self._left = self.bounds.total
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.renderings = 0
        self.killed = 0
        self._start()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        process = self._process
        self._process = None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()

    def render(self, variables: Mapping[str, Any]) -> str:
        """The text for these variables (`messages`, `tools`, …)."""
        if self._process is None:
            if self.killed >= 8:
                raise TemplateFault("the template broke its bounds too often; it is rendered no more")
            self._start()
        self.renderings += 1
        answer = self._asked(json.dumps(variables))
        if "text" not in answer:
            raise TemplateFault(str(answer.get("error", "no answer")))
        return str(answer["text"])

    def _start(self) -> None:
        self._answers = queue.SimpleQueue()
        process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._process = process
        threading.Thread(target=_pump, args=(process, self._answers), daemon=True).start()
        bounds = self.bounds
        first = {
            "template": self._template,
            "memory": bounds.memory,
            "seconds": max(1, int(bounds.total) + 5),
            "output": bounds.output,
        }
        try:
            answer = self._asked(json.dumps(first))
        except TemplateFault as fault:
            raise Unreadable(f"the template cannot be compiled: {fault}") from None
        if "missing" in answer:
            self.close()
            raise ModuleNotFoundError("learning from a chat template needs Jinja: pip install 'gateway-args[learn]'")
        if "error" in answer:
            self.close()
            raise Unreadable(f"the template cannot be compiled: {answer['error']}")

    def _asked(self, line: str) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        started = time.monotonic()
        if self._left <= 0:
            raise TemplateFault(f"all renderings together took more than {self.bounds.total:g} seconds")
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            reply = self._answers.get(timeout=min(self.bounds.rendering, self._left) + 0.5)
        except (OSError, ValueError):
            reply = None
        except queue.Empty:
            self.killed += 1
            self.close()
            raise TemplateFault(f"more than {self.bounds.rendering:g} seconds for one rendering") from None
        finally:
            self._left -= time.monotonic() - started
        if reply is None:
            self.killed += 1
            self.close()
            raise TemplateFault("the template ended the process that rendered it")
        return dict(json.loads(reply))


def _pump(process: subprocess.Popen[str], answers: queue.SimpleQueue[str | None]) -> None:
    """Hands on what the process says, line by line, and None at its end."""
    assert process.stdout is not None
    try:
        for line in process.stdout:
            answers.put(line)
    except (OSError, ValueError):
        pass
    answers.put(None)
