"""Values as elements inside elements, as trees by their schema: what the formats write whose tags are nested."""

from __future__ import annotations

from .nodes import NOTHING, Free, Json, Literal, Node, Rule, choice, optional, repeated, sequence
from .schemas import merge
from .values import Schema, Values, reference_of, word_of


class ElementValues:
    """Values as elements inside elements: an element a member, its items under the key `item`."""

    def __init__(self, values: Values, opener: str, closer: str, excludes: tuple[str, ...]) -> None:
        self._values = values
        self._opener = opener
        self._closer = closer
        self._excludes = excludes

    def members(self, schema: Schema, where: str, root: Schema | None = None) -> Node:
        root = schema if root is None else root
        found = []
        for key, one, required in self._values.members(schema, where):
            value = self._values.resolved(one, root)
            element = self._element(key, value, root, f"{where}.{key}", reference_of(one))
            found.append(element if required else optional(element))
        return sequence(*found)

    def _element(self, key: str, schema: Schema, root: Schema, where: str, reference: str) -> Node:
        close = self._closer.replace("{name}", key)
        return sequence(
            Literal(self._opener.replace("{name}", key)), self._inner(schema, root, where, reference, close)
        )

    def _inner(self, schema: Schema, root: Schema, where: str, reference: str, close: str) -> Node:
        """The value and the closer of its element."""
        if reference:
            name = f"elements_{word_of(reference)}_{word_of(where.partition('.')[0])}_{word_of(close)}"
            if name not in self._values.rules:
                self._values.rules[name] = NOTHING
                self._values.rules[name] = self._inner(schema, root, where, "", close)
            return Rule(name)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                parts = [
                    part for part in schema[key] if self._values.types(self._values.resolved(part, root)) != {"null"}
                ]
                if len(parts) == 1:
                    only = {name: said for name, said in schema.items() if name != key}
                    if not merge(only, self._values.resolved(parts[0], root)):
                        self._values.unenforced[f"{where}: {key}"] = None
                    return self._inner(only, root, where, reference_of(parts[0]), close)
        types = self._values.types(schema)
        if not types:
            return NOTHING
        if "string" in types:
            words = self._values.words(schema)
            self._values.free_text(schema, where)
            if words is not None:
                return sequence(choice(map(Literal, words)), Literal(close))
            return Free(self._excludes, close)
        if types == {"null"}:
            return Literal(close)
        if "null" in types:
            without = {**schema, "type": sorted(types - {"null"})}
            return choice([Literal(close), self._inner(without, root, where, "", close)])
        rest = types
        if "object" in rest:
            if "properties" not in schema and schema.get("additionalProperties") is not False:
                self._values.narrowed[f"{where}: no members"] = None
            return sequence(self.members(schema, where, root), Literal(close))
        if "array" in rest:
            self._values.unsaid(schema, frozenset(("type", "items", "minItems", "maxItems")), ["array"], where)
            one = schema.get("items", {})
            item = self._element("item", self._values.resolved(one, root), root, f"{where}[]", reference_of(one))
            least, most = int(schema.get("minItems", 0)), schema.get("maxItems")
            return sequence(repeated(item, least, most), Literal(close))
        kept = {**schema, "type": sorted(rest)}
        return sequence(Json(self._values.rooted(kept, root), where), Literal(close))
