"""`SchemaValidator`: a JSON Schema as jsonschema-rs reads it, and the declared order of its objects' fields.

Nothing is ever fetched: other documents come in `resources`, and a reference that finds none is an error when the
schema is compiled.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from ..schema import json_schema_graph
from ..schema.path import show
from ..schema.references import ROOT, fetch_nothing
from .outcomes import LONGEST_MESSAGE
from .validation import DocumentError, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..schema.graph import Node, ObjectShape


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
            self._registry: Any = jsonschema_rs.Registry([*resources.items(), (ROOT, schema)], retriever=fetch_nothing)
            self._validator: Any = self._compile(schema)
        except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            raise ValueError(_fault(error)) from None
        self.root = json_schema_graph.lower(schema, resources, self._matcher)

    def _compile(self, schema: Any) -> Any:
        return self._library.validator_for(schema, registry=self._registry, retriever=fetch_nothing)

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
        """The value itself, when it is valid."""
        try:
            if self._validator.is_valid(value):
                return value
            error = next(iter(self._validator.iter_errors(value)))
        except BaseException as failure:  # the library panics where it compares values on a stack that is nearly full
            if isinstance(failure, ValueError) or type(failure).__name__ == "PanicException":
                raise DocumentError("depth", f"the validator gave up: {failure}") from None
            raise
        raise DocumentError(error.kind.name, _short(error.message), path=show(error.instance_path))

    def canonical(self, value: Any, validated: Any) -> bytes:
        """The value written with its keys as they stand, once they are known to stand in the declared order.

        Every schema that applies to an object states the order of the properties it declares; of `anyOf` and `oneOf`
        the first alternative that the value is valid for does. Properties that nobody declares may stand anywhere.
        """
        stack: list[tuple[Any, Node]] = [(value, self.root)]
        visited: set[tuple[int, int]] = set()
        while stack:
            part, node = stack.pop()
            if not isinstance(part, dict | list | float) or (id(part), id(node)) in visited:
                continue
            visited.add((id(part), id(node)))
            stack += [(part, inner) for inner in node.every]
            for group in node.groups:
                stack += [(part, inner) for inner in self._first(group, part)]
            match part:
                case float() if node.number is not None and node.number.integral:
                    raise DocumentError("canonical", f"{part!r}: an integer is written without fraction or exponent")
                case dict() if node.object is not None:
                    stack += _members(part, node.object)
                case list() if node.array is not None:
                    prefix, rest = node.array.prefix, node.array.rest
                    nodes = [*prefix, *[rest] * (len(part) - len(prefix))]
                    stack += [(item, inner) for item, inner in zip(part, nodes, strict=False) if inner is not None]
        return written(value)

    def _first(self, group: list[Node], part: Any) -> list[Node]:
        """The first alternative that the value is valid for; for 1.0 one that asks for no integer, if there is any."""
        valid = (node for node in group if node.address and self._admits(node, part))
        if not isinstance(part, float):
            return [*valid][:1]
        return sorted(valid, key=lambda node: node.number is not None and node.number.integral)[:1]

    def _admits(self, node: Node, value: Any) -> bool:
        validator = self._branches.get(node.address)
        if validator is None:
            validator = self._branches[node.address] = self._compile({"$ref": node.address})
        return bool(validator.is_valid(value))


def _members(value: dict[str, Any], shape: ObjectShape) -> list[tuple[Any, Node]]:
    """The members and the schemas that apply to them; `DocumentError` when they are out of their declared order."""
    members: list[tuple[Any, Node]] = []
    last = -1
    for name, member in value.items():
        rank = shape.ranks.get(name, last)
        if rank < last:
            raise DocumentError("order", f"the property {name!r} stands after one that is declared after it")
        last = rank
        known = [shape.properties[name]] if name in shape.properties else []
        known += [inner for matches, inner in shape.patterns if matches(name)]
        if not known and shape.rest is not None:
            known = [shape.rest]
        members += [(member, inner) for inner in known]
    return members


def _fault(error: Any) -> str:
    """What is wrong with a schema, and where in it."""
    path = getattr(error, "instance_path", ())
    name = getattr(error, "instance", None)
    if path and path[-1] == "type" and isinstance(name, str):
        near = difflib.get_close_matches(name, json_schema_graph.KIND_OF_TYPE, 1)
        known = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(json_schema_graph.KIND_OF_TYPE)}"
        return f"schema: {show(path)}: unknown type {name!r}; {known}"
    return f"schema: {show(path)}: {_short(getattr(error, 'message', str(error)))}"


def _short(message: str) -> str:
    """A message that quotes a value, of which its beginning is enough."""
    return message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + "…"
