"""Reading a tool's schema as it is found in the wild.

Real schemas deviate from JSON Schema. What is read, and how:

- Type names of Python and of other dialects (`dict`, `float`, `tuple`, `STRING`, `ArrayList`) mean the JSON type;
  `any` means no constraint; a name that means nothing is left out, with a note.
- `nullable: true` (OpenAPI) admits null; `required: true` on a property makes it required.
- Keywords whose value is null are as if absent. A keyword with a value of the wrong kind is left out, with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_llm_judge.errors import shown

_TYPES = {
    "string": "string", "str": "string", "text": "string", "char": "string", "character": "string",
    "integer": "integer", "int": "integer", "long": "integer", "short": "integer", "bigint": "integer",
    "number": "number", "float": "number", "double": "number", "decimal": "number",
    "boolean": "boolean", "bool": "boolean",
    "array": "array", "list": "array", "tuple": "array", "set": "array", "arraylist": "array",
    "object": "object", "dict": "object", "map": "object", "hashmap": "object", "struct": "object",
    "null": "null", "none": "null", "nonetype": "null",
}  # fmt: skip
_ANYTHING = frozenset({"any", "unknown", ""})

_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLES = frozenset(
    {"items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems"}
    | {"contains", "propertyNames", "not", "if", "then", "else"}
)
_VALUES = frozenset({"const", "default"})
"""Keywords whose value may be null and means it."""


class SchemaReader:
    """Turns one schema into plain JSON Schema, and notes what it left out."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def read(self, schema: Any) -> dict[str, Any]:
        """A tool's schema as plain JSON Schema, without the root's type; the given one stays as it is."""
        root = self._node(schema)
        if not isinstance(root, dict):
            return {}
        kinds = root.pop("type", "object")
        if "object" not in ([kinds] if isinstance(kinds, str) else kinds):
            self.notes.append(f"it describes {shown(kinds)} where named arguments are expected")
        return root

    def _node(self, node: Any) -> Any:
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            self.notes.append(f"{shown(node, 60)} stands where a schema is expected and is left out")
            return True
        read = {key: self._keyword(key, value) for key, value in node.items() if value is not None or key in _VALUES}
        plain = {key: value for key, value in read.items() if value is not None or key in _VALUES}
        return _nullable(self._lift_required(plain, node))

    def _keyword(self, key: str, value: Any) -> Any:
        """The value of a keyword; `None` leaves the keyword out."""
        if key in _MAPS:
            return self._map(key, value)
        if key in _LISTS or (key == "items" and isinstance(value, list)):
            return self._list(key, value)
        if key in _SINGLES:
            return self._node(value)
        if key == "type":
            return self._types(value)
        if key == "required":
            return self._required(value)
        return None if key == "$schema" else value

    def _map(self, key: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._node(part) for name, part in value.items()}
        return self._left_out(key, value)

    def _list(self, key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._node(part) for part in value] or None
        return self._left_out(key, value)

    def _types(self, value: Any) -> Any:
        names = value if isinstance(value, list) else [value]
        if any(isinstance(name, str) and name.casefold() in _ANYTHING for name in names):
            return None
        known = [_TYPES.get(name.casefold()) if isinstance(name, str) else None for name in names]
        if None in known or not known:
            return self._left_out("type", value)
        return known[0] if len(known) == 1 else list(dict.fromkeys(known))

    def _required(self, value: Any) -> Any:
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            return list(dict.fromkeys(value))
        # A boolean is lifted to the object that holds the property.
        return None if isinstance(value, bool) else self._left_out("required", value)

    def _left_out(self, key: str, value: Any) -> None:
        self.notes.append(f"{shown(key)}: {shown(value, 60)} is not understood and is left out")

    def _lift_required(self, plain: dict[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
        properties = node.get("properties")
        if not isinstance(properties, Mapping):
            return plain
        lifted = [
            name for name, part in properties.items() if isinstance(part, Mapping) and part.get("required") is True
        ]
        return {**plain, "required": list(dict.fromkeys([*plain.get("required", []), *lifted]))} if lifted else plain


def _nullable(node: dict[str, Any]) -> dict[str, Any]:
    if node.pop("nullable", False) is not True:
        return node
    if "$ref" in node:
        return {"anyOf": [node, {"type": "null"}]}
    if "type" in node:
        kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
        node["type"] = list(dict.fromkeys([*kinds, "null"]))
    if isinstance(node.get("enum"), list) and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    return node
