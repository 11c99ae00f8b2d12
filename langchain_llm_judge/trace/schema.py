"""The framework-agnostic trace of one agent run.

A trace holds what a judge must see: the task, the tools that were offered, every step in order, and
how the run ended. Nothing here knows LangChain, so a stored trace outlives its versions.

What is unknown is never read as "none": `tools_known` and `tool_use_known` say which it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from langchain_llm_judge.results import Usage
from langchain_llm_judge.trace.values import plain, text_of

SCHEMA_VERSION = 1

TraceStatus = Literal["finished", "incomplete", "step_limit", "failed", "paused", "cancelled", "abandoned", "unknown"]
"""How a run ended.

`finished`: by itself; `incomplete`: on a call that never ran; `step_limit`: stopped by a limit of steps,
calls or time; `failed`: an exception left it; `paused`: an interrupt waits for a person; `cancelled`: its task
was cancelled; `abandoned`: its stream was closed early; `unknown`: the source does not tell.
"""

JSON: TypeAlias = Annotated[Any, BeforeValidator(plain)]
"""Any value, kept as a JSON value of its own (see `values.plain`): a trace shares nothing with the run it tells of."""

JSONObject: TypeAlias = Annotated[dict[str, Any], BeforeValidator(plain)]

_STEP = ConfigDict(extra="forbid", use_attribute_docstrings=True)


@dataclass(config=_STEP, slots=True, kw_only=True)
class Thought:
    """Reasoning of the model: a reasoning block, or the text beside tool calls."""

    type: Literal["thought"] = "thought"
    content: str
    is_error: bool = False
    """True where the text could not be parsed as the agent's next action."""
    agent: str | None = None
    """Path of agent names from the outermost, such as `supervisor/researcher`; `None` when unnamed."""
    node: str | None = None
    """Name of the graph node."""
    started_at: datetime | None = None
    duration_ms: float | None = Field(default=None, allow_inf_nan=False)
    """Wall time in milliseconds; `None` when the source does not tell."""


@dataclass(config=_STEP, slots=True, kw_only=True)
class ToolCall:
    """A call the model (or the code of a node) asked for, whether or not it ran."""

    type: Literal["tool_call"] = "tool_call"
    name: str
    args: Annotated[dict[str, Any] | str, BeforeValidator(plain)] = Field(default_factory=dict)
    """Arguments as the model gave them; the raw text when they are malformed or the tool takes plain text."""
    id: str | None = None
    malformed: bool = False
    """True when the arguments are no JSON object; `args` then holds the raw text."""
    group: int | None = None
    """Calls of one message share a number."""
    server_side: bool = False
    """True when the model's provider ran it (web search, code interpreter): it needs no tool among `tools`."""
    subtrace: AgentTrace | None = None
    """The run of an agent inside the tool."""
    agent: str | None = None
    node: str | None = None
    started_at: datetime | None = None
    duration_ms: float | None = Field(default=None, allow_inf_nan=False)


@dataclass(config=_STEP, slots=True, kw_only=True)
class ToolResult:
    """What came back from a call, as the model saw it."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str | None = None
    name: str | None = None
    content: Annotated[str, BeforeValidator(text_of)]
    """The text the model saw; values that are no text are JSON (see `values.text_of`)."""
    is_error: bool = False
    """True for an error of the tool or the framework; a text that merely reads like an error is not one."""
    error_type: str | None = None
    """Class name of the exception, where the source tells it."""
    artifact: JSON = None
    """What the tool returned beside the text, as a JSON value."""
    agent: str | None = None
    node: str | None = None
    started_at: datetime | None = None
    duration_ms: float | None = Field(default=None, allow_inf_nan=False)


@dataclass(config=_STEP, slots=True, kw_only=True)
class Message:
    """Text the agent addressed to someone, other than its final answer.

    In a trace of several turns the user's later messages are here too, with the agent `user`.
    """

    type: Literal["message"] = "message"
    content: str
    is_error: bool = False
    agent: str | None = None
    node: str | None = None
    started_at: datetime | None = None
    duration_ms: float | None = Field(default=None, allow_inf_nan=False)


Step: TypeAlias = Annotated[Thought | ToolCall | ToolResult | Message, Field(discriminator="type")]


class ToolSpec(BaseModel):
    """A tool as the model was offered it."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: str
    description: str | None = None
    parameters: Annotated[dict[str, Any] | None, BeforeValidator(plain)] = None
    """JSON Schema of the arguments, without injected ones; `None` when unknown."""


class AgentTrace(BaseModel):
    """One agent run: what was asked, what was offered, what was done, how it ended.

    A file written by hand needs only `task` and `steps`; `tools` may be names.
    """

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    task: str
    """What the agent was asked to do, in this turn."""
    tools: list[ToolSpec] = Field(default_factory=list)
    tools_known: bool = False
    """False when the source does not tell which tools were offered; an empty `tools` then means nothing."""
    steps: list[Step]
    final_answer: str | None = None
    status: TraceStatus = "unknown"
    status_reason: str | None = None
    """The error, the limit or the interrupt behind the status, in words."""
    tool_use_known: bool = True
    """False when the source drops the steps, such as an executor's result without intermediate steps."""
    contexts: list[str] = Field(default_factory=list)
    """Texts of the documents retrieved during the run, in order."""
    usage: Usage | None = None
    """Tokens the agent itself spent; `None` when the source does not tell."""
    warnings: list[str] = Field(default_factory=list)
    """What the converter had to leave open, such as a result without a call."""
    metadata: JSONObject = Field(default_factory=dict)
    schema_version: int = Field(default=SCHEMA_VERSION, ge=1, le=SCHEMA_VERSION)

    @model_validator(mode="before")
    @classmethod
    def _fill_what_a_hand_written_trace_leaves_out(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        filled = dict(data)
        tools = filled.get("tools")
        if tools is None:
            filled.pop("tools", None)
        elif isinstance(tools, list):
            filled.setdefault("tools_known", True)
            filled["tools"] = [{"name": tool} if isinstance(tool, str) else tool for tool in tools]
        if filled.get("final_answer") is not None:
            filled.setdefault("status", "finished")
        return filled

    def to_json(self, *, indent: int | None = None) -> str:
        """The trace as strict JSON: no NaN, no infinity, readable by `AgentTrace.model_validate_json`."""
        # Not `model_dump`: it raises on what a user may have put into the open fields after the trace was made.
        return json.dumps(plain(dict(self)), indent=indent, ensure_ascii=False, allow_nan=False)

    def calls(self) -> list[ToolCall]:
        """The tool calls of this run in order, without those of sub-traces."""
        return [step for step in self.steps if isinstance(step, ToolCall)]

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], AgentTrace]]:
        """This trace and every sub-trace below it, each with the names of the tools that lead to it."""
        yield path, self
        for call in self.calls():
            if call.subtrace is not None:
                yield from call.subtrace.walk((*path, call.name))
