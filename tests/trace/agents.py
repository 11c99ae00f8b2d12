"""Small agents with scripted models, for tests on real runs, and traces in a form that reads well in an assertion."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from packaging.version import Version

from langchain_llm_judge.testing import ScriptedJudgeModel
from langchain_llm_judge.trace.schema import AgentTrace, ToolCall, ToolResult

QUESTION = {"messages": [("user", "Q?")]}
THREAD = {"configurable": {"thread_id": "1"}}


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return f"{city}: 21C"


def ai(content: Any = "", *calls: tuple[str, dict[str, Any], str | None], **more: Any) -> AIMessage:
    """A message of the model with calls given as `(name, args, id)`."""
    made = [{"name": name, "args": args, "id": call_id, "type": "tool_call"} for name, args, call_id in calls]
    return AIMessage(content, tool_calls=made, **more)


def scripted(*replies: Any) -> ScriptedJudgeModel:
    return ScriptedJudgeModel(list(replies))


def needs(package: str, release: str) -> pytest.MarkDecorator:
    """Skips where an older release of a library behaves otherwise; the package works with both."""
    installed = Version(version(package))
    return pytest.mark.skipif(installed < Version(release), reason=f"{package} {installed} does not do this yet")


PARIS = ("get_weather", {"city": "Paris"}, "c1")
PARIS_STEPS = ["get_weather(city='Paris')", "-> Paris: 21C"]


def told(trace: AgentTrace) -> list[str]:
    """The steps of a trace, a line each."""
    return [_line(step) for step in trace.steps]


def _line(step: Any) -> str:
    if isinstance(step, ToolCall):
        if isinstance(step.args, str):
            return f"{step.name}({step.args!r}){' malformed' if step.malformed else ''}"
        return f"{step.name}({', '.join(f'{name}={value!r}' for name, value in step.args.items())})"
    if isinstance(step, ToolResult):
        return f"-> {'error: ' if step.is_error else ''}{step.content}"
    return (
        f"{step.type}{' in error' if step.is_error else ''}{f' of {step.agent}' if step.agent else ''}: {step.content}"
    )
