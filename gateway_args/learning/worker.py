"""The program that renders a chat template, in a process of its own: a template is a stranger's code.

It stands alone: it imports nothing of the package, reads JSON lines and writes JSON lines. The first line is the
template and its bounds, every other line the variables of one rendering; each is answered with `{"text": …}` or
`{"error": …}`. The environment is the one in which transformers renders: Jinja's immutable sandbox, `trim_blocks`,
`lstrip_blocks`, loop controls, `tojson` that keeps non-ASCII letters and the order of keys, `raise_exception`,
`strftime_now`, `{% generation %}`; no loader, so a template can include nothing.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Any


def bound(memory: int, seconds: int) -> None:
    """Bounds this process, where the system can: bytes of memory, seconds of CPU, no files written."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's clock and the output's size still hold
        return
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (most, most))


def compiled(source: str) -> Any:
    """The template, in the sandbox."""
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
    from jinja2 import nodes

    class Generation(jinja2.ext.Extension):
        """`{% generation %}…{% endgeneration %}`: what it holds, as it stands."""

        tags = {"generation"}  # noqa: RUF012 (as Jinja declares it)

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    def tojson(
        value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message: str) -> None:
        raise jinja2.exceptions.TemplateError(message)

    def strftime_now(form: str) -> str:
        return datetime(2026, 1, 2, 3, 4, 5).strftime(form)  # one moment, so that two renderings compare

    class Dict:
        """The global `dict`, as a call alone."""

        def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
            return dict(*args, **kwargs)

    class Namespace(jinja2.utils.Namespace):
        """Refuses names that begin with an underscore."""

        def __setitem__(self, name: str, value: Any) -> None:
            if str(name).startswith("_"):
                raise jinja2.exceptions.SecurityError(f"a namespace has no {name!r}")
            super().__setitem__(name, value)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals.update(
        raise_exception=raise_exception, strftime_now=strftime_now, dict=Dict(), namespace=Namespace
    )
    return environment.from_string(source)


def rendered(template: Any, variables: dict[str, Any], most: int) -> str:
    """One rendering; ValueError where it grows past `most` characters."""
    parts: list[str] = []
    size = 0
    for part in template.generate(**variables):
        size += len(part)
        if size > most:
            raise ValueError(f"more than {most} characters of output")
        parts.append(part)
    return "".join(parts)


def main() -> None:
    answer = sys.stdout

    def answer_with(**fields: str) -> None:
        answer.write(json.dumps(fields) + "\n")
        answer.flush()

    first = json.loads(sys.stdin.readline())
    bound(first["memory"], first["seconds"])
    try:
        template = compiled(first["template"])
    except ImportError as error:
        answer_with(missing=str(error))
        return
    except BaseException as error:
        answer_with(error=f"{type(error).__name__}: {error}")
        return
    answer_with(text="")
    for line in sys.stdin:
        try:
            answer_with(text=rendered(template, json.loads(line), first["output"]))
        except BaseException as error:  # whatever a stranger's code raises is an answer
            answer_with(error=f"{type(error).__name__}: {error}"[:400])


if __name__ == "__main__":
    main()
