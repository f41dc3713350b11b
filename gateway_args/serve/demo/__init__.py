"""The built-in upstream of `serve --demo`: an engine's HTTP server with written outputs in place of a model.

It takes and refuses what the real servers do, keeps special tokens back unless it is asked not to, and knows of tools
only what stands in the prompt. `outputs.toml` is what it says; no model wrote that.
"""

from __future__ import annotations

from .engine import app
from .outputs import TOOLS, Output, outputs

__all__ = ["TOOLS", "Output", "app", "outputs"]
