"""`serve`: the gateway, in front of an engine or of a built-in demonstration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .common import UsageError

if TYPE_CHECKING:
    import argparse

    from ..serve.settings import Settings


_SHOWN = ("max_", "connect_", "idle_", "total_", "grace", "calls", "stop_", "strict", "record")


def add(commands: argparse._SubParsersAction[Any]) -> None:
    from ..serve.settings import OPTIONS, default_of

    parser = commands.add_parser(
        "serve",
        help="a gateway in front of an engine (extra: serve)",
        description=__doc__,
        epilog="Each option is also a variable GATEWAY_ARGS_SERVE_NAME and a key of the file of --config.",
    )
    parser.add_argument("--demo", action="store_true", help="in front of a built-in upstream: no engine, no model")
    parser.add_argument("--check", action="store_true", help="say what it would do, and do it not")
    parser.add_argument("--config", metavar="FILE", help="a TOML file with the options below, and [models.NAME]")
    for option in OPTIONS:
        default = default_of(option)
        flag = f"--{option.name.replace('_', '-')}"
        text = option.metadata["help"].replace("%", "%%")
        if isinstance(default, bool):
            parser.add_argument(flag, action="store_const", const=True, help=text)
            continue
        choices = option.metadata["choices"]
        shown = "" if default in ("", 0) else f" ({default})"
        metavar = "|".join(choices) if choices else option.name.upper()
        parser.add_argument(flag, metavar=metavar, help=f"{text}{shown}")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from ..serve.settings import OPTIONS, SettingError, load

    try:
        settings = load({option.name: getattr(args, option.name) for option in OPTIONS}, file=args.config)
        if not settings.upstream and not args.demo:
            raise SettingError("--upstream: expected the engine's address (or --demo, to try without one)")
        if args.check:
            return check(settings, demo=args.demo)
        try:
            from ..serve.server import start
        except ModuleNotFoundError as error:
            raise UsageError(f"{error}: install gateway-args[serve]") from None
        start(settings, demo=args.demo)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return 0


def check(settings: Settings, *, demo: bool) -> int:
    """Say what would be served, without a socket."""
    from dataclasses import fields, replace

    from ..engines import wire
    from ..serve.models import Models
    from ..serve.settings import Settings as Made
    from ..serve.settings import default_of
    from ..serve.upstreams import UPSTREAMS, route_of

    if demo:
        settings = replace(settings, engine="vllm" if settings.engine == "plain" else settings.engine)
    route, table, models = route_of(settings), UPSTREAMS[settings.engine], Models(settings)
    print(f"listens on   {settings.listen}")
    print(f"upstream     {'a built-in demonstration' if demo else _shown(settings.upstream)} ({settings.engine})")
    path = wire(settings.engine, table.completion if route == "render" else "chat").path
    steps = [table.render, *([table.text_path] if table.text_path else []), path] if route == "render" else [path]
    print(f"route        {route}: {', '.join(f'POST {step}' for step in steps)}")
    guided = settings.guided if table.tag or settings.guided != "tag" else "json"
    print(f"forced calls {'as the model writes them, read leniently' if settings.engine == 'plain' else guided}")
    print(f"format       {settings.format if not settings.model_dir else f'from {settings.model_dir}'}")
    for name in models.names:
        known = models.find(name)
        start = f", starts in {known.start}" if known.start else ""
        print(f"model        {name}: {known.format.name}, {known.upstream} at the engine{start}")
    for option in fields(Made):
        value = getattr(settings, option.name)
        if option.name.startswith(
            ("max_", "connect_", "idle_", "total_", "grace", "calls", "stop_", "strict", "record")
        ):
            print(f"{option.name:16} {value!r}{'' if value == default_of(option) else '  (set)'}")
    if settings.engine == "plain":
        print("note: a plain engine is not asked to keep special tokens, nor to force calls: name its kind (--engine)")
    if settings.listen.rpartition(":")[0] not in ("127.0.0.1", "localhost", "[::1]"):
        print("note: it listens beyond this machine and asks nobody for a key: put TLS and a login in front")
    return 0


def _shown(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
