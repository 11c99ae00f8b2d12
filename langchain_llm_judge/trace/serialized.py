"""Objects that a store kept as dicts, as objects again: only those that reading tells apart by their class.

Messages stay as they are, since `as_messages` reads them in every form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.documents import Document

_COMMAND = frozenset({"graph", "update", "resume", "goto"})


@dataclass(frozen=True, slots=True)
class StoredCommand:
    """A `Command` of LangGraph as it was stored."""

    graph: str | None = None
    update: Any = None
    resume: Any = None
    goto: Any = ()


def revived(value: Any) -> Any:
    """A value with the commands, documents and agent actions in it as objects.

    Nothing given is changed, and what holds none of them is given back as it is: messages without ids are known by
    their identity.
    """
    if isinstance(value, list | tuple):
        items = [revived(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return tuple(items) if type(value) is tuple else items
    if not isinstance(value, Mapping):
        return value
    fields = value.get("kwargs") if value.get("lc") == 1 else value
    if isinstance(fields, Mapping):
        for recognises, make in _MAKERS:
            if recognises(fields):
                return make(fields)
    changed = {key: new for key, item in value.items() if (new := revived(item)) is not item}
    return {**value, **changed} if changed else value


def _is_command(fields: Mapping[str, Any]) -> bool:
    return fields.keys() >= _COMMAND


def _make_command(fields: Mapping[str, Any]) -> StoredCommand:
    told = {key: revived(fields[key]) for key in _COMMAND if key in fields}
    return StoredCommand(**told)


def _is_document(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("page_content"), str) and "metadata" in fields


def _make_document(fields: Mapping[str, Any]) -> Document:
    metadata = fields["metadata"] if isinstance(fields["metadata"], dict) else {}
    return Document(fields["page_content"], metadata=metadata)


def _is_action(fields: Mapping[str, Any]) -> bool:
    return fields.keys() >= {"tool", "tool_input", "log"}


def _make_action(fields: Mapping[str, Any]) -> AgentAction:
    action = AgentAction(fields["tool"], fields["tool_input"], str(fields["log"]))
    for key in ("message_log", "tool_call_id"):
        if key in fields:
            object.__setattr__(action, key, fields[key])
    return action


def _is_finish(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("return_values"), dict) and "log" in fields


def _make_finish(fields: Mapping[str, Any]) -> AgentFinish:
    return AgentFinish(dict(fields["return_values"]), str(fields["log"]))


_MAKERS: list[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], Any]]] = [
    (_is_command, _make_command),
    (_is_document, _make_document),
    (_is_action, _make_action),
    (_is_finish, _make_finish),
]
