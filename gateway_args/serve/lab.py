"""The lab: one page to try outputs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from .settings import Settings


def routes(settings: Settings) -> list[BaseRoute]:
    return []
