"""The tools of a request: the functions it declares, and the schemas of their parameters.

Three shapes are read, told apart by their keys: Chat (`function` holds the declaration), Responses (`"type":
"function"` beside it) and Messages (`input_schema`). A `custom` tool takes free text: it is a function of one string,
`input`. A `namespace` holds tools of its own; they are functions named `namespace__name`. Any other tool (one that the
provider runs itself) is listed in `ignored` by its type. The schemas are copied: what the caller does with the request
afterwards changes nothing here, and one `Tools` serves any number of threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final

from .schema.value_types import ValueType

_MAX_DEPTH: Final = 128
_TEXT: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


@final
class Tool:
    """One declared function. `parameters` is the schema of its arguments object, not to be changed.

    `name` is what the model calls it. In a namespace that is `namespace__local_name`. `custom`: the client declared a
    tool that takes free text, which is the argument `input`. `description` is the declaration's, "" without one.
    """

    __slots__ = ("_type", "custom", "description", "name", "namespace", "parameters")

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, Any],
        *,
        namespace: str = "",
        custom: bool = False,
        description: str = "",
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.namespace = namespace
        self.custom = custom
        self.description = description
        self._type: ValueType | None = None

    @property
    def local_name(self) -> str:
        """The name without its namespace, as the client declared it."""
        return self.name.removeprefix(f"{self.namespace}__") if self.namespace else self.name

    @property
    def type(self) -> ValueType:
        """The type of the arguments object."""
        if self._type is None:
            self._type = ValueType(self.parameters)
        return self._type

    @property
    def declared(self) -> tuple[str, ...]:
        """The parameters that the schema's own `properties` name, in their order."""
        properties = self.parameters.get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else ()

    def declares(self, key: str) -> bool:
        return self.type.declares(key)

    def parameter(self, key: str) -> ValueType | None:
        """The type of one argument, `additionalProperties` included; None when the schema says nothing about it."""
        return self.type.property(key)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


@final
class Tools:
    """The functions that a request declares, by name and in its order. Immutable; equal when they declare the same.

    False when the request has no tools of any kind.
    """

    __slots__ = ("_digest", "_tools", "ignored", "names")

    def __init__(self, tools: Mapping[str, Tool], ignored: tuple[str, ...] = ()) -> None:
        self._tools = dict(tools)
        self.names = tuple(self._tools)
        self.ignored = ignored
        self._digest: str | None = None

    @classmethod
    def of(cls, tools: Sequence[Mapping[str, Any]] | None) -> Tools:
        """The `tools` of a request as it came; None (left out, or null) declares no function.

        Raises ValueError, with the path and the mend, for a tool that is malformed.
        """
        declared: dict[str, Tool] = {}
        ignored: list[str] = []
        for where, tool in _listed(tools, "tools"):
            if tool.get("type") == "namespace":
                namespace = _name(tool, where)
                for inner, entry in _listed(tool.get("tools"), f"{where}.tools"):
                    _declare(entry, inner, declared, ignored, namespace)
            else:
                _declare(tool, where, declared, ignored, "")
        return cls(declared, tuple(ignored))

    def only(self, names: Sequence[str]) -> Tools:
        """These tools without those that are not among `names`."""
        return Tools({name: tool for name, tool in self._tools.items() if name in names})

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    @property
    def digest(self) -> str:
        """A hash of the names and schemas in their order: the key of what is compiled from them."""
        if self._digest is None:
            import hashlib

            declared = [[tool.name, tool.parameters] for tool in self]
            self._digest = hashlib.sha256(json.dumps(declared, separators=(",", ":")).encode()).hexdigest()
        return self._digest

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __bool__(self) -> bool:
        return bool(self._tools or self.ignored)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Tools) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Tools({', '.join(self.names)})"


def _listed(tools: object, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each tool of a list with its path. A request is not checked by its type hints: any JSON may have come."""
    listed: object = [] if tools is None else tools
    if isinstance(listed, str | bytes) or not isinstance(listed, Sequence):
        raise _malformed(path, "a list of tools", listed)
    for index, tool in enumerate(listed):
        if not isinstance(tool, Mapping):
            raise _malformed(f"{path}[{index}]", "an object", tool)
        yield f"{path}[{index}]", tool


def _declare(tool: Mapping[str, Any], path: str, declared: dict[str, Tool], ignored: list[str], namespace: str) -> None:
    kind = tool.get("type")
    if kind is not None and not isinstance(kind, str):
        raise _malformed(f"{path}.type", "a string", kind)
    custom = kind == "custom" and "input_schema" not in tool
    if kind == "function" or (kind is None and "function" in tool):
        path, tool = _inner(tool, path, "function", '{"name": …}')
        schema = "parameters"
    elif custom:
        path, tool = _inner(tool, path, "custom", '{"name": …}')
        schema = ""
    elif "input_schema" in tool or kind is None:
        schema = "input_schema"
    else:
        ignored.append(kind)
        return
    name = _name(tool, path)
    parameters = tool.get(schema) if schema else _TEXT
    if parameters is None and schema == "parameters":
        # Both APIs let a function without parameters leave them out.
        parameters = {}
    if not isinstance(parameters, Mapping):
        raise _malformed(f"{path}.{schema}", "an object (a JSON schema)", parameters)
    name = f"{namespace}__{name}" if namespace else name
    if name in declared:
        raise ValueError(f"{path}.name: {name!r} is declared twice; names must differ")
    description = tool.get("description")
    declared[name] = Tool(
        name,
        _copied(parameters, f"{path}.{schema}"),
        namespace=namespace,
        custom=custom,
        description=description if isinstance(description, str) else "",
    )


def _inner(tool: Mapping[str, Any], path: str, key: str, shape: str) -> tuple[str, Mapping[str, Any]]:
    """The declaration itself: under its key in Chat's shape, the tool in Responses'."""
    if key in tool:
        if not isinstance(tool[key], Mapping):
            raise _malformed(f"{path}.{key}", "an object", tool[key])
        return f"{path}.{key}", tool[key]
    if "name" not in tool:
        article = "a function" if key == "function" else f"a {key} tool"
        raise ValueError(f'{path}: {article} needs "{key}": {shape}, or "name" beside "type"')
    return path, tool


def _name(tool: Mapping[str, Any], path: str) -> str:
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise _malformed(f"{path}.name", "a name", name)
    return name


def _copied(schema: Mapping[str, Any], path: str) -> dict[str, Any]:
    if too_deep(schema, _MAX_DEPTH):
        raise ValueError(f"{path}: nested too deeply to be read; at most {_MAX_DEPTH} levels are")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(schema), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: not JSON ({error})") from error
    return copy


def too_deep(value: object, levels: int) -> bool:
    """Whether lists and objects stand in each other more than so many levels deep."""
    level = {0: value}  # by identity: a value that stands in several places is looked at once a level
    for _ in range(levels + 1):
        level = {
            id(inner): inner
            for outer in level.values()
            if isinstance(outer, Mapping | list | tuple)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        }
        if not level:
            return False
    return True


def _malformed(path: str, wanted: str, got: object) -> ValueError:
    told = "a deeply nested value" if too_deep(got, _MAX_DEPTH) else json.dumps(got, default=repr)[:80]
    return ValueError(f"{path}: {wanted} is expected here, not {told}")
