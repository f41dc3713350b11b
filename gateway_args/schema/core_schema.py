"""pydantic's core schemas as data: their definitions, what stands in wrappers, the fields of records.

A core schema says what a validator does; the JSON schema that pydantic derives from it does not (a `BeforeValidator`
takes what it likes, a model may be filled by alias or by name). These are the few facts about its form that more than
one reader needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Node = dict[str, Any]

RECORDS: Final = frozenset(("model-fields", "dataclass-args", "typed-dict", "named-tuple", "arguments"))
LISTS: Final = frozenset(("list", "set", "frozenset"))


class Definitions:
    """The parts of a core schema that others refer to, and whether any text in it is stripped."""

    __slots__ = ("by_name", "strips")

    def __init__(self, core: Node) -> None:
        self.by_name: dict[str, Node] = {}
        self.strips = False  # texts are stripped before their length is judged
        stack: list[Any] = [core]
        seen: set[int] = set()
        while stack:
            part = stack.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            if isinstance(part, dict):
                if isinstance(part.get("ref"), str):
                    self.by_name.setdefault(part["ref"], part)
                self.strips |= bool(part.get("strip_whitespace") or part.get("str_strip_whitespace"))
                stack += [value for key, value in part.items() if key not in ("metadata", "serialization")]
            elif isinstance(part, list | tuple):
                stack += part

    def resolve(self, node: Node) -> Node:
        """The schema itself, behind definitions and references to them."""
        while node["type"] in ("definitions", "definition-ref"):
            node = node["schema"] if node["type"] == "definitions" else self.by_name[node["schema_ref"]]
        return node


def fields_of(record: Node) -> list[tuple[str, Node]]:
    """The fields of a record, by their names in Python."""
    fields = record["arguments_schema"] if record["type"] == "arguments" else record["fields"]
    return list(fields.items()) if isinstance(fields, Mapping) else [(each["name"], each) for each in fields]


def choices_of(union: Node) -> list[Node]:
    """The alternatives of a union, tagged or not."""
    listed = union["choices"].values() if union["type"] == "tagged-union" else union["choices"]
    parts = [part[0] if isinstance(part, tuple) else part for part in listed]
    return [part for part in parts if isinstance(part, dict)]


def texts_of(node: Node) -> list[str] | None:
    """The texts that a literal or an enumeration is one of; None for any other type, and when it has other values."""
    match node["type"]:
        case "literal":
            values = node["expected"]
        case "enum" if not node.get("missing"):
            values = [member.value for member in node["members"]]
        case _:
            return None
    return [str(value) for value in values] if values and all(isinstance(value, str) for value in values) else None
