"""Calls, and the tool runs that answered them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_llm_judge.trace.dialogue import as_messages
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import messages_in
from langchain_llm_judge.trace.tree import CUT_OFF, error_text
from langchain_llm_judge.trace.values import plain, text_of


@dataclass(slots=True, eq=False)
class Call:
    """A call that the run asked for."""

    name: str
    args: Any
    id: str | None
    runs: list[Run] = field(default_factory=list)
    """The tool runs that answered it: several where it was tried again, or interrupted and resumed."""

    @property
    def run(self) -> Run | None:
        """The last of its tool runs; `None` when there was none."""
        return self.runs[-1] if self.runs else None

    def is_asked_by(self, run: Run) -> bool:
        """Whether a tool run has its name and arguments."""
        return self.name == run.name and plain(self.args) == plain(run.inputs)

    def as_message(self) -> AIMessage:
        """A call that code made, in the form in which a model would have asked for it."""
        asked = {"type": "tool_call", "name": self.name, "args": self.args, "id": self.id}
        # Not validated: a tool may be called with a text, which no model's call could be.
        return AIMessage.model_construct(content="", tool_calls=[asked])

    def result(self) -> ToolMessage | None:
        """What its tool run tells of the result; `None` when that was cut off or did not end."""
        run = self.run
        if run is None or not run.ended or run.error_type in CUT_OFF:
            return None
        if run.error is not None:
            return self._message(error_text(run.error), status="error")
        told = results_in(run.outputs)
        return told[-1] if told else self._message(text_of(run.outputs))

    def _message(self, content: str, **about: Any) -> ToolMessage:
        return ToolMessage(content, tool_call_id=self.id or "", name=self.name, **about)


class CallBook:
    """The calls of a run in the order in which they were found."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._last_of_id: dict[str, Call] = {}
        self._open_of_id: dict[str, list[Call]] = {}
        self._open_of_name: dict[str, list[Call]] = {}

    def add(self, name: str, args: Any, call_id: str | None) -> Call:
        """Note a call."""
        call = Call(name, args, call_id)
        self.calls.append(call)
        self._last_of_id[call_id or ""] = call
        self._open_of_id.setdefault(call_id or "", []).append(call)
        self._open_of_name.setdefault(name, []).append(call)
        return call

    def waiting_for(self, name: str, call_id: str | None) -> Call:
        """The first call of a name and id that no tool run has answered; a new one where there is none."""
        waiting = _waiting(self._open_of_id.get(call_id or "", []))
        return next((call for call in waiting if call.name == name), None) or self.add(name, {}, call_id)

    def answered_by(self, run: Run) -> Call | None:
        """The call that a tool run answers; a run without an id is known by name and arguments."""
        if run.tool_call_id is None:
            waiting = _waiting(self._open_of_name.get(run.name or "", []))
            return next((call for call in waiting if call.is_asked_by(run)), None)
        waiting = _waiting(self._open_of_id.get(run.tool_call_id, []))
        if len(waiting) > 1:
            return next((call for call in waiting if call.is_asked_by(run)), waiting[0])
        return waiting[0] if waiting else self._last_of_id.get(run.tool_call_id)


def _waiting(calls: list[Call]) -> list[Call]:
    """The calls that no tool run has answered; those that one has are forgotten."""
    calls[:] = [call for call in calls if not call.runs]
    return calls


def results_in(output: Any) -> list[ToolMessage]:
    """The results in what a tool or a node gave."""
    return [message for message in as_messages(messages_in(output)) if isinstance(message, ToolMessage)]


def asks_for(message: BaseMessage, run: Run) -> bool:
    """Whether a message of the model asks for what a tool run did."""
    calls = [Call(call["name"], call["args"], call["id"]) for call in getattr(message, "tool_calls", ())]
    if run.tool_call_id is not None:
        return any(call.id == run.tool_call_id for call in calls)
    return any(call.is_asked_by(run) for call in calls)
