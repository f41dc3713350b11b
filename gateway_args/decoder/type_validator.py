"""`TypeValidator`: a Python type as pydantic reads it, in strict mode or not.

The canonical form of a value is what pydantic writes for it: fields in declared order, those that were left out left
out. A type whose written form is not its own input (a field with two different aliases) has no canonical document.
"""

from __future__ import annotations

from typing import Any

from ..schema import python_type_graph
from ..schema.path import show
from ..schema.typed_dicts import modern
from .validation import DocumentError


class TypeValidator:
    """The validator of the documents of one type; `root` is the type's graph."""

    def __init__(self, of: Any, *, strict: bool = True) -> None:
        try:
            import pydantic
        except ImportError:
            raise ModuleNotFoundError("a type needs pydantic: pip install 'gateway-args[typed]'") from None
        self._library: Any = pydantic
        try:
            self.adapter: Any = of if isinstance(of, pydantic.TypeAdapter) else pydantic.TypeAdapter(modern(of))
            core = self.adapter.core_schema
        except (pydantic.PydanticUserError, NameError, TypeError) as error:
            told = str(error).partition("\n")[0]
            raise ValueError(f"type: expected a type that pydantic knows, got {of!r} ({told})") from None
        self.root = python_type_graph.lower(core, strict=strict)
        self._strict = True if strict else None  # None leaves to a model what its own configuration says

    def validate(self, value: Any, document: bytes) -> Any:
        """The value of the type, validated from the document's own bytes."""
        try:
            return self.adapter.validate_json(document, strict=self._strict)
        except self._library.ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            raise DocumentError(first["type"], first["msg"], path=show(first["loc"])) from None

    def canonical(self, value: Any, validated: Any) -> bytes:
        """What pydantic writes."""
        try:
            written: bytes = self.adapter.dump_json(validated, by_alias=True, exclude_unset=True, warnings="none")
        except self._library.PydanticSerializationError as error:  # pragma: no cover - a type's own serializer
            raise DocumentError("canonical", f"the value cannot be written: {error}") from None
        return written
