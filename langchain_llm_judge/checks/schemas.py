"""Schemas of tools, made ready for checking: compiled once, shared by content, nothing fetched.

- Which draft: the one `$schema` names, else the newest that accepts the schema (2020-12, then 7, then 4).
- `$ref` is followed inside the schema only. An argument whose part cannot be compiled (a dangling or remote
  reference, a broken pattern) takes any value, with a note.
- `format` is not enforced, as frameworks differ in what they take for a date.
- Names an argument may have: those the schema lists, also through `$ref`, `allOf`, `anyOf`, `oneOf`, `if`. Another
  name is an error unless the schema says `additionalProperties`: true makes it a warning, a schema for the extra
  ones makes it welcome. A schema that lists no names takes any.
- Deviations from JSON Schema are read as `dialects` says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, Protocol
from urllib.parse import unquote

import jsonschema_rs

from langchain_llm_judge.checks.base import Severity
from langchain_llm_judge.checks.dialects import SchemaReader
from langchain_llm_judge.errors import shown
from langchain_llm_judge.trace.values import plain

_DRAFTS = {
    "2020-12": jsonschema_rs.Draft202012Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "draft-04": jsonschema_rs.Draft4Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
}


class Validator(Protocol):
    """What is used of a compiled schema; safe to share between threads."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the instance fits."""

    def iter_errors(self, instance: Any) -> Iterator[jsonschema_rs.ValidationError]:
        """Everything that does not fit."""


@dataclass(frozen=True, slots=True)
class ArgumentSchema:
    """A tool's schema, ready to check arguments with."""

    validator: Validator
    names: dict[str, Any]
    """The arguments it lists with the schema of each, in its order."""
    patterns: tuple[re.Pattern[str], ...]
    """Patterns of further names it takes."""
    extras: Severity | None
    """How bad an argument is that it does not list; `None`: it takes any."""
    notes: tuple[str, ...]
    """What had to be left open, for the result's `why`."""

    def unexpected(self, args: Mapping[str, Any]) -> list[str]:
        """The given names that the schema does not list."""
        if self.extras is None or args.keys() <= self.names.keys():
            return []
        strange = [name for name in args if name not in self.names]
        return [name for name in strange if not any(pattern.search(name) for pattern in self.patterns)]


def argument_schema(parameters: Mapping[str, Any]) -> ArgumentSchema:
    """The schema ready for checking; equal ones are compiled once and shared."""
    try:
        # Key order stays: the first argument takes an input that is given as plain text.
        return _prepared(json.dumps(parameters, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return _prepared(json.dumps(plain(parameters)))


@lru_cache(maxsize=512)
def _prepared(content: str) -> ArgumentSchema:
    given = json.loads(content)
    reader = SchemaReader()
    root = reader.read(given)
    parts, unfollowed = _parts(root)
    validator, notes = _compiled(root, str(given.get("$schema", "")))
    patterns, broken = _patterns(parts)
    open_ends = unfollowed + broken
    extras = None if open_ends else _extras(parts)
    return ArgumentSchema(validator, _names(parts), patterns, extras, (*reader.notes, *notes, *open_ends))


def _compiled(root: dict[str, Any], declared: str) -> tuple[Validator, list[str]]:
    """A validator of the whole, or of what is left when the parts that do not compile take any value."""
    validator, problem = _compile(root, declared)
    if validator is not None:
        return validator, []
    opened = {name for name in root.get("properties", {}) if _compile(_alone(root, name), declared)[0] is None}
    notes = [f"argument {shown(name, 60)} takes any value, as its part cannot be compiled" for name in sorted(opened)]
    parts = {name: name in opened or part for name, part in root.get("properties", {}).items()}
    validator, _ = _compile({**root, "properties": parts}, declared)
    if validator is None:
        notes = [f"it cannot be compiled ({problem}), so only names were checked"]
        validator, _ = _compile({"required": root.get("required", [])}, "")
    assert validator is not None
    return validator, notes


def _alone(root: dict[str, Any], name: str) -> dict[str, Any]:
    """The schema of one argument, with the definitions it may refer to."""
    definitions: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return {**definitions, "properties": {name: root["properties"][name]}}


def _compile(schema: dict[str, Any], declared: str) -> tuple[Validator | None, str]:
    problem = ""
    # The declared draft first; the others newest first, and the rare ones only where declared.
    named = [key for key in _DRAFTS if key in declared]
    for key in dict.fromkeys([*named, *list(_DRAFTS)[:3]]):
        try:
            return _DRAFTS[key](schema, validate_formats=False, retriever=_refuse), ""
        except Exception as refused:
            problem = problem or str(refused).split("\n", 1)[0][:200]
    return None, problem


def _refuse(uri: str) -> NoReturn:
    # Left to itself the validator would open the address, or the file, that a schema names.
    raise ValueError(f"{uri} lies outside the schema and is not fetched")


def _parts(root: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The schema and everything in it that speaks about the same object; and which references lead nowhere."""
    parts: list[dict[str, Any]] = []
    unfollowed: list[str] = []
    waiting: list[Any] = [root]
    while waiting:
        part = waiting.pop(0)
        # Schemas may refer to themselves.
        if not isinstance(part, dict) or any(part is known for known in parts):
            continue
        parts.append(part)
        waiting += _beside(part)
        reference = part.get("$ref", part.get("$dynamicRef"))
        if reference is not None:
            target = _referred(root, reference)
            waiting.append(target)
            unfollowed += [f"{shown(reference, 60)} is not followed, so any name is taken"] if target is None else []
    return parts, unfollowed


def _beside(part: dict[str, Any]) -> list[Any]:
    branches = [branch for key in ("allOf", "anyOf", "oneOf") for branch in part.get(key, [])]
    conditions = [part[key] for key in ("if", "then", "else") if key in part]
    return branches + conditions + list(part.get("dependentSchemas", {}).values())


def _referred(root: dict[str, Any], reference: Any) -> Any:
    """What a reference inside the schema points to; `None` when it leads out of it or nowhere."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target: Any = root
    for token in unquote(reference[1:]).split("/")[1:]:
        target = _child(target, token.replace("~1", "/").replace("~0", "~"))
    return None if target is root and reference not in ("#", "#/") else target


def _child(target: Any, key: str) -> Any:
    if isinstance(target, list):
        return target[int(key)] if key.isdecimal() and int(key) < len(target) else None
    return target.get(key) if isinstance(target, dict) else None


def _names(parts: list[dict[str, Any]]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for part in parts:
        for name, schema in part.get("properties", {}).items():
            names.setdefault(name, schema)
    return names


def _patterns(parts: list[dict[str, Any]]) -> tuple[tuple[re.Pattern[str], ...], list[str]]:
    found, broken = [], []
    for pattern in (pattern for part in parts for pattern in part.get("patternProperties", {})):
        try:
            found.append(re.compile(pattern))
        except re.error:
            broken.append(f"the pattern of names {shown(pattern, 60)} cannot be read, so any name is taken")
    return tuple(found), broken


def _extras(parts: list[dict[str, Any]]) -> Severity | None:
    said = [part[key] for part in parts for key in ("additionalProperties", "unevaluatedProperties") if key in part]
    if False in said:
        return "error"
    if any(rule is not True and rule != {} for rule in said):
        return None
    if said:
        return "warning" if _names(parts) else None
    return "error" if any("properties" in part for part in parts) else None
