"""A gateway that runs (extra `serve`): three APIs in front of an engine that writes its calls as text.

`app(settings)` is the ASGI application, `settings.load` reads flags, environment and a TOML file, `server.start` runs
it. `demo` is a built-in upstream with no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .settings import Model, SettingError, Settings, load

if TYPE_CHECKING:
    from .gateway import app

__all__ = ["Model", "SettingError", "Settings", "app", "load"]


def __getattr__(name: str) -> Any:
    if name == "app":
        from .gateway import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
