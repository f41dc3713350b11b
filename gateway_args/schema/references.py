"""`References`: where the subschemas of a JSON Schema stand, and what `$ref` leads to; the one resolver of the package.

Followed are pointers (`#/$defs/item`), anchors (`#item`), `$id`s and other documents that the caller gives by URI;
nothing is fetched. The walk is over the schema's own nesting, with no recursion. A reference that the plain rules do
not find leads nowhere (None): whoever asks then says nothing about the value. Schemas come from strangers, and nothing
here raises for what one says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin

ROOT: Final = "urn:gateway-args:schema"
"""The address that the root schema has in a validator's registry, whatever it calls itself."""


def fetch_nothing(uri: str) -> Any:
    """The retriever of every validator: a schema is a stranger's, and what it names elsewhere is not asked for."""
    raise ValueError(f"{uri} is not among the resources, and nothing is fetched")


# Where subschemas stand: a schema, a list of them, a map to them. A position counts only where its value has that form.
ONE: Final[tuple[str, ...]] = (
    *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
    *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
)
LISTS: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
MAPS: Final = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between the drafts: the spelling of tuples, and whether `$ref` silences its neighbours."""

    prefix: str
    rest: str
    ref_alone: bool


MODERN: Final = Dialect("prefixItems", "items", ref_alone=False)
DIALECTS: Final = {
    "https://json-schema.org/draft/2020-12/schema": MODERN,
    "https://json-schema.org/draft/2019-09/schema": Dialect("items", "additionalItems", ref_alone=False),
    "http://json-schema.org/draft-07/schema": Dialect("items", "additionalItems", ref_alone=True),
    "http://json-schema.org/draft-06/schema": Dialect("items", "additionalItems", ref_alone=True),
}


@dataclass(frozen=True, slots=True)
class Location:
    """Where a schema stands: the URI that its references start from, its dialect (None: unknown), its address."""

    base: str
    dialect: Dialect | None
    address: str


class References:
    """The index of one schema and the documents that it refers to, which must not change while it is used."""

    __slots__ = ("_anchors", "_documents", "_locations", "root")

    def __init__(self, schema: object, resources: Mapping[str, Any] | None = None) -> None:
        self._locations: dict[int, Location] = {}
        self._documents: dict[str, Any] = {}
        self._anchors: dict[tuple[str, str], Any] = {}
        for uri, document in (resources or {}).items():
            self._index(document, Location(uri, MODERN, f"{uri}#"))
        self.root = Location("", MODERN, f"{ROOT}#")
        self._index(schema, self.root)

    def location(self, schema: object, otherwise: Location) -> Location:
        """Where this schema stands; `otherwise` for one that stands where no keyword looks for schemas."""
        return self._locations.get(id(schema), otherwise)

    def target(self, reference: str, location: Location) -> tuple[Any, Location] | None:
        """The schema that a reference names and where it stands; None when the plain rules do not find it."""
        joined = location.base + reference if reference.startswith("#") else _joined(location.base, reference)
        uri, _, fragment = joined.partition("#")
        if uri not in self._documents:
            return None
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            schema = self._anchors.get((uri, fragment))
            return None if schema is None else (schema, self.location(schema, location))
        schema = self._documents[uri]
        for step, token in enumerate(fragment.split("/")[1:]):
            if step and isinstance(schema, Mapping) and "$id" in schema:
                return None
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, Mapping) and key in schema:
                schema = schema[key]
            elif isinstance(schema, list) and key.isascii() and key.isdigit() and len(key) < 9:
                if int(key) >= len(schema):
                    return None
                schema = schema[int(key)]
            else:
                return None
        return schema, self.location(schema, Location(uri, location.dialect, joined if uri else ROOT + joined))

    def _index(self, document: object, location: Location) -> None:
        """Notes the place of every subschema, the resources that have an `$id`, and the anchors."""
        self._documents.setdefault(location.base.rstrip("#"), document)
        stack: list[tuple[object, Location]] = [(document, location)]
        while stack:
            schema, location = stack.pop()
            if not isinstance(schema, Mapping) or id(schema) in self._locations:
                continue
            base, dialect = location.base, location.dialect
            named = schema.get("$schema")
            if isinstance(named, str):
                dialect = DIALECTS.get(named.rstrip("#"))
            identity = schema.get("$id")
            if isinstance(identity, str) and not (dialect and dialect.ref_alone and "$ref" in schema):
                if identity.startswith("#"):
                    self._anchors.setdefault((base, identity[1:]), schema)
                else:
                    base = _joined(base, identity).rstrip("#")
                    self._documents.setdefault(base, schema)
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(key), str):
                    self._anchors.setdefault((base, schema[key]), schema)
            self._locations[id(schema)] = Location(base, dialect, location.address)
            stack += [(part, Location(base, dialect, location.address + step)) for step, part in _subschemas(schema)]


def pointer_step(name: str) -> str:
    """A name as a step of a JSON pointer in a URI fragment."""
    return "/" + quote(name.replace("~", "~0").replace("/", "~1"), safe="~", errors="replace")


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:  # no URI at all
        return reference


def _subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The schemas directly inside, each with its step of a JSON pointer."""
    for key in ONE:
        if isinstance(schema.get(key), Mapping):
            yield f"/{key}", schema[key]
    for key in LISTS:
        if isinstance(schema.get(key), list):
            for index, part in enumerate(schema[key]):
                yield f"/{key}/{index}", part
    for key in MAPS:
        if isinstance(schema.get(key), Mapping):
            for name, part in schema[key].items():
                if isinstance(name, str):
                    yield f"/{key}{pointer_step(name)}", part
