"""`CompiledSchema`: a schema or type compiled once, shared by every stream that decodes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from . import validation
from .schema_validator import SchemaValidator
from .type_validator import TypeValidator

if TYPE_CHECKING:
    from ..schema.graph import Node

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
Framing = Literal["json", "canonical"]


class CompiledSchema(Generic[T_co]):
    """The graph that streams are checked against, and the whole-document decoder that has the last word.

    Immutable and shared by threads. `identity` is the SHA-256 of the canonical form: the same schema has the same one
    in every process. In it the keywords of a schema are sorted, but the properties of an object stand in their declared
    order, which the canonical framing knows.
    """

    __slots__ = ("identity", "root", "source", "strict", "validator")

    def __init__(
        self, validator: SchemaValidator | TypeValidator, form: Any, *, strict: bool = True, source: Any = None
    ) -> None:
        self.strict = strict
        self.source: tuple[Any, Any] | None = source  # a JSON Schema and its resources, as parsed JSON
        self.validator: validation.Validator = validator
        self.root: Node = validator.root
        self.identity: str = hashlib.sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()

    def decode(self, document: bytes | str, framing: Framing = "json") -> T_co:
        """The value of a whole document; `DocumentError` (a `DecodeError`) when it is not valid."""
        data = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
        value: T_co = validation.decode(data, self.validator, canonical=framing == "canonical")
        return value

    def __repr__(self) -> str:
        return f"CompiledSchema({self.identity[:12]})"


@overload
def compile_schema(
    schema: Mapping[str, Any] | bool, *, resources: Mapping[str, Any] | None = None, strict: bool = True
) -> CompiledSchema[Any]: ...
@overload
def compile_schema(schema: type[T], *, resources: None = None, strict: bool = True) -> CompiledSchema[T]: ...
@overload
def compile_schema(
    schema: Any, *, resources: Mapping[str, Any] | None = None, strict: bool = True
) -> CompiledSchema[Any]: ...
def compile_schema(
    schema: Any, *, resources: Mapping[str, Any] | None = None, strict: bool = True
) -> CompiledSchema[Any]:
    """Compiles a JSON Schema (a mapping or a boolean) or a Python type (anything that pydantic's `TypeAdapter` takes).

    `resources` are the other documents that a schema refers to, by URI. `strict` is pydantic's, for types: without it
    "2", true and 2.0 are an `int`, and fewer documents are refused before their end. A JSON Schema has one reading.
    `ValueError` for a schema that is none, with its path; `ModuleNotFoundError` names the extra that is missing.
    """
    if isinstance(schema, str | bytes | list | tuple | int | float) and not isinstance(schema, bool):
        raise ValueError(f"schema: expected a JSON Schema (a mapping or a boolean) or a type, got {repr(schema)[:80]}")
    if not isinstance(schema, Mapping | bool):
        if resources is not None:
            raise ValueError("resources: they are for a JSON Schema, not for a type")
        validator = TypeValidator(schema, strict=strict)
        form = {"type": _name(schema), "schema": _ordered(_json_schema(validator))}
        return CompiledSchema(validator, form if strict else {**form, "strict": False}, strict=strict)
    plain = _plain(schema, "schema")
    others = {uri: _plain(document, f"resources[{uri!r}]") for uri, document in (resources or {}).items()}
    form = {"schema": _ordered(plain), "resources": _ordered(others)}
    return CompiledSchema(SchemaValidator(plain, others), form, strict=strict, source=(plain, others))


def _plain(schema: Any, what: str) -> Any:
    """A copy of the schema as parsed JSON, in which no object stands in two places."""
    try:
        return json.loads(json.dumps(schema, default=_as_dict, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{what}: not JSON: {error}") from None


def _as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _ordered(schema: Any) -> Any:
    """The schema in a form that keeps the order of declared properties when its keys are sorted."""
    if isinstance(schema, list):
        return [_ordered(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: [[name, _ordered(inner)] for name, inner in part.items()]
        if key == "properties" and isinstance(part, dict)
        else _ordered(part)
        for key, part in schema.items()
    }


def _json_schema(validator: TypeValidator) -> Any:
    """The type's JSON schema, None where pydantic has none: it names the type's form, nothing is decoded by it."""
    import pydantic

    try:
        return validator.adapter.json_schema()
    except pydantic.errors.PydanticInvalidForJsonSchema:
        return None


def _name(of: Any) -> str:
    return f"{of.__module__}.{of.__qualname__}" if isinstance(of, type) else repr(of)
