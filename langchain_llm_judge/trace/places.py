"""Where in a run we are: the node, the agent, and what is history there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, ToolMessage

from langchain_llm_judge.trace.log import Run
from langchain_llm_judge.trace.nodes import messages_in, states_in
from langchain_llm_judge.trace.written import Key, Keyed

STEPS = (AIMessage, ToolMessage, FunctionMessage)
"""Messages of the model and of its tools."""


@dataclass(slots=True, eq=False)
class Item:
    """One message of the run, and the run it came from."""

    message: BaseMessage
    run: Run
    agent: str | None
    node: str | None
    answers: bool = False
    """True for a part of a structured answer that a graph accepted: the pseudo call, or its result."""
    is_unparsed: bool = False
    """True for a text of the model that could not be read as its next action."""
    by_code: bool = False
    """True for a call that code made without asking the model."""


@dataclass(slots=True, eq=False)
class Node:
    """One execution of a node, and what it wrote."""

    run: Run
    written: list[Keyed]
    is_repeated: bool
    """True for an interrupted execution that a later one repeats."""
    gives_structured_answer: bool
    """Whether it wrote the state's structured response."""

    @property
    def answers(self) -> bool:
        """Whether it wrote a message of the model, or results and nothing else."""
        steps = [message for _, message in self.written if isinstance(message, STEPS)]
        if any(isinstance(message, AIMessage) for message in steps):
            return True
        return bool(steps) and all(
            messages_in({"": value}) for state in states_in(self.run.outputs) for value in state.values()
        )

    def result_of(self, call_id: str | None) -> Keyed | None:
        """The result it wrote for a call."""
        for key, message in self.written:
            if isinstance(message, ToolMessage) and message.tool_call_id == (call_id or ""):
                return key, message
        return None


@dataclass(frozen=True, slots=True)
class Scope:
    """Where in the run we are."""

    agent: str | None = None
    """Path of the names of the agents we are in."""
    node: Node | None = None
    history: tuple[frozenset[Key], ...] = ()

    def item(self, message: BaseMessage, run: Run) -> Item:
        """A message of this place."""
        return Item(message, run, self.agent, self.node.run.name if self.node else None)

    def new_among(self, messages: Iterable[Keyed]) -> list[Keyed]:
        """The messages that are no history here."""
        return [pair for pair in messages if not any(pair[0] in known for known in self.history)]
