"""The messages that the nodes of a run wrote, each in its last form and with its calls as they were asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage

from langchain_llm_judge.trace.dialogue import as_messages
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import is_command, messages_in
from langchain_llm_judge.trace.values import text_of

Key: TypeAlias = "tuple[str, str | int]"
"""What makes a message the same one: its id, or the object where it has none."""

Keyed: TypeAlias = tuple[Key, BaseMessage]


class WrittenMessages:
    """Messages of a run under their keys. A message written again replaces the earlier one; none is ever deleted."""

    def __init__(self, runs: Sequence[Run]) -> None:
        nodes = sorted((run for run in runs if run.is_node), key=lambda run: run.finished or 0.0)
        self._asked = _calls_as_asked([*nodes, *(run for run in runs if run.kind == "llm")])
        self._read: dict[int, list[Keyed]] = {}
        self._by = {id(node): self._written_by(node) for node in nodes}
        self._last = {key: message for node in nodes for key, message in self.by(node)}

    def __contains__(self, key: Key) -> bool:
        return key in self._last

    def last_form(self, key: Key, message: BaseMessage) -> BaseMessage:
        """What was last written under a key; the message itself where no node wrote it."""
        return self._last.get(key, message)

    def by(self, node: Run) -> list[Keyed]:
        """What one node wrote, also by handing over to another graph."""
        return self._by[id(node)]

    def _written_by(self, node: Run) -> list[Keyed]:
        if node.error is None and node.ended:
            if node.written is None:
                return self.of(node.outputs)
            return [pair for message in node.written for pair in self.read(message)]
        if isinstance(node.error, BaseException):
            return self.of(list(node.error.args)) if node.error_type == "ParentCommand" else []
        commands = [run.outputs for run in node.outer() if run.kind == "tool" and is_command(run.outputs)]
        return self.of([command for command in commands if command.graph is not None])

    def of(self, value: Any) -> list[Keyed]:
        """The messages in any value."""
        return [pair for message in messages_in(value) for pair in self.read(message)]

    def read(self, given: Any) -> list[Keyed]:
        """A message in any form as LangChain's."""
        known = self._read.get(id(given))
        if known is None:
            calls = self._asked.get(id(given))
            known = [(_key(message, given), _with_calls(message, calls)) for message in as_messages([given])]
            self._read[id(given)] = known
        return known


def likeness(message: BaseMessage) -> tuple[str, ...]:
    """What two copies of a message share when only one of them has an id."""
    calls = [(call["name"], call["id"]) for call in getattr(message, "tool_calls", ())]
    return message.type, text_of(message.content), str(getattr(message, "tool_call_id", None)), str(calls)


def _key(message: BaseMessage, given: Any) -> Key:
    return ("id", message.id) if message.id is not None else ("object", id(given))


def _calls_as_asked(runs: Iterable[Run]) -> dict[int, list[Any]]:
    """Calls by the identity of their message, as the first of the runs saw them."""
    asked: dict[int, list[Any]] = {}
    for run in runs:
        for message, calls in (run.calls or {}).items():
            asked.setdefault(message, calls)
    return asked


def _with_calls(message: BaseMessage, calls: list[Any] | None) -> BaseMessage:
    if not calls or not isinstance(message, AIMessage) or message.tool_calls == calls:
        return message
    as_asked = as_messages([{"role": "assistant", "content": "", "tool_calls": calls}])[0]
    update = {"tool_calls": getattr(as_asked, "tool_calls", []), "id": message.id}
    return message.model_copy(update=update)
