"""`SchemaValidator`: a JSON Schema as jsonschema-rs reads it, and the declared order of its objects' fields.

Nothing is ever fetched: other documents come in `resources`, and a reference that finds none is an error when the
schema is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema import json_schema_graph
from ..schema.path import show
from ..schema.references import ROOT
from .validation import DocumentError, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..schema.graph import Node


class SchemaValidator:
    """The validator of the documents of one schema; `root` is the schema's graph."""

    def __init__(self, schema: Any, resources: Mapping[str, Any]) -> None:
        try:
            import jsonschema_rs
        except ImportError:
            raise ModuleNotFoundError("a JSON Schema needs jsonschema-rs: pip install 'gateway-args[schema]'") from None
        self._library: Any = jsonschema_rs
        self._branches: dict[str, Any] = {}
        try:
            self._registry: Any = jsonschema_rs.Registry([*resources.items(), (ROOT, schema)], retriever=_fetch_nothing)
            self._validator: Any = self._compile(schema)
        except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            where = show(getattr(error, "instance_path", ()))
            raise ValueError(f"schema: {where}: {getattr(error, 'message', error)}") from None
        self.root = json_schema_graph.lower(schema, resources, self._matcher)

    def _compile(self, schema: Any) -> Any:
        return self._library.validator_for(schema, registry=self._registry, retriever=_fetch_nothing)

    def _matcher(self, pattern: str) -> Callable[[str], bool]:
        """Whether a name matches a pattern, by the very engine that has the last word."""
        validator = self._compile({"pattern": pattern})

        def matches(name: str) -> bool:
            try:
                return bool(validator.is_valid(name))
            except UnicodeEncodeError:  # half a surrogate pair: the document is refused in the end
                return False

        return matches

    def validate(self, value: Any, document: bytes) -> Any:
        """The value itself, when the schema admits it."""
        if not self._validator.is_valid(value):
            error = next(iter(self._validator.iter_errors(value)))
            raise DocumentError(error.kind.name, error.message, path=show(error.instance_path))
        return value

    def canonical(self, value: Any, validated: Any) -> bytes:
        """The value written with its keys as they stand, once they are known to stand in the declared order.

        Every schema that applies to an object states the order of the properties it declares; of `anyOf` and `oneOf`
        the first alternative that admits the value does. Properties that nobody declares may stand anywhere.
        """
        stack: list[tuple[Any, Node]] = [(value, self.root)]
        visited: set[tuple[int, int]] = set()
        while stack:
            part, node = stack.pop()
            if not isinstance(part, dict | list) or (id(part), id(node)) in visited:
                continue
            visited.add((id(part), id(node)))
            stack += [(part, inner) for inner in node.every]
            for group in node.groups:
                stack += [(part, inner) for inner in group if inner.address and self._admits(inner, part)][:1]
            if isinstance(part, list):
                if node.array is not None:
                    for index, item in enumerate(part):
                        prefix = node.array.prefix
                        inner = prefix[index] if index < len(prefix) else node.array.rest
                        stack += [] if inner is None else [(item, inner)]
                continue
            shape = node.object
            if shape is None:
                continue
            last = -1
            for name, member in part.items():
                rank = shape.ranks.get(name, last)
                if rank < last:
                    raise DocumentError("order", f"the property {name!r} stands after one that is declared after it")
                last = rank
                known = [shape.properties[name]] if name in shape.properties else []
                known += [inner for matches, inner in shape.patterns if matches(name)]
                if not known and shape.rest is not None:
                    known = [shape.rest]
                stack += [(member, inner) for inner in known]
        return written(value)

    def _admits(self, node: Node, value: Any) -> bool:
        validator = self._branches.get(node.address)
        if validator is None:
            validator = self._branches[node.address] = self._compile({"$ref": node.address})
        return bool(validator.is_valid(value))


def _fetch_nothing(uri: str) -> Any:
    raise ValueError(f"{uri} is not among the resources, and nothing is fetched")
