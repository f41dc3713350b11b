"""The tools of a request: the functions it declares, and the schemas of their parameters.

Three shapes are read, told apart by their keys: Chat (`function` holds the declaration), Responses (`"type":
"function"` beside it) and Messages (`input_schema`). A tool that is no function (one that the provider runs itself, or
a free-text one) is listed in `ignored` by its type. The schemas are copied: what the caller does with the request
afterwards changes nothing here, and one `Tools` serves any number of threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

from .schema.value_types import ValueType


@final
class Tool:
    """One declared function. `parameters` is the schema of its arguments object, not to be changed."""

    __slots__ = ("_type", "name", "parameters")

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self.parameters = parameters
        self._type: ValueType | None = None

    @property
    def type(self) -> ValueType:
        """The type of the arguments object."""
        if self._type is None:
            self._type = ValueType(self.parameters)
        return self._type

    def declares(self, key: str) -> bool:
        return key in self.type.keys

    def parameter(self, key: str) -> ValueType | None:
        """The type of one argument, `additionalProperties` included; None when the schema says nothing about it."""
        return self.type.property(key)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


@final
class Tools:
    """The functions that a request declares, by name and in its order. Immutable; equal when they declare the same."""

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
        # A request is not checked by its type hints: whatever JSON came is looked at as it is.
        listed: object = [] if tools is None else tools
        if isinstance(listed, str | bytes) or not isinstance(listed, Sequence):
            raise _malformed("tools", "a list of tools", listed)
        declared: dict[str, Tool] = {}
        ignored: list[str] = []
        for index, tool in enumerate(listed):
            path = f"tools[{index}]"
            if not isinstance(tool, Mapping):
                raise _malformed(path, "an object", tool)
            found = _function(tool, path)
            if found is None:
                ignored.append(tool["type"])
                continue
            where, name, parameters = found
            if name in declared:
                raise ValueError(f"{where}: {name!r} is declared twice; names must differ")
            declared[name] = Tool(name, parameters)
        return cls(declared, tuple(ignored))

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

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Tools) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Tools({', '.join(self.names)})"


def _function(tool: Mapping[str, Any], path: str) -> tuple[str, str, Mapping[str, Any]] | None:
    """Where the name stands, the name and the parameters; None for a tool that is no function."""
    kind = tool.get("type")
    if kind is not None and not isinstance(kind, str):
        raise _malformed(f"{path}.type", "a string", kind)
    if kind == "function" or (kind is None and "function" in tool):
        if "function" in tool:
            path, tool = f"{path}.function", tool["function"]
            if not isinstance(tool, Mapping):
                raise _malformed(path, "an object", tool)
        elif "name" not in tool:
            raise ValueError(f'{path}: a function needs "function": {{"name": …}}, or "name" beside "type"')
        schema = "parameters"
    elif "input_schema" in tool or kind is None:
        schema = "input_schema"
    else:
        return None
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise _malformed(f"{path}.name", "a name", name)
    parameters = tool.get(schema)
    if parameters is None and schema == "parameters":
        # Both APIs let a function without parameters leave them out.
        parameters = {}
    if not isinstance(parameters, Mapping):
        raise _malformed(f"{path}.{schema}", "an object (a JSON schema)", parameters)
    return f"{path}.name", name, _copied(parameters, f"{path}.{schema}")


def _copied(schema: Mapping[str, Any], path: str) -> dict[str, Any]:
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(schema), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: not JSON ({error})") from error
    except RecursionError as error:
        raise ValueError(f"{path}: nested too deeply to be read") from error
    return copy


def _malformed(path: str, wanted: str, got: object) -> ValueError:
    return ValueError(f"{path}: {wanted} is expected here, not {json.dumps(got, default=repr)[:80]}")
