"""Tables from what a model's repository ships: its chat template, its response template.

`learn` renders a chat template and compares, proposes a table and proves it; `from_response_template` and
`to_response_template` translate. Jinja is an extra (`learn`) and runs in a process of its own.
"""

from __future__ import annotations

from .learner import Learned, Options, check, learn
from .renderer import Bounds, Unreadable
from .response_template import from_response_template
from .to_response import to_response_template

__all__ = [
    "Bounds",
    "Learned",
    "Options",
    "Unreadable",
    "check",
    "from_response_template",
    "learn",
    "to_response_template",
]
