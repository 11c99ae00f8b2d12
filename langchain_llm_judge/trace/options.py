"""What a caller may say about a source that the source itself does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from langchain_llm_judge.errors import ConfigError, shown
from langchain_llm_judge.trace.schema import TraceStatus

Turn: TypeAlias = "Literal['last', 'all'] | int"
"""Which turn of a conversation a trace covers.

`last`: from the last message of the user on; `all`: the whole conversation; a number: that turn, from 0, or from the
end when negative.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions:
    """The keyword arguments of `to_trace`, checked once.

    Raises:
        ConfigError: `turn` or `status` is none of the accepted values, or `task` is no text.
    """

    task: str | None = None
    """What the agent was asked; `None` takes it from the source."""
    tools: Any = None
    """What was offered, in any form that `tools.tool_specs` reads; `None` when the caller does not say."""
    turn: Turn = "last"
    messages_key: str | None = None
    """Key of the messages in a state; `None` looks for them."""
    task_key: str | None = None
    """Key of the task in a state or a run's input."""
    answer_key: str | None = None
    """Key of the final answer in a state or a run's output."""
    status: TraceStatus | None = None
    """How the run ended, where the caller knows; `None` derives it."""

    def __post_init__(self) -> None:
        if self.turn not in ("last", "all") and type(self.turn) is not int:
            raise ConfigError(f"turn={shown(self.turn)} is no turn; give 'last', 'all' or a number such as 0")
        if self.task is not None and not isinstance(self.task, str):
            raise ConfigError(f"task={shown(self.task)} is no text; give the question as a string")
        if self.status is not None and self.status not in get_args(TraceStatus):
            accepted = ", ".join(get_args(TraceStatus))
            raise ConfigError(f"status={shown(self.status)} is unknown; give one of {accepted}")
