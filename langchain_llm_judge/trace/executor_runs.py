"""Runs of LangChain's AgentExecutor: what its agent decided, and what came of it.

The agent's own chain ends with actions or with a finish, in every source; only agents that are no chain need the
actions that the executor announced. The rules are those of `executor`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.messages import AIMessage, BaseMessage

from langchain_llm_judge.trace.dialogue import as_messages
from langchain_llm_judge.trace.executor import PARSE_FAILURE, call_thought, unparsed_text
from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.values import plain, text_of

INVALID_TOOL = "invalid_tool"
"""The tool through which an executor answers a call of a tool that does not exist."""


_DECISIONS = (AgentAction, AgentFinish)


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent asked for one tool or several."""

    message: BaseMessage
    run: Run


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool run answered an action."""

    action: AgentAction
    run: Run


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The agent's text could not be read as an action."""

    text: str
    run: Run


@dataclass(frozen=True, slots=True)
class Finished:
    """The model run that gave the answer as a message of its own."""

    run: Run


Event: TypeAlias = Asked | Answered | Unparsed | Finished


def is_executor(run: Run) -> bool:
    """Whether an executor ran."""
    return bool(run.actions) or any(_decided(child) for child in run.children)


def executor_events(run: Run) -> Iterator[Event]:
    """What happened in an executor, in order."""
    waiting: list[AgentAction] = []
    announced = iter(() if any(_decided(child) for child in run.children) else run.actions)
    for child in run.children:
        if child.kind == "tool":
            yield from _announced_for(child, announced, waiting)
            yield from _answered(child, waiting)
        elif child.kind == "chain":
            actions = [item for item in _decided(child) if isinstance(item, AgentAction)]
            waiting += actions
            yield from _asked(actions, child)
            yield from _ended(child)


def _decided(run: Run) -> list[Any]:
    """The actions or the finish that an agent's chain ended with."""
    if run.kind != "chain":
        return []
    outputs = run.outputs if isinstance(run.outputs, list) else [run.outputs]
    return outputs if all(isinstance(item, _DECISIONS) for item in outputs) else []


def _asked(actions: list[AgentAction], run: Run) -> Iterator[Event]:
    """One message for the actions that came from one message of the model."""
    said: list[BaseMessage] = []
    for action in actions:
        message = _message_of(action)
        if message not in said:
            said.append(message)
            yield Asked(message, _model_run(run))


def _message_of(action: AgentAction) -> BaseMessage:
    log = as_messages(getattr(action, "message_log", None) or ())
    if log and isinstance(log[-1], AIMessage):
        return log[-1]
    call = {"type": "tool_call", "name": action.tool, "args": action.tool_input, "id": None}
    # Not validated: an agent of texts may give a tool a text, which no model's call could be.
    return AIMessage.model_construct(content=call_thought(action.log), tool_calls=[call])


def _answered(run: Run, waiting: list[AgentAction]) -> Iterator[Event]:
    if run.name == PARSE_FAILURE or not waiting:
        return
    same = [action for action in waiting if action.tool == run.name and _says(action) == plain(run.inputs)]
    action = (same or waiting)[0]
    waiting.remove(action)
    yield Answered(action, run)


def _says(action: AgentAction) -> Any:
    return plain(action.tool_input)


def _announced_for(run: Run, announced: Iterator[AgentAction], waiting: list[AgentAction]) -> Iterator[Event]:
    """The action before a tool run, of an agent that is no chain."""
    action = next(announced, None)
    if action is None:
        return
    if action.tool == PARSE_FAILURE:
        yield Unparsed(unparsed_text(action.log), run)
        return
    waiting.append(action)
    yield Asked(_message_of(action), run)


def _ended(run: Run) -> Iterator[Event]:
    """A decision that is no action: the answer, or a text that is none."""
    finish = next((item for item in _decided(run) if isinstance(item, AgentFinish)), None)
    model = _model_run(run)
    if finish is not None:
        said_as_message = finish.log == text_of(finish.return_values.get("output"))
        if said_as_message and model.kind == "llm":
            yield Finished(model)
    elif run.error_type == "OutputParserException" and model.outputs is not None:
        text = model.outputs if isinstance(model.outputs, str) else as_messages([model.outputs])[0].text
        yield Unparsed(str(text), model)


def _model_run(run: Run) -> Run:
    """The last model run inside an agent's chain; the chain itself where none is seen."""
    models = [inner for inner in run.walk() if inner.kind == "llm"]
    return models[-1] if models else run
