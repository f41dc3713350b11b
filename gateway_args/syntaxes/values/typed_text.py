"""The JSON that a raw text stands for, as the type of the value decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...strict_json.literals import json_string, read_json, read_python

if TYPE_CHECKING:
    from ...schema.value_types import ValueType


def as_json(text: str, type: ValueType | None, *, python: bool, max_depth: int = 31) -> str | None:
    """The JSON of a tag's raw text, which the value's type decides; None when it is nested too deeply.

    - Only a string (or a string or null): the text exactly, quotes and white space included; exactly `null`, and
      exactly `None` where the table's literals are Python's (`python`), is null when the type admits it.
    - Other types: the JSON value or Python literal that the text is, white space around it aside, when an admitted
      type has it; otherwise the text as a string. A number as only Python spells it (`+353`, `1_000`) is a string where
      the type admits one. A whole number may be written `1.0`, as JSON Schema has it. Where an enumeration holds the
      string and not the value, it is the string.
    - No type (None, or untyped): JSON, then Python literal, then string.

    `max_depth` is counted from the value: one less than the limit of the arguments object around it.
    """
    if type is not None and type.only_string:
        if type.nullable and (text == "null" or (python and text == "None")):
            return "null"
        return json_string(text)
    value = read_json(text, max_depth)
    spelled = value is None  # as Python spells it, if at all
    if value is None:
        value = read_python(text, max_depth)
    if value is None:
        return json_string(text)
    if type is not None and not type.untyped:
        # A string is read as one only where nothing is known: its quotes are text of a declared string.
        if value.kind == "string" or not type.admits(value.kind):
            return json_string(text)
        if spelled and value.kind in ("integer", "number") and type.admits("string"):
            return json_string(text)
        if value.json is not None and not type.has_member(value.kind, value.json) and type.has_member("string", text):
            return json_string(text)
    return value.json
