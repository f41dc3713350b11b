"""Tables from what a model's repository ships: its chat template, its response template.

`learn` renders a chat template and compares, proposes a table and proves it; `from_response_template` and
`to_response_template` translate. Jinja is an extra (`learn`) and runs in a process of its own.
"""

from __future__ import annotations

from .learner import Learned, Options, check, learn
from .renderer import Bounds, Unreadable

__all__ = ["Bounds", "Learned", "Options", "Unreadable", "check", "learn"]
