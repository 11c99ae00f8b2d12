"""Short ways to write down a run."""

from __future__ import annotations

from typing import Any

from langchain_llm_judge.trace.schema import AgentTrace, Message, Thought, ToolCall, ToolResult, ToolSpec

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def call(name: str = "weather", /, *, id: str | None = None, group: int | None = None, **args: Any) -> ToolCall:
    return ToolCall(name=name, args=args, id=id, group=group)


def result(content: str = "fine", /, *, id: str | None = None, name: str | None = None, **more: Any) -> ToolResult:
    return ToolResult(call_id=id, name=name, content=content, **more)


def done(*calls: ToolCall) -> list[ToolCall | ToolResult]:
    """Each call followed by its result."""
    steps: list[ToolCall | ToolResult] = []
    for number, one in enumerate(calls):
        one.id = one.id or f"c{number}"
        steps += [one, result(id=one.id)]
    return steps


def run(*steps: Any, tools: Any = None, answer: str | None = "It is fine.", **more: Any) -> AgentTrace:
    given = {"tools": tools} if tools is not None else {}
    return AgentTrace(task="How is the weather?", steps=list(steps), final_answer=answer, **given, **more)


def tool(name: str = "weather", **parameters: Any) -> ToolSpec:
    return ToolSpec(name=name, parameters=parameters or CITY)


def message(content: str = "well") -> Message:
    return Message(content=content)


def thought(content: str = "hm") -> Thought:
    return Thought(content=content)
